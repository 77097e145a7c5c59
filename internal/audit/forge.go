package audit

import (
	"encoding/json"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// forge tests the judge with solutions that are too good: tasks start earlier or
// get more CPU, or a request is booked in addition. The judge must refuse such a
// solution, or the solution must not beat what the search has proved.
func (c *trial) forge() {
	if c.skips("forged") {
		return
	}
	r, ok := c.answer("search")
	if !ok || r.Solution == nil {
		return
	}
	claim := claimOf(model.SenseOf(c.in), r)
	rng := c.rng()
	for range 4 {
		s := problems[c.in.Kind()].forged(c.in, r.Solution, rng)
		if s == nil {
			return
		}
		report, err := verify.Verify(c.ctx, c.in, s, verify.Options{})
		if err != nil {
			if c.ctx.Err() == nil {
				c.disagree("forged", "the judge can't judge: %v", err)
			}
			return
		}
		if report.Feasible() && !claim.agrees(unknown().withSolution(model.SenseOf(c.in), report.Objective)) {
			text, _ := json.Marshal(s) // a copy of one that could be written
			c.disagree("forged", "the judge accepts %.12g where search says %v: %s", report.Objective, claim, text)
			return
		}
		c.tally.add(judged, c.in)
	}
}

// forgedPlacement gives all tasks more CPU.
func forgedPlacement(_ *model.VCSched, s *model.Placement, rng *rand.Rand) *model.Placement {
	p := &model.Placement{}
	lift := []float64{1 + 1e-6, 1.01, 1.3}[rng.IntN(3)]
	for _, j := range s.Jobs {
		j.Hosts = append([]int{}, j.Hosts...)
		shares := j.CPU
		j.CPU = nil
		for _, x := range shares {
			j.CPU = append(j.CPU, x*lift)
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// forgedSchedule starts tasks and transfers earlier.
func forgedSchedule(_ *model.DAG, s *model.Schedule, rng *rand.Rand) *model.Schedule {
	p := &model.Schedule{TransferModel: s.TransferModel}
	if len(s.Tasks) == 0 {
		return nil
	}
	// All earlier, or what starts from some task's start on.
	from, factor := 0.0, []float64{0.5, 0.9, 0.999}[rng.IntN(3)]
	if rng.IntN(2) == 0 {
		from = s.Tasks[rng.IntN(len(s.Tasks))].StartS
	}
	earlier := func(t float64) float64 {
		if t < from {
			return t
		}
		return from*factor + (t - from)
	}
	if from == 0 {
		earlier = func(t float64) float64 { return t * factor }
	}
	for _, t := range s.Tasks {
		t.StartS = earlier(t.StartS)
		p.Tasks = append(p.Tasks, t)
	}
	for _, t := range s.Transfers {
		t.StartS = earlier(t.StartS)
		p.Transfers = append(p.Transfers, t)
	}
	return p
}

// forgedBookings books a request in addition.
func forgedBookings(r *model.Reservation, s *model.Bookings, rng *rand.Rand) *model.Bookings {
	booked := map[string]bool{}
	for _, b := range s.Bookings {
		booked[b.ID] = true
	}
	p := &model.Bookings{Goal: s.Goal, Bookings: append([]model.Booking{}, s.Bookings...)}
	for _, k := range rng.Perm(len(r.Requests)) {
		if q := &r.Requests[k]; !booked[q.ID] {
			start := q.ReadyS
			switch rng.IntN(3) {
			case 0:
				start = q.Latest()
			case 1: // as if another had just ended
				if len(s.Bookings) > 0 {
					b := s.Bookings[rng.IntN(len(s.Bookings))]
					start = b.StartS
				}
			}
			first := rng.IntN(r.PEs - q.PEs + 1)
			p.Bookings = append(p.Bookings, model.Booking{ID: q.ID, StartS: start, PEs: model.PEList{{First: first, Last: first + q.PEs - 1}}})
			return p
		}
	}
	return nil
}
