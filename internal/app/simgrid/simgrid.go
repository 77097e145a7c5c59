// SPDX-License-Identifier: MIT

// Package simgrid writes a task graph's platform and plan for SimGrid, with a program that replays the plan there.
package simgrid

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/gapwise/gapwise/model"
)

//go:embed driver/replay.cpp
var program []byte

// The files of a folder.
const (
	platformFile = "platform.xml"
	planFile     = "plan.txt"
	programFile  = "replay.cpp"
)

// Write writes a schedule and its platform into a folder, which is made if it isn't there. If inBytes is set, data are in
// bytes and rates in bytes a second, as SimGrid's own network models count; else their unit is any. Errors wrap
// model.ErrUnsupported for instances that the program can't replay. O(machines² × links of a route + edges).
func Write(folder string, in *model.DAG, s *model.Schedule, inBytes bool) error {
	e, err := newExport(in, s, inBytes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("%w: %w", model.ErrInvalid, err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{platformFile, e.platform()}, {planFile, e.plan()}, {programFile, program}} {
		if err := os.WriteFile(filepath.Join(folder, f.name), f.data, 0o666); err != nil {
			return fmt.Errorf("%w: %w", model.ErrInvalid, err)
		}
	}
	return nil
}

// export is an instance and a schedule on their way.
type export struct {
	in      *model.DAG
	s       *model.Schedule
	machine []int32 // of each task
	from    []int32 // the tasks of each edge
	to      []int32
	number  map[string]int // of machines
	cores   int            // the resource of this name, -1 for none
	// routes have the one of each pair of machines that has one; weighted says that one of them has a weight.
	routes   map[[2]int]*model.Route
	weighted bool
	// scale multiplies data and rates: SimGrid sends whole bytes, and compares rates with constants. speed does so with
	// the speeds.
	scale, speed float64
}

func newExport(in *model.DAG, s *model.Schedule, inBytes bool) (*export, error) {
	e := &export{in: in, s: s, number: map[string]int{}, cores: slices.Index(in.Resources, "cores"), scale: 1, speed: 1}
	var err error
	if e.machine, err = in.MachineOf(s); err != nil {
		return nil, err
	}
	e.from, e.to = in.EdgeTasks()
	names := []string{}
	fastest := 0.0
	for k, m := range in.Machines {
		e.number[m.ID], names, fastest = k, append(names, m.ID), max(fastest, m.Speed)
	}
	if fastest < 1e6 {
		e.speed = 1e9 / cmp.Or(fastest, 1)
	}
	for _, t := range in.Tasks {
		names = append(names, t.ID)
	}
	for _, l := range in.Network.Links {
		names = append(names, l.ID)
	}
	for _, name := range names {
		if strings.ContainsFunc(name, unicode.IsControl) {
			return nil, fmt.Errorf("%w: the name %q has a control character, which the files for SimGrid can't have; rename it", model.ErrUnsupported, name)
		}
	}
	e.routes = map[[2]int]*model.Route{}
	for k := range in.Network.Routes {
		r := &in.Network.Routes[k]
		m, n := e.number[r.From], e.number[r.To]
		e.weighted = e.weighted || r.Weight > 1
		if e.routes[[2]int{m, n}] = r; !r.OneWay {
			e.routes[[2]int{n, m}] = r
		}
	}
	if in.Network.AcksPercent > 0 {
		return nil, fmt.Errorf("%w: the instance has acknowledgements; give the graph without them, and --network lv08 if they are of that", model.ErrUnsupported)
	}
	whole, most := true, 0.0
	for k, x := range in.Edges {
		if len(x.Files) > 0 {
			return nil, fmt.Errorf("%w: machines keep files, and the program for SimGrid doesn't; read the graph with --files each", model.ErrUnsupported)
		}
		if e.machine[e.from[k]] != e.machine[e.to[k]] {
			whole, most = whole && x.Data == math.Trunc(x.Data), max(most, x.Data)
		}
	}
	if slowest := e.slowest(); (!whole || slowest < 1e6) && most > 0 && !inBytes {
		// Rounded to whole bytes, data take no more than a millionth of a second longer.
		if e.scale = math.Exp2(50 - math.Ceil(math.Log2(most))); slowest*e.scale < 1e6 {
			return nil, fmt.Errorf("%w: SimGrid counts whole bytes, too coarse for transfers of up to %g units of data and rates down to %g", model.ErrUnsupported, most, slowest)
		}
	}
	return e, nil
}

// slowest returns the least capacity of a link or a path above 0.
func (e *export) slowest() float64 {
	all := []float64{e.in.Network.Bandwidth}
	for _, l := range e.in.Network.Links {
		all = append(all, l.Capacity)
	}
	all = slices.DeleteFunc(append(all, slices.Concat(e.in.Network.PathCapacity...)...), func(x float64) bool { return x <= 0 })
	return slices.Min(append(all, math.Inf(1)))
}

// platform returns SimGrid's platform: a zone of all routes. A path with a rate of its own, or with a latency, has a fat
// link beside the shared ones, the last: it bounds each transfer alone, and has the latency of the route. Without contention there
// are fat links only. Links of transfers under TCP get their law in the program.
func (e *export) platform() []byte {
	in, net := e.in, &e.in.Network
	var b bytes.Buffer
	quoted := func(s string) string {
		var q strings.Builder
		_ = xml.EscapeText(&q, []byte(s)) // a Builder takes all
		return q.String()
	}
	fmt.Fprintf(&b, "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n")
	zone := "gapwise"
	for slices.ContainsFunc(in.Machines, func(m model.Machine) bool { return m.ID == zone }) {
		zone += "'"
	}
	fmt.Fprintf(&b, "<zone id=%q routing=\"Full\">\n", zone)
	for _, m := range in.Machines {
		cores := int64(1)
		if len(in.Resources) > 0 {
			if cores = int64(len(in.Tasks)); e.cores >= 0 {
				cores = max(1, m.Capacity[e.cores])
			}
		}
		fmt.Fprintf(&b, "<host id=\"%s\" speed=\"%.17gf\" core=\"%d\"/>\n", quoted(m.ID), cmp.Or(m.Speed, 1)*e.speed, cores)
	}
	capacity, shared := map[string]float64{}, in.Transfers() != model.TransferIdeal
	for _, l := range net.Links {
		if capacity[l.ID] = cmp.Or(l.Capacity, net.Bandwidth); shared {
			fmt.Fprintf(&b, "<link id=\"%s\" bandwidth=\"%.17gBps\" latency=\"0s\"/>\n", quoted(l.ID), capacity[l.ID]*e.scale)
		}
	}
	var routes bytes.Buffer
	for m := range in.Machines {
		for n := range in.Machines {
			own, latencyS, links := net.Bandwidth, 0.0, []string{}
			if net.PathCapacity != nil {
				own = net.PathCapacity[m][n]
			}
			if m == n || own == 0 {
				continue
			}
			least := math.Inf(1)
			if r := e.routes[[2]int{m, n}]; r != nil {
				latencyS, links = r.LatencyS, r.Links
			}
			for _, l := range links {
				least = min(least, capacity[l])
			}
			alone := min(own, least)
			if in.Transfers() == model.TransferTCPAll {
				alone *= model.TCPShare(1)
			}
			fmt.Fprintf(&routes, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">", quoted(in.Machines[m].ID), quoted(in.Machines[n].ID))
			if !shared {
				links = nil
			}
			for _, l := range links {
				fmt.Fprintf(&routes, "<link_ctn id=\"%s\"/>", quoted(l))
			}
			if len(links) == 0 || alone < least || latencyS > 0 || e.weighted {
				path := fmt.Sprintf("path %d-%d", m, n)
				for capacity[path] > 0 {
					path += "'"
				}
				if len(links) > 0 && alone == least { // the links bind: SimGrid's own model also weighs by the bandwidth of this one
					alone *= 1e6
				}
				fmt.Fprintf(&b, "<link id=\"%s\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" sharing_policy=\"FATPIPE\"/>\n", quoted(path), alone*e.scale, latencyS)
				fmt.Fprintf(&routes, "<link_ctn id=\"%s\"/>", quoted(path))
			}
			routes.WriteString("</route>\n")
		}
	}
	b.Write(routes.Bytes())
	b.WriteString("</zone>\n</platform>\n")
	return b.Bytes()
}

// plan returns the graph with its plan: a line for each machine, task and edge. Tasks are in the order of their starts, in
// which their machines take them; edges name tasks by their lines.
func (e *export) plan() []byte {
	in := e.in
	var b bytes.Buffer
	fmt.Fprintf(&b, "# A plan of gapwise for SimGrid. transfers MODEL SCALE; machine STARTUP LOCAL-RATE CAPACITIES NAME;\n"+
		"# task MACHINE SECONDS START CORES NEEDS NAME; edge FROM TO DATA START LATENCY WEIGHT.\n# Times in seconds; START -1: no transfer; WEIGHT 0: none.\n")
	fmt.Fprintf(&b, "transfers %s %.17g %d\n", in.Transfers(), e.scale, len(in.Resources))
	list := func(all []int64) (text string) {
		for _, x := range all {
			text += fmt.Sprintf(" %d", x)
		}
		return text
	}
	for _, m := range in.Machines {
		fmt.Fprintf(&b, "machine %.17g %.17g%s %s\n", m.StartupS, m.LocalRate, list(m.Capacity), m.ID)
	}
	order := e.order()
	line := make([]int, len(order))
	for k, t := range order {
		m := int(e.machine[t])
		line[t] = k
		cores, needs := int64(1), in.Needs(t, m)
		if e.cores >= 0 {
			cores = needs[e.cores]
		}
		fmt.Fprintf(&b, "task %d %.17g %.17g %d%s %s\n", m, in.Cost(t, m), e.s.Tasks[t].StartS, cores, list(needs), in.Tasks[t].ID)
	}
	sent := map[[2]string]float64{}
	for _, x := range e.s.Transfers {
		sent[[2]string{x.From, x.To}] = x.StartS
	}
	for k, x := range in.Edges {
		start, latencyS, weight := -1.0, 0.0, int64(0)
		if m, n := int(e.machine[e.from[k]]), int(e.machine[e.to[k]]); m != n {
			start = sent[[2]string{x.From, x.To}]
			if e.weighted {
				weight = 1
			}
			if r := e.routes[[2]int{m, n}]; r != nil {
				latencyS, weight = r.LatencyS, max(weight, r.Weight)
			}
		}
		fmt.Fprintf(&b, "edge %d %d %.17g %.17g %.17g %d\n", line[e.from[k]], line[e.to[k]], x.Data, start, latencyS, weight)
	}
	return b.Bytes()
}

// order returns the tasks by start, ties by finish, then in an order of the graph.
func (e *export) order() []int {
	next, waits := map[int32][]int32{}, make([]int, len(e.in.Tasks))
	for k := range e.from {
		next[e.from[k]] = append(next[e.from[k]], e.to[k])
		waits[e.to[k]]++
	}
	var order []int
	for t := range waits {
		if waits[t] == 0 {
			order = append(order, t)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, t := range next[int32(order[k])] {
			if waits[t]--; waits[t] == 0 {
				order = append(order, int(t))
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := e.s.Tasks[a].StartS, e.s.Tasks[b].StartS
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(x+e.in.Cost(a, int(e.machine[a])), y+e.in.Cost(b, int(e.machine[b]))))
	})
	return order
}
