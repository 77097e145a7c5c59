// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// These are temperatures, and the first cost of a move, in units of a task's share of the cost of the hosts in use. On
// 3,600 tasks with four resources, 0.36 for a move, falling, led to a cost of 553 with 1,740 moves in 5 s. From 0.14 on
// it was 552 with 2,233; with 0.007 throughout it was 552 with 3,179. From the best plan on it is warm, not hot, so
// that most tasks stay.
const (
	hottest   = 0.08
	warm      = 0.02
	coldest   = 0.0008
	firstMove = 0.36
	moveDecay = 0.6
)

// looksACooling is how many looks are at one temperature.
const looksACooling = 1000

// annealing is simulated annealing (Kirkpatrick, Gelatt, Vecchi: Optimization by simulated
// annealing, 1983) of the tasks on hosts in use. A look draws a task and a host. The task moves there or, where it
// doesn't fit, swaps with one there. The energy is
//
//	Σ_h price_h (2 y_h - y_h²) + μ · moves,
//
// y_h being how full host h is, weighed, and price_h 0 if it is paid in any case. The sum is concave, and
// equal to the cost where hosts are full or empty. So of two hosts the fuller one attracts (Falkenauer
// 1996). Emptied hosts stay empty: the cost never grows.
//
// Only the hosts that few moves empty go while μ is large. As it falls from cycle to cycle, more go. A cost that is low
// enough, by the limit, freezes the first sum.
//
// O(resources) a look; where the energy accepts it also the rules of the jobs, as State.Can.
type annealing struct {
	*search
	origin view.Plan // today's, with a host for what has none
	need   []int64   // [job × resources + resource]
	price  []float64 // of each host per what it has, 0 if it is paid in any case
	worth  []float64 // of each host: what it has, weighed
	full   []float64 // of each host: what its tasks need, weighed
	tasks  []task    // that may move
	share  float64   // of a task in what the hosts in use cost
	moving float64   // mean cost of a move
	mu     float64   // of a move
	goal   int64     // the cost at which only moves count
	looks  int       // so far
}

// annealing returns one from today's plan on. The plan is that then.
func (s *search) annealing(ctx context.Context) *annealing {
	c := s.C
	a := &annealing{search: s, need: make([]int64, len(c.Jobs)*c.Resources), price: make([]float64, len(c.Hosts)),
		worth: make([]float64, len(c.Hosts)), full: make([]float64, len(c.Hosts)), goal: -1}
	s.today(ctx)
	a.origin = s.Plan.Clone()
	paid := make([]bool, len(c.Hosts))
	for i := range c.Jobs {
		j := &c.Jobs[i]
		copy(a.need[i*c.Resources:], j.Needs)
		for k, h := range j.Current {
			if j.Pinned {
				paid[h] = true
			} else {
				a.tasks = append(a.tasks, task{i, k})
				a.moving += float64(j.Move)
			}
		}
	}
	n := max(1, float64(len(a.tasks)))
	a.moving /= n
	for h := range c.Hosts {
		for r, x := range c.Hosts[h].Capacity {
			a.worth[h] += s.weight[r] * float64(x)
		}
		a.worth[h] = max(a.worth[h], math.SmallestNonzeroFloat32)
		if !c.Hosts[h].Kept && !paid[h] {
			a.price[h] = float64(c.Hosts[h].Price) / a.worth[h]
			if s.Tasks[h] > 0 {
				a.share += float64(c.Hosts[h].Price) / n
			}
		}
	}
	if c.In.Goal == model.GoalMoves {
		if a.goal = math.MaxInt64; c.In.CostLimit != nil {
			a.goal = *c.In.CostLimit
		}
	}
	return a
}

// round anneals cycle by cycle, from today's plan or, again, from the best one, until two in a row
// bring nothing. It reports whether ctx hasn't ended.
func (a *annealing) round(ctx context.Context, looks int, again bool) bool {
	if a.share == 0 || len(a.tasks) == 0 || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	again = again && a.best != nil
	hot, decay := hottest, moveDecay
	if a.reset(a.origin); again {
		a.reset(a.best)
		hot, decay = warm, 1
	}
	a.mu = firstMove * a.share / a.moving
	for vain := 0; vain < 2; vain++ {
		before := a.Cost
		if !a.cycle(ctx, looks, hot*a.share) {
			return false
		}
		a.fill(ctx)
		better := a.better()
		if better {
			a.keep()
		}
		if a.Cost < before || again && better {
			vain = -1
		}
		a.mu *= decay
	}
	return true
}

// cycle cools down once, from a temperature on.
func (a *annealing) cycle(ctx context.Context, looks int, t float64) bool {
	if len(a.used) == 0 {
		return true
	}
	for h := range a.full {
		a.full[h] = a.load(h)
	}
	steps := max(1, looks/looksACooling)
	cool := math.Pow(coldest*a.share/t, 1/float64(steps))
	for range steps {
		if meter.Stop(ctx, 60) {
			return false
		}
		for range looksACooling {
			a.look(t)
		}
		a.looks += looksACooling
		t *= cool
	}
	return true
}

// look draws a task and another host in use. It either accepts or rejects a move of the task there or, if it doesn't
// fit, a swap with a task there.
func (a *annealing) look(t float64) {
	c, n := a.C, a.C.Resources
	x, to := a.tasks[a.rng.IntN(len(a.tasks))], a.used[a.rng.IntN(len(a.used))]
	from := int(a.Plan[x.I][x.K])
	if from < 0 || from == to || a.Tasks[to] == 0 || !a.may(x, to) {
		return
	}
	need, left := a.need[x.I*n:x.I*n+n], a.Left[to*n:to*n+n]
	size := a.size[x.I]
	fits := true
	for r, v := range need {
		if v > left[r] && v > 0 {
			fits = false
			break
		}
	}
	if fits {
		if a.accepts(a.change(x, from, to)+a.gain(to, size)+a.gain(from, -size), t) {
			a.shift(x, from, to)
		}
		return
	}
	y := a.on[to][a.rng.IntN(len(a.on[to]))]
	if y.I == x.I || c.Jobs[y.I].Pinned || !a.may(y, from) {
		return
	}
	back, other := a.need[y.I*n:y.I*n+n], a.Left[from*n:from*n+n]
	for r, v := range need {
		if v > 0 && v-back[r] > left[r] || back[r] > 0 && back[r]-v > other[r] {
			return
		}
	}
	size -= a.size[y.I]
	if a.accepts(a.change(x, from, to)+a.change(y, to, from)+a.gain(to, size)+a.gain(from, -size), t) {
		a.swap(x, y, from, to)
	}
}

// may reports whether a task may be on a host, apart from its needs and from rules.
func (a *annealing) may(x task, h int) bool {
	j := &a.C.Jobs[x.I]
	return j.Allowed.Has(h) || int(j.Current[x.K]) == h
}

// accepts is Metropolis' rule.
func (a *annealing) accepts(change, t float64) bool {
	return change <= 0 || change < 20*t && a.rng.Float64() < math.Exp(-change/t)
}

// gain returns by how much the energy of a host changes by a load.
func (a *annealing) gain(h int, d float64) float64 {
	if a.Cost <= a.goal {
		return 0
	}
	return a.price[h] * (2*d - (2*a.full[h]*d+d*d)/a.worth[h])
}

// change returns by how much the energy changes by the move.
func (a *annealing) change(x task, from, to int) float64 {
	j := &a.C.Jobs[x.I]
	switch int(j.Current[x.K]) {
	case from:
		return a.mu * float64(j.Move)
	case to:
		return -a.mu * float64(j.Move)
	}
	return 0
}

// shift moves a task if no rule is broken by it and the moves are within the budget.
func (a *annealing) shift(x task, from, to int) {
	broken, moved := a.Broken, a.Moves
	a.remove(x)
	if a.place(x, to) {
		if a.keeps(broken, moved) {
			a.full[from], a.full[to] = a.load(from), a.load(to)
			if a.Tasks[from] == 0 {
				a.tidy()
				if a.C.In.Goal != model.GoalMoves && (a.best == nil || a.Cost < a.first) && a.Feasible() {
					a.keep()
				}
			}
			return
		}
		a.remove(x)
	}
	a.put(x, from)
}

// swap swaps two tasks in the same way.
func (a *annealing) swap(x, y task, from, to int) {
	broken, moved := a.Broken, a.Moves
	a.remove(x)
	a.remove(y)
	if a.place(x, to) {
		if a.place(y, from) {
			if a.keeps(broken, moved) {
				a.full[from], a.full[to] = a.load(from), a.load(to)
				return
			}
			a.remove(y)
		}
		a.remove(x)
	}
	a.put(x, from)
	a.put(y, to)
}

// place places a task that fits, if its rules allow it.
func (a *annealing) place(x task, h int) bool {
	if len(a.C.Jobs[x.I].Rules) > 0 && !a.Can(x.I, x.K, h) {
		return false
	}
	a.put(x, h)
	return true
}

// keeps reports whether no more rules are broken, and the budget holds or no more moves.
func (a *annealing) keeps(broken int, moved int64) bool {
	b := a.C.In.MoveBudget
	return a.Broken <= broken && (b == nil || a.Moves <= max(moved, *b))
}
