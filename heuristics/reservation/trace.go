// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/steps"
	"github.com/gapwise/gapwise/model"
)

// tracer tells for each request the slots before it, the starts that were looked at, and
// which was taken.
type tracer struct {
	emit      func(model.Step)
	pes       int
	perSecond float64
	list      *availability
	last      model.Step // the slots after the last request
}

func (x *tracer) begin(p online.ReservationPlatform, list *availability) {
	x.pes, x.perSecond, x.list = p.PEs, p.TicksPerSecond, list
	x.last = x.slots("slots at the end")
}

func (x *tracer) seconds(at int64) string { return fmt.Sprintf("%.9g", float64(at)/x.perSecond) }

// finding returns the list's Find for a request.
func (x *tracer) finding(r *online.ReservationRequest) func(query, policy) (allocation, bool) {
	return func(q query, p policy) (allocation, bool) {
		x.emit(x.slots("slots when request " + r.ID + " arrives"))
		var tried steps.Candidates
		x.list.tried = func(start int64, free int, score float64) {
			text := fmt.Sprintf("%s s %d free", x.seconds(start), free)
			if free >= q.PEs && !p.first {
				text += fmt.Sprintf(" (score %.6g)", score)
			} else if free < q.PEs {
				text += ", too few"
			}
			tried.Add(text, steps.Figures("free from "+x.seconds(start)+" s", float64(free))...)
		}
		a, ok := x.list.Find(q, p)
		x.list.tried = nil
		what, words := "decline", "declined"
		if ok {
			why := "the least score"
			if p.first {
				why = "the first"
			}
			what, words = "accept", fmt.Sprintf("accepted at %s s, %s, on PEs %s", x.seconds(a.Start), why, a.PEs)
		}
		steps.Teller(x.emit).Tell(what, r.ID, tried.Figures, "request %s, %d PEs for %s s from %s s to %s s: starts %s: %s",
			r.ID, q.PEs, x.seconds(q.Duration), x.seconds(q.Ready), x.seconds(q.Deadline), &tried, words)
		return a, ok
	}
}

// slots tells how many PEs are free from each time on.
func (x *tracer) slots(when string) model.Step {
	var free steps.Candidates
	for _, r := range x.list.Records() {
		at, n := float64(r.Time)/x.perSecond, x.pes-r.Busy.Len()
		free.Add(fmt.Sprintf("%d from %.9g s", n, at), steps.Figures(fmt.Sprintf("free from %.9g s", at), float64(n))...)
	}
	if len(free.Figures) == 0 {
		free.Add("all")
	}
	return model.Step{What: "slots", Words: when + ", free: " + free.String(), Values: free.Figures}
}
