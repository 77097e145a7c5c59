// SPDX-License-Identifier: MIT

package scene

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// consolidation draws the use of each host's resources by its tasks, bought hosts last. An emptied host has its rows
// still; in a page, tasks that are left out lie in a row of their own, as shares of the largest host, and there are no
// rows of resources that a host lacks or nobody needs.
func consolidation(in *model.Consolidation, a *model.Assignment, o Options) (*Scene, error) {
	if err := in.CheckShape(a); err != nil {
		return nil, err
	}
	x := &Scene{Unit: "%", High: 100}
	number, today, then := view.Occupied(in, a)
	needed, largest := make([]bool, len(in.Resources)), make([]int64, len(in.Resources))
	left := false
	for i := range in.Jobs {
		for r, need := range in.Jobs[i].Needs {
			needed[r] = needed[r] || need > 0
		}
		left = left || slices.Contains(a.Jobs[i].Hosts, "")
	}
	var capacity [][]int64
	rows := make([][]int, len(number)) // of each host, for each resource; -1: none
	for h := range len(number) {
		var row Row
		if h < len(in.Hosts) {
			host := &in.Hosts[h]
			row.Name, capacity = Clean(host.ID), append(capacity, host.Capacity)
			row.Remark = remark(in, host, today[h], then[h])
		} else {
			b := &a.Bought[h-len(in.Hosts)]
			k := slices.IndexFunc(in.Offers, func(o model.HostOffer) bool { return o.ID == b.Offer })
			row.Name, capacity = Clean(b.ID)+" (bought)", append(capacity, in.Offers[k].Capacity)
		}
		row.Group, row.Lanes, row.Drop = row.Name, 1, fmt.Sprint("host:", h)
		if today[h] && !then[h] {
			row.Group += " (emptied)"
		}
		for r, name := range in.Resources {
			largest[r] = max(largest[r], capacity[h][r])
			rows[h] = append(rows[h], -1)
			if !o.Page || needed[r] && capacity[h][r] > 0 {
				row.Label = Clean(name)
				rows[h][r] = x.row(row)
			}
		}
	}
	out := -1
	if left && o.Page {
		out = x.row(Row{Label: "left out", Group: "left out", Lanes: 1, Drop: "out:0"})
	}
	taken := make([]float64, len(x.Rows))
	for i := range a.Jobs {
		for k, id := range a.Jobs[i].Hosts {
			b := podBox(in, i, k, id)
			if id == "" {
				size := 5.0
				for r, need := range in.Jobs[i].Needs {
					if largest[r] > 0 {
						size = max(size, 100*float64(need)/float64(largest[r]))
					}
				}
				if out >= 0 {
					x.pile(taken, out, size, b)
				}
				continue
			}
			h := number[id]
			for r, need := range in.Jobs[i].Needs {
				if row := rows[h][r]; row >= 0 && need > 0 && capacity[h][r] > 0 {
					x.pile(taken, row, 100*float64(need)/float64(capacity[h][r]), b)
				}
			}
		}
	}
	return x, nil
}

// remark describes the fate of a host without tasks.
func remark(in *model.Consolidation, h *model.ConsolidationHost, today, then bool) string {
	switch {
	case then:
		return ""
	case today && h.Kept:
		return "emptied, and kept"
	case today && in.PriceUnit == "hosts":
		return "emptied"
	case today:
		return fmt.Sprintf("emptied: saves %d %s", h.Price, in.PriceUnit)
	case h.Kept:
		return "kept, without tasks"
	}
	return "without tasks"
}

// podBox returns the common parts of a task's boxes.
func podBox(in *model.Consolidation, i, k int, id string) Box {
	j := &in.Jobs[i]
	b := Box{Item: j.ID, Task: k, Label: Clean(j.ID), Tint: i, Drag: "row", Number: i}
	now := j.Current(k)
	switch {
	case id == "":
		b.Role = Declined
	case now != "" && now != id:
		b.Role, b.From = Moved, now
	}
	if j.Pinned {
		b.Role = Tight
	}
	b.facts = func() []string {
		name := taskName(j.ID, k, j.Tasks)
		facts := []string{name + " on " + Clean(id)}
		switch {
		case id == "":
			facts[0] = name + " is left out"
			if j.LeaveOutCost != nil {
				facts = append(facts, fmt.Sprintf("that costs %d %s", *j.LeaveOutCost, in.PriceUnit))
			}
		case b.From != "":
			facts = append(facts, "moves here from "+Clean(now))
		}
		if j.Pinned {
			facts = append(facts, "is pinned to its host")
		}
		for r, resource := range in.Resources {
			if j.Needs[r] > 0 {
				facts = append(facts, fmt.Sprintf("%s %d", Clean(resource), j.Needs[r]))
			}
		}
		return facts
	}
	return b
}
