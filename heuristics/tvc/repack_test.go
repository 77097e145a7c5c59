// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// plainRepack is a second implementation of repack. Whenever something happens it counts the work that each request has
// done, empties the data centre and embeds all in their order. It returns how many segments begin and end.
func plainRepack(in *model.TVC, e embedder) (runs []model.Run[model.Embedding], migrations int) {
	t := view.OfTVC(in)
	n := len(t.Requests)
	left, owed, place := make([]int64, n), make([]int64, n), make([]*model.Embedding, n)
	segments := make([][]model.Segment[model.Embedding], n)
	on := make([]bool, n)
	for k := range t.Requests {
		left[k] = t.Requests[k].Duration
	}
	for now := int64(-1); ; {
		next := int64(math.MaxInt64)
		for k := range t.Requests {
			if r := &t.Requests[k]; r.Arrival > now {
				next = min(next, r.Arrival)
			}
			if on[k] {
				next = min(next, now+owed[k]+left[k])
			}
		}
		if next == math.MaxInt64 {
			break
		}
		var all []int
		most := int64(0)
		for k := range t.Requests {
			if on[k] {
				done := next - now
				paid := min(owed[k], done)
				owed[k], left[k] = owed[k]-paid, left[k]-(done-paid)
				segments[k][len(segments[k])-1].EndS = t.Seconds(next)
			}
			if r := &t.Requests[k]; r.Arrival <= next {
				if most = max(most, r.Bandwidth); r.Fits && left[k] > 0 {
					all = append(all, k)
				}
			}
		}
		before := slices.Clone(on)
		now = next
		clear(on)
		key := func(k int) int64 {
			work := left[k]
			if before[k] {
				work = max(0, work-t.Migration)
			}
			return int64(float64(work) * math.Sqrt(float64(t.Requests[k].VMs)))
		}
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
		waits := slices.ContainsFunc(all, func(k int) bool { return !before[k] })
		d := fattree.New(t)
		d.Most = most
		for _, k := range all {
			r := &t.Requests[k]
			if before[k] && (!waits || d.Room(place[k], r.VMs, r.Bandwidth)) {
				d.Add(place[k], r.VMs, r.Bandwidth)
				on[k] = true
				continue
			}
			at, ok := e.Embed(d, r.VMs, r.Bandwidth)
			if !ok && reflect.DeepEqual(d.Free, fattree.New(t).Free) {
				at, ok = new(program).Best(d, r.VMs, r.Bandwidth, costReserved)
			}
			if !ok {
				continue
			}
			if place[k] != nil && !place[k].SameServers(&at) {
				owed[k] = t.Migration
				migrations++
			}
			d.Add(&at, r.VMs, r.Bandwidth)
			on[k], place[k] = true, &at
			segments[k] = append(segments[k], model.Segment[model.Embedding]{StartS: t.Seconds(now), EndS: t.Seconds(now + owed[k] + left[k]), Place: at})
		}
	}
	for k := range segments {
		if len(segments[k]) > 0 {
			runs = append(runs, model.Run[model.Embedding]{ID: in.Requests[k].ID, Segments: segments[k]})
		}
	}
	return runs, migrations
}

// The runs of repack equal the plain implementation's, segment for segment, whatever the embedder, and the judge
// accepts them.
func TestRepackAgainstPlain(t *testing.T) {
	t.Parallel()
	suspensions, migrations := 0.0, 0
	for seed := range uint64(1200) {
		in := randomQueue(2_000_000 + seed)
		e := embedders[int(seed)%len(embedders)]
		want, moved := plainRepack(in, e.New())
		got := serve(t, "repack", in, e.New())
		if !reflect.DeepEqual(got.Runs, want) {
			t.Fatalf("seed %d, by %s:\n%+v\nplain:\n%+v", seed, e.Name, got.Runs, want)
		}
		suspensions, migrations = suspensions+judged(t, in, got)["suspensions"], migrations+moved
	}
	if t.Logf("%v suspensions, %v migrations", suspensions, migrations); suspensions < 500 || migrations < 200 {
		t.Errorf("the instances suspend %v requests and migrate %v: too few to tell", suspensions, migrations)
	}
}
