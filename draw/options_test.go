// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

func draws(t *testing.T, o draw.Options, in model.Instance, s model.Solution, arrived []float64) []byte {
	t.Helper()
	var b bytes.Buffer
	require.OK(t, draw.Solution(&b, o, []draw.Frame{{Instance: in, Solution: s, Arrived: arrived}}))
	return b.Bytes()
}

// The picture has the given size with any font, and a PDF is the same each time.
func TestStyle(t *testing.T) {
	t.Parallel()
	in, b := fiveRequests()
	o := options("svg")
	o.Width, o.Height, o.FontSize = 400, 300, 6
	svg := string(draws(t, o, in, b, nil))
	if !strings.Contains(svg, `width="400pt" height="300pt" viewBox="0 0 600 450"`) {
		t.Error(svg[:200])
	}
	inside := parse(t, []byte(svg))
	inside.width, inside.height = 600, 450 // its coordinates are those of the view box
	noOverlap(t, inside)
	o.Format, o.DPI = "png", 216
	if w, h := size(t, draws(t, o, in, b, nil)); w != 1200 || h != 900 {
		t.Errorf("the PNG is %d × %d, want 1200 × 900", w, h)
	}
	o.Format = "pdf"
	pdf := draws(t, o, in, b, nil)
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf, []byte("[0 0 400.00 300.00]")) || !bytes.Equal(pdf, draws(t, o, in, b, nil)) {
		t.Errorf("no PDF of 400 × 300 points, or another the second time: %q", pdf[:60])
	}
	for want, change := range map[string]func(o *draw.Options){
		"the width is":      func(o *draw.Options) { o.Width = 60 },
		"the height is":     func(o *draw.Options) { o.Height = 60 },
		"the font size is":  func(o *draw.Options) { o.FontSize = -1 },
		"million pixels":    func(o *draw.Options) { o.DPI, o.Width, o.Format = 2400, 10_000, "png" },
		"must be ascending": func(o *draw.Options) { from, to := 5.0, 2.0; o.From, o.To = &from, &to },
		"there is nothing":  func(o *draw.Options) { from := 1e9; o.From = &from },
		"there are 0 to":    func(o *draw.Options) { o.Rows = &draw.Range{First: 0, Last: 1000} },
	} {
		o := options("svg")
		change(&o)
		require.Refused(t, want, draw.Solution(new(bytes.Buffer), o, []draw.Frame{{Instance: in, Solution: b}}),
			model.ErrInvalid, want)
	}
}

// The title says how far the schedule is from the bound, a line where it is; links
// and machines can be left out.
func TestScheduleOptions(t *testing.T) {
	d, _, real, _, ends := sixTasks()
	bound := 22.0
	o := options("svg")
	o.By, o.Bound, o.NoLinks, o.Rows = "heft", &bound, true, &draw.Range{First: 1, Last: 2}
	p := parse(t, draws(t, o, d, real, ends))
	require.Same(t, "title", "six, heft: makespan 32 s, bound 22 s (gap 31.2 %)", p.title)
	texts(t, p, []string{"no schedule ends before 22", "P2", "P3", "critical path"}, "b1")
	if slices.Contains(p.values(), "P1") || slices.Contains(p.values(), "data") {
		t.Error("P1 or data are drawn:", p.values())
	}
}

func TestPlacement(t *testing.T) {
	in := &model.VCSched{Name: "vms", Hosts: 2, Jobs: []model.VCSchedJob{
		{ID: "a", Tasks: 1, CPU: 0.8, Memory: 0.5, CurrentHosts: []int{1}}, {ID: "b", Tasks: 1, CPU: 0.8, Memory: 0.2}, {ID: "c", Tasks: 2, CPU: 0.3, Memory: 0.1}}}
	s := &model.Placement{Jobs: []model.JobPlacement{{ID: "a", Hosts: []int{0}, CPU: []float64{0.5}}, {ID: "b", Hosts: []int{0}, CPU: []float64{0.5}}, {ID: "c", Hosts: []int{1, 1}, CPU: []float64{0.3, 0.3}}}}
	p := parse(t, draws(t, options("svg"), in, s, nil))
	require.Same(t, "title", "vms: minimum yield 0.625, average 0.75, 1 of 1 running tasks move", p.title)
	texts(t, p, []string{"host 0", "host 1", "CPU", "memory", "a, from 1", "b", "c ×2", "moves here", "needed, not given", "tight host: holds the minimum yield down"}, "host 2")
	noOverlap(t, p)
	edges := 0 // of host 0 alone, and the legend
	for _, x := range p.paths {
		if strings.Contains(x.Style, hex(theme.Tight)) {
			edges++
		}
	}
	require.Same(t, "edges of tight hosts", 2, edges)
	in.Hosts = 100
	texts(t, parse(t, draws(t, options("svg"), in, s, nil)), []string{"100 hosts, sorted in each chart by itself"}, "host 0")
}

// threeHosts is a cluster with a solution that empties one host and buys another.
func threeHosts() (*model.Consolidation, *model.Assignment) {
	in := &model.Consolidation{Name: "cluster", Resources: []string{"cpu", "gpu"}, PriceUnit: "EUR", Offers: []model.HostOffer{{ID: "big", Capacity: []int64{8, 0}, Price: 2, Count: 1}},
		Hosts: []model.ConsolidationHost{{ID: "n1", Capacity: []int64{4, 0}, Price: 3}, {ID: "n2", Capacity: []int64{4, 1}, Price: 3}, {ID: "n3", Capacity: []int64{4, 0}, Price: 3, Kept: true}},
		Jobs: []model.ConsolidationJob{{ID: "db", Tasks: 1, Needs: []int64{2, 1}, CurrentHosts: []string{"n2"}, Pinned: true}, {ID: "web", Tasks: 2, Needs: []int64{2, 0}, CurrentHosts: []string{"n1", "n1"}},
			{ID: "new", Tasks: 1, Needs: []int64{2, 0}}}}
	at := func(id string, hosts ...string) model.JobAssignment { return model.JobAssignment{ID: id, Hosts: hosts} }
	return in, &model.Assignment{Bought: []model.BoughtHost{{ID: "big-1", Offer: "big"}}, Jobs: []model.JobAssignment{at("db", "n2"), at("web", "big-1", "big-1"), at("new", "n2")}}
}

func TestAssignment(t *testing.T) {
	in, s := threeHosts()
	p := parse(t, draws(t, options("svg"), in, s, nil))
	require.Same(t, "title", "cluster: cost 8 EUR, 2 hosts with tasks, 2 today, moves 2", p.title)
	texts(t, p, []string{"n1", "n2", "n3", "big-1 (bought)", "cpu", "gpu", "db", "new", "web ×2, from n1", "emptied: saves 3 EUR", "kept, without tasks", "moves here", "stays, or is new",
		"holds pinned tasks: can't be emptied"}, "needed, not given")
	noOverlap(t, p)
	o := options("svg")
	o.Rows = &draw.Range{First: 1, Last: 1}
	texts(t, parse(t, draws(t, o, in, s, nil)), []string{"n2", "db", "new"}, "n1")
	in.Goal = model.GoalMoves
	if p := parse(t, draws(t, options("svg"), in, s, nil)); p.title != "cluster: moves 2, cost 8 EUR, 2 hosts with tasks, 2 today" {
		t.Errorf("title %q", p.title)
	}
	for k := range 100 {
		in.Hosts = append(in.Hosts, model.ConsolidationHost{ID: fmt.Sprint("more", k), Capacity: []int64{1, 1}})
	}
	texts(t, parse(t, draws(t, options("svg"), in, s, nil)), []string{"104 hosts, sorted in each chart by itself"}, "n1")
}

func TestConflict(t *testing.T) {
	in, _ := fiveRequests()
	var b bytes.Buffer
	require.OK(t, draw.Conflict(&b, options("svg"), in, []string{"a", "c"}, "too much"))
	p := parse(t, b.Bytes())
	texts(t, p, []string{"a: 4 PEs", "c: 8 PEs", "too much"}, "b: ")
	noOverlap(t, p)
	require.Refused(t, "error", draw.Conflict(new(bytes.Buffer), options("svg"), in, []string{"z"}, ""),
		model.ErrInvalid, "")
}

// An instance that says when it starts has dates on its axis; the use is drawn alone.
func TestDates(t *testing.T) {
	in, b := fiveRequests()
	in.StartTime = "1996-09-23T14:00:00+01:00"
	p := parse(t, draws(t, options("svg"), in, b, nil))
	texts(t, p, []string{"14:05", "Monday, 23 September 1996, UTC+01:00"}, "time (")
	o := options("svg")
	o.Usage = true
	p = parse(t, draws(t, o, in, b, nil))
	if !slices.ContainsFunc(p.values(), func(s string) bool { return strings.HasPrefix(s, "PEs in use, of 8, over time: ") }) || slices.Contains(p.values(), "a") {
		t.Error(p.values())
	}
}

// A logarithmic axis has powers of ten at equal distances; the bound is dashed,
// without markers; no time's interval goes below 0.
func TestCurvesLog(t *testing.T) {
	var b bytes.Buffer
	all := []draw.Curve{{Label: "a", Points: []draw.Point{{X: 1, Y: 0.001, Half: 0.002}, {X: 2, Y: 100}}}, {Label: "bound", Bound: true, Points: []draw.Point{{X: 1, Y: 0.01}, {X: 2, Y: 10}}}}
	style := draw.Style{Format: "svg"}
	require.OK(t, draw.Curves(&b, style, "", draw.Axis{Label: "x"},
		draw.Axis{Label: "time (s)", Log: true, NotNegative: true}, all))
	p := parse(t, b.Bytes())
	y := map[string]float64{}
	for _, x := range p.texts {
		y[x.Value] = x.Y
	}
	if d := (y["1"] - y["0.1"]) - (y["10"] - y["1"]); math.Abs(d) > 0.1 || y["1"] == y["10"] {
		t.Errorf("ticks at %v", y)
	}
	texts(t, p, []string{"bound", "time (s)"}, "-")
	all[0].Points[0].Y = 0
	require.Refused(t, "0 on a logarithmic axis",
		draw.Curves(&b, style, "", draw.Axis{}, draw.Axis{Log: true}, all), model.ErrInvalid, "")
	b.Reset()
	require.OK(t, draw.Curves(&b, style, "", draw.Axis{}, draw.Axis{NotNegative: true},
		[]draw.Curve{{Label: "a", Points: []draw.Point{{X: 1, Y: 1, Half: 3}}}}))
	texts(t, parse(t, b.Bytes()), []string{"0"}, "-")
}
