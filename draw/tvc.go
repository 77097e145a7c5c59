// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// Sizes in points, and numbers of requests and pods.
const (
	fewClusters   = 30 // each is seen by itself in the chart of slots
	mostPods      = 8  // each server is drawn
	pitch         = 20.0
	widestTree    = 1340.0
	treeHeight    = 210.0 // from the core switches to the edge switches
	serverHeight  = 64.0
	slotsHeight   = 200.0
	waitingHeight = 80.0
	sharesMatrix  = 180.0 // height of a matrix of shares at most
)

// drawClusters draws virtual clusters in a fat-tree, in two parts.
//
// The upper part shows the data centre at one moment: the slots in use of each server, each request in a colour. The
// colour and width of each link show the share of its rate that is reserved. The moment is o.At or, if that is nil, the
// moment of the highest load: the start after which the shares of all links that bind have the largest sum. Ties go to
// the most slots in use, then the earliest. Above 8 pods the upper part shows, for each switch, the share of its slots
// and the fullest of its links instead.
//
// The lower part shows the slots in use over time, with up to 30 requests each by itself. It has a tick at the arrival
// of each request without a run. The requests that wait and those suspended are below in queue mode. An area shows the
// mean over each half point of the time axis, and paler the maximum.
//
// If o.Usage is set, there is the lower part alone.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid, or if o.At is outside of the
// time of the solution. So it is if e isn't a solution, or names missing servers or switches or more VMs than a server
// has slots. O(S log S + n log n) for S servers in all segments and n requests.
func drawClusters(w io.Writer, o Options, title string, in *model.TVC, e *model.Embeddings) error {
	s, _, err := newSheet(o, title, in, nil)
	if err != nil {
		return err
	}
	l := &clusters{sheet: s, in: in, tree: &in.FatTree}
	if l.all, err = scene.Clusters(in, e, in.FatTree.Slots); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	if err := l.replay(); err != nil {
		return err
	}
	l.freeze()
	wide := narrowest * 1.4
	column := newFace(axisSize, false).width("aggregation")
	if l.tree.K <= mostPods {
		wide = min(max(wide, pitch*float64(l.tree.Servers())), widestTree-math.Ceil(margin+column+8))
	}
	if err := l.across(column, wide); err != nil {
		return err
	}
	if o.Width == 0 {
		l.right = l.left + math.Ceil(wide) // it may be wider than other pictures
		l.width = l.right + 2*margin
	}
	if !o.Usage {
		l.momentBlock()
	}
	l.slotsBlock()
	l.legendOf()
	return l.write(w)
}

// clustersTitle says how good the embeddings are.
func clustersTitle(in *model.TVC, e *model.Embeddings, o model.Objective, bound string) string {
	switch {
	case in.Queue:
		return fmt.Sprintf("%d of %d requests run, mean response %.5g s%s, mean bounded slowdown %.4g, %.0f suspensions",
			len(e.Runs), len(in.Requests), o.Value, bound, o.Second, o.Others[2])
	case in.EffectiveGoal() == model.GoalRevenue:
		return fmt.Sprintf("%d of %d requests accepted, revenue %.6g VM Mbit", len(e.Runs), len(in.Requests), o.Value) + bound
	}
	return fmt.Sprintf("%d of %d requests accepted", len(e.Runs), len(in.Requests)) + bound
}

// clusters holds the content of a picture of virtual clusters.
type clusters struct {
	*sheet
	in      *model.TVC
	tree    *model.FatTree
	all     []scene.Cluster
	without []float64 // arrivals of the requests without a run
	steps   []model.UsageStep
	moment  float64

	// The data centre at the moment.
	used  [][]held                       // by server
	share [scene.LayersOfLinks][]float64 // of its rate, by link, see scene.Cluster.Links
}

// held is a number of slots of one server that a request holds.
type held struct{ request, vms int }

// replay computes the steps, of which those suspended are in the background, the span of time and the moment of the
// highest load.
func (l *clusters) replay() error {
	var changes []model.UsageStep
	ends := map[int]float64{} // of each request's segments so far
	low := math.Inf(1)
	var all []float64
	for i := range l.all {
		c := &l.all[i]
		low, all = min(low, c.Start), append(all, c.End)
		changes = append(changes, model.UsageStep{AtS: c.Start, Used: float64(c.VMs)},
			model.UsageStep{AtS: c.End, Used: -float64(c.VMs)})
		from, began := ends[c.Request]
		arrival := l.in.Requests[c.Request].ArrivalS
		switch {
		case began && from < c.Start:
			changes = append(changes, model.UsageStep{AtS: from, Background: 1}, model.UsageStep{AtS: c.Start, Background: -1})
		case !began && arrival < c.Start:
			changes = append(changes, model.UsageStep{AtS: arrival, Waiting: 1}, model.UsageStep{AtS: c.Start, Waiting: -1})
		}
		ends[c.Request] = c.End
	}
	for k := range l.in.Requests {
		at := l.in.Requests[k].ArrivalS
		low, all = min(low, at), append(all, at)
		if _, runs := ends[k]; !runs {
			l.without = append(l.without, at)
		}
	}
	if err := l.span(&l.timeAxis, low, all, false); err != nil {
		return err
	}
	l.moment = l.low
	if at := l.At; at != nil && !(*at >= l.low && *at <= l.high) {
		return fmt.Errorf("draw: %w moment: %v, the picture is from %v to %v", model.ErrInvalid, *at, l.low, l.high)
	}
	l.without = slices.DeleteFunc(l.without, func(t float64) bool { return t < l.low || t > l.high })
	l.steps = append([]model.UsageStep{{AtS: min(low, l.low)}}, model.UsageSteps(changes)...)
	l.highest()
	if l.At != nil {
		l.moment = *l.At
	}
	return nil
}

// highest finds the moment of the highest load: a start.
func (l *clusters) highest() {
	type event struct {
		at, sign float64
		c        *scene.Cluster
	}
	var events []event
	for i := range l.all {
		c := &l.all[i]
		events = append(events, event{c.Start, 1, c}, event{c.End, -1, c})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	rates := scene.Rates(l.in)
	var loads [scene.LayersOfLinks]float64 // whole bit/s: their sums are exact
	used, best, bestUsed := 0.0, -1.0, -1.0
	for i := 0; i < len(events); {
		at, starts := events[i].at, false
		for ; i < len(events) && events[i].at == at; i++ {
			x := &events[i]
			used += x.sign * float64(x.c.VMs)
			starts = starts || x.sign > 0
			x.c.Links(l.in, func(layer, _ int, mbps float64) { loads[layer] += x.sign * math.Round(mbps*1e6) })
		}
		load := 0.0
		for layer, rate := range rates {
			load += loads[layer] / rate
		}
		if starts && at >= l.low && at <= l.high && (load > best || load == best && used > bestUsed) {
			best, bestUsed, l.moment = load, used, at
		}
	}
}

// freeze computes the state at the moment.
func (l *clusters) freeze() {
	n := l.tree.Servers() // so many links has every layer
	l.used = make([][]held, n)
	rates := scene.Rates(l.in)
	for layer := range l.share {
		l.share[layer] = make([]float64, n)
	}
	for i := range l.all {
		c := &l.all[i]
		if !(c.Start <= l.moment && l.moment < c.End) {
			continue
		}
		for _, x := range c.Place.Servers {
			l.used[x.Server] = append(l.used[x.Server], held{c.Request, x.VMs})
		}
		c.Links(l.in, func(layer, link int, mbps float64) { l.share[layer][link] += mbps / rates[layer] })
	}
}

// usedSlots returns the slots in use on a server at the moment.
func (l *clusters) usedSlots(server int) (n int) {
	for _, x := range l.used[server] {
		n += x.vms
	}
	return n
}

// momentText returns the state at the moment as text.
func (l *clusters) momentText() string {
	used := 0
	for s := range l.used {
		used += l.usedSlots(s)
	}
	mean := func(layer int) string {
		sum := 0.0
		for _, x := range l.share[layer] {
			sum += x
		}
		return fmt.Sprintf("%.1f %%", 100*sum/float64(len(l.share[layer])))
	}
	text := fmt.Sprintf("At %s s: %d of %d slots in use; reserved: %s of the servers' links", strconv.FormatFloat(l.moment,
		'f', -1, 64), used, l.tree.Servers()*l.tree.Slots, mean(scene.ServerLinks))
	if l.binds(scene.EdgeLinks) {
		text += fmt.Sprintf(", %s of those from edge to aggregation switches, %s of those to core switches",
			mean(scene.EdgeLinks), mean(scene.AggregationLinks))
	}
	return text
}

// momentBlock adds the data centre at the moment.
func (l *clusters) momentBlock() {
	if l.tree.K <= mostPods {
		l.add(clusterHeading+6, serverHeight+headLine, treeHeight, func(p pen, y, h float64) {
			l.heading(p, y-headLine+3, l.momentText())
			l.paintTree(p, y, h-serverHeight-headLine)
		})
	} else {
		l.add(clusterHeading+6, 2*headLine, min(10*float64(l.tree.Half()), sharesMatrix), func(p pen, y, h float64) {
			l.heading(p, y-headLine+3, l.momentText())
			l.paintMatrices(p, y+headLine, h-2*headLine)
		})
	}
	l.add(0, panelGap, 0, func(pen, float64, float64) {})
}

// slotsBlock adds the slots in use over time, the requests without a run, and in queue mode those that wait.
func (l *clusters) slotsBlock() {
	slots := float64(l.tree.Servers() * l.tree.Slots)
	high := max(slots, most(l.steps, used)) // as high as all slots, so that the free ones show
	text := fmt.Sprintf("Slots in use, of %.0f, over time", slots)
	if !l.Usage {
		text += "; dashed: the moment above"
	}
	lost := map[bool]string{false: "rejected", true: "refused"}[l.in.Queue]
	if n := len(l.without); n > 0 { // marks of moments that are close fall into one
		text += fmt.Sprintf("; below: %d %s", n, lost)
	}
	moment := func(p pen, y, h float64) {
		if x := l.x(l.moment); !l.Usage {
			p.line(ink, 0.9, x, y, x, y+h, 3, 2)
		}
	}
	if len(l.in.Requests) > fewClusters {
		l.chart(text, slotsHeight, high, slots, l.steps, moment, layer{theme.Busy, used})
	} else {
		l.chart(text, slotsHeight, high, slots, nil, func(p pen, y, h float64) {
			l.paintSlots(p, y+h, h/high)
			moment(p, y, h)
		})
	}
	l.strip(l.without, lost)
	if l.in.Queue {
		late := func(s model.UsageStep) float64 { return s.Waiting + s.Background }
		l.chart("Requests that wait and those suspended, over time", waitingHeight, most(l.steps, late), 0, l.steps, moment,
			layer{theme.Suspended, late}, layer{theme.Waiting, waiting})
	}
}

// paintSlots draws the slots in use by few requests, each so high: stacked, in the
// order of their list, with their names where these fit.
func (l *clusters) paintSlots(p pen, bottom, each float64) {
	boxes := make([][]shape, len(l.in.Requests))
	for i, s := range l.steps[:max(len(l.steps)-1, 0)] {
		from, to := l.clip(s.AtS, l.steps[i+1].AtS)
		if to <= from {
			continue
		}
		var running []*scene.Cluster
		for j := range l.all {
			if c := &l.all[j]; c.Start <= s.AtS && s.AtS < c.End {
				running = append(running, c)
			}
		}
		slices.SortStableFunc(running, func(a, b *scene.Cluster) int { return a.Request - b.Request })
		y := bottom
		for _, c := range running {
			high := each * float64(c.VMs)
			y -= high
			box, all := rect{l.x(from), y, l.x(to) - l.x(from), high}, boxes[c.Request]
			if n := len(all); n > 0 && all[n-1].y == y && all[n-1].h == high && math.Abs(all[n-1].x+all[n-1].w-box.x) < 1e-6 {
				all[n-1].w = box.x + box.w - all[n-1].x
				continue
			}
			boxes[c.Request] = append(all, shape{box, jobStyle(0, c.Request), ""})
		}
	}
	for k, all := range boxes {
		p.shapes(all, false)
		best := slices.IndexFunc(all, func(s shape) bool {
			return !slices.ContainsFunc(all, func(o shape) bool { return o.w*o.h > s.w*s.h })
		})
		if best >= 0 {
			all[best].label = scene.Clean(l.in.Requests[k].ID)
		}
	}
	for _, all := range boxes {
		p.labels(all)
	}
}

// legendOf explains the colours.
func (l *clusters) legendOf() {
	seen := l.classes()
	for class, text := range shareTexts("nothing reserved") {
		if l.Usage || !seen[class] {
			continue
		}
		if class > 0 && l.tree.K <= mostPods {
			text += " reserved"
		}
		l.legend.add(text, func(p pen, r rect) {
			if l.tree.K > mostPods {
				p.fill(theme.Shares[class], r)
				return
			}
			p.line(linkShade(class), linkWidth(class), r.x, r.y+r.h/2, r.x+r.w, r.y+r.h/2)
		})
	}
	if !l.Usage && l.tree.K <= mostPods && !l.binds(scene.EdgeLinks) {
		l.legend.add("doesn't bind", func(p pen, r rect) {
			p.line(looseColour, 0.5, r.x, r.y+r.h/2, r.x+r.w, r.y+r.h/2, 1,
				2)
		})
	}
	first := len(l.legend)
	if len(l.in.Requests) > fewClusters {
		l.legend.area("slots in use", theme.Busy)
	}
	if l.in.Queue {
		l.legend.area("waiting", theme.Waiting)
		l.legend.area("suspended", theme.Suspended)
	}
	if l.in.Queue || len(l.in.Requests) > fewClusters {
		l.legend.area("maximum, paler than the mean", theme.Mix(theme.Busy, white, 0.5))
	}
	for k := range l.legend[first:] {
		l.legend[first+k].line = min(first, 1)
	}
}
