// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// plainRoom holds the tasks of a machine as a list.
type plainRoom struct {
	has   []int64
	stays []plainStay
}

type plainStay struct {
	need       []int64
	start, end float64
}

// fits reports whether need is free in [start, end): at its begin and whenever another task starts in it.
func (p *plainRoom) fits(need []int64, start, end float64) bool {
	moments := []float64{start}
	for _, x := range p.stays {
		if x.start > start && x.start < end {
			moments = append(moments, x.start)
		}
	}
	for _, at := range moments {
		for r, n := range need {
			for _, x := range p.stays {
				if x.start <= at && at < x.end {
					n += x.need[r]
				}
			}
			if n > p.has[r] {
				return false
			}
		}
	}
	return true
}

// find tries the time ready and each end after it.
func (p *plainRoom) find(need []int64, ready, length float64) float64 {
	tries := []float64{ready}
	for _, x := range p.stays {
		if x.end > ready {
			tries = append(tries, x.end)
		}
	}
	slices.Sort(tries)
	return tries[slices.IndexFunc(tries, func(at float64) bool { return length <= 0 || p.fits(need, at, at+length) })]
}

// A capacity finds what a plain list of tasks finds, with tasks put and taken away, also if its steps fill several
// blocks. Once all tasks are away, nothing is left of it.
func TestCapacity(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n, horizon, late := 30, 40, 0
		if seed < 20 {
			n, horizon = 500, 2000
		}
		p := plainRoom{has: []int64{int64(1 + rng.IntN(6)), int64(1 + rng.IntN(4))}[:1+rng.IntN(2)]}
		c := capacity{has: p.has}
		// The first ones leave little room for others for long, so that whole blocks have none, or again and again, so that
		// a block often begins where they end.
		base := 0
		if seed < 20 {
			p.has[0] += 2
			each, every := 1300.0, 1300.0
			if seed >= 10 {
				each, every = 10, 15
			}
			for at := 200.0; at < 1500; at += every {
				x := plainStay{make([]int64, len(p.has)), at, at + each}
				x.need[0] = p.has[0] - 1
				p.stays = append(p.stays, x)
				c.add(x.need, x.start, x.end, 1)
				base++
			}
		}
		for range n {
			if len(p.stays) > base && rng.IntN(5) == 0 {
				k := base + rng.IntN(len(p.stays)-base)
				x := p.stays[k]
				p.stays = slices.Delete(p.stays, k, k+1)
				c.add(x.need, x.start, x.end, -1)
			}
			var need []int64
			for _, has := range p.has {
				need = append(need, rng.Int64N(has+1))
			}
			ready, length := float64(rng.IntN(horizon)), float64(rng.IntN(8))/2
			want, got := p.find(need, ready, length), c.find(need, ready, length)
			if want != got {
				t.Fatalf("seed %d: %v of %v for %v s from %v s: %v, by a list %v\n%v", seed, need, p.has, length, ready, got, want, p.stays)
			}
			if got > ready {
				late++
			}
			if length > 0 {
				p.stays = append(p.stays, plainStay{need, got, got + length})
				c.add(need, got, got+length, 1)
			}
		}
		if seed < 20 && late == 0 {
			t.Fatalf("seed %d: no task had to wait, the draw says little", seed)
		}
		for _, x := range p.stays {
			c.add(x.need, x.start, x.end, -1)
		}
		if len(c.blocks) > 0 {
			t.Fatalf("seed %d: %v is left of nothing", seed, c.blocks)
		}
	}
}

// A task that doesn't fit beside a long one starts at its end, wherever in a block that is: after so many short ones, with
// as many behind it.
func TestCapacityBlocks(t *testing.T) {
	t.Parallel()
	for k := range 3 * blockSteps {
		before := k / 2
		c := capacity{has: []int64{3}}
		short := func(at float64) { c.add([]int64{1}, at, at+1, 1) }
		for i := range before {
			short(float64(2 * i))
		}
		begin := float64(2*before - min(before, k%2)) // at the end of the last one, or after
		end := begin + 100
		c.add([]int64{3}, begin, end, 1)
		for i := range 2 * blockSteps {
			short(end + float64(2*i))
		}
		if got := c.find([]int64{2}, 0, begin+1); got != end {
			t.Fatalf("after %d short ones: from %v on, want %v", before, got, end)
		}
	}
}

// roomy draws a graph on machines that have room for several tasks, some too small for a task.
func roomy(rng *rand.Rand, most int) *model.DAG {
	d := testkit.Roomy(rng, testkit.RandomDAG(rng, 1+rng.IntN(most), 1+rng.IntN(4)))
	if rng.IntN(2) == 0 {
		testkit.Contend(rng, d)
	}
	if rng.IntN(4) == 0 {
		testkit.Late(rng, d)
	}
	if rng.IntN(4) == 0 {
		testkit.Files(rng, d)
	}
	if rng.IntN(4) == 0 {
		testkit.Restrict(rng, d)
	}
	for t := range d.Tasks {
		m := rng.IntN(len(d.Machines))
		own := slices.Clone(d.Machines[m].Capacity)
		own[0]++ // no room there
		if x := &d.Tasks[t]; rng.IntN(10) == 0 && x.NeedsOn == nil {
			if x.NeedsOn = map[string][]int64{d.Machines[m].ID: own}; d.Validate() != nil {
				x.NeedsOn = nil
			}
		}
	}
	return d
}

// The judge accepts each algorithm's schedule on machines with capacities. The local search is never worse than the
// schedulers that it starts from.
func TestRoomFeasible(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 1))
	several := 0
	for k := range require.Rounds(3000) {
		d := roomy(rng, 9)
		require.OK(t, d.Validate())
		if g := view.OfDAG(d); g.Room != nil {
			several++
		}
		value := map[string]float64{}
		names := []string{"one-machine", "dls", "cpop", "heft", "peft", "lookahead", "sinnen-sousa", "network-aware"}
		if k%20 == 0 || k%4 == 0 && d.Transfers() != model.TransferIdeal {
			names = append(names, "improve", "lns")
		}
		for _, name := range names {
			solve := solvers[name]
			if name == "one-machine" {
				solve = listed(oneMachine)
			}
			s, _, err := solve(t.Context(), d, model.Settings{Seed: uint64(k)})
			if name == "lns" && d.Transfers() != model.TransferIdeal || errors.Is(err, dagplay.ErrNowhere) {
				continue
			}
			require.OK(t, err, k, d.Name, name)
			require.Feasible(verify.Verify(t.Context(), d, s, verify.Options{}))(t, k, d.Name, name)
			value[name] = require.Value(d.Objective(s))(t).Value
		}
		for name, v := range value {
			if last, ok := value["improve"]; ok && name != "lns" && last > v*(1+1e-9) {
				t.Fatalf("instance %d, %s: improve is worse than %s: %v", k, d.Name, name, value)
			}
		}
	}
	if several*3 < require.Rounds(3000) {
		t.Errorf("%d machines with room: the draws say little", several)
	}
}

// A start that lacks tasks is completed on machines with capacities. Without contention one that lacks none ends no later.
func TestRoomComplete(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 1))
	for k := range require.Rounds(1000) {
		d := roomy(rng, 12)
		if view.OfDAG(d).Sparse {
			continue // the tasks that are there may be where no others can be
		}
		start := require.Value(HEFT(t.Context(), d, model.Settings{}))(t)
		before := require.Value(d.Objective(start))(t).Value
		some := &model.Schedule{Tasks: slices.Clone(start.Tasks)}
		for k%2 == 0 && len(some.Tasks) > 0 && rng.IntN(4) > 0 {
			i := rng.IntN(len(some.Tasks))
			some.Tasks = slices.Delete(some.Tasks, i, i+1)
		}
		s, _, err := Complete(d, some)
		require.OK(t, err, k, d.Name)
		require.Feasible(verify.Verify(t.Context(), d, s, verify.Options{}))(t, k, d.Name)
		after := require.Value(d.Objective(s))(t).Value
		if len(some.Tasks) == len(d.Tasks) && d.Transfers() == model.TransferIdeal && less(before, after) {
			t.Fatalf("instance %d, %s: completed %v, HEFT's %v", k, d.Name, after, before)
		}
	}
}

// HEFT on machines with capacities is HEFT with a plain insertion into lists of tasks.
func TestRoomHEFTAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(22, 1))
	several := 0
	for k := range require.Rounds(3000) {
		d := roomy(rng, 25)
		d.TransferModel = ""
		g := view.OfDAG(d)
		if g.Room == nil || g.Sparse {
			continue
		}
		several++
		c := newCosts(g, nil)
		machine, start := make([]int32, g.Tasks), make([]float64, g.Tasks)
		rooms := make([]plainRoom, g.Machines)
		for m := range rooms {
			rooms[m].has = g.Room.Of(int32(m))
		}
		for _, u := range byPriority(g, c.upward()) {
			first := math.Inf(1)
			for m := range int32(g.Machines) {
				if !g.Runs(u, m) {
					continue
				}
				ready, length := 0.0, g.Cost[int(u)*g.Machines+int(m)]
				for _, e := range g.Pred(u) {
					f := g.From[e]
					ready = max(ready, start[f]+g.Cost[int(f)*g.Machines+int(machine[f])]+g.Comm(e, machine[f], m))
				}
				if at := rooms[m].find(g.Room.Need(u, m), ready, length); less(at+length, first) {
					first, machine[u], start[u] = at+length, m, at
				}
			}
			x := &rooms[machine[u]]
			x.stays = append(x.stays, plainStay{g.Room.Need(u, machine[u]), start[u], first})
		}
		b := require.Value(heftWith(context.Background(), c, nil))(t)
		if diff := cmp.Diff(machine, b.machine) + cmp.Diff(start, b.start); diff != "" {
			t.Fatalf("instance %d, %s: %s", k, d.Name, diff)
		}
		// The replay of its plan starts each task when it was inserted.
		s := require.Value(HEFT(context.Background(), d, model.Settings{}))(t)
		for u, x := range s.Tasks {
			if less(x.StartS, start[u]) || less(start[u], x.StartS) {
				t.Fatalf("instance %d, %s: task %s starts at %v, was inserted at %v", k, d.Name, x.ID, x.StartS, start[u])
			}
		}
	}
	if several*3 < require.Rounds(3000) {
		t.Errorf("%d machines with room: the draws say little", several)
	}
}

// one gives d's machines and tasks one core each.
func one(d *model.DAG) *model.DAG {
	c := *d
	c.Resources, c.Machines, c.Tasks = []string{"cores"}, slices.Clone(d.Machines), slices.Clone(d.Tasks)
	for m := range c.Machines {
		c.Machines[m].Capacity = []int64{1}
	}
	for t := range c.Tasks {
		c.Tasks[t].Needs = []int64{1}
	}
	return &c
}

// A machine of one core and tasks that need one are a machine that runs one task at a time: each algorithm makes the
// same schedule. With a last task without edges and time, the graph counts as one with room, and the list schedulers
// make the same one by insertion into capacities.
func TestOneCore(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(23, 1))
	for k := range require.Rounds(1000) {
		d := random(rng, 10)
		for i := range d.Tasks {
			for m := range d.Tasks[i].CostS {
				d.Tasks[i].CostS[m]++
			}
		}
		names := []string{"dls", "cpop", "heft", "peft", "lookahead", "sinnen-sousa", "network-aware"}
		if k%20 == 0 {
			names = append(names, "improve", "lns")
		}
		for _, last := range []bool{false, true} {
			if last {
				d.Tasks = append(d.Tasks, model.DAGTask{ID: "last", CostS: make([]float64, len(d.Machines))})
				names = names[:7]
			}
			cored := one(d)
			require.Is(t, last, view.OfDAG(cored).Room != nil, k, "room")
			for _, name := range names {
				if name == "lns" && d.Transfers() != model.TransferIdeal {
					continue
				}
				want, _, err := solvers[name](t.Context(), d, model.Settings{Seed: uint64(k)})
				require.OK(t, err)
				got, _, err := solvers[name](t.Context(), cored, model.Settings{Seed: uint64(k)})
				require.OK(t, err)
				if last { // which waits for nothing where it can run beside others
					want.Tasks, got.Tasks = want.Tasks[:len(d.Tasks)-1], got.Tasks[:len(d.Tasks)-1]
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("instance %d, %s, last task %v: %s\n%+v", k, name, last, diff, d)
				}
			}
		}
	}
}

// A plan takes no longer on machines with more of everything, without contention: so the local search that starts from
// the schedule of smaller machines doesn't, either.
func TestMoreRoom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(24, 1))
	shorter := 0
	for k := range require.Rounds(100) {
		d := roomy(rng, 12)
		d.TransferModel = ""
		small, _, err := onRun(improve)(t.Context(), d, model.Settings{Seed: 1})
		require.OK(t, err)
		before := require.Value(d.Objective(small))(t).Value
		large := *d
		large.Machines = slices.Clone(d.Machines)
		for m := range large.Machines {
			large.Machines[m].Capacity = nil
			for _, n := range d.Machines[m].Capacity {
				large.Machines[m].Capacity = append(large.Machines[m].Capacity, n+rng.Int64N(2*n))
			}
		}
		s, _, err := onRun(improve)(t.Context(), &large, model.Settings{Seed: 1, Start: small})
		require.OK(t, err)
		after := require.Value(large.Objective(s))(t).Value
		if after > before*(1+1e-9) {
			t.Fatalf("instance %d, %s: %v on larger machines, %v before", k, d.Name, after, before)
		}
		if less(after, before) {
			shorter++
		}
	}
	if shorter == 0 {
		t.Error("no schedule was shorter on larger machines: the draws say little")
	}
}

// Each task on a critical path of the local search starts when the one before it ends or starts, or gets its data.
func TestRoomChain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(25, 1))
	waits := 0
	for range require.Rounds(1000) {
		d := roomy(rng, 12)
		g := view.OfDAG(d)
		if g.Room == nil || g.Sparse {
			continue
		}
		s := &search{Run: run.New(t.Context(), "test", d, model.Settings{}), d: d, g: g, replay: dagplay.NewReplay(g), place: make([]int32, g.Tasks)}
		s.now = state{Plan: testkit.RandomPlan(rng, g, rng.IntN(2) == 0)}
		if !s.chain() {
			continue // the plan has a task where it can't run
		}
		r := s.replay
		for i, u := range s.critical {
			if i+1 == len(s.critical) {
				require.Is(t, 0.0, r.Start[u], d.Name, "start of the first")
				break
			}
			f := s.critical[i+1]
			got := slices.ContainsFunc(g.Pred(u), func(e int32) bool { return g.From[e] == f && r.Arrived[e] == r.Start[u] })
			if !got && s.now.Machine[f] == s.now.Machine[u] && (r.Finish[f] == r.Start[u] || r.Start[f] == r.Start[u]) {
				waits, got = waits+1, true
			}
			if !got {
				t.Fatalf("%s: task %d starts at %v, %d ends at %v", d.Name, u, r.Start[u], f, r.Finish[f])
			}
		}
	}
	if waits < require.Rounds(1000)/10 {
		t.Errorf("%d tasks waited for room: the draws say little", waits)
	}
}

// cores gives a graph's machines cores, and its tasks needs of 1 to most.
func cores(d *model.DAG, n, most int64) *model.DAG {
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	c := one(d)
	for m := range c.Machines {
		c.Machines[m].Capacity = []int64{n}
	}
	for t := range c.Tasks {
		c.Tasks[t].Needs = []int64{1 + rng.Int64N(most)}
	}
	return c
}

// Near linear in tasks times machines, as on machines of one core: see BenchmarkHEFT.
func BenchmarkHEFTCores(b *testing.B) {
	for _, c := range []struct{ tasks, machines int }{{1_000, 16}, {10_000, 64}, {100_000, 64}} {
		for _, most := range []int64{1, 16} {
			b.Run(fmt.Sprintf("tasks=%d/machines=%d/needs=%d", c.tasks, c.machines, most), func(b *testing.B) {
				g := view.OfDAG(cores(large(c.tasks, c.machines, model.TransferIdeal), 16, most))
				for b.Loop() {
					require.OK(b, require.Err(heft(context.Background(), g, nil)))
				}
			})
		}
	}
}
