// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// sagaFile is a file of SAGA: a problem instance, a task graph or a network.
type sagaFile struct {
	Name      string     `json:"name"`
	TaskGraph *sagaGraph `json:"task_graph"`
	Network   *sagaGraph `json:"network"`
	sagaGraph
}

// sagaGraph is a task graph (tasks, dependencies) or a network (nodes, edges) as
// SAGA's classes write them, or either as networkx's node_link_data does (nodes and
// links, or edges, with weights).
type sagaGraph struct {
	Tasks        []sagaEntry     `json:"tasks"`
	Dependencies []sagaEntry     `json:"dependencies"`
	Nodes        []sagaEntry     `json:"nodes"`
	Edges        []sagaEntry     `json:"edges"`
	Links        []sagaEntry     `json:"links"`
	Directed     bool            `json:"directed"`
	Multigraph   bool            `json:"multigraph"`
	Graph        json.RawMessage `json:"graph"` // attributes of the whole
}

// sagaEntry is a task, a dependency, a node or an edge.
type sagaEntry struct {
	Name   sagaName    `json:"name"`
	ID     sagaName    `json:"id"`
	Source sagaName    `json:"source"`
	Target sagaName    `json:"target"`
	Cost   *sagaNumber `json:"cost"`
	Size   *sagaNumber `json:"size"`
	Speed  *sagaNumber `json:"speed"`
	Weight *sagaNumber `json:"weight"`
}

// sagaName is a text, or a number used as a name.
type sagaName string

// UnmarshalJSON implements json.Unmarshaler.
func (n *sagaName) UnmarshalJSON(data []byte) error {
	var number json.Number
	if len(data) > 0 && data[0] != '"' && json.Unmarshal(data, &number) == nil {
		*n = sagaName(number)
		return nil
	}
	return json.Unmarshal(data, (*string)(n))
}

// sagaNumber is a number, or one in the form {"type": "float", "value": 2} of old data
// sets.
type sagaNumber float64

var errStochastic = errors.New("a weight is a random variable, give its mean or a sample: instances have one outcome")

// UnmarshalJSON implements json.Unmarshaler.
func (x *sagaNumber) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '{' {
		return json.Unmarshal(data, (*float64)(x))
	}
	var typed struct {
		Type  string   `json:"type"`
		Value *float64 `json:"value"`
	}
	if err := json.Unmarshal(data, &typed); err != nil {
		return err
	}
	if typed.Type != "float" || typed.Value == nil {
		return errStochastic
	}
	*x = sagaNumber(*typed.Value)
	return nil
}

func badSAGA(format string, args ...any) error {
	return fmt.Errorf("%w SAGA file: %w", model.ErrInvalid, fmt.Errorf(format, args...))
}

// isSAGA reports whether the keys of a JSON object belong to a file of SAGA.
func isSAGA(keys map[string]json.RawMessage) bool {
	has := func(names ...string) bool {
		for _, n := range names {
			if keys[n] == nil {
				return false
			}
		}
		return keys["kind"] == nil && keys["machines"] == nil
	}
	return has("task_graph") || has("tasks", "dependencies") || has("nodes", "links") || has("nodes", "edges") || has("name", "pairs")
}

// readSAGA reads a problem instance, or a task graph alone, of SAGA (Coleman, Krishnamachari: SAGA, Scheduling
// Algorithms Gathered; the data set DAGBench has such files). It also reads the node-link form of earlier versions.
//
// SAGA says that task t takes cost(t) / speed(m) on node m, and that data from m to n take size / speed(m, n), nothing
// within a node whose edge to itself has no finite speed. So costs become work, nodes machines with their speed, and the
// speeds of edges the capacities of the paths, or a machine's local rate; no two transfers share anything. An instance
// must have a finite speed between any two nodes; 0 is no path. The workflow has no Platform if the file has no network.
// Errors wrap model.ErrInvalid. O(length of the file).
func readSAGA(file *File) (workflow, error) {
	f, err := decodeSAGA(file.data)
	if err != nil {
		return workflow{}, err
	}
	tasks, network := f.TaskGraph, f.Network
	switch {
	case tasks == nil && f.isNetwork():
		return workflow{}, badSAGA("it is a network without tasks, give it as the platform of a task graph")
	case tasks == nil && network == nil:
		tasks = &f.sagaGraph
	case tasks == nil:
		return workflow{}, badSAGA("task_graph is missing")
	}
	w, err := tasks.workflow()
	if err != nil {
		return workflow{}, err
	}
	w.Name = f.Name
	if g := string(tasks.Graph); g != "" && g != "{}" && g != "null" {
		file.account.NotModelled.Say("attributes of the whole graph, in its key graph")
	}
	if network != nil {
		p, err := network.platform()
		if err != nil {
			return workflow{}, err
		}
		w.Platform = &p
	}
	return w, nil
}

// readSAGANetwork reads the network of a file of SAGA.
func readSAGANetwork(data []byte) (Platform, error) {
	f, err := decodeSAGA(data)
	switch {
	case err != nil:
		return Platform{}, err
	case f.Network != nil:
		return f.Network.platform()
	case !f.isNetwork():
		return Platform{}, badSAGA("it is a task graph, a platform is a network")
	}
	return f.platform()
}

func decodeSAGA(data []byte) (*sagaFile, error) {
	if err := model.CheckText(data); err != nil {
		return nil, err
	}
	data = finite(data)
	var keys map[string]json.RawMessage
	if json.Unmarshal(data, &keys) == nil && keys["pairs"] != nil {
		return nil, badSAGA("it is a data set of many instances (pairs), give each as a file with the keys task_graph and network")
	}
	var f sagaFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&f)
	if key, ok := strings.CutPrefix(fmt.Sprint(err), "json: unknown field "); ok {
		return nil, badSAGA("the key %s isn't known, and may change what the graph means", key)
	}
	if err != nil && !errors.Is(err, errStochastic) {
		err = model.JSONError(data, err)
	}
	if err != nil {
		return nil, badSAGA("%w", err)
	}
	if dec.More() {
		return nil, badSAGA("something follows the first object")
	}
	return &f, nil
}

// finite replaces Infinity, which Python writes for a node's edge to itself and JSON
// doesn't know, by null of the same length.
func finite(data []byte) []byte {
	word := []byte("Infinity")
	if !bytes.Contains(data, word) {
		return data
	}
	data = bytes.Clone(data)
	quoted := false
	for k := 0; k < len(data); k++ {
		switch {
		case quoted && data[k] == '\\':
			k++
		case data[k] == '"':
			quoted = !quoted
		case !quoted && bytes.HasPrefix(data[k:], word):
			copy(data[k:], "null    ")
		}
	}
	return data
}

// isNetwork distinguishes a network from a task graph where no key does.
func (g *sagaGraph) isNetwork() bool {
	if g.Tasks != nil || g.Nodes == nil {
		return false
	}
	for k := range g.Nodes {
		if g.Nodes[k].Speed != nil {
			return true
		}
	}
	return !g.Directed
}

// links returns the dependencies or edges, by the key that they are under.
func (g *sagaGraph) links() (string, []sagaEntry) {
	switch {
	case g.Dependencies != nil:
		return "dependencies", g.Dependencies
	case g.Links != nil:
		return "links", g.Links
	}
	return "edges", g.Edges
}

func (g *sagaGraph) workflow() (w workflow, err error) {
	list, entries := "tasks", g.Tasks
	if g.Tasks == nil {
		list, entries = "nodes", g.Nodes
		if !g.Directed || g.Multigraph {
			return w, badSAGA("a task graph must be directed, and no multigraph")
		}
	}
	known := map[sagaName]bool{}
	for k := range entries {
		x := &entries[k]
		id, cost := x.Name, x.Cost
		if g.Tasks == nil {
			id, cost = x.ID, x.Weight
		}
		switch {
		case id == "":
			return w, badSAGA("%s[%d]: its name is missing", list, k)
		case cost == nil:
			return w, badSAGA("task %q: its cost is missing or null, no node could run it; give a number", id)
		case known[id]:
			return w, badSAGA("%s[%d]: task %q is there twice", list, k, id)
		case !(*cost >= 0):
			return w, badSAGA("task %q: cost is %v, must be at least 0", id, *cost)
		}
		known[id] = true
		w.Tasks = append(w.Tasks, workTask{ID: string(id), Work: float64(*cost)})
	}
	list, entries = g.links()
	seen := map[[2]sagaName]bool{}
	for k := range entries {
		x := &entries[k]
		size := x.Size
		if g.Tasks == nil {
			size = x.Weight
		}
		pair := [2]sagaName{x.Source, x.Target}
		switch {
		case size == nil:
			return w, badSAGA("%s[%d]: the size of its data is missing", list, k)
		case !known[x.Source] || !known[x.Target]:
			return w, badSAGA("%s[%d]: there is no task %q or no task %q", list, k, x.Source, x.Target)
		case seen[pair]:
			return w, badSAGA("%s[%d]: the dependency of %q on %q is there twice", list, k, x.Target, x.Source)
		case !(*size >= 0):
			return w, badSAGA("%s[%d]: the size of the data from %q to %q is %v, must be at least 0", list, k, x.Source, x.Target, *size)
		}
		seen[pair] = true
		w.Edges = append(w.Edges, model.DAGEdge{From: string(x.Source), To: string(x.Target), Data: float64(*size)})
	}
	return w, nil
}

func (g *sagaGraph) platform() (p Platform, err error) {
	p.Name = "network"
	index := map[sagaName]int{}
	if g.Multigraph {
		return p, badSAGA("a network must be no multigraph")
	}
	for k := range g.Nodes {
		x := &g.Nodes[k]
		id, speed := x.Name, x.Speed
		if id == "" {
			id = x.ID
		}
		if speed == nil {
			speed = x.Weight
		}
		switch _, twice := index[id]; {
		case id == "" || speed == nil:
			return p, badSAGA("network: nodes[%d]: its name or its speed is missing", k)
		case twice:
			return p, badSAGA("network: node %q is there twice", id)
		case !(*speed >= minRate && *speed <= maxRate):
			return p, badSAGA("network: node %q: speed is %v, must be from %g to %g", id, *speed, float64(minRate), float64(maxRate))
		}
		index[id] = k
		p.Machines = append(p.Machines, model.Machine{ID: string(id), Speed: float64(*speed)})
	}
	n := len(p.Machines)
	list, links := g.links()
	pairs := n * (n - 1) / 2
	if g.Directed {
		pairs *= 2
	}
	// No matrix is allocated for a file that can't fill it.
	if n == 0 || n > 1 && len(links) < pairs {
		return p, badSAGA("network: %d %s for %d nodes; each pair of them needs one", len(links), list, n)
	}
	rates := make([][]float64, n)
	for m := range rates {
		rates[m] = slices.Repeat([]float64{-1}, n)
	}
	for k := range links {
		x := &links[k]
		a, ok := index[x.Source]
		b, ok2 := index[x.Target]
		speed := x.Speed
		if speed == nil {
			speed = x.Weight
		}
		switch {
		case !ok || !ok2:
			return p, badSAGA("network: %s[%d]: there is no node %q or no node %q", list, k, x.Source, x.Target)
		case a == b && speed == nil: // infinite
			continue
		case speed == nil:
			return p, badSAGA("network: the speed from %q to %q is missing or infinite, give a number", x.Source, x.Target)
		case !(*speed >= minRate && *speed <= maxRate) && (*speed != 0 || a == b):
			return p, badSAGA("network: the speed from %q to %q is %v, must be from %g to %g, or 0 between two nodes without a link",
				x.Source, x.Target, *speed, float64(minRate), float64(maxRate))
		case rates[a][b] >= 0 && rates[a][b] != float64(*speed):
			return p, badSAGA("network: there are two speeds between %q and %q", x.Source, x.Target)
		}
		rates[a][b] = float64(*speed)
		if !g.Directed {
			rates[b][a] = float64(*speed)
		}
	}
	for a := range rates {
		p.Machines[a].LocalRate, rates[a][a] = max(0, rates[a][a]), 0
	}
	if n == 1 {
		p.Network.Bandwidth = 1 // of no use
		return p, nil
	}
	for a := range rates {
		for b := range rates {
			if rates[a][b] < 0 {
				return p, badSAGA("network: there is no edge from %q to %q, each pair needs one", p.Machines[a].ID, p.Machines[b].ID)
			}
		}
	}
	p.Network.PathCapacity = rates
	return p, nil
}
