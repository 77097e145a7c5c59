package bounds

import "slices"

// DualFeasible returns a lower bound on the number of bins of the given capacity
// that items of the given sizes need, the best over three families of
// dual-feasible functions (Fekete and Schepers: New classes of fast lower
// bounds for bin packing problems, 2001): functions f on [0, capacity] such
// that sizes that fit in a bin have values of at most f's bin value.
//
//   - u(k): x becomes floor((k+1) x), exact multiples stay (k = 1 … 4);
//   - U(e): sizes above capacity - e fill the bin, those below e vanish, the
//     rest stay;
//   - p(e): sizes above one half count as a bin less what could still go beside
//     them in pieces of e, the others count their pieces of e (Carlier, Clautiaux
//     and Moukrim 2007).
//
// Why sum f(x) ≤ f(bin) for sizes x that sum to at most the capacity C:
//
//   - u(k): let the multiples of C/(k+1) among them come to a C/(k+1), and the
//     floors of (k+1) x / C of the others to b. Without others a ≤ k+1, which is
//     worth 1. Else a + b < k+1, so b ≤ k - a, and a/(k+1) + b/k ≤ 1.
//   - U(e): a size above C - e leaves room for none of e and more, so nothing
//     that counts goes beside it; without one, f(x) ≤ x.
//   - p(e): at most one size is above C/2. Without one, sum 2 floor(x/e) ≤
//     2 floor(C/e), a half counts as all = floor(C/e), and two halves fill the
//     bin; beside a half there is less than C/2 or one more half, so at most
//     2 floor(C/2e) ≤ all. With one, the others fit in C - x, which is what it leaves.
//
// e runs over the distinct sizes up to one half, at most 128 of them, evenly
// spread. All arithmetic is in integers. O(128 n).
func DualFeasible(size []int64, count []int32, capacity int64) int64 {
	best := int64(1)
	var half []int64
	for _, x := range size {
		if x > capacity {
			return 1 << 62 // this item fits in no bin
		}
		if 2*x <= capacity && x > 0 {
			half = append(half, x)
		}
	}
	value := func(f func(x int64) int64, bin int64) {
		sum := int64(0)
		for k, x := range size {
			sum += f(x) * int64(count[k])
		}
		best = max(best, (sum+bin-1)/bin)
	}
	for k := int64(1); k <= 4 && capacity < 1<<56; k++ {
		// In multiples of capacity / (k (k+1)), floor values to k+1.
		value(func(x int64) int64 {
			if (k+1)*x%capacity == 0 {
				// x/capacity, a multiple of 1/(k+1), in units of 1/(k(k+1)).
				return (k + 1) * x / capacity * k
			}
			return (k + 1) * x / capacity * (k + 1)
		}, k*(k+1))
	}
	slices.Sort(half)
	half = slices.Compact(half)
	step := max(1, len(half)/64)
	for i := 0; i < len(half); i += step {
		e := half[i]
		value(ThresholdDFF(capacity, e))
		value(PiecesDFF(capacity, e))
	}
	return best
}

// ThresholdDFF is the dual-feasible function that takes sizes above capacity-e for
// all of a bin and those below e for nothing, and the value of a bin; e is at
// most half the capacity.
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

// PiecesDFF is the dual-feasible function that counts pieces of size e: those in a
// small item, and those that a large one leaves no room for.
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
