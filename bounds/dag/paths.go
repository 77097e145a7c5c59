// SPDX-License-Identifier: MIT

// Package dag bounds the makespan of a DAG from below, without search, and holds
// its linear formulation.
//
// A bound without contention holds with it, since contention only delays. Longest paths with the best machines, the
// machines' time and the work that must be done within an interval need no solver. Duals of linear programs are
// evaluated so that the proof doesn't rest on the solver's arithmetic. One bound knows links: which data must come
// together on a task's machine.
package dag

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Formulations are the names of the linear models of DAG.
var Formulations = []string{"ordering"}

// All computes the bounds on the makespan that need no search, for any transfer model: all except gathering and traffic
// hold without contention, which only delays. Bounds that need a linear program come last and are left out when ctx
// ends. Without HiGHS the first of them has equal weights, and the last is left out.
func All(ctx context.Context, d *model.DAG) ([]bounds.Bound, error) {
	g := view.Shared(ctx, d, view.OfDAG)
	all := QuickOf(ctx, d)
	if g.Tasks == 0 || all[0].Infeasible {
		return all, nil
	}
	if busy, resource := loadOf(d, g, all); busy != nil && g.Tasks*g.Machines <= maxLoadProgram {
		load, weights, err := dagLoad(ctx, g, busy)
		if err != nil {
			return nil, err
		}
		if !math.IsNaN(load) {
			all = append(all, bounds.Bound{Name: "load", Value: load,
				Evidence: &model.Evidence{Type: evidence.Load, Method: "load", Weights: weights, Resource: resource}})
		}
	}
	if highs.Available() && g.Tasks <= maxRelaxed && Check(d.WithoutContention()) == nil && ctx.Err() == nil {
		value, e, err := Relaxation(ctx, d, math.Inf(1))
		if err != nil {
			return nil, err
		}
		all = append(all, bounds.Bound{Name: relaxationName, Value: value, Evidence: e})
	}
	return all, nil
}

// loadOf returns what tasks take of the machines' time in the bound area, and its resource, "" where machines run one
// task at a time; nil without one.
func loadOf(d *model.DAG, g *view.Graph, all []bounds.Bound) (busy []float64, resource string) {
	if g.Room == nil {
		return g.Cost, ""
	}
	for _, b := range all {
		if b.Name == "area" && b.Evidence != nil {
			return g.Busy(slices.Index(d.Resources, b.Evidence.Resource)), b.Evidence.Resource
		}
	}
	return nil, ""
}

// maxRelaxed is the number of tasks up to which All solves the relaxation of the
// formulation: more take minutes.
const maxRelaxed = 60

// Lower returns the best of QuickOf d, in seconds; g is the view of d. It computes none if they are known already.
func Lower(ctx context.Context, d *model.DAG, g *view.Graph) float64 {
	all, ok := view.Kept[[]bounds.Bound](ctx, d, view.QuickBounds)
	if !ok {
		all = newDAGPaths(ctx, g).quick(ctx)
	}
	lower := 0.0
	for _, b := range all {
		if !b.Infeasible {
			lower = max(lower, b.Value)
		}
	}
	return lower
}

func (x *dagPaths) quick(ctx context.Context) []bounds.Bound {
	if x.whole && math.IsInf(x.longest, 1) {
		return []bounds.Bound{{Name: "communication-path", Infeasible: true,
			Reason: "on whatever machines the tasks run, some of their data have no path"}}
	}
	all := []bounds.Bound{{Name: "critical-path", Value: x.down * x.critical()}}
	if x.whole {
		all = append(all, bounds.Bound{Name: "communication-path", Value: x.down * x.longest})
	}
	all = append(all, bounds.Bound{Name: "area", Value: x.down * x.area()})
	if x.whole {
		all = append(all, bounds.Bound{Name: "fernandez-bussell", Value: x.down * x.fernandezBussell(ctx)})
		var v float64
		if x.g.Room == nil { // it adds up times on one machine
			if v, x.gather = gathering(ctx, x.g); x.gather != nil {
				all = append(all, bounds.Bound{Name: "gathering", Value: v})
			}
		}
		if v, x.traffic = trafficBound(ctx, x.g, x.busy, x.weights); x.traffic != nil {
			all = append(all, bounds.Bound{Name: "traffic", Value: v})
		}
	}
	return all
}

// roundingOf returns a bound on the relative error of a sum of n figures that aren't
// negative, and of a few operations more.
func roundingOf(n int) float64 { return 1e-12 + 1e-15*float64(n) }

// dagPaths are the heads and tails of the tasks, in seconds. The head of a task on a machine is
// a lower bound on its start there, the tail on the time from its end to the end of the schedule.
type dagPaths struct {
	g *view.Graph
	// rows holds the heads, if forward, or the tails, of task t on machine m at [t*Machines+m]: they are most of the
	// memory.
	rows    []float64
	forward bool
	// For each task, the least head, cost and tail over the machines.
	start, cost, rest []float64
	whole             bool       // heads and tails were computed, and longest, start and rest
	longest           float64    // max_t min_m (head + cost + tail)
	widest            int32      // the first task t of longest
	on                int        // its first machine m there
	down              float64    // factor that lowers bounds by their rounding, 1 if sums are exact
	weights           []float64  // of the machines in area; nil: it is 0
	busy              []float64  // what tasks take of the machines' time in area, at [t*Machines+m]: see view.Graph.Busy
	resource          int        // of busy; -1: machines run one task at a time
	window            [2]float64 // the window of fernandezBussell; empty if none adds to the horizon
	scratch           []float64  // by machine
	gather            *gather    // of the bound gathering, nil without it
	traffic           *traffic   // of the bound traffic, likewise
}

// newDAGPaths computes tails, and the figures that need heads, unless ctx ends. O(V M + E M²)
func newDAGPaths(ctx context.Context, g *view.Graph) *dagPaths {
	n, m := g.Tasks, g.Machines
	x := &dagPaths{g: g, rows: make([]float64, n*m), scratch: make([]float64, m),
		start: make([]float64, n), cost: make([]float64, n), rest: make([]float64, n), down: 1,
		busy: g.Cost, resource: -1}
	if !g.ExactSums(2 * (n + 1)) { // the longest sum is of n costs and the edges between them
		x.down = 1 - roundingOf(n)
	}
	for t := range n {
		x.cost[t] = slices.Min(g.Cost[t*m:][:m])
	}
	x.whole = x.fill(ctx, false) && x.meet(ctx)
	return x
}

// row returns the head or tail of a task on each machine.
func (x *dagPaths) row(t int32) []float64 { return x.rows[int(t)*x.g.Machines:][:x.g.Machines] }

// over looks at ctx every thousand steps or so.
func over(ctx context.Context, step int) bool { return step&0x3ff == 0x3ff && meter.Stop(ctx, 1<<9) }

// fill computes all heads or tails, and returns false if ctx ended. O(V M + E M²)
func (x *dagPaths) fill(ctx context.Context, forward bool) bool {
	g := x.g
	x.forward = forward
	clear(x.rows)
	for k := range g.Tasks {
		if over(ctx, k) {
			return false
		}
		if forward {
			t := g.Order[k]
			for _, e := range g.Pred(t) {
				x.extend(x.row(t), x.row(g.From[e]), g.From[e], e)
			}
			continue
		}
		t := g.Order[g.Tasks-1-k]
		for _, e := range g.Succ(t) {
			x.extend(x.row(t), x.row(g.To[e]), g.To[e], e)
		}
	}
	return true
}

// meet computes, from tails, the figures that need heads as well: longest, start and rest. It keeps heads only until
// the heads of all successors are known. It reports whether ctx let it.
func (x *dagPaths) meet(ctx context.Context) bool {
	g, m := x.g, x.g.Machines
	heads := make([][]float64, g.Tasks)
	waits := make([]int32, g.Tasks) // successors without heads
	var free [][]float64
	x.forward, x.longest = true, -1
	for k, t := range g.Order {
		if over(ctx, k) {
			return false
		}
		var head []float64
		if last := len(free) - 1; last >= 0 {
			head, free = free[last], free[:last]
			clear(head)
		} else {
			head = make([]float64, m)
		}
		for _, e := range g.Pred(t) {
			p := g.From[e]
			x.extend(head, heads[p], p, e)
			if waits[p]--; waits[p] == 0 {
				heads[p], free = nil, append(free, heads[p])
			}
		}
		tail, cost := x.row(t), g.Cost[int(t)*m:][:m]
		x.start[t], x.rest[t] = slices.Min(head), slices.Min(tail)
		least, on := math.Inf(1), 0
		for a := range m {
			if sum := head[a] + cost[a] + tail[a]; sum < least {
				least, on = sum, a
			}
		}
		if least > x.longest || least == x.longest && t < x.widest {
			x.longest, x.widest, x.on = least, t, on
		}
		if waits[t] = int32(len(g.Succ(t))); waits[t] > 0 {
			heads[t] = head
		} else {
			free = append(free, head)
		}
	}
	x.forward, x.longest = false, max(0, x.longest)
	return true
}

// reach sets row[a] to the least time to machine a, over the machines b of the task other. The time goes from the head
// (or tail, if not forward) of other on b, in of, over its cost and edge e to machine a. O(M²), on a uniform network
// O(M).
func (x *dagPaths) reach(row, of []float64, other, e int32) {
	g := x.g
	m := g.Machines
	cost := g.Cost[int(other)*m:][:m]
	if !g.Uniform || m == 1 {
		for a := range m {
			row[a] = math.Inf(1)
			for b := range m {
				length := g.Comm(e, int32(b), int32(a))
				if !x.forward {
					length = g.Comm(e, int32(a), int32(b))
				}
				row[a] = min(row[a], of[b]+cost[b]+length)
			}
		}
		return
	}
	least := math.Inf(1)
	for b, c := range cost {
		row[b] = of[b] + c
		least = min(least, row[b])
	}
	least += g.Comm(e, 0, 1)
	for a := range row {
		row[a] = min(row[a], least)
	}
}

// extend raises row, the heads (or tails, if not forward) of a task, by the heads (or tails) of the task other across
// edge e, of.
func (x *dagPaths) extend(row, of []float64, other, e int32) {
	x.reach(x.scratch, of, other, e)
	for a, v := range x.scratch {
		row[a] = max(row[a], v)
	}
}

// critical returns the longest path of least costs.
func (x *dagPaths) critical() float64 {
	g := x.g
	end := make([]float64, g.Tasks)
	longest := 0.0
	for _, t := range g.Order {
		for _, e := range g.Pred(t) {
			end[t] = max(end[t], end[g.From[e]])
		}
		end[t] += x.cost[t]
		longest = max(longest, end[t])
	}
	return longest
}

// area returns the load bound Σ_t min_m w_m busy_tm / Σ_m w_m, the greater of two choices of weights of the machines, and
// of machines that run several tasks at once the greatest of all resources. The weights are equal, or w_m = 1/Σ_t
// busy_tm, which are the speeds if costs are work over speed. Machines that can't run a task have no part in its costs.
func (x *dagPaths) area() (most float64) {
	if x.g.Room == nil {
		most, x.weights = areaOf(x.g, x.busy)
		return most
	}
	for r := range x.g.Room.Resources {
		busy := x.g.Busy(r)
		v, weights := areaOf(x.g, busy)
		if v *= 1 - roundingOf(x.g.Tasks); weights != nil && (x.weights == nil || v > most) {
			most, x.weights, x.busy, x.resource = v, weights, busy, r
		}
	}
	return most
}

// areaOf returns the bound for what tasks take of the machines' time, and the weights; nil if it is 0.
func areaOf(g *view.Graph, busy []float64) (float64, []float64) {
	m := g.Machines
	weights, runs := make([]float64, m), make([]int, m)
	for k, c := range busy {
		if !math.IsInf(c, 1) {
			weights[k%m] += c
			runs[k%m]++
		}
	}
	sum := 0.0
	for a, total := range weights {
		if total == 0 && runs[a] == g.Tasks {
			return 0, nil // that machine does all tasks in no time
		}
		if total > 0 {
			weights[a] = 1 / total
			sum += weights[a]
		}
	}
	if sum == 0 {
		return 0, nil
	}
	weighted, equal := 0.0, 0.0
	for t := range g.Tasks {
		row := busy[t*m:][:m]
		weighted += leastLoad(weights, row)
		equal += slices.Min(row)
	}
	equal, weighted = quotient(equal, float64(m)), weighted/sum*(1-roundingOf(g.Tasks))
	if equal >= weighted {
		weights = slices.Repeat([]float64{1}, m)
	}
	return max(equal, weighted), weights
}

// fernandezBussell returns H + max_{a<b} (work(a, b)/M - (b - a)). H is the longest path and work(a, b) is the least
// work that the tasks, each within [start, H - rest], must do within [a, b]. For a makespan H + x the latest ends move
// by x, and the same work must be done within [a, b + x] on M machines. A task takes all of a machine meanwhile or, of
// machines that run several at once, the least share of the resource of area that it needs anywhere; M counts the
// machines that have it.
func (x *dagPaths) fernandezBussell(ctx context.Context) float64 {
	n := x.g.Tasks
	if n == 0 {
		return 0
	}
	horizon := 0.0
	for t := range n {
		horizon = max(horizon, x.start[t]+x.cost[t]+x.rest[t])
	}
	from, to := make([]float64, 0, 2*n), make([]float64, 0, 2*n)
	for t := range n {
		from = append(from, x.start[t], horizon-x.rest[t]-x.cost[t])
		to = append(to, horizon-x.rest[t], x.start[t]+x.cost[t])
	}
	points := min(200, int(math.Sqrt(4e7/float64(n))))
	from, to = thin(from, points), thin(to, points)
	machines := float64(x.g.Machines)
	var shares []float64
	if x.g.Room != nil {
		if x.resource < 0 {
			return horizon
		}
		shares, machines = x.g.Room.LeastShares(x.g, x.resource)
	}
	whole := shares == nil && x.down == 1 && x.g.ExactSums(4*(n+1)*x.g.Machines)
	worst, bound := 0.0, horizon
	// A task must do min(most, b - after) by b if that is above 0; for many tasks most isn't.
	type due struct{ most, after, share float64 }
	dues := make([]due, 0, n)
	for _, a := range from {
		dues = dues[:0]
		for t := range n {
			if most := min(x.cost[t], x.start[t]+x.cost[t]-a); most > 0 {
				share := 1.0
				if shares != nil {
					share = shares[t]
				}
				dues = append(dues, due{most, max(a, horizon-x.rest[t]-x.cost[t]), share})
			}
		}
		for _, b := range to {
			if b <= a {
				continue
			}
			if ctx.Err() != nil {
				return bound
			}
			spent := 0.0
			for _, d := range dues {
				spent += d.share * max(0, min(d.most, b-d.after))
			}
			if over := spent/machines - (b - a); over > worst {
				worst, x.window = over, [2]float64{a, b}
				if bound = horizon + over*(1-roundingOf(n)); whole {
					bound = quotient(horizon*machines+spent-(b-a)*machines, machines)
				}
			}
		}
	}
	return bound
}

// quotient returns x/y, y > 0, rounded down.
func quotient(x, y float64) float64 {
	q := x / y
	if math.FMA(q, y, -x) > 0 {
		return math.Nextafter(q, math.Inf(-1))
	}
	return q
}

// thin sorts the values, removes duplicates, and keeps at most the given number of
// them, evenly spaced.
func thin(x []float64, most int) []float64 {
	slices.Sort(x)
	x = slices.Compact(x)
	if len(x) <= most {
		return x
	}
	kept := make([]float64, most)
	for k := range kept {
		kept[k] = x[k*(len(x)-1)/max(1, most-1)]
	}
	return kept
}

// maxLoadProgram is the largest number of variables, a task on a machine each, of
// the load bound's linear program.
const maxLoadProgram = 200_000

// dagLoad returns the load bound Σ_t min_m w_m busy_tm / Σ_m w_m for the weights w of LoadWeights: the value of
// R|pmtn|Cmax without release times. It evaluates the bound again so that it is valid for any w ≥ 0. It is NaN if HiGHS
// was interrupted.
func dagLoad(ctx context.Context, g *view.Graph, busy []float64) (load float64, w []float64, err error) {
	w, err = LoadWeights(ctx, busy, g.Machines)
	if w == nil || err != nil {
		return math.NaN(), nil, err
	}
	sum, weights := 0.0, 0.0
	for _, v := range w {
		weights += v
	}
	for t := range g.Tasks {
		sum += leastLoad(w, busy[t*g.Machines:][:g.Machines])
	}
	return sum / weights * (1 - roundingOf(g.Tasks)), w, nil
}

// leastLoad returns the least weighted cost of a task among the machines that can run it.
func leastLoad(weights, cost []float64) float64 {
	least := math.Inf(1)
	for a, c := range cost {
		if !math.IsInf(c, 1) {
			least = min(least, weights[a]*c)
		}
	}
	return least
}

// LoadWeights returns the duals w ≥ 0, not all 0, of the machines' rows in
//
//	min C, Σ_m x_tm = 1 for each task t, Σ_t cost_tm x_tm ≤ C for each machine m,
//
// with cost_tm = cost[t*machines+m], x_tm = 0 where that is infinite: tasks split over machines so that the fullest
// one ends early. They are nil if HiGHS was interrupted, and equal without HiGHS.
func LoadWeights(ctx context.Context, cost []float64, machines int) ([]float64, error) {
	equal := slices.Repeat([]float64{1}, machines)
	n, scale := len(cost)/machines, 0.0
	for t := range n {
		scale += slices.Min(cost[t*machines : (t+1)*machines])
	}
	if scale == 0 || !highs.Available() {
		return equal, nil // any weights are valid
	}
	var p milp.Model
	last := p.AddVar(milp.Var{Upper: milp.Inf, Cost: 1})
	loads := make([][]milp.Term, machines)
	for a := range loads {
		loads[a] = []milp.Term{{Var: last, Coef: 1}}
	}
	for t := range n {
		var once []milp.Term
		for a := range machines {
			if math.IsInf(cost[t*machines+a], 1) {
				continue
			}
			v := p.AddVar(milp.Var{Upper: 1})
			once = append(once, milp.Term{Var: v, Coef: 1})
			// Solvers get limited figures: a machine that costs more than everything else together isn't used, whatever
			// it costs.
			loads[a] = append(loads[a], milp.Term{Var: v, Coef: -min(cost[t*machines+a]/scale*float64(n), 1e6*float64(n))})
		}
		p.AddRow("", 1, 1, once...)
	}
	for _, terms := range loads {
		p.AddRow("", 0, milp.Inf, terms...)
	}
	h, err := highs.Solve(ctx, &p, milp.Options{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("load bound: %w", err)
	case h.Status == milp.Interrupted || h.Status == milp.TimeLimit:
		return nil, nil
	case h.Status != milp.Optimal:
		return equal, nil // any weights are valid
	}
	w := h.Duals[n:]
	for a := range w {
		w[a] = max(0, w[a])
	}
	if !(slices.Max(w) > 0) { // NaN, too
		return equal, nil
	}
	return w, nil
}
