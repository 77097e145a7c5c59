// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// rollout is a list schedule whose rule changes (Bertsekas, Tsitsiklis, Wu: Rollout Algorithms
// for Combinatorial Optimization, 1997). It is offline, and no policy.
//
// Whenever rollSegment more jobs have been submitted, the schedule is continued by each of some rules until rollAhead
// jobs have been. The rule that leaves the least cost goes on up to the next choice. The cost is the weighted waiting
// until then, plus the later waits of the waiting jobs if the machine ran them one after the other in the rule's order.
// No rule is best everywhere in a log: a rule that keeps room for wide jobs is best where they wait, and wastes that
// room elsewhere.
//
// It is bestList where too many jobs wait to look at them so often, and it is never worse. O(rules · rollAhead /
// rollSegment) schedules, of O(waiting jobs) an event each.
func rollout(r *run.Run, in *model.Batch) (*model.Execution, error) {
	best, err := bestList(r, in)
	if err != nil {
		return nil, err
	}
	other, err := rolled(r.Ctx, in, r.Set.Seed)
	if err != nil || other == nil {
		return best, err
	}
	first, err := in.Objective(best)
	if err != nil {
		return nil, err
	}
	if o, err := in.Objective(other); err != nil || !o.Better(first) {
		return best, err
	}
	return other, nil
}

// rolled returns the schedule of rollout without bestList; nil: that takes too long.
func rolled(ctx context.Context, in *model.Batch, seed uint64) (*model.Execution, error) {
	t := view.Shared(ctx, in, view.OfBatch)
	lengths, _, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	r := newRoller(t, lengths, seed)
	starts := r.run(ctx)
	switch {
	case starts == nil:
		return nil, nil
	case r.nodes != nil:
		return (&processors.Course{Starts: starts, Lists: r.nodes.lists}).Execution(in, t, lengths)
	}
	return processors.Place(in, t, starts)
}

// rollSegment and rollAhead are numbers of jobs. The log of LANL has a mean response of 4,892 s after 7.6 s of CPU with
// 25 and 300, and 5,881 s by bestList. With 50 and 300 it has 4,943 s after 4 s, with 100 and 600 5,053 s after 4 s.
// Without rules that leave room it is 5,342 s with 50 and 300.
const (
	rollSegment = 25
	rollAhead   = 300
)

// mostLooks is how many waiting jobs are looked at for each job of the instance to choose rules, and
// lastLooks how many once that is over. The logs of KTH and LANL take 6,500 and 4,500.
const (
	mostLooks = 20_000
	lastLooks = 20
	looksPer  = 64 // in a microsecond, for meter.Stop
)

// rollRule is a rule of rollout: listRule's, where jobs narrower than 1/room of the machine leave so
// much of it free. 0: they don't.
type rollRule struct {
	listRule
	room int
	seed uint64 // of the factors of jobs' keys; 0: there are none
}

// rollRules are the rules of rollout. On nodes the first rollRulesOnNodes are, which leave no room.
var rollRules = func() (all []rollRule) {
	for _, r := range []listRule{{0, 1}, {1, 1}, {0, 0}, {0, 4}, {1, 4}, {2, 1}, {0, 16}, {-1, 1}, {-1, 0}, {0, math.Inf(1)}, {1, 16}} {
		all = append(all, rollRule{r, 0, 0})
	}
	for _, r := range []listRule{{0, 1}, {1, 1}, {0, 0}, {0, 16}, {-1, 1}} {
		all = append(all, rollRule{r, 2, 0}, rollRule{r, 4, 0})
	}
	return all
}()

const rollRulesOnNodes = 11

// roller is a list schedule that is being made.
type roller struct {
	t       *view.Batch
	lengths []int64
	factors []float64 // that keys are multiplied by
	looks   int64     // at waiting jobs so far, at most most
	most    int64
	told    int64             // looks when meter.Stop was called last
	keys    map[int][]float64 // by halves
	rng     *rand.Rand

	rule    rollRule
	key     []float64
	room    int32 // jobs narrower than it leave so many processors free
	now     int64
	next    int      // job that is submitted next
	running []ending // by end
	waiting []int32  // by key
	least   int32    // no narrower job waits
	free    int32
	narrow  int32        // processors that narrow jobs hold
	cost    float64      // weighted waiting of the jobs that have started
	starts  []int64      // nil: they aren't kept
	nodes   *rollerNodes // nil without nodes
}

// ending is a running job.
type ending struct {
	at    int64
	width int32
	job   int32 // on nodes
	list  []int32
}

func newRoller(t *view.Batch, lengths []int64, seed uint64) *roller {
	r := &roller{t: t, lengths: lengths, factors: make([]float64, 1<<12), keys: map[int][]float64{},
		rng: rand.New(rand.NewPCG(seed, 0x726f6c6c)), free: int32(t.Processors), starts: make([]int64, len(t.Jobs))}
	for i := range r.factors {
		r.factors[i] = 0.5 + float64(1.5*r.rng.Float64()) // rounded, not fused
	}
	if t.Nodes != nil {
		r.nodes = newRollerNodes(t)
	}
	return r
}

// run returns the starts of rollout; nil: it takes too long. When ctx ends, the first rule goes on.
func (r *roller) run(ctx context.Context) []int64 {
	n := int64(len(r.t.Jobs))
	rules := rollRules
	if r.nodes != nil {
		rules, n = rules[:rollRulesOnNodes], moreLooks*n
	}
	r.most = mostLooks * n
	r.set(rules[0])
	for try := new(roller); ; {
		segment, ahead := r.submitted(rollSegment), r.submitted(rollAhead)
		least, best := math.Inf(1), r.rule
		for i := range 2*len(rules) + 1 {
			rule := r.rule // first the one that was best
			if i > 0 {
				rule = rules[(i-1)/2]
				if i%2 == 0 {
					rule.seed = r.rng.Uint64() | 1
				}
			}
			r.copyTo(try)
			try.set(rule)
			if r.nodes != nil {
				try.looks += looksForCopy
			}
			going := try.until(ctx, ahead)
			r.looks, r.told = try.looks, try.told
			if !going {
				if r.most = r.looks + lastLooks*n; r.nodes != nil {
					r.most += moreLooks * lastLooks * n // starts count, too
				}
				r.set(rules[0])
				if r.until(context.Background(), math.MaxInt64) {
					return r.starts
				}
				return nil
			}
			if cost := try.costAt(ahead); cost < least {
				least, best = cost, rule
			}
		}
		r.set(best)
		if !r.until(ctx, segment) {
			return nil
		}
		if segment == math.MaxInt64 {
			return r.starts
		}
	}
}

// submitted returns the tick after which so many more jobs have been submitted.
func (r *roller) submitted(more int) int64 {
	if r.next+more >= len(r.t.Jobs) {
		return math.MaxInt64
	}
	return r.t.Jobs[r.next+more].Submit + 1
}

// copyTo copies the schedule, without starts.
func (r *roller) copyTo(to *roller) {
	running, waiting := append(to.running[:0], r.running...), append(to.waiting[:0], r.waiting...)
	*to = *r
	to.running, to.waiting, to.starts = running, waiting, nil
	if r.nodes != nil {
		to.nodes = r.nodes.clone()
	}
}

// set has a rule go on.
func (r *roller) set(rule rollRule) {
	r.rule = rule
	if r.keys[rule.halves] == nil {
		keys := make([]float64, len(r.t.Jobs))
		for k := range keys {
			keys[k] = rule.listRule.key(&r.t.Jobs[k], r.lengths[k])
		}
		r.keys[rule.halves] = keys
	}
	r.key = r.keys[rule.halves]
	r.room, r.narrow = 0, 0
	if rule.room > 0 {
		r.room = int32(r.t.Processors / rule.room)
	}
	for _, x := range r.running {
		if x.width < r.room {
			r.narrow += x.width
		}
	}
	r.least = 0
	slices.SortFunc(r.waiting, r.compare)
}

// compare compares jobs by key.
func (r *roller) compare(a, b int32) int {
	return cmp.Or(cmp.Compare(r.keyOf(a), r.keyOf(b)), cmp.Compare(a, b))
}

func (r *roller) keyOf(k int32) float64 {
	if r.rule.seed == 0 {
		return r.key[k]
	}
	return r.key[k] * r.factors[(uint64(k)+1)*r.rule.seed>>32&uint64(len(r.factors)-1)]
}

// until goes on with what happens before a tick, and reports whether ctx and the looks let it.
func (r *roller) until(ctx context.Context, end int64) bool {
	for {
		if r.looks-r.told > 1<<16 {
			effort := (r.looks - r.told) / looksPer
			if r.told = r.looks; meter.Stop(ctx, effort) || r.looks > r.most {
				return false
			}
		}
		at := int64(math.MaxInt64)
		if r.next < len(r.t.Jobs) {
			at = r.t.Jobs[r.next].Submit
		}
		if len(r.running) > 0 {
			at = min(at, r.running[0].at)
		}
		if at == math.MaxInt64 || at >= end {
			return true
		}
		r.now = at
		over := 0
		for ; over < len(r.running) && r.running[over].at == at; over++ {
			x := &r.running[over]
			r.free += x.width
			if r.nodes != nil {
				r.nodes.end(&r.t.Jobs[x.job], x.list)
			}
			if x.width < r.room {
				r.narrow -= x.width
			}
		}
		r.running = slices.Delete(r.running, 0, over)
		for ; r.next < len(r.t.Jobs) && r.t.Jobs[r.next].Submit == at; r.next++ {
			k := int32(r.next)
			i, _ := slices.BinarySearchFunc(r.waiting, k, r.compare)
			r.waiting = slices.Insert(r.waiting, i, k)
			r.least = min(r.least, int32(r.t.Jobs[k].Processes))
		}
		if r.nodes != nil {
			r.passOnNodes()
		} else {
			r.pass()
		}
	}
}

// pass starts jobs as listScheduler does, except for jobs that have to leave room.
func (r *roller) pass() {
	r.looks++
	if r.least > r.free {
		return
	}
	left := r.waiting[:0]
	least, head := int32(math.MaxInt32), true
	shadow, extra := int64(math.MaxInt64), r.free
	for i, k := range r.waiting {
		if r.free < r.least {
			left = append(left, r.waiting[i:]...)
			least = r.least
			break
		}
		r.looks++
		j := &r.t.Jobs[k]
		width, end := int32(j.Processes), r.now+r.lengths[k]
		switch {
		case width < r.room && r.narrow+width > int32(r.t.Processors)-r.room:
		case width > r.free:
			if head && float64(r.now-j.Submit) >= r.rule.patience*float64(r.lengths[k]) {
				shadow, extra = r.reserve(width)
			}
			head = false
		case end <= shadow || width <= extra:
			if end > shadow {
				extra -= width
			}
			r.start(k, ending{at: end, width: width})
			continue
		}
		least = min(least, width)
		left = append(left, k)
	}
	r.waiting, r.least = left, least
}

// reserve returns when a job that doesn't fit will, and how many processors it leaves free then.
func (r *roller) reserve(width int32) (shadow int64, extra int32) {
	free := r.free
	for i := range r.running {
		if free += r.running[i].width; free >= width && (i+1 == len(r.running) || r.running[i+1].at > r.running[i].at) {
			return r.running[i].at, free - width
		}
	}
	return math.MaxInt64, r.free // no job is wider than the machine
}

func (r *roller) start(k int32, x ending) {
	i, _ := slices.BinarySearchFunc(r.running, x, func(a, b ending) int { return cmp.Compare(a.at, b.at) })
	r.running = slices.Insert(r.running, i, x)
	if r.free -= x.width; x.width < r.room {
		r.narrow += x.width
	}
	j := &r.t.Jobs[k]
	r.cost += float64(float64(j.Weight) * float64(r.now-j.Submit)) // rounded, not fused
	if r.starts != nil {
		r.starts[k] = r.now
	}
}

// width returns the processors of a job, or on nodes its part of the machine.
func (r *roller) width(k int32) int32 {
	if r.nodes != nil {
		return r.nodes.widths[k]
	}
	return int32(r.t.Jobs[k].Processes)
}

// costAt returns the cost at a tick; math.MaxInt64: at the end.
func (r *roller) costAt(at int64) float64 {
	cost := r.cost
	if at == math.MaxInt64 {
		return cost
	}
	work, total := 0.0, float64(r.t.Processors)
	if r.nodes != nil {
		total = wholeMachine
	}
	for _, x := range r.running {
		work += float64(float64(x.at-at) * float64(x.width))
	}
	for _, k := range r.waiting {
		j := &r.t.Jobs[k]
		cost += float64(float64(j.Weight) * (float64(at-j.Submit) + float64(work/total)))
		work += float64(float64(r.lengths[k]) * float64(r.width(k)))
	}
	return cost
}
