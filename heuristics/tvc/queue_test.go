// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// plainRequest is a request's state in plainBgMBF.
type plainRequest struct {
	waits, runs, backfilled bool
	left                    int64 // work
	overhead                int64 // what is left of the last migration
	since                   int64 // up to here left and overhead are counted
	segments                []queuedSegment
}

// plainBgMBF is a second implementation of BgMBF and BgMBFSDF, by Algorithm 2 and the text around it. It tries
// everything at every instant and makes the data centre again whenever something has changed. A request is marked as
// backfilled when it starts while an earlier one waits, and loses the mark when none does any more.
func plainBgMBF(in *model.TVC, e embedder, shortest bool) (s *model.Embeddings, preempted int) {
	t := view.OfTVC(in)
	all := make([]plainRequest, len(t.Requests))
	now, most, next := int64(-1), int64(0), 0
	centre := func(with func(x *plainRequest) bool) *fattree.DataCentre {
		d := fattree.New(t)
		d.Most = most
		for k := range all {
			if x := &all[k]; x.runs && with(x) {
				d.Add(&x.segments[len(x.segments)-1].place, t.Requests[k].VMs, t.Requests[k].Bandwidth)
			}
		}
		return d
	}
	embed := func(d *fattree.DataCentre, k int) (model.Embedding, bool) {
		place, ok := e.Embed(d, t.Requests[k].VMs, t.Requests[k].Bandwidth)
		if !ok && reflect.DeepEqual(d.Free, fattree.New(t).Free) {
			return new(program).Best(d, t.Requests[k].VMs, t.Requests[k].Bandwidth, costReserved)
		}
		return place, ok
	}
	queue := func() (waiting []int) {
		for k := range all {
			if all[k].waits {
				waiting = append(waiting, k)
			}
		}
		return waiting
	}
	start := func(k int, place model.Embedding) {
		x := &all[k]
		x.waits, x.runs = false, true
		last := len(x.segments) - 1
		switch {
		case last >= 0 && x.segments[last].end == now && reflect.DeepEqual(x.segments[last].place, place):
		case last >= 0 && !reflect.DeepEqual(x.segments[last].place.Servers, place.Servers):
			x.overhead = t.Migration
			x.segments = append(x.segments, queuedSegment{start: now, place: place})
		default:
			x.segments = append(x.segments, queuedSegment{start: now, place: place})
		}
	}
	everyone := func(*plainRequest) bool { return true }
	for {
		event := int64(-1)
		for k := range all {
			if all[k].runs {
				if end := all[k].since + all[k].overhead + all[k].left; event < 0 || end < event {
					event = end
				}
			}
		}
		if next < len(all) && (event < 0 || t.Requests[next].Arrival < event) {
			event = t.Requests[next].Arrival
		}
		if event < 0 {
			break
		}
		now = event
		for k := range all {
			x := &all[k]
			done := now - x.since
			x.since = now
			if !x.runs {
				continue
			}
			overhead := min(x.overhead, done)
			x.overhead -= overhead
			x.left -= done - overhead
			x.segments[len(x.segments)-1].end = now
			x.runs = x.left > 0
		}
		for ; next < len(all) && t.Requests[next].Arrival == now; next++ {
			most = max(most, t.Requests[next].Bandwidth)
			all[next].left, all[next].waits = t.Requests[next].Duration, t.Requests[next].Fits
		}
		tops := true
		for tops {
			waiting := queue()
			for k := range all {
				all[k].backfilled = all[k].backfilled && len(waiting) > 0 && waiting[0] < k
			}
			if len(waiting) == 0 {
				break
			}
			top := waiting[0]
			if place, ok := embed(centre(everyone), top); ok {
				start(top, place)
				continue
			}
			place, ok := embed(centre(func(x *plainRequest) bool { return !x.backfilled }), top)
			if tops = ok; ok {
				for k := range all {
					if x := &all[k]; x.runs && x.backfilled {
						x.runs, x.waits = false, true
						preempted++
					}
				}
				start(top, place)
			}
		}
		waiting := queue()
		if len(waiting) == 0 {
			continue
		}
		others := waiting[1:]
		if shortest {
			slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(all[a].left, all[b].left) })
		}
		d := centre(everyone)
		for _, k := range others {
			if place, ok := embed(d, k); ok {
				start(k, place)
				all[k].backfilled = true
				d = centre(everyone)
			}
		}
	}
	s = new(model.Embeddings)
	for k := range all {
		if len(all[k].segments) > 0 {
			run := model.Run[model.Embedding]{ID: in.Requests[k].ID}
			for _, x := range all[k].segments {
				run.Segments = append(run.Segments, model.Segment[model.Embedding]{StartS: t.Seconds(x.start), EndS: t.Seconds(x.end), Place: x.place})
			}
			s.Runs = append(s.Runs, run)
		}
	}
	return s, preempted
}

func schedulerOf(t testing.TB, name string) *scheduler {
	t.Helper()
	for k := range queueSchedulers {
		if queueSchedulers[k].name == name {
			return &queueSchedulers[k]
		}
	}
	t.Fatalf("no scheduler %q", name)
	return nil
}

func serve(t testing.TB, name string, in *model.TVC, e embedder) *model.Embeddings {
	t.Helper()
	s, _, err := schedulerOf(t, name).serve(context.Background(), in, e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged fails if the judge doesn't accept the solution, and returns its figures
// by key.
func judged(t testing.TB, in *model.TVC, s *model.Embeddings) map[string]float64 {
	t.Helper()
	report, err := verify.Verify(context.Background(), in, s, verify.Options{})
	if err != nil || !report.Feasible() {
		t.Fatalf("%v: %v", err, report)
	}
	o, err := in.Objective(s)
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string]float64{}
	for k, m := range in.Metrics() {
		figures[m.Key] = append([]float64{o.Value, o.Second}, o.Others...)[k]
	}
	return figures
}

func randomQueue(seed uint64) *model.TVC {
	rng := rand.New(rand.NewPCG(seed, 7))
	return testkit.RandomTVC(rng, []int{2, 2, 4}[rng.IntN(3)], 1+rng.IntN(25), true)
}

// The schedulers' runs equal the plain implementation's, segment for segment, whatever the embedder; skipping changes
// nothing.
func TestBgMBFAgainstPlain(t *testing.T) {
	t.Parallel()
	suspensions, migrations, all := 0.0, 0.0, 0
	for seed := range uint64(1200) {
		in := randomQueue(seed)
		e := embedders[int(seed)%len(embedders)]
		for _, name := range []string{"bgmbf", "bgmbf-sdf"} {
			want, preempted := plainBgMBF(in, e.New(), name == "bgmbf-sdf")
			got, count, err := schedulerOf(t, name).serve(t.Context(), in, e.New())
			if err != nil || !reflect.DeepEqual(got, want) || count != preempted {
				t.Fatalf("seed %d, %s by %s: %v, %d preempted:\n%+v\nplain, %d:\n%+v", seed, name, e.Name, err, count, got, preempted, want)
			}
			all += count
			f := judged(t, in, got)
			suspensions, migrations = suspensions+f["suspensions"], migrations+f["migrations"]
		}
	}
	if t.Logf("%d preemptions, %v suspensions, %v migrations", all, suspensions, migrations); suspensions < 500 || migrations < 200 || float64(all) < suspensions+50 {
		t.Errorf("the instances preempt %d times, suspend %v requests and migrate %v: too few to tell", all, suspensions, migrations)
	}
}

// Every scheduler with every embedder: the judge accepts the runs, they equal the ones without skipping, every request
// that fits runs, and no bound is above an objective.
func TestSchedulers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		in, least := randomQueue(1_000_000+seed), math.Inf(1)
		for k := range queueSchedulers {
			s := &queueSchedulers[k]
			e := embedders[int(seed)%len(embedders)]
			got := serve(t, s.name, in, e.New())
			least = min(least, judged(t, in, got)["response"])
			plain := s.newQueue(e.New())
			plain.retry = true
			want, err := plain.run(context.Background(), in)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s by %s: %v\n%+v\nwithout skipping:\n%+v", seed, s.name, e.Name, err, got, want)
			}
		}
		for _, b := range append(tvcbounds.Response(t.Context(), view.OfTVC(in)), tvcbounds.ResponseByResources(t.Context(), view.OfTVC(in))) {
			if b.Value > least {
				t.Fatalf("seed %d: %s bounds the mean response from below by %v, it is %v", seed, b.Name, b.Value, least)
			}
		}
	}
}

// kth returns the first requests of KTH-SP2 in queue mode, all for 0.
func kth(t testing.TB, log string, requests int, load float64, fabric model.Fabric) *model.TVC {
	t.Helper()
	file := need.Data(t, "swf", log+".swf.gz")
	t.Setenv("GAPWISE_DATA", filepath.Dir(filepath.Dir(file)))
	s := instances.NewTVCSpec()
	s.SWF, s.Requests, s.Load, s.Queue, s.Fabric, s.Seed = log, requests, load, "yes", fabric, 1
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

const kthLog, nasaLog = "KTH-SP2-1996-2.1-cln", "NASA-iPSC-1993-3.1-cln"

// The first jobs of KTH-SP2 as the plain implementation schedules them, and as the
// judge accepts them, at a load with much to suspend.
func TestBgMBFOfKTH(t *testing.T) {
	for _, fabric := range model.Fabrics {
		in := kth(t, kthLog, 1000, 1, fabric)
		for _, name := range []string{"bgmbf", "bgmbf-sdf"} {
			got := serve(t, name, in, newAdaBa())
			if want, _ := plainBgMBF(in, newAdaBa(), name == "bgmbf-sdf"); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: not the plain implementation's schedule", name, fabric)
			}
			f := judged(t, in, got)
			if fabric == model.FabricNonBlocking && f["suspensions"] < 100 {
				t.Errorf("%s, %s: %v suspensions, too few to tell", name, fabric, f["suspensions"])
			}
			if b := tvcbounds.ResponseByResources(t.Context(), view.OfTVC(in)); b.Value > f["response"] || b.Value < 4000 {
				t.Errorf("%s, %s: bound %v, mean response %v", name, fabric, b.Value, f["response"])
			}
		}
	}
}

// BenchmarkQueue serves the whole log of KTH-SP2, 28,467 requests, at its own load
// (0.16), and at 1, where thousands wait.
func BenchmarkQueue(b *testing.B) {
	for _, load := range []float64{0, 1} {
		in := kth(b, kthLog, 0, load, model.FabricNonBlocking)
		for k := range queueSchedulers {
			s := &queueSchedulers[k]
			b.Run(fmt.Sprintf("load=%g/%s", load, s.name), func(b *testing.B) {
				for b.Loop() {
					serve(b, s.name, in, newAdaBa())
				}
			})
		}
	}
}

func TestSchedulersLossMode(t *testing.T) {
	in := randomQueue(1)
	in.Queue, in.MigrationS = false, 0
	for _, a := range Algorithms()[len(embedders):][:len(queueSchedulers)] {
		if _, err := a.Solver.Solve(context.Background(), in, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s: error %v", a.Name, err)
		}
	}
	in = randomQueue(1)
	r, err := FCFS(context.Background(), in, model.Settings{Parameters: &model.TVCParameters{Embedder: "none"}})
	if !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("an unknown embedder: %v, error %v", r, err)
	}
}

// A queue that is stopped anywhere has runs of all requests that fit, which the judge
// accepts: those that hadn't ended run one by one, suspended ones in their place.
func TestStoppedAnywhere(t *testing.T) {
	t.Parallel()
	suspended := 0.0
	for seed := range uint64(need.Rounds(20)) {
		in := testkit.RandomTVC(rand.New(rand.NewPCG(seed, 77)), 4, 300, true)
		for _, s := range queueSchedulers {
			for looks := range 6 {
				got, _, err := s.serve(&testkit.StopAfter{Context: t.Context(), Looks: looks}, in, newAdaBa())
				if err != nil {
					t.Fatal(err)
				}
				suspended += judged(t, in, got)["suspensions"]
			}
		}
	}
	if suspended < float64(need.Rounds(100)) {
		t.Errorf("%v suspensions: too few to tell", suspended)
	}
}
