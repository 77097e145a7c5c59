package reservation

// state is a partial plan.
type state struct {
	time  tick // no later job starts before
	value float64
	bound float64 // no completion is worth more
	at    int32   // of its last start in the trace; -1: nothing started
	base  int32   // first word of possible and unfixed
	seq   int64   // its number, for ties
	// Bit i of word w is job 64(base+w)+i; jobs of later words are in both
	// sets.
	possible []uint64 // jobs that may still be started
	unfixed  []uint64 // those of them that a completion worth the target may start
	running  []busy   // by end, the last first
	blocked  []busy   // running, and PEs that no unfixed jobs can use; see reduceCapacity
}

// busy is PEs in use until end.
type busy struct {
	end tick
	pes int
}

// has reports whether a job of the state's words or later is in a set.
func (x *state) has(set []uint64, i int) bool {
	w := i>>6 - int(x.base)
	return w >= len(set) || set[w]>>(i&63)&1 != 0
}

func (x *state) drop(set []uint64, i int) { set[i>>6-int(x.base)] &^= 1 << (i & 63) }

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
	for _, set := range [...][]uint64{x.possible, x.unfixed} {
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
func (x *state) copyTo(z *state) {
	possible, unfixed, running, blocked := z.possible, z.unfixed, z.running, z.blocked
	*z = *x
	z.possible, z.unfixed = append(possible[:0], x.possible...), append(unfixed[:0], x.unfixed...)
	z.running, z.blocked = append(running[:0], x.running...), append(blocked[:0], x.blocked...)
}
