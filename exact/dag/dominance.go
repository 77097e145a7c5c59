package dag

// dominance is a level under construction that keeps no state which another
// dominates. States are found by their tasks in a hash table; those of the same
// tasks are in a chain.
type dominance struct {
	l      *levels
	states *level
	key    []int32 // all keys
	keyAt  []int64 // of each state
	next   []int32 // state in the chain, -1 at its end
	dead   []bool
	first  map[taskSet]int32
	alive  int
}

func newDominance(l *levels, states *level) *dominance {
	return &dominance{l: l, states: states, first: map[taskSet]int32{}}
}

// longest is how many states of the same tasks a new one is held against: more
// would take longer than they save.
const longest = 200

// enter takes an expander's children in their order.
func (d *dominance) enter(x *expander) {
	c := &x.children
	for i := range c.bound {
		if c.bound[i] >= d.l.upper {
			continue
		}
		to := int32(len(x.keys))
		if i+1 < len(x.keyAt) {
			to = x.keyAt[i+1]
		}
		d.add(c, i, x.keys[x.keyAt[i]:to])
	}
}

func (d *dominance) add(c *level, i int, key []int32) {
	first, ok := d.first[c.done[i]]
	if !ok {
		first = -1
	}
	link := int32(-1) // the state before k in the chain
	for k, seen := first, 0; k >= 0 && seen < longest && d.l.off&devDominance == 0; seen++ {
		other := d.key[d.keyAt[k]:][:len(key)]
		switch compare(other, key) {
		case otherWins:
			if link >= 0 { // winners go to the front: they will win again
				d.next[link] = d.next[k]
				d.next[k] = first
				d.first[c.done[i]] = k
			}
			return
		case newWins:
			d.dead[k] = true
			d.alive--
			after := d.next[k]
			if link >= 0 {
				d.next[link] = after
			} else {
				first = after
			}
			k = after
			continue
		}
		link, k = k, d.next[k]
	}
	k := int32(d.states.len())
	d.states.take(c, i)
	d.keyAt = append(d.keyAt, int64(len(d.key)))
	d.key = append(d.key, key...)
	d.next = append(d.next, first)
	d.dead = append(d.dead, false)
	d.first[c.done[i]] = k
	d.alive++
}

const (
	neither = iota
	otherWins
	newWins
)

// compare tells which of two keys of the same tasks is nowhere later.
func compare(other, key []int32) int {
	le, ge := true, true
	for i, v := range key {
		if other[i] > v {
			le = false
			if !ge {
				return neither
			}
		} else if other[i] < v {
			ge = false
			if !le {
				return neither
			}
		}
	}
	switch {
	case le:
		return otherWins
	case ge:
		return newWins
	}
	return neither
}

// compact is the level without its dead states.
func (d *dominance) compact() *level {
	if d.alive == d.states.len() {
		return d.states
	}
	kept := &level{n: d.l.n, m: d.l.m}
	for k, dead := range d.dead {
		if !dead {
			kept.take(d.states, k)
		}
	}
	return kept
}
