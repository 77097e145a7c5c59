// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// tvcMember is a request with a weight for its VMs.
type tvcMember struct{ weight, vms, bandwidth int64 }

// heaviest returns the largest weight that a server can hold of some requests of a part that run at one moment, by search, and
// their positions in the part. Let y_j be the weight of each VM of request j, and c_j the number of its N_j VMs on a
// server. Then that is
//
//	M = max Σ y_j c_j with Σ c_j ≤ slots, Σ min(c_j, N_j - c_j) · bandwidth_j ≤ the rate of its link, c_j ≤ N_j.
//
// If x_j says whether j is accepted, then Σ y_j N_j x_j, which is the weight on all servers at that moment, is at most servers · M.
func (w *tvcWork) heaviest(e *model.Evidence, part []int) (heaviest int64, at []int, err error) {
	where := make(map[int]int, len(part)) // in the part
	for i, k := range part {
		where[k] = i
	}
	var members []tvcMember
	first, last := int64(beyond), int64(-beyond)
	for i, id := range e.Elements {
		k, ok := w.find(id)
		x, in := where[k]
		if !ok || !in {
			return 0, nil, fmt.Errorf("patterns: there is no request %q in the part", id)
		}
		r := &w.requests[k]
		first, last = min(first, r.end), max(last, r.arrival)
		members, at = append(members, tvcMember{int64(e.Weights[i]), r.vms, r.bandwidth}), append(at, x)
	}
	if last >= first {
		return 0, nil, fmt.Errorf("patterns: there is no moment at which all of %d requests run", len(members))
	}
	if w.slots > 1<<24 {
		return 0, nil, tooMuch("slots of a server")
	}
	slices.SortFunc(members, func(a, b tvcMember) int { return cmp.Compare(b.weight, a.weight) })
	// Later members weigh no more than this one, so slots · its weight is more than can be added.
	var walk func(k int, slots, rate, weight int64) error
	walk = func(k int, slots, rate, weight int64) error {
		heaviest = max(heaviest, weight)
		if k == len(members) || weight+slots*members[k].weight <= heaviest {
			return nil
		}
		m := &members[k]
		if err := w.spend(10 + min(slots, m.vms)); err != nil {
			return err
		}
		for c := min(slots, m.vms); c >= 0; c-- {
			if load := min(c, m.vms-c); load <= rate/m.bandwidth {
				if err := walk(k+1, slots-c, rate-load*m.bandwidth, weight+c*m.weight); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return heaviest, at, walk(0, w.slots, w.levels[0].rate, 0)
}
