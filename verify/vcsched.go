// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/model"
)

// Constraints of VCSched (sections 2.3, 5.1 and 6.1 of its paper).
const (
	missingJob     = "missing_job"
	unknownJob     = "unknown_job"
	repeatedJob    = "repeated_job"
	taskCount      = "task_count"       // the numbers of tasks, hosts and shares differ
	unknownHost    = "unknown_host"     // a host number that isn't from 0 to H-1
	invalidShare   = "invalid_share"    // NaN or infinite
	negativeShare  = "negative_share"   // below 0
	shareAboveNeed = "share_above_need" // a task gets more CPU than it needs
	unequalShares  = "unequal_shares"   // tasks of one job get different shares
	hostCPU        = "host_cpu"         // the shares on a host sum to more than its CPU
	hostMemory     = "host_memory"      // the memory needs on a host sum to more than its memory
	hostResource   = "host_resource"    // likewise of a further resource
	migrationLimit = "migration_budget" // the memory that moves exceeds the budget
)

// hostSums are the sums on a host.
type hostSums struct {
	cpu, memory sum
	further     []sum
}

// usedHosts holds the sums on the hosts that are used.
type usedHosts struct {
	resources int
	hosts     []int
	few       []*hostSums // [host]; nil: they are in many
	many      map[int]*hostSums
}

// of returns the sums on a host, from now on a used one.
func (u *usedHosts) of(h int) *hostSums {
	if u.few != nil && u.few[h] != nil {
		return u.few[h]
	}
	if s := u.many[h]; s != nil {
		return s
	}
	s := &hostSums{further: make([]sum, u.resources)}
	if u.hosts = append(u.hosts, h); u.few != nil {
		u.few[h] = s
	} else {
		u.many[h] = s
	}
	return s
}

// vcsched judges a placement. Amounts are shares of a reference host or its CPU.
func vcsched(ctx context.Context, in *model.VCSched, p *model.Placement, r *Report) {
	find := finder(ctx, len(in.Jobs), func(i int) string { return in.Jobs[i].ID })
	placed := make([]*model.JobPlacement, len(in.Jobs))
	for k := range p.Jobs {
		if stopped(ctx, k) {
			return
		}
		q := &p.Jobs[k]
		switch i, ok := find(q.ID); {
		case !ok:
			r.add(unknownJob, 0, "job %q isn't in the instance", q.ID)
		case placed[i] != nil:
			r.add(repeatedJob, 0, "job %q is placed twice", q.ID)
		default:
			placed[i] = q
		}
	}
	tol := exact(r.Tolerance)
	// excess returns x - allowed if that exceeds tolerance·capacity, else 0.
	excess := func(x, allowed, capacity *big.Rat) float64 {
		d := new(big.Rat).Sub(x, allowed)
		if d.Cmp(new(big.Rat).Mul(tol, capacity)) <= 0 {
			return 0
		}
		f, _ := d.Float64()
		return max(f, math.SmallestNonzeroFloat64)
	}
	// within reports whether x, a bound on the use, is surely not in excess: the float64s' roundings are far below a
	// thousandth of the tolerance.
	within := func(x, allowed, capacity float64) bool {
		return x <= allowed || x-allowed <= 0.999*r.Tolerance*capacity
	}
	used := usedHosts{resources: len(in.Resources), many: map[int]*hostSums{}}
	if in.Hosts <= 8*len(in.Jobs) { // of very many hosts most are empty
		used.few = make([]*hostSums, in.Hosts)
	}
	var moved sum
	complete := true
	lowest := math.Inf(1)
	var yields sum
	var more big.Rat // yields beyond the largest float64
	for i := range in.Jobs {
		j, q := &in.Jobs[i], placed[i]
		if q == nil {
			r.add(missingJob, 0, "job %q is not placed", j.ID)
			complete = false
			continue
		}
		if len(q.Hosts) != j.Tasks || len(q.CPU) != j.Tasks {
			r.add(taskCount, 0, "job %q has %d tasks, the solution gives it %d hosts and %d shares", j.ID, j.Tasks, len(q.Hosts), len(q.CPU))
			complete = false
		}
		if ctx.Err() != nil {
			return
		}
		least, most := math.Inf(1), math.Inf(-1)
		var total sum
		for k, h := range q.Hosts {
			if stopped(ctx, k+1) {
				return
			}
			if h < 0 || h >= in.Hosts {
				r.add(unknownHost, 0, "job %q task %d is on host %d of %d", j.ID, k, h, in.Hosts)
				continue
			}
			u := used.of(h)
			u.memory.add(j.Memory)
			for k, x := range j.Resources {
				u.further[k].add(x)
			}
			if len(j.CurrentHosts) > k && j.CurrentHosts[k] != h {
				moved.add(j.Memory)
			}
		}
		for k, x := range q.CPU {
			if stopped(ctx, k+1) {
				return
			}
			if math.IsNaN(x) || math.IsInf(x, 0) {
				r.add(invalidShare, 0, "job %q task %d has the CPU share %v", j.ID, k, x)
				complete = false
				continue
			}
			x += 0 // not -0
			if x < 0 {
				r.add(negativeShare, -x, "job %q task %d has the CPU share %v", j.ID, k, x)
			}
			if !within(x, j.CPU, j.CPU) {
				if over := excess(exact(x), exact(j.CPU), exact(j.CPU)); over > 0 {
					r.add(shareAboveNeed, over, "job %q task %d gets %.9g of a CPU and needs %.9g", j.ID, k, x, j.CPU)
				}
			}
			least, most = min(least, x), max(most, x)
			total.add(x)
			if k < len(q.Hosts) && q.Hosts[k] >= 0 && q.Hosts[k] < in.Hosts {
				used.of(q.Hosts[k]).cpu.add(x)
			}
		}
		if least > most {
			complete = false
			continue
		}
		if !within(most, least, j.CPU) {
			if apart := excess(exact(most), exact(least), exact(j.CPU)); apart > 0 {
				r.add(unequalShares, apart, "the tasks of job %q get different shares of CPU", j.ID)
			}
		}
		if j.CPU == 0 { // it always has enough
			lowest = min(lowest, 1)
			yields.add(1)
			continue
		}
		// The quotient of two float64s is the exact one, rounded: so is the least.
		lowest = min(lowest, least/j.CPU)
		// A job's yield is rounded to 53 bits, so that the sum stays short.
		yield := least / j.CPU
		if least < most || len(q.CPU) != j.Tasks || math.IsInf(yield, 0) {
			all := new(big.Rat).Mul(exact(j.CPU), new(big.Rat).SetInt64(int64(j.Tasks)))
			all.Quo(total.rat(), all)
			if yield, _ = all.Float64(); math.IsInf(yield, 0) { // shares may be as large as numbers get
				more.Add(&more, all)
				continue
			}
		}
		yields.add(yield)
	}
	// has returns host h's amount, by the first run of equal hosts that reaches it.
	has := func(h int, of func(*model.HostSize) float64) float64 {
		for k := range in.HostSizes {
			if h -= in.HostSizes[k].Count; h < 0 {
				return of(&in.HostSizes[k])
			}
		}
		return 1
	}
	slices.Sort(used.hosts)
	judge := func(name, words string, use func(*hostSums) *sum, of func(*model.HostSize) float64) {
		for _, h := range used.hosts {
			if ctx.Err() != nil {
				return
			}
			all, use := has(h, of), use(used.of(h))
			if within(use.most(), all, all) {
				continue
			}
			if over := excess(use.rat(), exact(all), exact(all)); over > 0 {
				r.add(name, over, "%s on host %d sum to more than the host has", words, h)
			}
		}
	}
	judge(hostCPU, "the CPU shares", func(s *hostSums) *sum { return &s.cpu }, func(s *model.HostSize) float64 { return s.CPU })
	judge(hostMemory, "the memory needs", func(s *hostSums) *sum { return &s.memory }, func(s *model.HostSize) float64 { return s.Memory })
	for k, name := range in.Resources {
		judge(hostResource, "the needs of "+strconv.Quote(name), func(s *hostSums) *sum { return &s.further[k] }, func(s *model.HostSize) float64 { return s.Resources[k] })
	}
	if in.MigrationBudget != nil {
		smallest := big.NewRat(1, 1)
		for k := range in.HostSizes {
			if memory := exact(in.HostSizes[k].Memory); k == 0 || memory.Cmp(smallest) < 0 {
				smallest = memory
			}
		}
		if over := excess(moved.rat(), exact(*in.MigrationBudget), smallest); over > 0 {
			r.add(migrationLimit, over, "more memory moves than the budget of %.9g hosts", *in.MigrationBudget)
		}
	}
	if complete && len(in.Jobs) > 0 {
		r.Objective = lowest
		all := more.Add(&more, yields.rat())
		r.Second, _ = all.Quo(all, new(big.Rat).SetInt64(int64(len(in.Jobs)))).Float64()
	}
}
