package reservation

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/internal/bitset"
	"github.com/gapwise/gapwise/model"
)

// Fast is an Availability for large clusters and long lists. Sets of PEs are
// bits; records lie in blocks of at most blockSize with the union of their
// busy PEs, so that a time is found by binary search and a blocked PE without
// looking at every record; and since the candidate windows of a request have the
// same length, the union over each is had from that of the one before by two
// stacks, in amortised constant time.
//
// With n records, v of them in a request's window, and W words of 64 PEs: Find
// takes O(log n + v W) for FF, PE_B and PE_W, and up to O(v (B + n/B) W) for the
// policies that look at the rectangle's length; Add and Delete O((B + v) W + n/B);
// B is blockSize.
type Fast struct {
	pes, words int
	now        int64
	all        bitset.Set
	blocks     []*block
	scratch    bitset.Set // of update
	scan       scan       // of Find
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

// NewFast is an empty list for a number of PEs.
func NewFast(pes int) *Fast {
	f := &Fast{pes: pes, words: (pes + 63) / 64, all: bitset.New(pes), scratch: bitset.New(pes)}
	f.all.Fill(pes)
	f.scan.init(f)
	return f
}

func (b *block) set(i, words int) bitset.Set { return bitset.Set(b.busy[i*words : (i+1)*words]) }

// at is the last record at or before t; index -1 if there is none.
func (f *Fast) at(t int64) ref {
	k := sort.Search(len(f.blocks), func(k int) bool { return f.blocks[k].times[0] > t }) - 1
	if k < 0 {
		return ref{f.now, 0, -1}
	}
	b := f.blocks[k]
	i := sort.Search(len(b.times), func(i int) bool { return b.times[i] > t }) - 1
	return ref{b.times[i], int32(k), int32(i)}
}

// next is the record after r; ok is false at the end.
func (f *Fast) next(r ref) (n ref, ok bool) {
	k, i := r.block, r.index+1
	if int(k) < len(f.blocks) && int(i) == len(f.blocks[k].times) {
		k, i = k+1, 0
	}
	if int(k) >= len(f.blocks) {
		return ref{}, false
	}
	return ref{f.blocks[k].times[i], k, i}, true
}

// busyAt is a record's set; nil before the first record.
func (f *Fast) busyAt(r ref) bitset.Set {
	if r.index < 0 {
		return nil
	}
	return f.blocks[r.block].set(int(r.index), f.words)
}

// Advance implements Availability; amortised O(1) blocks.
func (f *Fast) Advance(now int64) {
	if now <= f.now {
		return
	}
	f.now = now
	r := f.at(now)
	if r.index < 0 {
		return
	}
	f.blocks = slices.Delete(f.blocks, 0, int(r.block))
	b := f.blocks[0]
	b.times[r.index] = now
	drop := int(r.index)
	if f.busyAt(ref{0, 0, r.index}).Empty() {
		drop++
	}
	f.cut(0, 0, drop)
}

// cut removes records i to j-1 of block k.
func (f *Fast) cut(k, i, j int) {
	if i == j {
		return
	}
	b := f.blocks[k]
	b.times = slices.Delete(b.times, i, j)
	b.busy = slices.Delete(b.busy, i*f.words, j*f.words)
	if len(b.times) == 0 {
		f.blocks = slices.Delete(f.blocks, k, k+1)
		return
	}
	f.unite(b)
}

// unite computes a block's union.
func (f *Fast) unite(b *block) {
	clear(b.union)
	for i := range b.times {
		for w, x := range b.set(i, f.words) {
			b.union[w] |= x
		}
	}
}

// split makes sure that there is a record at t, a copy of the one before.
func (f *Fast) split(t int64) {
	r := f.at(t)
	if r.index >= 0 && r.time == t {
		return
	}
	if len(f.blocks) == 0 {
		f.blocks = []*block{{times: make([]int64, 0, blockSize), busy: make([]uint64, 0, blockSize*f.words), union: bitset.New(f.pes)}}
	}
	b, i := f.blocks[r.block], int(r.index)+1
	if len(b.times) == blockSize {
		const half = blockSize / 2
		rest := &block{times: append(make([]int64, 0, blockSize), b.times[half:]...),
			busy: append(make([]uint64, 0, blockSize*f.words), b.busy[half*f.words:]...), union: bitset.New(f.pes)}
		b.times, b.busy = b.times[:half], b.busy[:half*f.words]
		f.unite(b)
		f.unite(rest)
		f.blocks = slices.Insert(f.blocks, int(r.block)+1, rest)
		if i > half {
			b, i = rest, i-half
		}
	}
	b.times = slices.Insert(b.times, i, t)
	n := len(b.busy)
	b.busy = b.busy[:n+f.words]
	copy(b.busy[(i+1)*f.words:], b.busy[i*f.words:n])
	if to := b.set(i, f.words); i == 0 {
		clear(to) // before the first record
	} else {
		copy(to, b.set(i-1, f.words))
	}
}

// Add implements Availability.
func (f *Fast) Add(start, end int64, pes model.PEList) error {
	return f.update(start, end, pes, true)
}

// Delete implements Availability.
func (f *Fast) Delete(start, end int64, pes model.PEList) error {
	return f.update(start, end, pes, false)
}

func (f *Fast) update(start, end int64, pes model.PEList, add bool) error {
	if err := checkPEs(pes, f.pes); err != nil {
		return err
	}
	start = max(start, f.now)
	if start >= end || len(pes) == 0 {
		return nil
	}
	set := f.scratch
	clear(set)
	addPEs(set, pes)
	for r, ok := f.at(start), true; ok && r.time < end; r, ok = f.next(r) {
		busy := f.busyAt(r)
		for w, x := range set {
			var taken uint64
			if busy != nil {
				taken = busy[w]
			}
			switch {
			case add && taken&x != 0:
				return fmt.Errorf("%w: PE %d is, at %v", ErrBusy, w*64+bits.TrailingZeros64(taken&x), r.time)
			case !add && x&^taken != 0:
				return fmt.Errorf("%w: PE %d is, at %v", ErrFree, w*64+bits.TrailingZeros64(x&^taken), r.time)
			}
		}
	}
	f.split(start)
	f.split(end)
	r := f.at(start)
	for k, i := int(r.block), int(r.index); k < len(f.blocks) && f.blocks[k].times[i] < end; k, i = k+1, 0 {
		b := f.blocks[k]
		first := i
		for ; i < len(b.times) && b.times[i] < end; i++ {
			to := b.set(i, f.words)
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
			f.unite(b)
		}
	}
	// Only the records at the two ends can have become equal to the ones
	// before: between them all have changed alike.
	f.clean(end)
	f.clean(start)
	return nil
}

// clean removes the record at t if it says what the one before says.
func (f *Fast) clean(t int64) {
	r := f.at(t)
	k, i := int(r.block), int(r.index)
	set := f.busyAt(r)
	switch {
	case i > 0:
		if !slices.Equal(set, f.blocks[k].set(i-1, f.words)) {
			return
		}
	case k > 0:
		if b := f.blocks[k-1]; !slices.Equal(set, b.set(len(b.times)-1, f.words)) {
			return
		}
	case !set.Empty():
		return
	}
	f.cut(k, i, i+1)
}

// Records implements Availability.
func (f *Fast) Records() []Record {
	var all []Record
	for _, b := range f.blocks {
		for i, t := range b.times {
			all = append(all, Record{t, lowestPEs(b.set(i, f.words), f.pes)})
		}
	}
	return all
}
