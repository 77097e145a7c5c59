// SPDX-License-Identifier: MIT

package model

import (
	"errors"
	"fmt"
)

// DecodePlatform reads the machines, their resources and the network of task graphs: one object
// with the keys machines, resources and network, read as strictly as an instance. Each
// machine must have a speed, each pair of machines a rate. It returns them as a graph without tasks. Errors wrap
// ErrInvalid and name the line.
func DecodePlatform(data []byte) (*DAG, error) {
	var p struct {
		Resources []string  `json:"resources,omitempty"`
		Machines  []Machine `json:"machines"`
		Network   Network   `json:"network,omitempty"`
	}
	if err := decodeStrict(data, &p, false); err != nil {
		return nil, err
	}
	// Tasks that state their work require speeds, an edge requires rates.
	work := 1.0
	none := make([]int64, len(p.Resources))
	d := &DAG{Resources: p.Resources, Machines: p.Machines, Network: p.Network,
		Tasks: []DAGTask{{ID: "1", Work: &work, Needs: none}, {ID: "2", Work: &work, Needs: none}},
		Edges: []DAGEdge{{From: "1", To: "2", Data: 1}}}
	err := d.Validate()
	var element *ElementError
	if !errors.As(err, &element) {
		d.Tasks, d.Edges = nil, nil
		return d, err
	}
	if element.List == "" {
		return nil, fmt.Errorf("%w platform: %s", ErrInvalid, element.Reason)
	}
	reason := element.Reason
	if element.List == "machines" && p.Machines[element.Index].Speed == 0 && p.Machines[element.Index].ID != "" {
		reason = fmt.Sprintf("id %q: speed is missing, give the work that it does per second", p.Machines[element.Index].ID)
	}
	return nil, fmt.Errorf("%w platform: line %d: %s[%d]: %s", ErrInvalid, lineOfElement(data, element.List, element.Index), element.List, element.Index, reason)
}
