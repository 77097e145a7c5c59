// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// mvp is an instance of vector bin packing with several types of bins: items of several dimensions for the cheapest
// bins.
type mvp struct {
	bins  []mvpBins
	items []vbpItem // also those with the count 0
}

// mvpBins are the bins of a type.
type mvpBins struct {
	capacity     []int64 // by dimension
	cost, number int64   // number: at most so many; -1: any number
}

// Bounds of an MVP file. VPSolver reads numbers of 32 bits, and the sums of a million of them are exact.
const (
	maxMVPDimensions = 64
	maxMVPNumber     = math.MaxInt32
	maxMVPCost       = 100_000_000
)

// readMVP reads VPSolver's format of packing with several types of bins and items of several choices (Brandão: VPSolver
// 3: Multiple-choice Vector Packing Solver, 2016). It has whole numbers in free format. They are the number of
// dimensions; the number of types; of each the capacities, the cost, and how many there are (-1: any number); the
// number of items; of each the number of choices, how many such items there are, and the sizes of each choice. Its
// options are refused.
//
// Items with one choice are read, as a task has the same needs on each host. VPSolver packs at least as many items as
// there are, which costs as little as so many. It takes costs below 0, too, and then buys bins for nothing but their
// cost; the model has none. Errors wrap model.ErrInvalid.
func readMVP(data []byte) (mvp, error) {
	r := vbpReader{format: formatMVP, words: bytes.Fields(data)}
	d, v := r.next("the number of dimensions", 1, maxMVPDimensions), mvp{}
	for t := range r.next("the number of types of bins", 1, maxVBPHosts) {
		if r.err != nil {
			break
		}
		b := mvpBins{capacity: make([]int64, d)}
		for k := range b.capacity {
			b.capacity[k] = r.next(fmt.Sprintf("capacity %d of type %d", k+1, t+1), 0, maxMVPNumber)
		}
		b.cost = r.next(fmt.Sprintf("the cost of type %d", t+1), 0, maxMVPCost)
		b.number = r.next(fmt.Sprintf("the number of bins of type %d (-1: any number)", t+1), -1, maxMVPNumber)
		v.bins = append(v.bins, b)
	}
	for i := range r.next("the number of items", 1, maxVBPTasks) {
		if r.err != nil {
			break
		}
		choices := r.next(fmt.Sprintf("the number of choices of item %d", i+1), 1, maxVBPTasks)
		it := vbpItem{Size: make([]int64, d), Count: r.next(fmt.Sprintf("the count of item %d", i+1), 0, maxVBPTasks)}
		if choices > 1 {
			r.failf("item %d has %d choices, a task has one size; "+
				"keep one choice of each item: the file's optimum is at most as high", i+1, choices)
		}
		for k := range it.Size {
			it.Size[k] = r.next(fmt.Sprintf("size %d of item %d", k+1, i+1), 0, maxMVPNumber)
		}
		r.add(it, i)
		holds := func(b mvpBins) bool { return b.number != 0 && fits(it.Size, b.capacity) }
		if it.Count > 0 && !slices.ContainsFunc(v.bins, holds) {
			r.failf("item %d is larger than each type of bins of which there are any; leave it out or add a type", i+1)
		}
		v.items = append(v.items, it)
	}
	return v, r.end()
}

func fits(size, capacity []int64) bool {
	for k, x := range size {
		if x > capacity[k] {
			return false
		}
	}
	return true
}

// readMVPFile reads an MVP file. Types of bins are offers, whose price is the cost, and items are jobs; both have their
// numbers in the file.
func readMVPFile(f *File, o Options) (model.Instance, error) {
	if err := cmp.Or(f.checkName(), f.noPlatform(o, "an MVP file")); err != nil {
		return nil, err
	}
	if o.Kind != "" && o.Kind != model.KindConsolidation {
		return nil, fmt.Errorf("%w kind %q: items and several types of bins become %s",
			model.ErrInvalid, o.Kind, model.KindConsolidation)
	}
	v, err := readMVP(f.data)
	if err != nil {
		return nil, err
	}
	a, in := f.account, consolidationOf(f.name, v.bins[0].capacity, v.items)
	tasks := in.Tasks()
	for t, b := range v.bins {
		id, count := fmt.Sprintf("bin%d", t+1), tasks
		switch {
		case b.number == 0:
			a.LeftOut.Add(id, "types of bins of which there are none")
			continue
		case b.number < 0:
			a.Assumed.Add(id, "types of bins without a limit: one bin for each item")
		default: // a bin in use has an item
			count = int(min(b.number, int64(tasks)))
		}
		in.Offers = append(in.Offers, model.HostOffer{ID: id, Capacity: b.capacity, Price: b.cost, Count: count})
	}
	for i, it := range v.items {
		if it.Count == 0 {
			a.LeftOut.Add(fmt.Sprintf("item%d", i+1), "items of which there are none")
		}
	}
	a.Took(float64(tasks), "items")
	a.Took(float64(len(in.Offers)), "types of bins")
	a.Took(float64(len(in.Resources)), "dimensions")
	a.Remarks.Say("prices are the costs of the file, which have no unit")
	in.Account = a
	return in, in.Validate()
}

// isMVP reports whether a text has as many numbers as VPSolver's files with several types of bins and with items of
// several choices: the dimensions; the number of types, each with its capacities, cost and number; the number of items,
// each with the number of its choices, its demand and the sizes of each choice.
func isMVP(f *File) bool {
	if f.start == "" || !isDigit(f.start[0]) {
		return false
	}
	words := bytes.Fields(f.data)
	d, types := countAt(words, 0), countAt(words, 1)
	if d < 1 || d > 65 || types < 1 {
		return false
	}
	at := 2 + types*(d+2)
	for left := countAt(words, at); left > 0; left-- {
		choices := countAt(words, at+1)
		if choices < 1 {
			return false
		}
		if at += 2 + choices*d; left == 1 {
			return at+1 == int64(len(words))
		}
	}
	return false
}
