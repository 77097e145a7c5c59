// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
)

// threadTime returns the CPU time of the calling thread.
func threadTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.OK(b, syscall.Getrusage(syscall.RUSAGE_THREAD, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// It shows how searches and updates grow with the number of records, with the number in a request's window, and with
// the PEs. It puts the same crowd on the paper's list (plain) and on availability (fast). One of the three is eight
// times as large in the second run of each pair. It reports CPU time, the number of records, and the mean number of
// records in a window.
func BenchmarkGrowth(b *testing.B) {
	for _, c := range []struct {
		over   string
		live   int // bookings
		slack  float64
		pes    int
		larger bool
	}{
		{"records", 1000, 3, 1024, false}, {"records", 8000, 3, 1024, true},
		{"window", 4000, 3, 1024, false}, {"window", 4000, 31, 1024, true},
		{"PEs", 2000, 3, 1024, false}, {"PEs", 2000, 3, 8192, true},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		ask := func(ready int64, slack float64) query {
			q := request(rng, ready, false)
			q.Deadline = q.Ready + int64(float64(q.Duration)*(1+slack*rng.Float64()))
			q.PEs *= c.pes / 1024
			return q
		}
		fast, last := newAvailability(c.pes), int64(0)
		for range c.live {
			q := ask(last, 0)
			last += int64(float64(q.Duration) * float64(q.PEs) / float64(c.pes) / 0.7)
			q.Deadline = 1e12
			a, ok := fast.Find(q, ff)
			if !ok {
				b.Fatal("there is no end to time, and nothing fits")
			}
			require.OK(b, fast.Add(a.Start, a.End, a.PEs))
		}
		records := fast.Records()
		plain := newPlain(c.pes)
		for i, r := range records {
			if len(r.Busy) > 0 {
				require.OK(b, plain.Add(r.Time, records[i+1].Time, r.Busy))
			}
		}
		for name, l := range map[string]slotList{"plain": plain, "fast": fast} {
			for _, op := range []string{"find", "find-du-b", "update"} {
				policy := peW
				if op == "find-du-b" {
					policy = duB
				}
				b.Run(fmt.Sprintf("over=%s/larger=%t/op=%s/%s", c.over, c.larger, op, name), func(b *testing.B) {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
					rng = rand.New(rand.NewPCG(5, 6)) // the same queries for both lists
					var queries []query
					var found []allocation
					inside := 0
					for range 200 {
						q := ask(int64(float64(last)*rng.Float64()), c.slack)
						queries = append(queries, q)
						if a, ok := fast.Find(q, policy); ok {
							found = append(found, a)
						}
						for _, r := range records {
							if r.Time >= q.Ready && r.Time <= q.Deadline {
								inside++
							}
						}
					}
					operations, began := 0, threadTime(b)
					for range b.N {
						for threadTime(b)-began < 100*time.Millisecond { // the clock is coarse
							if op != "update" {
								for _, q := range queries {
									l.Find(q, policy)
								}
								operations += len(queries)
								continue
							}
							for _, a := range found {
								require.OK(b, l.Add(a.Start, a.End, a.PEs))
								require.OK(b, l.Delete(a.Start, a.End, a.PEs))
							}
							operations += 2 * len(found)
						}
					}
					b.ReportMetric(float64(threadTime(b)-began)/float64(operations), "cpu-ns/op")
					b.ReportMetric(float64(len(records)), "records")
					b.ReportMetric(float64(inside)/float64(len(queries)), "in-window")
					b.ReportMetric(float64(c.pes), "PEs")
				})
			}
		}
	}
}
