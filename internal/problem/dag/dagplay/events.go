// SPDX-License-Identifier: MIT

package dagplay

// event happens at a time of a replay. Events of one time come in the order of what,
// then id.
type event struct {
	at   float64 // seconds
	what int32
	id   int32 // task, edge or file
}

const (
	taskEnds   int32 = iota
	arrives          // a transfer that shares no link
	flowBegins       // the start-up of a transfer that shares links has passed
	sends            // a transfer that was held back starts
	lands            // a file that shares no link is there
)

func (a event) before(b event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.what != b.what {
		return a.what < b.what
	}
	return a.id < b.id
}

// events is a binary heap, the first event on top. It isn't internal/num/heap, because the comparison there isn't
// inlined: that makes a replay take a quarter longer.
type events []event

func (h *events) push(x event) {
	*h = append(*h, x)
	a := *h
	k := len(a) - 1
	for k > 0 {
		up := (k - 1) / 2
		if !x.before(a[up]) {
			break
		}
		a[k] = a[up]
		k = up
	}
	a[k] = x
}

func (h *events) pop() event {
	a := *h
	top, last := a[0], len(a)-1
	x := a[last]
	a = a[:last]
	*h = a
	if last == 0 {
		return top
	}
	k := 0
	for {
		c := 2*k + 1
		if c >= last {
			break
		}
		if c+1 < last && a[c+1].before(a[c]) {
			c++
		}
		if !a[c].before(x) {
			break
		}
		a[k] = a[c]
		k = c
	}
	a[k] = x
	return top
}

// push and pop keep a class's transfers as a heap, the first to end on top, by the
// code of events, for the same reason.
func (c *class) push(f flow) {
	c.due = append(c.due, f)
	k := len(c.due) - 1
	for k > 0 {
		up := (k - 1) / 2
		if !f.before(c.due[up]) {
			break
		}
		c.due[k] = c.due[up]
		k = up
	}
	c.due[k] = f
}

func (c *class) pop() flow {
	top, last := c.due[0], len(c.due)-1
	f := c.due[last]
	c.due = c.due[:last]
	if last == 0 {
		return top
	}
	k := 0
	for {
		i := 2*k + 1
		if i >= last {
			break
		}
		if i+1 < last && c.due[i+1].before(c.due[i]) {
			i++
		}
		if !c.due[i].before(f) {
			break
		}
		c.due[k] = c.due[i]
		k = i
	}
	c.due[k] = f
	return top
}

func (a flow) before(b flow) bool { return a.end < b.end || a.end == b.end && a.file < b.file }
