// SPDX-License-Identifier: MIT

package play

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// consolidationScene draws the use of each host's resources by its tasks. An emptied host has its rows still; tasks
// that are left out lie in a row of their own, as shares of the largest host.
func consolidationScene(in *model.Consolidation, a *model.Assignment) (*Scene, error) {
	if err := in.CheckShape(a); err != nil {
		return nil, err
	}
	x := &Scene{Unit: "%", High: 100}
	number, today, then := view.Occupied(in, a)
	capacity := make([][]int64, 0, len(number))
	for k := range in.Hosts {
		capacity = append(capacity, in.Hosts[k].Capacity)
	}
	for _, b := range a.Bought {
		k := slices.IndexFunc(in.Offers, func(o model.HostOffer) bool { return o.ID == b.Offer })
		capacity = append(capacity, in.Offers[k].Capacity)
	}
	needed, largest := make([]bool, len(in.Resources)), make([]int64, len(in.Resources))
	left := false
	for i := range in.Jobs {
		for r, need := range in.Jobs[i].Needs {
			needed[r] = needed[r] || need > 0
		}
		left = left || slices.Contains(a.Jobs[i].Hosts, "")
	}
	rows := make([][]int, len(capacity)) // of each host, for each resource; -1: none
	for h, of := range capacity {
		group := ""
		if h < len(in.Hosts) {
			group = clean(in.Hosts[h].ID)
		} else {
			group = clean(a.Bought[h-len(in.Hosts)].ID) + " (bought)"
		}
		if today[h] && !then[h] {
			group += " (emptied)"
		}
		for r, name := range in.Resources {
			largest[r] = max(largest[r], of[r])
			rows[h] = append(rows[h], -1)
			if needed[r] && of[r] > 0 {
				rows[h][r] = x.row(Row{Label: clean(name), Group: group, Lanes: 1, Drop: fmt.Sprint("host:", h)})
			}
		}
	}
	out := -1
	if left {
		out = x.row(Row{Label: "left out", Group: "left out", Lanes: 1, Drop: "out:0"})
	}
	taken := make([]float64, len(x.Rows))
	for i := range a.Jobs {
		for k, id := range a.Jobs[i].Hosts {
			b := consolidationBox(in, i, k, id)
			if id == "" {
				size := 5.0
				for r, need := range in.Jobs[i].Needs {
					if largest[r] > 0 {
						size = max(size, 100*float64(need)/float64(largest[r]))
					}
				}
				x.pile(taken, out, size, b)
				continue
			}
			h := number[id]
			for r, need := range in.Jobs[i].Needs {
				if row := rows[h][r]; row >= 0 && need > 0 {
					x.pile(taken, row, 100*float64(need)/float64(capacity[h][r]), b)
				}
			}
		}
	}
	return x, nil
}

// consolidationBox returns the common parts of a task's boxes.
func consolidationBox(in *model.Consolidation, i, k int, id string) Box {
	j := &in.Jobs[i]
	name := clean(j.ID)
	if j.Tasks > 1 {
		name += fmt.Sprintf(" (task %d of %d)", k+1, j.Tasks)
	}
	b := Box{Item: j.ID, Task: k, Lanes: 1, Label: clean(j.ID), Tint: i % tints, Drag: "row"}
	now := j.Current(k)
	switch {
	case id == "":
		b.Role, b.Facts = Declined, []string{name + " is left out"}
		if j.LeaveOutCost != nil {
			b.Facts = append(b.Facts, fmt.Sprintf("that costs %d %s", *j.LeaveOutCost, in.PriceUnit))
		}
	case now != "" && now != id:
		b.Role, b.Facts = Moved, []string{name + " on " + clean(id), "moves here from " + clean(now)}
	default:
		b.Facts = []string{name + " on " + clean(id)}
	}
	if j.Pinned {
		b.Role, b.Facts = Tight, append(b.Facts, "is pinned to its host")
	}
	for r, resource := range in.Resources {
		if j.Needs[r] > 0 {
			b.Facts = append(b.Facts, fmt.Sprintf("%s %d", clean(resource), j.Needs[r]))
		}
	}
	return b
}

// pile puts a box of a size, in per cent, behind the other boxes of its row.
func (s *Scene) pile(taken []float64, row int, size float64, b Box) {
	b.Row, b.Low = row, taken[row]
	taken[row] += size
	b.High = taken[row]
	s.High = max(s.High, min(taken[row], 300))
	s.Boxes = append(s.Boxes, b)
}
