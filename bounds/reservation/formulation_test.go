// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/ticks"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// ticksOf makes ticks of jobs {ready, due, length, PEs}, each of weight 1.
func ticksOf(pes int, goal model.Goal, jobs ...[4]int64) *view.Reservation {
	t := &view.Reservation{Times: ticks.Times{Exact: true}, PEs: pes, Goal: goal}
	for k, x := range jobs {
		j := view.ReservationJob{Request: k, Ready: x[0], Due: x[1], Length: x[2], Counted: x[2], PEs: int(x[3]), Weight: 1}
		if goal == model.GoalPESeconds {
			j.Weight = j.Area()
		}
		t.Jobs = append(t.Jobs, j)
	}
	return t
}

func lines(m *milp.Model) []string {
	number := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	var out []string
	for _, v := range m.Vars {
		kind := ""
		if v.Integer {
			kind = "integer "
		}
		out = append(out, fmt.Sprintf("%s%s in [%s, %s] cost %s", kind, v.Name, number(v.Lower), number(v.Upper), number(v.Cost)))
	}
	for _, r := range m.Rows {
		s := fmt.Sprintf("%s: %s ≤", r.Name, number(r.Lower))
		for _, x := range r.Terms {
			s += fmt.Sprintf(" %+.4g %s", x.Coef, m.Vars[x.Var].Name)
		}
		out = append(out, s+" ≤ "+number(r.Upper))
	}
	return out
}

// Two jobs of 4 PEs exclude each other; the third of 2 PEs and the second fit together.
var threeJobs = [][4]int64{{0, 4, 3, 4}, {0, 7, 3, 4}, {1, 4, 2, 2}}

func TestReservationTimesRows(t *testing.T) {
	t.Parallel()
	f := require.Value(Build(ticksOf(6, "", threeJobs...), "time-indexed"))(t)
	want := []string{
		"integer x_1_0 in [0, 1] cost 1",
		"integer x_2_0 in [0, 1] cost 1",
		"integer x_2_3 in [0, 1] cost 1",
		"integer x_3_1 in [0, 1] cost 1",
		"u_1 in [0, 3] cost 0",
		"once_1: 0 ≤ +1 x_1_0 ≤ 1",
		"once_2: 0 ≤ +1 x_2_0 +1 x_2_3 ≤ 1",
		"once_3: 0 ≤ +1 x_3_1 ≤ 1",
		"at_1: 0 ≤ -1 u_1 +2 x_1_0 +2 x_2_0 +1 x_3_1 ≤ 0",
	}
	// Only the second and the third may be under way at 3, and they fit.
	require.Same(t, "model", want, lines(&f.Model))
}

func TestReservationFormulationNames(t *testing.T) {
	t.Parallel()
	few, crowd := [][4]int64{}, [][4]int64{}
	rng := rand.New(rand.NewPCG(5, 7))
	for k := range int64(60) {
		few = append(few, [4]int64{k, k + 9, 3, 1 + k%4})
	}
	for k := range int64(400) {
		length := 1000 + rng.Int64N(10000)
		crowd = append(crowd, [4]int64{k, k + 3*length, length, 1 + k%4})
	}
	tests := map[string]struct {
		jobs       [][4]int64
		name, want string
		wantErr    error
	}{
		"by name":         {few, "time-indexed", "time-indexed", nil},
		"the default":     {few, "", "time-indexed", nil},
		"no jobs":         {nil, "", "time-indexed", nil},
		"too many starts": {crowd, "", "more than 100000 possible starts", model.ErrUnsupported},
		"an unknown one":  {few, "flow", `"flow" is unknown`, model.ErrInvalid},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := Build(ticksOf(6, "", c.jobs...), c.name)
			if c.wantErr != nil {
				require.Refused(t, name, err, c.wantErr, c.want)
				return
			}
			if err != nil || f.Scheme != c.want {
				t.Errorf("%+v %v, want %s", f, err, c.want)
			}
		})
	}
}

func TestReservationUnits(t *testing.T) {
	t.Parallel()
	request := func(duration float64, pes int) model.Request {
		return model.Request{DurationS: duration, DeadlineS: duration, PEs: pes}
	}
	tests := map[string]struct {
		goal        model.Goal
		requests    []model.Request
		wantUnit    float64
		wantWhole   bool
		wantWeights []float64
	}{
		"accepted":       {"", []model.Request{request(3, 2), request(0.7, 4)}, 1, true, []float64{1, 1}},
		"all":            {model.GoalAll, []model.Request{request(3, 2)}, 1, true, []float64{1}},
		"seconds":        {model.GoalPESeconds, []model.Request{request(3, 2), request(6, 4)}, 6, true, []float64{1, 4}},
		"tenths":         {model.GoalPESeconds, []model.Request{request(0.3, 1), request(0.7, 3)}, 0.3, true, []float64{1, 7}},
		"no common unit": {model.GoalPESeconds, []model.Request{request(math.Pi, 1), request(math.E, 1)}, math.Pi / 1000, false, []float64{1000, 1000 * math.E / math.Pi}},
		"too many units": {model.GoalPESeconds, []model.Request{request(3, 1), request(1e9, 1)}, 1e6, false, []float64{3e-6, 1000}},
		"none":           {model.GoalPESeconds, nil, 1, true, []float64{}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			in := &model.Reservation{PEs: 8, Goal: c.goal, Requests: c.requests}
			f := newWeighted(view.OfReservation(in), "")
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(a) })
			if diff := cmp.Diff(c.wantWeights, f.weights, near); diff != "" || f.Whole != c.wantWhole || math.Abs(f.unit-c.wantUnit) > 1e-12*c.wantUnit {
				t.Errorf("unit %v whole %v, want %v %v; weights (-want,+got)\n%s", f.unit, f.Whole, c.wantUnit, c.wantWhole, diff)
			}
		})
	}
}
