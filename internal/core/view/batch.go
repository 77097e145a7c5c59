// SPDX-License-Identifier: MIT

package view

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/model"
)

// Batch is a model.Batch in whole numbers: times in microseconds, rates, shares and
// uses in ten-thousandths, work in ten-thousandths of a microsecond. Nothing is
// rounded but the rates (see model.Batch).
type Batch struct {
	Processors, Tiers int
	Threshold         int64
	Migration         int64
	KillAtEstimate    bool
	Nodes             *BatchNodes // nil: processors alone
	Jobs              []BatchJob  // as in the instance
}

// BatchNodes are the nodes of a machine.
type BatchNodes struct {
	Resources []string
	Capacity  [][]int64 // by group, of each of its nodes
	Group     []int32   // of each node
	First     []int32   // the first node of each group, and at the end the number of nodes
}

// CapacityOf returns how much of resource r all nodes of some groups have; a valid instance has at most 1e18.
func CapacityOf(nodes []model.NodeGroup, r int) (sum int64) {
	for g := range nodes {
		sum += int64(nodes[g].Count) * nodes[g].Capacity[r]
	}
	return sum
}

// NodeNeeds are what a job needs of nodes. Jobs with equal needs share one.
type NodeNeeds struct {
	Each              []int64
	Spread, Exclusive bool
	Alternatives      [][]int // groups that it may use, one list for each way to choose them
}

// BatchJob is a job in whole numbers.
type BatchJob struct {
	Submit, Runtime, Estimate int64
	// Length is the work in microseconds of dedicated processors: Runtime, or
	// min(Runtime, Estimate) if jobs are killed at their estimate. Online schedulers
	// don't know it before the job ends.
	Length     int64
	Processes  int
	Needs      *NodeNeeds // nil without nodes
	Weight     int64      // at least 1
	Use        []int64    // of each process, or one value for all
	Foreground int64      // rate in the foreground
	Efficiency int64      // in the background
}

// Alike reports, for an algorithm that counts processors, that the machine has nodes. The error wraps
// model.ErrUnsupported.
func (t *Batch) Alike() error {
	if t.Nodes != nil {
		return fmt.Errorf("%w: the machine has nodes with %s; take auto, improve, rollout, list or a policy that places on nodes (fcfs, sjf, conservative, easy, easy-sjbf, easy-saf)",
			model.ErrUnsupported, strings.Join(t.Nodes.Resources, ", "))
	}
	return nil
}

// Groups returns the groups that the job may use, in ascending order.
func (n *NodeNeeds) Groups() (all []int64) {
	for _, groups := range n.Alternatives {
		for _, g := range groups {
			if k, found := slices.BinarySearch(all, int64(g)); !found {
				all = slices.Insert(all, k, int64(g))
			}
		}
	}
	return all
}

// FullRate is the rate of a dedicated processor.
const FullRate = 10_000

// Work returns the work of the job: Length times FullRate.
func (j *BatchJob) Work() int64 { return j.Length * FullRate }

// CPU returns the use of process i.
func (j *BatchJob) CPU(i int) int64 {
	if len(j.Use) == 1 {
		return j.Use[0]
	}
	return j.Use[i]
}

// BackgroundRate returns the rate of a process of the given use in the background
// where the foreground leaves the share idle: ⌊efficiency · min(1, idle/use)⌋ in
// ten-thousandths.
func (j *BatchJob) BackgroundRate(use, idle int64) int64 {
	if idle >= use {
		return j.Efficiency
	}
	return j.Efficiency * max(0, idle) / use
}

// shares returns x in ten-thousandths.
func shares(x float64) int64 { return int64(math.Round(x * FullRate)) }

// OfBatch returns the instance, which must be valid, in whole numbers.
func OfBatch(b *model.Batch) *Batch {
	t := &Batch{Processors: b.Processors, Tiers: b.Tiers, Threshold: shares(b.EffectiveThreshold()), Migration: units.Micro(b.MigrationS),
		KillAtEstimate: b.KillAtEstimate, Jobs: make([]BatchJob, len(b.Jobs))}
	needs := map[*model.NodeNeeds]*NodeNeeds{}
	if len(b.Nodes) > 0 {
		t.Nodes = nodesOf(b)
	}
	whole := []int64{FullRate} // shared by jobs without uses
	uses := 0
	for k := range b.Jobs {
		uses += len(b.Jobs[k].CPU)
	}
	all := make([]int64, 0, uses)
	for k := range b.Jobs {
		j := &b.Jobs[k]
		x := BatchJob{Submit: units.Micro(j.SubmitS), Runtime: units.Micro(j.RuntimeS), Estimate: units.Micro(j.Estimate()), Length: units.Micro(b.Work(k)),
			Processes: j.Processes, Weight: int64(j.EffectiveWeight()), Use: whole, Foreground: FullRate, Efficiency: shares(j.BgEfficiency)}
		if b.Tiers == 2 {
			x.Foreground -= shares(j.FgLoss)
		}
		if len(j.CPU) > 0 {
			first := len(all)
			for _, u := range j.CPU {
				all = append(all, shares(u))
			}
			x.Use = all[first:len(all):len(all)]
		}
		if n := j.Needs; n != nil {
			if needs[n] == nil {
				needs[n] = &NodeNeeds{n.Each, n.Spread, n.Exclusive, b.Alternatives(k)}
			}
			x.Needs = needs[n]
		}
		t.Jobs[k] = x
	}
	return t
}

// nodesOf returns the nodes of a machine.
func nodesOf(b *model.Batch) *BatchNodes {
	n := &BatchNodes{Resources: b.Resources, First: []int32{0}}
	for g := range b.Nodes {
		n.Capacity = append(n.Capacity, b.Nodes[g].Capacity)
		n.Group = append(n.Group, slices.Repeat([]int32{int32(g)}, b.Nodes[g].Count)...)
		n.First = append(n.First, int32(len(n.Group)))
	}
	return n
}

// Mean returns the mean response time in seconds, weighted and rounded as the objective is, for a weighted sum of
// responses in units of unit ticks; 0 without jobs. The sum is less than 2^62 from 0, and unit is less than 2^60.
func (t *Batch) Mean(sum, unit int64) float64 {
	if len(t.Jobs) == 0 {
		return 0
	}
	weights := 0.0
	for k := range t.Jobs {
		weights += float64(t.Jobs[k].Weight)
	}
	var all units.TimeSum
	all.Add(sum, unit)
	return all.Seconds() / weights
}

// Seconds returns a time in ticks as seconds.
func (*Batch) Seconds(ticks int64) float64 { return units.Seconds(ticks) }

// SlowedUnit is the weight of Slowed of a job of the floor or shorter.
const SlowedUnit = 1 << 40

// Slowed returns the jobs that are at least so long, with weights of SlowedUnit · floor / max(floor, Length),
// rounded down, and how many are left out. So weight times response is SlowedUnit · floor times the
// slowdown at most. It returns nil if a weight is 0.
func (t *Batch) Slowed(floor, shortest int64) (slowed *Batch, out int) {
	x := *t
	x.Jobs = nil
	for _, j := range t.Jobs {
		if j.Length < shortest {
			out++
			continue
		}
		high, low := bits.Mul64(SlowedUnit, uint64(floor))
		weight, _ := bits.Div64(high, low, uint64(max(floor, j.Length)))
		if j.Weight = int64(weight); j.Weight == 0 {
			return nil, 0
		}
		x.Jobs = append(x.Jobs, j)
	}
	return &x, out
}
