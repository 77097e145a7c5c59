package reservation

import (
	"fmt"
	"strings"

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
		s := model.Step{What: "decline", Of: id}
		var tried []string
		list.tried = func(start int64, free int, score float64) {
			text := fmt.Sprintf("%s s %d free", seconds(start), free)
			if free >= q.PEs && !p.first {
				text += fmt.Sprintf(" (score %.6g)", score)
			} else if free < q.PEs {
				text += ", too few"
			}
			tried = append(tried, text)
			s.Values = append(s.Values, model.StepValue{Name: "free from " + seconds(start) + " s", Value: float64(free)})
		}
		a, ok := find(q)
		list.tried = nil
		s.Words = fmt.Sprintf("request %s, %d PEs for %s s from %s s to %s s: starts %s: ", id, q.PEs, seconds(q.Duration), seconds(q.Ready), seconds(q.Deadline), strings.Join(tried, ", "))
		if !ok {
			s.Words += "declined"
		} else {
			s.What = "accept"
			why := "the least score"
			if p.first {
				why = "the first"
			}
			s.Words += fmt.Sprintf("accepted at %s s, %s, on PEs %s", seconds(a.Start), why, a.PEs)
		}
		emit(s)
		return a, ok
	}
}

// slots tells how many PEs are free from each time on.
func slots(times *view.Reservation, pes int, list *availability, when string) model.Step {
	s := model.Step{What: "slots"}
	var words []string
	for _, r := range list.Records() {
		at, free := times.Seconds(r.Time), pes-r.Busy.Len()
		words = append(words, fmt.Sprintf("%d from %.9g s", free, at))
		s.Values = append(s.Values, model.StepValue{Name: fmt.Sprintf("free from %.9g s", at), Value: float64(free)})
	}
	if len(words) == 0 {
		words = []string{"all"}
	}
	s.Words = when + ", free: " + strings.Join(words, ", ")
	return s
}
