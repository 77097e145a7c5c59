// SPDX-License-Identifier: MIT

package reservation

import (
	"container/list"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Plain is availability as the paper has it (section 4): a linked list of records, an ordered set of their times, and
// for each PE whether it is busy. It is there to be read and to compare availability with.
//
// Find takes O(p (n + u v)), and Add and Delete O(n + u v), for n records, p candidate starts, u PEs and v records in a
// window.
type Plain struct {
	pes     int
	now     int64
	records *list.List // of *plainRecord, by time
	times   []int64    // the paper's TimeSet
}

type plainRecord struct {
	time int64
	busy []bool // by PE
}

// newPlain is an empty list for a number of PEs.
func newPlain(pes int) *Plain { return &Plain{pes: pes, records: list.New()} }

// find is the record at t, found by walking the list.
func (l *Plain) find(t int64) *list.Element {
	for e := l.records.Front(); e != nil; e = e.Next() {
		if e.Value.(*plainRecord).time == t {
			return e
		}
	}
	return nil
}

// Advance does what availability's does.
func (l *Plain) Advance(now int64) {
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
func (l *Plain) slot(t int64) {
	k, found := slices.BinarySearch(l.times, t)
	if found {
		return
	}
	l.times = slices.Insert(l.times, k, t)
	r := &plainRecord{t, make([]bool, l.pes)}
	if k == 0 {
		l.records.PushFront(r)
		return
	}
	before := l.find(l.times[k-1])
	copy(r.busy, before.Value.(*plainRecord).busy)
	l.records.InsertAfter(r, before)
}

// clean removes the record at t if it is redundant (Algorithm 1, line 10).
func (l *Plain) clean(t int64) {
	e := l.find(t)
	before := make([]bool, l.pes)
	if p := e.Prev(); p != nil {
		before = p.Value.(*plainRecord).busy
	}
	if slices.Equal(before, e.Value.(*plainRecord).busy) {
		l.remove(e)
	}
}

// Add does what availability's does.
func (l *Plain) Add(start, end int64, pes model.PEList) error {
	return l.update(start, end, pes, true)
}

// Delete does what availability's does.
func (l *Plain) Delete(start, end int64, pes model.PEList) error {
	return l.update(start, end, pes, false)
}

func (l *Plain) update(start, end int64, pes model.PEList, add bool) error {
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
				return fmt.Errorf("%w: PE %d is, from %v to %v", errBusy, p, start, end)
			case !add && !free[p]:
				return fmt.Errorf("%w: PE %d is, from %v to %v", errFree, p, start, end)
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
				r.busy[p] = add
			}
		}
	}
	l.clean(end)
	l.clean(start)
	return nil
}

// free are the PEs that are free over [start, end), or those that are busy
// all the time.
func (l *Plain) free(start, end int64, busy bool) []bool {
	set := make([]bool, l.pes)
	for p := range set {
		set[p] = true
	}
	keep := func(r []bool) {
		for p := range set {
			if r[p] != busy {
				set[p] = false
			}
		}
	}
	active := make([]bool, l.pes) // at start
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

// Find does what availability's does.
func (l *Plain) Find(q query, p policy) (allocation, bool) {
	q, ok := q.from(l.now)
	if !ok {
		return allocation{}, false
	}
	var best allocation
	var score float64
	found := false
	for _, start := range candidates(l.times, q) {
		w := q.windowOf(start)
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
		if !p.open {
			r.End = min(r.End, q.Deadline)
		}
		c := candidate{pes: float64(n), length: r.length(), load: l.load(w)}
		if x := p.score(c); !found || x < score {
			found, score = true, x
			best = allocation{Start: w.start, End: w.end, Rectangle: r}
			for pe := 0; best.PEs.Len() < q.PEs; pe++ {
				if free[pe] {
					best.PEs = best.PEs.Append(pe)
				}
			}
		}
	}
	return best, found
}

// rectangle stretches a window, record by record to both sides, while the free
// PEs stay free (Algorithm 3).
func (l *Plain) rectangle(w window, free []bool, n int) rectangle {
	r := rectangle{Begin: l.now, End: forever, PEs: n}
	blocked := func(e *list.Element) bool {
		for p, busy := range e.Value.(*plainRecord).busy {
			if busy && free[p] {
				return true
			}
		}
		return false
	}
	var before *list.Element // the last record before the window
	e := l.records.Front()
	for ; e != nil && e.Value.(*plainRecord).time < w.start; e = e.Next() {
		before = e
	}
	for ; e != nil; e = e.Next() {
		if t := e.Value.(*plainRecord).time; t >= w.end && blocked(e) {
			r.End = t
			break
		}
	}
	for e = before; e != nil; e = e.Prev() {
		if blocked(e) {
			r.Begin = e.Next().Value.(*plainRecord).time
			break
		}
	}
	return r
}

// load is the PE-ticks that are taken over a window.
func (l *Plain) load(w window) float64 {
	sum := 0.0
	for e := l.records.Front(); e != nil; e = e.Next() {
		r := e.Value.(*plainRecord)
		end := w.end
		if n := e.Next(); n != nil {
			end = min(end, n.Value.(*plainRecord).time)
		}
		busy := 0
		for _, b := range r.busy {
			if b {
				busy++
			}
		}
		sum += float64(busy) * float64(max(0, end-max(r.time, w.start)))
	}
	return sum
}

// Records does what availability's does.
func (l *Plain) Records() []record {
	var all []record
	for e := l.records.Front(); e != nil; e = e.Next() {
		r := e.Value.(*plainRecord)
		x := record{Time: r.time}
		for p := range l.pes {
			if r.busy[p] {
				x.Busy = x.Busy.Append(p)
			}
		}
		all = append(all, x)
	}
	return all
}

// bookPlain returns the starts and PEs that a policy gives the requests, by
// request, nil for declined: Online done plainly, on Plain.
func bookPlain(in *model.Reservation, p policy) ([]*allocation, error) {
	l, t := newPlain(in.PEs), view.OfReservation(in)
	booked, freed := make([]*allocation, len(in.Requests)), make([]bool, len(in.Requests))
	for k := range in.Requests {
		now := t.Requests[k].Arrival
		for i, a := range booked[:k] {
			if a == nil || freed[i] {
				continue
			}
			q := &t.Requests[i]
			from, known := a.Start+q.Runtime, a.Start+q.Runtime
			if !q.Runs(a.Start) {
				from, known = a.Start, q.Cancel
			}
			if freed[i] = known <= now; freed[i] && from < a.End {
				if err := l.Delete(from, a.End, a.PEs); err != nil {
					return nil, err
				}
			}
		}
		l.Advance(now)
		if a, ok := l.Find(query{t.Requests[k].Ready, t.Requests[k].Duration, t.Requests[k].Deadline, in.Requests[k].PEs}, p); ok {
			booked[k] = &a
			if err := l.Add(a.Start, a.End, a.PEs); err != nil {
				return nil, err
			}
		}
	}
	return booked, nil
}
