// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// fourClusters run in a fat-tree of 4 pods, 2 slots per server and links of 100 Mbps. Request a (3 VMs of 10 Mbps) is
// below one edge switch, and b (4 of 30 Mbps) below one aggregation switch. Request c (2 of 100 Mbps) is in two pods.
// They run together from 20 s to 30 s; d is rejected.
func fourClusters() (*model.TVC, *model.Embeddings) {
	in := &model.TVC{Name: "four", FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 100}, Requests: []model.TVCRequest{
		{ID: "a", ArrivalS: 0, VMs: 3, BandwidthMbps: 10, DurationS: 100},
		{ID: "b", ArrivalS: 10, VMs: 4, BandwidthMbps: 30, DurationS: 100},
		{ID: "c", ArrivalS: 20, VMs: 2, BandwidthMbps: 100, DurationS: 10},
		{ID: "d", ArrivalS: 25, VMs: 2, BandwidthMbps: 100, DurationS: 10},
	}}
	run := func(id string, from, to float64, at model.Switch, servers ...int) model.Run[model.Embedding] {
		e := model.Embedding{Switch: at}
		for k := 0; k < len(servers); k += 2 {
			e.Servers = append(e.Servers, model.ServerVMs{Server: servers[k], VMs: servers[k+1]})
		}
		return model.Run[model.Embedding]{ID: id, Segments: []model.Segment[model.Embedding]{{StartS: from, EndS: to, Place: e}}}
	}
	return in, &model.Embeddings{Runs: []model.Run[model.Embedding]{
		run("b", 10, 110, model.Switch{Layer: model.LayerAggregation, Group: 1, Index: 1}, 4, 2, 6, 2),
		run("a", 0, 100, model.Switch{Layer: model.LayerEdge}, 0, 2, 1, 1),
		run("c", 20, 30, model.Switch{Layer: model.LayerCore, Group: 1}, 8, 1, 12, 1),
	}}
}

func clusters(t testing.TB, format, title string, in *model.TVC, e *model.Embeddings, at *float64) []byte {
	t.Helper()
	var b bytes.Buffer
	o := options(format)
	o.At = at
	require.OK(t, draw.Clusters(&b, o, title, in, e))
	return b.Bytes()
}

// linksOf counts the lines of links by the colour of their load.
func linksOf(p picture) map[string]int {
	n := map[string]int{}
	for _, x := range p.paths {
		for _, c := range []string{noShare, share(1), share(2), share(3), share(4)} {
			if strings.Contains(x.Style, "stroke:#"+c) {
				if strings.Contains(x.Style, "stroke-dasharray") {
					c = "loose"
				}
				n[c]++
			}
		}
	}
	return n
}

// noShare is the colour of a link without reservations.
var noShare = hex(theme.Mix(theme.Line, theme.Soft, 0.4))

func share(k int) string { return hex(theme.Shares[k]) }

func TestClustersByHand(t *testing.T) {
	ten := 10.0
	for name, c := range map[string]struct {
		change string
		three  bool // the first run alone, on three servers
		at     *float64
		want   map[string]int // links and one of the legend, of the colours that are there
		head   string
	}{
		// a loads two links of servers with 10 %, b two and two edge links with
		// 60 %, c two links of each layer wholly.
		"the highest load": {want: map[string]int{noShare: 37, share(1): 3, share(3): 5, share(4): 7},
			head: "At 20 s: 9 of 32 slots in use; reserved: 21.2 % of the servers' links, 20.0 % of those from edge to aggregation switches, 12.5 % of those to core switches"},
		"a moment": {at: &ten, want: map[string]int{noShare: 43, share(1): 3, share(3): 5},
			head: "At 10 s: 7 of 32 slots in use; reserved: 8.8 % of the servers' links, 7.5 % of those from edge to aggregation switches, 0.0 % of those to core switches"},
		"links of servers alone": {change: "Instance.FatTree.Fabric=non-blocking",
			want: map[string]int{noShare: 11, share(1): 3, share(3): 3, share(4): 3, "loose": 33},
			head: "At 20 s: 9 of 32 slots in use; reserved: 21.2 % of the servers' links"},
		// Two servers of one edge switch, one of another: the link of the first
		// carries one VM's bandwidth, or both servers' paths reserve it.
		"cut": {three: true,
			want: map[string]int{noShare: 44, share(1): 6},
			head: "At 0 s: 3 of 32 slots in use; reserved: 1.9 % of the servers' links, 1.2 % of those from edge to aggregation switches, 0.0 % of those to core switches"},
		"per path": {change: "Instance.Hose=per-path", three: true, want: map[string]int{noShare: 44, share(1): 6},
			head: "At 0 s: 3 of 32 slots in use; reserved: 1.9 % of the servers' links, 1.9 % of those from edge to aggregation switches, 0.0 % of those to core switches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, e := fourClusters()
			require.Set(t, &draw.Frame{Instance: in, Solution: e}, c.change)
			if c.three {
				e.Runs = three(e.Runs[1])
			}
			p := parse(t, clusters(t, "svg", "four", in, e, c.at))
			require.Same(t, "links", c.want, linksOf(p))
			count := fmt.Sprintf("Slots in use, of 32, over time; dashed: the moment above; below: %d rejected", len(in.Requests)-len(e.Runs))
			texts(t, p, []string{c.head, count, "four", "core", "aggregation", "edge", "slots", "pod 0", "pod 3", "rejected", "a"}, "waiting")
			noOverlap(t, p)
			finite(t, p)
		})
	}
}

// three places a run on the servers 0, 1 and 2, one VM each.
func three(r model.Run[model.Embedding]) []model.Run[model.Embedding] {
	r.Segments = slices.Clone(r.Segments)
	r.Segments[0].Place = model.Embedding{Switch: model.Switch{Layer: model.LayerAggregation},
		Servers: []model.ServerVMs{{Server: 0, VMs: 1}, {Server: 1, VMs: 1}, {Server: 2, VMs: 1}}}
	return []model.Run[model.Embedding]{r}
}

// In the chart and on the servers each request has its colour: a is stacked below
// b below c.
func TestClustersStack(t *testing.T) {
	t.Parallel()
	in, e := fourClusters()
	p := parse(t, clusters(t, "svg", "", in, e, nil))
	fills := p.fills()
	// a has two servers, and in the chart one rectangle; b has two servers, and two rectangles as a ends first; c has
	// two servers and one.
	for colour, n := range map[string]int{tint(0): 3, tint(1): 4, tint(2): 3, tint(3): 0} {
		if fills[colour] != n {
			t.Errorf("%d rectangles in %s, want %d (all: %v)", fills[colour], colour, n, fills)
		}
	}
	if w, h := size(t, clusters(t, "png", "", in, e, nil)); w < 1000 || w > 2880 || h < 500 || h > 2000 {
		t.Errorf("the PNG is %d × %d", w, h)
	}
}

// Waiting counts from the arrival to the first segment, suspended between
// segments.
func TestClustersQueue(t *testing.T) {
	in, e := fourClusters()
	in.Queue = true
	c := &e.Runs[2].Segments
	(*c)[0].StartS, (*c)[0].EndS = 40, 45
	*c = append(*c, model.Segment[model.Embedding]{StartS: 60, EndS: 65, Place: (*c)[0].Place})
	var b bytes.Buffer
	at := 42.0
	require.OK(t, draw.Solution(&b, draw.Options{Style: draw.Style{Format: "svg"}, By: "bgmbf", At: &at},
		[]draw.Frame{{Instance: in, Solution: e}}))
	p := parse(t, b.Bytes())
	texts(t, p, []string{"four, bgmbf: 3 of 4 requests run, mean response 81.667 s, mean bounded slowdown 2.167, 1 suspensions", "waiting", "suspended", "refused",
		"Requests that wait and those suspended, over time"}, "NaN")
	// The axis is 110 s long. The legend's samples are at the top.
	wide := 0.0
	for _, r := range rectangles(t, p, hex(theme.Faint)) {
		wide = max(wide, r.w)
	}
	seconds := func(colour string) (sum float64) {
		for _, r := range rectangles(t, p, colour) {
			if r.y < 60 {
				sum += r.w / wide * 110
			}
		}
		return sum
	}
	if x := seconds(hex(theme.Waiting)); x < 19.8 || x > 20.2 {
		t.Errorf("%v s of waiting, want 20", x)
	}
	if x := seconds(hex(theme.Suspended)); x < 34.8 || x > 35.2 { // below those waiting, too
		t.Errorf("%v s of waiting or suspended, want 35", x)
	}
	noOverlap(t, p)
}

type rectangle struct{ x, y, w, h float64 } // from the lower left corner

// rectangles returns the filled rectangles of a colour.
func rectangles(t *testing.T, p picture, colour string) (all []rectangle) {
	t.Helper()
	for _, x := range p.paths {
		if x.Style != "fill:#"+colour {
			continue
		}
		for d := range strings.SplitSeq(strings.TrimSuffix(x.D, "Z"), "Z") {
			var x0, y0, x1, y1, x2, y2 float64
			require.OK(t, require.Err(fmt.Sscanf(d, "M%g,%gL%g,%gL%g,%g", &x0, &y0, &x1, &y1, &x2, &y2)), d)
			all = append(all, rectangle{min(x0, x2), min(y0, y2), max(x0, x2) - min(x0, x2), max(y0, y2) - min(y0, y2)})
		}
	}
	return all
}

// manyClusters are n requests in a fat-tree of k pods, every third rejected, the
// others on neighbouring servers.
func manyClusters(n, k int, queue bool) (*model.TVC, *model.Embeddings) {
	r := rand.New(rand.NewPCG(1, uint64(k)))
	in, e := &model.TVC{Name: "many", FatTree: model.FatTree{K: k, Slots: 8, LinkMbps: 1000}, Queue: queue}, &model.Embeddings{}
	for i := range n {
		q := model.TVCRequest{ID: fmt.Sprint("r", i), ArrivalS: float64(10 * i), VMs: 4 * (1 + r.IntN(min(8, in.FatTree.Servers()))), BandwidthMbps: float64(1 + r.IntN(300)), DurationS: float64(1 + r.IntN(2000))}
		in.Requests = append(in.Requests, q)
		if i%3 == 0 {
			continue
		}
		p := model.Embedding{Switch: model.Switch{Layer: model.LayerCore, Group: r.IntN(k / 2), Index: r.IntN(k / 2)}}
		first := r.IntN(in.FatTree.Servers() - q.VMs/4 + 1)
		for s := range q.VMs / 4 {
			p.Servers = append(p.Servers, model.ServerVMs{Server: first + s, VMs: 4})
		}
		x := model.Run[model.Embedding]{ID: q.ID}
		from := q.ArrivalS
		for range 1 + r.IntN(2) {
			if queue {
				from += float64(r.IntN(100))
			}
			x.Segments = append(x.Segments, model.Segment[model.Embedding]{StartS: from, EndS: from + q.DurationS/2, Place: p})
			from += q.DurationS / 2
		}
		e.Runs = append(e.Runs, x)
	}
	return in, e
}

func TestClustersCases(t *testing.T) {
	for name, c := range map[string]struct {
		n, k        int
		queue       bool
		wantTexts   []string
		wantNever   string
		shapesBelow int
	}{
		"nothing":       {0, 4, false, []string{"pod 3", "0", "100"}, "rejected", 250},
		"thirty":        {30, 6, false, []string{"pod 5", "r1", "rejected"}, "maximum", 1600},
		"thirty-one":    {31, 6, false, []string{"pod 5", "maximum, paler than the mean", "rejected"}, "r1", 1500},
		"one server":    {5, 2, true, []string{"pod 1", "suspended"}, "maximum of", 200},
		"eight pods":    {500, 8, true, []string{"pod 7", "waiting"}, "fullest", 4000},
		"ten pods":      {500, 10, false, []string{"pod 9", "fullest link to core"}, "waiting", 200},
		"a whole log":   {28000, 6, true, []string{"pod 5", "suspended", "refused"}, "rejected", 2500},
		"most of all":   {300, 128, true, []string{"pod 127", "fullest link to a server"}, "pod 1 ", 300},
		"many of large": {3000, 48, false, []string{"pod 47"}, "pod 1 ", 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, e := manyClusters(c.n, c.k, c.queue)
			if c.k == 128 {
				in.FatTree.Slots = 1 // more than 10^6 slots aren't allowed
				for i := range e.Runs {
					for j := range e.Runs[i].Segments {
						for s := range e.Runs[i].Segments[j].Place.Servers {
							e.Runs[i].Segments[j].Place.Servers[s].VMs = 1
						}
					}
				}
			}
			p := parse(t, clusters(t, "svg", strings.Repeat("long <title> ", 99), in, e, nil))
			texts(t, p, c.wantTexts, c.wantNever)
			finite(t, p)
			noOverlap(t, p)
			if len(p.paths) > c.shapesBelow {
				t.Errorf("%d shapes, want %d at most", len(p.paths), c.shapesBelow)
			}
			if p.width > 1440 || p.height > 960 || p.width < 500 || p.height < 80 {
				t.Errorf("the picture is %v × %v", p.width, p.height)
			}
		})
	}
}

func TestClustersErrors(t *testing.T) {
	late, at := 1e3, 5.0
	for name, c := range map[string]struct {
		format string
		at     *float64
		change string
		is     error
		want   string
	}{
		"format":       {"gif", nil, "", draw.ErrFormat, `"gif"`},
		"instance":     {"svg", nil, "Instance.FatTree.K=3", model.ErrInvalid, "k is 3"},
		"no request":   {"svg", nil, "Solution.Runs.0.ID=z", model.ErrInvalid, `"z"`},
		"no server":    {"svg", nil, "Solution.Runs.0.Segments.0.Place.Servers.1.Server=16", model.ErrInvalid, `"b" has server 16 after 4, must be ascending numbers from 0 to 15`},
		"twice":        {"svg", nil, "Solution.Runs.0.Segments.0.Place.Servers.1.Server=4", model.ErrInvalid, `server 4 after 4`},
		"negative":     {"svg", nil, "Solution.Runs.0.Segments.0.Place.Servers.0.Server=-1", model.ErrInvalid, `server -1`},
		"too many VMs": {"svg", nil, "Solution.Runs.0.Segments.0.Place.Servers.0.VMs=3", model.ErrInvalid, `3 VMs on server 4, must be from 1 to 2`},
		"no switch":    {"svg", nil, "Solution.Runs.0.Segments.0.Place.Switch.Group=4", model.ErrInvalid, `aggregation-4-1, there is no such switch`},
		"backwards":    {"svg", nil, "Solution.Runs.0.Segments.0.EndS=5", model.ErrInvalid, `"b" runs from 10 to 5`},
		"late moment":  {"svg", &late, "", model.ErrInvalid, "moment: 1000, the picture is from 0 to 110"},
	} {
		in, e := fourClusters()
		require.Set(t, &draw.Frame{Instance: in, Solution: e}, c.change)
		o := options(c.format)
		o.At = c.at
		require.Refused(t, name, draw.Clusters(new(bytes.Buffer), o, "", in, e), c.is, c.want)
	}
	in, b := fiveRequests()
	require.Refused(t, "a moment of a reservation",
		draw.Solution(new(bytes.Buffer), draw.Options{Style: draw.Style{Format: "svg"}, At: &at},
			[]draw.Frame{{Instance: in, Solution: b}}), model.ErrUnsupported, "not one moment")
	tvc, _ := fourClusters()
	require.Refused(t, "embeddings of a reservation",
		draw.Solution(new(bytes.Buffer), options("svg"),
			[]draw.Frame{{Instance: in, Solution: &model.Embeddings{}}, {Instance: tvc, Solution: b}}),
		model.ErrInvalid, "")
}

// There is a picture within its bounds for any runs, feasible or not, the same again.
func TestClustersAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in, e := manyClusters(rapid.IntRange(0, 60).Draw(rt, "requests"), 2*rapid.IntRange(1, 6).Draw(rt, "half"), rapid.Bool().Draw(rt, "queue"))
		in.FatTree.LinkMbps = rapid.Float64Range(1, 1000).Draw(rt, "rate")
		in.FatTree.LinkMbps = float64(int(in.FatTree.LinkMbps))
		in.FatTree.Fabric = rapid.SampledFrom(model.Fabrics).Draw(rt, "fabric")
		in.Hose = rapid.SampledFrom(model.Hoses).Draw(rt, "hose")
		for i := range e.Runs {
			for j := range e.Runs[i].Segments {
				s := &e.Runs[i].Segments[j]
				s.StartS = rapid.Float64Range(0, 1e4).Draw(rt, "start")
				s.EndS = s.StartS + rapid.SampledFrom([]float64{0, 1, 500, 1e9}).Draw(rt, "length")
				s.Place.Switch = model.Switch{Layer: model.Layer(rapid.IntRange(0, 2).Draw(rt, "layer"))}
			}
		}
		p := parse(t, clusters(t, "svg", "t", in, e, nil))
		if p.width > 1440 || p.height > 960 {
			rt.Fatalf("%v × %v", p.width, p.height)
		}
		noOverlap(rt, p)
		finite(t, p)
		again := parse(t, clusters(t, "svg", "t", in, e, nil))
		require.Same(rt, "another picture the second time", p, again, cmp.AllowUnexported(picture{}))
	})
}

func BenchmarkClusters(b *testing.B) {
	for _, c := range []struct{ n, k int }{{30, 4}, {1000, 6}, {28000, 6}, {28000, 48}} {
		in, e := manyClusters(c.n, c.k, true)
		b.Run(fmt.Sprintf("png/requests=%d/k=%d", c.n, c.k), func(b *testing.B) {
			for b.Loop() {
				clusters(b, "png", "", in, e, nil)
			}
		})
	}
}
