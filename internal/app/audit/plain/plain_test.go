// SPDX-License-Identifier: MIT

package plain_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

const enough = 1 << 40

// solved is a whole search's answer, its solution verified.
func solved(t *testing.T, in model.Instance, beat float64) plain.Answer {
	t.Helper()
	a, err := plain.Solve(in, beat, enough)
	if err != nil || !a.Whole {
		t.Fatalf("whole %v: %v\n%+v", a.Whole, err, in)
	}
	require.Is(t, math.IsNaN(a.Value), a.Solution == nil, "value", a.Value, "of", a.Solution)
	if a.Solution != nil {
		r, err := verify.Verify(context.Background(), in, a.Solution, verify.Options{})
		if err != nil || !r.Feasible() || math.Abs(r.Objective-a.Value) > 1e-9*math.Abs(a.Value) {
			t.Fatalf("value %v, the judge says %v: %v\n%+v\n%+v", a.Value, r, err, in, a.Solution)
		}
		if !math.IsNaN(beat) && !model.SenseOf(in).Better(a.Value, beat) {
			t.Fatalf("%v isn't better than %v\n%+v", a.Value, beat, in)
		}
	}
	return a
}

// agree compares an engine with the optimum, NaN for none: from scratch, given the optimum, and given a little less.
func agree(t *testing.T, in model.Instance, want float64) {
	t.Helper()
	require.OK(t, in.Validate())
	a := solved(t, in, math.NaN())
	if math.IsNaN(want) {
		if a.Solution != nil {
			t.Fatalf("found %v, there is no solution\n%+v", a.Value, in)
		}
		return
	}
	near := func(a plain.Answer) bool { return math.Abs(a.Value-want) <= 1.1e-9*math.Abs(want) }
	if !near(a) {
		t.Fatalf("found %v, want %v\n%+v", a.Value, want, in)
	}
	if b := solved(t, in, want); b.Solution != nil {
		t.Fatalf("%v was to be beaten, found %v\n%+v", want, b.Value, in)
	}
	if want != 0 {
		if b := solved(t, in, want-float64(model.SenseOf(in))*3e-9*math.Abs(want)); !near(b) {
			t.Fatalf("found %v, want %v\n%+v", b.Value, want, in)
		}
	}
}

// consistent holds an engine against itself, and returns its best solution.
func consistent(t *testing.T, in model.Instance) plain.Answer {
	t.Helper()
	a := plain.Best(in)
	agree(t, in, a.Value)
	return a
}

// grow measures proofs: nothing beats the optimum. It reports the mean number of nodes and the share of the instances
// that took longer than a second; most of these are cut off.
func grow(b *testing.B, draw func() model.Instance) {
	const most = 2_000_000
	nodes, slow, took := int64(0), 0, []time.Duration{}
	b.ResetTimer()
	for range b.N {
		in := draw()
		b.StopTimer()
		a := require.Value(plain.Solve(in, math.NaN(), 5*most))(b)
		b.StartTimer()
		from := time.Now()
		a = require.Value(plain.Solve(in, a.Value, most))(b)
		took = append(took, time.Since(from))
		nodes += a.Nodes
		if took[len(took)-1] > time.Second || !a.Whole {
			slow++
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
	b.ReportMetric(float64(slow)/float64(b.N), "slow/op")
	b.ReportMetric(float64(took[len(took)/2])/1e6, "median-ms")
	b.ReportMetric(float64(took[len(took)*9/10])/1e6, "p90-ms")
}

func TestRefuses(t *testing.T) {
	d := &model.DAG{Machines: []model.Machine{{ID: "m"}, {ID: "n"}}, TransferModel: model.TransferFair,
		Network: model.Network{Links: []model.Link{{ID: "l", Capacity: 1}}, Routes: []model.Route{{From: "m", To: "n", Links: []string{"l"}}}}}
	require.Refused(t, "fair transfers", require.Err(plain.Solve(d, math.NaN(), 1)), model.ErrUnsupported, "")
	require.Refused(t, "no machine", require.Err(plain.Solve(&model.DAG{}, math.NaN(), 1)), model.ErrInvalid, "")
}

func BenchmarkPlain(b *testing.B) {
	for name, x := range map[string]struct {
		sizes []int
		draw  func(rng *rand.Rand, n int) model.Instance
	}{
		"batch": {[]int{6, 8, 10, 12},
			func(rng *rand.Rand, n int) model.Instance { return testkit.RandomBatch(rng, 1, 8, n) }},
		"dag/machines=2": {[]int{10, 14, 18},
			func(rng *rand.Rand, n int) model.Instance { return testkit.RandomDAG(rng, n, 2) }},
		"dag/machines=4": {[]int{10, 14, 18},
			func(rng *rand.Rand, n int) model.Instance { return testkit.RandomDAG(rng, n, 4) }},
		"reservation": {[]int{8, 10, 12, 14},
			func(rng *rand.Rand, n int) model.Instance { return testkit.RandomReservation(rng, n) }},
		"tvc/pods=2": {[]int{6, 8, 12, 16},
			func(rng *rand.Rand, n int) model.Instance { return testkit.RandomTVC(rng, 2, n, false) }},
		"tvc/pods=4": {[]int{6, 8, 12, 16},
			func(rng *rand.Rand, n int) model.Instance { return testkit.RandomTVC(rng, 4, n, false) }},
		"vcsched/hosts=2": {[]int{8, 11, 14, 17},
			func(rng *rand.Rand, n int) model.Instance { return testkit.VCSched(rng, n, 2, false) }},
		"vcsched/hosts=6": {[]int{8, 11, 14, 17},
			func(rng *rand.Rand, n int) model.Instance { return testkit.VCSched(rng, n, 6, false) }},
		"consolidation/hosts=3": {[]int{6, 10, 14},
			func(rng *rand.Rand, n int) model.Instance { return testkit.Consolidation(rng, n, 3) }},
	} {
		for _, n := range x.sizes {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(9, 2))
				grow(b, func() model.Instance { return x.draw(rng, n) })
			})
		}
	}
}
