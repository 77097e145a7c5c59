// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// plainJob is a job by its instance and its execution, in seconds.
type plainJob struct {
	submit, start, end, work float64
	width                    int
	user                     string
}

// plainJobs reads them from both, without model.Outcome.
func plainJobs(in *model.Batch, e *model.Execution) (all []plainJob) {
	for _, j := range in.Jobs {
		for _, r := range e.Runs {
			if r.ID == j.ID {
				x := plainJob{submit: j.SubmitS, start: r.Segments[0].StartS, end: r.Segments[len(r.Segments)-1].EndS, work: j.RuntimeS, width: j.Processes}
				if in.KillAtEstimate && j.EstimateS > 0 {
					x.work = math.Min(j.RuntimeS, j.EstimateS)
				}
				if j.Log != nil {
					x.user = j.Log.User
				}
				all = append(all, x)
			}
		}
	}
	return all
}

// plainFair returns when job i would start if those that wait at its submission went first:
// at the first end, or at once, from which on enough processors are free.
func plainFair(all []plainJob, processors, i int) float64 {
	type span struct {
		from, to float64
		width    int
	}
	var held []span
	now := all[i].submit
	list := []int{}
	for k := range i {
		switch {
		case all[k].start >= now:
			list = append(list, k)
		case all[k].end > now:
			held = append(held, span{all[k].start, all[k].end, all[k].width})
		}
	}
	for _, k := range append(list, i) {
		times := []float64{now}
		for _, h := range held {
			times = append(times, h.to)
		}
		sort.Float64s(times)
		for _, t := range times {
			used := 0
			for _, h := range held {
				if h.from <= t && t < h.to {
					used += h.width
				}
			}
			if t >= now && used+all[k].width <= processors {
				now = t
				break
			}
		}
		if k == i {
			break
		}
		held = append(held, span{now, now + (all[k].end - all[k].start), all[k].width})
	}
	return now
}

// plainFigures computes all figures of jobs in the plainest way.
func plainFigures(in *model.Batch, all []plainJob, through bool) map[string]float64 {
	values := map[string][]float64{}
	steady := map[string][]float64{}
	areas, byUser := []float64{}, map[string][]float64{}
	first, last := all[0].submit, all[len(all)-1].submit
	from, to := first+(last-first)/10, last-(last-first)/10
	held, late, delay := 0.0, 0.0, 0.0
	for i, j := range all {
		slowdown := math.Max(1, (j.end-j.submit)/math.Max(10, j.work))
		for key, x := range map[string]float64{"wait": j.start - j.submit, "response": j.end - j.submit, "bounded slowdown": slowdown} {
			values[key] = append(values[key], x)
			if j.submit >= from && j.submit <= to {
				steady[key] = append(steady[key], x)
			}
		}
		areas = append(areas, float64(j.width)*j.work)
		if j.user != "" {
			byUser[j.user] = append(byUser[j.user], slowdown)
		}
		held += float64(j.width) * math.Max(0, math.Min(j.end, to)-math.Max(j.start, from))
		if through {
			if over := j.start - plainFair(all, in.Processors, i); over > 1e-7 {
				late++
				delay += over
			}
		}
	}
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, y := range x {
			sum += y
		}
		return sum / float64(len(x))
	}
	want := map[string]float64{}
	for key, x := range values {
		sum := 0.0
		for i := range x {
			sum += x[i] * areas[i]
		}
		sorted := slices.Clone(x)
		sort.Float64s(sorted)
		n := len(x)
		short := strings.TrimPrefix(key, "bounded ")
		for name, share := range map[string]float64{" median": 0.5, " p95": 0.95, " max": 1} {
			k := 0
			for float64(k+1) < share*float64(n)-1e-9 {
				k++
			}
			want[short+name] = sorted[k]
		}
		want[short+" by area"] = sum / (mean(areas) * float64(n))
		want["steady "+short] = mean(steady[key])
	}
	nan := math.NaN()
	want["steady utilisation"], want["unfair %"], want["unfair delay"], want["user spread"] = nan, nan, nan, nan
	if through {
		want["unfair %"], want["unfair delay"] = 100*late/float64(len(all)), delay/float64(len(all))
		if to > from {
			want["steady utilisation"] = 100 * held / (to - from) / float64(in.Processors)
		}
	}
	if len(byUser) > 0 {
		var means []float64
		for _, x := range byUser {
			means = append(means, mean(x))
		}
		sort.Float64s(means)
		at := func(p float64) float64 {
			x := p * float64(len(means)-1)
			k := int(x)
			return means[k] + (x-float64(k))*(means[min(k+1, len(means)-1)]-means[k])
		}
		want["user spread"] = at(0.95) / at(0.5)
	}
	return want
}

func close(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// The figures of jobs equal a plain computation, on executions of all algorithms.
func TestJobFigures(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 3))
	delayed := 0
	for round := range require.Rounds(300) {
		in := testkit.RandomBatch(rng, 1+round%3/2, 8, 1+rng.IntN(25))
		for _, name := range []string{"fcfs", "sjf", "easy", "conservative", "spt", "measy"} {
			r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: name})
			if err != nil || r.Solution == nil {
				continue
			}
			e := r.Solution.(*model.Execution)
			through := in.Tiers == 1 && !slices.ContainsFunc(e.Runs, func(r model.Run[model.BatchPlace]) bool { return len(r.Segments) > 1 })
			want := plainFigures(in, plainJobs(in, e), through)
			got := map[string]float64{}
			require.OK(t, jobMetrics(in, e, got))
			require.Is(t, len(want), len(got), "figures")
			for key, x := range want {
				if !close(got[key], x) {
					t.Errorf("round %d, %s: %s is %v, want %v", round, name, key, got[key], x)
				}
			}
			if got["unfair delay"] > 0 {
				delayed++
			}
			exact := true
			for k := range in.Jobs {
				exact = exact && in.Jobs[k].Estimate() == in.Work(k)
			}
			if (name == "fcfs" || name == "conservative" && exact) && got["unfair delay"] > 0 {
				t.Errorf("round %d: %s delays jobs beyond their fair starts", round, name)
			}
		}
	}
	if delayed < 20 {
		t.Errorf("%d executions delay a job", delayed)
	}
}

// Only a part of the jobs in long queues is looked at, and the figures are near the ones of all.
func TestLatenessOfSome(t *testing.T) {
	t.Parallel()
	j := &jobs{processors: 1}
	for k := range 12_000 { // each waits behind all before it, and takes the place of the next
		x := float64(k)
		j.outcomes = append(j.outcomes, model.Outcome{SubmitS: x / 1e5, StartS: 10 * (x + 1 - 2*float64(k%2)), EndS: 10*(x+1-2*float64(k%2)) + 10, Processes: 1})
	}
	j.late = lateness(j)
	n := 0
	for _, x := range j.late {
		if x != unknown {
			n++
		}
	}
	if n < 2000 || n > 4000 {
		t.Errorf("%d of 12,000 jobs are looked at", n)
	}
}

// Tables of jobs divide them all, and a class has its plain figure.
func TestTabulateJobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 4))
	in := testkit.RandomBatch(rng, 1, 40, 60)
	var all []Solved
	for _, name := range []string{"easy", "spt"} {
		r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: name}))(t)
		all = append(all, Solved{&Record{Kind: model.KindBatch, Algorithm: name, Instance: in.Name}, in, r.Solution})
	}
	for _, by := range []string{"user", "size"} {
		table := require.Value(TabulateJobs(all, by, []string{"jobs", "work %", "response"}, 0))(t)
		for k, row := range table.Rows {
			class, name := row[0], row[1]
			x := all[0]
			if name == "spt" {
				x = all[1]
			}
			n, sum := 0, 0.0
			for i, j := range plainJobs(in, x.Solution.(*model.Execution)) {
				is := class == "all"
				switch by {
				case "user":
					is = is || j.user == class || j.user == "" && class == "not told"
				default:
					low, high := 0, 0
					if c, _ := fmt.Sscanf(class, "%d-%d", &low, &high); c == 1 {
						high = low
					}
					is = is || j.width >= low && j.width <= high
				}
				if is {
					n++
					sum += j.end - in.Jobs[i].SubmitS
				}
			}
			if want := []string{fmt.Sprint(n), figureOf(sum / float64(n))}; row[2] != want[0] || row[4] != want[1] {
				t.Errorf("by %s, row %v, want %v", by, row, want)
			}
			require.Same(t, name+" stands among", GroupOf(gapwise.ClassOf(model.KindBatch, name)), table.Groups[k])
		}
	}
	table, err := TabulateJobs(all, "user", []string{"jobs", "steady wait"}, 1)
	if err != nil || len(table.Rows) != 6 || table.Rows[2][0] != "2 others" {
		t.Errorf("of three classes one is shown: %v, %v", table.Rows, err)
	}
	if len(table.Notes) != 1 || !strings.HasPrefix(table.Notes[0], "steady") {
		t.Errorf("the rule isn't said: %v", table.Notes)
	}
	require.Refused(t, "by executable", require.Err(TabulateJobs(all, "executable", nil, 0)), model.ErrInvalid, "tell no executable of any job")
}
