// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// otherTransfers labels the row of the transfers that share no link.
const otherTransfers = "other transfers"

// manyTasks is the number of tasks above which colours show levels.
const manyTasks = 200

// fewTransfers is the number of transfers up to which they are arrows.
const fewTransfers = 30

// drawSchedule is the panel of a schedule s of d. It has a row for each machine with its tasks, and one for each link
// of the network with the transfers over it. So a transfer is in as many rows as it uses links. Transfers without links
// have the row otherTransfers. A mark shows the makespan. The panel has no title.
//
// Finish is the time at which each of s.Transfers ends, in seconds and in their order. It depends on how transfers slow
// each other down, so it comes from a replay of the schedule.
//
// The tasks and transfers of the critical path (model.DAG.Critical) are marked. Up
// to 30 transfers are arrows between machines, too, from the end of the task that
// sends to the start of the one that waits for it.
//
// A transfer has the colour of the task that sends it. Neighbours in the instance's order have different colours if
// there are up to 200 tasks. Among more that would be noise, and the colours show the levels (the number of edges on
// the longest path from an entry task).
//
// The error wraps model.ErrInvalid if d or s is invalid, or finish has another length than the transfers. So it does if
// a transfer is none of d's edges, stays within a machine or ends before it starts. O(V M + M² + E + T L) for T
// transfers over L links each.
func drawSchedule(d *model.DAG, s *model.Schedule, finish []float64) (ganttPanel, error) {
	if err := d.Validate(); err != nil {
		return ganttPanel{}, fmt.Errorf("draw: %w", err)
	}
	machine, err := d.MachineOf(s)
	if err != nil {
		return ganttPanel{}, fmt.Errorf("draw: %w", err)
	}
	if len(finish) != len(s.Transfers) {
		return ganttPanel{}, fmt.Errorf("draw: %w schedule: has %d transfers, %d ends are given for them", model.ErrInvalid, len(s.Transfers), len(finish))
	}
	g := view.OfDAG(d)
	group := groups(g)
	rows := make([]ganttRow, g.Machines+len(g.Links)+1)
	links, other := rows[g.Machines:], &rows[len(rows)-1]
	for m := range d.Machines {
		rows[m].Label = d.Machines[m].ID
	}
	for l := range d.Network.Links {
		links[l] = ganttRow{Label: d.Network.Links[l].ID, Link: true}
	}
	*other = ganttRow{Label: otherTransfers, Link: true}

	path, err := view.Critical(d, s, finish)
	if err != nil {
		return ganttPanel{}, fmt.Errorf("draw: %w", err)
	}
	critical, waited := make([]bool, g.Tasks), make([]bool, len(s.Transfers))
	for _, x := range path {
		critical[x.Task] = true
		if x.Transfer >= 0 {
			waited[x.Transfer] = true
		}
	}
	makespan, ends := 0.0, make([]float64, g.Tasks)
	var arrows []ganttArrow
	number := make(map[string]int32, g.Tasks)
	for t, x := range s.Tasks {
		number[x.ID] = int32(t)
		end := x.StartS + d.Cost(t, int(machine[t]))
		ends[t], makespan = end, max(makespan, end)
		row := &rows[machine[t]]
		row.Bars = append(row.Bars, ganttBar{Start: x.StartS, End: end, Label: x.ID, Group: group[t], Critical: critical[t]})
	}
	edges := make(map[[2]int32]bool, len(g.From))
	for e := range g.From {
		edges[[2]int32{g.From[e], g.To[e]}] = true
	}
	for k, x := range s.Transfers {
		from, known := number[x.From]
		to, known2 := number[x.To]
		bad := ""
		switch {
		case !known || !known2 || !edges[[2]int32{from, to}]:
			bad = "there is no such edge"
		case machine[from] == machine[to]:
			bad = fmt.Sprintf("both tasks are on machine %q", s.Tasks[from].Machine)
		case !(x.StartS <= finish[k]) || math.IsInf(finish[k]-x.StartS, 0):
			bad = fmt.Sprintf("starts at %v and ends at %v", x.StartS, finish[k])
		}
		if bad != "" {
			return ganttPanel{}, fmt.Errorf("draw: %w schedule: transfers[%d] from %q to %q: %s", model.ErrInvalid, k, x.From, x.To, bad)
		}
		bar := ganttBar{Start: x.StartS, End: finish[k], Label: x.From + arrow + x.To, Group: group[from], Critical: waited[k]}
		if len(s.Transfers) <= fewTransfers {
			arrows = append(arrows, ganttArrow{FromRow: int(machine[from]), ToRow: int(machine[to]), From: ends[from], To: s.Tasks[to].StartS, Critical: waited[k]})
		}
		route := g.Route(machine[from], machine[to])
		for _, l := range route {
			links[l].Bars = append(links[l].Bars, bar)
		}
		if len(route) == 0 {
			other.Bars = append(other.Bars, bar)
		}
	}
	if len(other.Bars) == 0 {
		rows = rows[:len(rows)-1]
	}
	return ganttPanel{Rows: rows, Marks: []ganttMark{{At: makespan, Label: "makespan " + short(makespan)}}, Arrows: arrows}, nil
}

// groups returns the colours of the tasks.
func groups(g *view.Graph) []int {
	group := make([]int, g.Tasks)
	if g.Tasks <= manyTasks {
		for t := range group {
			group[t] = t
		}
		return group
	}
	for _, t := range g.Order {
		for _, e := range g.Succ(t) {
			group[g.To[e]] = max(group[g.To[e]], group[t]+1)
		}
	}
	return group
}
