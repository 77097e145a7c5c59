// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"io"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// drawAssignment draws the hosts of a cluster, bought ones last, as drawPlacement draws hosts. It shows the share of
// each resource that tasks need, in the colours of their jobs. Tasks that are placed elsewhere than today have a bold
// edge and say where from. Hosts that are emptied say so. A host is tight if tasks are pinned to it: no plan gives it
// back.
//
// The error is model.ErrInvalid if the instance is invalid or a isn't an assignment of it.
// O(H log H + T) for H hosts and T tasks.
func drawAssignment(w io.Writer, o Options, title string, in *model.Consolidation, a *model.Assignment) error {
	if err := o.drawable(in); err != nil {
		return err
	}
	if err := in.CheckShape(a); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	first, last, err := o.rows(len(in.Hosts)+len(a.Bought), "host")
	if err != nil {
		return err
	}
	l := &placementLayout{sheet: sheet{Options: o, title: clean(title)}, resources: slices.Clone(in.Resources), taken: "stays, or is new",
		tightness: "holds pinned tasks: can't be emptied", tightIn: len(in.Resources)}
	l.assigned(in, a)
	l.hosts = l.hosts[first : last+1]
	if l.many() {
		l.taken = "needed"
	}
	return l.draw(w)
}

// assignmentTitle says how good the assignment is.
func assignmentTitle(in *model.Consolidation, a *model.Assignment, o model.Objective, bound string) string {
	cost, moves := o.Value, o.Second
	if in.Goal == model.GoalMoves {
		cost, moves = moves, cost
	}
	price := short(cost)
	if in.PriceUnit != "" {
		price += " " + in.PriceUnit
	}
	_, holding, _ := view.Occupied(in, a)
	today := 0
	for _, x := range holding {
		if x {
			today++
		}
	}
	hosts := fmt.Sprintf("%.0f hosts with tasks, %d today", o.Others[0], today)
	if in.Goal == model.GoalMoves {
		return fmt.Sprintf("moves %s%s, cost %s, %s", short(moves), bound, price, hosts)
	}
	return fmt.Sprintf("cost %s%s, %s, moves %s", price, bound, hosts, short(moves))
}

// assigned lists the hosts and the use of each by its tasks.
func (l *placementLayout) assigned(in *model.Consolidation, a *model.Assignment) {
	number, today, then := view.Occupied(in, a)
	capacity := make([][]int64, 0, len(number))
	for k := range in.Hosts {
		h := &in.Hosts[k]
		box := hostBox{name: h.ID}
		switch {
		case then[k]:
		case today[k] && h.Kept:
			box.note = "emptied, and kept"
		case today[k] && in.PriceUnit == "hosts":
			box.note = "emptied"
		case today[k]:
			box.note = fmt.Sprintf("emptied: saves %d %s", h.Price, in.PriceUnit)
		case h.Kept:
			box.note = "kept, without tasks"
		default:
			box.note = "without tasks"
		}
		l.hosts, capacity = append(l.hosts, box), append(capacity, h.Capacity)
	}
	for _, b := range a.Bought {
		k := slices.IndexFunc(in.Offers, func(o model.HostOffer) bool { return o.ID == b.Offer })
		l.hosts, capacity = append(l.hosts, hostBox{name: b.ID + " (bought)"}), append(capacity, in.Offers[k].Capacity)
	}
	for i := range a.Jobs {
		j := &in.Jobs[i]
		l.jobs = append(l.jobs, j.ID)
		for k, id := range a.Jobs[i].Hosts {
			if id == "" {
				continue
			}
			h, from := number[id], j.Current(k)
			if from == id {
				from = ""
			}
			x := l.part(h, i, from)
			for r, need := range j.Needs {
				if of := capacity[h][r]; of > 0 {
					x.given[r] += float64(need) / float64(of)
					x.need[r] += float64(need) / float64(of)
				}
			}
			l.hosts[h].tight = l.hosts[h].tight || j.Pinned
		}
	}
}

// consolidation stacks the needs of the first resource on each host from left to right; the axis is their share of the
// host's capacity.
func (t *terminal) consolidation(in *model.Consolidation, solution model.Solution) error {
	a, ok := solution.(*model.Assignment)
	if !ok {
		return wrongSolution(in, solution)
	}
	if err := in.CheckShape(a); err != nil {
		return err
	}
	l := &placementLayout{resources: in.Resources}
	l.assigned(in, a)
	t.axis, t.to = "of a host's "+in.Resources[0], 1
	for h := range l.hosts {
		t.rows = append(t.rows, l.hosts[h].name)
		used := 0.0
		for _, x := range l.hosts[h].parts {
			label := l.jobs[x.job]
			if x.from != "" {
				label += "*" // it moves
			}
			t.bars = append(t.bars, textBar{h, 1, used, used + x.need[0], label, 1})
			used += x.need[0]
		}
	}
	return nil
}
