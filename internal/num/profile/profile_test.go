// SPDX-License-Identifier: MIT

package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The test compares a profile with an array of one number per tick.
func TestProfile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		horizon, bookings := 40, 25
		if seed < 4 { // more steps than a block holds
			horizon, bookings = 2000, 1500
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		c := &Profile{Capacity: 1 + rng.IntN(5)}
		plain := make([]int, horizon)
		fits := func(pes, length, at int) bool {
			return pes <= c.Capacity && (length == 0 || slices.Max(plain[at:at+length])+pes <= c.Capacity)
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
			gap := from
			for gap < to && !fits(pes, min(max(1, length), to-gap), gap) {
				gap++
			}
			if g, ok := c.Gap(pes, int64(max(1, length)), int64(from), int64(to)); ok != (gap < to) || ok && int(g) != gap {
				t.Fatalf("seed %d: gap for %d PEs for %d in [%d, %d): %d %v, want %d; %v", seed, pes, length, from, to, g, ok, gap, plain)
			}
			earliest, least, holes := rng.IntN(from+1), rng.IntN(3), [4][][2]int64{}
			c.Holes(int64(earliest), int64(from), int64(to), least, func(class int, start, end int64) {
				holes[class] = append(holes[class], [2]int64{start, end})
			})
			for class := range holes {
				var want [][2]int64
				for at := earliest; at < horizon && class >= least && from < to; at++ {
					end := at
					for end < horizon && fits(1<<class, 1, end) {
						end++
					}
					if end > at && end > from && at < to {
						want = append(want, [2]int64{int64(at), int64(end)})
						if end == horizon {
							want[len(want)-1][1] = math.MaxInt64
						}
					}
					at = end
				}
				if from < to && !slices.Equal(holes[class], want) {
					t.Fatalf("seed %d: holes of %d PEs from %d that meet [%d, %d): %v, want %v; %v", seed, 1<<class, earliest, from, to, holes[class], want, plain)
				}
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
			lo := rng.IntN(horizon)
			hi := lo + 1 + rng.IntN(horizon-lo)
			if at, most := c.Peak(int64(lo), int64(hi)); most != slices.Max(plain[lo:hi]) || int(at) != lo+slices.Index(plain[lo:hi], most) {
				t.Fatalf("seed %d: peak %d at %d in [%d, %d) of %v", seed, most, at, lo, hi, plain)
			}
		}
	}
}

// Two jobs on a machine of 4 processors; a third of 2 must wait for one to end.
func Example() {
	p := Profile{Capacity: 4}
	p.Add(0, 10, 2)
	p.Add(5, 20, 1)
	start, ok := p.First(2, 8, 4, 100)
	fmt.Println(start, ok)
	p.Add(start, start+8, 2)
	p.Steps(0, 25, func(from, to int64, used int) bool {
		fmt.Println(from, to, used)
		return true
	})
	at, most := p.Peak(0, 25)
	fmt.Println("at most", most, "from", at)
	// Output:
	// 10 true
	// 0 5 2
	// 5 18 3
	// 18 20 1
	// 20 25 0
	// at most 3 from 5
}
