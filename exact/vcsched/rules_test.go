// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// vcschedSeed returns the seed in GAPWISE_SEED, or 1.
func vcschedSeed() uint64 {
	if k, err := strconv.Atoi(os.Getenv("GAPWISE_SEED")); err == nil {
		return uint64(k)
	}
	return 1
}

// solveVCSched solves and fails the test on an error or a result that the judge
// doesn't accept.
func solveVCSched(t *testing.T, s model.Solver, in *model.VCSched, set model.Settings) model.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), in, set)
	if err != nil {
		t.Fatalf("%s: %v: %s", s.Name(), err, asJSON(in))
	}
	if report, err := verify.Result(context.Background(), in, r, verify.Options{}); err != nil || !report.Feasible() {
		t.Fatalf("%s: %v %v: %s", s.Name(), report, err, asJSON(in))
	}
	return r
}

func asJSON(in *model.VCSched) string {
	b, _ := in.MarshalJSON()
	return string(b)
}

// same fails unless the result proves the right answer: infeasible, or the optimum, to the gap that counts as optimal.
func same(t *testing.T, what string, in *model.VCSched, r model.Result, want float64, feasible bool) {
	t.Helper()
	switch {
	case !feasible && r.Status != model.StatusInfeasible, feasible && r.Status != model.StatusOptimal,
		feasible && !(math.Abs(r.Objective-want) <= 1.01e-6*want) || feasible && r.Bound < want*(1-1e-9):
		t.Fatalf("%s: %s %.12g bound %.12g (%s), right is %.12g (feasible: %v): %s", what, r.Status, r.Objective, r.Bound, r.Reason, want, feasible, asJSON(in))
	}
}

// The test runs every family against the plain engine, with all rules and with each one off, by bin completion and by
// the host tree.
func TestVCSchedRulesAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(vcschedSeed(), 1))
	count := map[bool]int{}
	for k := range need.Rounds(200) {
		n, hosts := 3+rng.IntN(7), 1+rng.IntN(4)
		in := drawVCSched(rng, k%len(vcschedFamilies), n, hosts, rng.IntN(2) == 0, k/len(vcschedFamilies)%2 == 1)
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		want, ok := plain.Optimum(in)
		count[ok]++
		same(t, "all rules", in, solveVCSched(t, Search, in, model.Settings{Seed: 1}), want, ok)
		for _, d := range devices { // without the local search, which leaves the others little to do
			r := solveVCSched(t, Search.Off(d.Bit|devLocalSearch), in, model.Settings{Seed: 1})
			same(t, "without "+d.Name, in, r, want, ok)
		}
		r := solveVCSched(t, Search.Off(devCompletion|devLocalSearch), in, model.Settings{Seed: 1})
		same(t, "tree", in, r, want, ok)
		same(t, "kernel", in, solveVCSched(t, Kernel, in, model.Settings{Seed: 1}), want, ok)
		for _, d := range devices[k%len(devices) : k%len(devices)+1] {
			r := solveVCSched(t, Kernel.Off(d.Bit|devLocalSearch|devMoves|devColumns), in, model.Settings{Seed: 1})
			same(t, "kernel without "+d.Name, in, r, want, ok)
		}
	}
	t.Log(count)
	if min(count[true], count[false]) < need.Rounds(15) {
		t.Errorf("one-sided: %v", count)
	}
}

// The test runs each rule off, and HiGHS, at sizes that the plain engine doesn't reach.
func TestVCSchedRulesAtMiddleSize(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(vcschedSeed(), 2))
	count := map[string]int{}
	for k := range need.Rounds(6) {
		n, hosts := 12+rng.IntN(6), 2+rng.IntN(3)
		budget := k/len(vcschedFamilies)%4 == 3
		in := drawVCSched(rng, k%len(vcschedFamilies), n, hosts, rng.IntN(2) == 0, budget)
		set := model.Settings{Seed: 1, TimeLimit: 500 * time.Millisecond}
		long := model.Settings{Seed: 1, TimeLimit: 10 * time.Second} // for a busy machine
		r := solveVCSched(t, Search, in, long)
		if r.Status != model.StatusOptimal && r.Status != model.StatusInfeasible {
			count["undecided"]++
			continue
		}
		for _, d := range devices {
			if o := solveVCSched(t, Search.Off(d.Bit|devLocalSearch), in, set); o.Status == model.StatusOptimal || o.Status == model.StatusInfeasible {
				same(t, "without "+d.Name, in, o, r.Objective, r.Status == model.StatusOptimal)
				count["rule off"]++
			}
		}
		if o := solveVCSched(t, Kernel, in, long); o.Status == model.StatusOptimal || o.Status == model.StatusInfeasible {
			same(t, "kernel", in, o, r.Objective, r.Status == model.StatusOptimal)
			count["kernel"]++
		}
		// The plain engine looks for anything better.
		beat := math.NaN()
		if r.Solution != nil {
			beat = r.Objective * (1 + 1.01e-6)
		}
		if a, err := plain.Solve(in, beat, 2_000_000); err != nil || a.Solution != nil {
			t.Fatalf("%s %v, the plain engine has %v (%v): %s", r.Status, r.Objective, a.Value, err, asJSON(in))
		} else if a.Whole {
			count["plain"]++
		}
		if !highs.Available() {
			continue
		}
		if o := solveVCSched(t, Linear(highs.Backend, ""), in, long); o.Status == model.StatusOptimal || o.Status == model.StatusInfeasible {
			same(t, "highs", in, o, r.Objective, r.Status == model.StatusOptimal)
			count["highs"]++
		}
	}
	t.Log(count)
	if count["rule off"] == 0 || count["kernel"] == 0 || (highs.Available() && need.Rounds(6) == 6 && count["highs"] == 0) || count["plain"] == 0 {
		t.Errorf("nothing compared: %v", count)
	}
}

// The test runs the kernel against the host tree with a budget: with local search and bounds, and without any of them.
func TestKernelAgainstTree(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(vcschedSeed(), 5))
	compared := 0
	for k := range need.Rounds(150) {
		in := drawVCSched(rng, k%len(vcschedFamilies), 8+rng.IntN(4), 2+rng.IntN(3), rng.IntN(2) == 0, true)
		r := solveVCSched(t, Phases()[1], in, model.Settings{Seed: 1, TimeLimit: 5 * time.Second})
		if r.Status != model.StatusOptimal && r.Status != model.StatusInfeasible {
			continue
		}
		compared++
		for _, off := range []deviceSet{0, devLocalSearch | devMoves | devColumns, devLocalSearch | devTwins | devHosts | devPacking} {
			same(t, "kernel", in, solveVCSched(t, Kernel.Off(off), in, model.Settings{Seed: 1}), r.Objective, r.Status == model.StatusOptimal)
		}
	}
	if compared < need.Rounds(100) {
		t.Errorf("%d compared", compared)
	}
}
