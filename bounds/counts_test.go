package bounds

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Counts against an array of one number per tick.
func TestCounts(t *testing.T) {
	const horizon = 40
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := &Counts[int64]{PEs: 1 + rng.IntN(5)}
		plain := make([]int, horizon)
		fits := func(pes, length, at int) bool {
			return pes <= c.PEs && (length == 0 || slices.Max(plain[at:at+length])+pes <= c.PEs)
		}
		type booking struct{ start, end, pes int }
		var booked []booking
		for range 25 {
			if len(booked) > 0 && rng.IntN(3) == 0 {
				k := rng.IntN(len(booked))
				b := booked[k]
				booked = slices.Delete(booked, k, k+1)
				c.Add(int64(b.start), int64(b.end), -b.pes)
				for x := b.start; x < b.end; x++ {
					plain[x] -= b.pes
				}
			}
			pes, length := 1+rng.IntN(6), rng.IntN(8)
			from := rng.IntN(horizon - length)
			to := from + rng.IntN(horizon-length-from)
			first, last := -1, -1
			for at := from; at <= to; at++ {
				if fits(pes, length, at) {
					if last = at; first < 0 {
						first = at
					}
				}
			}
			a, okA := c.First(pes, int64(length), int64(from), int64(to))
			b, okB := c.Last(pes, int64(length), int64(from), int64(to))
			if okA != (first >= 0) || okB != okA || okA && (int(a) != first || int(b) != last) {
				t.Fatalf("seed %d: %d PEs for %d in [%d, %d]: %d %v and %d %v, want %d and %d; %v", seed, pes, length, from, to, a, okA, b, okB, first, last, plain)
			}
			if okA && length > 0 {
				booked = append(booked, booking{first, first + length, pes})
				c.Add(a, a+int64(length), pes)
				for x := first; x < first+length; x++ {
					plain[x] += pes
				}
			}
			for x := range plain {
				used := 0
				if k := c.At(int64(x)); k >= 0 {
					used = c.Used[k]
				}
				if used != plain[x] {
					t.Fatalf("seed %d: %d in use at %d, want %d", seed, used, x, plain[x])
				}
			}
			for k := range c.Times {
				if k == 0 && c.Used[0] == 0 || k > 0 && (c.Used[k] == c.Used[k-1] || c.Times[k] <= c.Times[k-1]) {
					t.Fatalf("seed %d: step %d of %v %v is redundant", seed, k, c.Times, c.Used)
				}
			}
		}
	}
}
