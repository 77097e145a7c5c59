// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// crowd books n reservations on 1,024 PEs about as densely as possible in the paper's workloads, each at the earliest
// start from a moment that moves on. It returns when the last begins. Small asks for up to 16 PEs instead of 32 to
// 1,024.
func crowd(b *testing.B, l slotList, n int, small bool) (rng *rand.Rand, last int64) {
	rng = rand.New(rand.NewPCG(1, 2))
	ready := int64(0)
	for range n {
		q := request(rng, ready, small)
		ready += int64(float64(q.Duration) * float64(q.PEs) / 1024 / 0.7)
		q.Deadline = 1e12
		a, ok := l.Find(q, ff)
		if !ok {
			b.Fatal("there is no end to time, and nothing fits")
		}
		require.OK(b, l.Add(a.Start, a.End, a.PEs))
	}
	return rng, ready
}

func request(rng *rand.Rand, ready int64, small bool) query {
	q := query{Ready: ready, Duration: []int64{60, 300, 900, 1800, 3600, 10800}[rng.IntN(6)], PEs: 32 << min(rng.IntN(9), rng.IntN(6))}
	if small {
		q.PEs = 1 + rng.IntN(16)
	}
	q.PEs = min(q.PEs, 1024)
	q.Deadline = q.Ready + int64(float64(q.Duration)*(1+3*rng.Float64()))
	return q
}

// A search, and if it finds something a booking and its deletion, among n
// live reservations. The plain list takes too long for the largest sizes.
func BenchmarkFind(b *testing.B) {
	for _, small := range []bool{false, true} {
		for _, p := range []policy{peW, duB} {
			for _, n := range []int{100, 1000, 10_000, 100_000} {
				for _, name := range []string{"plain", "fast"} {
					if name == "plain" && n > 10_000 || name == "plain" && small && n > 1000 {
						continue
					}
					sizes := "32-1024"
					if small {
						sizes = "1-16"
					}
					b.Run(fmt.Sprintf("sizes=%s/policy=%s/live=%d/%s", sizes, p.name, n, name), func(b *testing.B) {
						// Plain's own bookings would take minutes: copy the other's.
						fast := newAvailability(1024)
						rng, last := crowd(b, fast, n, small)
						var l slotList = fast
						if name == "plain" {
							l = copied(b, fast)
						}
						b.ResetTimer()
						for range b.N {
							q := request(rng, int64(float64(last)*rng.Float64()), small)
							a, ok := l.Find(q, p)
							if !ok {
								continue
							}
							require.OK(b, l.Add(a.Start, a.End, a.PEs))
							require.OK(b, l.Delete(a.Start, a.End, a.PEs))
						}
					})
				}
			}
		}
	}
}

// copied is a plain list of the same records.
func copied(b *testing.B, l slotList) slotList {
	plain := newPlain(1024)
	records := l.Records()
	for i, r := range records {
		if len(r.Busy) > 0 {
			require.OK(b, plain.Add(r.Time, records[i+1].Time, r.Busy))
		}
	}
	return plain
}
