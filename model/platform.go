// SPDX-License-Identifier: MIT

package model

import (
	"errors"
	"fmt"
)

// DecodePlatform reads the machines and the network of task graphs: one object
// with the keys machines and network, read as strictly as an instance. Each
// machine must have a speed, each pair of machines a rate. Errors wrap
// ErrInvalid and name the line.
func DecodePlatform(data []byte) ([]Machine, Network, error) {
	var p struct {
		Machines []Machine `json:"machines"`
		Network  Network   `json:"network,omitempty"`
	}
	if err := decodeStrict(data, &p, false); err != nil {
		return nil, p.Network, err
	}
	// Tasks that state their work require speeds, an edge requires rates.
	work := 1.0
	d := &DAG{Machines: p.Machines, Network: p.Network, Tasks: []DAGTask{{ID: "1", Work: &work}, {ID: "2", Work: &work}},
		Edges: []DAGEdge{{From: "1", To: "2", Data: 1}}}
	err := d.Validate()
	var element *ElementError
	if !errors.As(err, &element) {
		return d.Machines, d.Network, err
	}
	if element.List == "" {
		return nil, p.Network, fmt.Errorf("%w platform: %s", ErrInvalid, element.Reason)
	}
	reason := element.Reason
	if element.List == "machines" && p.Machines[element.Index].Speed == 0 && p.Machines[element.Index].ID != "" {
		reason = fmt.Sprintf("id %q: speed is missing, give the work that it does per second", p.Machines[element.Index].ID)
	}
	return nil, p.Network, fmt.Errorf("%w platform: line %d: %s[%d]: %s", ErrInvalid, lineOfElement(data, element.List, element.Index), element.List, element.Index, reason)
}
