// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// nodesChange is a what-if of a machine of nodes.
type nodesChange struct {
	key    string  // partitions, NAME-nodes or a resource
	more   int     // of nodes
	factor float64 // of a resource of each node
}

// nodesHelp lists the possible changes of nodes.
const nodesHelp = "of a machine of nodes partitions=merged, NAME-nodes=+2 (of the partition or group NAME), memory_mb=1.5x (of a resource, for each node)"

// mergedPartitions is the value of partitions: all are one.
const mergedPartitions = "merged"

// parseNodes reads a change of nodes; ok is false if the key is no such.
func parseNodes(key, value string) (c nodesChange, ok bool, err error) {
	c.key = key
	name, nodes := strings.CutSuffix(key, "-nodes")
	factor, times := strings.CutSuffix(value, "x")
	switch {
	case key == "partitions":
		if value != mergedPartitions {
			err = fmt.Errorf("partitions is %q, must be %s", value, mergedPartitions)
		}
		return c, true, err
	case nodes && name != "":
		if c.more, err = strconv.Atoi(value); err != nil || value[0] != '+' || c.more < 1 || c.more > 1e6 {
			err = fmt.Errorf("%s is %q, must be a number more such as +2", key, value)
		}
		return c, true, err
	case times:
		if c.factor, err = strconv.ParseFloat(factor, 64); err != nil || !(c.factor > 0 && c.factor <= 1e4) {
			err = fmt.Errorf("%s is %q, must be of times such as 1.5x", key, value)
		}
		return c, true, err
	}
	return c, false, nil
}

// apply changes the nodes of a copy of an instance, of which the lists may be another's.
func (c *nodesChange) apply(in *model.Batch) error {
	if len(in.Nodes) == 0 {
		return fmt.Errorf("there is no key %q of a machine of processors", c.key)
	}
	in.Nodes = slices.Clone(in.Nodes)
	if c.key == "partitions" {
		merge(in)
		return nil
	}
	if c.more > 0 {
		name := strings.TrimSuffix(c.key, "-nodes")
		at := -1 // the largest group
		for g := range in.Nodes {
			if n := &in.Nodes[g]; (n.ID == name || slices.Contains(n.Partitions, name)) && (at < 0 || n.Count > in.Nodes[at].Count) {
				at = g
			}
		}
		if at < 0 {
			return fmt.Errorf("%s: no nodes are of a partition or group %q", c.key, name)
		}
		in.Nodes[at].Count += c.more
		in.Processors += c.more
		return nil
	}
	r := slices.Index(in.Resources, c.key)
	if r < 0 {
		return fmt.Errorf("there is no key or resource %q; the nodes have %s", c.key, strings.Join(in.Resources, ", "))
	}
	for g := range in.Nodes {
		n := &in.Nodes[g]
		n.Capacity = slices.Clone(n.Capacity)
		n.Capacity[r] = int64(math.Round(c.factor * float64(n.Capacity[r])))
	}
	return nil
}

// merge lets each job run on the nodes of any partition.
func merge(in *model.Batch) {
	in.Jobs = slices.Clone(in.Jobs)
	merged := map[*model.NodeNeeds]*model.NodeNeeds{} // jobs share them
	for k := range in.Jobs {
		needs := in.Jobs[k].Needs
		if merged[needs] == nil {
			free := *needs
			free.Partitions = nil
			merged[needs] = &free
		}
		in.Jobs[k].Needs = merged[needs]
	}
}
