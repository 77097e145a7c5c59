// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Direct returns the least mean response time on nodes by one model of starts and nodes together: the other way to
// solve it exactly. It shares the starts and responses with the kernel's model and, unless alone is set, what that
// knows of pooled resources and starts. It is NaN if the limit of conflicts is met, which count is in any case.
func Direct(ctx context.Context, in *model.Batch, most float64, alone bool, conflicts int64) (least float64, count int64) {
	j, err := newJobs(ctx, in)
	if err != nil {
		panic(err)
	}
	off := deviceSet(0)
	if alone {
		off = devActive | devIdentical | devPrices | devRows
	}
	m, t := newKernelModel(ctx, j, j.sum(most), off), j.t
	type item struct {
		job     int
		start   cp.Start
		present cp.Lit
	}
	// items[p][k] are the processes of job k on node p, the first c of which are there if c are.
	items := make([][]item, len(t.Nodes.Group))
	n := len(m.starts)
	for k := range n {
		needs, high := t.Jobs[k].Needs, m.High[m.starts[k]]
		ways := make([]cp.Lit, len(needs.Alternatives))
		for a := range ways {
			ways[a] = cp.True
			if len(ways) > 1 {
				x := m.Bool()
				m.Decisions = append(m.Decisions, x)
				ways[a] = x.Is()
			}
		}
		if len(ways) > 1 {
			m.ExactlyOne(fmt.Sprint("way ", k), ways...)
		}
		up, down := &cp.Linear{AtMost: int64(t.Jobs[k].Processes)}, &cp.Linear{AtMost: -int64(t.Jobs[k].Processes)}
		for p, g := range t.Nodes.Group {
			last := cp.True
			for range roomOf(t.Nodes.Capacity[g], j, k) {
				x := m.Bool()
				m.Decisions = append(m.Decisions, x)
				for a, groups := range needs.Alternatives {
					if !slices.Contains(groups, int(g)) {
						m.Add(cp.Nogood{x.Is(), ways[a]})
					}
				}
				if last != cp.True {
					m.Add(cp.Nogood{x.Is(), last.Not()})
				}
				last = x.Is()
				here, not := m.Optional(x.Is(), m.Low[m.starts[k]], high), m.Optional(x.AtMost(0), m.Low[m.starts[k]], high)
				one, two := []cp.Start{{If: cp.True, At: m.starts[k]}}, []cp.Start{{If: x.Is(), At: here}, {If: x.AtMost(0), At: not}}
				m.Add(&cp.Delay{From: one, To: two, By: [][]int64{{0, 0}}}, &cp.Delay{From: two, To: one, By: [][]int64{{0}, {0}}})
				m.Integers = append(m.Integers, here, not)
				up.Terms, down.Terms = append(up.Terms, cp.Term{Times: 1, Var: x}), append(down.Terms, cp.Term{Times: -1, Var: x})
				items[p] = append(items[p], item{k, two[0], x.Is()})
			}
		}
		m.Add(up, down)
	}
	for p, g := range t.Nodes.Group {
		capacity := slices.Concat(t.Nodes.Capacity[g], []int64{int64(n)}) // the last one: a job that has the node alone takes all
		for r, c := range capacity {
			row, before := &cp.Cumulative{Capacity: c}, -1
			for _, x := range items[p] {
				needs := t.Jobs[x.job].Needs
				demand := int64(1)
				switch {
				case r < len(needs.Each):
					demand = needs.Each[r]
				case x.job == before:
					demand = 0
				case needs.Exclusive:
					demand = int64(n)
				}
				if before = x.job; demand > 0 {
					row.Starts, row.Lengths, row.Demands = append(row.Starts, x.start), append(row.Lengths, j.length[x.job]), append(row.Demands, demand)
				}
			}
			m.Add(row)
		}
	}
	k := lcg.New(&m.Model)
	o := k.Minimise(ctx, nil, conflicts, nil)
	if !o.Optimal {
		return math.NaN(), k.Conflicts
	}
	return j.mean(o.Best), k.Conflicts
}

// roomOf returns how many processes of a job an empty node holds.
func roomOf(capacity []int64, j *jobs, k int) int {
	needs, most := j.t.Jobs[k].Needs, int64(j.t.Jobs[k].Processes)
	if needs.Spread {
		most = 1
	}
	for r, need := range needs.Each {
		if need > 0 {
			most = min(most, capacity[r]/need)
		}
	}
	return int(most)
}
