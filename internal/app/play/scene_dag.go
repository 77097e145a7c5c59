// SPDX-License-Identifier: MIT

package play

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// dagScene draws a schedule: machines, and links with their transfers beneath. Arrived is
// when each transfer ends.
func dagScene(d *model.DAG, s *model.Schedule, arrived []float64, bound float64) (*Scene, error) {
	machine, err := d.MachineOf(s)
	if err != nil {
		return nil, err
	}
	path, err := view.Critical(d, s, arrived)
	if err != nil {
		return nil, err
	}
	g := view.OfDAG(d)
	x := &Scene{Unit: "s"}
	for _, m := range d.Machines {
		x.row(Row{Label: clean(m.ID), Group: "machines", Lanes: 1, Drop: "machine:" + m.ID})
	}
	critical, waited := make([]bool, g.Tasks), make([]bool, len(s.Transfers))
	for _, p := range path {
		critical[p.Task] = true
		if p.Transfer >= 0 {
			waited[p.Transfer] = true
		}
	}
	makespan := 0.0
	number32 := make(map[string]int, g.Tasks)
	for t, at := range s.Tasks {
		cost := d.Cost(t, int(machine[t]))
		makespan = max(makespan, at.StartS+cost)
		b := Box{Item: at.ID, Row: int(machine[t]), Lanes: 1, Low: at.StartS, High: at.StartS + cost, Label: clean(at.ID), Tint: t % tints, Drag: "both",
			Facts: []string{"task " + clean(at.ID) + " on " + clean(at.Machine), seconds(at.StartS, at.StartS+cost), costs(d, t)}}
		if critical[t] {
			b.Role = Critical
			b.Facts = append(b.Facts, "on the critical path: it holds the makespan up")
		}
		number32[at.ID] = t
		x.Boxes = append(x.Boxes, b)
	}
	links := make([][]Box, len(g.Links))
	for k, t := range s.Transfers {
		from, known := number32[t.From]
		to, known2 := number32[t.To]
		if !known || !known2 {
			return nil, fmt.Errorf("%w schedule: transfers[%d] is from %q to %q", model.ErrInvalid, k, t.From, t.To)
		}
		a := Arrow{From: from, To: to}
		b := Box{Item: t.From + "→" + t.To, Low: t.StartS, High: arrived[k], Label: clean(t.From) + "→" + clean(t.To), Role: Transfer,
			Facts: []string{"transfer from " + clean(t.From) + " to " + clean(t.To), seconds(t.StartS, arrived[k])}}
		if waited[k] {
			a.Role, b.Role = Critical, Critical
			b.Facts = append(b.Facts, "on the critical path: "+clean(t.To)+" waits for it")
		}
		x.Arrows = append(x.Arrows, a)
		for _, l := range g.Route(machine[from], machine[to]) {
			links[l] = append(links[l], b)
		}
	}
	if len(s.Transfers) > 300 {
		x.Arrows = slices.DeleteFunc(x.Arrows, func(a Arrow) bool { return a.Role == "" })
	}
	for l := range links {
		x.stack(x.row(Row{Label: clean(d.Network.Links[l].ID), Group: "links"}), links[l])
	}
	x.Marks = []Mark{{At: makespan, Label: "makespan " + number(makespan)}}
	if !math.IsNaN(bound) {
		x.Marks = append(x.Marks, Mark{At: bound, Label: "no schedule ends before " + number(bound), Bound: true})
	}
	x.span()
	return x, nil
}

// costs states how long a task takes on each of the first machines.
func costs(d *model.DAG, t int) string {
	text := "takes"
	for m := range d.Machines {
		if m == 6 {
			return text + ", …"
		}
		if m > 0 {
			text += ","
		}
		text += " " + number(d.Cost(t, m)) + " s on " + clean(d.Machines[m].ID)
	}
	return text
}
