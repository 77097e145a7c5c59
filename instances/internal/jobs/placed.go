// SPDX-License-Identifier: MIT

package jobs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// The resources of nodes, in the order of an instance.
const (
	cpus   = "cpu"
	memory = "memory_mb"
	gpus   = "gpu"
)

// Place makes groups of like nodes of those that are up, and the needs of each job on them. Jobs that fit no nodes of
// their partitions and features are left out. Nobody's records tell what a job has on each of its nodes: it has the same on all.
func (o *Options) Place(all []Job, a *model.Account) ([]Job, *swf.Placed, error) {
	p := &swf.Placed{Resources: []string{cpus}}
	up, _ := o.up()
	if len(up) == 0 {
		return nil, nil, fmt.Errorf("%w: no nodes tell their resources; give --platform FILE with them, or leave --unit out", model.ErrInvalid)
	}
	if slices.ContainsFunc(up, func(n Node) bool { return n.MemoryMB < 1 }) {
		a.NotModelled.Say("memory, which not all nodes tell")
	} else {
		p.Resources = append(p.Resources, memory)
	}
	if slices.ContainsFunc(up, func(n Node) bool { return n.GPUs > 0 }) || slices.ContainsFunc(all, func(j Job) bool { return j.GPUs > 0 }) {
		p.Resources = append(p.Resources, gpus)
	}
	var index map[string]int32
	p.Nodes, index = groups(up, all, p.Resources)
	told := slices.ContainsFunc(all, func(j Job) bool { return j.Hosts != nil })
	known, fits, machine := map[string]*model.NodeNeeds{}, map[string]bool{}, model.Batch{Tiers: 1, Resources: p.Resources, Nodes: p.Nodes}
	for k := range p.Nodes {
		machine.Processors += p.Nodes[k].Count
	}
	uneven, several := 0, 0
	var kept []Job
	for _, j := range all {
		n, needs, even := needsOf(&j, p.Nodes, p.Resources)
		if o.Partition != "" {
			needs.Partitions = []string{o.Partition}
		}
		key := fmt.Sprintf("%v %v %q %q", needs.Each, needs.Spread, needs.Partitions, needs.Features)
		if known[key] == nil {
			known[key] = needs
		}
		whole := fmt.Sprint(key, " ", n)
		fit, ok := fits[whole]
		if !ok {
			machine.Jobs = []model.BatchJob{{ID: "job", RuntimeS: 1, Processes: int(n), Needs: needs}}
			fit = machine.Validate() == nil
			fits[whole] = fit
		}
		if !fit {
			a.LeftOut.Add(j.ID, "jobs that fit no nodes of their partitions and features")
			continue
		}
		if j.Nodes = n; n > 1 {
			several++
		}
		if !even {
			uneven++
		}
		kept, p.Needs = append(kept, j), append(p.Needs, known[key])
		if told {
			p.Hosts = append(p.Hosts, numbers(j.Hosts, index))
		}
	}
	if used, have := peak(kept), view.CapacityOf(p.Nodes, 0); used > have && !o.Pending {
		a.Remarks.Say("the jobs used up to %s CPUs at once, the nodes have %s: the log isn't of these nodes alone", words.Thousands(int64(used)), words.Thousands(int64(have)))
	}
	a.Assumed.Count(several, "jobs on several nodes, each with the same on each of them")
	a.Assumed.Count(uneven, "jobs whose CPUs, memory or GPUs don't divide by their nodes: each has the larger part")
	if len(kept) == 0 {
		return nil, nil, fmt.Errorf("%w: none of the %d jobs fits the nodes", model.ErrInvalid, len(all))
	}
	return kept, p, nil
}

// peak returns the most CPUs that jobs held at once.
func peak(all []Job) int64 {
	l := &swf.Log{}
	for k := range all {
		j := &all[k]
		l.Jobs = append(l.Jobs, swf.Job{Submit: float64(j.Start), Runtime: float64(j.Elapsed), Procs: j.CPUs})
	}
	return l.Peak()
}

// numbers returns the numbers of nodes by their names, -1 for others.
func numbers(names []string, index map[string]int32) (all []int32) {
	for _, name := range names {
		if k, ok := index[name]; ok {
			all = append(all, k)
		} else {
			all = append(all, -1)
		}
	}
	return all
}

// groups makes groups of nodes that have the same resources and partitions, and those of the features that some job asks
// for, in the order in which they come, and numbers the nodes in the order of the groups. A node of any partition belongs
// to all that are named.
func groups(up []Node, all []Job, resources []string) (made []model.NodeGroup, index map[string]int32) {
	var named []string
	var members [][]string
	for k := range up {
		named = append(named, up[k].Partitions...)
	}
	asked := map[string]bool{}
	for k := range all {
		named = append(named, partitionsOf(&all[k])...)
		for _, f := range all[k].Features {
			asked[f] = true
		}
	}
	slices.Sort(named)
	named = slices.DeleteFunc(slices.Compact(named), func(p string) bool { return p == AnyPartition || p == "" })
	for k := range up {
		n := &up[k]
		g := model.NodeGroup{ID: n.Name, Count: 1, Capacity: amounts(resources, n.CPUs, n.MemoryMB, n.GPUs)}
		for _, p := range named {
			if n.In(p) {
				g.Partitions = append(g.Partitions, p)
			}
		}
		for _, f := range distinct(n.Features) {
			if asked[f] {
				g.Features = append(g.Features, f)
			}
		}
		at := slices.IndexFunc(made, func(o model.NodeGroup) bool {
			return slices.Equal(o.Capacity, g.Capacity) && slices.Equal(o.Partitions, g.Partitions) && slices.Equal(o.Features, g.Features)
		})
		if at < 0 {
			at, made, members = len(made), append(made, g), append(members, nil)
		} else {
			made[at].Count++
		}
		members[at] = append(members[at], n.Name)
	}
	index = map[string]int32{}
	for _, name := range slices.Concat(members...) {
		index[name] = int32(len(index))
	}
	for k := range made {
		if more := made[k].Count - 1; more > 0 {
			made[k].ID = fmt.Sprintf("%s and %d more", made[k].ID, more)
		}
	}
	return made, index
}

// partitionsOf returns the partitions of which a job may use one; nil: any.
func partitionsOf(j *Job) []string {
	if j.Partition == "" {
		return nil
	}
	return distinct(strings.Split(j.Partition, ","))
}

// distinct returns the names of a list in alphabetical order, each once.
func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// amounts returns amounts of the resources of a machine, 0 for those that aren't known.
func amounts(resources []string, of ...int64) []int64 {
	all := []int64{max(0, of[0])}
	for _, r := range resources[1:] {
		all = append(all, max(0, of[1+slices.Index([]string{memory, gpus}, r)]))
	}
	return all
}

// needsOf returns on how many nodes a job runs, and what it has on each of them. A job of which no nodes are told has as
// few as its CPUs allow. even is false if its amounts don't divide by them.
func needsOf(j *Job, groups []model.NodeGroup, resources []string) (nodes int64, needs *model.NodeNeeds, even bool) {
	largest := int64(1)
	for k := range groups {
		largest = max(largest, groups[k].Capacity[0])
	}
	if nodes = j.Nodes; nodes < 1 {
		nodes = max(1, (j.CPUs+largest-1)/largest)
	}
	needs, even = &model.NodeNeeds{Each: amounts(resources, j.CPUs, j.MemoryMB, j.GPUs), Spread: nodes > 1, Partitions: partitionsOf(j), Features: distinct(j.Features)}, true
	for r, x := range needs.Each {
		even = even && x%nodes == 0
		needs.Each[r] = (x + nodes - 1) / nodes
	}
	if needs.Each[0] < 1 {
		needs.Each[0] = 1 // of a CPU at least
	}
	return nodes, needs, even
}
