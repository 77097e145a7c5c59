// SPDX-License-Identifier: MIT

package verify_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// sixTasks is the motivating example of Yousaf and Welzl's section 5.3 on the
// platform of their Figure 5.
func sixTasks(tr model.TransferModel) *model.DAG {
	d := &model.DAG{Name: "six", TransferModel: tr, Machines: []model.Machine{{ID: "P1"}, {ID: "P2"}, {ID: "P3"}},
		Network: model.Network{Bandwidth: 1, Links: []model.Link{{ID: "b"}}, Routes: []model.Route{
			{From: "P1", To: "P2", Links: []string{"b"}}, {From: "P3", To: "P2", Links: []string{"b"}}}}}
	for t, c := range [][]float64{{3, 5, 7}, {4, 8, 3}, {3, 4, 11}, {5, 8, 2}, {10, 3, 5}, {5, 8, 8}} {
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t + 1), CostS: c})
	}
	for _, e := range [][3]int{{1, 2, 3}, {1, 3, 4}, {2, 4, 2}, {2, 5, 5}, {3, 5, 7}, {4, 6, 3}, {5, 6, 6}} {
		d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e[0]), To: fmt.Sprint(e[1]), Data: float64(e[2])})
	}
	return d
}

// sixPlan is HEFT's plan for it with task 5 started at the given time; edges
// within a machine have no transfer.
func sixPlan(d *model.DAG, five float64) *model.Schedule {
	return d.Schedule([]int32{0, 2, 0, 2, 1, 1}, []float64{0, 6, 3, 9, five, five + 3}, []float64{3, 0, 0, 9, 6, 11, 0})
}

var zeroTolerance = func() verify.Options { zero := 0.0; return verify.Options{Tolerance: &zero} }()

// edited changes an instance (In) and its solution (S) as a row of a table says, in words or by a function.
func edited[I, S any](t *testing.T, in I, s S, set string, edit func(I, S)) {
	t.Helper()
	require.Set(t, &struct {
		In I
		S  S
	}{in, s}, set)
	if edit != nil {
		edit(in, s)
	}
}

// constraints lists the names and the amounts to six digits.
func constraints(r verify.Report) []string {
	var all []string
	for _, v := range r.Violations {
		if v.Amount == 0 {
			all = append(all, v.Constraint)
		} else {
			all = append(all, fmt.Sprintf("%s %.6g", v.Constraint, v.Amount))
		}
	}
	slices.Sort(all)
	return all
}

// The times of the paper's example, worked out by hand: on the bottleneck are
// 3->5 from 6 (7 units), 2->5 from 9 (5 units) and 4->6 from 11 (3 units).
func TestSixTasksByHand(t *testing.T) {
	for name, c := range map[string]struct {
		transfer            model.TransferModel
		first               float64 // start of task 2: when 1->2, on no link, is there
		wantFive            string  // when the last data of task 5 are there
		wantArrived         []string
		wantMakespan, start float64
	}{
		"ideal": {model.TransferIdeal, 6, "14", []string{"6", "", "", "14", "13", "14", ""}, 25, 14},
		// At 9 the first has 4 left, at 11 it has 3: three share 1 from then on.
		// 3->5 and 4->6 end at 20, 2->5 has 1 left and ends at 21.
		"fair": {model.TransferFair, 6, "21", []string{"6", "", "", "21", "20", "20", ""}, 32, 21},
		// 3/4, then 3/7 each, then 3/10 each.
		"tcp": {model.TransferTCP, 6, "281/12", nil, 413. / 12, 281. / 12},
	} {
		t.Run(name, func(t *testing.T) {
			d := sixTasks(c.transfer)
			s := sixPlan(d, c.start)
			arrived := verify.ExactArrivals(d, s)
			require.Same(t, "2->5 arrives", c.wantFive, arrived[3].RatString())
			if c.wantArrived != nil {
				var got []string
				for _, x := range arrived {
					if x == nil {
						got = append(got, "")
					} else {
						got = append(got, x.RatString())
					}
				}
				require.Same(t, "arrivals", c.wantArrived, got)
			}
			o := zeroTolerance
			if c.transfer == model.TransferTCP {
				o = verify.Options{} // 281/12 is no float
			}
			r := judge(t, d, s, o)
			if !r.Feasible() || math.Abs(r.Objective-c.wantMakespan) > 1e-12 {
				t.Errorf("want feasible with makespan %v, the report says: %v", c.wantMakespan, r)
			}
			r = judge(t, d, sixPlan(d, c.start-1e-6), o)
			early := []string{"task_precedence" + " 1e-06"}
			require.Same(t, "a start 1e-6 too early", early, constraints(r))
		})
	}
}

// The mean finish is reported exactly, and a lone transfer takes 4/3 of its time when TCP is everywhere.
func TestSixTasksOtherFigures(t *testing.T) {
	r := judge(t, sixTasks(model.TransferFair), sixPlan(sixTasks(model.TransferFair), 21), zeroTolerance)
	require.Same(t, "mean finish", (3+9+6+11+24+32)/6., r.Second)
	d := sixTasks(model.TransferTCPAll)
	arrived := verify.ExactArrivals(d, sixPlan(d, 21))
	require.Same(t, "1->2", "4", new(big.Rat).Sub(arrived[0], big.NewRat(3, 1)).RatString())
	// Task 2 would have to start at 7 then.
	if r := judge(t, d, sixPlan(d, 40), zeroTolerance); !slices.Contains(constraints(r), "task_precedence"+" 1") {
		t.Errorf("task 2 starts 1 s of 51 before its data are there, the report says: %v", r)
	}
}

// Each small change of a good schedule is reported by its name, and one without all places and times has no objective.
var dagMutations = map[string]struct {
	set    string
	mutate func(*model.DAG, *model.Schedule)
	want   []string
}{
	"other transfer model": {"S.TransferModel=tcp", nil, []string{"transfer_model"}},
	"task dropped":         {"S.Tasks=[:5]", nil, []string{"missing_task"}},
	"foreign task":         {"S.Tasks.5.ID=66", nil, []string{"missing_task", "unknown_task"}},
	"task twice":           {"", func(_ *model.DAG, s *model.Schedule) { s.Tasks = append(s.Tasks, s.Tasks[0]) }, []string{"repeated_task"}},
	"foreign machine":      {"S.Tasks.5.Machine=P4", nil, []string{"unknown_machine"}},
	"can't run there": {"", func(d *model.DAG, _ *model.Schedule) { d.Tasks[5].CostS[1] = math.Inf(1) },
		[]string{"ineligible_machine"}},
	"no path": {"", func(d *model.DAG, _ *model.Schedule) {
		d.Network.PathCapacity = [][]float64{{1, 1, 0}, {1, 1, 1}, {1, 1, 1}}
	}, []string{"missing_path"}},
	// The edge 1->3 has 4 units of data and no transfer.
	"data stay for a while": {"", func(d *model.DAG, _ *model.Schedule) { d.Machines[0].LocalRate = 8 },
		[]string{"task_precedence" + " 0.5"}},
	"start is NaN":      {"S.Tasks.5.StartS=NaN", nil, []string{"invalid_start"}},
	"start is infinite": {"S.Tasks.5.StartS=+Inf", nil, []string{"invalid_start"}},
	"start before 0":    {"S.Tasks.0.StartS=-0.32", nil, []string{"invalid_start" + " 0.32"}},
	"foreign machine and NaN": {"", func(_ *model.DAG, s *model.Schedule) {
		s.Tasks[5] = model.TaskStart{ID: "6", Machine: "P4", StartS: math.NaN()}
	},
		[]string{"invalid_start", "unknown_machine"}},
	"two at a time": {"S.Tasks.5.StartS=23.68", nil,
		// The edge 5->6 is within the machine.
		[]string{"machine_overlap" + " 0.32", "task_precedence" + " 0.32"}},
	"transfer dropped": {"S.Transfers=[:3]", nil, []string{"missing_transfer"}},
	"foreign transfer": {"", func(_ *model.DAG, s *model.Schedule) {
		s.Transfers = append(s.Transfers, model.TransferStart{From: "1", To: "6"})
	}, []string{"unknown_transfer"}},
	"transfer turned round": {"S.Transfers.0.From=2; S.Transfers.0.To=1", nil, []string{"missing_transfer", "unknown_transfer"}},
	"transfer twice":        {"", func(_ *model.DAG, s *model.Schedule) { s.Transfers = append(s.Transfers, s.Transfers[2]) }, []string{"repeated_transfer"}},
	"transfer in a machine": {"", func(_ *model.DAG, s *model.Schedule) {
		s.Transfers = append(s.Transfers, model.TransferStart{From: "1", To: "3", StartS: 5})
	}, []string{"unneeded_transfer"}},
	"transfer is NaN": {"S.Transfers.3.StartS=NaN", nil, []string{"invalid_start"}},
	"transfer too early": {"S.Transfers.0.StartS=2.68", nil,
		[]string{"transfer_precedence" + " 0.32"}},
	"transfer before 0": {"S.Transfers.0.StartS=-0.32", nil,
		[]string{"invalid_start" + " 0.32", "transfer_precedence" + " 3.32"}},
	// 2->5 has the bottleneck for itself then and arrives at 25, 4 s late.
	"transfer too late":    {"S.Transfers.1.StartS=20", nil, []string{"task_precedence" + " 4"}},
	"task before its data": {"S.Tasks.1.StartS=5.68", nil, []string{"task_precedence" + " 0.32"}},
}

func TestDAGMutationsAreCaught(t *testing.T) {
	for name, m := range dagMutations {
		t.Run(name, func(t *testing.T) {
			d := sixTasks(model.TransferFair)
			s := sixPlan(d, 21)
			edited(t, d, s, m.set, m.mutate)
			r := judge(t, d, s, verify.Options{})
			if diff := cmp.Diff(m.want, constraints(r)); diff != "" || !errors.Is(r.Err(), model.ErrInfeasible) {
				t.Errorf("violations (-want,+got):\n%s", diff)
			}
			incomplete := slices.ContainsFunc(m.want, func(c string) bool {
				return slices.Contains([]string{"transfer_model", "missing_task", "unknown_machine", "ineligible_machine", "missing_path", "missing_transfer", "invalid_start"}, c)
			})
			require.Same(t, "no objective", incomplete, math.IsNaN(r.Objective))
		})
	}
}

func TestDAGViolationsTogether(t *testing.T) {
	d := sixTasks(model.TransferFair)
	s := sixPlan(d, 21)
	s.Tasks[5].StartS = math.NaN()                                                                 // 6
	s.Tasks[0].StartS = -1                                                                         // 1
	s.Tasks[2].StartS = 1                                                                          // 3 on 1's machine
	s.Tasks = append(s.Tasks, s.Tasks[1], model.TaskStart{ID: "x"})                                // 2 and a foreign one
	s.Transfers = append(s.Transfers[1:], s.Transfers[1], model.TransferStart{From: "5", To: "1"}) // 1->2 is missing
	s.Transfers[0].StartS = 8                                                                      // 2->5 before 2 ends
	want := []string{"invalid_start", "invalid_start", "machine_overlap", "missing_transfer", "repeated_task", "repeated_transfer",
		"task_precedence", "transfer_precedence", "unknown_task", "unknown_transfer"}
	r := judge(t, d, s, verify.Options{})
	var got []string
	for _, v := range r.Violations {
		got = append(got, v.Constraint)
	}
	slices.Sort(got)
	require.Same(t, "result", want, got)
	if !math.IsNaN(r.Objective) || !math.IsNaN(r.Second) {
		t.Errorf("objectives %v and %v of a schedule without all times, want NaN", r.Objective, r.Second)
	}
}
