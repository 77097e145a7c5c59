// SPDX-License-Identifier: MIT

// Package duals holds the common parts of several problems' bounds: dual solutions of linear programs turned into
// proofs, and dual-feasible functions.
package duals

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// DualFeasible returns a lower bound on the number of bins of the given capacity C that count[k] items of each size[k]
// need. It is the best ⌈Σ f(x) / f(bin)⌉ over three families of dual-feasible functions (Fekete, Schepers: New classes
// of fast lower bounds for bin packing problems, 2001). A function f on [0, C] is dual-feasible if Σ x ≤ C implies Σ
// f(x) ≤ f(bin).
//
//   - u(k), k = 1 … 4, with x in units of C: f(x) = ⌊(k+1) x⌋ / k, and x where (k+1) x
//     is whole;
//   - U(e): f(x) = C for x > C - e, 0 for x < e, and x between;
//   - p(e): f(x) = 2 ⌊x/e⌋ for x < C/2, ⌊C/e⌋ for x = C/2, and 2 (⌊C/e⌋ - ⌊(C-x)/e⌋) for x > C/2 (Carlier, Clautiaux,
//     Moukrim: New reduction procedures and lower bounds for the two-dimensional bin packing problem with fixed
//     orientation, 2007).
//
// Why Σ x ≤ C implies Σ f(x) ≤ f(bin):
//
//   - u(k): let the multiples of C/(k+1) among the x sum to a C/(k+1), and the
//     ⌊(k+1) x / C⌋ of the others to b. Without others a ≤ k+1 and Σ f = a/(k+1) ≤ 1.
//     Else a + b < k+1, so b ≤ k - a, and Σ f ≤ a/(k+1) + b/k ≤ 1.
//   - U(e): beside an x > C - e only sizes < e fit, for which f = 0. Without such an
//     x, f(x) ≤ x.
//   - p(e): let all = ⌊C/e⌋. At most one x is > C/2; with it, the others fit in C - x, so theirs is ≤ 2 ⌊(C-x)/e⌋.
//     Without it, Σ 2 ⌊x/e⌋ ≤ 2 all; an x = C/2 counts as all, and the rest beside it is another such x or at most 2
//     ⌊C/2e⌋ ≤ all.
//
// e runs over the distinct sizes up to C/2, at most 128 of them, evenly spread, or as
// many as ctx allows. All arithmetic is in integers. O(n log n), and O(128 n) at worst;
// see Items.
func DualFeasible(ctx context.Context, size []int64, count []int32, capacity int64) int64 {
	n, _ := NewItems(size, count).Bound(ctx, capacity)
	return n
}

// Items are items by size, for bounds on bins of several capacities.
type Items struct {
	size   []int64 // distinct and positive, increasing
	number []int64 // [k]: of the items of the first k sizes
	sum    []int64 // [k]: of their sizes
}

// NewItems sorts the items, count[k] of each size[k], which are at least 0. O(n log n).
func NewItems(size []int64, count []int32) *Items {
	type item struct {
		size  int64
		count int32
	}
	all := make([]item, 0, len(size))
	for k, x := range size {
		if x > 0 && count[k] > 0 {
			all = append(all, item{x, count[k]})
		}
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Compare(a.size, b.size) })
	t := &Items{size: make([]int64, 0, len(all)), number: make([]int64, 1, len(all)+1), sum: make([]int64, 1, len(all)+1)}
	for _, x := range all {
		k := len(t.size)
		if k == 0 || t.size[k-1] < x.size {
			t.size, t.number, t.sum = append(t.size, x.size), append(t.number, t.number[k]), append(t.sum, t.sum[k])
			k++
		}
		t.number[k] += int64(x.count)
		t.sum[k] += x.size * int64(x.count)
	}
	return t
}

// below returns the number of sizes less than x.
func (t *Items) below(x int64) int {
	k, _ := slices.BinarySearch(t.size, x)
	return k
}

// Bound is DualFeasible for bins of one capacity, with the function that makes the bound,
// nil if an item fits in no bin or all fit in one. A function that is constant on few
// ranges of sizes takes a binary search for each, else O(n).
func (t *Items) Bound(ctx context.Context, capacity int64) (best int64, by *model.DualFunction) {
	best = 1
	n := len(t.size)
	if n == 0 {
		return best, nil
	}
	if t.size[n-1] > capacity {
		return 1 << 62, nil // this item fits in no bin
	}
	better := func(sum, bin int64, name string, parameter int64) {
		if n := (sum + bin - 1) / bin; n > best {
			best, by = n, &model.DualFunction{Name: name, Parameter: parameter}
		}
	}
	for k := int64(1); k <= 4 && capacity < 1<<56; k++ {
		f, bin := StepsDFF(capacity, k)
		sum, from := int64(0), 0
		for part := int64(0); part <= k+1; part++ {
			// Sizes with ⌊(k+1) x / C⌋ = part; the least of them may be the multiple itself.
			to := t.below(((part+1)*capacity + k) / (k + 1))
			if from < to {
				sum += f(t.size[from]) * (t.number[from+1] - t.number[from])
			}
			if from+1 < to {
				sum += f(t.size[from+1]) * (t.number[to] - t.number[from+1])
			}
			from = to
		}
		better(sum, bin, "steps", k)
	}
	half := t.below(capacity/2 + 1)
	step := max(1, half/64)
	for i := 0; i < half && ctx.Err() == nil; i += step {
		e := t.size[i]
		large := t.below(capacity - e + 1)
		better(t.sum[large]-t.sum[i]+capacity*(t.number[n]-t.number[large]), capacity, "threshold", e)
		sum, bin := t.pieces(capacity, e, i)
		better(sum, bin, "pieces", e)
	}
	return best, by
}

// pieces returns the sum of PiecesDFF(capacity, e) over the items, and its value of a bin;
// e is the size of index i.
func (t *Items) pieces(capacity, e int64, i int) (sum, bin int64) {
	f, bin := PiecesDFF(capacity, e)
	n := len(t.size)
	if int64(n-i)/8 < capacity/e {
		for k := i; k < n; k++ {
			sum += f(t.size[k]) * (t.number[k+1] - t.number[k])
		}
		return sum, bin
	}
	// f is constant where ⌊x/e⌋ is, below C/2, and where ⌊(C-x)/e⌋ is, above.
	for from := i; from < n; {
		x, to := t.size[from], from+1
		switch {
		case 2*x < capacity:
			to = t.below(min(x/e*e+e, (capacity+1)/2))
		case 2*x > capacity:
			to = t.below(capacity - (capacity-x)/e*e + 1)
		}
		sum += f(x) * (t.number[to] - t.number[from])
		from = to
	}
	return sum, bin
}

// StepsDFF returns the dual-feasible function u(k) of DualFeasible, in units of
// 1/(k(k+1)), and its value of a bin; 1 ≤ k ≤ 4, capacity < 2^56.
func StepsDFF(capacity, k int64) (f func(x int64) int64, bin int64) {
	return func(x int64) int64 {
		if (k+1)*x%capacity == 0 {
			return (k + 1) * x / capacity * k
		}
		return (k + 1) * x / capacity * (k + 1)
	}, k * (k + 1)
}

// ThresholdDFF returns the dual-feasible function U(e) of DualFeasible and its value
// of a bin; 0 < e ≤ capacity/2.
func ThresholdDFF(capacity, e int64) (f func(x int64) int64, bin int64) {
	return func(x int64) int64 {
		switch {
		case x > capacity-e:
			return capacity
		case x >= e:
			return x
		}
		return 0
	}, capacity
}

// PiecesDFF returns the dual-feasible function p(e) of DualFeasible and its value of
// a bin; 0 < e ≤ capacity/2.
func PiecesDFF(capacity, e int64) (f func(x int64) int64, bin int64) {
	all := capacity / e
	return func(x int64) int64 {
		switch {
		case 2*x > capacity:
			return 2 * (all - (capacity-x)/e)
		case 2*x == capacity:
			return all
		}
		return 2 * (x / e)
	}, 2 * all
}
