package model

// idCheck finds ids that stand twice in a list. As long as each id is longer
// than the one before it, or as long and greater, none does: ids that count up
// need no map.
type idCheck struct {
	at    func(k int) string // the id of element k
	taken map[string]int     // element by id, nil as long as the ids ascend
}

// first returns the element before k that has k's id, if there is one. It must
// have been asked for all elements before k.
func (c *idCheck) first(k int) (int, bool) {
	id := c.at(k)
	if c.taken == nil {
		if k == 0 {
			return 0, false
		}
		if last := c.at(k - 1); len(last) < len(id) || len(last) == len(id) && last < id {
			return 0, false
		}
		c.taken = make(map[string]int, 2*k)
		for i := range k {
			c.taken[c.at(i)] = i
		}
	}
	first, ok := c.taken[id]
	if !ok {
		c.taken[id] = k
	}
	return first, ok
}

// idFinder finds the elements of a list by their ids, which are distinct. As long
// as it is asked in the order of the list it goes on from the last one that it
// found. The first id that isn't ahead has it make a map.
type idFinder struct {
	n     int
	at    func(k int) string // the id of element k
	ahead int                // where to go on
	index map[string]int     // element by id, nil as long as none was needed
}

func (f *idFinder) find(id string) (k int, ok bool) {
	for ; f.index == nil && f.ahead < f.n; f.ahead++ {
		if f.at(f.ahead) == id {
			f.ahead++
			return f.ahead - 1, true
		}
	}
	if f.index == nil {
		f.index = make(map[string]int, f.n)
		for k := range f.n {
			f.index[f.at(k)] = k
		}
	}
	k, ok = f.index[id]
	return k, ok
}
