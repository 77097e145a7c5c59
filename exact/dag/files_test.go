// SPDX-License-Identifier: MIT

package dag_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// sentFile is a file on its way to a machine, for arrivals.
type sentFile struct {
	links             []int
	weight            float64
	begin, left, rate float64
	limit, arrived    float64
	open              bool // under way without a rate
}

// arrivals returns when the edges of a plan arrive that are asked for at some times, by the definition of
// model.DAGEdge.Files: one transfer for each file and machine, played from event to event, with the rates of all of
// them anew each time. It is the oracle of the replay and of the judge.
func arrivals(d *model.DAG, machine []int32, asked []float64) []float64 {
	from, to := d.EdgeTasks()
	g := view.OfDAG(d) // its rates and routes
	files, of := map[string]*sentFile{}, make([][]*sentFile, len(d.Edges))
	var all []*sentFile
	for e, x := range d.Edges {
		m, n := machine[from[e]], machine[to[e]]
		sizes := x.Files
		if len(sizes) == 0 {
			sizes = map[string]float64{"": x.Data}
		}
		for name, size := range sizes {
			key := fmt.Sprint(x.From, " ", name, " ", n)
			if name == "" {
				key = fmt.Sprint("edge ", e)
			}
			f := files[key]
			if f == nil {
				f = &sentFile{begin: math.Inf(1), left: size, arrived: -1, limit: g.Rate[int(m)*g.Machines+int(n)], weight: float64(g.Weight(m, n))}
				if d.Transfers() != model.TransferIdeal && m != n {
					for _, l := range g.Route(m, n) {
						f.links = append(f.links, int(l))
					}
				}
				if m == n {
					f.left = 0 // what is read on the machine, whenever
				}
				files[key], all = f, append(all, f)
			}
			startup := 0.0
			if m != n {
				startup = d.Machines[m].StartupS + latency(d, m, n)
			}
			f.begin = min(f.begin, asked[e]+startup)
			of[e] = append(of[e], f)
		}
	}
	for now := 0.0; ; {
		next := math.Inf(1)
		var busy []*sentFile
		for _, f := range all {
			switch {
			case f.arrived >= 0:
			case f.begin > now:
				next = min(next, f.begin)
			case f.left == 0:
				f.arrived = f.begin
			default:
				busy = append(busy, f)
			}
		}
		share(d, g.Links, busy)
		for _, f := range busy {
			next = min(next, now+f.left/f.rate)
		}
		if math.IsInf(next, 1) {
			break
		}
		for _, f := range busy {
			if end := now + f.left/f.rate; end <= next*(1+1e-14) {
				f.arrived = next
			} else {
				f.left -= f.rate * (next - now)
			}
		}
		now = next
	}
	at := make([]float64, len(d.Edges))
	for e := range d.Edges {
		m, n := machine[from[e]], machine[to[e]]
		at[e] = asked[e]
		if m == n {
			most := 0.0
			for _, size := range d.Edges[e].Files {
				most = max(most, size)
			}
			if len(d.Edges[e].Files) == 0 {
				most = d.Edges[e].Data
			}
			if rate := d.Machines[m].LocalRate; rate > 0 {
				at[e] += most / rate
			}
			continue
		}
		for _, f := range of[e] {
			at[e] = max(at[e], f.arrived)
		}
	}
	return at
}

// latency returns the latency of the route from a machine to another one.
func latency(d *model.DAG, m, n int32) float64 {
	for _, r := range d.Network.Routes {
		if r.From == d.Machines[m].ID && r.To == d.Machines[n].ID || !r.OneWay && r.To == d.Machines[m].ID && r.From == d.Machines[n].ID {
			return r.LatencyS
		}
	}
	return 0
}

// share gives transfers max-min fair rates: all grow together until a link is full, or a transfer as fast as its path.
func share(d *model.DAG, capacity []float64, busy []*sentFile) {
	left := append([]float64(nil), capacity...)
	for l := range left {
		n := 0
		for _, f := range busy {
			for _, k := range f.links {
				if k == l {
					n++
				}
			}
		}
		if d.Transfers() != model.TransferFair {
			left[l] *= 1 - 1/(1+3*float64(n))
		}
	}
	for _, f := range busy {
		f.open = true
	}
	for {
		count, least := make([]float64, len(left)), math.Inf(1)
		for _, f := range busy {
			for _, l := range f.links {
				if f.open {
					count[l] += f.weight
				}
			}
		}
		most := func(f *sentFile) float64 {
			x := f.limit / f.weight
			for _, l := range f.links {
				x = min(x, left[l]/count[l])
			}
			return x
		}
		for _, f := range busy {
			if f.open {
				least = min(least, most(f))
			}
		}
		if math.IsInf(least, 1) {
			return
		}
		var stop []*sentFile
		for _, f := range busy {
			if f.open && most(f) <= least*(1+1e-13) {
				stop = append(stop, f)
			}
		}
		for _, f := range stop {
			f.open, f.rate = false, least*f.weight
			for _, l := range f.links {
				left[l] -= f.rate
			}
		}
	}
}

// filed draws a graph whose edges have files.
func filed(rng *rand.Rand, most, machines int) *model.DAG {
	var d *model.DAG
	switch rng.IntN(4) {
	case 0:
		d = testkit.ContendedDAG(rng, most, machines)
	case 1, 2:
		d = testkit.StarDAG(rng, most, machines)
		d.TransferModel = model.TransferModels[1+rng.IntN(3)]
	default:
		d = testkit.RandomDAG(rng, 2+rng.IntN(most-1), 1+rng.IntN(machines))
	}
	if rng.IntN(4) == 0 {
		d.Machines[0].LocalRate = 2
	}
	if rng.IntN(3) == 0 {
		testkit.Late(rng, d)
	}
	return testkit.Files(rng, d)
}

// The replay of a plan, with transfers that may start late, is the plan's semi-active schedule by the oracle's arrivals;
// the judge accepts it, has the same arrivals, and refuses a task that starts before one of its files is there.
func TestFilesReplay(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 1))
	kept, early, contended := 0, 0, 0
	for k := range require.Rounds(10000) {
		d := filed(rng, 7, 3)
		if d.Validate() != nil || strings.Contains(d.Name, "1e-20") {
			continue
		}
		g := view.OfDAG(d)
		p, r := testkit.RandomPlan(rng, g, rng.IntN(2) == 0), dagplay.NewReplay(g)
		from := make([]float64, len(d.Edges))
		if k%2 == 0 && r.Shares {
			for e := range from {
				from[e] = float64(rng.IntN(12)) / 2
			}
		}
		makespan := r.RunFrom(p, from)
		if math.IsInf(makespan, 1) {
			continue
		}
		at, ahead := arrivals(d, p.Machine, r.Sent), make([]float64, len(d.Tasks))
		for e := range d.Edges {
			if off := math.Abs(at[e] - r.Arrived[e]); off > 1e-9*max(makespan, 1e-9) {
				t.Fatalf("%d: edge %d arrives at %v, by the oracle at %v\n%+v", k, e, r.Arrived[e], at[e], d)
			}
			end := r.Finish[g.From[e]]
			if p.Machine[g.From[e]] != p.Machine[g.To[e]] && r.Sent[e] != max(end, from[e]) {
				t.Fatalf("%d: edge %d is asked for at %v, its data are there at %v, it may be from %v", k, e, r.Sent[e], end, from[e])
			}
			ahead[g.To[e]] = max(ahead[g.To[e]], r.Arrived[e])
		}
		for _, tasks := range p.Order {
			for i, task := range tasks {
				ready := ahead[task]
				if i > 0 {
					ready = max(ready, r.Finish[tasks[i-1]])
				}
				if r.Start[task] != ready {
					t.Fatalf("%d: task %d starts at %v, may at %v", k, task, r.Start[task], ready)
				}
			}
		}
		s := d.Schedule(p.Machine, r.Start, r.Sent)
		require.Feasible(verify.Verify(t.Context(), d, s, verify.Options{}))(t, k)
		judged, i := require.Value(verify.Arrivals(t.Context(), d, s))(t), 0
		for e := range d.Edges {
			if p.Machine[g.From[e]] == p.Machine[g.To[e]] {
				continue
			}
			if math.Abs(judged[i]-r.Arrived[e]) > 1e-9*max(makespan, 1e-9) {
				t.Fatalf("%d: edge %d arrives at %v, by the judge at %v\n%+v", k, e, r.Arrived[e], judged[i], d)
			}
			if g.Files != nil && r.Shares && judged[i] < r.Sent[e]+g.Comm(int32(e), p.Machine[g.From[e]], p.Machine[g.To[e]])*0.99 {
				kept++
			}
			i++
		}
		if r.Shares {
			contended++
		}
		// A start before the last arrival is refused.
		for task := range d.Tasks {
			if ready := ahead[task]; ready == r.Start[task] && ready > 0 {
				for e := range d.Edges {
					if int(g.To[e]) != task || r.Arrived[e] < ready || p.Machine[g.From[e]] == p.Machine[g.To[e]] ||
						r.Arrived[e]-max(r.Sent[e], r.Finish[g.From[e]]) < 0.2 {
						continue
					}
					s.Tasks[task].StartS -= 0.1
					v := require.Value(verify.Verify(t.Context(), d, s, verify.Options{}))(t)
					if !strings.Contains(v.String(), "task_precedence") {
						t.Fatalf("%d: task %d starts 0.1 s before its data: %v", k, task, v)
					}
					s.Tasks[task].StartS += 0.1
					early++
					break
				}
			}
		}
	}
	if kept < 5 || early < 100 || contended < 300 {
		t.Errorf("%d edges had their files before, %d early starts, %d under contention", kept, early, contended)
	}
}

// No schedule among many plans with transfers that start late ends before a bound, some meet it, and the judge follows
// each bound's evidence and the kernel's proof. Algorithms claim no more: without contention the optimum is the
// plain one.
func TestFilesBounds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 2))
	met, followed, proved := map[string]int{}, map[string]int{}, 0
	algorithms := require.Value(gapwise.ProblemOf(model.KindDAG))(t).Algorithms
	for k := range require.Rounds(1500) {
		d := filed(rng, 6, 3)
		if d.Validate() != nil || strings.Contains(d.Name, "1e-20") {
			continue
		}
		g, best, text := view.OfDAG(d), math.Inf(1), require.Value(d.MarshalJSON())(t)
		r, from := dagplay.NewReplay(g), make([]float64, len(d.Edges))
		for range 200 {
			p := testkit.RandomPlan(rng, g, rng.IntN(2) == 0)
			best = min(best, r.Run(p, nil))
			for e := range from {
				from[e] = float64(rng.IntN(2) * rng.IntN(8))
			}
			best = min(best, r.RunFrom(p, from))
		}
		for _, b := range require.Value(dagbounds.All(t.Context(), d))(t) {
			if b.Value > best*(1+1e-9) {
				t.Fatalf("%d: %s is %v, a schedule ends at %v\n%s", k, b.Name, b.Value, best, text)
			}
			if b.Value >= best*(1-1e-9) {
				met[b.Name]++
			}
			if b.Evidence == nil {
				continue
			}
			f, err := verify.Evidence(t.Context(), d, b.Evidence)
			if err != nil || !f.Implies(model.Minimise, b.Value, false) {
				t.Fatalf("%d: %s says %v, its evidence %v (%v)\n%s", k, b.Name, b.Value, f.Bound, err, text)
			}
			followed[b.Name]++
		}
		if k%10 > 0 {
			continue
		}
		var log bytes.Buffer
		hash := require.Value(model.Hash(d))(t)
		x, err := dagexact.Kernel.Solve(t.Context(), d, model.Settings{Effort: 300_000, Proof: &model.ProofWriter{Writer: &log, Instance: hash}})
		if errors.Is(err, model.ErrUnsupported) { // there is no schedule
			continue
		}
		require.OK(t, err)
		c, err := verify.Proof(t.Context(), d, hash, &log)
		if err != nil || c.Bound < x.Bound*(1-1e-9) || c.Bound > x.Objective*(1+1e-9) {
			t.Fatalf("%d: the proof claims %v (%v), the result is %v, at least %v\n%s", k, c.Bound, err, x.Objective, x.Bound, text)
		}
		want, known := math.Inf(-1), false
		if d.Transfers() == model.TransferIdeal {
			want, known = plain.Optimum(d)
		}
		for _, a := range algorithms {
			y, err := a.Solver.Solve(t.Context(), d, model.Settings{Seed: 1, Effort: 100_000})
			if errors.Is(err, model.ErrUnsupported) {
				continue
			}
			require.OK(t, err, a.Name)
			require.Feasible(verify.Result(t.Context(), d, y, verify.Options{}))(t, a.Name)
			if a.Exact && (y.Bound > best*(1+1e-9) || known && y.Status == model.StatusOptimal && math.Abs(y.Objective-want) > 1e-6*want) || y.Objective < want-1e-6*math.Abs(want) {
				t.Fatalf("%d: %s: %s %v, at least %v; the best is %v, the optimum %v (%v)\n%s", k, a.Name, y.Status, y.Objective, y.Bound, best, want, known, text)
			}
			if a.Exact && y.Status == model.StatusOptimal {
				proved++
			}
		}
	}
	for _, name := range []string{"critical-path", "gathering", "traffic"} {
		if met[name] < 10 && name != "traffic" || followed[name] < 10 {
			t.Errorf("%s: %d schedules meet it, its evidence was followed %d times", name, met[name], followed[name])
		}
	}
	t.Log(met, followed, proved)
	if proved == 0 {
		t.Error("no engine proves an optimum")
	}
}

// Two tasks need a file of 6 units, which comes to their machine at 8 s, and is sent once. As data of their own, the
// link brings the second ones at 14 s.
func TestFilesByHand(t *testing.T) {
	t.Parallel()
	never := math.Inf(1)
	d := testkit.DAG([][]float64{{2, never}, {never, 1}, {never, 1}}, [][3]float64{{1, 2, 6}, {1, 3, 6}})
	testkit.LinkInto(d)
	each := require.Value(dagexact.Search.Solve(t.Context(), d, model.Settings{}))(t)
	require.Is(t, 15, each.Objective)
	require.Is(t, model.StatusOptimal, each.Status)
	for e := range d.Edges {
		d.Edges[e].Files = map[string]float64{"f": 6}
	}
	everyAlgorithm(t, d, 10)
	// Files of one edge share the link, too: the small one comes at 4 s, both have come at 8 s.
	d.Edges[0].Files = map[string]float64{"a": 1, "b": 5}
	d.Edges[1].Files, d.Edges[1].Data = map[string]float64{"a": 1}, 1
	g := view.OfDAG(d)
	r := dagplay.NewReplay(g)
	require.Is(t, 9, r.Run(dagplay.Plan{Machine: []int32{0, 1, 1}, Order: [][]int32{{0}, {2, 1}}}, nil))
	require.Is(t, 4, r.Arrived[1])
	require.Is(t, 5, g.Data[0])
	require.Is(t, 6, g.Load[0])
	require.Is(t, 0, g.Load[1])
}

// A transfer that is missing may have been the first of its file: the judge then doesn't know when others have the
// file, and says no more.
func TestFilesMissing(t *testing.T) {
	t.Parallel()
	never := math.Inf(1)
	d := testkit.DAG([][]float64{{2, never}, {never, 1}, {never, 1}}, [][3]float64{{1, 2, 6}, {1, 3, 6}})
	for e := range d.Edges {
		d.Edges[e].Files = map[string]float64{"f": 6}
	}
	s := d.Schedule([]int32{0, 1, 1}, []float64{0, 8, 9}, []float64{2, 8.5})
	require.Feasible(verify.Verify(t.Context(), d, s, verify.Options{}))(t)
	for k, x := range s.Transfers {
		some := *s
		some.Transfers = []model.TransferStart{x}
		v := require.Value(verify.Verify(t.Context(), d, &some, verify.Options{}))(t)
		if len(v.Violations) != 1 || v.Violations[0].Constraint != "missing_transfer" {
			t.Errorf("without a transfer, with that of %d: %v", k, v)
		}
	}
	s.Transfers[0].StartS, s.Transfers[1].StartS = 2.5, 2.5 // the file is there at 8.5
	if v := require.Value(verify.Verify(t.Context(), d, s, verify.Options{}))(t); len(v.Violations) != 1 || v.Violations[0].Constraint != "task_precedence" {
		t.Errorf("a task starts 0.5 s before its file is there: %v", v)
	}
}

// A file that one edge alone has changes nothing if it is all of its data.
func TestFilesOfOneReader(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 3))
	for range require.Rounds(300) {
		d := testkit.ContendedDAG(rng, 8, 4)
		one := *d
		one.Edges = append([]model.DAGEdge(nil), d.Edges...)
		for e := range one.Edges {
			one.Edges[e].Files = map[string]float64{one.Edges[e].To: one.Edges[e].Data}
		}
		require.OK(t, one.Validate())
		p := testkit.RandomPlan(rng, view.OfDAG(d), true)
		r, x := dagplay.NewReplay(view.OfDAG(d)), dagplay.NewReplay(view.OfDAG(&one))
		require.Is(t, r.Run(p, nil), x.Run(p, nil))
		for e := range d.Edges {
			require.Is(t, r.Arrived[e], x.Arrived[e])
		}
		all, same := require.Value(dagbounds.All(t.Context(), d))(t), require.Value(dagbounds.All(t.Context(), &one))(t)
		for k := range all {
			require.Is(t, all[k].Value, same[k].Value, all[k].Name)
		}
	}
}
