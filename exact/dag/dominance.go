package dag

// dominance is a level under construction without dominated states (see keep for
// the rule). States of the same tasks are in a chain, found by a hash table.
type dominance struct {
	l      *levels
	states *level
	key    []int32 // all keys
	keyAt  []int64 // where each state's key begins in key
	next   []int32 // the next state in the chain, -1 at its end
	dead   []bool
	first  map[taskSet]int32
	alive  int
}

func newDominance(l *levels, states *level) *dominance {
	return &dominance{l: l, states: states, first: map[taskSet]int32{}}
}

// maxComparisons bounds how many states of the same tasks a new one is compared
// with: more would take longer than they save. Any number is valid.
const maxComparisons = 200

// enter adds an expander's children in their order.
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

// add takes child i of c, with its key, unless a state of the same tasks dominates
// it, and removes those that it dominates.
func (d *dominance) add(c *level, i int, key []int32) {
	first, ok := d.first[c.done[i]]
	if !ok {
		first = -1
	}
	link := int32(-1) // the state before k in the chain
	for k, seen := first, 0; k >= 0 && seen < maxComparisons && d.l.off&devDominance == 0; seen++ {
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

// compare reports which of two keys of the same tasks is nowhere later.
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

// compact returns the level without its dominated states.
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
