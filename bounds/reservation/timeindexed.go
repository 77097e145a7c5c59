// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// chainEnd is the end of a chain of jobs, each of which starts when the one before ends.
type chainEnd struct {
	at  int64  // ticks
	job int32  // the last
	set uint32 // all of its jobs as bits, if sets are kept
}

// startPoints returns ascending starts of each job, by job, that suffice for an
// optimum. Every solution can be moved to the left until no job can be moved any
// more. Each job then starts when it is ready or when another ends, and that one, too,
// starts when it is ready or when another ends. So the starts are ready times and ends
// of chains of jobs, each in its window. A job that starts later than it is ready is
// blocked just before its start: the jobs that may run then need more PEs than it
// leaves.
//
// No job is in a chain twice. That is enforced for neighbours in the chain only, which makes some 1 % more points; with
// sets if the points are too many and the jobs few. ok is false if there are more than most points. O(points × jobs
// with overlapping windows).
func startPoints(t *view.Reservation, most int) (points [][]int64, ok bool) {
	if few := len(t.Jobs); few <= maxChainJobs {
		if points, ok = chainPoints(t, min(most, manyPoints*few), false); !ok {
			return chainPoints(t, most, true)
		}
		return points, ok
	}
	return chainPoints(t, most, false)
}

const (
	// maxChainJobs is the number of jobs up to which chains may keep their sets.
	maxChainJobs = 12
	// manyPoints is the number of points per job up to which chains don't keep their sets.
	manyPoints = 50
)

// chainPoints is startPoints, with no job in a chain twice if once is set.
func chainPoints(t *view.Reservation, most int, once bool) (points [][]int64, ok bool) {
	points = make([][]int64, len(t.Jobs))
	ends := heap.Heap[chainEnd]{Less: func(a, b chainEnd) bool { return a.at < b.at }}
	n := 0
	add := func(j int, at int64, set uint32) {
		if k := len(points[j]); k == 0 || points[j][k-1] < at {
			points[j] = append(points[j], at)
			n++
		}
		if once {
			set |= 1 << j
		}
		if t.Jobs[j].Length > 0 {
			ends.Push(chainEnd{at + t.Jobs[j].Length, int32(j), set})
		}
	}
	var byReady []int
	for j := range t.Jobs {
		if add(j, t.Jobs[j].Ready, 0); t.Jobs[j].Length > 0 {
			byReady = append(byReady, j)
		}
	}
	order.Stable(byReady, func(i, j int) int { return cmp.Compare(t.Jobs[i].Ready, t.Jobs[j].Ready) })
	var open []int // the jobs that may run just before at
	var sets []uint32
	for ends.Len() > 0 && n <= most {
		at := ends.Items[0].at
		job, several := ends.Items[0].job, false
		sets = sets[:0]
		for ends.Len() > 0 && ends.Items[0].at == at {
			e := ends.Pop()
			several = several || e.job != job
			if once && !slices.Contains(sets, e.set) {
				sets = append(sets, e.set)
			}
		}
		for len(byReady) > 0 && t.Jobs[byReady[0]].Ready < at {
			open = append(open, byReady[0])
			byReady = byReady[1:]
		}
		open = slices.DeleteFunc(open, func(j int) bool { return t.Jobs[j].Due < at })
		running := 0
		for _, j := range open {
			running += t.Jobs[j].PEs
		}
		if running <= t.PEs {
			continue // nothing can be blocked
		}
		for _, j := range open {
			if at > t.Jobs[j].Latest() {
				continue
			}
			if !once && (several || int(job) != j) {
				add(j, at, 0)
			}
			for _, set := range sets {
				if set>>j&1 == 0 {
					add(j, at, set)
				}
			}
		}
	}
	return points, n <= most
}

// buildTimeIndexed builds the formulation "time-indexed" (Pritsker, Watters, Wolfe:
// Multiproject scheduling with limited resources, Management Science 1969) on the
// points of startPoints alone. x_{j,s} = 1 if job j starts at its point s:
//
//	Σ_s x_{j,s} ≤ 1 (= 1 with the goal all)          for each job j
//	u_t = u_t' + Σ_{starts in (t',t]} PEs_j x - Σ_{ends in (t',t]} PEs_j x ≤ PEs
//
// where u_t is the number of PEs in use at t, and t' the point before t. That has two terms for each x; rows that list
// all that is under way have hundreds, and HiGHS takes ten times as long. A t has a row only if something starts at it,
// something ends after it before the next start, and the jobs that may run at it together need too many PEs. At any
// other moment no more PEs are in use than at one of these. All PE counts are divided by their greatest common divisor.
// O(P log P) for P points.
func buildTimeIndexed(t *view.Reservation, points [][]int64) *timeIndexed {
	b := &timeIndexed{weighted: newWeighted(t, "time-indexed"), t: t, points: points, first: make([]int, len(t.Jobs))}
	for j := range t.Jobs {
		x := &t.Jobs[j]
		cost, low := b.weights[j], 0.0
		if t.Goal == model.GoalAll {
			cost, low = 0, 1
		}
		b.first[j] = len(b.Vars)
		var once []milp.Term
		for _, at := range points[j] {
			v := b.AddVar(milp.Var{Name: fmt.Sprintf("x_%d_%d", x.Request+1, at), Upper: 1, Cost: cost, Integer: true})
			once = append(once, milp.Term{Var: v, Coef: 1})
		}
		b.AddRow(fmt.Sprintf("once_%d", x.Request+1), low, 1, once...)
	}
	b.capacity()
	b.Encode, b.Decode = b.encode, b.decode
	return b
}

// timeIndexed is the formulation being built.
type timeIndexed struct {
	*weighted
	t      *view.Reservation
	points [][]int64 // by job
	first  []int     // variable of each job's first point
	common int       // divides all PE counts
	used   []int     // variables u
	at     []int64   // their points
}

// capacity adds the variables u and their rows.
func (b *timeIndexed) capacity() {
	type event struct {
		at   int64
		end  bool
		j, v int
	}
	var events []event
	for j, list := range b.points {
		x := &b.t.Jobs[j]
		b.common = units.GCD(b.common, x.PEs)
		for k, at := range list {
			if x.Length > 0 {
				events = append(events, event{at, false, j, b.first[j] + k}, event{at + x.Length, true, j, b.first[j] + k})
			}
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		rank := 0 // ends come first
		if a.end != b.end {
			if rank = 1; a.end {
				rank = -1
			}
		}
		return cmp.Or(cmp.Compare(a.at, b.at), rank, cmp.Compare(a.v, b.v))
	})
	open := make([]int, len(b.t.Jobs)) // how many x of a job are under way
	all := 0                           // the PEs of the jobs that have some
	changed := map[int]float64{}       // coefficients since the last row
	var order []int                    // of changed
	for k, e := range events {
		pes := b.t.Jobs[e.j].PEs
		coef := float64(pes / b.common)
		if e.end {
			coef = -coef
			if open[e.j]--; open[e.j] == 0 {
				all -= pes
			}
		} else {
			if open[e.j]++; open[e.j] == 1 {
				all += pes
			}
		}
		if _, ok := changed[e.v]; !ok {
			order = append(order, e.v)
		}
		changed[e.v] += coef
		if e.end || !events[k+1].end || all <= b.t.PEs { // the last event is an end
			continue
		}
		u := b.AddVar(milp.Var{Name: fmt.Sprintf("u_%d", e.at), Upper: float64(b.t.PEs / b.common)})
		row := []milp.Term{{Var: u, Coef: -1}}
		if n := len(b.used); n > 0 {
			row = append(row, milp.Term{Var: b.used[n-1], Coef: 1})
		}
		for _, v := range order {
			if c := changed[v]; c != 0 { // else it has started and ended
				row = append(row, milp.Term{Var: v, Coef: c})
			}
		}
		clear(changed)
		order = order[:0]
		b.AddRow(fmt.Sprintf("at_%d", e.at), 0, 0, row...)
		b.used, b.at = append(b.used, u), append(b.at, e.at)
	}
}

func (b *timeIndexed) encode(starts []int64) []float64 {
	if b.t.Check(starts) != nil {
		return nil
	}
	x := make([]float64, len(b.Vars))
	for j, s := range b.t.ShiftLeft(starts) {
		if s < 0 {
			continue
		}
		k, found := slices.BinarySearch(b.points[j], s)
		if !found {
			return nil
		}
		x[b.first[j]+k] = 1
		for i, at := range b.at {
			if s <= at && at < s+b.t.Jobs[j].Length {
				x[b.used[i]] += float64(b.t.Jobs[j].PEs / b.common)
			}
		}
	}
	return x
}

func (b *timeIndexed) decode(x []float64) ([]int64, error) {
	if err := b.checkPoint(x); err != nil {
		return nil, err
	}
	starts := make([]int64, len(b.t.Jobs))
	for j, list := range b.points {
		most, sum := 0.0, 0.0
		for k, at := range list {
			v := x[b.first[j]+k]
			if sum += v; v > most {
				most, starts[j] = v, at
			}
		}
		if !(sum > 0.5) {
			starts[j] = -1
		}
	}
	return repair(b.t, starts)
}
