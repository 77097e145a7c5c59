// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Platform is the machines that run a task graph, and the network between them.
type Platform struct {
	Name string `json:"-"` // the preset as it was asked for, or the file's base name without extensions
	// Resources are those of the machines' capacities, of cores and memory_mb.
	Resources []string        `json:"resources,omitempty"`
	Machines  []model.Machine `json:"machines"`
	Network   model.Network   `json:"network"`
	// Defaults are the keys of a preset that weren't given, of speed and bandwidth.
	Defaults []string `json:"-"`
	// InBytes says that a preset's bandwidth was given in bits or bytes a second.
	InBytes bool `json:"-"`
	// NotModelled names facts of the platform's file for which the model has no place.
	NotModelled model.Tellings `json:"-"`
	// Assumed names facts that the platform's file doesn't tell.
	Assumed model.Tellings `json:"-"`
	// Flops says that speeds are in flop per second, as SimGrid has them.
	Flops bool `json:"-"`
}

// defaultByteRate is the bandwidth, in bytes a second, of a preset without one, for a graph with data in bytes: 1
// Gbit/s.
const defaultByteRate = 1e9 / 8

// workflow is a task graph that knows no machines: the cost of a task is its
// work over a machine's speed.
type workflow struct {
	Tasks []workTask
	Edges []model.DAGEdge
	// Measured says that works are seconds (on the machine that ran the tasks, of speed
	// 1) and data are bytes, by the format. Else they are numbers without units.
	Measured bool
	// Name and Platform come from the file; empty and nil if it has none.
	Name     string
	Platform *Platform
}

// workTask is a task with its work, in the unit that the speeds count.
type workTask struct {
	ID   string
	Work float64
	// Cores and Memory, in bytes, are what it takes while it runs; 0: the file doesn't tell.
	Cores, Memory float64
}

// presets lists the platforms that ParsePlatform knows, each with its
// description.
var presets = [][2]string{
	{"paper", "three machines; P1-P2 and P3-P2 share one link (the paper's Figure 5)"},
	{"paper-two-pools", "the same, into P2 and out of P2 a link each"},
	{"uniform", "machines that share nothing"},
	{"bus", "one link for all"},
	{"star", "each machine has one link up, to all others, and one down"},
}

// Bounds of a preset: its machines, its machines with a route for each pair (quadratic in memory), and its rates and
// times, see model.DAG.Validate.
const (
	maxMachines = 10_000
	maxRouted   = 1_000
	maxRate     = 1e30
	minRate     = 1e-30
)

// ParsePlatform makes a platform from a preset, NAME[,key=value...], or reads the JSON file of that name. The file
// holds one object with "machines" and "network" as in an instance, each machine with its speed, or a network of SAGA
// (see readSAGA). It is read as strictly as an instance. A platform of SimGrid is simgrid:FILE[,hosts=N][,cores=capacity
// or machines], or FILE alone (see readSimgrid).
//
// The keys of presets are machines, speed, cores, memory, bandwidth and startup, or latency. Machines are at most 10,000
// for uniform, 1,000 for bus and star, 4 by default; the paper's have 3. Speed is work per second: one, or several as 1/2/4, taken
// in turn. Cores and memory are a machine's, one or several likewise; memory has a unit such as 64GB. A machine with
// cores runs several tasks at a time, as many as find their cores and their memory. Bandwidth is every path's and link's: units of data a second, or bits or bytes a second such as 1Gbps and
// 125MB/s. Startup or latency is in seconds, or has a unit such as 5ms. Speed and bandwidth are 1 by default (but see
// Place), startup 0. Errors wrap model.ErrInvalid.
func ParsePlatform(spec string) (Platform, error) {
	name, options, more := strings.Cut(spec, ",")
	if !slices.ContainsFunc(presets, func(p [2]string) bool { return p[0] == name }) {
		return platformOfFile(spec)
	}
	o := presetOptions{machines: 4, speeds: []float64{1}, bandwidth: 1}
	fixed := strings.HasPrefix(name, "paper")
	if fixed {
		o.machines = 3
	}
	if more {
		if err := o.parse(spec, options); err != nil {
			return Platform{}, err
		}
	}
	switch {
	case fixed && o.machines != 3:
		return Platform{}, badPlatform(spec, "machines is %d, but it has three machines", o.machines)
	case o.machines < 1 || o.machines > maxMachines:
		return Platform{}, badPlatform(spec, "machines is %d, must be from 1 to %d", o.machines, maxMachines)
	case o.machines > maxRouted && name != "uniform":
		return Platform{}, badPlatform(spec, "machines is %d, must be at most %d: it has a route for each pair", o.machines, maxRouted)
	case len(o.speeds) > o.machines:
		return Platform{}, badPlatform(spec, "there are %d speeds for %d machines, give at most one for each", len(o.speeds), o.machines)
	case max(len(o.cores), len(o.memory)) > o.machines:
		return Platform{}, badPlatform(spec, "there are more values of cores or memory than the %d machines, give at most one for each", o.machines)
	case o.memory != nil && o.cores == nil:
		return Platform{}, badPlatform(spec, "memory without cores: give cores, too")
	}
	p := Platform{Name: spec, InBytes: o.inBytes}
	for _, key := range []string{"speed", "bandwidth"} {
		if !o.given[key] {
			p.Defaults = append(p.Defaults, key)
		}
	}
	for m := range o.machines {
		a := model.Machine{ID: fmt.Sprintf("P%d", m+1), StartupS: o.startup, Speed: o.speeds[m%len(o.speeds)]}
		for _, of := range [][]int64{o.cores, o.memory} {
			if of != nil {
				a.Capacity = append(a.Capacity, of[m%len(of)])
			}
		}
		p.Machines = append(p.Machines, a)
	}
	if o.cores != nil {
		p.Resources = append(p.Resources, resourceCores)
	}
	if o.memory != nil {
		p.Resources = append(p.Resources, resourceMemory)
	}
	p.Network = presetNetwork(name, p.Machines)
	p.Network.Bandwidth = o.bandwidth
	return p, nil
}

func badPlatform(spec, format string, args ...any) error {
	return fmt.Errorf("%w platform %q: %s", model.ErrInvalid, spec, fmt.Sprintf(format, args...))
}

// The resources of machines that tasks of files ask for.
const (
	resourceCores  = "cores"
	resourceMemory = "memory_mb"
)

type presetOptions struct {
	machines           int
	speeds             []float64
	cores, memory      []int64 // memory in MB; nil: none
	bandwidth, startup float64
	inBytes            bool            // the bandwidth has a unit
	given              map[string]bool // the keys
}

// parse reads the options of a preset, key=value,...
func (o *presetOptions) parse(spec, options string) error {
	o.given = map[string]bool{}
	for option := range strings.SplitSeq(options, ",") {
		key, value, ok := strings.Cut(option, "=")
		if !ok {
			return badPlatform(spec, "%q must be key=value, the keys are machines, speed, cores, memory, bandwidth and startup", option)
		}
		if o.given[key] {
			return badPlatform(spec, "the key %q is there twice", key)
		}
		o.given[key] = true
		number := func(value string, least float64, units map[string]float64, like string) (float64, bool, error) {
			x, unit, err := quantity(value, units)
			switch {
			case err != nil:
				return 0, false, badPlatform(spec, "%s is %q, must be a number%s", key, value, like)
			case !(x >= least && x <= maxRate) && least > 0:
				return 0, false, badPlatform(spec, "%s is %s, must be above 0, at most %g", key, value, float64(maxRate))
			case !(x >= least && x <= maxRate):
				return 0, false, badPlatform(spec, "%s is %s, must be at least 0, at most %g", key, value, float64(maxRate))
			}
			return x, unit, nil
		}
		var err error
		switch key {
		case "machines":
			if o.machines, err = strconv.Atoi(value); err != nil {
				err = badPlatform(spec, "machines is %q, must be a whole number", value)
			}
		case "speed":
			o.speeds = nil
			for v := range strings.SplitSeq(value, "/") {
				var x float64
				if x, _, err = number(v, minRate, nil, ""); err != nil {
					break
				}
				o.speeds = append(o.speeds, x)
			}
		case "cores":
			o.cores = nil
			for v := range strings.SplitSeq(value, "/") {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil || n < 1 || n > maxMachines {
					return badPlatform(spec, "cores is %q, must be a whole number from 1 to %d, or several as 8/16", value, maxMachines)
				}
				o.cores = append(o.cores, n)
			}
		case "memory":
			o.memory = nil
			for v := range strings.SplitSeq(value, "/") {
				x, unit, err := quantity(v, bytesOf)
				if err != nil || !unit || !(x >= 1e6 && x <= 1e18) {
					return badPlatform(spec, "memory is %q, must have a unit such as 64GB or 16GiB, from 1 MB to 1 EB", value)
				}
				o.memory = append(o.memory, int64(x/1e6))
			}
		case "bandwidth":
			o.bandwidth, o.inBytes, err = number(value, minRate, byteRates, ", or one of bits or bytes a second such as 1Gbps, 10Gbit/s or 125MB/s")
		case "startup", "latency":
			if o.given["startup"] && o.given["latency"] {
				return badPlatform(spec, "startup and latency are the same: give one")
			}
			const like = ", or a time such as 5ms"
			if o.startup, _, err = number(value, 0, secondsOf, like); err == nil && o.startup > 0 {
				o.startup, _, err = number(value, minRate, secondsOf, like)
			}
		default:
			err = badPlatform(spec, "there is no key %q, give machines, speed, cores, memory, bandwidth or startup", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// presetNetwork returns the links and routes of a preset.
func presetNetwork(name string, machines []model.Machine) model.Network {
	var n model.Network
	link := func(id string) { n.Links = append(n.Links, model.Link{ID: id}) }
	route := func(a, b int, oneWay bool, links ...string) {
		n.Routes = append(n.Routes, model.Route{From: machines[a].ID, To: machines[b].ID, Links: links, OneWay: oneWay})
	}
	switch name {
	case "paper":
		link("b1")
		route(0, 1, false, "b1")
		route(2, 1, false, "b1")
	case "paper-two-pools":
		link("in")
		link("out")
		for _, m := range []int{0, 2} {
			route(m, 1, true, "in")
			route(1, m, true, "out")
		}
	case "bus":
		link("bus")
		for a := range machines {
			for b := range a {
				route(b, a, false, "bus")
			}
		}
	case "star":
		for _, m := range machines {
			link(m.ID + ".up")
			link(m.ID + ".down")
		}
		for a := range machines {
			for b := range machines {
				if a != b {
					route(a, b, true, machines[a].ID+".up", machines[b].ID+".down")
				}
			}
		}
	}
	return n
}
