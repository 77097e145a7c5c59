// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// Sizes in points, and numbers of hosts.
const (
	fewHosts     = 40 // each has a row; more are sorted bars
	resourceHigh = 15.0
	hostGap      = 7.0
	sortedHigh   = 130.0 // of a chart of sorted bars
)

// drawPlacement draws virtual machines on hosts. A bar for each resource shows the share of the host that each of its
// tasks takes, in the colours of their jobs. The CPU's bar shows the CPU that tasks get; their further needs follow,
// paler. Tasks that run elsewhere now have a bold edge and say where from. A host is tight if none of its tasks could
// get more than the minimum yield without another getting less: tight hosts hold the objective down.
//
// Up to 40 hosts have a row each. Above 40, each resource has a chart of the hosts sorted by its use, with the tight
// hosts in another colour.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid or p isn't a placement of it.
// O(H log H + T) for H hosts and T tasks.
func drawPlacement(w io.Writer, o Options, title string, in *model.VCSched, p *model.Placement) error {
	s, x, err := newSheet(o, title, in, p)
	if err != nil {
		return err
	}
	return s.hosts(w, x, captions{"given", "given", "tight host: holds the minimum yield down"}, 1)
}

// placementTitle says how good the placement is.
func placementTitle(in *model.VCSched, p *model.Placement, o model.Objective, bound string) string {
	title := fmt.Sprintf("minimum yield %.4g%s, average %.4g", o.Value, bound, o.Second)
	moved, memory, running := 0, 0.0, 0
	for i := range in.Jobs {
		for k, from := range in.Jobs[i].CurrentHosts {
			running++
			if p.Jobs[i].Hosts[k] != from {
				moved++
				memory += in.Jobs[i].Memory
			}
		}
	}
	if running > 0 {
		title += fmt.Sprintf(", %d of %d running tasks move", moved, running)
		if b := in.MigrationBudget; b != nil {
			title += fmt.Sprintf(" (%.3g of %.3g hosts' memory)", memory, *b)
		}
	}
	return title
}

// drawAssignment draws the hosts of a cluster, bought ones last, as drawPlacement draws hosts. It shows the share of
// each resource that tasks need, in the colours of their jobs. Tasks that are placed elsewhere than today have a bold
// edge and say where from. Hosts that are emptied say so. A host is tight if tasks are pinned to it: no plan gives it
// back.
//
// The error is model.ErrInvalid if the instance is invalid or a isn't an assignment of it.
// O(H log H + T) for H hosts and T tasks.
func drawAssignment(w io.Writer, o Options, title string, in *model.Consolidation, a *model.Assignment) error {
	s, x, err := newSheet(o, title, in, a)
	if err != nil {
		return err
	}
	return s.hosts(w, x, captions{"stays, or is new", "needed", "holds pinned tasks: can't be emptied"}, len(in.Resources))
}

// assignmentTitle says how good the assignment is.
func assignmentTitle(in *model.Consolidation, a *model.Assignment, o model.Objective, bound string) string {
	cost, moves := o.Value, o.Second
	if in.Goal == model.GoalMoves {
		cost, moves = moves, cost
	}
	price := short(cost)
	if in.PriceUnit != "" {
		price += " " + in.PriceUnit
	}
	_, holding, _ := view.Occupied(in, a)
	today := 0
	for _, x := range holding {
		if x {
			today++
		}
	}
	hosts := fmt.Sprintf("%.0f hosts with tasks, %d today", o.Others[0], today)
	if in.Goal == model.GoalMoves {
		return fmt.Sprintf("moves %s%s, cost %s, %s", short(moves), bound, price, hosts)
	}
	return fmt.Sprintf("cost %s%s, %s, moves %s", price, bound, hosts, short(moves))
}

// captions name things in a picture of hosts.
type captions struct{ taken, sorted, tight string }

// host is a host with a bar for each resource.
type host struct {
	name, remark string
	tight        bool
	bars         [][]scene.Box // of each resource, the tasks of a job together: Lanes counts them
	given, need  []float64     // in per cent
}

// add adds a task's share of a resource.
func (h *host) add(r int, b scene.Box) {
	size := b.High - b.Low
	h.tight = h.tight || b.Role == scene.Tight
	h.given[r] += size
	h.need[r] += size + b.Need
	if last := len(h.bars[r]) - 1; last >= 0 && h.bars[r][last].Number == b.Number && h.bars[r][last].From == b.From {
		o := &h.bars[r][last]
		o.High, o.Need, o.Lanes = b.High, o.Need+b.Need, o.Lanes+1
		return
	}
	h.bars[r] = append(h.bars[r], b)
}

// hosts draws the hosts of a scene. The edge of a tight one is around so many resources.
func (s *sheet) hosts(w io.Writer, x *scene.Scene, says captions, tightIn int) error {
	n := 1 // resources
	for n < len(x.Rows) && x.Rows[n].Group == x.Rows[0].Group {
		n++
	}
	first, last, err := s.rows(len(x.Rows)/n, "host")
	if err != nil {
		return err
	}
	small, f := newFace(axisSize, false), newFace(labelSize, false)
	var resources []string
	column, names, widest := 0.0, 0.0, 0.0
	for _, r := range x.Rows[:min(n, len(x.Rows))] {
		resources = append(resources, small.shorten(r.Label, maxLabel/2))
		names = max(names, small.width(resources[len(resources)-1]))
	}
	all := make([]host, last-first+1)
	for h := range all {
		r := x.Rows[(first+h)*n]
		name := r.Group
		if r.Remark != "" {
			name = r.Name
		}
		all[h] = host{f.shorten(scene.Clean(name), maxLabel), r.Remark, r.Role == scene.Tight, make([][]scene.Box, n),
			make([]float64, n), make([]float64, n)}
		column = max(column, f.width(all[h].name))
	}
	s.shares, s.high = true, 100
	tight, moved, unmet := false, false, false
	for _, b := range x.Boxes {
		if h := b.Row/n - first; h >= 0 && h < len(all) {
			all[h].add(b.Row%n, b)
			moved, unmet = moved || b.From != "", unmet || b.Need > (b.High-b.Low)*1e-9
			s.high = max(s.high, all[h].need[b.Row%n])
		}
	}
	s.high = min(s.high, 300)
	many := len(all) > fewHosts
	for h := range all {
		tight = tight || all[h].tight
		for _, b := range all[h].bars[0] {
			if b.High > b.Low {
				widest = max(widest, min((f.width(partName(&b))+8)/(b.High-b.Low)*s.high, 1.5*narrowest))
			}
		}
	}
	given, needed := jobStyle(0, 0).fill, jobStyle(0, 0).paler().fill
	if many {
		given, needed = theme.Busy, theme.Mix(theme.Busy, white, faded)
		says.taken = says.sorted
		s.axisless = true
		err = s.across(small.width("100 %")+2, min(max(narrowest, 3*float64(len(all))), maxWidth))
	} else {
		err = s.across(column+10+names, max(narrowest, widest))
	}
	if err != nil {
		return err
	}
	s.legend.area(says.taken, given)
	if unmet {
		s.legend.area("needed, not given", needed)
	}
	if moved && !many {
		s.legend.shaped("moves here", bold(theme.Moved))
	}
	switch {
	case tight && many:
		s.legend.area(says.tight, theme.Tight)
	case tight:
		s.legend.add(says.tight, func(p pen, r rect) { p.outline(theme.Tight, 1.6, r) })
	}
	if many {
		for r, name := range resources {
			s.sorted(all, r, name, r < tightIn)
		}
		s.add(0, 16, 0, func(p pen, y, _ float64) {
			p.text(small, paleInk, (s.left+s.right)/2, y+4, 0.5,
				fmt.Sprintf("%d hosts, sorted in each chart by itself", len(all)))
		})
		return s.write(w)
	}
	for h := range all {
		s.add(hostGap, 0, resourceHigh*float64(n), func(p pen, y, high float64) {
			s.paintHost(p, &all[h], resources, y, high/float64(n), tightIn)
			if h == len(all)-1 {
				p.line(ink, 1, s.x(100), s.blocks[0].y-2, s.x(100), y+high+hostGap/2, 4, 2)
			}
		})
	}
	return s.write(w)
}

// partName names tasks of a job on a host.
func partName(b *scene.Box) string {
	name := b.Label
	if b.Lanes > 1 {
		name += fmt.Sprint(" ×", b.Lanes)
	}
	if b.From != "" {
		name += ", from " + scene.Clean(b.From)
	}
	return name
}

// paintHost draws the bars of a host, each so high.
func (s *sheet) paintHost(p pen, h *host, resources []string, y, high float64, tightIn int) {
	name, small := newFace(min(labelSize, high*0.85), h.tight), newFace(min(axisSize, high*0.8), false)
	c := ink
	if h.tight {
		c = theme.Tight
	}
	middle := y + high*float64(len(resources))/2
	p.text(name, c, margin, middle+name.size*capHeight/2, 0, h.name)
	for r, text := range resources {
		top := y + high*float64(r)
		s.back(p, rowColour, top, high-1)
		p.text(small, paleInk, s.left-6, top+(high-1)/2+small.size*capHeight/2, 1, text)
		var all []shape
		at := 0.0
		add := func(size float64, as style, label string) {
			if size > 0 && at < s.high {
				all = append(all, shape{rect{s.x(at), top, s.x(min(at+size, s.high)) - s.x(at), high - 1}, as, label})
				at += size
			}
		}
		for k := range h.bars[r] {
			b := &h.bars[r][k]
			as := jobStyle(0, b.Tint)
			if b.From != "" {
				as = bold(theme.Moved)
			}
			add(b.High-b.Low, as, partName(b))
		}
		for k := range h.bars[r] {
			b := &h.bars[r][k]
			add(b.Need, jobStyle(0, b.Tint).paler(), "")
		}
		p.shapes(all, false)
		p.labels(all)
	}
	if h.tight {
		p.outline(theme.Tight, 1.6, rect{s.left - 1, y - 1, s.x(100) - s.left + 2, high*float64(tightIn) + 1})
	}
	p.text(small, paleInk, s.left+6, y+(high-1)/2+small.size*capHeight/2, 0,
		small.clip(scene.Clean(h.remark), s.x(100)-s.left-12))
}

// sorted adds a chart of a resource, the hosts sorted by its use.
func (s *sheet) sorted(hosts []host, r int, name string, tight bool) {
	all := slices.Clone(hosts)
	slices.SortStableFunc(all, func(a, b host) int {
		return cmp.Or(-cmp.Compare(a.need[r], b.need[r]), -cmp.Compare(a.given[r], b.given[r]))
	})
	sum, most, full := 0.0, 100.0, 0
	for _, x := range all {
		sum, most = sum+x.given[r], max(most, x.need[r])
		if x.given[r] >= 100-1e-4 {
			full++
		}
	}
	most = min(most, s.high)
	wide := (s.right - s.left) / float64(len(all))
	s.add(clusterHeading+4, 10, sortedHigh, func(p pen, y, h float64) {
		h -= 10
		s.heading(p, y-6, fmt.Sprintf("Hosts by %s, the most used first: %.1f %% on average, %d of %d full", name,
			sum/float64(len(all)), full, len(all)))
		p.fill(rowColour, rect{s.left, y, s.right - s.left, h})
		fills := map[bool][]rect{} // of tight hosts and others
		var need, lines []rect
		for k, x := range all {
			box := func(from, to float64) rect {
				from, to = min(from, most)/most*h, min(to, most)/most*h
				left, right := math.Round(2*(s.left+wide*float64(k)))/2, math.Round(2*(s.left+wide*float64(k+1)))/2 // no seams
				return rect{left, y + h - to, right - left, to - from}
			}
			held := x.tight && tight
			fills[held] = append(fills[held], box(0, x.given[r]))
			if x.need[r] > x.given[r] {
				need = append(need, box(x.given[r], x.need[r]))
			}
			lines = append(lines, rect{s.left + wide*float64(k) - 0.2, y, 0.4, h})
		}
		p.fill(theme.Busy, fills[false]...)
		p.fill(theme.Tight, fills[true]...)
		p.fill(theme.Mix(theme.Busy, white, faded), need...)
		if wide >= 4 {
			p.fill(white, lines...)
		}
		f := newFace(axisSize, false)
		for _, t := range ticks(0, most, h*1.4, f) {
			at := y + h*(1-t.At/most)
			p.text(f, ink, s.left-6, at+axisSize*capHeight/2, 1, t.Label+" %")
			p.line(paleInk, 0.8, s.left-3, at, s.left, at)
		}
		if one := y + h*(1-100/most); most > 100 {
			p.line(ink, 1, s.left, one, s.right, one, 4, 2)
		}
	})
}
