package reservation_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// bruteReservation is the optimum of an instance of some 7 requests, and
// whether there is a solution, which only the goal "all" can lack (the value
// is then of no use).
//
// It tries all orders: each request starts as early as those before it in
// the order allow, at its ready time or when one of them ends, or is declined.
// That is exact. Take an optimal solution and move requests to earlier starts,
// one at a time, as long as one can be moved; no window is left by that. Then
// place its requests in the order of their starts. Would one find a place
// before its start, it would fit there in spite of those after it, too: they
// start no earlier than it did, so where it overlaps them now it did before,
// when all fitted. But no request could be moved. So this order reproduces the solution
// start by start. A request that doesn't fit now won't fit when there are more:
// it is enough to try those that do, and stop anywhere.
//
// Times are the ticks of the model, whose tests are elsewhere. A request that would
// be cancelled before its latest start takes no PEs when it is booked there.
func bruteReservation(t testing.TB, in *model.Reservation) (value float64, feasible bool) {
	t.Helper()
	n := len(in.Requests)
	if n > 8 {
		t.Fatalf("%d requests are too many for brute force", n)
	}
	times, total := in.Ticks(), 0.0
	for k := range in.Requests {
		total += in.Weight(k)
	}
	type placed struct {
		start, end int64
		pes        int
	}
	var plan []placed
	// earliest is where request k fits first, negative if nowhere.
	earliest := func(k int) int64 {
		q := &times.Requests[k]
		starts := []int64{q.Ready}
		for _, p := range plan {
			starts = append(starts, p.end)
		}
		slices.Sort(starts)
		for _, s := range starts {
			if s < q.Ready || s > q.Latest() {
				continue
			}
			// The most PEs are in use at s or when another starts.
			fits := true
			for i := -1; i < len(plan); i++ {
				at := s
				if i >= 0 {
					at = plan[i].start
				}
				if at < s || at >= s+q.Runtime {
					continue
				}
				used := in.Requests[k].PEs
				for _, p := range plan {
					if p.start <= at && p.end > at {
						used += p.pes
					}
				}
				fits = fits && used <= in.PEs
			}
			if fits {
				return s
			}
		}
		return -1
	}
	done := make([]bool, n)
	best, most := 0.0, 0
	var walk func(value, rest float64, accepted int)
	walk = func(value, rest float64, accepted int) {
		best, most = max(best, value), max(most, accepted)
		if most == n || value+rest <= best {
			return
		}
		for k := range n {
			if done[k] {
				continue
			}
			q := &times.Requests[k]
			if !q.Runs(q.Latest()) {
				done[k] = true
				walk(value+in.Weight(k), rest-in.Weight(k), accepted+1)
				done[k] = false
				return // it costs nothing, so it may as well come first
			}
			s := earliest(k)
			if s < 0 {
				continue
			}
			done[k] = true
			plan = append(plan, placed{s, s + q.Runtime, in.Requests[k].PEs})
			walk(value+in.Weight(k), rest-in.Weight(k), accepted+1)
			plan = plan[:len(plan)-1]
			done[k] = false
		}
	}
	walk(0, total, 0)
	return best, in.EffectiveGoal() != model.GoalAll || most == n
}

// randomReservation draws a valid instance of n requests with tight windows,
// of any goal: times are whole, tenths of a second, sums of tenths with their
// rounding errors, thirds in float32, whole ones at 10^12, ratios of 10^9, or any floats; some requests end early or are cancelled.
func randomReservation(rng *rand.Rand, n int) *model.Reservation {
	in := &model.Reservation{Name: "random", PEs: 1 + rng.IntN(8)}
	in.Goal = []model.Goal{"", model.GoalAccepted, model.GoalPESeconds, model.GoalPESeconds, model.GoalAll, model.GoalAll}[rng.IntN(6)]
	span := 1 + rng.IntN(2*n)                    // of the ready times
	longest := 1 + rng.IntN(8)                   // duration
	slack := rng.IntN(1 + longest)               // of the windows
	small := rng.IntN(2)                         // requests take half of the PEs at most
	early, cancelled := rng.IntN(3), rng.IntN(4) // of 10 requests
	var figure func(from, most int) float64
	begin := 0.0
	switch rng.IntN(7) {
	case 0, 1:
		figure = func(from, most int) float64 { return float64(from + rng.IntN(most-from+1)) }
	case 2:
		figure = func(from, most int) float64 { return float64(from+rng.IntN(most-from+1)) / 10 }
	case 3:
		figure = func(from, most int) float64 { return float64(float32(from+rng.IntN(most-from+1)) / 3) }
	case 4:
		begin = 1e12
		figure = func(from, most int) float64 { return float64(from + rng.IntN(most-from+1)) }
	case 5:
		figure = func(from, most int) float64 {
			return float64(from+rng.IntN(most-from+1)) * []float64{1, 1e9, 1 + 1e9}[rng.IntN(3)]
		}
	default:
		scale := []float64{1, 1, 1e-3, 1e6}[rng.IntN(4)]
		figure = func(from, most int) float64 { return scale * (float64(from) + rng.Float64()*float64(most-from)) }
	}
	for range n {
		q := model.Request{PEs: 1 + rng.IntN(max(1, in.PEs/(1+small)))}
		q.ReadyS = begin + figure(0, span)
		q.DurationS = figure(1, longest)
		q.DeadlineS = q.ReadyS + q.DurationS
		if rng.IntN(4) > 0 {
			q.DeadlineS += figure(0, slack)
		}
		if q.ArrivalS = q.ReadyS; rng.IntN(2) == 0 {
			q.ArrivalS = min(q.ReadyS, begin+figure(0, span))
		}
		if rng.IntN(10) < early {
			runtime := min(q.DurationS, figure(1, longest))
			q.RuntimeS = &runtime
		}
		if rng.IntN(10) < cancelled {
			cancel := q.ArrivalS + figure(0, longest+slack)
			q.CancelS = &cancel
		}
		in.Requests = append(in.Requests, q)
	}
	slices.SortStableFunc(in.Requests, func(a, b model.Request) int {
		switch {
		case a.ArrivalS < b.ArrivalS:
			return -1
		case a.ArrivalS > b.ArrivalS:
			return 1
		}
		return 0
	})
	for k := range in.Requests {
		in.Requests[k].ID = "r" + strconv.Itoa(k+1)
	}
	return in
}

func TestBruteReservation(t *testing.T) {
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
			if got, feasible := bruteReservation(t, in); got != c.want && feasible || feasible != c.wantFeasible {
				t.Errorf("%v %v, want %v %v", got, feasible, c.want, c.wantFeasible)
			}
		})
	}
	// What is drawn is valid, and neither all accepted nor all declined.
	rng := rand.New(rand.NewPCG(1, 2))
	all, some, none, infeasible := 0, 0, 0, 0
	for range 300 {
		in := randomReservation(rng, 1+rng.IntN(6))
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		value, feasible := bruteReservation(t, in)
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
