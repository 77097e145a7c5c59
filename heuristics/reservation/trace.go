// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/steps"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// traced returns find, which it calls once for each request in turn, and tells for each the
// slots before it, the starts that were looked at, and which was taken.
func traced(in *model.Reservation, list *availability, p policy, find func(query) (allocation, bool), emit func(model.Step)) func(query) (allocation, bool) {
	times := view.OfReservation(in)
	next := 0
	seconds := func(at int64) string { return fmt.Sprintf("%.9g", times.Seconds(at)) }
	return func(q query) (allocation, bool) {
		id := in.Requests[next].ID
		next++
		emit(slots(times, in.PEs, list, "slots when request "+id+" arrives"))
		var tried steps.Candidates
		list.tried = func(start int64, free int, score float64) {
			text := fmt.Sprintf("%s s %d free", seconds(start), free)
			if free >= q.PEs && !p.first {
				text += fmt.Sprintf(" (score %.6g)", score)
			} else if free < q.PEs {
				text += ", too few"
			}
			tried.Add(text, steps.Figures("free from "+seconds(start)+" s", float64(free))...)
		}
		a, ok := find(q)
		list.tried = nil
		what, words := "decline", "declined"
		if ok {
			why := "the least score"
			if p.first {
				why = "the first"
			}
			what, words = "accept", fmt.Sprintf("accepted at %s s, %s, on PEs %s", seconds(a.Start), why, a.PEs)
		}
		steps.Teller(emit).Tell(what, id, tried.Figures, "request %s, %d PEs for %s s from %s s to %s s: starts %s: %s",
			id, q.PEs, seconds(q.Duration), seconds(q.Ready), seconds(q.Deadline), &tried, words)
		return a, ok
	}
}

// slots tells how many PEs are free from each time on.
func slots(times *view.Reservation, pes int, list *availability, when string) model.Step {
	var free steps.Candidates
	for _, r := range list.Records() {
		at, n := times.Seconds(r.Time), pes-r.Busy.Len()
		free.Add(fmt.Sprintf("%d from %.9g s", n, at), steps.Figures(fmt.Sprintf("free from %.9g s", at), float64(n))...)
	}
	if len(free.Figures) == 0 {
		free.Add("all")
	}
	return model.Step{What: "slots", Words: when + ", free: " + free.String(), Values: free.Figures}
}
