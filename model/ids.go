// SPDX-License-Identifier: MIT

package model

import "fmt"

// elements reports errors about an instance or an element of one of its lists. It finds repeated ids, without a map while
// the ids ascend (by length, then alphabetically), as counted ids do.
type elements struct {
	kind  Kind
	list  string             // the path of its key
	id    func(k int) string // the id of element k
	taken map[string]int     // element by id; nil while the ids ascend
}

// bad returns an error about element k; k < 0: about the instance.
func (c *elements) bad(k int, format string, args ...any) error {
	if k < 0 {
		return &ElementError{Kind: c.kind, Index: k, Reason: fmt.Sprintf(format, args...)}
	}
	reason := fmt.Sprintf("id %q: ", c.id(k)) + fmt.Sprintf(format, args...)
	return &ElementError{Kind: c.kind, List: c.list, Index: k, Reason: reason}
}

// wrong describes the error in the id or another key of element k, the struct at x, "" if there is none. If the other
// keys are known to fit they aren't looked at. It must be called for k = 0, 1, 2, ... in this order.
func (c *elements) wrong(k int, fit bool, o *object, x any) string {
	if !fit {
		if why := o.wrong(x); why != "" {
			return why
		}
	}
	if first, ok := c.first(k); ok {
		return fmt.Sprintf("the id is taken by %s[%d] already", c.list, first)
	}
	return ""
}

// first returns the first element before k with k's id, if there is one.
func (c *elements) first(k int) (int, bool) {
	id := c.id(k)
	if c.taken == nil {
		if k == 0 {
			return 0, false
		}
		if last := c.id(k - 1); len(last) < len(id) || len(last) == len(id) && last < id {
			return 0, false
		}
		c.taken = make(map[string]int, 2*k)
		for i := range k {
			c.taken[c.id(i)] = i
		}
	}
	first, ok := c.taken[id]
	if !ok {
		c.taken[id] = k
	}
	return first, ok
}

// idFinder finds the elements of a list by their distinct ids. While the ids are
// asked for in the order of the list it scans on from the last one found. It
// makes a map at the first id that isn't ahead.
type idFinder struct {
	n     int
	at    func(k int) string // the id of element k
	ahead int                // the element to scan next
	index map[string]int     // element by id; nil while not needed
}

// find returns the element with an id.
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

// idIndex finds the elements of a list by their ids. If the numbers at the ids' ends are distinct, as in counted ids,
// it uses a table of the numbers, in a fraction of a map's time.
type idIndex struct {
	at       func(k int) string // the id of element k
	byNumber []int32            // 1 + element by number; nil if there is a map
	byID     map[string]int32
}

// newIDIndex returns the index of n elements. O(n).
func newIDIndex(n int, at func(k int) string) idIndex {
	x := idIndex{at: at, byNumber: make([]int32, 4*n+16)}
	for k := range n {
		number := endNumber(at(k))
		if number < 0 || number >= len(x.byNumber) || x.byNumber[number] > 0 {
			x.byNumber = nil
			break
		}
		x.byNumber[number] = int32(k + 1)
	}
	if x.byNumber != nil {
		return x
	}
	x.byID = make(map[string]int32, n)
	for k := range n {
		x.byID[at(k)] = int32(k)
	}
	return x
}

// find returns the element with an id, -1 if there is none.
func (x *idIndex) find(id string) int32 {
	if x.byNumber == nil {
		if k, ok := x.byID[id]; ok {
			return k
		}
		return -1
	}
	if number := endNumber(id); number >= 0 && number < len(x.byNumber) {
		if k := x.byNumber[number] - 1; k >= 0 && x.at(int(k)) == id {
			return k
		}
	}
	return -1
}

// endNumber returns the number that an id ends with, of at most nine digits, -1 without one.
func endNumber(id string) int {
	number, place, digits := 0, 1, 0
	for k := len(id) - 1; k >= 0 && digits < 9 && id[k] >= '0' && id[k] <= '9'; k-- {
		number += place * int(id[k]-'0')
		place *= 10
		digits++
	}
	if digits == 0 {
		return -1
	}
	return number
}
