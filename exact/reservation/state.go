package reservation

import (
	"container/heap"
	"math"
	"math/bits"
)

// sweepState is a partial plan.
type sweepState struct {
	time   int64 // no later job starts before
	value  float64
	bound  float64
	at     int32 // in trace; -1: nothing started
	base   int32 // first word of usable
	seq    int64
	usable []uint64   // bit i of word w: job 64(base+w)+i may still be started
	wanted []uint64   // those of them that a plan of the value looked for may start
	runs   []sweepRun // PEs in use, by end, the last first
	lost   []sweepRun // those and what is of no use to any that are wanted
	epoch  int        // of the prices of bound
}

// sweepRun is PEs in use until end.
type sweepRun struct {
	end int64
	pes int64
}

// can reports whether a job of the state's words or later is in a set.
func (x *sweepState) can(set []uint64, i int) bool {
	w := i>>6 - int(x.base)
	return w >= len(set) || set[w]>>(i&63)&1 != 0
}

func (x *sweepState) drop(set []uint64, i int) { set[i>>6-int(x.base)] &^= 1 << (i & 63) }

// rebase makes the state's words begin later.
func (x *sweepState) rebase(base int32) {
	d := int(base - x.base)
	for _, set := range [...][]uint64{x.usable, x.wanted} {
		for w := range set {
			if w+d < len(set) {
				set[w] = set[w+d]
			} else {
				set[w] = ^uint64(0) // these aren't ready yet
			}
		}
	}
	x.base = base
}

// copyTo makes z the same.
func (x *sweepState) copyTo(z *sweepState) {
	usable, wanted, runs, lost := z.usable, z.wanted, z.runs, z.lost
	*z = *x
	z.usable, z.wanted = append(usable[:0], x.usable...), append(wanted[:0], x.wanted...)
	z.runs, z.lost = append(runs[:0], x.runs...), append(lost[:0], x.lost...)
}

// dominates reports whether whatever of the value looked for may follow b is worth no more than what
// may follow a: the jobs wanted by b that a can't start are worth no more than what a is
// ahead, and from b's time on a uses no more PEs than b.
//
// Take a plan that follows b and reaches the target. What it starts it wants; leave out of it what a can't start.
// The rest can follow a: it starts no earlier than b's time ≥ a's, and the PEs in use by a are at
// each moment at most those in use by b or of no use to the plan (round). It is worth
// value(a) + rest ≥ value(b) + all. Domination never lowers the value and each start raises it, so
// states don't drop each other in a ring.
func (s *sweep) dominates(a, b *sweepState) bool {
	room := a.value - b.value
	if room < 0 || a.time > b.time {
		return false
	}
	d := int(b.base - a.base)
	for w := 0; w+d < len(a.usable); w++ {
		for miss := b.wanted[w] &^ a.usable[w+d]; miss != 0; miss &= miss - 1 {
			if i := (int(b.base)+w)<<6 + bits.TrailingZeros64(miss); i < len(s.jobs) {
				if room -= s.jobs[i].weight; room < 0 {
					return false
				}
			}
		}
	}
	busyA, busyB := int64(0), int64(0)
	k := 0
	for _, r := range a.runs {
		if r.end <= b.time {
			break
		}
		busyA += r.pes
		for k < len(b.lost) && b.lost[k].end >= r.end {
			busyB += b.lost[k].pes
			k++
		}
		if busyA > busyB {
			return false
		}
	}
	return true
}

// sweepClosed is what tells fast that a state doesn't dominate another.
type sweepClosed struct {
	value  float64
	usable uint64 // the first word
	base   int32
	last   int64 // end of the last run
	state  *sweepState
}

// dominated compares a state with those searched before it, the latest and
// the most successful first.
func (s *sweep) dominated(b *sweepState) bool {
	last := len(s.closed) - 1
	end := b.time
	if len(b.lost) > 0 {
		end = b.lost[0].end
	}
	wanted := b.wanted[0]
	for k := last; k >= max(0, last-s.scan); k-- {
		a := &s.closed[k]
		if a.value < b.value || a.last > end && a.last > b.time || a.base == b.base && wanted&^a.usable != 0 && a.value-b.value < s.lightest {
			continue
		}
		if s.dominates(a.state, b) {
			// It may well dominate others: halfway to the front.
			h := k + (last-k)/2
			s.closed[k], s.closed[h] = s.closed[h], s.closed[k]
			return true
		}
	}
	return false
}

// close keeps a state to compare others with.
func (s *sweep) close(x *sweepState) {
	if len(s.closed) > 4*s.scan+1000 {
		old := len(s.closed) - s.scan - 1
		for _, y := range s.closed[:old] {
			s.spare = append(s.spare, y.state)
		}
		s.closed = append(s.closed[:0], s.closed[old:]...)
	}
	c := sweepClosed{x.value, x.usable[0], x.base, math.MinInt64, x}
	if len(x.runs) > 0 {
		c.last = x.runs[0].end
	}
	s.closed = append(s.closed, c)
}

// sweepQueue is the open states: the earliest first, or, when there are too
// many, the latest.
type sweepQueue struct {
	states []*sweepState
	deep   bool
}

func (q *sweepQueue) Len() int { return len(q.states) }
func (q *sweepQueue) Less(a, b int) bool {
	x, y := q.states[a], q.states[b]
	switch {
	case x.time != y.time:
		return (x.time < y.time) != q.deep
	case x.value != y.value:
		return x.value > y.value
	}
	return x.seq < y.seq
}
func (q *sweepQueue) Swap(a, b int) { q.states[a], q.states[b] = q.states[b], q.states[a] }
func (q *sweepQueue) Push(x any)    { q.states = append(q.states, x.(*sweepState)) }
func (q *sweepQueue) Pop() any {
	last := len(q.states) - 1
	x := q.states[last]
	q.states[last] = nil
	q.states = q.states[:last]
	return x
}

func (q *sweepQueue) turn(deep bool) {
	if q.deep != deep {
		q.deep = deep
		heap.Init(q)
	}
}
