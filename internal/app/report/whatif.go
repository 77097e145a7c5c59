// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// whatIf is today's machine and its changed versions, on the same jobs.
type whatIf struct {
	cases  []*whatIfCase  // today first
	blocks [][]int32      // the jobs of each block of time, for intervals
	block  string         // the unit of a block: "week"; "" if there are too few
	draws  [][]int32      // resampled blocks
	effort int64          // of the clairvoyant's search
	log    *whatIfCase    // the log's own scheduler; nil: unknown
	held   [2]*whatIfCase // today and the log, by the jobs that no replay is fitted on; nil: there are none
	today  backtest       // with a log
	fitted bool           // today is the replay that fits the log
	// nodeCost is the price of a processor, or of a node, for an hour; 0: unknown.
	nodeCost float64
	// unit is that in which waits and responses are shown, and has so many seconds.
	unit    string
	seconds float64
	unran   string   // why the log's own scheduler isn't known, "" without a log
	left    []string // the changes that have no case: the context ended before theirs did
}

// whatIfCase is one of them: a policy on an instance, and the best possible there.
type whatIfCase struct {
	Change
	name      string
	in        *model.Batch
	run       Run
	seer      Run    // the best known of the instance, with the bound: full knowledge can copy any policy
	replay    replay // as which the policy runs
	waits     []float64
	responses []float64
	slowdowns []float64
	areas     []float64
	ends      []float64
}

// DefaultPolicy is today's policy, unless another is given or fits the log.
const DefaultPolicy = "easy"

// DefaultEffort is the effort (model.Settings.Effort) of the clairvoyant's search, unless another is given.
const DefaultEffort = 3_000_000

// resamples is how many times the blocks are drawn.
const resamples = 1000

// fewestBlocks is how many blocks make an interval.
const fewestBlocks = 10

// WhatIf runs a policy on the jobs of a machine as it is and with each change. It writes the page (to w) and a summary
// of 80 columns (to text), with jobs paired. Once today is known, a context that ends leaves out the changes that
// remain. Differences have 95 % intervals by a block bootstrap (Künsch: The Jackknife and the Bootstrap for General Stationary Observations, 1989): weeks of submissions are drawn with
// replacement, the same for all. The best solution that a search with the runtimes finds in a stated effort, and the
// bound, are given with each. The error wraps model.ErrInvalid for a change that isn't possible, and
// model.ErrUnsupported for a machine of two tiers. Without a policy, today is the replay that fits the log (see fit).
func WhatIf(ctx context.Context, w, text io.Writer, today *model.Batch, policy string, changes []Change, log *Log, s Solving, o Options) error {
	x, err := s.whatIf(ctx, today, policy, changes, log)
	if err != nil {
		return err
	}
	if text != nil {
		if err := x.text(text); err != nil {
			return err
		}
	}
	return x.page(w, log, o)
}

// whatIf solves all cases, those before the context ends if today is one of them.
func (s Solving) whatIf(ctx context.Context, today *model.Batch, policy string, changes []Change, log *Log) (*whatIf, error) {
	if today.Tiers != 1 {
		return nil, fmt.Errorf("%w: what-ifs are of machines with one tier; give --tiers 1", model.ErrUnsupported)
	}
	if len(today.Jobs) == 0 {
		return nil, fmt.Errorf("%w: there are no jobs", model.ErrInvalid)
	}
	if s.TimeLimit == 0 {
		s.TimeLimit = DefaultTimeLimit
	}
	if s.Effort == 0 {
		s.Effort = DefaultEffort
	}
	x := &whatIf{effort: s.Effort, nodeCost: s.NodeCost, cases: []*whatIfCase{{name: "today", in: today}}}
	x.divide()
	if err := s.ofLog(ctx, x, log, policy); err != nil {
		return nil, err
	}
	for _, c := range changes {
		in, err := c.apply(today)
		if err != nil {
			return nil, err
		}
		x.cases = append(x.cases, &whatIfCase{Change: c, name: c.Text, in: in})
	}
	for k, c := range x.cases {
		if c.replay = x.today.replay; c.Policy != "" {
			c.replay.policy = c.Policy
		}
		c.Policy = c.replay.policy
		if c.Estimates == "" {
			c.Estimates = estimatesUsers
		}
		if c.Estimates == estimatesPredicted && strings.Contains(c.Policy, ":") {
			return nil, fmt.Errorf("%w: what-if %q: %s is another program, which predicts for itself", model.ErrUnsupported, c.name, c.Policy)
		}
		if err := s.solveCase(ctx, c); err != nil && k > 0 && ctx.Err() != nil {
			for _, left := range x.cases[k:] {
				x.left = append(x.left, left.name)
			}
			x.cases = x.cases[:k]
			break
		} else if err != nil {
			return nil, err
		}
		s.say("%d of %d: %s, mean response time %s", k+1, len(x.cases), c.name, words.Duration(*c.run.Objective))
	}
	x.share()
	x.draw(s.Seed)
	if _, held := x.halves(); x.log != nil && len(held) > 0 {
		x.held = [2]*whatIfCase{x.cases[0].some(held), x.log.some(held)}
	}
	var times []float64
	for _, m := range whatIfMeasures {
		for _, c := range x.all() {
			if m.unit == "s" {
				times = append(times, m.valueOf(c))
			}
		}
	}
	x.unit, x.seconds = words.UnitFor(times)
	return x, nil
}

// ofLog sets the log's own scheduler beside the cases, and chooses the replay that is today: the policy or, if none is
// given and the log tells its schedule, the one that fits it.
func (s Solving) ofLog(ctx context.Context, x *whatIf, log *Log, policy string) error {
	x.today.policy = cmp.Or(policy, DefaultPolicy)
	if log == nil {
		return nil
	}
	if x.unran = log.Unran; log.Ran == nil {
		return nil
	}
	in := x.cases[0].in
	run, err := s.ran(ctx, gapwise.NewCase(in), log)
	if err != nil {
		return err
	}
	x.log = &whatIfCase{name: gapwise.LogAlgorithm, Change: Change{Policy: gapwise.LogAlgorithm}, in: in, run: *run, seer: *run}
	if err := x.log.measure(); err != nil || policy != "" {
		return err
	}
	x.fitted = true
	x.today, err = s.fit(ctx, x)
	return err
}

// share gives the cases of one instance, which differ in the policy, the best that is known of it and the best bound.
func (x *whatIf) share() {
	all := x.all()
	for _, c := range x.cases {
		for _, o := range all {
			if o.seer.Hash != c.seer.Hash {
				continue
			}
			bound := c.seer.Bound
			if *o.seer.Objective < *c.seer.Objective {
				c.seer = o.seer
			}
			if c.seer.Bound = bound; runs.Number(o.seer.Bound) > runs.Number(bound) || bound == nil {
				c.seer.Bound = o.seer.Bound
			}
		}
	}
}

// solveCase runs the policy of a case, and searches for the best possible.
func (s Solving) solveCase(ctx context.Context, c *whatIfCase) error {
	online := gapwise.Options{Algorithm: c.Policy, Settings: model.Settings{Seed: s.Seed, TimeLimit: s.TimeLimit}}
	if c.Estimates == estimatesPredicted {
		online.Parameters = &model.BatchParameters{Prediction: model.BatchPredictionLastTwo}
	}
	whole := gapwise.Options{Algorithm: "auto", Settings: model.Settings{Seed: s.Seed, Effort: s.Effort, TimeLimit: s.TimeLimit}}
	one, features := gapwise.NewCase(c.in), runs.FeatureValues(c.in)
	for _, way := range []struct {
		to *Run
		gapwise.Options
	}{{&c.run, online}, {&c.seer, whole}} {
		if ctx.Err() != nil {
			return fmt.Errorf("what-if %q: stopped before its end: %w", c.name, ctx.Err())
		}
		if way.to == &c.seer {
			way.Start = c.run.Solution // the result is never worse
		}
		if way.to == &c.run && !c.replay.plain() {
			e, err := c.replay.run(ctx, c.in, way.Options)
			if err != nil {
				return fmt.Errorf("what-if %q: %w", c.name, err)
			}
			way.Solver = runs.Given{Label: c.Policy, Solution: e}
		}
		x, err := benchmarks.Solve(ctx, one, features, way.Options)
		if err == nil {
			err = x.Declined
		}
		if err == nil && x.Result.Solution == nil {
			err = fmt.Errorf("%w: %s: %s", model.ErrNoSolution, x.Record.Algorithm, x.Record.Reason)
		}
		if err != nil {
			return fmt.Errorf("what-if %q: %w", c.name, err)
		}
		*way.to = Run{Record: x.Record, Instance: c.in, Solution: x.Result.Solution}
	}
	return c.measure()
}

// measure sets the figures of each job.
func (c *whatIfCase) measure() error {
	all, err := c.in.Outcomes(c.run.Solution)
	if err != nil {
		return err
	}
	for k := range all {
		j := &all[k]
		c.waits, c.responses, c.slowdowns = append(c.waits, j.StartS-j.SubmitS), append(c.responses, j.Response()), append(c.slowdowns, j.Slowdown())
		c.areas, c.ends = append(c.areas, float64(float64(j.Processes)*j.WorkS)), append(c.ends, j.EndS)
	}
	return nil
}

// divide divides the jobs by the weeks of their submissions today or, if these are fewer
// than fewestBlocks, by days.
func (x *whatIf) divide() {
	jobs := x.cases[0].in.Jobs
	for _, b := range []struct {
		name    string
		seconds float64
	}{{"week", 7 * 86400}, {"day", 86400}} {
		x.blocks, x.block = nil, b.name
		last := -1.0
		for k := range jobs {
			if at := math.Floor((jobs[k].SubmitS - jobs[0].SubmitS) / b.seconds); at != last {
				x.blocks, last = append(x.blocks, nil), at
			}
			x.blocks[len(x.blocks)-1] = append(x.blocks[len(x.blocks)-1], int32(k))
		}
		if len(x.blocks) >= fewestBlocks {
			return
		}
	}
	x.block = ""
}

// draw resamples the blocks.
func (x *whatIf) draw(seed uint64) {
	if x.block == "" {
		return
	}
	rng := rand.New(rand.NewPCG(seed, 27))
	for range resamples {
		some := make([]int32, len(x.blocks))
		for k := range some {
			some[k] = int32(rng.IntN(len(x.blocks)))
		}
		x.draws = append(x.draws, some)
	}
}

// whatIfMeasure is a figure of a case.
type whatIfMeasure struct {
	name, unit string
	// values and weights of jobs make a mean or, with a percent above 0, a percentile; without values the figure comes
	// from the record's metrics.
	values  func(*whatIfCase) []float64
	weights func(*whatIfCase) []float64
	percent int
	metric  string
	seconds float64 // of the unit of a time; 0: 1
}

// The figures of what-ifs that are goals, too.
var (
	meanWait     = whatIfMeasure{name: "mean wait", unit: "s", values: func(c *whatIfCase) []float64 { return c.waits }}
	lateWait     = whatIfMeasure{name: "95 % wait at most", unit: "s", percent: 95, values: func(c *whatIfCase) []float64 { return c.waits }}
	meanResponse = whatIfMeasure{name: "mean response", unit: "s", values: func(c *whatIfCase) []float64 { return c.responses }}
)

// whatIfMeasures are the figures of all machines; those of processors or of nodes are in measures.
var whatIfMeasures = []whatIfMeasure{
	meanWait,
	{name: "median wait", unit: "s", percent: 50, values: func(c *whatIfCase) []float64 { return c.waits }},
	lateWait,
	{name: "mean wait by area", unit: "s", values: func(c *whatIfCase) []float64 { return c.waits }, weights: func(c *whatIfCase) []float64 { return c.areas }},
	meanResponse,
	{name: "mean slowdown", values: func(c *whatIfCase) []float64 { return c.slowdowns }},
	{name: "95 % slowdown at most", percent: 95, values: func(c *whatIfCase) []float64 { return c.slowdowns }},
}

// measures returns the figures of the machine, of processors or of nodes.
func (x *whatIf) measures() []whatIfMeasure {
	in, all := x.cases[0].in, slices.Clone(whatIfMeasures)
	for k := range all {
		if all[k].unit == "s" {
			all[k].unit, all[k].seconds = x.unit, x.seconds
		}
	}
	if len(in.Nodes) == 0 {
		return append(all,
			whatIfMeasure{name: "started unfairly", unit: "%", metric: "unfair %"},
			whatIfMeasure{name: "utilisation, steady", unit: "%", metric: "steady utilisation"})
	}
	for _, name := range in.Resources {
		all = append(all, whatIfMeasure{name: "use of " + name + ", steady", unit: "%", metric: runs.SteadyUse(name)})
	}
	return all
}

// title returns the name with its unit.
func (m *whatIfMeasure) title() string {
	if m.unit == "" {
		return m.name
	}
	return m.name + " (" + m.unit + ")"
}

// valueOf returns the figure of a case.
func (m *whatIfMeasure) valueOf(c *whatIfCase) float64 {
	if m.values == nil {
		if y, ok := c.run.Metrics[m.metric]; ok {
			return y
		}
		return math.NaN()
	}
	x := m.values(c)
	if m.percent > 0 {
		x = slices.Sorted(slices.Values(x))
		return x[(m.percent*len(x)+99)/100-1] / cmp.Or(m.seconds, 1)
	}
	return mean(x, m.weightsOf(c)) / cmp.Or(m.seconds, 1)
}

func (m *whatIfMeasure) weightsOf(c *whatIfCase) []float64 {
	if m.weights == nil {
		return nil
	}
	return m.weights(c)
}

// mean returns the weighted mean; nil: all weigh the same.
func mean(x, weights []float64) float64 {
	if weights == nil {
		return stats.Mean(x)
	}
	sum, all := 0.0, 0.0
	for k := range x {
		sum, all = sum+float64(x[k]*weights[k]), all+weights[k] // rounded, not fused
	}
	return sum / all
}

// mostResampled bounds the jobs for resampled percentiles: these take their number times resamples.
const mostResampled = 300_000

// interval returns the ends of the 95 % interval of the figure of a case less today's; NaN
// without one.
func (x *whatIf) interval(m *whatIfMeasure, c *whatIfCase) (low, high float64) {
	today := x.cases[0]
	var differences []float64
	switch {
	case x.block == "" || m.values == nil || m.percent > 0 && len(today.waits) > mostResampled:
		return math.NaN(), math.NaN()
	case m.percent > 0:
		a, b := x.percentiles(m.values(c), m.percent), x.percentiles(m.values(today), m.percent)
		for k := range a {
			differences = append(differences, a[k]-b[k])
		}
	default:
		sums, weights := make([]float64, len(x.blocks)), make([]float64, len(x.blocks))
		after, before, weight := m.values(c), m.values(today), m.weightsOf(today)
		for b, some := range x.blocks {
			for _, k := range some {
				w := 1.0
				if weight != nil {
					w = weight[k]
				}
				sums[b] += float64(w * (after[k] - before[k]))
				weights[b] += w
			}
		}
		for _, some := range x.draws {
			sum, all := 0.0, 0.0
			for _, b := range some {
				sum, all = sum+sums[b], all+weights[b]
			}
			differences = append(differences, sum/all)
		}
	}
	unit := cmp.Or(m.seconds, 1)
	return stats.Quantile(0.025, differences) / unit, stats.Quantile(0.975, differences) / unit
}

// some returns a case with some of the jobs alone.
func (c *whatIfCase) some(jobs []int32) *whatIfCase {
	x := &whatIfCase{}
	for _, k := range jobs {
		x.waits, x.responses = append(x.waits, c.waits[k]), append(x.responses, c.responses[k])
		x.slowdowns, x.areas = append(x.slowdowns, c.slowdowns[k]), append(x.areas, c.areas[k])
	}
	return x
}

// off returns the error of today's replay: the figure of the jobs that no replay is fitted on, less the log's; of figures
// of the whole machine, that of all jobs. NaN if it isn't known.
func (x *whatIf) off(m *whatIfMeasure) float64 {
	if x.held[0] == nil {
		return math.NaN()
	}
	if m.values == nil {
		return m.valueOf(x.cases[0]) - m.valueOf(x.log)
	}
	return m.valueOf(x.held[0]) - m.valueOf(x.held[1])
}

// percentiles returns a percentile of the values of the jobs in each draw of blocks.
func (x *whatIf) percentiles(values []float64, percent int) (all []float64) {
	blockOf := make([]int32, len(values))
	for b, some := range x.blocks {
		for _, k := range some {
			blockOf[k] = int32(b)
		}
	}
	sorted := order.By(order.Of[int32](len(values)), values)
	times := make([]int, len(x.blocks))
	for _, some := range x.draws {
		clear(times)
		total := 0
		for _, b := range some {
			times[b]++
			total += len(x.blocks[b])
		}
		need := (percent*total + 99) / 100
		for _, k := range sorted {
			if need -= times[blockOf[k]]; need <= 0 {
				all = append(all, values[k])
				break
			}
		}
	}
	return all
}

// proved returns limits of the change of the optimum from today, the best mean response that any schedule has: each
// optimum is between its bound and the best known. A machine that can do more has all of today's schedules, so its
// optimum isn't above today's. NaN without bounds.
func (x *whatIf) proved(c *whatIfCase) (low, high float64) {
	today := x.cases[0]
	low, high = c.bound()-*today.seer.Objective, *c.seer.Objective-today.bound()
	switch {
	case c.keeps():
		return 0, 0
	case c.loosens(today.in):
		low, high = min(low, 0), min(high, 0)
	}
	// Rounding errors are no change.
	for _, y := range []*float64{&low, &high} {
		if math.Abs(*y) <= 1e-9**today.seer.Objective {
			*y = 0
		}
	}
	return low, high
}

// bound returns the bound of a case's mean response, NaN without one.
func (c *whatIfCase) bound() float64 {
	best := math.NaN()
	for _, r := range []Run{c.run, c.seer} {
		if y := runs.Number(r.Bound); !math.IsNaN(y) && !(best >= y) {
			best = y
		}
	}
	return best
}
