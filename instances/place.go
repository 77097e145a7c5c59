// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// byteRates are the units of a bandwidth, in bytes a second; secondsOf are the units of a time.
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

// place makes a valid instance of a workflow on the platform. A preset without a bandwidth takes defaultByteRate if the
// workflow's data are bytes. The instance shares no memory with either but the routes' lists of links. Errors come from
// model.DAG.Validate.
func (p Platform) place(name string, w workflow) (*model.DAG, error) {
	d := &model.DAG{Name: name, Machines: slices.Clone(p.Machines), Network: p.Network,
		Tasks: make([]model.DAGTask, len(w.Tasks)), Edges: append([]model.DAGEdge{}, w.Edges...)}
	if p.assumesByteRate(w) {
		d.Network.Bandwidth = defaultByteRate
	}
	// Routes may be a million: their lists of links are never changed, and stay shared.
	d.Network.Links, d.Network.Routes = slices.Clone(p.Network.Links), slices.Clone(p.Network.Routes)
	for t, x := range w.Tasks {
		work := x.Work
		d.Tasks[t] = model.DAGTask{ID: x.ID, Work: &work}
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}
