// SPDX-License-Identifier: MIT

package reservation

// state is a partial plan.
type state struct {
	time  tick // no later job starts before
	value float64
	bound float64 // no completion is worth more
	at    int32   // of its last start in the trace; -1: nothing started
	base  int32   // first word of possible
	seq   int64   // its number, for ties
	// possible are the jobs that may still be started: bit i of word w is job
	// 64(base+w)+i; jobs of later words are.
	possible []uint64
	running  []busy // by end, the last first
	blocked  []busy // running, and PEs that no possible jobs can use; see reduceCapacity
}

// busy is PEs in use until end.
type busy struct {
	end tick
	pes int
}

// may reports whether a job of the state's words or later may still be started.
func (x *state) may(i int) bool {
	w := i>>6 - int(x.base)
	return w >= len(x.possible) || x.possible[w]>>(i&63)&1 != 0
}

func (x *state) drop(i int) { x.possible[i>>6-int(x.base)] &^= 1 << (i & 63) }

// lastEnd returns the end of the last running job, or the state's time.
func (x *state) lastEnd() tick {
	if len(x.running) > 0 {
		return x.running[0].end
	}
	return x.time
}

// rebase makes the state's words begin later.
func (x *state) rebase(base int32) {
	d := int(base - x.base)
	if d <= 0 {
		return
	}
	for w := range x.possible {
		if w+d < len(x.possible) {
			x.possible[w] = x.possible[w+d]
		} else {
			x.possible[w] = ^uint64(0) // these aren't ready yet
		}
	}
	x.base = base
}

// copyTo makes z the same.
func (x *state) copyTo(z *state) {
	possible, running, blocked := z.possible, z.running, z.blocked
	*z = *x
	z.possible = append(possible[:0], x.possible...)
	z.running, z.blocked = append(running[:0], x.running...), append(blocked[:0], x.blocked...)
}
