// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

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
	require.OK(t, err)
	return s
}

// judged fails if the judge doesn't accept the solution, and returns its figures
// by key.
func judged(t testing.TB, in *model.TVC, s *model.Embeddings) map[string]float64 {
	t.Helper()
	require.Feasible(verify.Verify(context.Background(), in, s, verify.Options{}))(t)
	o := require.Value(in.Objective(s))(t)
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
	file := require.Data(t, "swf", log+".swf.gz")
	t.Setenv("GAPWISE_DATA", filepath.Dir(filepath.Dir(file)))
	s := instances.NewTVCSpec()
	s.SWF, s.Requests, s.Load, s.Queue, s.Fabric, s.Seed = log, requests, load, "yes", fabric, 1
	in := require.Value(s.Generate())(t)
	return in
}

const kthLog, nasaLog = "KTH-SP2-1996-2.1-cln", "NASA-iPSC-1993-3.1-cln"

// The judge accepts the schedules of the first jobs of KTH-SP2, at a load with much to suspend.
func TestBgMBFOfKTH(t *testing.T) {
	for _, fabric := range model.Fabrics {
		in := kth(t, kthLog, 1000, 1, fabric)
		for _, name := range []string{"bgmbf", "bgmbf-sdf"} {
			got := serve(t, name, in, newAdaBa())
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
		require.Refused(t, a.Name, require.Err(a.Solver.Solve(context.Background(), in, model.Settings{})),
			model.ErrUnsupported, "")
	}
	in = randomQueue(1)
	set := model.Settings{Parameters: &model.TVCParameters{Embedder: "none"}}
	require.Refused(t, "an unknown embedder", require.Err(FCFS(context.Background(), in, set)), model.ErrUnsupported, "")
}

// A queue that is stopped anywhere has runs of all requests that fit, which the judge
// accepts: those that hadn't ended run one by one, suspended ones in their place.
func TestStoppedAnywhere(t *testing.T) {
	t.Parallel()
	suspended := 0.0
	for seed := range uint64(require.Rounds(20)) {
		in := testkit.RandomTVC(rand.New(rand.NewPCG(seed, 77)), 4, 300, true)
		for _, s := range queueSchedulers {
			for looks := range 6 {
				got, _, err := s.serve(&testkit.StopAfter{Context: t.Context(), Looks: looks}, in, newAdaBa())
				require.OK(t, err)
				suspended += judged(t, in, got)["suspensions"]
			}
		}
	}
	if suspended < float64(require.Rounds(100)) {
		t.Errorf("%v suspensions: too few to tell", suspended)
	}
}
