package reservation

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Counts against an array of one number per tick.
func TestCounts(t *testing.T) {
	for seed := range uint64(2000) {
		horizon, bookings := 40, 25
		if seed < 4 { // more steps than a block holds
			horizon, bookings = 2000, 1500
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		c := &Counts{PEs: 1 + rng.IntN(5)}
		plain := make([]int, horizon)
		fits := func(pes, length, at int) bool {
			return pes <= c.PEs && (length == 0 || slices.Max(plain[at:at+length])+pes <= c.PEs)
		}
		type booking struct{ start, end, pes int }
		var booked []booking
		for range bookings {
			if len(booked) > 0 && rng.IntN(5) == 0 {
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
			to := from + min(60, rng.IntN(horizon-length-from))
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
			read := make([]int, horizon)
			before := 0
			c.Steps(0, int64(horizon), func(from, to int64, used int) bool {
				if from > 0 && used == before {
					t.Fatalf("seed %d: the step at %d is redundant", seed, from)
				}
				before = used
				for x := from; x < to; x++ {
					read[x] = used
				}
				return true
			})
			if !slices.Equal(read, plain) {
				t.Fatalf("seed %d: %v, want %v", seed, read, plain)
			}
			if at, most := c.Most(); most != slices.Max(plain) || most > 0 && plain[at] != most {
				t.Fatalf("seed %d: most %d at %d of %v", seed, most, at, plain)
			}
		}
	}
}
