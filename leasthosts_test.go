// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// fewest returns the least number of bins of capacity 20 in each dimension, by trying
// all placements of items of the sizes [item][dimension].
func fewest(sizes [][]int) int {
	best := len(sizes)
	var bins [][]int
	var put func(i int)
	put = func(i int) {
		if len(bins) >= best {
			return
		}
		if i == len(sizes) {
			best = len(bins)
			return
		}
		for b := range bins {
			fits := true
			for k, x := range sizes[i] {
				bins[b][k] += x
				fits = fits && bins[b][k] <= 20
			}
			if fits {
				put(i + 1)
			}
			for k, x := range sizes[i] {
				bins[b][k] -= x
			}
		}
		bins = append(bins, append([]int(nil), sizes[i]...))
		put(i + 1)
		bins = bins[:len(bins)-1]
	}
	if len(sizes) > 1 { // with one bin an item best may be met
		best++
	}
	put(0)
	return best
}

// checkCount holds a count against the optimum: the bound is none too high, no placement
// has fewer hosts, and the judge takes it with the yield 1.
func checkCount(t *testing.T, name string, h gapwise.HostCount, optimum int) {
	t.Helper()
	if h.Bound > optimum || h.Hosts < optimum || h.Hosts != h.Instance.Hosts || (h.Reason == "") != (h.Bound == h.Hosts) {
		t.Errorf("%s: %d hosts, bound %d (%s, %q), the optimum is %d", name, h.Hosts, h.Bound, h.Proof, h.Reason, optimum)
	}
	report, err := verify.Result(context.Background(), h.Instance, h.Result, verify.Options{})
	if err != nil || report.Err() != nil || h.Result.Objective < 1-1e-8 {
		t.Errorf("%s: the judge says %v, %v of the yield %v", name, err, report.Err(), h.Result.Objective)
	}
}

// Every placement of up to 7 tasks in one to four dimensions, one of which may be CPU, has at least as many hosts as
// LeastHosts reports.
func TestLeastHostsByBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for k := range 80 {
		d, cpu := 1+rng.IntN(4), rng.IntN(2) == 0
		in := &model.VCSched{Name: fmt.Sprint(k), Hosts: 1}
		for r := 1; r < d; r++ {
			if r > 1 || !cpu {
				in.Resources = append(in.Resources, fmt.Sprint("r", r))
			}
		}
		unit := 20.0 // of a reference host
		if rng.IntN(3) == 0 {
			unit = 10
			s := model.HostSize{Count: 1, CPU: 2, Memory: 2}
			for range in.Resources {
				s.Resources = append(s.Resources, 2)
			}
			in.HostSizes = []model.HostSize{s}
		}
		var sizes [][]int
		for i := range 1 + rng.IntN(5) {
			j := model.VCSchedJob{ID: fmt.Sprint("j", i), Tasks: 1 + rng.IntN(2)}
			size := make([]int, d)
			for r := range size {
				size[r] = rng.IntN(15)
				x := float64(size[r]) / unit
				switch {
				case r == 0:
					j.Memory = x
				case r == 1 && cpu:
					j.CPU = x
				default:
					j.Resources = append(j.Resources, x)
				}
			}
			for range j.Tasks {
				sizes = append(sizes, size)
			}
			in.Jobs = append(in.Jobs, j)
		}
		h := require.Value(gapwise.LeastHosts(t.Context(), in,
			gapwise.Options{Algorithm: "exact", Settings: model.Settings{Seed: 1}}))(t)
		want := fewest(sizes)
		checkCount(t, in.Name, h, want)
		if h.Hosts != want || h.Bound != want {
			t.Errorf("%s: %d hosts, bound %d, want %d", in.Name, h.Hosts, h.Bound, want)
		}
	}
}

// A limit or an interruption leaves a placement and a bound that hold.
func TestLeastHostsStopped(t *testing.T) {
	t.Parallel()
	in := &model.VCSched{Name: "s", Hosts: 3, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 30, Memory: 0.26}, {ID: "b", Tasks: 30, Memory: 0.37}}}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"over": over, "limit": t.Context()} {
		h := require.Value(gapwise.LeastHosts(ctx, in,
			gapwise.Options{Settings: model.Settings{TimeLimit: time.Nanosecond}}))(t)
		checkCount(t, name, h, 20) // two of b or a, b, b: 3 on a host
	}
	// A part that isn't waited for goes on, and doesn't change the answer.
	for range 20 {
		h := require.Value(gapwise.LeastHosts(over, in, gapwise.Options{Patience: time.Nanosecond}))(t)
		checkCount(t, "patience", h, 20)
	}
}

func TestLeastHostsRefuses(t *testing.T) {
	t.Parallel()
	budget := 1.0
	jobs := []model.VCSchedJob{{ID: "a", Tasks: 1, Memory: 0.5}}
	for name, c := range map[string]struct {
		in   *model.VCSched
		o    gapwise.Options
		want error
	}{
		"sizes":     {&model.VCSched{Hosts: 2, Jobs: jobs, HostSizes: []model.HostSize{{Count: 1, CPU: 1, Memory: 1}, {Count: 1, CPU: 1, Memory: 2}}}, gapwise.Options{}, model.ErrUnsupported},
		"budget":    {&model.VCSched{Hosts: 2, Jobs: jobs, MigrationBudget: &budget}, gapwise.Options{}, model.ErrUnsupported},
		"no jobs":   {&model.VCSched{Hosts: 2}, gapwise.Options{}, model.ErrInvalid},
		"algorithm": {&model.VCSched{Hosts: 2, Jobs: jobs}, gapwise.Options{Algorithm: "nothing"}, gapwise.ErrUnknownAlgorithm},
	} {
		require.Refused(t, name, require.Err(gapwise.LeastHosts(t.Context(), c.in, c.o)), c.want, "")
	}
}

// A task that needs more than a host has, of memory or a further resource, has no placement on any number of hosts.
func TestLeastHostsInfeasible(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]*model.VCSched{
		"memory": {Hosts: 2, Oversized: true, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, Memory: 0.5}, {ID: "b", Tasks: 2, Memory: 1.25}}},
		"disk": {Hosts: 2, Oversized: true, Resources: []string{"disk"}, HostSizes: []model.HostSize{{Count: 2, CPU: 1, Memory: 1, Resources: []float64{3}}},
			Jobs: []model.VCSchedJob{{ID: "b", Tasks: 1, CPU: 1, Memory: 1, Resources: []float64{3.5}}}},
	} {
		h, err := gapwise.LeastHosts(t.Context(), in, gapwise.Options{})
		if err != nil || h.Result.Status != model.StatusInfeasible || h.Hosts != 0 || !strings.Contains(h.Reason, `job "b"`) || !strings.Contains(h.Reason, name) {
			t.Errorf("%s: %v, %s, %d hosts: %s", name, err, h.Result.Status, h.Hosts, h.Reason)
		}
		in.Jobs[len(in.Jobs)-1].Memory = 1 // it fills a host
		if in.Jobs[len(in.Jobs)-1].Resources != nil {
			in.Jobs[len(in.Jobs)-1].Resources[0] = 3
		}
		if h := require.Value(gapwise.LeastHosts(t.Context(), in, gapwise.Options{}))(t); h.Hosts != in.Tasks() || h.Bound != h.Hosts {
			t.Errorf("%s: %d hosts, at least %d", name, h.Hosts, h.Bound)
		}
	}
}

// Published optima of vector packing: no bound is above them, no placement has fewer
// hosts. Some instances of 20 items are solved every day, without -short more, and larger ones with a limit.
func TestLeastHostsPublished(t *testing.T) {
	t.Parallel()
	rows := require.CSV(t, "vbp", "optima.csv")
	optima, items := map[string]int{}, map[string]string{}
	for _, row := range rows {
		if n, err := strconv.Atoi(row[4]); err == nil && n > 0 {
			optima[row[0]], items[row[0]] = n, row[1]
		}
	}
	every := map[string]int{"20": 36}
	if !testing.Short() {
		every = map[string]int{"20": 12, "40": 24, "60": 60}
	}
	seen, proved := map[string]int{}, 0
	for name, data := range require.TarGz(t, "vbp", "vbp.tar.gz") {
		size := items[name]
		if seen[size]++; every[size] == 0 || seen[size]%every[size] != 0 {
			continue
		}
		v, err := instances.ReadVBP(data)
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		in := require.Value(v.Place(name, 1))(t)
		o := gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 2 * time.Second}}
		if size == "20" {
			o.Algorithm, o.TimeLimit = "exact", 0
		}
		h := require.Value(gapwise.LeastHosts(t.Context(), in, o))(t)
		checkCount(t, name, h, optima[name])
		if size == "20" && h.Hosts != h.Bound {
			t.Errorf("%s: %d hosts, bound %d: %s", name, h.Hosts, h.Bound, h.Reason)
		}
		if n := v.FirstFit(); n < optima[name] || n < h.Hosts {
			t.Errorf("%s: first fit %d, %d hosts, the optimum is %d", name, n, h.Hosts, optima[name])
		}
		proved++
	}
	if proved == 0 {
		t.Error("no file was solved")
	}
}

// An effort ends the count in the same place in each run, and with any number of threads.
func TestLeastHostsEffort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	stopped := 0
	for k := range 6 {
		in := &model.VCSched{Name: strconv.Itoa(k), Hosts: 1, Resources: []string{"a", "b", "c"}}
		for i := range 60 {
			need := func() float64 { return float64(100+rng.IntN(400)) / 1000 }
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: strconv.Itoa(i), Tasks: 1, Memory: need(), Resources: []float64{need(), need(), need()}})
		}
		var last gapwise.HostCount
		for run, effort := range []int64{3_000, 3_000, 400_000} {
			h := require.Value(gapwise.LeastHosts(t.Context(), in,
				gapwise.Options{Settings: model.Settings{Seed: 1, Threads: 1 + run%2, Effort: effort}}))(t)
			if h.Reason == "stopped by the limit of its effort" {
				stopped++
			}
			h.Elapsed, h.Result.Elapsed = 0, 0
			if a, b := marshal(t, last), marshal(t, h); run == 1 && string(a) != string(b) {
				t.Errorf("once\n%s\nthen\n%s", a, b)
			}
			if run == 2 && h.Hosts-h.Bound > last.Hosts-last.Bound {
				t.Errorf("%d to %d by more effort, %d to %d by less", h.Bound, h.Hosts, last.Bound, last.Hosts)
			}
			last = h
		}
	}
	if stopped == 0 {
		t.Error("nothing was stopped")
	}
}
