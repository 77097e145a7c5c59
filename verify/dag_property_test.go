// SPDX-License-Identifier: MIT

package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

type dagSolver func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error)

func run(t *testing.T, solve dagSolver, d *model.DAG) *model.Schedule {
	t.Helper()
	return require.Value(solve(context.Background(), d, model.Settings{Seed: 1}))(t)
}

// The judge finds a heuristic's schedule feasible, with the makespan that the model computes. If the transfers just
// follow the plan, the heuristics' replay in floats and the judge's in fractions give the same times.
func TestJudgeAgreesWithHeuristics(t *testing.T) {
	for name, c := range map[string]struct {
		solve    dagSolver
		draws    int
		replayed bool
	}{
		"heft":         {dagheur.HEFT, 1000, true},
		"networkaware": {dagheur.NetworkAware, 1000, true},
		"sinnen":       {dagheur.SinnenSousa, 1000, false},
		"improve":      {dagheur.Improve, 40, false},
		"lns":          {dagheur.LNS, 40, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 31))
			shared, draws := 0, require.Rounds(c.draws)
			for range draws {
				d := verify.DrawDAG(rng, 8, 4)
				if name == "lns" { // it knows no contention
					d = d.WithoutContention()
				}
				require.OK(t, d.Validate())
				s := run(t, c.solve, d)
				r := judge(t, d, s, verify.Options{})
				o := require.Value(d.Objective(s))(t)
				if !r.Feasible() || math.Abs(r.Objective-o.Value) > 1e-9*o.Value || math.Abs(r.Second-o.Second) > 1e-9*o.Second {
					t.Fatalf("objectives %v and %v, the report says: %v\n%+v\n%+v", o.Value, o.Second, r, d, s)
				}
				if !c.replayed {
					continue
				}
				g := view.OfDAG(d)
				plan := require.Value(dagplay.PlanOf(d, g, s))(t)
				replay := dagplay.NewReplay(g)
				replay.Run(plan, nil)
				for e, at := range verify.ExactArrivals(d, s) {
					if at == nil {
						continue
					}
					if got, _ := at.Float64(); math.Abs(got-replay.Arrived[e]) > 1e-9*o.Value {
						t.Fatalf("edge %d arrives at %v for the judge, at %v for the heuristic\n%+v\n%+v", e, got, replay.Arrived[e], d, s)
					}
					if replay.Contends(plan.Machine[g.From[e]], plan.Machine[g.To[e]]) {
						shared++
					}
				}
			}
			if c.replayed && shared < draws/10 {
				t.Errorf("only %d transfers shared links", shared)
			}
		})
	}
}

// A task that waits for data, for its machine or for time to begin can't start
// earlier by a hundredth of the makespan.
func TestEarlierStartIsCaught(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 32))
	data, machines, draws := 0, 0, require.Rounds(1000)
	for k := range draws {
		d := verify.DrawDAG(rng, 8, 4)
		s := run(t, []dagSolver{dagheur.HEFT, dagheur.SinnenSousa}[k%2], d)
		g := view.OfDAG(d)
		on := require.Value(d.MachineOf(s))(t)
		o := require.Value(d.Objective(s))(t)
		arrived := verify.ExactArrivals(d, s)
		step := o.Value / 100
		finish := func(t int) float64 { return s.Tasks[t].StartS + d.Cost(t, int(on[t])) }
		for v := range s.Tasks {
			was := s.Tasks[v].StartS
			if was <= step/2 || o.Value == 0 {
				continue
			}
			s.Tasks[v].StartS = was - step
			// The conflicts of a schedule, by figures that are independent of the judge but for the arrivals, which
			// have their own test.
			var wait, lap float64
			for _, e := range g.Pred(int32(v)) {
				at := finish(int(g.From[e]))
				if arrived[e] != nil {
					at, _ = arrived[e].Float64()
				}
				wait = max(wait, at-s.Tasks[v].StartS)
			}
			for u := range s.Tasks {
				if u != v && on[u] == on[v] {
					lap = max(lap, min(finish(u), finish(v))-max(s.Tasks[u].StartS, s.Tasks[v].StartS))
				}
			}
			named := map[string]bool{}
			for _, x := range judge(t, d, s, verify.Options{}).Violations {
				named[x.Constraint] = true
			}
			for _, c := range []struct {
				name string
				by   float64
				n    *int
			}{{"task_precedence", wait, &data}, {"machine_overlap", lap, &machines}, {"invalid_start", -s.Tasks[v].StartS, new(int)}} {
				if c.by > step/10 {
					*c.n++
					if !named[c.name] {
						t.Fatalf("task %q, %v s earlier, breaks %s by %v s, the judge says %v\n%+v\n%+v", s.Tasks[v].ID, step, c.name, c.by, named, d, s)
					}
				}
			}
			s.Tasks[v].StartS = was
		}
	}
	if data < draws/3 || machines < draws/3 {
		t.Errorf("%d waited for data, %d for a machine: too few", data, machines)
	}
}

// A large schedule with all transfers on one bus is judged, too.
func TestLargeScheduleOnABus(t *testing.T) {
	const tasks, machines = 2000, 8
	rng := rand.New(rand.NewPCG(1, 33))
	d := &model.DAG{Name: "bus", TransferModel: model.TransferTCP, Network: model.Network{Bandwidth: 1, Links: []model.Link{{ID: "bus", Capacity: 3}}}}
	for m := range machines {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint(m), StartupS: rng.Float64()})
		for n := range m {
			d.Network.Routes = append(d.Network.Routes, model.Route{From: fmt.Sprint(n), To: fmt.Sprint(m), Links: []string{"bus"}})
		}
	}
	for v := range tasks {
		x := model.DAGTask{ID: fmt.Sprint(v)}
		for range machines {
			x.CostS = append(x.CostS, 1+10*rng.Float64())
		}
		d.Tasks = append(d.Tasks, x)
		for _, u := range rng.Perm(min(v, 40))[:min(v, 2)] {
			d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(v - 1 - u), To: x.ID, Data: 5 * rng.Float64()})
		}
	}
	s := run(t, dagheur.HEFT, d)
	if len(s.Transfers) < 1000 {
		t.Errorf("only %d transfers", len(s.Transfers))
	}
	if r := judge(t, d, s, verify.Options{}); !r.Feasible() {
		t.Error(r.Err())
	}
}

// No schedule of the six tasks, however odd, makes the judge panic, and none that passes beats the optimum of 23. Nor
// does one on machines that run several at once.
func FuzzJudgeSchedule(f *testing.F) {
	roomy := roomyTasks()
	together := plain.Best(roomy)
	f.Add(require.Value(json.Marshal(together.Solution))(f))
	for _, tr := range model.TransferModels {
		f.Add(require.Value(json.Marshal(sixPlan(sixTasks(tr), 21)))(f))
	}
	for _, text := range []string{
		`{"kind":"dag","version":1,"tasks":[],"transfers":[]}`,
		`{"kind":"dag","version":1,"tasks":[{"id":"1","machine":"P1","start_s":-1e308},{"id":"1","machine":"","start_s":1e308}],"transfers":[{"from":"1","to":"2","start_s":-1e308},{"from":"","to":"2","start_s":5e-324}]}`,
		`{"kind":"dag","version":1,"tasks":[{"id":"1","machine":"P1","start_s":1e308},{"id":"2","machine":"P2","start_s":1e308}],"transfers":[{"from":"1","to":"2","start_s":1e308}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := model.DecodeSolution(data)
		if err != nil {
			return
		}
		for _, tr := range model.TransferModels {
			r := judge(t, sixTasks(tr), s, zeroTolerance)
			if r.Feasible() != (r.Err() == nil) || r.Feasible() && !(r.Objective >= 23) {
				t.Errorf("makespan %v: %v", r.Objective, r)
			}
		}
		if r := judge(t, roomy, s, zeroTolerance); r.Feasible() && !(r.Objective >= together.Value) {
			t.Errorf("makespan %v on machines with capacities: %v", r.Objective, r)
		}
	})
}
