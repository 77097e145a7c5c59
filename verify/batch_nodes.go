// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// Constraints of machines of nodes.
const (
	foreignNode   = "foreign_node"   // a node outside the job's partitions, or without its features
	sharedNode    = "shared_node"    // two processes of a job on one node, though it spreads them
	exclusiveNode = "exclusive_node" // a node that is another job's alone, or a job that would be alone beside another
	movedJob      = "moved_job"      // a job that goes on on other nodes
	nodeCapacity  = "node_capacity"  // the processes on a node need more than it has
)

// judgedNodes are the nodes at a moment. A segment that breaks a constraint of a node holds none.
type judgedNodes struct {
	in    *model.Batch
	group []*model.NodeGroup // of each node
	room  []room             // of each node
	held  [][]*batchSegment  // of each node, by start
}

func newJudgedNodes(in *model.Batch) *judgedNodes {
	if len(in.Nodes) == 0 {
		return nil
	}
	n := &judgedNodes{in: in}
	for g := range in.Nodes {
		for range in.Nodes[g].Count {
			n.group = append(n.group, &in.Nodes[g])
			n.room = append(n.room, newRoom(in.Nodes[g].Capacity))
		}
	}
	n.held = make([][]*batchSegment, len(n.group))
	return n
}

// allowed checks the place of a segment by itself: each node has the job's features, and one of its partitions has all
// of them.
func (n *judgedNodes) allowed(r *Report, s *batchSegment, needs *model.NodeNeeds) {
	partitions := needs.Partitions
	for _, p := range s.place.Processors {
		group := n.group[p]
		for _, f := range needs.Features {
			if !slices.Contains(group.Features, f) {
				r.add(foreignNode, 0, "job %q runs on node %d of group %q, which lacks the feature %q", s.id, p, group.ID, f)
				return
			}
		}
		var left []string
		for _, x := range partitions {
			if slices.Contains(group.Partitions, x) {
				left = append(left, x)
			}
		}
		if partitions = left; len(needs.Partitions) > 0 && len(left) == 0 {
			r.add(foreignNode, 0, "job %q runs on node %d of group %q, no partition of %q has all of its nodes", s.id, p, group.ID, needs.Partitions)
			return
		}
	}
}

// start has the processes of a segment take their needs, if all fit.
func (n *judgedNodes) start(r *Report, s *batchSegment, needs *model.NodeNeeds) {
	before := len(r.Violations)
	for i, p := range s.place.Processors {
		for _, other := range n.held[p] {
			if needs.Exclusive || n.in.Jobs[other.request].Needs.Exclusive {
				r.add(exclusiveNode, 1/float64(len(s.place.Processors)), "job %q starts at %v on node %d, where job %q runs until %v, and one of them has its nodes alone",
					s.id, inSeconds(s.start), p, other.id, inSeconds(other.end))
				break
			}
		}
		n.room[p].take(needs.Each)
		for x, need := range needs.Each {
			if over := n.room[p].over(x); over > 0 {
				capacity := n.room[p].capacity[x]
				r.add(nodeCapacity, float64(over)/float64(max(1, capacity)), "job %q starts at %v on node %d of group %q and needs %d of %s there, %d of %d are left",
					s.id, inSeconds(s.start), p, n.group[p].ID, need, n.in.Resources[x], need-over, capacity)
			}
		}
		if len(r.Violations) > before {
			n.give(s.place.Processors[:i+1], needs)
			break
		}
	}
	if len(r.Violations) == before {
		for _, p := range s.place.Processors {
			if k := len(n.held[p]); k == 0 || n.held[p][k-1] != s {
				n.held[p] = append(n.held[p], s)
			}
		}
	}
}

// end gives back what a segment holds.
func (n *judgedNodes) end(s *batchSegment, needs *model.NodeNeeds) {
	if len(s.place.Processors) == 0 || !slices.Contains(n.held[s.place.Processors[0]], s) {
		return
	}
	n.give(s.place.Processors, needs)
	for _, p := range s.place.Processors {
		if k := slices.Index(n.held[p], s); k >= 0 {
			n.held[p] = slices.Delete(n.held[p], k, k+1)
		}
	}
}

// give gives back the needs of processes on nodes.
func (n *judgedNodes) give(list []int32, needs *model.NodeNeeds) {
	for _, p := range list {
		n.room[p].give(needs.Each)
	}
}

// pooledNumbers returns the numbers of an instance by which evidence counts. Of nodes, only a sum of times is about the
// jobs as they are. A machine, for all time or in a window, is one resource of some groups (Rows; none: all), in at most pooledParts parts: at every
// instant the needs of the jobs that run on nothing but these groups sum to at most the groups' capacity C, so their
// needs times parts/C, rounded down, sum to at most the parts. Other jobs need nothing of it.
func pooledNumbers(in *model.Batch, e *model.Evidence) (*batchNumbers, error) {
	t := numbersOf(in)
	switch {
	case len(in.Nodes) == 0 && len(e.Rows) > 0:
		return nil, fmt.Errorf("rows: there are no groups of nodes")
	case len(in.Nodes) == 0 && e.Type != evidence.Prices && e.Resource != "":
		return nil, fmt.Errorf("resource: there are no nodes")
	case len(in.Nodes) == 0 || e.Type == evidence.Sum:
		return t, nil
	case e.Type != evidence.Machine && e.Type != evidence.Windows:
		return nil, fmt.Errorf("no bound of a machine of nodes follows from evidence of type %q", e.Type)
	}
	r := slices.Index(in.Resources, e.Resource)
	if r < 0 {
		return nil, fmt.Errorf("resource: %q isn't one of %q", e.Resource, in.Resources)
	}
	inside := make([]bool, len(in.Nodes))
	for _, g := range e.Rows {
		if g >= int64(len(in.Nodes)) {
			return nil, fmt.Errorf("rows: there is no group %d of nodes", g)
		}
		inside[g] = true
	}
	capacity := int64(0) // at most 10^18
	for g := range in.Nodes {
		if len(e.Rows) == 0 {
			inside[g] = true
		}
		if inside[g] {
			capacity += int64(in.Nodes[g].Count) * in.Nodes[g].Capacity[r]
		}
	}
	t.Processors = int(min(capacity, pooledParts))
	if capacity == 0 {
		t.Processors = 1 // of which no job needs anything
	}
	var last *model.NodeNeeds // jobs share them
	within := false
	for k := range t.Jobs {
		needs := in.Jobs[k].Needs
		if needs != last {
			last, within = needs, needsWithin(in, needs, inside)
		}
		if t.Jobs[k].Processes = 0; within && capacity > 0 {
			all := int64(in.Jobs[k].Processes) * needs.Each[r] // at most the capacity, as it fits the nodes
			high, low := bits.Mul64(uint64(all), uint64(t.Processors))
			width, _ := bits.Div64(high, low, uint64(capacity))
			t.Jobs[k].Processes = int(width)
		}
	}
	return t, nil
}

// pooledParts is the most parts of a resource that evidence counts.
const pooledParts = 1 << 20

// needsWithin reports whether a job runs on nothing but some groups of nodes.
func needsWithin(in *model.Batch, needs *model.NodeNeeds, inside []bool) bool {
	for g := range in.Nodes {
		if !inside[g] && mayUse(needs, &in.Nodes[g]) {
			return false
		}
	}
	return true
}

// waysOf returns the partitions of which a job uses one, "" for all nodes.
func waysOf(needs *model.NodeNeeds) []string {
	if len(needs.Partitions) == 0 {
		return []string{""}
	}
	return needs.Partitions
}

// groupAllowed reports whether a job may use a group's nodes in a partition; "": in any.
func groupAllowed(needs *model.NodeNeeds, group *model.NodeGroup, partition string) bool {
	for _, f := range needs.Features {
		if !slices.Contains(group.Features, f) {
			return false
		}
	}
	return partition == "" || slices.Contains(group.Partitions, partition)
}

// mayUse reports whether a job may use a group's nodes in some partition.
func mayUse(needs *model.NodeNeeds, group *model.NodeGroup) bool {
	return slices.ContainsFunc(waysOf(needs), func(partition string) bool { return groupAllowed(needs, group, partition) })
}
