// SPDX-License-Identifier: MIT

package testkit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func TestBruteReservation(t *testing.T) {
	t.Parallel()
	hour := 3600.0
	request := func(id string, ready, duration, deadline float64, pes int) model.Request {
		return model.Request{ID: id, ReadyS: ready, DurationS: duration, DeadlineS: deadline, PEs: pes}
	}
	early, cancelled := request("a", 0, 4, 4, 2), request("a", 0, 4, 9, 2)
	early.RuntimeS = new(float64)
	*early.RuntimeS = 1
	cancelled.CancelS = new(float64)
	*cancelled.CancelS = 4.5
	tests := map[string]struct {
		pes          int
		goal         model.Goal
		requests     []model.Request
		want         float64
		wantFeasible bool
	}{
		"nothing":              {1, model.GoalAll, nil, 0, true},
		"one after another":    {4, model.GoalAll, []model.Request{request("a", 0, 2, 9, 3), request("b", 0, 3, 5, 3)}, 2, true},
		"too late":             {4, model.GoalAll, []model.Request{request("a", 0, 2, 4, 3), request("b", 0, 3, 4, 3)}, 1, false},
		"one of two":           {4, model.GoalAccepted, []model.Request{request("a", 0, 2, 4, 3), request("b", 0, 3, 4, 3)}, 1, true},
		"the larger of two":    {4, model.GoalPESeconds, []model.Request{request("a", 0, 2, 4, 4), request("b", 0, 3, 4, 3)}, 9, true},
		"two small ones":       {4, "", []model.Request{request("a", 0, hour, hour, 4), request("b", 0, 60, hour, 4), request("c", 0, 60, 120, 4)}, 2, true},
		"it ends early":        {2, model.GoalAll, []model.Request{early, request("b", 0, 2, 3, 2)}, 2, true},
		"it will be cancelled": {2, model.GoalAll, []model.Request{cancelled, request("b", 0, 9, 9, 2)}, 2, true},
		"tenths":               {1, model.GoalAll, []model.Request{request("a", 0.1, 0.2, 0.3, 1), request("b", 0, 0.1, 0.1, 1), request("c", 0.3, 0.3, 0.6, 1)}, 3, true},
		"left of a later one": {2, model.GoalAll, []model.Request{request("a", 0, 1, 1, 2), request("b", 3, 2, 5, 1),
			request("c", 0, 2, 5, 2), request("d", 0, 2, 5, 1)}, 4, true},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			in := &model.Reservation{PEs: c.pes, Goal: c.goal, Requests: c.requests}
			if err := in.Validate(); err != nil {
				t.Fatal(err)
			}
			if got, feasible := testkit.BruteReservation(in); got != c.want && feasible || feasible != c.wantFeasible {
				t.Errorf("%v %v, want %v %v", got, feasible, c.want, c.wantFeasible)
			}
		})
	}
	// What is drawn is valid, and neither all accepted nor all declined.
	rng := rand.New(rand.NewPCG(1, 2))
	all, some, none, infeasible := 0, 0, 0, 0
	for range 300 {
		in := testkit.RandomReservation(rng, 1+rng.IntN(6))
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		value, feasible := testkit.BruteReservation(in)
		switch {
		case !feasible:
			infeasible++
		case in.EffectiveGoal() == model.GoalPESeconds:
		case value == float64(len(in.Requests)):
			all++
		case value > 0:
			some++
		default:
			none++
		}
	}
	if all < 30 || some < 30 || none > 0 || infeasible < 30 {
		t.Errorf("%d with all accepted, %d with some, %d with none, %d infeasible", all, some, none, infeasible)
	}
}
