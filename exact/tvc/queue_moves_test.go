// SPDX-License-Identifier: MIT

package tvc_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
)

// gridBeats reports whether a schedule on two servers that only changes at whole seconds has a sum of responses below
// one, over all places, with the cost of migrations.
func gridBeats(in *model.TVC, sum int) bool {
	const most = 5
	type state struct {
		at                int
		left, place, owed [most]int8 // place: VMs on the first server; -1: it hasn't run
	}
	n, move := len(in.Requests), int8(in.MigrationS)
	start, together, slots := state{}, 0, 2*in.FatTree.Slots
	sizes := []int{}
	for j, q := range in.Requests {
		sum += int(q.ArrivalS)
		start.left[j], start.place[j] = int8(q.DurationS), -1
		sizes = append(sizes, q.VMs)
	}
	slices.Sort(sizes)
	for _, s := range sizes { // so many can run at once
		if slots -= s; slots >= 0 {
			together++
		}
	}
	known := map[state]int{}
	var from func(s state, cost int) bool // cost: the ends, those to come counted up to now
	from = func(s state, cost int) bool {
		rest, all := 0, []int{}
		for _, left := range s.left[:n] {
			if left > 0 {
				all = append(all, int(left))
			}
		}
		slices.Sort(all)
		ends := make([]int, together)
		for i, left := range all {
			ends[i%together] += left
			rest += ends[i%together]
		}
		if cost+rest >= sum {
			return false
		}
		if len(all) == 0 {
			return true
		}
		if before, ok := known[s]; ok && before <= cost {
			return false
		}
		known[s] = cost
		next := s
		next.at++
		var choose func(j int, slots [2]int, load [2]float64) bool
		choose = func(j int, slots [2]int, load [2]float64) bool {
			if j == n {
				return from(next, cost+len(all))
			}
			q := &in.Requests[j]
			for a := 0; a <= q.VMs && s.left[j] > 0 && int(q.ArrivalS) <= s.at; a++ {
				more, used := load, [2]int{slots[0] + a, slots[1] + q.VMs - a}
				for i := range more {
					more[i] += float64(min(a, q.VMs-a)) * q.BandwidthMbps
				}
				if max(used[0], used[1]) > in.FatTree.Slots || max(more[0], more[1]) > in.FatTree.LinkMbps {
					continue
				}
				l, p, o := next.left[j], next.place[j], next.owed[j]
				if p >= 0 && int(p) != a {
					next.owed[j] = move
				}
				next.place[j] = int8(a)
				if next.owed[j] > 0 {
					next.owed[j]--
				} else if next.left[j]--; next.left[j] == 0 {
					next.place[j] = -1
				}
				better := choose(j+1, used, more)
				if next.left[j], next.place[j], next.owed[j] = l, p, o; better {
					return true
				}
			}
			return choose(j+1, slots, load)
		}
		return choose(0, [2]int{}, [2]float64{})
	}
	return from(start, 0)
}

// movingQueue returns a queue on two servers with requests that meet and migrations that cost something.
func movingQueue(rng *rand.Rand, n int) *model.TVC {
	in := &model.TVC{Name: "moves", Queue: true, MigrationS: 1,
		FatTree: model.FatTree{K: 2, Slots: 2 + rng.IntN(2), LinkMbps: 10, Fabric: model.FabricNonBlocking}}
	for j := range n {
		q := model.TVCRequest{ID: string(rune('a' + j)), ArrivalS: float64(rng.IntN(12)), VMs: in.FatTree.Slots - rng.IntN(2), BandwidthMbps: 20, DurationS: float64(1 + rng.IntN(16))}
		if rng.IntN(6) == 0 { // it may be divided
			q.VMs, q.BandwidthMbps = 1+rng.IntN(2*in.FatTree.Slots), float64(1+rng.IntN(10))
		}
		in.Requests = append(in.Requests, q)
	}
	slices.SortStableFunc(in.Requests, func(a, b model.TVCRequest) int { return int(a.ArrivalS - b.ArrivalS) })
	return in
}

// If migrations cost something, the search proves an optimum that no schedule on a grid beats, over all places.
func TestQueueMoves(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 1))
	optimal, moved, still, moves := 0, 0, 0, 0
	for range need.Rounds(80) {
		n := 4 + rng.IntN(2)
		in := movingQueue(rng, n)
		if !allFit(in) {
			continue
		}
		r := solve(t, tvcexact.Search, in, model.Settings{})
		for _, run := range r.Solution.(*model.Embeddings).Runs {
			for i := range run.Segments[1:] {
				if !run.Segments[i].Place.SameServers(&run.Segments[i+1].Place) {
					moves++
				}
			}
		}
		if bound := int(math.Floor(r.Bound*float64(n) + 1e-3)); gridBeats(in, bound) {
			t.Fatalf("the bound is %v, on a grid there is less\n%s", bound, text(in))
		}
		if r.Status != model.StatusOptimal {
			t.Errorf("%s: %s\n%s", r.Status, r.Reason, text(in))
			continue
		}
		optimal++
		free := *in
		free.MigrationS = 0
		if f := solve(t, tvcexact.Search, &free, model.Settings{}); f.Objective < r.Objective*(1-1e-6) {
			moved++
		} else {
			still++
		}
	}
	if moved < optimal/100 || slices.Contains([]int{optimal, still}, 0) {
		t.Errorf("%d optimal, %d of which cost more than with free migrations, %d not", optimal, moved, still)
	}
	t.Logf("%d optimal, %d cost more, %d not; %d moves", optimal, moved, still, moves)
}
