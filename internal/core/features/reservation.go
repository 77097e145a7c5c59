// SPDX-License-Identifier: MIT

package features

import (
	"github.com/gapwise/gapwise/model"
)

// Reservation returns the features of an instance. O(requests).
func Reservation(r *model.Reservation) []Feature {
	var size, duration, lead, slack moments
	first, last, work := 0.0, 0.0, 0.0
	for i := range r.Requests {
		q := &r.Requests[i]
		if i == 0 {
			first, last = q.ArrivalS, q.ArrivalS
		}
		first, last = min(first, q.ArrivalS), max(last, q.ArrivalS)
		size.add(float64(q.PEs), 1)
		duration.add(q.DurationS, 1)
		lead.add((q.ReadyS-q.ArrivalS)/q.DurationS, 1)
		slack.add((q.Latest()-q.ReadyS)/q.DurationS, 1)
		work += float64(q.PEs) * q.DurationS
	}
	return []Feature{
		{"requests", "", "number of requests", float64(len(r.Requests))},
		{"pes", "", "number of PEs", float64(r.PEs)},
		{"load", "", "requested PE-seconds, divided by those available from first to last arrival", offered(work, float64(r.PEs), first, last)},
		{"mean_size", "", "mean number of PEs of a request", size.mean()},
		{"mean_duration", "s", "mean duration of a request", duration.mean()},
		{"mean_lead", "", "mean time from arrival to ready, in durations", lead.mean()},
		{"mean_slack", "", "mean time from ready to the latest start, in durations", slack.mean()},
	}
}
