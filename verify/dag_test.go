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
			if got := arrived[3].RatString(); got != c.wantFive {
				t.Errorf("2->5 arrives at %s, want %s", got, c.wantFive)
			}
			if c.wantArrived != nil {
				var got []string
				for _, x := range arrived {
					if x == nil {
						got = append(got, "")
					} else {
						got = append(got, x.RatString())
					}
				}
				if diff := cmp.Diff(c.wantArrived, got); diff != "" {
					t.Errorf("arrivals (-want,+got):\n%s", diff)
				}
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
			if diff := cmp.Diff(early, constraints(r)); diff != "" {
				t.Errorf("a start 1e-6 too early (-want,+got):\n%s", diff)
			}
		})
	}
}

// The mean finish is reported exactly, and a lone transfer takes 4/3 of its time when TCP is everywhere.
func TestSixTasksOtherFigures(t *testing.T) {
	r := judge(t, sixTasks(model.TransferFair), sixPlan(sixTasks(model.TransferFair), 21), zeroTolerance)
	if want := (3 + 9 + 6 + 11 + 24 + 32) / 6.; r.Second != want {
		t.Errorf("mean finish %v, want %v", r.Second, want)
	}
	d := sixTasks(model.TransferTCPAll)
	arrived := verify.ExactArrivals(d, sixPlan(d, 21))
	if got := new(big.Rat).Sub(arrived[0], big.NewRat(3, 1)).RatString(); got != "4" {
		t.Errorf("1->2 takes %s, want 4", got)
	}
	// Task 2 would have to start at 7 then.
	if r := judge(t, d, sixPlan(d, 40), zeroTolerance); !slices.Contains(constraints(r), "task_precedence"+" 1") {
		t.Errorf("task 2 starts 1 s of 51 before its data are there, the report says: %v", r)
	}
}

// Each small change of a good schedule is reported by its name.
var dagMutations = map[string]struct {
	mutate func(*model.Schedule)
	want   []string
}{
	"other transfer model": {func(s *model.Schedule) { s.TransferModel = model.TransferTCP }, []string{"transfer_model"}},
	"task dropped":         {func(s *model.Schedule) { s.Tasks = slices.Delete(s.Tasks, 5, 6) }, []string{"missing_task"}},
	"foreign task":         {func(s *model.Schedule) { s.Tasks[5].ID = "66" }, []string{"missing_task", "unknown_task"}},
	"task twice":           {func(s *model.Schedule) { s.Tasks = append(s.Tasks, s.Tasks[0]) }, []string{"repeated_task"}},
	"foreign machine":      {func(s *model.Schedule) { s.Tasks[5].Machine = "P4" }, []string{"unknown_machine"}},
	"start is NaN":         {func(s *model.Schedule) { s.Tasks[5].StartS = math.NaN() }, []string{"invalid_start"}},
	"start is infinite":    {func(s *model.Schedule) { s.Tasks[5].StartS = math.Inf(1) }, []string{"invalid_start"}},
	"start before 0":       {func(s *model.Schedule) { s.Tasks[0].StartS = -0.32 }, []string{"invalid_start" + " 0.32"}},
	"foreign machine and NaN": {func(s *model.Schedule) { s.Tasks[5] = model.TaskStart{ID: "6", Machine: "P4", StartS: math.NaN()} },
		[]string{"invalid_start", "unknown_machine"}},
	"two at a time": {func(s *model.Schedule) { s.Tasks[5].StartS = 23.68 },
		// The edge 5->6 is within the machine.
		[]string{"machine_overlap" + " 0.32", "task_precedence" + " 0.32"}},
	"transfer dropped":      {func(s *model.Schedule) { s.Transfers = s.Transfers[:3] }, []string{"missing_transfer"}},
	"foreign transfer":      {func(s *model.Schedule) { s.Transfers = append(s.Transfers, model.TransferStart{From: "1", To: "6"}) }, []string{"unknown_transfer"}},
	"transfer turned round": {func(s *model.Schedule) { s.Transfers[0].From, s.Transfers[0].To = "2", "1" }, []string{"missing_transfer", "unknown_transfer"}},
	"transfer twice":        {func(s *model.Schedule) { s.Transfers = append(s.Transfers, s.Transfers[2]) }, []string{"repeated_transfer"}},
	"transfer in a machine": {func(s *model.Schedule) {
		s.Transfers = append(s.Transfers, model.TransferStart{From: "1", To: "3", StartS: 3})
	}, []string{"unneeded_transfer"}},
	"transfer is NaN": {func(s *model.Schedule) { s.Transfers[3].StartS = math.NaN() }, []string{"invalid_start"}},
	"transfer too early": {func(s *model.Schedule) { s.Transfers[0].StartS = 2.68 },
		[]string{"transfer_precedence" + " 0.32"}},
	"transfer before 0": {func(s *model.Schedule) { s.Transfers[0].StartS = -0.32 },
		[]string{"invalid_start" + " 0.32", "transfer_precedence" + " 3.32"}},
	// 2->5 has the bottleneck for itself then and arrives at 25, 4 s late.
	"transfer too late":    {func(s *model.Schedule) { s.Transfers[1].StartS = 20 }, []string{"task_precedence" + " 4"}},
	"task before its data": {func(s *model.Schedule) { s.Tasks[1].StartS = 5.68 }, []string{"task_precedence" + " 0.32"}},
}

func TestDAGMutationsAreCaught(t *testing.T) {
	d := sixTasks(model.TransferFair)
	for name, m := range dagMutations {
		t.Run(name, func(t *testing.T) {
			s := sixPlan(d, 21)
			m.mutate(s)
			r := judge(t, d, s, verify.Options{})
			if diff := cmp.Diff(m.want, constraints(r)); diff != "" || !errors.Is(r.Err(), model.ErrInfeasible) {
				t.Errorf("violations (-want,+got):\n%s", diff)
			}
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want,+got):\n%s\n%v", diff, r)
	}
	if !math.IsNaN(r.Objective) || !math.IsNaN(r.Second) {
		t.Errorf("objectives %v and %v of a schedule without all times, want NaN", r.Objective, r.Second)
	}
}
