package instances

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Platform is what a task graph runs on: machines and the network between them.
type Platform struct {
	Machines []model.Machine `json:"machines"`
	Network  model.Network   `json:"network"`
}

// Workflow is a task graph that knows no machines: the cost of a task is its
// work over a machine's speed.
type Workflow struct {
	Tasks []WorkTask
	Edges []model.DAGEdge
}

// WorkTask is a task with its work, in whatever unit the speeds count.
type WorkTask struct {
	ID   string
	Work float64
}

// Presets are the platforms that ParsePlatform knows, with what they are.
var Presets = [][2]string{
	{"paper", "three machines; P1-P2 and P3-P2 share one link (the paper's Figure 5)"},
	{"paper-two-pools", "the same, into P2 and out of P2 a link each"},
	{"uniform", "machines that share nothing"},
	{"bus", "one link for all"},
	{"star", "each machine has one link out and one in"},
}

// ParsePlatform makes a platform from a preset, NAME[,key=value...], or reads
// the JSON file of that name: one object with "machines" and "network" as in
// an instance. Keys of presets: machines (uniform, bus, star; default 4),
// speed (one, or several as 1/2/4, taken in turn), bandwidth (of every path and link) and
// startup (seconds); each is 1 by default, startup 0. Errors wrap model.ErrInvalid.
func ParsePlatform(spec string) (Platform, error) {
	bad := func(format string, args ...any) (Platform, error) {
		return Platform{}, fmt.Errorf("%w platform %q: %s", model.ErrInvalid, spec, fmt.Sprintf(format, args...))
	}
	name, options, _ := strings.Cut(spec, ",")
	if !slices.ContainsFunc(Presets, func(p [2]string) bool { return p[0] == name }) {
		if _, err := os.Stat(spec); err != nil {
			var names []string
			for _, p := range Presets {
				names = append(names, p[0])
			}
			return bad("there is no such file or preset, give one of %s", strings.Join(names, ", "))
		}
		return readPlatform(spec)
	}
	machines, speeds, bandwidth, startup := 4, []float64{1}, 1.0, 0.0
	fixed := strings.HasPrefix(name, "paper")
	if fixed {
		machines = 3
	}
	for _, o := range strings.Split(options, ",") {
		if o == "" {
			continue
		}
		key, value, _ := strings.Cut(o, "=")
		var err error
		switch key {
		case "machines":
			if machines, err = strconv.Atoi(value); err == nil && (machines < 1 || machines > 10_000) {
				return bad("machines is %s, must be from 1 to 10000", value)
			}
			if err == nil && fixed && machines != 3 {
				return bad("it has three machines")
			}
		case "speed":
			speeds = nil
			for _, v := range strings.Split(value, "/") {
				var x float64
				if x, err = strconv.ParseFloat(v, 64); err != nil {
					break
				}
				speeds = append(speeds, x)
			}
		case "bandwidth":
			bandwidth, err = strconv.ParseFloat(value, 64)
		case "startup":
			startup, err = strconv.ParseFloat(value, 64)
		default:
			return bad("there is no key %q, give machines, speed, bandwidth or startup", key)
		}
		if err != nil {
			return bad("%s is %q, must be a number", key, value)
		}
	}
	for _, x := range append(speeds, bandwidth) {
		if !(x > 0) || math.IsInf(x, 1) {
			return bad("speed and bandwidth must be above 0 and finite")
		}
	}
	if !(startup >= 0) || math.IsInf(startup, 1) {
		return bad("startup must be finite and at least 0")
	}
	var p Platform
	for m := range machines {
		p.Machines = append(p.Machines, model.Machine{ID: fmt.Sprintf("P%d", m+1), StartupS: startup, Speed: speeds[m%len(speeds)]})
	}
	p.Network = presetNetwork(name, p.Machines)
	p.Network.Bandwidth = bandwidth
	return p, nil
}

// presetNetwork is the links and routes of a preset.
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
			link(m.ID + ".out")
			link(m.ID + ".in")
		}
		for a := range machines {
			for b := range machines {
				if a != b {
					route(a, b, true, machines[a].ID+".out", machines[b].ID+".in")
				}
			}
		}
	}
	return n
}

func readPlatform(path string) (Platform, error) {
	var p Platform
	data, err := ReadFile(path)
	if err != nil {
		return p, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return p, fmt.Errorf("%w platform: %s: %w", model.ErrInvalid, path, err)
	}
	if len(p.Machines) == 0 {
		return p, fmt.Errorf("%w platform: %s: machines is empty, must hold at least one machine", model.ErrInvalid, path)
	}
	return p, nil
}

// Place makes an instance of a workflow on the platform.
func (p Platform) Place(name string, w Workflow) (*model.DAG, error) {
	d := &model.DAG{Name: name, Machines: slices.Clone(p.Machines), Network: p.Network, Tasks: []model.DAGTask{}, Edges: slices.Clone(w.Edges)}
	if d.Edges == nil {
		d.Edges = []model.DAGEdge{}
	}
	for _, t := range w.Tasks {
		d.Tasks = append(d.Tasks, model.DAGTask{ID: t.ID, Work: &t.Work})
	}
	return d, d.Validate()
}
