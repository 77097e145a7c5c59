// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"slices"
)

// NodeGroup is a group of like nodes of a Batch.
type NodeGroup struct {
	ID       string  `json:"id"`
	Count    int     `json:"count"`
	Capacity []int64 `json:"capacity"` // of each node, by resource
	// Partitions names the partitions or queues to which the nodes belong, Features what else jobs may ask of them.
	Partitions []string `json:"partitions,omitempty"`
	Features   []string `json:"features,omitempty"`
}

// NodeNeeds states what a job needs of nodes. Jobs may share one.
type NodeNeeds struct {
	Each []int64 `json:"each"` // of each process, by resource
	// Spread means that each process runs on a node of its own; other jobs may run beside it.
	Spread bool `json:"spread,omitempty"`
	// Exclusive means that no other job runs on the job's nodes.
	Exclusive bool `json:"exclusive,omitempty"`
	// Partitions names partitions: all nodes of the job belong to one of them; empty: to any, or to several.
	Partitions []string `json:"partitions,omitempty"`
	// Features are those of each of its nodes.
	Features []string `json:"features,omitempty"`
}

// mostCapacity bounds capacities and needs, and mostTotal the capacity of all nodes: sums of them are exact.
const (
	mostCapacity = 1e15
	mostTotal    = 1e18
)

var nodeGroupKeys = object{keys: []key{
	idKey,
	{name: "count", least: 1, most: maxSize, about: "of the nodes, which are numbered in the order of their groups"},
	{name: "capacity", each: &key{most: mostCapacity}, about: "of each node, by resource"},
	{name: "partitions", distinct: true, each: &key{filled: true}, about: "partitions or queues to which the nodes belong"},
	{name: "features", distinct: true, each: &key{filled: true}, about: "what else jobs may ask of the nodes"},
}}

var nodeNeedsKeys = object{keys: []key{
	{name: "each", each: &key{most: mostCapacity}, about: "of each process, by resource; not all are 0"},
	{name: "spread", about: "true: each process runs on a node of its own, beside other jobs"},
	{name: "exclusive", about: "true: no other job runs on the job's nodes"},
	{name: "partitions", distinct: true, each: &key{filled: true}, about: "all nodes of the job belong to one of them; " +
		"without any it runs anywhere"},
	{name: "features", distinct: true, each: &key{filled: true}, about: "of each of its nodes"},
}}

// checkNodes describes the first error in the nodes, "" if there is none.
func (b *Batch) checkNodes() string {
	if len(b.Nodes) == 0 {
		if len(b.Resources) > 0 {
			return "resources are named, and there are no nodes that have them"
		}
		return ""
	}
	if b.Tiers != 1 {
		return fmt.Sprintf("tiers is %d, nodes have one", b.Tiers)
	}
	if len(b.Resources) == 0 {
		return "nodes have no resources; name them"
	}
	if why := repeatedResource(b.Resources); why != "" {
		return why
	}
	count, seen, total := 0, map[string]bool{}, make([]float64, len(b.Resources))
	for g := range b.Nodes {
		n := &b.Nodes[g]
		if why := nodeGroupKeys.wrong(n); why != "" {
			return fmt.Sprintf("nodes[%d].%s", g, why)
		}
		if seen[n.ID] {
			return fmt.Sprintf("nodes[%d] has the id %q, which another group has", g, n.ID)
		}
		seen[n.ID] = true
		if why := wrongAmounts("capacity", n.Capacity, b.Resources); why != "" {
			return fmt.Sprintf("nodes[%d].%s", g, why)
		}
		count += n.Count
		for r, c := range n.Capacity {
			if total[r] += float64(n.Count) * float64(c); total[r] > mostTotal {
				return fmt.Sprintf("the nodes up to nodes[%d] have %g of %s, the most is %g; take a larger unit", g, total[r], b.Resources[r], mostTotal)
			}
		}
	}
	if count != b.Processors {
		return fmt.Sprintf("processors is %d, there are %d nodes; it counts them", b.Processors, count)
	}
	return ""
}

// wrongNeeds describes the error in the needs of a job with so many processes, "" if there is none: as each job fits
// the empty machine, all can run, one after the other.
func (b *Batch) wrongNeeds(n *NodeNeeds, processes int) string {
	switch {
	case n == nil && len(b.Nodes) == 0:
		return ""
	case n == nil:
		return "has no needs, there are nodes; give needs"
	case len(b.Nodes) == 0:
		return "has needs, and there are no nodes; leave needs out"
	}
	if why := nodeNeedsKeys.wrong(n); why != "" {
		return "needs." + why
	}
	if why := wrongAmounts("needs.each", n.Each, b.Resources); why != "" {
		return why
	}
	if !slices.ContainsFunc(n.Each, func(x int64) bool { return x > 0 }) {
		return "needs.each is 0 for all resources"
	}
	most := 0
	for _, partition := range n.partitions() {
		room := 0
		for g := range b.Nodes {
			if group := &b.Nodes[g]; n.allows(group, partition) {
				room += group.Count * n.fit(group.Capacity)
			}
		}
		if most = max(most, room); most >= processes {
			return ""
		}
	}
	return fmt.Sprintf("processes is %d, the nodes that it may use hold %d of them", processes, most)
}

// partitions returns the partitions of which the job uses one, "" for all nodes.
func (n *NodeNeeds) partitions() []string {
	if len(n.Partitions) == 0 {
		return []string{""}
	}
	return n.Partitions
}

// allows reports whether the job may use the nodes of a group if it runs in a partition; "": in any.
func (n *NodeNeeds) allows(group *NodeGroup, partition string) bool {
	for _, f := range n.Features {
		if !slices.Contains(group.Features, f) {
			return false
		}
	}
	return partition == "" || slices.Contains(group.Partitions, partition)
}

// fit returns how many processes, up to maxSize, an empty node of a capacity holds.
func (n *NodeNeeds) fit(capacity []int64) int {
	most := int64(maxSize)
	if n.Spread {
		most = 1
	}
	for r, need := range n.Each {
		if need > 0 {
			most = min(most, capacity[r]/need)
		}
	}
	return int(most)
}

// Alternatives returns, for each way in which job k may choose its nodes, the groups that it may use: one way for each
// of its partitions with any. A machine without nodes has none.
func (b *Batch) Alternatives(k int) (all [][]int) {
	n := b.Jobs[k].Needs
	if n == nil {
		return nil
	}
	for _, partition := range n.partitions() {
		var groups []int
		for g := range b.Nodes {
			if n.allows(&b.Nodes[g], partition) {
				groups = append(groups, g)
			}
		}
		if groups != nil {
			all = append(all, groups)
		}
	}
	return all
}

// firstNeed returns how much of the first resource each process of a job takes; 1: of a processor.
func (j *BatchJob) firstNeed() float64 {
	if j.Needs == nil {
		return 1
	}
	return float64(j.Needs.Each[0])
}

// firstCapacity returns how much of the first resource the machine has, or how many processors.
func (b *Batch) firstCapacity() float64 {
	if len(b.Nodes) == 0 {
		return float64(b.Processors)
	}
	sum := 0.0
	for g := range b.Nodes {
		sum += float64(b.Nodes[g].Count) * float64(b.Nodes[g].Capacity[0])
	}
	return max(1, sum) // of 0 nothing is in use
}
