// SPDX-License-Identifier: MIT

// Package duals holds what the bounds of several problems share: dual solutions of linear
// programs turned into proofs, and dual-feasible functions.
package duals

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// DualFeasible returns a lower bound on the number of bins of the given capacity C
// that count[k] items of each size[k] need: the best ⌈Σ f(x) / f(bin)⌉ over three
// families of dual-feasible functions (Fekete, Schepers: New classes of fast lower
// bounds for bin packing problems, 2001). A function f on [0, C] is dual-feasible if
// Σ x ≤ C implies Σ f(x) ≤ f(bin).
//
//   - u(k), k = 1 … 4, with x in units of C: f(x) = ⌊(k+1) x⌋ / k, and x where (k+1) x
//     is whole;
//   - U(e): f(x) = C for x > C - e, 0 for x < e, and x between;
//   - p(e): f(x) = 2 ⌊x/e⌋ for x < C/2, ⌊C/e⌋ for x = C/2, and 2 (⌊C/e⌋ - ⌊(C-x)/e⌋)
//     for x > C/2 (Carlier, Clautiaux, Moukrim: New reduction procedures and lower
//     bounds for the two-dimensional bin packing problem with fixed orientation, 2007).
//
// Why Σ x ≤ C implies Σ f(x) ≤ f(bin):
//
//   - u(k): let the multiples of C/(k+1) among the x sum to a C/(k+1), and the
//     ⌊(k+1) x / C⌋ of the others to b. Without others a ≤ k+1 and Σ f = a/(k+1) ≤ 1.
//     Else a + b < k+1, so b ≤ k - a, and Σ f ≤ a/(k+1) + b/k ≤ 1.
//   - U(e): beside an x > C - e only sizes < e fit, for which f = 0. Without such an
//     x, f(x) ≤ x.
//   - p(e): let all = ⌊C/e⌋. At most one x is > C/2; with it, the others fit in C - x,
//     so theirs is ≤ 2 ⌊(C-x)/e⌋. Without it, Σ 2 ⌊x/e⌋ ≤ 2 all; an x = C/2 counts as
//     all, and what fits beside it is another such x or at most 2 ⌊C/2e⌋ ≤ all.
//
// e runs over the distinct sizes up to C/2, at most 128 of them, evenly spread, or as
// many as ctx allows. All arithmetic is in integers. O(128 n).
func DualFeasible(ctx context.Context, size []int64, count []int32, capacity int64) int64 {
	n, _ := BestDual(ctx, size, count, capacity)
	return n
}

// BestDual is DualFeasible with the function that makes the bound, nil if an item fits
// in no bin or all fit in one.
func BestDual(ctx context.Context, size []int64, count []int32, capacity int64) (best int64, by *model.DualFunction) {
	best = 1
	var half []int64
	for _, x := range size {
		if x > capacity {
			return 1 << 62, nil // this item fits in no bin
		}
		if 2*x <= capacity && x > 0 {
			half = append(half, x)
		}
	}
	name, parameter := "", int64(0)
	value := func(f func(x int64) int64, bin int64) {
		sum := int64(0)
		for k, x := range size {
			sum += f(x) * int64(count[k])
		}
		if n := (sum + bin - 1) / bin; n > best {
			best, by = n, &model.DualFunction{Name: name, Parameter: parameter}
		}
	}
	for k := int64(1); k <= 4 && capacity < 1<<56; k++ {
		name, parameter = "steps", k
		value(StepsDFF(capacity, k))
	}
	slices.Sort(half)
	half = slices.Compact(half)
	step := max(1, len(half)/64)
	for i := 0; i < len(half) && ctx.Err() == nil; i += step {
		e := half[i]
		name, parameter = "threshold", e
		value(ThresholdDFF(capacity, e))
		name = "pieces"
		value(PiecesDFF(capacity, e))
	}
	return best, by
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
