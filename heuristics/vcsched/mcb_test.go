// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// textbook packs at a yield as section 3.4 describes, with nothing saved: lists are slices that tasks are cut out of,
// and each search starts at their head.
func textbook(u *view.VCSched, variant int, yield float64) ([]int32, bool) {
	c := func(i int32) float64 { return float64(u.CPU[i]) * yield / float64(u.Scale) }
	m := func(i int32) float64 { return float64(u.Memory[i]) / float64(u.Scale) }
	key := func(i int32) float64 {
		switch (variant - 1) % 4 {
		case 0:
			return m(i) + c(i)
		case 1:
			return math.Abs(m(i) - c(i))
		case 2:
			return math.Max(m(i), c(i)) / math.Min(m(i), c(i))
		}
		return math.Max(m(i), c(i))
	}
	var byCPU, byMemory []int32
	for i := range int32(len(u.CPU)) {
		if c(i) > m(i) {
			byCPU = append(byCPU, i)
		} else {
			byMemory = append(byMemory, i)
		}
	}
	for _, list := range [][]int32{byCPU, byMemory} {
		slices.SortStableFunc(list, func(a, b int32) int {
			if variant > 4 {
				a, b = b, a
			}
			return cmp.Compare(key(a), key(b))
		})
	}
	hosts := make([]int32, len(u.CPU))
	capacity := int64(float64(u.Scale) / yield)
	for h := range int32(u.Hosts) {
		load, used := int64(0), int64(0)
		for {
			first, second := &byCPU, &byMemory
			if 1-float64(load)/float64(capacity) < 1-float64(used)/float64(u.Scale) {
				first, second = second, first
			}
			fits := func(i int32) bool { return load+u.CPU[i] <= capacity && used+u.Memory[i] <= u.Classes[0].Cap[0] }
			list := first
			at := slices.IndexFunc(*list, fits)
			if at < 0 {
				list = second
				at = slices.IndexFunc(*list, fits)
			}
			if at < 0 {
				break
			}
			i := (*list)[at]
			*list = slices.Delete(*list, at, at+1)
			hosts[i] = h
			load += u.CPU[i]
			used += u.Memory[i]
		}
	}
	return hosts, len(byCPU)+len(byMemory) == 0
}

func packerOf(u *view.VCSched, variant int, newList func(*view.VCSched, []int32) firstFit) *mcbPacker {
	keys := []sortKey{sumKey, differenceKey, ratioKey, largerKey}
	p := &mcbPacker{u: u, key: keys[(variant-1)%4], sign: 1, newList: newList}
	if variant > 4 {
		p.sign = -1
	}
	return p
}

// Trees and lists place every task where the textbook does, at any yield.
func TestMCBIsTheTextbook(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	packed, failed := 0, 0
	for range require.Rounds(4000) {
		u := view.OfVCSched(testkit.GridVCSched(rng, 6, 25))
		variant := 1 + rng.IntN(8)
		trees, plain := packerOf(u, variant, newTreeList), packerOf(u, variant, newScanList)
		for range 3 {
			yield := []float64{1, 0.5, 0.25, rng.Float64()}[rng.IntN(4)]
			want, ok := textbook(u, variant, yield)
			for name, p := range map[string]*mcbPacker{"trees": trees, "plain": plain} {
				got, all := p.pack(context.Background(), yield)
				if all != ok || ok && !slices.Equal(got, want) {
					t.Fatalf("mcb%d with %s at yield %v: %v %v, want %v %v\n%+v", variant, name, yield, got, all, want, ok, u)
				}
			}
			if ok {
				packed++
			} else {
				failed++
			}
		}
	}
	if packed < require.Rounds(1000) || failed < require.Rounds(1000) {
		t.Errorf("%d packed, %d failed: the draw is one-sided", packed, failed)
	}
}

// The same at a size at which trees matter, through the whole binary search.
func TestMCBTreesAtScale(t *testing.T) {
	t.Parallel()
	for _, maxTasks := range []int{1, 16} {
		in := drawn(t, spec(100, 1000/maxTasks, maxTasks))
		u := view.OfVCSched(in)
		for variant := 1; variant <= 8; variant++ {
			trees, err := searchYield(context.Background(), u, packerOf(u, variant, newTreeList), nil)
			plain, err2 := searchYield(context.Background(), u, packerOf(u, variant, newScanList), nil)
			if (err == nil) != (err2 == nil) || !slices.Equal(trees, plain) {
				t.Errorf("mcb%d with up to %d tasks a job: trees and lists differ (%v, %v)", variant, maxTasks, err, err2)
			}
		}
	}
}

func TestMCBByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		jobs    []model.VCSchedJob
		variant int
		yield   float64
		want    []int32
		wantAll bool
	}{
		// Host 0 is empty: CPU list, c. It has 3/8 of CPU and 7/8 of memory
		// left: memory list, d. 1/4 of both left, a tie: CPU list, a. No CPU
		// is left for b.
		"against the imbalance, ties to the CPU list": {
			jobs:    []model.VCSchedJob{testkit.VCJob("a", 1, 0.25, 0.125), testkit.VCJob("b", 1, 0.125, 0.25), testkit.VCJob("c", 1, 0.625, 0.125), testkit.VCJob("d", 1, 0.125, 0.625)},
			variant: 8, yield: 1, want: []int32{0, 1, 0, 0}, wantAll: true,
		},
		// After a, host 0 has more memory than CPU left, but no task is in
		// the memory list.
		"the other list when the one wanted has no possible task": {
			jobs:    []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0), testkit.VCJob("b", 1, 0.5, 0), testkit.VCJob("c", 1, 0.5, 0)},
			variant: 8, yield: 1, want: []int32{0, 0, 1}, wantAll: true,
		},
		// At yield 1/2 the CPU needs are 3/8, 3/16 and 1/16, so all tasks are
		// in the memory list; ascending: c, b, and no memory is left for a.
		"ascending at half the yield": {
			jobs:    []model.VCSchedJob{testkit.VCJob("a", 1, 0.75, 0.5), testkit.VCJob("b", 1, 0.375, 0.375), testkit.VCJob("c", 1, 0.125, 0.25)},
			variant: 4, yield: 0.5, want: []int32{1, 0, 0}, wantAll: true,
		},
		"not all fit": {
			jobs:    []model.VCSchedJob{testkit.VCJob("a", 1, 0.1, 0.75), testkit.VCJob("b", 1, 0.1, 0.75), testkit.VCJob("c", 1, 0.1, 0.75)},
			variant: 5, yield: 0.5,
		},
		// Keys of a, b, c are 0.5, 0.5 and 0.75: equals keep their order.
		"equals in the instance's order": {
			jobs:    []model.VCSchedJob{testkit.VCJob("a", 1, 0.5, 0.25), testkit.VCJob("b", 1, 0.5, 0.125), testkit.VCJob("c", 1, 0.75, 0.25)},
			variant: 8, yield: 1, want: []int32{1, 1, 0}, wantAll: true,
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			u := view.OfVCSched((&model.VCSched{Hosts: 2, Jobs: c.jobs}))
			got, all := packerOf(u, c.variant, newTreeList).pack(context.Background(), c.yield)
			require.Is(t, c.wantAll, all, "packed all")
			if all {
				if diff := gocmp.Diff(c.want, got); diff != "" {
					t.Errorf("hosts (-want,+got)\n%s", diff)
				}
			}
		})
	}
}

// The binary search keeps the largest yield at which it packed, and the
// placement's yield is at least that.
func TestMCBYield(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	solved := 0
	for range require.Rounds(1000) {
		in := testkit.GridVCSched(rng, 4, 12)
		variant := 1 + rng.IntN(8)
		u := view.OfVCSched(in)
		low, high := 0.0, 1.0
		total := 0.0
		for _, c := range u.CPU {
			total += float64(c) / float64(u.Scale)
		}
		high = min(high, float64(in.Hosts)/total)
		for high-low > yieldPrecision {
			y := (low + high) / 2
			if _, ok := textbook(u, variant, y); ok {
				low = y
			} else {
				high = y
			}
		}
		p, err := mcbs[variant](context.Background(), in, model.Settings{})
		require.Is(t, low > 0, err == nil, "mcb", variant, err, "but the textbook packs at", low)
		if err != nil {
			continue
		}
		solved++
		if o, err := in.Objective(p); err != nil || o.Value < low*(1-1e-12) {
			t.Fatalf("mcb%d: yield %v (%v), the textbook packs at %v", variant, o.Value, err, low)
		}
	}
	if solved < require.Rounds(200) {
		t.Errorf("%d solved only", solved)
	}
}

// The best yield may be far below the precision of the search.
func TestMCBTinyYield(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a million tasks")
	}
	in := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{testkit.VCJob("a", 1_100_000, 1, 0)}}
	u := view.OfVCSched(in)
	hosts, err := searchYield(context.Background(), u, packerOf(u, 8, newScanList), nil)
	if err != nil || in.Yield(hosts) != 1/1.1e6 {
		t.Errorf("%v, want every task on the one host", err)
	}
}

// scanList answers the queries of firstFit by a walk through the list.
type scanList struct {
	u     *view.VCSched
	order []int32 // -1 once taken
}

func newScanList(u *view.VCSched, order []int32) firstFit {
	return &scanList{u, append([]int32(nil), order...)}
}

func (l *scanList) first(from int, cpu, mem int64) (int32, int) {
	for k := from; k < len(l.order); k++ {
		if i := l.order[k]; i >= 0 && l.u.CPU[i] <= cpu && l.u.Memory[i] <= mem {
			return i, k
		}
	}
	return -1, -1
}

func (l *scanList) remove(place int) { l.order[place] = -1 }
