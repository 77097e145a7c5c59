package exact

import (
	"container/heap"
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
	runs   []sweepRun // PEs in use, by end, the last first
	lost   []sweepRun // those and what is of no use to any that may follow
}

// sweepRun is PEs in use until end.
type sweepRun struct {
	end int64
	pes int64
}

// can reports whether a job of the state's words or later may still be started.
func (x *sweepState) can(i int) bool {
	w := i>>6 - int(x.base)
	return w >= len(x.usable) || x.usable[w]>>(i&63)&1 != 0
}

func (x *sweepState) drop(i int) { x.usable[i>>6-int(x.base)] &^= 1 << (i & 63) }

// rebase makes the state's words begin later.
func (x *sweepState) rebase(base int32) {
	d := int(base - x.base)
	for w := range x.usable {
		if w+d < len(x.usable) {
			x.usable[w] = x.usable[w+d]
		} else {
			x.usable[w] = ^uint64(0) // these aren't ready yet
		}
	}
	x.base = base
}

// dominates reports whether whatever may follow b is worth no more than what
// may follow a: the jobs that b can still start and a can't are worth no more than what a is
// ahead, and from b's time on a uses no more PEs than b.
func (s *sweep) dominates(a, b *sweepState) bool {
	room := a.value - b.value
	if room < 0 || a.time > b.time {
		return false
	}
	d := int(b.base - a.base)
	for w := 0; w+d < len(a.usable); w++ {
		for miss := b.usable[w] &^ a.usable[w+d]; miss != 0; miss &= miss - 1 {
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

// dominated compares a state with those searched before it, the latest and
// the most successful first.
func (s *sweep) dominated(b *sweepState) bool {
	last := len(s.closed) - 1
	for k := last; k >= max(0, last-s.scan); k-- {
		if s.dominates(s.closed[k], b) {
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
			s.spare = append(s.spare, y)
		}
		s.closed = append(s.closed[:0], s.closed[old:]...)
	}
	s.closed = append(s.closed, x)
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
