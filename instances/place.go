// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/simgrid"
	"github.com/gapwise/gapwise/model"
)

// byteRates are the units of a bandwidth, in bytes a second; bytesOf are those of a memory, secondsOf those of a time.
var (
	byteRates = func() map[string]float64 {
		all := map[string]float64{}
		decimal, binary := 1.0, 1.0
		for k, prefix := range []string{"", "k", "M", "G", "T"} {
			names := []string{prefix}
			if k > 0 {
				decimal, binary = 1000*decimal, 1024*binary
				all[strings.ToUpper(prefix)+"iB/s"] = binary
			}
			if prefix == "k" {
				names = append(names, "K")
			}
			for _, p := range names {
				all[p+"bps"], all[p+"bit/s"] = decimal/8, decimal/8
				all[p+"Bps"], all[p+"B/s"] = decimal, decimal
			}
		}
		return all
	}()
	bytesOf = func() map[string]float64 {
		all := map[string]float64{}
		decimal, binary := 1.0, 1.0
		for _, prefix := range []string{"M", "G", "T"} {
			decimal, binary = max(1e6, 1000*decimal), max(1<<20, 1024*binary)
			all[prefix+"B"], all[prefix+"iB"] = decimal, binary
		}
		return all
	}()
	secondsOf = map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
)

// quantity reads a number, with one of the units or without; unit reports whether it had one.
func quantity(text string, units map[string]float64) (x float64, unit bool, err error) {
	if x, err = strconv.ParseFloat(text, 64); err == nil {
		return x, false, nil
	}
	// The longest unit is the unit: MB/s ends in B/s, ms in s.
	best := ""
	for u := range units {
		if strings.HasSuffix(text, u) && len(u) > len(best) {
			best = u
		}
	}
	if best == "" {
		return 0, false, err
	}
	if x, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, best)), 64); err != nil {
		return 0, false, err
	}
	if u := units[best]; u < 1 { // 5ms is the float64 nearest to 0.005, as 5e-3 is
		return x / math.Round(1/u), true, nil
	}
	return x * units[best], true, nil
}

// sends reports whether anything of the workflow may cross the platform's network.
func (p Platform) sends(w workflow) bool {
	return len(p.Machines) > 1 && slices.ContainsFunc(w.Edges, func(e model.DAGEdge) bool { return e.Data > 0 })
}

// assumesByteRate reports whether Place takes defaultByteRate.
func (p Platform) assumesByteRate(w workflow) bool {
	return w.Measured && slices.Contains(p.Defaults, "bandwidth") && p.sends(w)
}

// assume tells the facts that neither the workflow nor this platform gives, and how to give them, and those of the
// platform's file that aren't modelled.
func (p Platform) assume(w workflow, a *model.Account) {
	a.NotModelled = append(a.NotModelled, p.NotModelled...)
	a.Assumed = append(a.Assumed, p.Assumed...)
	if p.assumesByteRate(w) {
		a.Assumed.Say("bandwidth 1 Gbit/s (125 MB/s), as data are in bytes; another by --platform %s,bandwidth=10Gbps", p.Name)
	}
	if w.Measured {
		return
	}
	for _, key := range p.Defaults {
		switch {
		case key == "speed":
			a.Assumed.Say("a unit of work takes 1 s; another rate by --platform %s,speed=1e9", p.Name)
		case p.sends(w):
			a.Assumed.Say("a unit of data takes 1 s; another rate by --platform %s,bandwidth=1Gbps", p.Name)
		}
	}
	if p.InBytes && p.sends(w) {
		a.Assumed.Say("a unit of data is a byte")
	}
}

// tellNeeds tells which needs of the tasks machines with such resources have no place for, and what is taken of tasks that
// state none.
func (w workflow) tellNeeds(a *model.Account, resources []string) {
	most, none := 0.0, 0
	byCores, byMemory := slices.Contains(resources, resourceCores), slices.Contains(resources, resourceMemory)
	for _, t := range w.Tasks {
		if most = max(most, t.Cores); t.Cores > 1 && !byCores {
			a.NotModelled.Add(t.ID, "tasks on several cores")
		}
		if t.Memory > 0 && !byMemory || math.IsNaN(t.Memory) {
			a.NotModelled.Add(t.ID, "tasks with a need of memory")
		}
		if t.Cores == 0 {
			none++
		}
		if byMemory && t.Memory > 0 && t.Memory < 1e6 { // helloworld's of WfInstances: 86,508 of a Python program
			a.Remarks.Add(t.ID, "tasks with less than 1 MB of memory: some files write kilobytes as bytes")
		}
	}
	for k := range a.NotModelled {
		if x := &a.NotModelled[k]; x.Text == "tasks on several cores" {
			x.Text += fmt.Sprintf(", %g at most", most)
		}
	}
	if byCores {
		a.Assumed.Count(none, "tasks on one core, for want of a number")
	}
}

// needs returns what a task takes of resources, in whole cores and MB.
func (t workTask) needs(resources []string) ([]int64, error) {
	needs := make([]int64, len(resources))
	for r, name := range resources {
		x := 0.0
		switch name {
		case resourceCores:
			x = cmp.Or(t.Cores, 1)
		case resourceMemory:
			x = t.Memory / 1e6
		default:
			return nil, fmt.Errorf("%w platform: it has the resource %q, tasks of files ask for %s and %s", model.ErrInvalid, name, resourceCores, resourceMemory)
		}
		if x = math.Ceil(x); math.IsNaN(x) { // an expression, told
			x = 0
		}
		if !(x >= 0 && x <= 1e12) {
			return nil, fmt.Errorf("%w workflow: task %q needs %v of %s, must be from 0 to 1e12", model.ErrInvalid, t.ID, x, name)
		}
		needs[r] = int64(x)
	}
	return needs, nil
}

// leastFlops is a speed from which on it counts flop rather than the machine that seconds were measured on.
const leastFlops = 1e6

// inWork returns the workflow with its works in the unit that the platform's speeds count, see Options.WorkUnit, and
// tells how.
func (p *Platform) inWork(w workflow, unit string) (workflow, error) {
	if len(p.Machines) == 0 {
		return w, nil // place says it
	}
	fastest := slices.MaxFunc(p.Machines, func(a, b model.Machine) int { return cmp.Compare(a.Speed, b.Speed) })
	slow := slices.ContainsFunc(p.Machines, func(m model.Machine) bool { return m.Speed < leastFlops })
	kind, of, given := strings.Cut(unit, "=")
	switch {
	case unit == "" && w.Measured && !slow:
		return w, fmt.Errorf("%w: works are seconds by their format, and machine %q does %g of work a second; say --work-unit seconds "+
			"(measured on the fastest machine there) or seconds=1Gf (on one of this speed), or work (they are work)", model.ErrInvalid, p.Machines[0].ID, p.Machines[0].Speed)
	case unit == "" || unit == "work":
		if p.Flops {
			p.Assumed.Say("a unit of work is a flop")
		}
		return w, nil
	case kind != "seconds":
		return w, fmt.Errorf("%w option: --work-unit is %q, give seconds, seconds=1Gf or work", model.ErrInvalid, unit)
	}
	speed := fastest.Speed
	if given {
		var err error
		if speed, err = simgrid.Speed(of); err != nil || speed == 0 {
			return w, fmt.Errorf("%w option: --work-unit is %q, its speed must be a number above 0, with a unit as 1Gf or without", model.ErrInvalid, unit)
		}
		p.Assumed.Say("works are seconds on a machine of speed %g", speed)
	} else {
		p.Assumed.Say("works are seconds on the fastest machine, %s of speed %g; another by --work-unit seconds=1Gf", fastest.ID, speed)
	}
	w.Tasks = slices.Clone(w.Tasks)
	for t := range w.Tasks {
		w.Tasks[t].Work *= speed
	}
	return w, nil
}

// place makes a valid instance of a workflow on the platform. A preset without a bandwidth takes defaultByteRate if the
// workflow's data are bytes. The instance shares no memory with either but the routes' lists of links. Errors come from
// model.DAG.Validate.
func (p Platform) place(name string, w workflow) (*model.DAG, error) {
	d := &model.DAG{Name: name, Resources: p.Resources, Machines: slices.Clone(p.Machines), Network: p.Network,
		Tasks: make([]model.DAGTask, len(w.Tasks)), Edges: append([]model.DAGEdge{}, w.Edges...)}
	if p.assumesByteRate(w) {
		d.Network.Bandwidth = defaultByteRate
	}
	// Routes may be a million: their lists of links are never changed, and stay shared.
	d.Network.Links, d.Network.Routes = slices.Clone(p.Network.Links), slices.Clone(p.Network.Routes)
	for t, x := range w.Tasks {
		work := x.Work
		d.Tasks[t] = model.DAGTask{ID: x.ID, Work: &work}
		if len(p.Resources) > 0 {
			needs, err := x.needs(p.Resources)
			if err != nil {
				return nil, err
			}
			d.Tasks[t].Needs = needs
		}
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}
