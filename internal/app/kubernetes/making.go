// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Making is how moves of pods that run make room for one that waits, while others go on waiting.
type Making struct {
	// Status is optimal if no fewer moves do, infeasible if none do, both proved; feasible, or unknown if none were found.
	Status string `json:"status"`
	// Moves are in their order, the last one is of the pod.
	Moves []Move `json:"moves"`
}

// makeRoom finds the fewest moves after which a waiting pod of job i has a node. None has it now.
func (in *Instance) makeRoom(ctx context.Context, i int, name string, o gapwise.Options) (*Making, error) {
	wait := map[string]bool{}
	for j := range in.Jobs {
		for _, pod := range in.Pods[j] {
			wait[pod] = j != i && in.Jobs[j].LeaveOutCost != nil
		}
	}
	c, y := *in.unmoved(wait), *in
	c.Goal, c.Jobs, y.Consolidation, y.Pods = model.GoalMoves, slices.Clone(c.Jobs), &c, slices.Clone(in.Pods)
	c.Jobs[i].Tasks, c.Jobs[i].LeaveOutCost, y.Pods[i] = 1, nil, []string{name}
	if o.Effort == 0 {
		o.Effort = questionEffort
	}
	v := view.OfConsolidation(&c, 0)
	if plan := madeRoom(ctx, v, i); plan != nil {
		o.Start = v.Assignment(plan)
	}
	r, err := gapwise.Solve(ctx, &c, o)
	if err != nil {
		return nil, err
	}
	m := &Making{Status: string(r.Status), Moves: []Move{}}
	if r.Solution == nil {
		return m, nil
	}
	w, err := y.way(ctx, r.Solution.(*model.Assignment))
	if err != nil {
		return nil, err
	}
	all := slices.Concat(w.waves...)
	last := slices.IndexFunc(all, func(m Move) bool { return m.Pod == name })
	if w.cut || last < 0 { // no order leads there
		m.Status = string(model.StatusUnknown)
		return m, nil
	}
	switch m.Moves = all[:last+1]; {
	case last == 1: // with none a node would have it now
		m.Status = string(model.StatusOptimal)
	case float64(last) > r.Objective: // it takes a detour
		m.Status = string(model.StatusFeasible)
	}
	return m, nil
}

// text returns how room is made in words; "" if that wasn't looked for.
func (m *Making) text() string {
	switch {
	case m == nil:
		return ""
	case m.Status == string(model.StatusInfeasible):
		return "no moves of pods that run make room for it: that is proved"
	case len(m.Moves) == 0:
		return "no moves of pods that run and make room for it were found; plan --moves looks for longer"
	}
	var steps []string
	for _, x := range m.Moves[:min(len(m.Moves)-1, mostPins)] {
		steps = append(steps, fmt.Sprintf("%s: %s -> %s", x.Pod, x.From, x.To))
	}
	if n := len(m.Moves) - 1 - mostPins; n > 0 {
		steps = append(steps, fmt.Sprintf("%d more (--json)", n))
	}
	text := words.Plural(len(m.Moves)-1, "move") + " make"
	if len(m.Moves) == 2 {
		text += "s"
	}
	if text += " room for it on " + m.Moves[len(m.Moves)-1].To; m.Status == string(model.StatusOptimal) {
		text += ", fewer don't"
	}
	return text + ": " + strings.Join(steps, ", ") + "; plan --moves has those of the whole cluster"
}

// madeRoom returns today's plan with a place for the one task of job i, for which tasks of one host leave it one after the
// other: of the hosts the one that the fewest leave, as found; nil if there is none. O(hosts² × tasks of a host × rules).
func madeRoom(ctx context.Context, c *view.Consolidation, i int) (best view.Plan) {
	s := planstate.Of(c, c.Today())
	on := make([][]move, c.Existing)
	for j := range s.Plan {
		for k, h := range s.Plan[j] {
			if h >= 0 && !c.Jobs[j].Pinned {
				on[h] = append(on[h], move{j, k})
			}
		}
	}
	fewest := s.C.Existing + len(s.Plan)
	for h := range on {
		if ctx.Err() != nil || !c.Jobs[i].Allowed.Has(h) {
			continue
		}
		// The largest leave first: fewer of them make as much room.
		slices.SortStableFunc(on[h], func(a, b move) int { return larger(c, i, b.i, a.i) })
		var gone []move
		for _, m := range on[h] {
			if len(gone) >= fewest || s.Can(i, 0, h) {
				break
			}
			s.Remove(m.i, m.k)
			to := 0
			for to < len(on) && (to == h || !s.Can(m.i, m.k, to)) {
				to++
			}
			if to == len(on) {
				s.Add(m.i, m.k, h)
				continue
			}
			s.Add(m.i, m.k, to)
			gone = append(gone, m)
		}
		if len(gone) < fewest && s.Can(i, 0, h) {
			if s.Add(i, 0, h); s.Feasible() {
				fewest, best = len(gone), s.Plan.Clone()
			}
			s.Remove(i, 0)
		}
		for _, m := range slices.Backward(gone) {
			s.Remove(m.i, m.k)
			s.Add(m.i, m.k, h)
		}
	}
	return best
}

// larger compares two jobs by the largest share that one of their tasks has of what a task of job i needs.
func larger(c *view.Consolidation, i, a, b int) int {
	share := func(j int) (most float64) {
		for r, need := range c.Jobs[i].Needs {
			if need > 0 {
				most = max(most, float64(c.Jobs[j].Needs[r])/float64(need))
			}
		}
		return most
	}
	return cmp.Compare(share(a), share(b))
}
