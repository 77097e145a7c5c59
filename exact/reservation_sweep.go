package exact

import (
	"container/heap"
	"context"
	"math"
	"math/bits"
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
	ctx      context.Context
	pes      int64
	jobs     []sweepJob
	prices   []*prices
	alive    []int64 // the largest latest start of jobs 0 to i
	words    int     // of a state's set of jobs
	scan     int     // how many states to compare with
	most     int     // states open at a time
	rounding bool
	step     float64 // plans better by less aren't looked for
	grain    float64 // values are multiples of it; 0: unknown

	target float64 // plans worth less aren't looked for, but for rounding
	slack  float64 // of rounding
	best   float64
	bestAt int32
	nodes  int64
	limit  int64 // on nodes; 0: none

	trace  []sweepStart
	open   sweepQueue
	closed []*sweepState
	spare  []*sweepState
	seq    int64

	// Scratch.
	chosen []sweepChild
	near   []sweepChild
	sums   []uint64
	child  sweepState
}

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
	s := &sweep{ctx: ctx, pes: pes, jobs: jobs, prices: p, scan: 4000, most: 2_000_000, rounding: true, bestAt: -1, grain: 1, step: 1, slack: 1e-6}
	latest := int64(math.MinInt64)
	for i := range jobs {
		latest = max(latest, jobs[i].latest)
		s.alive = append(s.alive, latest)
	}
	longest := int64(0)
	for i := range jobs {
		longest = max(longest, jobs[i].length)
	}
	for i := range jobs {
		// A state looks no further ahead than a job's length.
		s.words = max(s.words, i>>6-s.firstAlive(jobs[i].ready-longest)>>6+1)
	}
	s.sums = make([]uint64, pes>>6+1)
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
	for range s.words {
		root.usable = append(root.usable, ^uint64(0))
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
		x := heap.Pop(&s.open).(*sweepState)
		s.nodes++
		if x.bound < s.target-s.slack || s.dominated(x) {
			s.spare = append(s.spare, x)
			continue
		}
		s.expand(x)
		s.close(x)
	}
	return true
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

// expand makes the children of a state.
func (s *sweep) expand(x *sweepState) {
	s.chosen = s.chosen[:0]
	until := int64(math.MaxInt64)
	for i := int(x.base) << 6; i < len(s.jobs) && s.jobs[i].ready < until; i++ {
		if !x.can(i) {
			continue
		}
		j := &s.jobs[i]
		start := s.firstFit(x, j.pes, max(x.time, j.ready))
		if start > j.latest {
			continue
		}
		until = min(until, start+j.length)
		s.chosen = append(s.chosen, sweepChild{i, start})
	}
next:
	for c, k := range s.chosen {
		if k.start >= until {
			continue
		}
		j := &s.jobs[k.job]
		for d, o := range s.chosen {
			q := &s.jobs[o.job]
			if o.start == k.start && q.pes == j.pes && q.length == j.length && q.weight == j.weight &&
				(q.latest < j.latest || q.latest == j.latest && d < c) {
				continue next
			}
		}
		s.start(x, k)
	}
}

// start makes the child that starts a job.
func (s *sweep) start(x *sweepState, c sweepChild) {
	j := &s.jobs[c.job]
	y := &s.child
	y.time, y.value, y.bound, y.at, y.base = c.start, x.value+j.weight, x.bound, x.at, x.base
	y.runs = y.runs[:0]
	end, put := c.start+j.length, false
	for _, r := range x.runs {
		if r.end <= c.start {
			break
		}
		if !put && r.end <= end {
			put = true
			if r.end == end {
				y.runs = append(y.runs, sweepRun{end, j.pes + r.pes})
				continue
			}
			y.runs = append(y.runs, sweepRun{end, j.pes})
		}
		y.runs = append(y.runs, r)
	}
	if !put {
		y.runs = append(y.runs, sweepRun{end, j.pes})
	}
	y.usable = append(y.usable[:0], x.usable...)
	y.drop(c.job)
	live := s.settle(y)
	better := y.value > s.best
	if !better && !live {
		return
	}
	s.trace = append(s.trace, sweepStart{x.at, int32(c.job), c.start})
	y.at = int32(len(s.trace) - 1)
	if better {
		s.best, s.bestAt = y.value, y.at
		s.target = max(s.target, s.best+s.step)
	}
	if live {
		s.seq++
		z := s.fresh()
		usable, runs, lost := append(z.usable[:0], y.usable...), append(z.runs[:0], y.runs...), append(z.lost[:0], y.lost...)
		*z = *y
		z.usable, z.runs, z.lost, z.seq = usable, runs, lost, s.seq
		heap.Push(&s.open, z)
	}
}

// settle finds the time at which a state's next job may start, what can't be
// started any more, and the bound. It reports whether anything may follow.
func (s *sweep) settle(y *sweepState) bool {
	horizon := y.time
	if len(y.runs) > 0 {
		horizon = y.runs[0].end
	}
	next := int64(math.MaxInt64)
	s.near = s.near[:0]
	i := int(y.base) << 6
	for ; i < len(s.jobs) && s.jobs[i].ready < horizon; i++ {
		if !y.can(i) {
			continue
		}
		j := &s.jobs[i]
		start := s.firstFit(y, j.pes, max(y.time, j.ready))
		if start > j.latest {
			y.drop(i)
			continue
		}
		next = min(next, start)
		s.near = append(s.near, sweepChild{i, start})
	}
	if i < len(s.jobs) {
		next = min(next, s.jobs[i].ready)
	}
	if next == math.MaxInt64 {
		return false
	}
	y.time = next
	for len(y.runs) > 0 && y.runs[len(y.runs)-1].end <= next {
		y.runs = y.runs[:len(y.runs)-1]
	}
	s.round(y)
	for _, p := range s.prices {
		from := p.at(next)
		b := y.value + p.later[i] + float64(s.pes)*(p.sum[len(p.rate)]-from)
		for _, r := range y.lost {
			b -= float64(r.pes) * (p.at(r.end) - from)
		}
		for _, c := range s.near {
			b += p.gainFrom(c.job, c.start)
		}
		if y.bound = min(y.bound, b); y.bound < s.target-s.slack {
			return false
		}
	}
	if base := int32(s.firstAlive(next) >> 6); base > y.base {
		y.rebase(base)
	}
	return true
}

// round finds the PEs that are of no use to the jobs that may follow, from the
// state's time to the last end, besides those in use: those above the largest sum of PEs, of jobs
// that may run then, that is free. Like those in use they only become fewer.
func (s *sweep) round(y *sweepState) {
	n := len(y.runs)
	y.lost = append(y.lost[:0], y.runs...)
	if n == 0 || !s.rounding {
		return
	}
	busy := int64(0)
	for _, r := range y.runs {
		busy += r.pes
	}
	from, used := y.time, int64(0)
	for k := n - 1; k >= 0; k-- {
		end := y.runs[k].end
		free := s.pes - busy
		clear(s.sums)
		s.sums[0] = 1
		for _, c := range s.near {
			j := &s.jobs[c.job]
			if c.start < end && j.latest+j.length > from && j.pes <= free {
				orShift(s.sums, int(j.pes))
			}
		}
		use := max(used, top(s.sums, int(free)))
		if k < n-1 {
			y.lost[k+1].pes = use - used
		}
		busy -= y.runs[k].pes
		from, used = end, use
	}
	y.lost[0].pes = s.pes - used
	w := 0
	for _, r := range y.lost {
		if r.pes > 0 {
			y.lost[w] = r
			w++
		}
	}
	y.lost = y.lost[:w]
}

// orShift adds, to the sums in a set, those with x more.
func orShift(set []uint64, x int) {
	w, b := x>>6, uint(x&63)
	for k := len(set) - 1; k >= w; k-- {
		v := set[k-w] << b
		if b > 0 && k-w > 0 {
			v |= set[k-w-1] >> (64 - b)
		}
		set[k] |= v
	}
}

// top is the largest number up to x in a set that has 0.
func top(set []uint64, x int) int64 {
	w := x >> 6
	v := set[w] & (^uint64(0) >> (63 - x&63))
	for v == 0 {
		w--
		v = set[w]
	}
	return int64(w<<6 + 63 - bits.LeadingZeros64(v))
}
