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
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/run/cpu"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// rule is how much each run of TestAutoRule may work, in effort or CPU time, and the sizes of its instances.
type rule struct {
	efforts []int64
	limits  []time.Duration
	sizes   []int
}

// rules are the everyday rules: limits of about 0.1 s and 1 s. GAPWISE_RULE has others, such as "3000000,10000000
// 100000" in effort or "0.1s,2s 30 300 3000" in CPU time.
func rules(t *testing.T) []rule {
	t.Helper()
	given := strings.Fields(os.Getenv("GAPWISE_RULE"))
	if len(given) == 0 {
		return []rule{{efforts: []int64{1_000_000}, sizes: []int{30, 300}}, {efforts: []int64{100_000, 1_000_000}, sizes: []int{1000, 10_000}}}
	}
	var r rule
	for _, x := range strings.Split(given[0], ",") {
		if n, err := strconv.ParseInt(x, 10, 64); err == nil {
			r.efforts = append(r.efforts, n)
		} else if d, err := time.ParseDuration(x); err == nil {
			r.limits = append(r.limits, d)
		} else {
			t.Fatal(err)
		}
	}
	for _, x := range given[1:] {
		r.sizes = append(r.sizes, require.Value(strconv.Atoi(x))(t))
	}
	return []rule{r}
}

// within returns a context that ends when so much CPU time is used, when nothing else may run in the process.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	began := cpu.Time()
	go func() {
		for ctx.Err() == nil {
			if cpu.Time()-began >= limit {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return ctx, cancel
}

// contender holds an algorithm's result at the end of its limit, and the effort after which it had ended by itself.
type contender struct {
	name string
	model.Result
	ended bool
	spent int64
}

// contend runs an algorithm by itself.
func contend(t *testing.T, in model.Instance, a *model.Algorithm, effort int64, limit time.Duration) (c contender, ok bool) {
	t.Helper()
	ctx, cancel := t.Context(), func() {}
	if limit > 0 {
		ctx, cancel = within(ctx, limit)
		effort = 1 << 50
	}
	defer cancel()
	c.name = a.Name
	var err error
	c.spent, err = meter.Spend(ctx, effort, func(ctx context.Context) (err error) {
		// The time limit is far away, but there is one: algorithms go on.
		c.Result, err = a.Solver.Solve(ctx, in, model.Settings{Seed: 1, TimeLimit: time.Hour, Threads: 1})
		c.ended = ctx.Err() == nil
		return err
	})
	if errors.Is(err, model.ErrUnsupported) {
		return c, false
	}
	require.OK(t, err, a.Name)
	return c, c.Solution != nil
}

// Auto is no worse than any single algorithm of its problem that may work as much, but
// for 5 %: half a second is little to share. For algorithms that come to an end this holds at every limit within which
// they do.
func TestAutoRule(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes of CPU")
	}
	for _, r := range rules(t) {
		for _, p := range gapwise.Problems() {
			for variant, draw := range slices.Concat(large[p.Kind], heavy[p.Kind]) {
				for _, n := range r.sizes {
					if p.Kind == model.KindTVC && len(r.limits) == 0 { // some count a request as another does, and take a hundred times as long
						n = min(n, max(100, n/10))
					}
					t.Run(fmt.Sprintf("%s/%d/%d", p.Kind, variant, n), func(t *testing.T) {
						if len(r.limits) == 0 {
							t.Parallel()
						}
						in := draw(rand.New(rand.NewPCG(uint64(n), 7)), n)
						ended := map[string]contender{}
						for k := range r.efforts { // the largest first: a solver that ends within it ends within less, too, or not at all
							r.holds(t, in, p, r.efforts[len(r.efforts)-1-k], 0, ended)
						}
						for _, limit := range r.limits {
							r.holds(t, in, p, 0, limit, ended)
						}
					})
				}
			}
		}
	}
}

// The same holds on a log with a rollout that takes longer than many limits: 28,475 jobs of KTH.
func TestAutoRuleOfLog(t *testing.T) {
	if !require.Night() {
		t.Skip("takes a minute of CPU, at night")
	}
	p := require.Value(gapwise.ProblemOf(model.KindBatch))(t)
	log := require.Value(instances.LoadLog(require.Data(t, "swf", "KTH-SP2-1996-2.1-cln.swf.gz"), instances.LogOptions{}))(t)
	spec := instances.NewBatchSpec()
	spec.Tiers, spec.Jobs = 1, 0
	in, _ := require.Pair(instances.FromSWF(&spec, "kth", log, instances.SWFJobs{Seed: 1}))(t)
	r := rule{efforts: []int64{6_000_000, 4_000_000, 3_000_000, 2_000_000, 1_000_000}, sizes: []int{28_475}}
	ended := map[string]contender{}
	for _, effort := range r.efforts {
		r.holds(t, in, p, effort, 0, ended)
	}
}

// holds compares auto with each algorithm by one limit. ended are those that have ended within a larger one.
func (r *rule) holds(t *testing.T, in model.Instance, p *gapwise.Problem, effort int64, limit time.Duration, ended map[string]contender) {
	t.Helper()
	ctx, cancel := t.Context(), func() {}
	if limit > 0 {
		ctx, cancel = within(ctx, limit)
	}
	auto, err := gapwise.Solve(ctx, in, gapwise.Options{Algorithm: "auto", Settings: model.Settings{Seed: 1, TimeLimit: time.Hour, Threads: 1, Effort: effort}})
	cancel()
	require.OK(t, err)
	sense := model.SenseOf(in)
	var lines []string
	for k := range p.Algorithms {
		a := &p.Algorithms[k]
		if a.Exact && (strings.HasPrefix(a.Name, "highs") || slices.Min(r.sizes) >= 1000) {
			continue
		}
		c, ok := ended[a.Name]
		if ok && c.spent > effort {
			continue // it doesn't keep this limit
		}
		if !ok {
			if c, ok = contend(t, in, a, effort, limit); !ok {
				continue
			}
			if c.ended && effort > 0 {
				ended[a.Name] = c
			}
			if !c.ended && !a.Seeded {
				continue
			}
		}
		lines = append(lines, fmt.Sprintf("%.6g %s", c.Objective, c.name))
		gap := 0.0
		if auto.Solution == nil {
			gap = 1
		} else if sense.Better(c.Objective, auto.Objective) {
			gap = model.Gap(c.Objective, auto.Objective)
		}
		if gap > 0.05 {
			t.Errorf("effort %d, time %v: auto %.6g, of %s; %s %.6g, %.1f %% better", effort, limit, auto.Objective, auto.SolutionOf, c.name, c.Objective, 100*gap)
		} else if gap > 0.001 {
			t.Logf("effort %d, time %v: auto %.6g, of %s; %s %.6g, %.2f %% better", effort, limit, auto.Objective, auto.SolutionOf, c.name, c.Objective, 100*gap)
		}
	}
	slices.Sort(lines)
	t.Logf("effort %d, time %v: auto %.6g, of %s, bound %.6g; %s", effort, limit, auto.Objective, auto.SolutionOf, auto.Bound, strings.Join(lines, ", "))
}
