// SPDX-License-Identifier: MIT

package draw_test

import (
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
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
	a := require.Value(draw.Schedule(d, planned, plannedEnds))(t)
	b := require.Value(draw.Schedule(d, real, realEnds))(t)
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
	require.Same(t, "panel", want, got)

	// A transfer is in the row of each link of its route; without transfers
	// that share nothing there is no row for them.
	d, _, real, _, ends := sixTasks()
	d.Network.Links = append(d.Network.Links, model.Link{ID: "b2"}, model.Link{ID: "idle"})
	d.Network.Routes[1].Links = []string{"b1", "b2"}
	d.Network.Routes = append(d.Network.Routes, model.Route{From: "P1", To: "P3", Links: []string{"b2"}})
	real.Tasks[3].StartS = 40 // the last to end isn't the last in the list
	p := require.Value(draw.Schedule(d, real, ends))(t)
	require.Same(t, "marks", []draw.Mark{{At: 42, Label: "makespan 42"}}, p.Marks)
	rows := map[string][]string{}
	for _, r := range p.Rows {
		rows[r.Label] = []string{}
		for _, b := range r.Bars {
			rows[r.Label] = append(rows[r.Label], b.Label)
		}
	}
	wantRows := map[string][]string{"P1": {"1", "3"}, "P2": {"5", "6"}, "P3": {"2", "4"},
		"b1": {"2→5", "3→5", "4→6"}, "b2": {"1→2", "2→5", "4→6"}, "idle": {}}
	require.Same(t, "rows", wantRows, rows)
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
		p := require.Value(draw.Schedule(d, s, nil))(t)
		for k, b := range p.Rows[0].Bars {
			require.Same(t, fmt.Sprintf("%s: group of task %d", name, k), c.want(k), b.Group)
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for name, c := range map[string]struct{ change, want string }{
		"instance":     {"D.Machines=nil", "machines is empty"},
		"task missing": {"S.Tasks=[1:]", "has 5 tasks"},
		"few ends":     {"Ends=[1:]", "has 4 transfers, 3 ends"},
		"no edge":      {"S.Transfers.1.To=6", `transfers[1] from "2" to "6": there is no such edge`},
		"no task":      {"S.Transfers.1.To=7", "no such edge"},
		"one machine":  {"S.Transfers.1.To=4", `both tasks are on machine "P3"`},
		"backwards":    {"Ends.2=5", "starts at 6 and ends at 5"},
		"nan":          {"Ends.2=NaN", "ends at NaN"},
		"for ever":     {"Ends.2=+Inf", "ends at +Inf"},
	} {
		d, _, real, _, ends := sixTasks()
		x := struct {
			D    *model.DAG
			S    *model.Schedule
			Ends []float64
		}{d, real, ends}
		require.Set(t, &x, c.change)
		require.Refused(t, name, require.Err(draw.Schedule(x.D, x.S, x.Ends)), model.ErrInvalid, c.want)
	}
}
