// SPDX-License-Identifier: MIT

// Package reservation holds the online policies for advance reservations with deadlines (Li et al.: Resource
// availability-Aware Advance Reservation for Parallel Jobs with Deadlines) over the paper's slot structure. It also
// holds policies of our own and a clairvoyant heuristic.
package reservation

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/model"
)

// availability records which PEs are busy when: the paper's AvailRectList (section 4), a list of records {time, busy
// PEs}, each valid until the next. Times are ticks (see view.Reservation). Before the first record and after the last
// all PEs are free. It is canonical: no two neighbours hold the same PEs, and the first isn't empty.
//
// Sets of PEs are bits. Records lie in blocks of at most blockSize with the union of their busy PEs. So a time is found
// by binary search, and a blocked PE without a look at every record. All candidate windows of a request have the same
// length, so the union over each comes from the union before by two stacks, in amortised constant time.
//
// Let there be n records, v of them in a request's window, W words of 64 PEs and B = blockSize. Find takes O(log n + v
// W) for FF, PE_B and PE_W, and up to O(v (B + n/B) W) for policies that look at the rectangle's length. Add and Delete
// take O((B + v) W + n/B).
type availability struct {
	pes, words int
	now        int64 // what was before is forgotten
	all        bitset.Set
	blocks     []*block
	scratch    bitset.Set // of update
	scan       scan       // of Find
}

// errBusy and errFree say that a PE isn't what Add and Delete need.
var (
	errBusy = errors.New("reservation: a PE is busy")
	errFree = errors.New("reservation: a PE is free")
)

// record says that exactly the PEs Busy are busy from Time to the next record's.
type record struct {
	Time int64
	Busy model.PEList
}

// blockSize is the most records of a block.
const blockSize = 64

// block is some consecutive records.
type block struct {
	times []int64
	busy  []uint64 // words per record
	union bitset.Set
}

// ref is where a record lies, and its time.
type ref struct {
	time  int64
	block int32
	index int32 // -1: before the first record
}

// newAvailability returns an empty list for a number of PEs.
func newAvailability(pes int) *availability {
	l := &availability{pes: pes, words: (pes + 63) / 64, all: bitset.New(pes), scratch: bitset.New(pes)}
	l.all.Fill(pes)
	l.scan.init(l)
	return l
}

func (b *block) set(i, words int) bitset.Set { return bitset.Set(b.busy[i*words : (i+1)*words]) }

// recordAt returns the last record at or before t, with index -1 if there is none.
func (l *availability) recordAt(t int64) ref {
	k := sort.Search(len(l.blocks), func(k int) bool { return l.blocks[k].times[0] > t }) - 1
	if k < 0 {
		return ref{l.now, 0, -1}
	}
	b := l.blocks[k]
	i := sort.Search(len(b.times), func(i int) bool { return b.times[i] > t }) - 1
	return ref{b.times[i], int32(k), int32(i)}
}

// next returns the record after r; ok is false at the end.
func (l *availability) next(r ref) (n ref, ok bool) {
	k, i := r.block, r.index+1
	if int(k) < len(l.blocks) && int(i) == len(l.blocks[k].times) {
		k, i = k+1, 0
	}
	if int(k) >= len(l.blocks) {
		return ref{}, false
	}
	return ref{l.blocks[k].times[i], k, i}, true
}

// busyAt returns a record's set; nil before the first record.
func (l *availability) busyAt(r ref) bitset.Set {
	if r.index < 0 {
		return nil
	}
	return l.blocks[r.block].set(int(r.index), l.words)
}

// Advance makes now the beginning of time: records before it are forgotten, and later calls of Add and Delete about
// that time are ignored. Amortised O(1) blocks.
func (l *availability) Advance(now int64) {
	if now <= l.now {
		return
	}
	l.now = now
	r := l.recordAt(now)
	if r.index < 0 {
		return
	}
	l.blocks = slices.Delete(l.blocks, 0, int(r.block))
	b := l.blocks[0]
	b.times[r.index] = now
	drop := int(r.index)
	if l.busyAt(ref{0, 0, r.index}).Empty() {
		drop++
	}
	l.cut(0, 0, drop)
}

// cut removes records i to j-1 of block k.
func (l *availability) cut(k, i, j int) {
	if i == j {
		return
	}
	b := l.blocks[k]
	b.times = slices.Delete(b.times, i, j)
	b.busy = slices.Delete(b.busy, i*l.words, j*l.words)
	if len(b.times) == 0 {
		l.blocks = slices.Delete(l.blocks, k, k+1)
		return
	}
	l.unite(b)
}

// unite computes a block's union.
func (l *availability) unite(b *block) {
	clear(b.union)
	for i := range b.times {
		for w, x := range b.set(i, l.words) {
			b.union[w] |= x
		}
	}
}

// split makes a record begin at t, a copy of the one before.
func (l *availability) split(t int64) {
	r := l.recordAt(t)
	if r.index >= 0 && r.time == t {
		return
	}
	if len(l.blocks) == 0 {
		l.blocks = []*block{{times: make([]int64, 0, blockSize), busy: make([]uint64, 0, blockSize*l.words), union: bitset.New(l.pes)}}
	}
	b, i := l.blocks[r.block], int(r.index)+1
	if len(b.times) == blockSize {
		const half = blockSize / 2
		rest := &block{times: append(make([]int64, 0, blockSize), b.times[half:]...),
			busy: append(make([]uint64, 0, blockSize*l.words), b.busy[half*l.words:]...), union: bitset.New(l.pes)}
		b.times, b.busy = b.times[:half], b.busy[:half*l.words]
		l.unite(b)
		l.unite(rest)
		l.blocks = slices.Insert(l.blocks, int(r.block)+1, rest)
		if i > half {
			b, i = rest, i-half
		}
	}
	b.times = slices.Insert(b.times, i, t)
	n := len(b.busy)
	b.busy = b.busy[:n+l.words]
	copy(b.busy[(i+1)*l.words:], b.busy[i*l.words:n])
	if to := b.set(i, l.words); i == 0 {
		clear(to) // before the first record
	} else {
		copy(to, b.set(i-1, l.words))
	}
}

// Add books PEs over [start, end) (Algorithm 1). The error is errBusy if one is
// taken there, or model.ErrInvalid for a list that isn't one of the cluster's PEs;
// nothing is changed then.
func (l *availability) Add(start, end int64, pes model.PEList) error {
	return l.update(start, end, pes, true)
}

// Delete frees PEs over [start, end) (Algorithm 2), of a job that ended early, or of a booking that was cancelled. The
// error is errFree if one is free there, or ErrInvalid; nothing is changed then.
func (l *availability) Delete(start, end int64, pes model.PEList) error {
	return l.update(start, end, pes, false)
}

func (l *availability) update(start, end int64, pes model.PEList, add bool) error {
	if err := checkPEs(pes, l.pes); err != nil {
		return err
	}
	start = max(start, l.now)
	if start >= end || len(pes) == 0 {
		return nil
	}
	set := l.scratch
	clear(set)
	bookings.AddPEs(set, pes)
	for r, ok := l.recordAt(start), true; ok && r.time < end; r, ok = l.next(r) {
		busy := l.busyAt(r)
		for w, x := range set {
			var taken uint64
			if busy != nil {
				taken = busy[w]
			}
			switch {
			case add && taken&x != 0:
				return fmt.Errorf("%w: PE %d is, at %d", errBusy, w*64+bits.TrailingZeros64(taken&x), r.time)
			case !add && x&^taken != 0:
				return fmt.Errorf("%w: PE %d is, at %d", errFree, w*64+bits.TrailingZeros64(x&^taken), r.time)
			}
		}
	}
	l.split(start)
	l.split(end)
	r := l.recordAt(start)
	for k, i := int(r.block), int(r.index); k < len(l.blocks) && l.blocks[k].times[i] < end; k, i = k+1, 0 {
		b := l.blocks[k]
		first := i
		for ; i < len(b.times) && b.times[i] < end; i++ {
			to := b.set(i, l.words)
			for w, x := range set {
				if add {
					to[w] |= x
				} else {
					to[w] &^= x
				}
			}
		}
		switch {
		case add:
			for w, x := range set {
				b.union[w] |= x
			}
		case first == 0 && i == len(b.times):
			for w, x := range set {
				b.union[w] &^= x
			}
		default:
			l.unite(b)
		}
	}
	// Only the records at the two ends can have become equal to the ones
	// before: between them all have changed alike.
	l.clean(end)
	l.clean(start)
	return nil
}

// clean removes the record at t if it equals the one before.
func (l *availability) clean(t int64) {
	r := l.recordAt(t)
	k, i := int(r.block), int(r.index)
	set := l.busyAt(r)
	switch {
	case i > 0:
		if !slices.Equal(set, l.blocks[k].set(i-1, l.words)) {
			return
		}
	case k > 0:
		if b := l.blocks[k-1]; !slices.Equal(set, b.set(len(b.times)-1, l.words)) {
			return
		}
	case !set.Empty():
		return
	}
	l.cut(k, i, i+1)
}

// Records returns all records, for tests and for people.
func (l *availability) Records() []record {
	var all []record
	for _, b := range l.blocks {
		for i, t := range b.times {
			all = append(all, record{t, bookings.LowestPEs(b.set(i, l.words), l.pes)})
		}
	}
	return all
}

// checkPEs returns an ErrInvalid for a list that isn't ascending, disjoint and
// within 0 to pes-1.
func checkPEs(l model.PEList, pes int) error {
	next := 0
	for _, r := range l {
		if r.First < next || r.Last < r.First || r.Last >= pes {
			return fmt.Errorf("reservation: %w PE list %q: must be ascending ranges from 0 to %d", model.ErrInvalid, l, pes-1)
		}
		next = r.Last + 1
	}
	return nil
}
