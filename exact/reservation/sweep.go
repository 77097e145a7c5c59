package reservation

import (
	"container/heap"
	"context"
	"math"
)

// sweep looks for plans of at least a given value: a search over partial plans
// in the order of time. A state is what was started so far; its children start
// one more job each, none before the last one, each as early as it fits.
//
// That finds a best plan. Take one with the least sum of starts. In the order
// of their starts, each job begins as early as it fits after those before it:
// from the last start on the PEs in use by those only become fewer, so if
// it fitted earlier, it could be moved there, since those after it don't begin
// until its start.
//
// Of the children only those are made that start before any other job could have
// been run to its end (Giffler and Thompson 1960): otherwise that job, started
// later or declined, could be moved into the gap. And of jobs of equal PEs, length
// and weight that could start at one moment, the one due first goes first:
// they could change places.
//
// A state is dropped if prices bound what may follow below the value looked
// for, or if a state searched before it, of the same time or earlier, dominates it
// (dominates). Values never fall from a state to the one that dominates it,
// and grow with each start, so states don't drop each other in a ring.
//
// PEs that no sum of the jobs' PEs can use count as in use (round), which makes
// states alike and bounds lower.
//
// Time decides nothing; with too many states open the search goes deep
// first, which needs less memory and compares less.
type sweep struct {
	ctx    context.Context
	pes    int64
	jobs   []sweepJob
	prices []*prices
	alive  []int64 // the largest latest start of jobs 0 to i
	words  int     // of a state's set of jobs
	scan   int     // how many states to compare with
	most   int     // states open at a time
	step   float64 // plans better by less aren't looked for
	grain  float64 // values are multiples of it; 0: unknown

	target float64 // plans worth less aren't looked for, but for rounding
	slack  float64 // of rounding
	best   float64
	bestAt int32
	nodes  int64
	limit  int64 // on nodes; 0: none

	trace     []sweepStart
	mostTrace int // length at which it is shortened
	open      sweepQueue
	closed    []sweepClosed
	lightest  float64 // the least weight of a job
	spare     []*sweepState
	seq       int64

	// Scratch.
	chosen []sweepChild
	near   []sweepChild
	sums   []uint64
	dp     []float64
	gains  []float64
	child  sweepState

	off sweepRule // rules that tests turn off

	reprice bool // look for better prices now and then
	due     int64
	epoch   int // of the prices
}

// sweepRule is a set of rules by which the sweep drops something. The proof of each is where it is used.
type sweepRule uint16

const (
	sweepGapRule       sweepRule     = 1 << iota // expand: a start behind another job's possible end
	sweepTwinsRule                               // expand: equal jobs, the one due later first
	sweepDominanceRule                           // dominates
	sweepPricesRule                              // settle: bounds by prices
	sweepWantedRule                              // settle: jobs that a good plan doesn't start
	sweepFarRule                                 // far: a closer look
	sweepRoundRule                               // round: PEs of no use
	sweepRepriceRule                             // repriceOne: other prices
	sweepNarrowRule                              // narrow: starts that lose too much
	sweepGrainRule                               // floor, attempt: values are multiples of a grain
	sweepStopRule                                // attempt: what is better by less than half the gap limit
	sweepRules         = 1<<iota - 1             // all of them
)

// sweepStart is a job started, after another.
type sweepStart struct {
	before, job int32
	start       int64
}

type sweepChild struct {
	job   int
	start int64
}

func newSweep(ctx context.Context, pes int64, jobs []sweepJob, p ...*prices) *sweep {
	s := &sweep{ctx: ctx, pes: pes, jobs: jobs, prices: p, scan: 4000, most: 2_000_000, mostTrace: 50_000_000, bestAt: -1, grain: 1, step: 1, slack: 1e-6}
	s.due, s.reprice = repriceNodes, len(p) > 0 && p[0].sum == nil && len(jobs) <= fewJobs
	latest := int64(math.MinInt64)
	s.lightest = math.Inf(1)
	for i := range jobs {
		s.lightest = min(s.lightest, jobs[i].weight)
		latest = max(latest, jobs[i].latest)
		s.alive = append(s.alive, latest)
	}
	longest := int64(0)
	for i := range jobs {
		longest = max(longest, jobs[i].length)
	}
	for i := range jobs {
		// A state looks no further ahead than the end of what runs.
		s.words = max(s.words, i>>6-s.firstAlive(jobs[i].ready-longest)>>6+1)
	}
	s.sums = make([]uint64, pes>>6+1)
	s.dp = make([]float64, pes+1)
	return s
}

// firstAlive is a job before which all have their latest start before t.
func (s *sweep) firstAlive(t int64) int {
	lo, hi := 0, len(s.alive)
	for lo < hi {
		if mid := (lo + hi) / 2; s.alive[mid] < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// run searches until nothing is open. It reports whether everything was
// searched: then best is the best of all plans, or none reaches the target.
func (s *sweep) run() bool {
	root := s.fresh()
	root.time, root.at, root.value, root.bound, root.base = math.MinInt64, -1, 0, math.Inf(1), 0
	root.runs = root.runs[:0]
	root.usable = root.usable[:0]
	root.wanted = root.wanted[:0]
	for range s.words {
		root.usable = append(root.usable, ^uint64(0))
		root.wanted = append(root.wanted, ^uint64(0))
	}
	if len(s.jobs) > 0 && s.settle(root) {
		heap.Push(&s.open, root)
	}
	for s.open.Len() > 0 {
		if s.nodes%64 == 0 && s.ctx.Err() != nil || s.limit > 0 && s.nodes >= s.limit {
			return false
		}
		if s.open.Len() > s.most {
			s.open.turn(true)
		} else if s.open.Len() < s.most/2 {
			s.open.turn(false)
		}
		if len(s.trace) > s.mostTrace {
			s.shorten()
		}
		x := heap.Pop(&s.open).(*sweepState)
		s.nodes++
		if x.epoch != s.epoch {
			s.settle(x)
		}
		if x.bound < s.target-s.slack || s.off&sweepDominanceRule == 0 && s.dominated(x) {
			s.spare = append(s.spare, x)
			continue
		}
		if s.off&sweepFarRule == 0 && s.far(x) {
			s.spare = append(s.spare, x)
			continue
		}
		s.expand(x)
		s.close(x)
		if s.nodes >= s.due && s.reprice && s.off&sweepRepriceRule == 0 {
			s.due = s.nodes + repriceNodes
			s.repriceOne()
		}
	}
	return true
}

// shorten forgets the starts that lead to no open state and not to the best plan.
func (s *sweep) shorten() {
	const gone, kept = -2, -1
	number := make([]int32, len(s.trace))
	for k := range number {
		number[k] = gone
	}
	mark := func(at int32) {
		for ; at >= 0 && number[at] == gone; at = s.trace[at].before {
			number[at] = kept
		}
	}
	mark(s.bestAt)
	for _, x := range s.open.states {
		mark(x.at)
	}
	n := int32(0)
	for k, x := range s.trace {
		if number[k] == gone {
			continue
		}
		if x.before >= 0 {
			x.before = number[x.before] // made before
		}
		s.trace[n], number[k] = x, n
		n++
	}
	s.trace = s.trace[:n]
	if s.bestAt >= 0 {
		s.bestAt = number[s.bestAt]
	}
	for _, x := range s.open.states {
		if x.at >= 0 {
			x.at = number[x.at]
		}
	}
	s.mostTrace = max(s.mostTrace, 2*int(n))
}

// far reports whether a closer look shows that nothing good follows a state: Σ value + gains
// + what the owner earns, as in prices, where he rents to those alone that the state wants. Jobs before
// the last end gain from their first fit on, those ready later are in later[i]; a plan that
// reaches the target starts no others, so the owner loses nothing by leaving them out.
func (s *sweep) far(x *sweepState) bool {
	horizon := x.time
	if len(x.runs) > 0 {
		horizon = x.runs[0].end
	}
	if len(s.prices) == 0 || s.prices[len(s.prices)-1].sum != nil {
		return false
	}
	p := s.prices[len(s.prices)-1] // the latest
	b := x.value
	i := int(x.base) << 6
	for ; i < len(s.jobs) && s.jobs[i].ready < horizon; i++ {
		if x.can(x.wanted, i) {
			b += max(0, p.gainFrom(i, s.firstFit(x, s.jobs[i].pes, max(x.time, s.jobs[i].ready))))
		}
	}
	x.bound = min(x.bound, b+p.later[i]+p.closely(x, s.dp))
	return x.bound < s.target-s.slack
}

// bound is what no plan is worth more than, if the search was stopped.
func (s *sweep) bound() float64 {
	b := max(s.best, s.target-s.grain)
	for _, x := range s.open.states {
		b = max(b, x.bound)
	}
	return b
}

func (s *sweep) fresh() *sweepState {
	if n := len(s.spare); n > 0 {
		x := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return x
	}
	return &sweepState{}
}

// firstFit is when a job of so many PEs first fits at or after t.
func (s *sweep) firstFit(x *sweepState, pes, t int64) int64 {
	room := s.pes - pes
	busy := int64(0)
	for _, r := range x.runs {
		if busy += r.pes; busy > room {
			return max(t, r.end)
		}
	}
	return t
}
