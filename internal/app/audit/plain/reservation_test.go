// SPDX-License-Identifier: MIT

package plain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func TestReservation(t *testing.T) {
	hour := 3600.0
	request := func(id string, ready, duration, deadline float64, pes int) model.Request {
		return model.Request{ID: id, ReadyS: ready, DurationS: duration, DeadlineS: deadline, PEs: pes}
	}
	early, cancelled := request("a", 0, 4, 4, 2), request("a", 0, 4, 9, 2)
	early.RuntimeS = new(float64)
	*early.RuntimeS = 1
	cancelled.CancelS = new(float64)
	*cancelled.CancelS = 4.5
	// It is to start by 0.3666666666666667 s. In ticks of a nanosecond that is later than its cancellation.
	atLatest := request("a", 0, 1.0/3, 0.7, 1)
	atLatest.CancelS = new(float64)
	*atLatest.CancelS = 0.3666666666666667
	far := request("c", 0, 1, 1e6, 1)
	tests := map[string]struct {
		pes          int
		goal         model.Goal
		requests     []model.Request
		want         float64
		wantFeasible bool
	}{
		"nothing":               {1, model.GoalAll, nil, 0, true},
		"one after another":     {4, model.GoalAll, []model.Request{request("a", 0, 2, 9, 3), request("b", 0, 3, 5, 3)}, 2, true},
		"too late":              {4, model.GoalAll, []model.Request{request("a", 0, 2, 4, 3), request("b", 0, 3, 4, 3)}, 1, false},
		"one of two":            {4, model.GoalAccepted, []model.Request{request("a", 0, 2, 4, 3), request("b", 0, 3, 4, 3)}, 1, true},
		"the larger of two":     {4, model.GoalPESeconds, []model.Request{request("a", 0, 2, 4, 4), request("b", 0, 3, 4, 3)}, 9, true},
		"two small ones":        {4, "", []model.Request{request("a", 0, hour, hour, 4), request("b", 0, 60, hour, 4), request("c", 0, 60, 120, 4)}, 2, true},
		"it ends early":         {2, model.GoalAll, []model.Request{early, request("b", 0, 2, 3, 2)}, 2, true},
		"it will be cancelled":  {2, model.GoalAll, []model.Request{cancelled, request("b", 0, 9, 9, 2)}, 2, true},
		"tenths":                {1, model.GoalAll, []model.Request{request("a", 0.1, 0.2, 0.3, 1), request("b", 0, 0.1, 0.1, 1), request("c", 0.3, 0.3, 0.6, 1)}, 3, true},
		"rounded deadlines":     {1, model.GoalAll, []model.Request{request("a", 0.1, 1.7/3, 2.0/3, 1), request("b", 2.0/3, 1.0/3, 1, 1), far}, 3, true},
		"rounding cancels none": {1, model.GoalAccepted, []model.Request{atLatest, request("b", 0, 0.7, 0.7, 1), far}, 2, true},
		"left of a later one": {2, model.GoalAll, []model.Request{request("a", 0, 1, 1, 2), request("b", 3, 2, 5, 1),
			request("c", 0, 2, 5, 2), request("d", 0, 2, 5, 1)}, 4, true},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			in := &model.Reservation{PEs: c.pes, Goal: c.goal, Requests: c.requests}
			require.OK(t, in.Validate())
			if !c.wantFeasible {
				c.want = math.NaN()
			}
			agree(t, in, c.want)
		})
	}
}

func TestReservationRandom(t *testing.T) {
	rng, declined, impossible := rand.New(rand.NewPCG(9, 5)), 0, 0
	for range 6000 {
		in := testkit.RandomReservation(rng, rng.IntN(6))
		switch a := consistent(t, in); {
		case a.Solution == nil:
			impossible++
		case in.EffectiveGoal() == model.GoalAccepted && a.Value < float64(len(in.Requests)):
			declined++
		}
	}
	if impossible < 300 || declined < 300 {
		t.Errorf("goals of all that can't be met: %d, requests that must be declined: %d; too few to test much", impossible, declined)
	}
}

// Instances on which a solver or the judge of version 0.3.0 was wrong.
func TestReservationFound(t *testing.T) {
	for file, want := range map[string]float64{"decimals-back-to-back": 2, "decimals-tight": 2, "far-deadline-tolerance": 2} {
		in := require.Value(instances.Load("../../../../exact/reservation/testdata/reservation-" + file + ".json"))(t)
		agree(t, in, want)
	}
}

// Areas that don't fit 64 bits are refused.
func TestReservationTooManyPEs(t *testing.T) {
	in := &model.Reservation{PEs: 1 << 20, Requests: []model.Request{{ID: "a", ReadyS: 1.0 / 3, DurationS: 1, DeadlineS: 1e6, PEs: 1}}}
	require.Refused(t, "error", require.Err(plain.Solve(in, math.NaN(), enough)), model.ErrUnsupported, "")
}
