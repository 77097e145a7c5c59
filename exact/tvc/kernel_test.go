// SPDX-License-Identifier: MIT

package tvc_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// kernelWithout returns the kernel without some devices.
func kernelWithout(t testing.TB, names ...string) model.Solver {
	t.Helper()
	s, err := tvcexact.Kernel.Without(names...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The kernel finds the plain engine's results on two pods, whole and without devices.
func TestKernelAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 1))
	for k := range need.Rounds(600) {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false)
		want, _ := plain.Optimum(in)
		s := model.Solver(tvcexact.Kernel)
		switch k % 4 {
		case 1:
			s = kernelWithout(t, "siblings")
		case 2:
			s = kernelWithout(t, "totals")
		case 3:
			s = kernelWithout(t, "siblings", "totals", "phases")
		}
		if r := solve(t, s, in, model.Settings{}); !optimal(r, want) {
			t.Fatalf("%s %v (%s), the optimum is %v\n%s", r.Status, r.Objective, r.Reason, want, text(in))
		}
	}
}

// The kernel and the search agree on four pods, where requests have a choice of routes.
func TestKernelSearch(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 2))
	for k := range need.Rounds(60) {
		in := testkit.RandomTVC(rng, 4, 2+rng.IntN(4), false)
		if k%2 == 0 {
			in = drawn(t, rng, 4+rng.IntN(4))
		}
		r := solve(t, tvcexact.Search, in, model.Settings{})
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		x, err := tvcexact.Kernel.Solve(ctx, in, model.Settings{})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		check(t, in, x)
		if x.Status == model.StatusOptimal && !(optimal(x, r.Objective) || optimal(r, x.Objective)) || x.Bound < r.Objective*(1-1e-9) || r.Bound < x.Objective*(1-1e-9) {
			t.Fatalf("search %v ≤ %v, kernel %v ≤ %v\n%s", r.Objective, r.Bound, x.Objective, x.Bound, text(in))
		}
	}
}

// A start isn't made worse, a stopped kernel returns its best result, and queues and large models are refused.
func TestKernelSettings(t *testing.T) {
	t.Parallel()
	in := drawn(t, rand.New(rand.NewPCG(21, 3)), 8)
	best := solve(t, tvcexact.Search, in, model.Settings{})
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := tvcexact.Kernel.Solve(stopped, in, model.Settings{Start: best.Solution}); err != nil || r.Objective < best.Objective || r.Bound < best.Objective {
		t.Errorf("%v: from %v comes %v ≤ %v", err, best.Objective, r.Objective, r.Bound)
	}
	if _, err := tvcexact.Kernel.Solve(context.Background(), testkit.RandomTVC(rand.New(rand.NewPCG(11, 4)), 2, 3, true), model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("queue mode: %v", err)
	}
	s := instances.NewTVCSpec()
	s.Requests, s.K, s.Load, s.Fabric = 400, 8, 2, model.FabricOnePath
	large, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if r := solve(t, tvcexact.Kernel, large, model.Settings{}); r.Status != model.StatusFeasible || !(r.Bound >= r.Objective) || !strings.Contains(r.Reason, "60000") {
		t.Errorf("%s, %v ≤ %v, reason %q; want feasible with a bound and the reason", r.Status, r.Objective, r.Bound, r.Reason)
	}
}

// Each device of the model is worth its lines: without it there are more conflicts.
// Siblings in order cost some where packing is easy.
func TestKernelDevices(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		device   string
		requests int
		seeds    []uint64
	}{
		{"siblings", 20, []uint64{4, 7}},
		{"totals", 7, []uint64{3}},
	} {
		whole, without := int64(0), int64(0)
		for _, seed := range x.seeds {
			in := drawn(t, rand.New(rand.NewPCG(seed, 77)), x.requests)
			whole += solve(t, tvcexact.Kernel, in, model.Settings{}).Nodes
			without += solve(t, kernelWithout(t, x.device), in, model.Settings{}).Nodes
		}
		t.Logf("without %s: %d nodes, with all %d", x.device, without, whole)
		if without <= whole {
			t.Errorf("without %s the kernel meets %d conflicts, with all %d", x.device, without, whole)
		}
	}
}
