// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"io"
	"math"

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
	if err := o.drawable(in); err != nil {
		return err
	}
	if err := in.CheckShape(p); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	first, last, err := o.rows(in.Hosts, "host")
	if err != nil {
		return err
	}
	l := &placementLayout{sheet: sheet{Options: o, title: clean(title)}, taken: "given", tightness: "tight host: holds the minimum yield down", tightIn: 1}
	l.read(in, p, first, last)
	return l.draw(w)
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

// placementLayout holds the drawing of tasks on hosts.
type placementLayout struct {
	sheet
	jobs      []string // their ids
	resources []string
	hosts     []hostBox
	high      float64 // the largest share on the axis
	taken     string  // what a bar is that doesn't move
	tightness string  // what a tight host is
	tightIn   int     // of so many resources, the first ones, sorted bars tell the tight hosts

	left, right float64
	bar         float64 // height of a resource's bar or chart
	axisY       float64
	column      float64 // of the names of hosts
}

// hostBox is a host and the use of its resources by its tasks.
type hostBox struct {
	y     float64
	name  string
	parts []hostPart
	tight bool
	note  string // of a host without tasks
}

// hostPart is the share of a host's resources that the tasks of a job from the same host take.
type hostPart struct {
	job, tasks int
	from       string    // the host that they run on now, "" if they stay or are new
	given      []float64 // of each resource
	need       []float64 // at least what is given
}

// sums returns the given and the needed amounts of a resource.
func (h *hostBox) sums(resource int) (given, need float64) {
	for _, x := range h.parts {
		given += x.given[resource]
		need += x.need[resource]
	}
	return given, need
}

// draw writes the picture of the data that was read.
func (l *placementLayout) draw(w io.Writer) error {
	l.high = 1
	for r, name := range l.resources {
		l.resources[r] = newFace(axisSize, false).shorten(clean(name), maxLabel/2)
		for h := range l.hosts {
			_, need := l.hosts[h].sums(r)
			l.high = max(l.high, need)
		}
	}
	l.high = min(l.high, 3)
	if err := l.place(); err != nil {
		return err
	}
	return l.write(w, l.paint)
}

// part adds a task to the part of a job on a host that comes from another host, and returns that part.
func (l *placementLayout) part(h, job int, from string) *hostPart {
	host := &l.hosts[h]
	n := len(host.parts)
	if n == 0 || host.parts[n-1].job != job || host.parts[n-1].from != from {
		host.parts = append(host.parts, hostPart{job: job, from: from, given: make([]float64, len(l.resources)), need: make([]float64, len(l.resources))})
		n++
	}
	host.parts[n-1].tasks++
	return &host.parts[n-1]
}

// read lists the tasks' use.
func (l *placementLayout) read(in *model.VCSched, p *model.Placement, first, last int) {
	l.resources = append([]string{"CPU", "memory"}, in.Resources...)
	l.hosts = make([]hostBox, last-first+1)
	sizes := make([]model.HostSize, last-first+1)
	least := math.Inf(1)
	for i := range p.Jobs {
		for _, x := range p.Jobs[i].CPU {
			if need := in.Jobs[i].CPU; need > 0 {
				least = min(least, x/need)
			}
		}
	}
	h := 0
	for _, size := range in.Sizes() {
		for range size.Count {
			if h >= first && h <= last {
				sizes[h-first], l.hosts[h-first].name = size, fmt.Sprint("host ", h)
				if len(in.HostSizes) > 1 {
					l.hosts[h-first].name += fmt.Sprintf(" (CPU %.4g)", size.CPU)
				}
			}
			h++
		}
	}
	for i := range p.Jobs {
		j := &in.Jobs[i]
		l.jobs = append(l.jobs, j.ID)
		for k, h := range p.Jobs[i].Hosts {
			if h < first || h > last {
				continue
			}
			from := ""
			if len(j.CurrentHosts) > 0 && j.CurrentHosts[k] != h {
				from = fmt.Sprint(j.CurrentHosts[k])
			}
			x, size := l.part(h-first, i, from), sizes[h-first]
			for r := range l.resources {
				need, of := j.CPU, size.CPU
				if r > 0 {
					need, of = j.Rigid(r-2), size.Rigid(r-2)
				}
				given := need
				if r == 0 {
					given = p.Jobs[i].CPU[k]
				}
				if of > 0 { // without any of it nobody needs any
					x.given[r] += given / of
					x.need[r] += max(need, given) / of
				}
			}
		}
	}
	const full = 1 - 1e-6
	for h := range l.hosts {
		_, need := l.hosts[h].sums(0)
		l.hosts[h].tight = least < full && need*least >= full
	}
}

// many reports whether hosts are sorted bars.
func (l *placementLayout) many() bool { return len(l.hosts) > fewHosts }

// place sets the sizes.
func (l *placementLayout) place() (err error) {
	f, small := newFace(labelSize, false), newFace(axisSize, false)
	names := 0.0
	for _, r := range l.resources {
		names = max(names, small.width(r))
	}
	want := narrowest
	if l.many() {
		l.left = margin + small.width("100 %") + 10
		want = min(max(want, 3*float64(len(l.hosts))), maxWidth)
	} else {
		for h := range l.hosts {
			l.column = max(l.column, f.width(f.shorten(clean(l.hosts[h].name), maxLabel)))
		}
		l.left = margin + l.column + 10 + names + 8
		for h := range l.hosts {
			for _, x := range l.hosts[h].parts {
				if x.given[0] > 0 {
					want = max(want, min((f.width(l.partName(x))+8)/x.given[0]*l.high, 1.5*narrowest))
				}
			}
		}
	}
	l.left = math.Ceil(l.left)
	if l.right, err = l.across(l.left, want); err != nil {
		return err
	}
	return l.lay(l.right, l.legendOf, l.stack)
}

// stack places everything from the top and returns the height.
func (l *placementLayout) stack(stretch float64) float64 {
	y := titleEnd(l.title) + l.legendHeight() + 4
	if l.many() {
		l.bar = sortedHigh * stretch
		l.axisY = y
		return math.Ceil(y + float64(len(l.resources))*(clusterHeading+l.bar+14) + 16 + margin/2)
	}
	l.bar = resourceHigh * stretch
	gap := min(hostGap, hostGap*stretch)
	for h := range l.hosts {
		l.hosts[h].y = y
		y += l.bar*float64(len(l.resources)) + gap
	}
	l.axisY = y
	return math.Ceil(y + axisHeight + margin/2)
}

func (l *placementLayout) partName(x hostPart) string {
	name := clean(l.jobs[x.job])
	if x.tasks > 1 {
		name += fmt.Sprint(" ×", x.tasks)
	}
	if x.from != "" {
		name += ", from " + clean(x.from)
	}
	return name
}
