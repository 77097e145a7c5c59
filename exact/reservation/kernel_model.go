// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/cp"
)

// kernelModel is the constraint model of a part. For each job it holds whether the job is accepted, and an optional
// start in its window; one cumulative is on the machine's PEs. The objective to minimise is the loss, the weight of the
// declined jobs.
//
//	Σ weight_j (1 - in_j) ≤ lost
//
// Times are ticks, weights are whole numbers.
type kernelModel struct {
	cp.Model
	jobs    []job
	weights []int64
	in      []cp.Var // of each job
	starts  []cp.Var
}

// newKernelModel returns the model of a part. request returns the number of a job in the instance.
func newKernelModel(pes int, jobs []job, weights []int64, request func(j *job) int, off switches) *kernelModel {
	k := &kernelModel{jobs: jobs, weights: weights}
	capacity := &cp.Cumulative{Capacity: int64(pes)}
	row := &cp.Linear{}
	total := int64(0)
	for i := range jobs {
		j := &jobs[i]
		in := k.Bool()
		start := k.Optional(in.Is(), int64(j.ready), int64(j.latest))
		k.Call(in, fmt.Sprint("in ", request(j)))
		k.Call(start, fmt.Sprint("start ", request(j)))
		k.in, k.starts = append(k.in, in), append(k.starts, start)
		capacity.Starts = append(capacity.Starts, cp.Start{If: in.Is(), At: start})
		capacity.Lengths = append(capacity.Lengths, int64(j.length))
		capacity.Demands = append(capacity.Demands, int64(j.pes))
		row.Groups = append(row.Groups, []cp.Choice{{If: in.Is(), Value: 0}, {If: in.AtMost(0), Value: weights[i]}})
		total += weights[i]
	}
	k.Decisions, k.Integers = k.in, k.starts
	k.Objective = k.Int(0, total)
	k.Call(k.Objective, "lost")
	row.Terms = []cp.Term{{Times: -1, Var: k.Objective}}
	k.AddAs("lost", row)
	k.AddAs("capacity", capacity)
	if off&dominance == 0 {
		k.dominate()
	}
	return k
}

// maxOrders bounds the pairs of jobs that dominate orders, some 500 bytes each.
const maxOrders = 50_000

// dominate leaves out plans that another plan of no less weight dominates.
//
// Exchange: a job j stands in for i if it has no more PEs, is no longer, weighs no less, ready_j + length_j ≤ ready_i +
// length_i and latest_j ≥ latest_i. For in any start s of i, from max(s, ready_j), which is at most min(s + length_i -
// length_j, latest_j), j runs within i's run. So some best plan has no i without j: replace i by j as long as that can
// be done. The relation is transitive, and of equal jobs only the first one stands in for the other, so this ends.
//
// Order: take two accepted jobs of equal PEs and length with ready_i ≤ ready_j and latest_i ≤ latest_j. Then i starts
// no later: else they can change places, since ready_j ≤ start_j < start_i ≤ latest_i. Each exchange of places raises
// the sum of starts times the places of the jobs in one order that has all such i before j, so this ends too, and it
// changes no acceptance. The plans that are left meet both.
//
// It is off when a proof is asked for.
func (k *kernelModel) dominate() {
	first, last := k.jobs[0].ready, k.jobs[0].latest
	for i := range k.jobs {
		first, last = min(first, k.jobs[i].ready), max(last, k.jobs[i].latest)
	}
	var origin, horizon cp.Var
	constants, orders := false, 0
	for a := range k.jobs {
		for b := range k.jobs {
			if a == b {
				continue
			}
			i, j := &k.jobs[a], &k.jobs[b]
			same := i.pes == j.pes && i.length == j.length
			if k.standsIn(b, a) && (b < a || !k.standsIn(a, b)) {
				k.Add(cp.Nogood{k.in[a].Is(), k.in[b].AtMost(0)})
			}
			if same && i.ready <= j.ready && i.latest <= j.latest && (a < b || i.ready < j.ready || i.latest < j.latest) {
				if i.latest <= j.ready || orders == maxOrders {
					continue
				}
				orders++
				if !constants {
					constants = true
					origin, horizon = k.Int(int64(first), int64(first)), k.Int(int64(last), int64(last))
				}
				k.Add(&cp.Delay{
					From: []cp.Start{{If: k.in[a].Is(), At: k.starts[a]}, {If: k.in[a].AtMost(0), At: origin}},
					To:   []cp.Start{{If: k.in[b].Is(), At: k.starts[b]}, {If: k.in[b].AtMost(0), At: horizon}},
					By:   [][]int64{{0, 0}, {0, 0}},
				})
			}
		}
	}
}

// standsIn reports whether job b can take the place of job a, see dominate.
func (k *kernelModel) standsIn(b, a int) bool {
	i, j := &k.jobs[a], &k.jobs[b]
	return j.pes <= i.pes && j.length <= i.length && k.weights[b] >= k.weights[a] &&
		j.ready+j.length <= i.ready+i.length && j.latest >= i.latest
}
