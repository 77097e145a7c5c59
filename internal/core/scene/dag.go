// SPDX-License-Identifier: MIT

package scene

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// OtherTransfers labels the row of the transfers that share no link.
const OtherTransfers = "other transfers"

// Machines is the group of the rows of machines, Links of the rows with transfers.
const Machines, Links = "machines", "links"

// manyTasks is the number of tasks above which tints show levels.
const manyTasks = 200

// dag draws a schedule. It has a row for each machine with its tasks, in as few lanes as hold those that run at once
// side by side, and one for each link of the network with the
// transfers over it. So a transfer is in as many rows as it uses links. Transfers without links have the row
// OtherTransfers. A mark shows the makespan.
//
// o.Arrived is the time at which each of s.Transfers ends, in seconds and in their order. It depends on how transfers
// slow each other down, so it comes from a replay of the schedule. Without it there are the tasks alone.
//
// The tasks and transfers of the critical path (model.DAG.Critical) are marked. Arrows lead from the end of the task
// that sends to the start of the one that waits for it. A transfer has the tint of the task that sends it. Neighbours
// in the instance's order have different tints if there are up to 200 tasks. Among more that would be noise, and the
// tints show the levels (the number of edges on the longest path from an entry task).
//
// The error wraps model.ErrInvalid if Arrived has another length than the transfers. So it does if a transfer is none
// of d's edges, stays within a machine or ends before it starts. O(V M + M² + E + T L) for T transfers over L links
// each.
func dag(d *model.DAG, s *model.Schedule, o Options) (*Scene, error) {
	machine, err := d.MachineOf(s)
	if err != nil {
		return nil, err
	}
	g := view.OfDAG(d)
	tint := tints(g)
	x := &Scene{Unit: "s"}
	for _, m := range d.Machines {
		x.row(Row{Label: Clean(m.ID), Group: Machines, Lanes: 1, Drop: "machine:" + m.ID})
	}
	number := make(map[string]int32, g.Tasks)
	makespan := 0.0
	for t, at := range s.Tasks {
		end := at.StartS + d.Cost(t, int(machine[t]))
		number[at.ID], makespan = int32(t), max(makespan, end)
		x.Boxes = append(x.Boxes, Box{Item: at.ID, Row: int(machine[t]), Lanes: 1, Low: at.StartS, High: end,
			Label: Clean(at.ID), Tint: tint[t], Drag: "both", Number: t,
			facts: func() []string {
				facts := []string{"task " + Clean(at.ID) + " on " + Clean(at.Machine), seconds(at.StartS, end), costs(d, t)}
				if x.Boxes[t].Role == Critical {
					facts = append(facts, "on the critical path: it holds the makespan up")
				}
				return facts
			}})
	}
	if g.Room != nil {
		x.crowd(makespan)
	}
	x.Marks = []Mark{{At: makespan, Label: "makespan " + Number(makespan)}}
	if o.Bound != nil {
		x.Marks = append(x.Marks, Mark{At: *o.Bound, Label: "no schedule ends before " + Number(*o.Bound), Bound: true})
	}
	if o.Arrived != nil || len(s.Transfers) == 0 {
		if err := x.transfers(d, s, g, o.Arrived, machine, number); err != nil {
			return nil, err
		}
	}
	x.span()
	return x, nil
}

// crowd gives the tasks of each machine lanes.
func (x *Scene) crowd(makespan float64) {
	of := make([][]Box, len(x.Rows))
	for _, b := range x.Boxes {
		of[b.Row] = append(of[b.Row], b)
	}
	for row, boxes := range of {
		lane, count := Lanes(boxes, 1e-9*makespan)
		for i, b := range boxes {
			x.Boxes[b.Number].Lane = lane[i]
		}
		x.Rows[row].Lanes = max(1, count)
	}
}

// transfers adds the rows of links and marks the critical path.
func (x *Scene) transfers(d *model.DAG, s *model.Schedule, g *view.Graph, arrived []float64, machine []int32,
	number map[string]int32) error {
	if len(arrived) != len(s.Transfers) {
		return fmt.Errorf("%w schedule: has %d transfers, %d ends are given for them", model.ErrInvalid, len(s.Transfers),
			len(arrived))
	}
	path, err := view.Critical(d, s, arrived)
	if err != nil {
		return err
	}
	waited := make([]bool, len(s.Transfers))
	for _, p := range path {
		x.Boxes[p.Task].Role = Critical
		if p.Transfer >= 0 {
			waited[p.Transfer] = true
		}
	}
	edges := make(map[[2]int32]bool, len(g.From))
	for e := range g.From {
		edges[[2]int32{g.From[e], g.To[e]}] = true
	}
	links := make([][]Box, len(g.Links)+1) // the last of those that share none
	for k, t := range s.Transfers {
		from, known := number[t.From]
		to, known2 := number[t.To]
		bad := ""
		switch {
		case !known || !known2 || !edges[[2]int32{from, to}]:
			bad = "there is no such edge"
		case machine[from] == machine[to]:
			bad = fmt.Sprintf("both tasks are on machine %q", s.Tasks[from].Machine)
		case !(t.StartS <= arrived[k]) || math.IsInf(arrived[k]-t.StartS, 0):
			bad = fmt.Sprintf("starts at %v and ends at %v", t.StartS, arrived[k])
		}
		if bad != "" {
			return fmt.Errorf("%w schedule: transfers[%d] from %q to %q: %s", model.ErrInvalid, k, t.From, t.To, bad)
		}
		a := Arrow{From: int(from), To: int(to)}
		b := Box{Item: t.From + "→" + t.To, Low: t.StartS, High: arrived[k], Label: x.Boxes[from].Label + "→" +
			x.Boxes[to].Label, Role: Transfer, Tint: x.Boxes[from].Tint,
			facts: func() []string {
				facts := []string{"transfer from " + Clean(t.From) + " to " + Clean(t.To), seconds(t.StartS, arrived[k])}
				if waited[k] {
					facts = append(facts, "on the critical path: "+Clean(t.To)+" waits for it")
				}
				return facts
			}}
		if waited[k] {
			a.Role, b.Role = Critical, Critical
		}
		x.Arrows = append(x.Arrows, a)
		route := g.Route(machine[from], machine[to])
		for _, l := range route {
			links[l] = append(links[l], b)
		}
		if len(route) == 0 {
			links[len(g.Links)] = append(links[len(g.Links)], b)
		}
	}
	for l := range links {
		label := OtherTransfers
		if l < len(g.Links) {
			label = Clean(d.Network.Links[l].ID)
		} else if len(links[l]) == 0 {
			break
		}
		x.stack(x.row(Row{Label: label, Group: Links}), links[l])
	}
	return nil
}

// tints returns the tints of the tasks.
func tints(g *view.Graph) []int {
	tint := make([]int, g.Tasks)
	if g.Tasks <= manyTasks {
		for t := range tint {
			tint[t] = t
		}
		return tint
	}
	for _, t := range g.Order {
		for _, e := range g.Succ(t) {
			tint[g.To[e]] = max(tint[g.To[e]], tint[t]+1)
		}
	}
	return tint
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
		if c := d.Cost(t, m); math.IsInf(c, 1) {
			text += " can't run on " + Clean(d.Machines[m].ID)
		} else {
			text += " " + Number(c) + " s on " + Clean(d.Machines[m].ID)
		}
	}
	return text
}
