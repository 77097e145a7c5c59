// SPDX-License-Identifier: MIT

package view_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// sixSchedule is HEFT's schedule of the six-task example with the given starts.
func sixSchedule(start ...float64) *model.Schedule {
	s := &model.Schedule{Transfers: []model.TransferStart{
		{From: "1", To: "2", StartS: 3}, {From: "2", To: "5", StartS: 9}, {From: "3", To: "5", StartS: 6}, {From: "4", To: "6", StartS: 11}}}
	for k, m := range []string{"P1", "P3", "P1", "P3", "P2", "P2"} {
		s.Tasks = append(s.Tasks, model.TaskStart{ID: string(rune('1' + k)), Machine: m, StartS: start[k]})
	}
	return s
}

func TestCriticalByHand(t *testing.T) {
	d := testkit.SixTasks()
	// Planned: 1 runs to 3, its data reach P3 at 6, 2 runs to 9, its data reach P2
	// at 14, 5 runs to 17 and 6, which has 5's data there, to 25.
	planned := []view.CriticalTask{
		{Task: 0, EndS: 3, Transfer: -1},
		{Task: 1, StartS: 6, EndS: 9, By: view.HoldTransfer, Transfer: 0, ArrivedS: 6},
		{Task: 4, StartS: 14, EndS: 17, By: view.HoldTransfer, Transfer: 1, ArrivedS: 14},
		{Task: 5, StartS: 17, EndS: 25, By: view.HoldData, Transfer: -1},
	}
	// Realised: the data of 2 share the link with the data of 3 and 4, and arrive at 21.
	real := slices.Clone(planned)
	real[2].StartS, real[2].EndS, real[2].ArrivedS = 21, 24, 21
	real[3].StartS, real[3].EndS = 24, 32
	late := slices.Clone(real)
	late[3].StartS, late[3].EndS, late[3].IdleS = 26, 34, 2
	for _, c := range []struct {
		name    string
		s       *model.Schedule
		arrived []float64
		want    []view.CriticalTask
	}{
		{"planned", sixSchedule(0, 6, 3, 9, 14, 17), nil, planned},
		{"realised", sixSchedule(0, 6, 3, 9, 21, 24), []float64{6, 21, 20, 20}, real},
		{"idle", sixSchedule(0, 6, 3, 9, 21, 26), []float64{6, 21, 20, 20}, late},
	} {
		got, err := view.Critical(d, c.s, c.arrived)
		require.OK(t, err, c.name)
		require.Same(t, c.name, c.want, got, cmpopts.EquateApprox(0, 1e-9))
	}
}

// A task that has nothing to do with the one before it waits for the machine
// alone.
func TestCriticalMachine(t *testing.T) {
	d := testkit.DAG([][]float64{{3}, {4}}, nil)
	s := d.Schedule([]int32{0, 0}, []float64{4, 0}, nil)
	got, err := view.Critical(d, s, nil)
	want := []view.CriticalTask{{Task: 1, EndS: 4, Transfer: -1}, {Task: 0, StartS: 4, EndS: 7, By: view.HoldMachine, Transfer: -1}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// In a semi-active schedule without contention nothing on the path is idle: each
// step begins when the step before it ends, the first at 0.
func TestCriticalSemiActive(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 15))
	for range 300 {
		n, m := 1+rng.IntN(12), 1+rng.IntN(4)
		d := testkit.RandomDAG(rng, n, m)
		g := view.OfDAG(d)
		machine, order := make([]int32, n), make([][]int32, m)
		for _, task := range g.Order {
			machine[task] = int32(rng.IntN(m))
			order[machine[task]] = append(order[machine[task]], task)
		}
		p := view.NewPlay(g)
		makespan := p.Run(machine, order)
		s := d.Schedule(machine, p.Start, p.Sent)
		path := require.Value(view.Critical(d, s, nil))(t)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(makespan, 1e-9) }
		at := 0.0
		for k, x := range path {
			if x.By == view.HoldTransfer {
				tr := s.Transfers[x.Transfer]
				if tr.From != d.Tasks[path[k-1].Task].ID || tr.To != d.Tasks[x.Task].ID || !near(tr.StartS, at) || !near(x.ArrivedS, x.StartS) {
					t.Fatalf("step %d: %+v of %+v, transfer %+v", k, x, path, tr)
				}
				at = x.ArrivedS
			}
			if !near(x.StartS, at) || x.IdleS > 1e-6*makespan || (k == 0) != (x.By == view.HoldNothing) {
				t.Fatalf("step %d begins at %v, not %v: %+v", k, x.StartS, at, path)
			}
			at = x.EndS
		}
		if !near(at, makespan) {
			t.Fatalf("the path ends at %v, the makespan is %v", at, makespan)
		}
	}
}

func TestCriticalErrors(t *testing.T) {
	d := testkit.SixTasks()
	s := sixSchedule(0, 6, 3, 9, 14, 17)
	unknown := sixSchedule(0, 6, 3, 9, 14, 17)
	unknown.Transfers[0].From = "6"
	for name, call := range map[string]func() error{
		"arrivals": func() error { _, err := view.Critical(d, s, []float64{1}); return err },
		"edge":     func() error { _, err := view.Critical(d, unknown, nil); return err },
		"shape":    func() error { _, err := view.Critical(d, &model.Schedule{}, nil); return err },
	} {
		require.Refused(t, name, call(), model.ErrInvalid, "")
	}
	if path, err := view.Critical((&model.DAG{}), &model.Schedule{}, nil); err != nil || path != nil {
		t.Error("an empty instance:", path, err)
	}
	// Tasks that overlap or wait for later ones don't lead in circles.
	rng := rand.New(rand.NewPCG(2, 15))
	for range 100 {
		d := testkit.RandomDAG(rng, 8, 3)
		start, machine := make([]float64, 8), make([]int32, 8)
		for k := range start {
			start[k], machine[k] = float64(rng.IntN(3)), int32(rng.IntN(3))
		}
		if path, err := view.Critical(d, d.Schedule(machine, start, make([]float64, len(d.Edges))), nil); err != nil || len(path) > 8 {
			t.Fatal(path, err)
		}
	}
}
