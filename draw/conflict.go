// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// mostConflicting is the number of requests that a picture of a conflict shows.
const mostConflicting = 100

// Conflict draws requests that can't be kept together, in a row each. The row shows the request's window from ready
// time to deadline, and its PEs at the beginning of the window. It also shows when the request runs wherever it starts:
// from its latest start to its earliest end, if that is later. Below are the PEs that these parts take together; where
// that is more than there are, one sees why.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid or a request unknown. It
// draws at most 100 requests, those with the shortest slack. O(n log n).
func Conflict(w io.Writer, o Options, in *model.Reservation, ids []string, reason string) error {
	s, _, err := newSheet(o, "", in, nil)
	if err != nil {
		return err
	}
	number := make(map[string]int, len(in.Requests))
	for k := range in.Requests {
		number[in.Requests[k].ID] = k
	}
	var all []*model.Request
	for _, id := range ids {
		k, ok := number[id]
		if !ok {
			return fmt.Errorf("draw: %w conflict: there is no request %q", model.ErrInvalid, id)
		}
		all = append(all, &in.Requests[k])
	}
	s.title = titled(fmt.Sprintf("%d requests can't be kept together", len(ids)), in.Name, o.By)
	if len(all) > mostConflicting {
		slices.SortStableFunc(all, func(a, b *model.Request) int {
			return cmp.Compare(a.Latest()-a.ReadyS,
				b.Latest()-b.ReadyS)
		})
		all = all[:mostConflicting]
		s.title += fmt.Sprintf(" (the %d with the least slack are drawn)", len(all))
	}
	return conflict(w, s, in, all, len(ids), reason)
}

func conflict(w io.Writer, s *sheet, in *model.Reservation, all []*model.Request, n int, reason string) error {
	reason = scene.Clean(reason)
	if other := 0; reason != "" {
		if k, _ := fmt.Sscanf(reason, "%d requests ", &other); k == 1 && other != n {
			reason = "These and others: " + reason // a finding of the search from before
		}
	}
	var changes []model.UsageStep
	s.low, s.high = math.Inf(1), math.Inf(-1)
	for _, q := range all {
		s.low, s.high = min(s.low, q.ReadyS), max(s.high, q.DeadlineS)
		// It runs from its latest start to its earliest end wherever it starts.
		if from, to := q.Latest(), q.ReadyS+q.DurationS; from < to {
			pes := float64(q.PEs)
			changes = append(changes, model.UsageStep{AtS: from, Used: pes}, model.UsageStep{AtS: to, Used: -pes})
		}
	}
	if len(all) == 0 {
		s.low, s.high = 0, 0
	}
	s.widen()
	if err := s.Options.cut(&s.timeAxis); err != nil {
		return err
	}
	if err := s.across(requestsColumn(all), 1.2*narrowest); err != nil {
		return err
	}
	if reason != "" {
		s.add(0, headLine, 0, func(p pen, y, h float64) {
			f := newFace(labelSize, false)
			p.text(f, ink, margin, y+h*0.75, 0, f.clip(reason, s.width-2*margin))
		})
	}
	held := bold(theme.Tight)
	held.width = thinEdge
	early := hollow(paleInk)
	s.requests(all, 4, 0, 18, false, func(int) bool { return false }, func(k int) []part {
		q := all[k]
		parts := []part{{q.ReadyS, q.ReadyS + q.DurationS, early}, {q.Latest(), q.ReadyS + q.DurationS, held}}
		if parts[1].low >= parts[1].high {
			return parts[:1]
		}
		return parts
	})
	steps := s.within(model.UsageSteps(changes))
	high := max(float64(in.PEs), most(steps, used))
	text := fmt.Sprintf("PEs that must be in use; dashed: the %d that there are", in.PEs)
	if high > float64(in.PEs) {
		text += fmt.Sprintf(", and %.0f are needed", high)
	} else {
		text += fmt.Sprintf(". What may move is not in it: no starts of all %d fit in what is left", n)
	}
	s.chart(text, useHeight, high, float64(in.PEs), steps, nil, layer{theme.Tight, used})
	s.legend.add("window: ready time to deadline", func(p pen, r rect) { window(p, ink, r.x, r.x+r.w, r.y+r.h/2, false) })
	s.legend.shaped("as early as it may", early)
	s.legend.shaped("runs then, wherever it starts", held)
	return s.write(w)
}
