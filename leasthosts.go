// SPDX-License-Identifier: MIT

package gapwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// HostCount is the result of LeastHosts.
type HostCount struct {
	Hosts int // of the best placement
	Bound int // proved: no placement has fewer hosts
	// Proof states how Bound is known, and Reason why it isn't Hosts; "" if it is.
	Proof, Reason string
	// Instance is the given one with that many hosts. Result is a placement on them in which each job gets all the CPU
	// that it needs. The judge has checked it.
	Instance *model.VCSched
	Result   model.Result
	Nodes    int64 // of all decisions
	Elapsed  time.Duration
}

// Gap returns the gap between Hosts and Bound, see model.Gap.
func (h HostCount) Gap() float64 { return model.Gap(float64(h.Hosts), float64(h.Bound)) }

// LeastHosts looks for the least number of hosts on which every job runs at the yield 1;
// where no job needs CPU that is vector bin packing. How many hosts the instance has
// doesn't matter. They must be equal (model.ErrUnsupported otherwise, and for a migration
// budget); the current hosts of jobs are forgotten.
//
// It holds a lower and an upper bound of the number and narrows them until they meet:
//
//  1. from below, the sums of the needs, then dual-feasible functions and conflicts
//     (vcbounds.LeastHosts), in a quarter of the time at most;
//  2. from above, first fit in the order of three sizes, O(n log n), then MCB8 … MCB1;
//  3. from below, column generation over host patterns (vcbounds.Patterns), for two thirds of the time left, and from
//     above, placements of these for three quarters of the rest;
//  4. from above, local search on one host less, from the best placement with one host
//     cleared, as long as it finds a placement, for a quarter of the time that is left;
//  5. the algorithm of the options (auto: the native search) decides for the lower bound whether there is a placement;
//     "infeasible" raises it, a placement ends all;
//  6. the same from above, if time has run out for a decision from below.
//
// If Options.Patience is set, it doesn't wait longer than that for a part that goes on after the end of ctx: the answer
// is the knowledge so far. A time limit covers all of it (AutoTimeLimit with the algorithm auto and none given), and so
// does a limit on the effort. Step 5 gives at most half of the time and effort left to a decision while others remain.
// The options Start, Bounds, Proof and Trace aren't used; Progress receives the two bounds.
//
// Errors are as for Solve. If each task fits on a host by itself, there is a placement. Else the Result is infeasible, and
// Hosts and Bound are 0.
func LeastHosts(ctx context.Context, in *model.VCSched, o Options) (HostCount, error) {
	start := time.Now()
	if err := given(in); err != nil {
		return HostCount{}, err
	}
	if err := in.Validate(); err != nil {
		return HostCount{}, err
	}
	if err := o.Check(model.KindVCSched); err != nil {
		return HostCount{}, err
	}
	switch {
	case len(in.HostSizes) > 1:
		return HostCount{}, fmt.Errorf("%w: the least number is of equal hosts, the instance has %d host sizes", model.ErrUnsupported, len(in.HostSizes))
	case in.MigrationBudget != nil:
		return HostCount{}, fmt.Errorf("%w: the least number of hosts takes no migration budget", model.ErrUnsupported)
	}
	if o.auto() && o.Effort == 0 {
		o.TimeLimit = cmp.Or(o.TimeLimit, AutoTimeLimit)
	}
	ctx, cancel := o.WithTimeLimit(ctx)
	defer cancel()
	c := &hostCounter{ctx: ctx, packing: inFull(in), o: o, start: start, lower: 1, proof: "there is a task"}
	if why := fitsNoHost(in); why != "" {
		h := HostCount{Reason: why, Instance: withHosts(in, in.Hosts), Result: model.NewResult("pack", o.Seed)}
		h.Result.Status, h.Result.Reason = model.StatusInfeasible, why
		var err error
		h.Result, err = c.judged(h.Instance, h.Result)
		h.Elapsed = h.Result.Elapsed
		return h, err
	}
	if err := c.countPatiently(); err != nil {
		return HostCount{}, err
	}
	h := HostCount{Hosts: c.upper, Bound: c.lower, Proof: c.proof, Nodes: c.nodes, Instance: withHosts(in, c.upper)}
	if c.lower < c.upper {
		h.Reason = cmp.Or(c.reason, meter.StopReason(ctx), "the algorithm left it open")
	}
	r := model.NewResult("pack", o.Seed)
	if err := r.SetSolution(h.Instance, h.Instance.NewPlacement(c.hosts, h.Instance.Yield(c.hosts))); err != nil {
		return h, err
	}
	r.SetBound(h.Instance.Metrics()[0], 1, o.GapLimit())
	r, err := c.judged(h.Instance, r)
	h.Result, h.Elapsed = r, r.Elapsed
	return h, err
}

// judged returns a result of an instance as the judge has checked it.
func (c *hostCounter) judged(in *model.VCSched, r model.Result) (model.Result, error) {
	r.Nodes, r.Elapsed = c.nodes, time.Since(c.start)
	return (&attempt{Case: NewCase(in), ctx: c.ctx, set: c.o.Settings, judging: c.o.Judging, judge: verify.NewJudge(in)}).stamp(r)
}

// fitsNoHost names the first job whose tasks need more than a host has of memory or a further resource, and the resource;
// "" without one.
func fitsNoHost(in *model.VCSched) string {
	host := in.Sizes()[0]
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if j.Memory > host.Memory {
			return fmt.Sprintf("job %q needs %v of memory for a task, and a host has %v", j.ID, j.Memory, host.Memory)
		}
		for r, need := range j.Resources {
			if need > host.Resources[r] {
				return fmt.Sprintf("job %q needs %v of %s for a task, and a host has %v", j.ID, need, in.Resources[r], host.Resources[r])
			}
		}
	}
	return ""
}

// withHosts returns the instance with that many hosts, and no job running yet.
func withHosts(in *model.VCSched, hosts int) *model.VCSched {
	v := *in
	v.Hosts = hosts
	if len(in.HostSizes) > 0 {
		v.HostSizes = slices.Clone(in.HostSizes)
		v.HostSizes[0].Count = hosts
	}
	v.Jobs = slices.Clone(in.Jobs)
	for i := range v.Jobs {
		v.Jobs[i].CurrentHosts = nil
	}
	return &v
}

// inFull returns the instance with the CPU needs as a further rigid resource: its placements are the instance's
// placements with the yield 1.
func inFull(in *model.VCSched) *model.VCSched {
	v := withHosts(in, in.Hosts)
	if !slices.ContainsFunc(in.Jobs, func(j model.VCSchedJob) bool { return j.CPU > 0 }) {
		return v
	}
	name := "cpu in full"
	for slices.Contains(in.Resources, name) {
		name += "'"
	}
	v.Resources = append(slices.Clone(in.Resources), name)
	for k := range v.HostSizes {
		s := &v.HostSizes[k]
		s.Resources = append(slices.Clone(s.Resources), s.CPU)
	}
	for i := range v.Jobs {
		j := &v.Jobs[i]
		j.Resources, j.CPU = append(slices.Clone(j.Resources), j.CPU), 0
	}
	return v
}

// improveRounds is how often the local search takes placement.Steps to find a placement
// of more than smallPacking tasks: on fewer the engine soon knows.
const (
	improveRounds = 10
	smallPacking  = 64
)

// hostCounter is the state of LeastHosts.
type hostCounter struct {
	ctx     context.Context
	packing *model.VCSched // in which no job needs CPU
	o       Options
	start   time.Time

	mu   sync.Mutex // for the fields below, which count alone writes
	shut bool       // nothing is kept any more

	lower, upper int     // proved; found
	hosts        []int32 // [task]: numbered from 0 to upper-1
	proof        string  // of lower
	reason       string  // why the last decision was left open
	nodes        int64
}

// countPatiently counts, and returns some time after ctx has ended at the latest, if the options ask for it.
func (c *hostCounter) countPatiently() error {
	n := c.packing.Tasks()
	c.upper, c.hosts = n, make([]int32, n)
	for i := range c.hosts {
		c.hosts[i] = int32(i)
	}
	count := c.count
	if c.o.Effort > 0 {
		count = func() error {
			return meter.Within(c.ctx, c.o.Effort, func(ctx context.Context) error {
				c.ctx = ctx
				return c.count()
			})
		}
	}
	if c.o.Patience == 0 {
		return count()
	}
	_, err := panics.Within(c.ctx, func() time.Duration { return c.o.Patience }, count)
	panics.PassPanic(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	return err
}

func (c *hostCounter) count() error {
	c.firstFit()
	c.bound()
	if err := c.packed(); err != nil {
		return err
	}
	c.columns()
	c.improve()
	for c.lower < c.upper {
		share := 0.5
		if c.upper-c.lower == 1 {
			share = 1
		}
		if known, err := c.decide(c.lower, share); err != nil {
			return err
		} else if !known {
			break
		}
	}
	for c.lower < c.upper-1 { // at lower it is open
		if known, err := c.decide(c.upper-1, 1); err != nil || !known {
			return err
		}
	}
	return nil
}

// found keeps a placement that uses fewer hosts than the best so far, and renumbers its hosts in the order of the
// tasks.
func (c *hostCounter) found(hosts []int32) {
	number := make(map[int32]int32, c.upper)
	for _, h := range hosts {
		if _, ok := number[h]; !ok {
			number[h] = int32(len(number))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut || len(number) >= c.upper {
		return
	}
	c.upper = len(number)
	for i, h := range hosts {
		c.hosts[i] = number[h]
	}
	c.report()
}

// raise keeps a better lower bound.
func (c *hostCounter) raise(hosts int, proof string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.shut && hosts > c.lower {
		c.lower, c.proof = hosts, proof
		c.report()
	}
}

func (c *hostCounter) report() {
	if c.o.Progress != nil {
		c.o.Progress(model.Progress{Algorithm: "pack", Incumbent: float64(c.upper), Bound: float64(c.lower), Nodes: c.nodes, Elapsed: time.Since(c.start)})
	}
}

// firstFit looks from above by first fit.
func (c *hostCounter) firstFit() {
	u := view.OfVCSched(withHosts(c.packing, 1))
	even, demand := placement.Weights(u)
	for k, weight := range [][]float64{even, demand, even} {
		if k > 0 && (len(even) == 1 || c.ctx.Err() != nil) {
			return
		}
		hosts := placement.FirstFitDecreasing(c.ctx, u, weight, k == 2)
		if !fit(u, hosts) { // in units, and not exactly
			hosts = placement.FirstFitDecreasing(c.ctx, u.Strict(), weight, k == 2)
		}
		if fit(u, hosts) {
			c.found(hosts)
		}
	}
}

// fit reports whether the tasks fit exactly on as many hosts of a size as are named.
func fit(u *view.VCSched, hosts []int32) bool {
	many := *u
	many.Hosts = int(slices.Max(hosts)) + 1
	return many.Fits(hosts)
}

// packed looks from above by packing heuristics, on one host less.
func (c *hostCounter) packed() error {
	for _, a := range slices.Backward(vcheur.Algorithms()) {
		if !strings.HasPrefix(a.Name, "mcb") {
			continue
		}
		if c.lower >= c.upper || c.ctx.Err() != nil {
			return nil
		}
		r, err := a.Solver.Solve(c.ctx, withHosts(c.packing, c.upper-1), model.Settings{Seed: c.o.Seed})
		if p, ok := r.Solution.(*model.Placement); ok {
			c.found(p.TaskHosts())
		}
		if err != nil && !errors.Is(err, model.ErrInfeasible) {
			return err
		}
	}
	return nil
}

// bound raises the lower bound, for at most a quarter of the time.
func (c *hostCounter) bound() {
	_ = c.within(0.25, func(ctx context.Context) error {
		vcbounds.LeastHosts(ctx, withHosts(c.packing, 1), func(hosts int64, why string) {
			c.raise(int(hosts), "packing: "+why)
		})
		return nil
	})
}

// columns narrows the gap by column generation: from below for two thirds of the time, then from above for three
// quarters of the rest, by placements of the patterns.
func (c *hostCounter) columns() {
	if c.lower >= c.upper {
		return
	}
	u := view.OfVCSched(withHosts(c.packing, c.upper))
	p := vcbounds.NewPatterns(vcbounds.NewTasks(u))
	p.Add(c.hosts)
	covers, stopped := p.Covers(), false
	_ = c.within(0.65, func(ctx context.Context) error {
		covers.Count(ctx, int64(c.lower), int64(c.upper), func(hosts int64) {
			c.raise(int(hosts), fmt.Sprintf("packing: weights of which no host holds more than 1 sum to more than %d", hosts-1))
		})
		stopped = ctx.Err() != nil
		return nil
	})
	if stopped { // placements of the patterns so far are worse than by local search
		c.improve()
	}
	_ = c.within(0.75, func(ctx context.Context) error {
		for c.lower < c.upper && ctx.Err() == nil { // after that nothing found is kept
			hosts := covers.Dive(ctx, int64(c.upper)-1)
			if hosts == nil || !fit(u, hosts) {
				break
			}
			c.found(hosts)
		}
		return nil
	})
}

// improve looks from above by local search on one host less, for at most a quarter of the time: the tasks of the least
// used host go where most is left.
func (c *hostCounter) improve() {
	_ = c.within(0.25, func(ctx context.Context) error {
		c.improveIn(ctx)
		return nil
	})
}

func (c *hostCounter) improveIn(ctx context.Context) {
	for c.lower < c.upper && c.upper > 1 && ctx.Err() == nil {
		u, before := view.OfVCSched(withHosts(c.packing, c.upper-1)), c.upper
		s := placement.NewImprover(u, placement.Clear(u, c.hosts, c.upper), c.o.Seed)
		for k := 0; (k == 0 || len(c.hosts) > smallPacking) && k < improveRounds && ctx.Err() == nil; k++ {
			if s.Improve(ctx, math.MaxInt64-1, placement.Steps(len(c.hosts))) {
				_, hosts, _ := s.Best()
				c.found(hosts)
				break
			}
		}
		if c.upper == before {
			return
		}
	}
}

// leave keeps the nodes of a decision, and why it was left open.
func (c *hostCounter) leave(nodes int64, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.shut {
		c.nodes, c.reason = c.nodes+nodes, reason
	}
}

// within has a part of the work done in a share of the time left, and of all effort.
func (c *hostCounter) within(share float64, work func(context.Context) error) error {
	ctx, cancel := c.ctx, context.CancelFunc(func() {})
	if end, ok := ctx.Deadline(); ok && share < 1 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(share*float64(time.Until(end))))
	}
	defer cancel()
	if c.o.Effort == 0 || share == 1 {
		return work(ctx)
	}
	return meter.Within(ctx, max(1, int64(share*float64(c.o.Effort))), work)
}

// decide decides in a share of the time left whether there is a placement on
// so many hosts, at least lower and below upper; it returns false if that remains open.
func (c *hostCounter) decide(hosts int, share float64) (known bool, err error) {
	if c.ctx.Err() != nil {
		c.leave(0, meter.StopReason(c.ctx))
		return false, nil
	}
	o := c.o
	o.Settings = model.Settings{Seed: o.Seed, Threads: o.Threads, TimeLimit: o.TimeLimit}
	if o.Bounds = nil; c.o.Effort > 0 { // of one goroutine alone the work is counted
		o.Threads, o.TimeLimit = 1, cmp.Or(o.TimeLimit, untilSpent)
	}
	var r model.Result
	err = c.within(share, func(ctx context.Context) (err error) {
		r, err = Solve(ctx, withHosts(c.packing, hosts), o)
		return err
	})
	if err != nil {
		return false, err
	}
	c.leave(r.Nodes, "")
	switch {
	case r.Solution != nil && !r.Unverified:
		c.found(r.Solution.(*model.Placement).TaskHosts())
		return true, nil
	case r.Status == model.StatusInfeasible:
		c.raise(hosts+1, fmt.Sprintf("%s on %d hosts: %s", r.Algorithm, hosts, r.Reason))
		return true, nil
	}
	c.leave(0, r.Reason)
	return false, nil
}
