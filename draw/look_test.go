// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// solved are an instance of each kind with a solution.
func solved() map[model.Kind]draw.Frame {
	batch, execution := fourJobs()
	requests, bookings := fiveRequests()
	tvc, embeddings := fourClusters()
	graph, _, real, _, ends := sixTasks()
	cluster, assignment := threeHosts()
	return map[model.Kind]draw.Frame{
		model.KindBatch:         {Instance: batch, Solution: execution},
		model.KindReservation:   {Instance: requests, Solution: bookings},
		model.KindTVC:           {Instance: tvc, Solution: embeddings},
		model.KindConsolidation: {Instance: cluster, Solution: assignment},
		model.KindDAG:           {Instance: graph, Solution: real, Arrived: ends},
		model.KindVCSched: {Instance: &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.8, Memory: 0.5, CurrentHosts: []int{0}}}},
			Solution: &model.Placement{Jobs: []model.JobPlacement{{ID: "a", Hosts: []int{0}, CPU: []float64{0.5}}}}},
	}
}

// Every solution has its bound and gap in the title, even in a narrow picture.
func TestTitlesSayTheGap(t *testing.T) {
	for kind, f := range solved() {
		bound := 0.7654
		p := parse(t, draws(t, draw.Options{Style: draw.Style{Format: "svg", Width: 400}, By: "an-algorithm", Bound: &bound}, f.Instance, f.Solution, f.Arrived))
		if shown := p.texts[0].Value; !strings.Contains(shown, "bound 0.765") && !strings.Contains(shown, "bound 0.77") || !strings.Contains(shown, "gap") {
			t.Errorf("%s: the title is %q", kind, shown)
		}
		noOverlap(t, p)
	}
}

var coloured = regexp.MustCompile(`(fill|stroke):(#[0-9A-F]{6})`)

// An SVG holds the dark side of each of its colours, and a picture on dark paper only dark sides.
func TestDark(t *testing.T) {
	for kind, f := range solved() {
		svg := string(draws(t, options("svg"), f.Instance, f.Solution, f.Arrived))
		style, rest, ok := strings.Cut(svg, "</style>")
		if !ok {
			t.Fatalf("%s: the SVG has no style", kind)
		}
		for _, m := range coloured.FindAllStringSubmatch(rest, -1) {
			if !strings.Contains(style, `[style*="`+m[0]+`"]{`+m[1]+`:#`) {
				t.Fatalf("%s: %s has no dark side", kind, m[0])
			}
		}
		if strings.Contains(rest, `<text`) && regexp.MustCompile(`<text[^>]*font-size:[0-9.]+px">`).MatchString(rest) {
			t.Errorf("%s: a text without a colour is black on dark paper", kind)
		}
		o := options("svg")
		o.Dark = true
		dark := string(draws(t, o, f.Instance, f.Solution, f.Arrived))
		if strings.Contains(dark, "<style>") || strings.Contains(dark, "fill:#"+hex(theme.Paper)) || !strings.Contains(dark, "fill:"+theme.Hex(theme.Paper.Dark)) {
			t.Errorf("%s: the dark SVG is not dark, or light elsewhere", kind)
		}
		o.Format = "png"
		picture := require.Value(png.Decode(bytes.NewReader(draws(t, o, f.Instance, f.Solution, f.Arrived))))(t)
		if got := picture.At(0, 0); got != theme.Paper.Dark {
			t.Errorf("%s: the corner of the dark PNG is %v, want %v", kind, got, theme.Paper.Dark)
		}
	}
}
