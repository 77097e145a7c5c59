// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// watched is conservativeNodes, looked at after each pass.
type watched struct {
	*conservativeNodes
	t                    *testing.T
	moved, kept, delayed int
	promised             map[int32]int64
	overran              bool
}

func (w *watched) pass() {
	w.overran = false
	for _, end := range w.ends {
		w.overran = w.overran || end > 0 && end <= w.now
	}
	w.conservativeNodes.pass()
	for _, x := range w.queue {
		if before, ok := w.promised[x.job]; ok {
			switch {
			case x.start > before && !w.overran:
				w.t.Fatalf("the reservation of job %d moves from %d to %d", x.job, before, x.start)
			case x.start > before:
				w.delayed++
			case x.start < before:
				w.moved++
			default:
				w.kept++
			}
		}
		w.promised[x.job] = x.start
	}
	for k, at := range w.starts {
		if before, ok := w.promised[int32(k)]; ok && at > before && !w.overran {
			w.t.Fatalf("job %d starts at %d, its reservation was for %d", k, at, before)
		} else if ok && at >= 0 {
			delete(w.promised, int32(k))
		}
	}
	w.check()
}

// check computes the steps anew, on which all reservations must fit.
func (w *watched) check() {
	for i, step := range w.steps {
		state := nodes.New(w.nodes.Nodes)
		put := func(k int32, from, to int64, list []int32) {
			if from <= step.at && step.at < to {
				if why := state.Refuse(w.needs(k), list); why != "" {
					w.t.Fatalf("job %d at %d: %s", k, step.at, why)
				}
				state.Take(w.needs(k), list)
			}
		}
		for _, k := range w.running {
			put(k, 0, w.ends[k], w.lists[k])
		}
		for _, x := range w.queue {
			put(x.job, x.start, x.start+w.jobs[x.job].estimate, x.list)
		}
		for _, x := range w.queue {
			if want, got := state.Room(w.needs(x.job)), step.state.Room(w.needs(x.job)); want != got || w.room(i, x.kind, x.job) != want {
				w.t.Fatalf("step %d: %d processes of job %d fit, want %d", i, got, x.job, want)
			}
		}
		if i > 0 && step.uses <= 0 {
			w.t.Fatalf("nothing starts or ends at %d", step.at)
		}
	}
}

// No reservation moves to a later time unless a job overruns its estimate, and at each moment all fit.
func TestConservativeNodesKept(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 22))
	moved, kept, delayed := 0, 0, 0
	for round := range require.Rounds(400) {
		in := testkit.RandomNodes(rng, 5+rng.IntN(40))
		if round%8 == 0 {
			in = manyNodes(rng)
		}
		in.KillAtEstimate = rng.IntN(2) == 0
		v := view.OfBatch(in)
		var w *watched
		p := newPolicy(func(m *machine) scheduler {
			w = &watched{conservativeNodes: newConservativeNodes(m), t: t, promised: map[int32]int64{}}
			return w
		}, 0)
		p.nodes = v
		order := []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderEvent, model.BatchOrderPyss}[rng.IntN(3)]
		require.OK(t, require.Err(online.BatchCourse(context.Background(), v, p, online.BatchOptions{Order: order})))
		moved, kept, delayed = moved+w.moved, kept+w.kept, delayed+w.delayed
	}
	if least := require.Rounds(400); moved < least || kept < 10*least || delayed < least {
		t.Errorf("reservations move to earlier times %d times, to later ones %d times, and stay %d times", moved, delayed, kept)
	}
}

// If all jobs run for their estimates, each starts when it does without the jobs behind it.
func TestConservativeNodesFirst(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 23))
	waits, passed := 0, 0
	for range require.Rounds(300) {
		in := testkit.RandomNodes(rng, 3+rng.IntN(12))
		for k := range in.Jobs {
			in.Jobs[k].EstimateS = 0
		}
		starts := func(n int) []int64 {
			some := *in
			some.Jobs = in.Jobs[:n]
			v := view.OfBatch(&some)
			p := newPolicy(newConservative, 0)
			p.nodes = v
			return require.Value(online.BatchCourse(context.Background(), v, p, online.BatchOptions{}))(t).Starts
		}
		all := starts(len(in.Jobs))
		least := int64(math.MaxInt64)
		for k := len(all) - 1; k >= 0; k-- {
			if without := starts(k + 1); without[k] != all[k] {
				t.Fatalf("job %d starts at %d, at %d without the jobs behind it", k, all[k], without[k])
			}
			if all[k] > int64(in.Jobs[k].SubmitS*1e6) {
				waits++
			}
			if least < all[k] {
				passed++
			}
			least = min(least, all[k])
		}
	}
	if waits < 3*require.Rounds(300) || passed < require.Rounds(300) {
		t.Errorf("%d jobs wait, %d are passed", waits, passed)
	}
}

// Jobs that don't wait start as with steps that are always there: at the same times, on the same nodes.
func TestConservativeNodesLazily(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 24))
	lazily := 0
	for round := range require.Rounds(2000) {
		in := testkit.RandomNodes(rng, 5+rng.IntN(30))
		if round%20 == 0 {
			in = manyNodes(rng)
		}
		in.KillAtEstimate = rng.IntN(2) == 0
		if rng.IntN(2) == 0 { // few wait
			for k := range in.Jobs {
				in.Jobs[k].SubmitS *= 8
			}
		}
		v := view.OfBatch(in)
		order := []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderEvent, model.BatchOrderPyss}[rng.IntN(3)]
		course := func(eager bool) *processors.Course {
			p := newPolicy(func(m *machine) scheduler {
				s := newConservativeNodes(m)
				if s.eager = eager; eager {
					s.lay(nil)
				}
				return s
			}, 0)
			p.nodes = v
			return require.Value(online.BatchCourse(context.Background(), v, p, online.BatchOptions{Order: order}))(t)
		}
		want, got := course(true), course(false)
		require.Same(t, "starts", want.Starts, got.Starts)
		require.Same(t, "nodes", want.Lists, got.Lists)
		for k := range got.Starts {
			if got.Starts[k] == int64(in.Jobs[k].SubmitS*1e6) {
				lazily++
			}
		}
	}
	if lazily < 10*require.Rounds(2000) {
		t.Errorf("%d jobs don't wait", lazily)
	}
}
