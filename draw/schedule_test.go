// SPDX-License-Identifier: MIT

package draw_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/model"
)

// The six-task example of the paper, as HEFT plans it and as it comes out.
func sixTasks() (d *model.DAG, planned, real *model.Schedule, plannedEnds, realEnds []float64) {
	d = &model.DAG{Name: "six", TransferModel: model.TransferFair, Machines: []model.Machine{{ID: "P1"}, {ID: "P2"}, {ID: "P3"}}}
	for k, c := range [][]float64{{3, 5, 7}, {4, 8, 3}, {3, 4, 11}, {5, 8, 2}, {10, 3, 5}, {5, 8, 8}} {
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(k + 1), CostS: c})
	}
	for _, e := range [][3]int{{1, 2, 3}, {1, 3, 4}, {2, 4, 2}, {2, 5, 5}, {3, 5, 7}, {4, 6, 3}, {5, 6, 6}} {
		d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e[0]), To: fmt.Sprint(e[1]), Data: float64(e[2])})
	}
	d.Network = model.Network{Bandwidth: 1, Links: []model.Link{{ID: "b1"}},
		Routes: []model.Route{{From: "P1", To: "P2", Links: []string{"b1"}}, {From: "P3", To: "P2", Links: []string{"b1"}}}}
	schedule := func(start ...float64) *model.Schedule {
		s := &model.Schedule{Transfers: []model.TransferStart{
			{From: "1", To: "2", StartS: 3}, {From: "2", To: "5", StartS: 9}, {From: "3", To: "5", StartS: 6}, {From: "4", To: "6", StartS: 11}}}
		for k, m := range []string{"P1", "P3", "P1", "P3", "P2", "P2"} {
			s.Tasks = append(s.Tasks, model.TaskStart{ID: fmt.Sprint(k + 1), Machine: m, StartS: start[k]})
		}
		return s
	}
	return d, schedule(0, 6, 3, 9, 14, 17), schedule(0, 6, 3, 9, 21, 24), []float64{6, 14, 13, 14}, []float64{6, 21, 20, 20}
}

func sixPanels(t testing.TB) []draw.Panel {
	t.Helper()
	d, planned, real, plannedEnds, realEnds := sixTasks()
	a, err := draw.Schedule(d, planned, plannedEnds)
	if err != nil {
		t.Fatal(err)
	}
	b, err := draw.Schedule(d, real, realEnds)
	if err != nil {
		t.Fatal(err)
	}
	a.Title, b.Title = "planned", "realistic"
	return []draw.Panel{a, b}
}

func TestSchedulePanel(t *testing.T) {
	got := sixPanels(t)[1]
	want := draw.Panel{Title: "realistic", Marks: []draw.Mark{{At: 32, Label: "makespan 32"}}, Arrows: []draw.Arrow{
		{FromRow: 0, ToRow: 2, From: 3, To: 6, Critical: true}, {FromRow: 2, ToRow: 1, From: 9, To: 21, Critical: true},
		{FromRow: 0, ToRow: 1, From: 6, To: 21}, {FromRow: 2, ToRow: 1, From: 11, To: 24},
	}, Rows: []draw.Row{
		{Label: "P1", Bars: []draw.Bar{{Start: 0, End: 3, Label: "1", Critical: true}, {Start: 3, End: 6, Label: "3", Group: 2}}},
		{Label: "P2", Bars: []draw.Bar{{Start: 21, End: 24, Label: "5", Group: 4, Critical: true}, {Start: 24, End: 32, Label: "6", Group: 5, Critical: true}}},
		{Label: "P3", Bars: []draw.Bar{{Start: 6, End: 9, Label: "2", Group: 1, Critical: true}, {Start: 9, End: 11, Label: "4", Group: 3}}},
		{Label: "b1", Link: true, Bars: []draw.Bar{{Start: 9, End: 21, Label: "2→5", Group: 1, Critical: true}, {Start: 6, End: 20, Label: "3→5", Group: 2},
			{Start: 11, End: 20, Label: "4→6", Group: 3}}},
		{Label: draw.OtherTransfers, Link: true, Bars: []draw.Bar{{Start: 3, End: 6, Label: "1→2", Critical: true}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("panel (-want,+got):\n%s", d)
	}

	// A transfer is in the row of each link of its route; without transfers
	// that share nothing there is no row for them.
	d, _, real, _, ends := sixTasks()
	d.Network.Links = append(d.Network.Links, model.Link{ID: "b2"}, model.Link{ID: "idle"})
	d.Network.Routes[1].Links = []string{"b1", "b2"}
	d.Network.Routes = append(d.Network.Routes, model.Route{From: "P1", To: "P3", Links: []string{"b2"}})
	real.Tasks[3].StartS = 40 // the last to end isn't the last in the list
	p, err := draw.Schedule(d, real, ends)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]draw.Mark{{At: 42, Label: "makespan 42"}}, p.Marks); d != "" {
		t.Errorf("marks (-want,+got):\n%s", d)
	}
	rows := map[string][]string{}
	for _, r := range p.Rows {
		rows[r.Label] = []string{}
		for _, b := range r.Bars {
			rows[r.Label] = append(rows[r.Label], b.Label)
		}
	}
	wantRows := map[string][]string{"P1": {"1", "3"}, "P2": {"5", "6"}, "P3": {"2", "4"},
		"b1": {"2→5", "3→5", "4→6"}, "b2": {"1→2", "2→5", "4→6"}, "idle": {}}
	if d := cmp.Diff(wantRows, rows); d != "" {
		t.Errorf("rows (-want,+got):\n%s", d)
	}
}

// Above 200 tasks colours are levels: a chain's count up, independent tasks'
// are the same.
func TestLevels(t *testing.T) {
	for name, c := range map[string]struct {
		tasks int
		chain bool
		want  func(task int) int
	}{
		"few":   {200, true, func(t int) int { return t }},
		"chain": {201, true, func(t int) int { return t }},
		"wide":  {201, false, func(int) int { return 0 }},
	} {
		d := &model.DAG{Machines: []model.Machine{{ID: "m"}}}
		s := &model.Schedule{}
		for k := range c.tasks {
			id := fmt.Sprint(k)
			d.Tasks = append(d.Tasks, model.DAGTask{ID: id, CostS: []float64{1}})
			s.Tasks = append(s.Tasks, model.TaskStart{ID: id, Machine: "m", StartS: float64(k)})
			if c.chain && k > 0 {
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(k - 1), To: id})
			}
		}
		p, err := draw.Schedule(d, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, b := range p.Rows[0].Bars {
			if b.Group != c.want(k) {
				t.Errorf("%s: task %d has group %d, want %d", name, k, b.Group, c.want(k))
			}
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*model.DAG, *model.Schedule, *[]float64)
		want string
	}{
		"instance":     {func(d *model.DAG, _ *model.Schedule, _ *[]float64) { d.Machines = nil }, "machines is empty"},
		"task missing": {func(_ *model.DAG, s *model.Schedule, _ *[]float64) { s.Tasks = s.Tasks[1:] }, "has 5 tasks"},
		"few ends":     {func(_ *model.DAG, _ *model.Schedule, f *[]float64) { *f = (*f)[1:] }, "has 4 transfers, 3 ends"},
		"no edge":      {func(_ *model.DAG, s *model.Schedule, _ *[]float64) { s.Transfers[1].To = "6" }, `transfers[1] from "2" to "6": there is no such edge`},
		"no task":      {func(_ *model.DAG, s *model.Schedule, _ *[]float64) { s.Transfers[1].To = "7" }, "no such edge"},
		"one machine":  {func(_ *model.DAG, s *model.Schedule, _ *[]float64) { s.Transfers[1].To = "4" }, `both tasks are on machine "P3"`},
		"backwards":    {func(_ *model.DAG, _ *model.Schedule, f *[]float64) { (*f)[2] = 5 }, "starts at 6 and ends at 5"},
		"nan":          {func(_ *model.DAG, _ *model.Schedule, f *[]float64) { (*f)[2] = math.NaN() }, "ends at NaN"},
		"for ever":     {func(_ *model.DAG, _ *model.Schedule, f *[]float64) { (*f)[2] = math.Inf(1) }, "ends at +Inf"},
	} {
		d, _, real, _, ends := sixTasks()
		c.edit(d, real, &ends)
		if _, err := draw.Schedule(d, real, ends); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
