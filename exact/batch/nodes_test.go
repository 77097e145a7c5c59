// SPDX-License-Identifier: MIT

package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// proved returns the proved optimum of a machine of nodes, which the judge accepts.
func proved(t *testing.T, s model.Solver, in *model.Batch) model.Result {
	t.Helper()
	r := solve(t, s, in)
	accepted(t, in, r)
	return r
}

func accepted(t *testing.T, in *model.Batch, r model.Result) {
	t.Helper()
	if report := require.Value(verify.Result(t.Context(), in, r, verify.Options{}))(t); !report.Feasible() {
		t.Fatalf("%v: %+v", report, in)
	}
}

// same reports whether two means are equal but for rounding.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// The kernel's optimum on nodes is the enumeration's, with all devices and without each, and so is the search's, which
// asks it.
func TestNodesAgainstAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 7))
	ways := []model.Solver{batchexact.Search, batchexact.WithoutRows()}
	for _, d := range batchexact.Kernel.Devices() {
		ways = append(ways, require.Value(batchexact.Kernel.Without(d.Name))(t))
	}
	searched := 0
	for k := range require.Rounds(2000) {
		in := testkit.RandomNodes(rng, 1+rng.IntN(4))
		if in.Processors > 4 { // there are too many ways to place its jobs
			continue
		}
		least := testkit.LeastOnNodes(in)
		for n, s := range []model.Solver{batchexact.Kernel, ways[k%len(ways)]} {
			r := proved(t, s, in)
			if !same(r.Objective, least) {
				t.Fatalf("%v (way %d), by enumeration %v: %+v", r.Objective, n*(1+k%len(ways)), least, in)
			}
			if r.Nodes > 0 {
				searched++
			}
		}
	}
	if searched < require.Rounds(2000)/10 {
		t.Errorf("%d are searched", searched)
	}
}

// One model of starts and nodes together says the same, which shares neither placements nor nogoods about overlaps.
func TestNodesAgainstOneModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 9))
	rounds, agreed := require.Rounds(60), 0
	for k := range rounds {
		in := testkit.RandomNodes(rng, 5+rng.IntN(3))
		r := proved(t, batchexact.Kernel, in)
		least, conflicts := batchexact.Direct(t.Context(), in, 2*r.Objective, k%2 == 0, 5000)
		switch {
		case same(r.Objective, least):
			agreed++
		case least == least || conflicts < 5000:
			t.Fatalf("%v, by one model %v: %+v", r.Objective, least, in)
		}
	}
	if t.Logf("%d of %d agree", agreed, rounds); agreed < rounds/2 {
		t.Errorf("%d of %d are proved by one model", agreed, rounds)
	}
}

// eachNode calls a function with machines of nodes whose optimum the kernel proves, and that optimum.
func eachNode(t *testing.T, seed uint64, f func(rng *rand.Rand, in *model.Batch, optimum float64) (related bool)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 10))
	related := 0
	for range require.Rounds(20) {
		in := testkit.RandomNodes(rng, 8+rng.IntN(4))
		r, err := batchexact.Kernel.Solve(t.Context(), in, model.Settings{Effort: 300_000})
		require.OK(t, err)
		if r.Status == model.StatusOptimal && f(rng, in, r.Objective) {
			related++
		}
	}
	if related < require.Rounds(20)/4 {
		t.Errorf("the relation is seen on %d machines alone", related)
	}
}

// changed returns a copy whose nodes and needs may be changed.
func changed(in *model.Batch) *model.Batch {
	c := *in
	c.Nodes, c.Resources, c.Jobs = slices.Clone(in.Nodes), slices.Clone(in.Resources), slices.Clone(in.Jobs)
	for g := range c.Nodes {
		c.Nodes[g].Capacity = slices.Clone(c.Nodes[g].Capacity)
	}
	for k := range c.Jobs {
		needs := *c.Jobs[k].Needs
		needs.Each = slices.Clone(needs.Each)
		c.Jobs[k].Needs = &needs
	}
	return &c
}

// bounded returns the kernel's result within a limit; its bound and objective are around the optimum.
func bounded(t *testing.T, in *model.Batch) model.Result {
	t.Helper()
	r, err := batchexact.Kernel.Solve(t.Context(), in, model.Settings{Effort: 300_000})
	require.OK(t, err)
	accepted(t, in, r)
	return r
}

// Without walls between partitions no optimum is worse.
func TestNodesMerged(t *testing.T) {
	t.Parallel()
	eachNode(t, 1, func(_ *rand.Rand, in *model.Batch, optimum float64) bool {
		c, walls := changed(in), false
		for k := range c.Jobs {
			walls = walls || c.Jobs[k].Needs.Partitions != nil
			c.Jobs[k].Needs.Partitions = nil
		}
		if r := bounded(t, c); r.Bound > optimum*(1+1e-9) {
			t.Fatalf("merged, the bound is %v, before the optimum %v: %+v", r.Bound, optimum, in)
		}
		return walls
	})
}

// A resource that nobody is short of changes nothing, nor does another order of groups and names.
func TestNodesPlenty(t *testing.T) {
	t.Parallel()
	eachNode(t, 2, func(rng *rand.Rand, in *model.Batch, optimum float64) bool {
		c := changed(in)
		c.Resources = append(c.Resources, "disk")
		for g := range c.Nodes {
			c.Nodes[g].Capacity = append(c.Nodes[g].Capacity, 1000)
		}
		for k := range c.Jobs {
			c.Jobs[k].Needs.Each = append(c.Jobs[k].Needs.Each, rng.Int64N(10))
		}
		slices.Reverse(c.Nodes)
		r := bounded(t, c)
		if r.Bound > optimum*(1+1e-9) || r.Objective < optimum*(1-1e-9) {
			t.Fatalf("with plenty of a resource %v, bound %v, before %v: %+v", r.Objective, r.Bound, optimum, in)
		}
		return r.Status == model.StatusOptimal
	})
}

// Two nodes of half the size are never better than one: what fits on them fits on it, if no job spreads its processes
// or is alone.
func TestNodesSplit(t *testing.T) {
	t.Parallel()
	eachNode(t, 3, func(_ *rand.Rand, in *model.Batch, _ float64) bool {
		whole := changed(in)
		for k := range whole.Jobs {
			whole.Jobs[k].Needs.Spread, whole.Jobs[k].Needs.Exclusive = false, false
		}
		half := changed(whole)
		for g := range whole.Nodes {
			for x := range whole.Nodes[g].Capacity {
				whole.Nodes[g].Capacity[x] = 2 * half.Nodes[g].Capacity[x]
			}
			half.Nodes[g].Count *= 2
		}
		half.Processors *= 2
		a, b := bounded(t, whole), bounded(t, half)
		if a.Bound > b.Objective*(1+1e-9) {
			t.Fatalf("whole nodes have the bound %v, halves %v: %+v", a.Bound, b.Objective, whole)
		}
		return a.Objective < b.Bound*(1-1e-9) || a.Status == model.StatusOptimal && b.Status == model.StatusOptimal
	})
}

// Nodes of one unit of one resource are processors.
func TestNodesOfOneUnit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(require.Rounds(20)) {
		in := busy(rand.New(rand.NewPCG(seed, 11)), 6+int(seed%4), 6)
		want := solve(t, batchexact.Search, in).Objective
		c := *in
		c.Resources, c.Nodes = []string{"cpu"}, []model.NodeGroup{{ID: "a", Count: 1 + int(seed%2), Capacity: []int64{1}}}
		c.Nodes = append(c.Nodes, model.NodeGroup{ID: "b", Count: in.Processors - c.Nodes[0].Count, Capacity: []int64{1}})
		if c.Nodes[1].Count == 0 {
			c.Nodes = c.Nodes[:1]
		}
		c.Jobs = slices.Clone(in.Jobs)
		needs := &model.NodeNeeds{Each: []int64{1}, Spread: seed%3 == 0, Exclusive: seed%5 == 0}
		for k := range c.Jobs {
			c.Jobs[k].Needs = needs
		}
		if r := proved(t, batchexact.Kernel, &c); r.Objective != want {
			t.Fatalf("%v, on processors %v: %+v", r.Objective, want, in)
		}
	}
}

// A run is the same each time, threads change no proof, and a stopped one has a solution and a bound.
func TestNodesRuns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 12))
	for range require.Rounds(12) {
		in := testkit.RandomNodes(rng, 9)
		text := func(set model.Settings) string {
			r := require.Value(batchexact.Kernel.Solve(t.Context(), in, set))(t)
			accepted(t, in, r)
			return fmt.Sprint(r.Status, r.Objective, r.Bound, r.Nodes, string(require.Value(json.Marshal(r.Solution))(t)))
		}
		if a, b := text(model.Settings{}), text(model.Settings{}); a != b {
			t.Fatalf("%s and %s", a, b)
		}
		if a, b := text(model.Settings{Effort: 20_000}), text(model.Settings{Effort: 20_000}); a != b {
			t.Fatalf("%s and %s", a, b)
		}
		one, three := proved(t, batchexact.Kernel, in), require.Value(batchexact.Kernel.Solve(t.Context(), in, model.Settings{Threads: 3}))(t)
		if accepted(t, in, three); three.Status != one.Status || three.Objective != one.Objective {
			t.Fatalf("%v %v by one thread, %v %v by three: %+v", one.Status, one.Objective, three.Status, three.Objective, in)
		}
		ctx, stop := context.WithCancel(t.Context())
		r := require.Value(batchexact.Kernel.Solve(ctx, in, model.Settings{Progress: func(model.Progress) { stop() }}))(t)
		stop()
		if accepted(t, in, r); r.Solution == nil || r.Bound > one.Objective*(1+1e-9) || r.Objective < one.Objective*(1-1e-9) {
			t.Fatalf("stopped: %v, bound %v; the optimum is %v", r.Objective, r.Bound, one.Objective)
		}
	}
}

// Where it takes too long to tell whether jobs have nodes, nothing is claimed, and a proof proves as much as is claimed.
// Too many jobs are refused in a line.
func TestNodesUnknown(t *testing.T) {
	in := testkit.RandomNodes(rand.New(rand.NewPCG(50, 13)), 9)
	want := proved(t, batchexact.Kernel, in)
	if want.Nodes == 0 {
		t.Fatal("the bounds prove it")
	}
	defer batchexact.SetMostPlacing(batchexact.SetMostPlacing(3))
	r := require.Value(batchexact.Kernel.Solve(t.Context(), in, model.Settings{}))(t)
	if accepted(t, in, r); r.Status != model.StatusFeasible || r.Bound > want.Objective || !strings.Contains(r.Reason, "takes too long") {
		t.Errorf("%s %v, bound %v, %q; the optimum is %v", r.Status, r.Objective, r.Bound, r.Reason, want.Objective)
	}
	var proof bytes.Buffer
	hash := require.Value(model.Hash(in))(t)
	r = require.Value(batchexact.Kernel.Solve(t.Context(), in, model.Settings{Proof: &model.ProofWriter{Writer: &proof, Instance: hash}}))(t)
	if p := require.Value(verify.Proof(t.Context(), in, hash, &proof))(t); r.Status != model.StatusFeasible || p.Bound > want.Objective {
		t.Errorf("%s, it proves %v; the optimum is %v", r.Status, p.Bound, want.Objective)
	}
	in = testkit.RandomNodes(rand.New(rand.NewPCG(50, 14)), 41)
	r = require.Value(batchexact.Kernel.Solve(t.Context(), in, model.Settings{}))(t)
	if accepted(t, in, r); r.Status == model.StatusOptimal || !strings.Contains(r.Reason, "41 jobs, the kernel takes up to 40") {
		t.Errorf("%s, %q", r.Status, r.Reason)
	}
	_, err := batchexact.Kernel.Solve(t.Context(), in, model.Settings{Proof: new(model.ProofWriter)})
	require.Refused(t, "a proof", err, model.ErrUnsupported, "41 jobs")
}
