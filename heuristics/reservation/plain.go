package reservation

import (
	"container/list"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Plain is the Availability as the paper has it (section 4): a linked list of
// records, an ordered set of their times beside it, and sets of PEs by their
// numbers. It is there to be read and to hold Fast against.
//
// With n records, p candidate starts, u PEs and v records in a window, Find
// takes O(p (n + u v)), Add and Delete O(n + u v).
type Plain struct {
	pes     int
	now     float64
	records *list.List // of *plainRecord, by time
	times   []float64  // the paper's TimeSet
}

type plainRecord struct {
	time float64
	busy map[int]bool
}

// NewPlain is an empty list for a number of PEs.
func NewPlain(pes int) *Plain { return &Plain{pes: pes, records: list.New()} }

// find is the record at t, found by walking the list.
func (l *Plain) find(t float64) *list.Element {
	for e := l.records.Front(); e != nil; e = e.Next() {
		if e.Value.(*plainRecord).time == t {
			return e
		}
	}
	return nil
}

// Advance implements Availability.
func (l *Plain) Advance(now float64) {
	if now <= l.now {
		return
	}
	l.now = now
	l.slot(now)
	for e := l.records.Front(); e.Value.(*plainRecord).time < now; e = l.records.Front() {
		l.remove(e)
	}
	l.clean(now)
}

func (l *Plain) remove(e *list.Element) {
	t := e.Value.(*plainRecord).time
	k, _ := slices.BinarySearch(l.times, t)
	l.times = slices.Delete(l.times, k, k+1)
	l.records.Remove(e)
}

// slot makes sure that there is a record at t, a copy of the one before.
func (l *Plain) slot(t float64) {
	k, found := slices.BinarySearch(l.times, t)
	if found {
		return
	}
	l.times = slices.Insert(l.times, k, t)
	r := &plainRecord{t, map[int]bool{}}
	if k == 0 {
		l.records.PushFront(r)
		return
	}
	before := l.find(l.times[k-1])
	for p := range before.Value.(*plainRecord).busy {
		r.busy[p] = true
	}
	l.records.InsertAfter(r, before)
}

// clean removes the record at t if it is redundant (Algorithm 1, line 10).
func (l *Plain) clean(t float64) {
	e := l.find(t)
	var before map[int]bool
	if p := e.Prev(); p != nil {
		before = p.Value.(*plainRecord).busy
	}
	if sameSet(before, e.Value.(*plainRecord).busy) {
		l.remove(e)
	}
}

func sameSet(a, b map[int]bool) bool {
	if len(a) != len(b) {
		return false
	}
	for p := range a {
		if !b[p] {
			return false
		}
	}
	return true
}

// Add implements Availability.
func (l *Plain) Add(start, end float64, pes model.PEList) error {
	return l.update(start, end, pes, true)
}

// Delete implements Availability.
func (l *Plain) Delete(start, end float64, pes model.PEList) error {
	return l.update(start, end, pes, false)
}

func (l *Plain) update(start, end float64, pes model.PEList, add bool) error {
	if err := checkPEs(pes, l.pes); err != nil {
		return err
	}
	if start = max(start, l.now); start >= end || len(pes) == 0 {
		return nil
	}
	free := l.free(start, end, !add)
	for _, r := range pes {
		for p := r.First; p <= r.Last; p++ {
			switch {
			case add && !free[p]:
				return fmt.Errorf("%w: PE %d is, from %v to %v", ErrBusy, p, start, end)
			case !add && !free[p]:
				return fmt.Errorf("%w: PE %d is, from %v to %v", ErrFree, p, start, end)
			}
		}
	}
	l.slot(start)
	l.slot(end)
	for e := l.records.Front(); e != nil; e = e.Next() {
		r := e.Value.(*plainRecord)
		if r.time < start || r.time >= end {
			continue
		}
		for _, x := range pes {
			for p := x.First; p <= x.Last; p++ {
				if add {
					r.busy[p] = true
				} else {
					delete(r.busy, p)
				}
			}
		}
	}
	l.clean(end)
	l.clean(start)
	return nil
}

// free are the PEs that are free over [start, end), or those that are busy
// all the time.
func (l *Plain) free(start, end float64, busy bool) []bool {
	set := make([]bool, l.pes)
	for p := range set {
		set[p] = true
	}
	keep := func(r map[int]bool) {
		for p := range set {
			if r[p] != busy {
				set[p] = false
			}
		}
	}
	var active map[int]bool // at start
	e := l.records.Front()
	for ; e != nil && e.Value.(*plainRecord).time <= start; e = e.Next() {
		active = e.Value.(*plainRecord).busy
	}
	keep(active)
	for ; e != nil && e.Value.(*plainRecord).time < end; e = e.Next() {
		keep(e.Value.(*plainRecord).busy)
	}
	return set
}

// windows are the candidates of a query, by start.
func (l *Plain) windows(q Query) []window {
	last := q.last()
	all := []window{q.first(), last}
	for _, t := range l.times {
		for _, w := range []window{{t, t + q.Duration}, {t - q.Duration, t}} {
			if w.start >= q.Ready && w.start <= last.start {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, func(a, b window) int {
		switch {
		case a.start < b.start || a.start == b.start && a.end < b.end:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	return slices.CompactFunc(all, func(a, b window) bool { return a.start == b.start })
}

// Find implements Availability.
func (l *Plain) Find(q Query, p Policy) (Allocation, bool) {
	q, ok := q.from(l.now)
	if !ok {
		return Allocation{}, false
	}
	var best Allocation
	var score float64
	found := false
	for _, w := range l.windows(q) {
		free := l.free(w.start, w.end, false)
		n := 0
		for _, x := range free {
			if x {
				n++
			}
		}
		if n < q.PEs {
			continue
		}
		r := l.rectangle(w, free, n)
		if x := p.score(n, r.End-r.Begin); !found || x < score {
			found, score = true, x
			best = Allocation{Start: w.start, End: w.end, Rectangle: r}
			for pe := 0; best.PEs.Len() < q.PEs; pe++ {
				if free[pe] {
					best.PEs = best.PEs.Append(pe)
				}
			}
		}
	}
	return best, found
}

// rectangle stretches a window while the free PEs stay free (Algorithm 3).
func (l *Plain) rectangle(w window, free []bool, n int) Rectangle {
	r := Rectangle{Begin: l.now, End: forever, PEs: n}
	blocked := func(e *list.Element) bool {
		for p := range e.Value.(*plainRecord).busy {
			if free[p] {
				return true
			}
		}
		return false
	}
	for e := l.records.Front(); e != nil; e = e.Next() {
		t := e.Value.(*plainRecord).time
		switch {
		case t >= w.end && blocked(e):
			r.End = t
			return r
		case t < w.start && blocked(e):
			r.Begin = e.Next().Value.(*plainRecord).time
		}
	}
	return r
}

// Records implements Availability.
func (l *Plain) Records() []Record {
	var all []Record
	for e := l.records.Front(); e != nil; e = e.Next() {
		r := e.Value.(*plainRecord)
		x := Record{Time: r.time}
		for p := range l.pes {
			if r.busy[p] {
				x.Busy = x.Busy.Append(p)
			}
		}
		all = append(all, x)
	}
	return all
}
