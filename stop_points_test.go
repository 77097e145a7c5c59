// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// An algorithm stopped after any effort returns its solution so far. A returned solution is feasible, and once it has
// one after an effort it has one after twice as much. Those that are cheap always have one, and all have one after some
// hundredths of a second.
func TestStopPoints(t *testing.T) {
	t.Parallel()
	const most = 1 << 16
	for _, p := range gapwise.Problems() {
		draws := slices.Concat(large[p.Kind], heavy[p.Kind])
		if p.Kind == model.KindDAG { // so many transfers at once that replays are stopped on their way
			draws = append(draws, func(rng *rand.Rand, n int) model.Instance {
				return drawnBy(p.Kind, "machines=8 platform=star transfers=fair")(rng, 2*n)
			})
		}
		for variant, draw := range draws {
			in := draw(rand.New(rand.NewPCG(uint64(variant), 24)), 200)
			cheap := model.Algorithm{Name: "first", Solver: p.First}
			for _, a := range slices.Concat([]model.Algorithm{cheap}, p.Algorithms) {
				if a.Exact || strings.HasPrefix(a.Name, "program-") || p.Kind == model.KindVCSched && strings.HasPrefix(a.Name, "rr") {
					continue // engines have a contract of their own; of the others some count little of their work
				}
				t.Run(fmt.Sprintf("%s/%d/%s", p.Kind, variant, a.Name), func(t *testing.T) {
					t.Parallel()
					var r model.Result
					had, ended := int64(0), false
					for effort := int64(1); effort <= most && !ended; effort *= 2 {
						err := meter.Within(t.Context(), effort, func(ctx context.Context) (err error) {
							r, err = a.Solver.Solve(ctx, in, model.Settings{Seed: 1, Threads: 1})
							ended = ctx.Err() == nil
							return err
						})
						if errors.Is(err, model.ErrUnsupported) {
							t.Skip(err)
						}
						require.OK(t, err, effort)
						if r.Solution == nil {
							if had > 0 || a.Name == "first" || cheapest(a) {
								t.Fatalf("no solution after %d, there was one after %d (0: none yet): %s", effort, had, r.Reason)
							}
							continue
						}
						had = effort
						report, err := verify.Verify(t.Context(), in, r.Solution, verify.Options{})
						if err != nil || !report.Feasible() {
							t.Fatalf("after %d: %v %v", effort, err, report.Err())
						}
					}
					if had == 0 && !ended {
						t.Errorf("no solution after %d: %s", most, r.Reason)
					}
				})
			}
		}
	}
}

// cheapest reports whether an algorithm has a solution from its beginning on: it places the remaining parts as they
// come.
func cheapest(a model.Algorithm) bool {
	return slices.Contains([]string{"fcfs", "sjf", "easy", "easy-sjbf", "easy-saf", "conservative", "spt", "list", "improve", "one-machine", "stay", "drain"}, a.Name)
}
