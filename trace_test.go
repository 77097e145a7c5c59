// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// A run that reports its steps returns the same solution as one that doesn't; each of the steps has words. An algorithm
// without a trace is refused, and the four that have one are named.
func TestTraceChangesNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(51, 1))
	traced := 0
	for range require.Rounds(20) {
		for _, in := range []model.Instance{testkit.RandomDAG(rng, 12, 3), testkit.RandomReservation(rng, 12),
			testkit.RandomBatch(rng, 1, 6, 12), testkit.RandomBatch(rng, 2, 6, 12), testkit.RandomVCSched(rng, false), testkit.RandomVectors(rng, false),
			testkit.Consolidation(rng, 8, 5), testkit.RandomTVC(rng, 4, 8, false), testkit.RandomTVC(rng, 4, 8, true)} {
			for _, a := range gapwise.Algorithms(in.Kind()) {
				if a.Exact {
					continue
				}
				steps := 0
				o := gapwise.Options{Algorithm: a.Name}
				o.Trace = func(s model.Step) {
					if steps++; s.Words == "" || s.What == "" || strings.Contains(s.Words, "%!") {
						t.Fatalf("%s: %+v", a.Name, s)
					}
				}
				if !a.Traced {
					if err := o.Check(in.Kind()); !errors.Is(err, gapwise.ErrUnknownAlgorithm) || !strings.HasSuffix(err.Error(), "has no trace; these have one: easy (batch), heft (dag), adaba (tvc), mcb8 (vcsched)") {
						t.Fatalf("%s: %v", a.Name, err)
					}
					continue
				}
				traced++
				text := func(o gapwise.Options) string {
					r, err := gapwise.Solve(t.Context(), in, o)
					if errors.Is(err, model.ErrUnsupported) || errors.Is(err, model.ErrNoSolution) {
						return ""
					}
					require.OK(t, err)
					return string(require.Value(json.Marshal(r.Solution))(t))
				}
				with := text(o)
				o.Trace = nil
				if without := text(o); with != without {
					t.Fatalf("%s: with a trace %s, without %s", a.Name, with, without)
				}
				if steps == 0 && with != "" {
					t.Errorf("%s of %s told no step", a.Name, in.Kind())
				}
			}
		}
	}
	if traced == 0 {
		t.Error("nothing was traced")
	}
}

// HEFT's ranks and finish times of the example of Topcuoglu, Hariri and Wu 2002 (Table 3
// and Figure 3), as printed.
func TestTraceOfHEFTAsPrinted(t *testing.T) {
	t.Parallel()
	ranks := map[string]float64{"1": 108, "2": 77, "3": 80, "4": 80, "5": 69, "6": 63.333, "7": 42.667, "8": 35.667, "9": 44.333, "10": 14.667}
	finish := map[string]float64{"1": 9, "2": 40, "3": 28, "4": 26, "5": 38, "6": 42, "7": 49, "8": 62, "9": 68, "10": 80}
	o := gapwise.Options{Algorithm: "heft"}
	seen, order := 0, ""
	o.Trace = func(s model.Step) {
		switch s.What {
		case "rank":
			if v := s.Values[0].Value; v-ranks[s.Of] > 0.0005 || ranks[s.Of]-v > 0.0005 {
				t.Errorf("the rank of %s is %v, printed %v", s.Of, v, ranks[s.Of])
			}
			seen++
		case "order":
			order = s.Words
		case "place":
			if v := s.Values[len(s.Values)-1]; v.Name != "finish" || v.Value != finish[s.Of] {
				t.Errorf("task %s: %+v, printed %v", s.Of, s, finish[s.Of])
			}
			if s.Of == "1" && s.Words != "task 1: finishes at 14 on P1, 16 on P2, 9 on P3: P3, 0-9" {
				t.Error(s.Words)
			}
			seen++
		}
	}
	require.OK(t, require.Err(gapwise.Solve(t.Context(), testkit.TenTasks(), o)))
	if seen != 20 || order != "order: 1, 3, 4, 2, 5, 6, 9, 7, 8, 10" {
		t.Errorf("%d ranks and places, %s", seen, order)
	}
}
