// SPDX-License-Identifier: MIT

package batch

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Sums by estimated end are compared with a list's.
func TestEstimatedEnds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 3))
	type job struct {
		k, width int32
		at       int64
	}
	for _, jobs := range []int{1, 5, 100} {
		e, list := newEstimatedEnds(), []job(nil)
		for range 3000 {
			k := int32(rng.IntN(jobs))
			if i := slices.IndexFunc(list, func(x job) bool { return x.k == k }); i >= 0 {
				e.remove(k, list[i].at, list[i].width)
				list = slices.Delete(list, i, i+1)
			} else {
				x := job{k, 1 + rng.Int32N(5), rng.Int64N(20)}
				e.add(k, x.at, x.width)
				list = append(list, x)
			}
			until := func(t int64) (width int32) {
				for _, x := range list {
					if x.at <= t {
						width += x.width
					}
				}
				return width
			}
			at := rng.Int64N(22) - 1
			require.Is(t, until(at), e.until(at), "until", at)
			if total := until(20); total > 0 {
				width, want := 1+rng.Int32N(total), int64(0)
				for until(want) < width {
					want++
				}
				require.Is(t, want, e.reach(width), "reach", width)
			}
		}
	}
}

// The queue finds the jobs that a scan of all finds: the rule by which it skips
// subtrees loses none.
func TestWaiting(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 4))
	for _, positions := range []int{0, 1, 8, 9, 63, 64, 65, 513, 5000} {
		q, list := newWaiting(rng.IntN(positions+1)), make([]*request, positions) // it grows
		for range 3000 {
			if positions > 0 {
				if i := rng.IntN(positions); list[i] != nil {
					q.remove(int32(i))
					list[i] = nil
				} else {
					list[i] = &request{width: 1 + rng.Int32N(20), estimate: 1 + rng.Int64N(20)}
					q.add(int32(i), list[i].width, list[i].estimate)
				}
			}
			from, free, extra, slack := rng.IntN(positions+1), rng.Int32N(12), rng.Int32N(12), rng.Int64N(12)
			want := slices.IndexFunc(list[from:], func(j *request) bool {
				return j != nil && j.width <= free && (j.estimate <= slack || j.width <= extra)
			})
			if want >= 0 {
				want += from
			}
			to := min(positions, len(q.levels[0].width))
			from = min(from, to)
			for to > 0 && list[to-1] == nil && rng.IntN(20) > 0 {
				to--
			}
			if got := q.next(int32(from), int32(to), free, extra, slack); int(got) != want {
				t.Fatalf("%d positions: next(%d, %d, %d, %d, %d) is %d, want %d", positions, from, to, free, extra, slack, got, want)
			}
		}
	}
}

// So does the queue in an order of its own.
func TestOrdered(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 5))
	for _, jobs := range []int32{1, 7, 60, 1000} {
		rank := rng.Perm(int(jobs))
		q, list := newOrdered(func(a, b int32) bool { return rank[a] < rank[b] }), make([]*request, jobs) // by rank
		for range 3000 {
			k := rng.Int32N(jobs)
			if i := rank[k]; list[i] != nil {
				q.remove(k)
				list[i] = nil
			} else {
				list[i] = &request{width: 1 + rng.Int32N(20), estimate: 1 + rng.Int64N(20)}
				q.add(k, list[i].width, list[i].estimate)
			}
			after, free, extra, slack := rng.Int32N(jobs+1)-1, rng.Int32N(12), rng.Int32N(12), rng.Int64N(12)
			from := 0
			if after >= 0 {
				from = rank[after] + 1
			}
			want := int32(-1)
			for i := from; i < int(jobs) && want < 0; i++ {
				if j := list[i]; j != nil && j.width <= free && (j.estimate <= slack || j.width <= extra) {
					want = int32(slices.Index(rank, i))
				}
			}
			if got := q.next(after, free, extra, slack); got != want {
				t.Fatalf("%d jobs: next(%d, %d, %d, %d) is %d, want %d", jobs, after, free, extra, slack, got, want)
			}
		}
	}
}

// everything has easy and conservative look at all waiting jobs in each pass: the
// rules by which they skip some are off.
type everything struct{ scheduler }

func (s everything) pass() {
	switch x := s.scheduler.(type) {
	case *easy:
		x.stale = true
	case *conservative:
		for c := range x.freed.class {
			x.freed.add(c, 0, 0, never)
		}
	}
	s.scheduler.pass()
}

// The rules by which passes skip waiting jobs don't change a schedule, at sizes that
// people use, with queues of hundreds of jobs, overruns included.
func TestWithoutSkipping(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func(*machine) scheduler{"easy": newEASY, "easy-sjbf": newEASYSJBF, "easy-saf": newEASYSAF, "conservative": newConservative} {
		for _, load := range []float64{0.8, 1.3} {
			b := workload(t, 1, 3000, load)
			for k := range b.Jobs {
				if k%7 == 0 {
					b.Jobs[k].Estimate = 1 + b.Jobs[k].Estimate/10
				}
			}
			for _, order := range []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderPyss} {
				got := simulate(t, b, order, by)
				want := simulate(t, b, order, func(m *machine) scheduler { return everything{by(m)} })
				if !slices.Equal(got.Starts, want.Starts) {
					t.Errorf("%s at load %v in order %s: other starts with all jobs looked at", name, load, order)
				}
			}
		}
	}
}
