package tvc_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
	"github.com/gapwise/gapwise/verify"
)

// solve runs a solver and has the judge check what it claims.
func solve(t *testing.T, s model.Solver, in *model.TVC) model.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), in, model.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, in, r)
	return r
}

func check(t *testing.T, in *model.TVC, r model.Result) {
	t.Helper()
	report, err := verify.Result(context.Background(), in, r, verify.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", r.Algorithm, err, text(in))
	}
}

func text(in *model.TVC) []byte {
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return b
}

// optimal reports whether a result is the optimum within the gap that a solver is
// allowed.
func optimal(r model.Result, want float64) bool {
	return r.Status == model.StatusOptimal && r.Objective <= want*(1+1e-12) && r.Objective >= want*(1-model.DefaultGap)
}

func TestSearchEqualsBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	n := 3000
	if testing.Short() {
		n = 300
	}
	for range n {
		in := modeltest.RandomTVC(rng, 2, 1+rng.IntN(6), false)
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		want, _ := modeltest.BruteTVC(t, in)
		r := solve(t, tvcexact.Search{}, in)
		if !optimal(r, want) {
			t.Fatalf("%s %v, brute force %v\n%s", r.Status, r.Objective, want, text(in))
		}
		if rng.IntN(4) == 0 {
			if h := solve(t, tvcexact.HiGHS{}, in); !optimal(h, want) {
				t.Fatalf("highs: %s %v, brute force %v\n%s", h.Status, h.Objective, want, text(in))
			}
		}
		all, err := tvcbounds.All(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			if b.Value < want*(1-1e-12) {
				t.Fatalf("bound %s is %v, brute force %v\n%s", b.Name, b.Value, want, text(in))
			}
		}
	}
}
