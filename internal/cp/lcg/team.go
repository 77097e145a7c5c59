// SPDX-License-Identifier: MIT

package lcg

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/run/panics"
)

// Team is kernels that work on one question in rounds of counted effort, side by side or, on one thread, one after the
// other. At the end of a round they exchange, in their order, the best objective and its bound, the facts of level 0,
// and the nogoods of few levels. So their results don't depend on time.
//
// A kernel's derivations are true for all solutions better than the best one known to it. At the end of a round all
// know the best of all before they take in anything else, so the facts they take in are true for the solutions they
// look for.
//
// Kernels of one model share the work. Kernels with an even number refute one objective after another; the others look
// for better solutions, each with a seed of its own. On 15 task graphs and batches that one kernel proves in 0.5 to 4
// s, two of them need 1/1.57 of its effort each; two kernels that each do both need 1/1.2. If the time goes into
// finding a solution, it is a matter of luck: of three graphs of 6 to 10 s two took them longer. All together is a
// quarter more at the best, so there are as many kernels as threads, and no more: which of several best solutions is
// found depends on the number of threads. Kernels of different models only share objectives; there is at least one
// kernel of each model.
type Team struct {
	Kernels []*Kernel
	// News is Kernel.News, asked at the end of each round.
	News func() int64

	threads   int
	effort    int64   // of the next round, of each kernel
	burst     int64   // conflicts of a kernel in a round of Minimise; 0: as many as the effort allows
	spent     int64   // of all rounds, of each kernel
	conflicts []int64 // of each kernel, as far as they count
}

const (
	// sharedLevels is the number of levels up to which a learned nogood is shared.
	sharedLevels = 6
	// roundConflicts is the approximate number of conflicts of a kernel in a round.
	roundConflicts = 300
	leastEffort    = 5000 // of a round
)

// NewTeam returns kernels for as many threads, of one or several models with the same objectives: as many for each
// model.
func NewTeam(threads int, o Options, models ...*cp.Model) *Team {
	t := &Team{threads: max(1, threads), effort: leastEffort}
	copies := (t.threads + len(models) - 1) / len(models)
	for i := range copies {
		for _, m := range models {
			o := o
			if copies > 1 {
				o.Seed += uint64(i)
				if side := []Device{Downwards, Upwards}[i%2]; o.Off&(Upwards|Downwards) == 0 {
					o.Off |= side
				}
			}
			t.Kernels = append(t.Kernels, NewWith(m, o))
			t.effort = max(t.effort, int64(len(m.Low)/25))
		}
	}
	if t.conflicts = make([]int64, len(t.Kernels)); len(t.Kernels) > 1 {
		for _, k := range t.Kernels {
			k.telling = sharedLevels
		}
	}
	return t
}

// Conflicts returns the number of conflicts of the kernels.
func (t *Team) Conflicts() (sum int64) {
	if len(t.Kernels) == 1 {
		return t.Kernels[0].Conflicts
	}
	for _, n := range t.conflicts {
		sum += n
	}
	return sum
}

// Require is Kernel.Require for the objective of all, which is at least so much.
func (t *Team) Require(least int64) {
	for _, k := range t.Kernels {
		k.Require(k.model.Objective.AtLeast(least))
	}
}

// SetPhases is Kernel.SetPhases for the kernels of a model.
func (t *Team) SetPhases(m *cp.Model, values []int64) {
	for _, k := range t.Kernels {
		if k.model == m {
			k.SetPhases(values)
		}
	}
}

// Minimise is Kernel.Minimise by all kernels. Conflicts are counted over all kernels together, and a round may exceed
// them. If there are several kernels, found is called at the end of a round, and after it at any rate.
func (t *Team) Minimise(ctx context.Context, upper *int64, conflicts int64, found func(o *Outcome)) Outcome {
	if len(t.Kernels) == 1 {
		t.Kernels[0].News = t.News
		return t.Kernels[0].Minimise(ctx, upper, conflicts, found)
	}
	o := Outcome{Best: infinite, Bound: -infinite}
	if upper != nil {
		o.Best = *upper
	}
	for all := make([]Outcome, len(t.Kernels)); ; {
		if t.News != nil {
			if best := t.News(); best < o.Best {
				o.Best, o.Values = best, nil
			}
		}
		left := int64(0)
		if conflicts > 0 {
			if left = conflicts - t.Conflicts(); left <= 0 {
				return o
			}
		}
		count, over := t.Round(ctx, func(ctx context.Context, i int) bool {
			k := t.Kernels[i]
			most := left
			if t.burst > 0 && (most == 0 || t.burst < most) {
				most = t.burst
			}
			if most > 0 {
				most += k.Conflicts
			}
			best := &o.Best
			if o.Best == infinite {
				best = nil
			}
			all[i] = k.Minimise(ctx, best, most, nil)
			return all[i].Optimal || all[i].Infeasible
		})
		proved := false
		for i, x := range all[:count] {
			if x.Best < o.Best {
				o.Best, o.Values, o.Model = x.Best, x.Values, t.Kernels[i].model
			}
			o.Bound = max(o.Bound, x.Bound)
			proved = proved || x.Optimal || x.Infeasible
		}
		if proved {
			o.Bound, o.Optimal = o.Best, o.Best < infinite
			o.Infeasible = !o.Optimal
			return o
		}
		if found != nil {
			found(&o)
		}
		if over {
			return o
		}
		t.share(&o)
	}
}

// share gives each kernel the best objective and the bound.
func (t *Team) share(o *Outcome) {
	for _, k := range t.Kernels {
		if o.Best < infinite {
			k.Require(k.model.Objective.AtMost(o.Best - 1))
			if o.Values != nil && o.Model == k.model && !k.off(Phases) {
				k.SetPhases(o.Values)
			}
		}
		if o.Bound > -infinite {
			k.Require(k.model.Objective.AtLeast(o.Bound))
		}
	}
	t.exchange()
}

// Round has each kernel work, by its number, until it has counted the effort of a round; then Stop reports the end in
// its context. Kernels after one that closes the question don't count, and don't begin if that is known. It returns how
// many count, and whether ctx has ended.
func (t *Team) Round(ctx context.Context, work func(ctx context.Context, i int) (closed bool)) (count int, over bool) {
	n := int64(len(t.Kernels))
	var closed atomic.Int64 // kernels up to the first that closed the question
	closed.Store(n)
	failures := make([]error, n)
	meter.Each(ctx, len(t.Kernels), func(i int) {
		if int64(i) >= closed.Load() {
			return
		}
		closes := false
		failures[i] = panics.Call(func() error { closes = work(meter.Limit(ctx, t.effort), i); return nil })
		for first := closed.Load(); closes && int64(i) < first && !closed.CompareAndSwap(first, int64(i)+1); first = closed.Load() {
		}
	})
	for _, err := range failures {
		panics.Pass(err)
	}
	for i := range closed.Load() {
		t.conflicts[i] = t.Kernels[i].Conflicts
	}
	over = meter.Stop(ctx, t.effort*((n+int64(t.threads)-1)/int64(t.threads)))
	t.spent += t.effort
	// A round is long enough for some hundred conflicts, but isn't the longer part of all.
	each := t.spent / (t.Conflicts()/n + 1)
	t.effort = min(2*t.effort, max(leastEffort, roundConflicts*min(each, math.MaxInt64/roundConflicts)))
	return int(closed.Load()), over
}

// exchange has the kernels of one model take in each other's facts of level 0 and learned nogoods. They are at level 0
// and know the best objective of all.
func (t *Team) exchange() {
	for _, k := range t.Kernels {
		for _, x := range t.Kernels {
			if x == k || x.model != k.model {
				continue
			}
			for sv, low := range x.low {
				k.set(cp.Lit{SV: int32(sv), B: low}, decided, 0)
			}
			for _, g := range x.told {
				k.adopt(g)
			}
		}
	}
	for _, k := range t.Kernels {
		k.told = k.told[:0]
	}
}

// adopt adds a nogood that another kernel has learned, at level 0.
func (k *Kernel) adopt(g nogood) {
	if premises := k.normal(g.premises); premises != nil && !k.failed {
		k.nogoods = append(k.nogoods, nogood{premises: premises, learned: true, number: k.number, lbd: g.lbd, activity: k.bump})
		k.number++
		k.learned++
		k.attach(int32(len(k.nogoods) - 1))
	}
}

// share notes a learned nogood of few levels for the others of the team.
func (k *Kernel) share(premises []cp.Lit, lbd int32) {
	if lbd <= k.telling {
		k.told = append(k.told, nogood{premises: slices.Clone(premises), lbd: lbd})
	}
}
