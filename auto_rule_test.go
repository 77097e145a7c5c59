// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/cpu"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
)

// ruleSizes are the sizes of the instances of TestAutoRule, by day one for each draw, in turn, and ruleLimit how much each
// run may work. GAPWISE_RULE has CPU time and other sizes, such as "2s 30 300 3000".
func ruleSizes(t *testing.T, turn int) (limit time.Duration, sizes []int) {
	t.Helper()
	given := strings.Fields(os.Getenv("GAPWISE_RULE"))
	if len(given) == 0 {
		if sizes = []int{30, 300}; !need.Night() {
			sizes = sizes[turn%2 : turn%2+1]
		}
		return 0, sizes
	}
	limit, err := time.ParseDuration(given[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range given[1:] {
		n, err := strconv.Atoi(x)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	return limit, sizes
}

// within solves an instance by one algorithm until so much CPU time is used, when nothing
// else may run in the process, or without a limit, until it has counted ruleEffort, which
// is the same on every machine.
func within(t *testing.T, in model.Instance, algorithm string, limit time.Duration) (model.Result, bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The limit is far away, but there is one: algorithms go on.
	o := gapwise.Options{Algorithm: algorithm, Settings: model.Settings{Seed: 1, TimeLimit: time.Hour, Threads: 1}}
	if began := cpu.Time(); limit > 0 {
		go func() {
			for ctx.Err() == nil {
				if cpu.Time()-began >= limit {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
	} else {
		o.Effort = ruleEffort
	}
	r, err := gapwise.Solve(ctx, in, o)
	if errors.Is(err, model.ErrUnsupported) || err == nil && r.Solution == nil {
		return r, false
	}
	if err != nil {
		t.Fatal(algorithm, err)
	}
	return r, true
}

// ruleEffort is about a second.
const ruleEffort = 1_000_000

// Auto is no worse than any single algorithm of its problem that may work as much, but
// for 5 %: half a second is little to share.
func TestAutoRule(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute of CPU")
	}
	turn := 0
	for _, p := range gapwise.Problems() {
		for variant, draw := range large[p.Kind] {
			limit, sizes := ruleSizes(t, turn)
			turn++
			for _, n := range sizes {
				if limit == 0 && p.Kind == model.KindTVC {
					n = min(n, 100) // a unit of its effort takes several times as long
				}
				t.Run(fmt.Sprintf("%s/%d/%d", p.Kind, variant, n), func(t *testing.T) {
					if limit == 0 {
						t.Parallel()
					}
					in := draw(rand.New(rand.NewPCG(uint64(n), 7)), n)
					auto, _ := within(t, in, "auto", limit)
					sense := model.SenseOf(in)
					var lines []string
					for _, a := range p.Algorithms {
						if strings.HasPrefix(a.Name, "highs") {
							continue
						}
						r, ok := within(t, in, a.Name, limit)
						if !ok {
							continue
						}
						lines = append(lines, fmt.Sprintf("%.6g %s", r.Objective, a.Name))
						if !sense.Better(r.Objective, auto.Objective) {
							continue
						}
						if gap := model.Gap(r.Objective, auto.Objective); gap > 0.05 {
							t.Errorf("auto %.6g, of %s; %s %.6g, %.1f %% better", auto.Objective, auto.SolutionOf, a.Name, r.Objective, 100*gap)
						} else if gap > 0.001 {
							t.Logf("auto %.6g, of %s; %s %.6g, %.2f %% better", auto.Objective, auto.SolutionOf, a.Name, r.Objective, 100*gap)
						}
					}
					slices.Sort(lines)
					t.Logf("auto %.6g, of %s, bound %.6g; %s", auto.Objective, auto.SolutionOf, auto.Bound, strings.Join(lines, ", "))
				})
			}
		}
	}
}
