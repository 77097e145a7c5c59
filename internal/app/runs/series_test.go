// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// reserved are runs of two policies on instances of 200 requests: at umed 5
// three each, at umed 7 two of pe-w and one of ff, at umed 9 none with a
// solution. Deadline and artime change together with umed.
func reserved() []Record {
	var all []Record
	add := func(algorithm string, umed float64, index int, accepted, slowdown float64) {
		r := Record{Plan: "p", Instance: fmt.Sprint("r", umed, "-", index), Hash: fmt.Sprint("sha256:", umed, index), Kind: model.KindReservation,
			Params:    map[string]float64{"requests": 200, "umed": umed, "artime": umed - 4, "deadline": 2 * (umed - 4), "arrival_factor": 1},
			Algorithm: algorithm, Seed: 1, Status: model.StatusUnknown, ElapsedS: 2, Sealed: true}
		if accepted > 0 {
			bound := 200.0
			r.Objective, r.Second, r.Bound, r.Status = &accepted, &slowdown, &bound, model.StatusFeasible
			r.Metrics = map[string]float64{"acceptance %": accepted / 2}
		}
		all = append(all, r)
	}
	for k, x := range []float64{180, 184, 188} {
		add("pe-w", 5, k, x, 1.5)
		add("ff", 5, k, x-20, 1.1)
	}
	add("pe-w", 7, 0, 150, 2)
	add("pe-w", 7, 1, 160, 3)
	add("ff", 7, 0, 140, 1.25)
	add("ff", 9, 0, 0, 0)
	return all
}

// Paired differences have their own intervals: the differences between instances cancel. Runs without a partner don't
// count.
func TestSeriesMinus(t *testing.T) {
	lines := require.Value(Series(reserved(), SeriesOptions{X: []string{"umed"}, Y: "objective", Algorithms: []string{"pe-w"}, Minus: "ff"}))(t)
	want := []Line{{Algorithm: "pe-w", Points: []SeriesPoint{{X: 5, Mean: 20, Half: 0, Runs: 3, Instances: 3}, {X: 7, Mean: 10, Half: math.NaN(), Runs: 1, Instances: 1}}}}
	require.Same(t, "values", want, lines, cmpopts.EquateNaNs())
	require.Refused(t, "minus an unknown algorithm", require.Err(Series(reserved(), SeriesOptions{X: []string{"umed"}, Y: "objective", Minus: "heft"})), model.ErrInvalid, `no run is by "heft"`)
}

func TestSeriesByHand(t *testing.T) {
	nan := math.NaN()
	// 90, 92, 94: deviation 2, t(0.975, 2) = 4.302652729749464; 75, 80:
	// deviation 5/sqrt(2), t(0.975, 1) = 12.706204736174706.
	three, two := 4.302652729749464*2/math.Sqrt(3), 12.706204736174706*2.5
	for name, c := range map[string]struct {
		o    SeriesOptions
		want []Line
	}{
		"acceptance": {SeriesOptions{X: []string{"umed"}, Y: "acceptance %"}, []Line{
			{Algorithm: "ff", Points: []SeriesPoint{{X: 5, Mean: 82, Half: three, Runs: 3, Instances: 3}, {X: 7, Mean: 70, Half: nan, Runs: 1, Instances: 1}}},
			{Algorithm: "pe-w", Points: []SeriesPoint{{X: 5, Mean: 92, Half: three, Runs: 3, Instances: 3}, {X: 7, Mean: 77.5, Half: two, Runs: 2, Instances: 2}}},
		}},
		"slowdown, chosen and ordered": {SeriesOptions{X: []string{"umed"}, Y: "slowdown", Algorithms: []string{"pe-w", "ff"}}, []Line{
			{Algorithm: "pe-w", Points: []SeriesPoint{{X: 5, Mean: 1.5, Runs: 3, Instances: 3}, {X: 7, Mean: 2.5, Half: 12.706204736174706 / 2, Runs: 2, Instances: 2}}},
			{Algorithm: "ff", Points: []SeriesPoint{{X: 5, Mean: 1.1, Runs: 3, Instances: 3}, {X: 7, Mean: 1.25, Half: nan, Runs: 1, Instances: 1}}},
		}},
		"parameters together": {SeriesOptions{X: []string{"artime", "deadline"}, Y: "second", Algorithms: []string{"ff"}}, []Line{
			{Algorithm: "ff", Points: []SeriesPoint{{X: 0, Label: "{1,2}", Mean: 1.1, Runs: 3, Instances: 3}, {X: 1, Label: "{3,6}", Mean: 1.25, Half: nan, Runs: 1, Instances: 1}}},
		}},
		"where": {SeriesOptions{X: []string{"arrival_factor"}, Y: "objective", Where: map[string]float64{"umed": 7, "artime": 3}}, []Line{
			{Algorithm: "ff", Points: []SeriesPoint{{X: 1, Mean: 140, Half: nan, Runs: 1, Instances: 1}}},
			{Algorithm: "pe-w", Points: []SeriesPoint{{X: 1, Mean: 155, Half: two * 2, Runs: 2, Instances: 2}}},
		}},
		"gap":                       {SeriesOptions{X: []string{"umed"}, Y: "gap %", Algorithms: []string{"ff"}, Where: map[string]float64{"umed": 7}}, []Line{{Algorithm: "ff", Points: []SeriesPoint{{X: 7, Mean: 100 * 60.0 / 140, Half: nan, Runs: 1, Instances: 1}}}}},
		"time, of unsolved, too":    {SeriesOptions{X: []string{"umed"}, Y: "time", Algorithms: []string{"ff"}, Where: map[string]float64{"umed": 9}}, []Line{{Algorithm: "ff", Points: []SeriesPoint{{X: 9, Mean: 2, Half: nan, Runs: 1, Instances: 1}}}}},
		"an algorithm without runs": {SeriesOptions{X: []string{"umed"}, Y: "objective", Where: map[string]float64{"umed": 7, "arrival_factor": 1}, Algorithms: []string{"ff"}}, []Line{{Algorithm: "ff", Points: []SeriesPoint{{X: 7, Mean: 140, Half: nan, Runs: 1, Instances: 1}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			records := reserved()
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			got := require.Value(Series(records, c.o))(t)
			require.Same(t, "values", c.want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 1e-12))
		})
	}
}

// The same to the last bit, whatever the order of the records.
func TestSeriesOrder(t *testing.T) {
	records := reserved()
	want := ""
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		lines := require.Value(Series(records, SeriesOptions{X: []string{"umed"}, Y: "slowdown"}))(t)
		if got := fmt.Sprint(lines); want == "" {
			want = got
		} else if got != want {
			t.Fatalf("%s, before %s", got, want)
		}
	}
}

func TestSeriesRefuses(t *testing.T) {
	umed := []string{"umed"}
	edit := func(f func(r *Record)) []Record {
		all := reserved()
		f(&all[1])
		return all
	}
	zero := 0.0
	for name, c := range map[string]struct {
		records []Record
		o       SeriesOptions
		want    string
	}{
		"no results":    {nil, SeriesOptions{X: umed, Y: "time"}, "there are no results"},
		"value":         {reserved(), SeriesOptions{X: umed, Y: "colour"}, `there is no value "colour", give one of `},
		"no x":          {reserved(), SeriesOptions{Y: "time"}, "no parameter is given for x"},
		"algorithm":     {reserved(), SeriesOptions{X: umed, Y: "time", Algorithms: []string{"du-b"}}, `no run is by "du-b", there are pe-w, ff`},
		"twice":         {reserved(), SeriesOptions{X: umed, Y: "time", Algorithms: []string{"ff", "ff"}}, `"ff" is named twice`},
		"parameter":     {reserved(), SeriesOptions{X: []string{"pes"}, Y: "time"}, `no parameter "pes"; it has arrival_factor, artime, deadline, requests, umed`},
		"no parameters": {edit(func(r *Record) { r.Params = nil }), SeriesOptions{X: umed, Y: "time"}, `the run on r5-0 has no parameter "umed"; it has none`},
		"where":         {reserved(), SeriesOptions{X: umed, Y: "time", Where: map[string]float64{"pes": 3}}, `no parameter "pes"`},
		"nowhere":       {reserved(), SeriesOptions{X: umed, Y: "time", Where: map[string]float64{"umed": 6, "artime": 1}}, "no run has artime = 1 (there is 1, 3, 5) and umed = 6 (there is 5, 7, 9)"},
		"no metric":     {edit(func(r *Record) { r.Metrics = nil }), SeriesOptions{X: umed, Y: "acceptance %", Algorithms: []string{"ff"}, Where: map[string]float64{"umed": 9}}, "none of the 1 runs has a value"},
		"other kind":    {sample(), SeriesOptions{X: []string{"jobs"}, Y: "slowdown"}, `"slowdown" goes with reservation, the run on i1 is of vcsched`},
		"two kinds":     {append(sample(), reserved()...), SeriesOptions{X: umed, Y: "time"}, "there are runs of vcsched and of reservation"},
		"contradiction": {append(edit(func(r *Record) { r.Bound = &zero }), reserved()[2]), SeriesOptions{X: umed, Y: "time"}, "contradict each other"},
		"infinite":      {edit(func(r *Record) { r.Objective = &zero }), SeriesOptions{X: umed, Y: "gap %"}, `"gap %" of ff on r5-0 is infinite`},
		"no values":     {reserved(), SeriesOptions{X: umed, Y: "objective", Where: map[string]float64{"umed": 9}}, `none of the 1 runs has a value for "objective"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Refused(t, "refusal", require.Err(Series(c.records, c.o)), model.ErrInvalid, c.want)
		})
	}
}

// The interval covers the true mean of normal values in 95 % of samples.
func TestIntervalCovers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{2, 3, 5, 20} {
		covered := 0
		const samples = 20_000
		for range samples {
			x := make([]float64, n)
			for k := range x {
				x[k] = 10 + 3*r.NormFloat64()
			}
			if mean, half := Interval(x); math.Abs(mean-10) <= half {
				covered++
			}
		}
		if share := float64(covered) / samples; math.Abs(share-0.95) > 0.006 { // four deviations
			t.Errorf("%d values: %v of the intervals cover the mean, want 0.95", n, share)
		}
	}
}

func TestValueNames(t *testing.T) {
	var got []string
	title := func(name string, r Record) string { s, _ := ValueAxis(name, []Record{r}); return s }
	accepted := Record{Kind: model.KindReservation}
	for _, v := range ValueNames() {
		got = append(got, v[0]+": "+title(v[0], accepted))
		if v[1] == "" {
			t.Errorf("%q has no help", v[0])
		}
	}
	want := []string{"mean finish: mean finish time (s)", "slowdown: mean slowdown", "acceptance %: acceptance rate (%)", "average yield: average yield", "objective: accepted requests", "second: mean slowdown", "gap %: gap (%)", "time: time (s)"}
	got = slices.DeleteFunc(got, func(v string) bool { return !slices.Contains(want, v) }) // the ones of other problems
	require.Same(t, "values", want, got)
	for want, r := range map[string]Record{
		"makespan (s)":    {Kind: model.KindDAG},
		"used PE-seconds": {Kind: model.KindReservation, Variants: map[string]string{"goal": "pe_seconds"}},
	} {
		require.Same(t, "axis", want, title("objective", r))
	}
}

// An algorithm that solves only the easy instances isn't drawn beyond the bound of all, nor is one that solves them
// with more seeds.
func TestBoundIsNotPassed(t *testing.T) {
	var records []Record
	add := func(algorithm string, instance int, seed uint64, accepted float64) {
		bound := float64(100 * (1 + instance))
		r := Record{Plan: "p", Instance: fmt.Sprint(instance), Hash: fmt.Sprint("sha256:", instance), Kind: model.KindReservation,
			Params: map[string]float64{"umed": 5}, Algorithm: algorithm, Seed: seed, Status: model.StatusUnknown, Sealed: true, Bound: &bound}
		if accepted > 0 {
			r.Objective, r.Status = &accepted, model.StatusFeasible
		}
		records = append(records, r)
	}
	add("all", 0, 1, 90)
	add("all", 1, 1, 190)
	add("some", 0, 1, 0)
	add("some", 1, 1, 200)
	add("seeds", 0, 1, 0)
	add("seeds", 0, 2, 100)
	add("seeds", 1, 1, 200)
	add("seeds", 1, 2, 200)
	for _, algorithms := range [][]string{{"all", "some"}, {"all", "seeds"}, {"some"}, {"seeds"}, {"all", "some", "seeds"}} {
		lines, err := Series(records, SeriesOptions{X: []string{"umed"}, Y: "objective", Algorithms: algorithms, Bound: true})
		if err != nil || len(lines) != len(algorithms)+1 {
			t.Fatal(lines, err)
		}
		for _, l := range lines {
			if bound := lines[len(lines)-1].Points[0]; bound.Mean != 200 || l.Points[0].Mean > bound.Mean || l.Points[0].Instances != 1 {
				t.Errorf("of %v: %s has %+v, the bound is %+v", algorithms, l.Algorithm, l.Points[0], bound)
			}
		}
	}
}

// The bound's curve is the mean of the best sealed bounds, in the units of the value.
func TestBoundSeries(t *testing.T) {
	records := reserved()
	umed := SeriesOptions{X: []string{"umed"}, Y: "objective", Bound: true}
	lines, err := Series(records, umed)
	if err != nil || len(lines) != 3 || !lines[2].Bound {
		t.Fatalf("%+v, %v, want those of pe-w, ff and the bound", lines, err)
	}
	bound := lines[2].Points
	if len(bound) != 2 || bound[0].X != 5 || bound[0].Instances != 3 || bound[1].X != 7 || bound[1].Instances != 1 || bound[1].Mean != 200 {
		t.Errorf("bounds %+v, want one of three instances at 5, of the one that both have solved at 7, none at 9", bound)
	}
	for _, l := range lines[:2] {
		for i, p := range l.Points {
			if p.Instances != bound[i].Instances || p.Mean > bound[i].Mean {
				t.Errorf("%s has %+v, the bound is %+v", l.Algorithm, p, bound[i])
			}
		}
	}
	umed.Y = "acceptance"
	rate, err := Series(records, umed)
	if err != nil || len(rate) != 3 || rate[2].Points[0].Mean != 100 { // of 200 requests
		t.Errorf("rates %+v, %v, want a bound of 100 %%", rate, err)
	}
	for _, y := range []string{"time", "gap %"} {
		umed.Y = y
		if none, err := Series(records, umed); err != nil || none[len(none)-1].Bound {
			t.Errorf("%s has bounds: %v, %v", y, none, err)
		}
	}
	if valueOf("acceptance", nil).name != "acceptance %" || valueOf("gap", nil).name != "gap %" || valueOf("time", nil).name != "time" || valueOf("colour", nil) != nil {
		t.Error("plain names don't mean values in percent")
	}
}
