// SPDX-License-Identifier: MIT

package tvc_test

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// shortQueue returns a queue of n requests with times of a few whole seconds.
func shortQueue(rng *rand.Rand, n int) *model.TVC {
	in := testkit.RandomTVC(rng, []int{2, 2, 4}[rng.IntN(3)], n, true)
	in.MigrationS = 0
	at := 0
	for k := range in.Requests {
		q := &in.Requests[k]
		q.ArrivalS, q.DurationS = float64(at), float64(1+rng.IntN(4))
		at += rng.IntN(3)
		if room := in.FatTree.Servers() * in.FatTree.Slots; rng.IntN(2) == 0 {
			q.VMs = min(room, max(q.VMs, room/2)) // so that they meet
		}
	}
	return in
}

// together returns, by set, whether its requests can be embedded at once, as accepted by the learning kernel in loss
// mode.
func together(t *testing.T, in *model.TVC) []bool {
	t.Helper()
	fits := make([]bool, 1<<len(in.Requests))
	for s := range fits {
		loss := *in
		loss.Queue, loss.Requests, loss.MigrationS = false, nil, 0
		for j, q := range in.Requests {
			if s>>j&1 != 0 {
				q.ArrivalS, q.DurationS = 0, 1
				loss.Requests = append(loss.Requests, q)
			}
		}
		r := solve(t, tvcexact.Kernel, &loss, model.Settings{})
		require.Is(t, model.StatusOptimal, r.Status, "kernel", r.Reason)
		fits[s] = r.Objective == float64(bits.OnesCount(uint(s)))
	}
	return fits
}

// enumerateQueue returns the least sum of responses over all orders of arrivals and ends. A linear program for each
// order gives the best lengths of the spans between them. All requests must fit.
func enumerateQueue(t *testing.T, in *model.TVC, fits []bool) float64 {
	t.Helper()
	n, best := len(in.Requests), math.Inf(1)
	arrivals := 0.0
	for _, q := range in.Requests {
		arrivals += q.ArrivalS
	}
	var next func(events []int, arrived, ended int)
	next = func(events []int, arrived, ended int) {
		if len(events) == 2*n {
			best = min(best, programOfOrder(t, in, fits, events)-arrivals)
			return
		}
		if k := bits.OnesCount(uint(arrived)); k < n {
			next(append(slices.Clone(events), k), arrived|1<<k, ended)
		}
		for j := range n {
			if (arrived&^ended)>>j&1 != 0 {
				next(append(slices.Clone(events), n+j), arrived, ended|1<<j)
			}
		}
	}
	next(nil, 0, 0)
	return best
}

// programOfOrder returns the least sum of ends if requests arrive (j) and end (n+j) in an order.
func programOfOrder(t *testing.T, in *model.TVC, fits []bool, events []int) float64 {
	t.Helper()
	n, inf := len(in.Requests), math.Inf(1)
	m := &milp.Model{}
	at := make([]int, len(events))
	for i, e := range events {
		v := milp.Var{Upper: inf}
		if e < n {
			v.Lower, v.Upper = in.Requests[e].ArrivalS, in.Requests[e].ArrivalS
		} else {
			v.Cost = 1
		}
		at[i] = m.AddVar(v)
	}
	work := make([][]milp.Term, n)
	there := 0
	for i := range len(events) - 1 {
		if e := events[i]; e < n {
			there |= 1 << e
		} else {
			there &^= 1 << (e - n)
		}
		span := []milp.Term{{Var: at[i], Coef: 1}, {Var: at[i+1], Coef: -1}}
		for s, ok := range fits {
			if ok && s != 0 && s&^there == 0 {
				x := m.AddVar(milp.Var{Upper: inf})
				span = append(span, milp.Term{Var: x, Coef: 1})
				for j := range n {
					if s>>j&1 != 0 {
						work[j] = append(work[j], milp.Term{Var: x, Coef: 1})
					}
				}
			}
		}
		m.AddRow("", -inf, 0, span...)
	}
	for j, terms := range work {
		m.AddRow("", in.Requests[j].DurationS, inf, terms...)
	}
	r := require.Value(highs.Solve(context.Background(), m, milp.Options{}))(t)
	if r.Status != milp.Optimal {
		return inf
	}
	return r.Objective
}

// For tiny queues the search finds the optimum of an enumeration of all orders, with programs over all sets that
// another engine finds to fit.
func TestQueueEqualsEnumeration(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(38, 1))
	for range require.Rounds(120) {
		n := 2 + rng.IntN(2)
		in := shortQueue(rng, n)
		fits := together(t, in)
		if slices.Contains(fits[:2], false) || !allFit(in) {
			continue
		}
		r := solve(t, tvcexact.Search, in, model.Settings{})
		if r.Status != model.StatusOptimal {
			t.Fatalf("%s: %s\n%s", r.Status, r.Reason, text(in))
		}
		sum := r.Objective * float64(len(in.Requests))
		if want := enumerateQueue(t, in, fits); math.Abs(sum-want) > 2e-6*want+1e-5 {
			t.Fatalf("the search finds %v, all orders have %v\n%s", sum, want, text(in))
		}
	}
}

func allFit(in *model.TVC) bool {
	fits := in.Fits()
	for k := range in.Requests {
		if !fits(k) {
			return false
		}
	}
	return true
}
