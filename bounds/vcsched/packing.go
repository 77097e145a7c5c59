// SPDX-License-Identifier: MIT

// Package vcsched bounds the minimum yield of VCSched from above, without search,
// and holds its linear formulations.
//
// If the hosts of the tasks are fixed, the best minimum yield is Y = min(1, 1/L), L being the largest CPU load of a
// host, as a share of its CPU. Inside this package everything is a load L to minimise, outside a yield Y to maximise,
// and each is the reciprocal of the other: so "lower" and "upper" swap at the door. A lower bound on L comes from tests
// that refute a load: "the tasks don't fit on H hosts of this load and one memory each". What is said of memory holds
// for every rigid resource (Rigid), and where hosts differ in size, for the room of each at that load. Model
// formulations are in this package because their relaxations are bounds.
package vcsched

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// ClosedForm returns the optimum of the linear relaxation of the paper's model in
// closed form, Y ≤ min(1, H / Σ cpu) (section 3.1), for Σ memory ≤ H; otherwise
// there is no solution. Its evidence is the sum, which needs no search. O(n).
func ClosedForm(in *model.VCSched) bounds.Bound {
	b := bounds.Bound{Name: "closed-form"}
	t := NewTasks(view.OfVCSched(in))
	if no := t.infeasibleBySum(); no != nil {
		b.Infeasible, b.Reason, b.Evidence = true, no.why, no.evidence(in)
		return b
	}
	load, by := t.areaOfAll()
	b.Value, b.Evidence = t.units.YieldBound(load), by(in)
	return b
}

// Quick returns one bound, packing: the closed form strengthened by bounds for two-dimensional vector packing that need
// no linear program. They are the largest task, cliques of conflicting tasks, and dual-feasible functions on either
// resource, until ctx ends. O(n log n) for each of some 50 loads; O(n²) with further resources or hosts of several
// sizes. It keeps the load that the bound is from for PackingLoad.
func Quick(ctx context.Context, in *model.VCSched) []bounds.Bound {
	b := bounds.Bound{Name: "packing"}
	t := NewTasks(view.Shared(ctx, in, view.OfVCSched))
	p := t.packing(ctx, in)
	if ctx.Err() == nil {
		view.Keep(ctx, in, view.PackingLoad, p)
	}
	if b.Evidence = p.by(in); p.why != "" {
		b.Infeasible, b.Reason = true, p.why
	} else {
		b.Value = t.units.YieldBound(p.load)
	}
	return []bounds.Bound{b}
}

// packed is the result of PackingLoad, and the means of its proof.
type packed struct {
	load int64
	why  string
	by   evidenceOf
}

// All returns every bound of this package on the instance, weakest first. When ctx ends, each bound by column
// generation is the best proved so far.
func All(ctx context.Context, in *model.VCSched) ([]bounds.Bound, error) {
	all := append([]bounds.Bound{ClosedForm(in)}, Quick(ctx, in)...)
	if all[1].Infeasible {
		return all, nil
	}
	b := ColumnGeneration(ctx, in)
	if all = append(all, b); !b.Infeasible && in.MigrationBudget != nil {
		all = append(all, pricedMoves(ctx, in))
	}
	return all, nil
}

// Tasks groups an instance's tasks into types of equal needs (of rigid resources
// exactly, of CPU in units). Types come in the order of decreasing CPU need, then of
// decreasing needs of memory and the other rigid resources; slices by type are [type].
type Tasks struct {
	units *view.VCSched
	CPU   []int64   // CPU need of a task of the type, in 1/view.VCSched.Scale of a host
	Mem   []int64   // memory need of such a task, in the same unit: Rigid[0]
	Rigid [][]int64 // [resource][type]: needs of the rigid resources, of view.VCSched.Rigid
	Count []int32   // number of tasks of the type
	Tasks [][]int32 // their indices, counted through the instance
	Hosts int64     // number of hosts, of each class at most one for each task: no more are used
	Unit  int64     // divides every load
	// class holds the hosts of Hosts by view.VCSched.Classes, and most the largest
	// capacity of any of them, [resource].
	class []class
	most  []int64
	// orders are the types by decreasing need of CPU and of each rigid resource, for
	// clique; nil before.
	orders [][]int32
	cpus   *duals.Items // the CPU needs; nil before
}

// class is a number of equal hosts.
type class struct {
	*view.HostClass
	count int64
}

// NewTasks groups the tasks. O(n log n).
func NewTasks(u *view.VCSched) *Tasks { return newTasks(u, false) }

// newTasks groups the tasks, if byHost also by the host on which they run now.
func newTasks(u *view.VCSched, byHost bool) *Tasks {
	host := func(i int32) int32 {
		if !byHost || u.Current == nil {
			return -1
		}
		return u.Current[i]
	}
	t := &Tasks{units: u, Unit: u.Unit, Rigid: make([][]int64, len(u.Rigid)), most: make([]int64, len(u.Rigid))}
	for k := range u.Classes {
		c := class{&u.Classes[k], int64(min(len(u.Classes[k].Hosts), len(u.CPU)))}
		t.class = append(t.class, c)
		t.Hosts += c.count
		for r := range t.most {
			t.most[r] = max(t.most[r], c.Cap[r])
		}
	}
	// The first keys lie side by side: most pairs differ in them.
	type keyed struct {
		cpu    int64
		memory view.Memory
		task   int32
	}
	all, order := make([]keyed, len(u.CPU)), make([]int32, len(u.CPU))
	for i := range all {
		all[i] = keyed{u.CPU[i], u.Exact[u.Job[i]], int32(i)}
	}
	compare := func(a, b *keyed) int {
		if a.cpu != b.cpu {
			return cmpDown(a.cpu, b.cpu)
		}
		if c := a.memory.Compare(b.memory); c != 0 {
			return -c
		}
		for _, exact := range u.ExactRigid[1:] {
			if c := exact[u.Job[a.task]].Compare(exact[u.Job[b.task]]); c != 0 {
				return -c
			}
		}
		return int(host(a.task) - host(b.task))
	}
	slices.SortFunc(all, func(a, b keyed) int {
		if a.cpu != b.cpu {
			return cmpDown(a.cpu, b.cpu)
		}
		return cmp.Or(compare(&a, &b), int(a.task-b.task))
	})
	for at := range all {
		order[at] = all[at].task
		k := len(t.CPU) - 1
		if at == 0 || compare(&all[at-1], &all[at]) != 0 {
			t.CPU = append(t.CPU, all[at].cpu)
			for r, needs := range u.Rigid {
				t.Rigid[r] = append(t.Rigid[r], needs[order[at]])
			}
			t.Count, t.Tasks = append(t.Count, 0), append(t.Tasks, nil)
			k++
		}
		t.Count[k]++
		t.Tasks[k] = order[at+1-int(t.Count[k]) : at+1 : at+1]
	}
	t.Mem = t.Rigid[0]
	return t
}

func cmpDown(a, b int64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// fits reports whether a task of type k fits on a host of the class by its rigid needs.
func (t *Tasks) fits(k int, c class) bool {
	for r, needs := range t.Rigid {
		if needs[k] > c.Cap[r] {
			return false
		}
	}
	return true
}

// infeasibleBySum compares the needs of each rigid resource with the capacity of all hosts; nil if these suffice.
func (t *Tasks) infeasibleBySum() *refutation {
	for r, needs := range t.Rigid {
		sum, cap := int64(0), int64(0)
		for k, x := range needs {
			sum += x * int64(t.Count[k])
		}
		for _, c := range t.class {
			cap += c.count * c.Cap[r]
		}
		if sum <= cap {
			continue
		}
		no := &refutation{evidence: t.sum(t.units.Names[r])}
		switch {
		case len(t.Rigid) == 1 && len(t.units.Classes) == 1:
			no.why = fmt.Sprintf("the tasks need %.6g hosts' memory, there are %d hosts", float64(sum)/float64(t.units.Scale), t.units.Hosts)
		default:
			no.why = fmt.Sprintf("the tasks need %.6g of %s, the hosts have %.6g", float64(sum)/float64(t.units.Scale), t.units.Names[r], float64(cap)/float64(t.units.Scale))
		}
		return no
	}
	return nil
}

// AreaLoad returns the least load L, a multiple of Unit, at which the hosts' rooms sum to the CPU needs of all tasks
// and every task has a host with room for it. L is at least the average load and the load of any single task. On equal
// hosts that is max(⌈Σ cpu / H⌉, max cpu). O(n).
func (t *Tasks) AreaLoad() int64 {
	load, _ := t.area()
	return load
}

// area returns AreaLoad and its evidence.
func (t *Tasks) area() (load int64, by evidenceOf) {
	load, by = t.areaOfAll()
	for k, cpu := range t.CPU {
		least := int64(math.MaxInt64)
		for _, c := range t.class {
			if t.fits(k, c) {
				least = min(least, c.Load(cpu))
			}
		}
		if least < math.MaxInt64 && least > load {
			load, by = least, t.misfit(k)
		}
	}
	return load, by
}

// areaOfAll returns AreaLoad by the sum of the needs and the largest host alone.
func (t *Tasks) areaOfAll() (load int64, by evidenceOf) {
	sum := int64(0)
	for k := range t.CPU {
		sum += t.CPU[k] * int64(t.Count[k])
	}
	if len(t.class) == 1 {
		c := t.class[0]
		load = c.Load((sum + c.count - 1) / c.count)
		load = (load + t.Unit - 1) / t.Unit * t.Unit
		if alone := c.Load(t.CPU[0]); alone > load {
			return alone, t.crowd("cpu", 1)
		}
		return load, t.sum("cpu")
	}
	lo, hi := int64(0), t.TotalLoad() // too little; enough
	for lo+1 < hi {
		mid, room := lo+(hi-lo)/2, int64(0)
		for _, c := range t.class {
			room += c.count * min(c.Room(mid), sum)
		}
		if room < sum {
			lo = mid
		} else {
			hi = mid
		}
	}
	least := int64(math.MaxInt64)
	for _, c := range t.class {
		least = min(least, c.Load(t.CPU[0]))
	}
	if least > hi {
		return least, t.crowd("cpu", 1)
	}
	return hi, t.sum("cpu")
}

// PackingLoad returns a lower bound on L, or the reason why no placement fits in
// memory. Besides AreaLoad:
//
//   - of the kH + 1 tasks with the largest CPU needs, k + 1 share a host, so
//     L ≥ (k + 1) times the smallest need among them, if hosts are equal;
//   - L ≥ mid if refute proves that no placement has L ≤ mid - 1 (loads are
//     integers). Refutations needn't be monotone in the load: each value that lo
//     takes has its own.
//
// When ctx ends, it returns the best load proved so far. While the instance is being solved, it is known once Quick has
// found it.
func (t *Tasks) PackingLoad(ctx context.Context, in *model.VCSched) (load int64, infeasible string) {
	p := t.packing(ctx, in)
	return p.load, p.why
}

// packing returns PackingLoad and its evidence.
func (t *Tasks) packing(ctx context.Context, in *model.VCSched) packed {
	if x, ok := view.Kept[packed](ctx, in, view.PackingLoad); ok {
		return x
	}
	no := t.infeasibleBySum()
	// Before the tests of dual-feasible functions, which take needs up to the largest host.
	if no == nil {
		no = t.infeasibleByNeeds(ctx)
	}
	if no == nil {
		no = t.refute(ctx, math.MaxInt64/4)
	}
	if no == nil {
		no = t.infeasibleByFillings(ctx)
	}
	if no != nil {
		return packed{why: no.why, by: no.evidence}
	}
	load, by := t.area()
	var at int64
	for k := range t.CPU {
		at += int64(t.Count[k])
		if per := (at + t.Hosts - 1) / t.Hosts; per >= 2 && len(t.class) == 1 {
			if x := t.class[0].Load(per * t.CPU[k]); x > load {
				load, by = x, t.crowd("cpu", (per-1)*t.Hosts+1)
			}
		}
	}
	lo, hi := load, 2*load // refuted below lo; hi not known
	for no := t.refute(ctx, hi-1); no != nil; no = t.refute(ctx, hi-1) {
		lo, hi, by = hi, 2*hi, no.evidence
	}
	for range 40 {
		mid := lo + (hi-lo)/2
		if mid <= lo || float64(hi-lo) < 1e-6*float64(lo) {
			break
		}
		if no := t.refute(ctx, mid-1); no != nil {
			lo, by = mid, no.evidence
		} else {
			hi = mid
		}
	}
	return packed{load: (lo + t.Unit - 1) / t.Unit * t.Unit, by: by}
}

// infeasibleByFillings asks dual-feasible functions of the needs of each rigid resource; nil if none finds a reason.
func (t *Tasks) infeasibleByFillings(ctx context.Context) *refutation {
	for r, needs := range t.Rigid {
		if ctx.Err() != nil {
			return nil
		}
		if n, f := duals.NewItems(needs, t.Count).Bound(ctx, t.most[r]); n > t.Hosts {
			what := "the memory needs"
			if r > 0 {
				what = "the needs of " + t.units.Names[r]
			}
			return &refutation{fmt.Sprintf("%s alone fill at least %d hosts, there are %d hosts", what, n, t.units.Hosts), t.filling(f, t.most[r], t.units.Names[r])}
		}
	}
	return nil
}

// infeasibleByNeeds returns why no placement fits, whatever the load; nil if it finds no reason. Its arguments, beyond
// refute's, concern several rigid resources, or hosts that differ.
//
//   - A task that fits on no host.
//   - For each v, a host of capacity c has at most ⌊c/v⌋ of the tasks that need ≥ v.
//   - Dual-feasible functions of the sum of two resources, or of all: the tasks on a host need at most Σ_r cap_r of Σ_r
//     need_r. If hosts differ, each is taken to have as much of every resource as any host has, as in refute.
func (t *Tasks) infeasibleByNeeds(ctx context.Context) (no *refutation) {
	for k := range t.CPU {
		if !slices.ContainsFunc(t.class, func(c class) bool { return t.fits(k, c) }) {
			return &refutation{fmt.Sprintf("a task of job %d of the instance fits on no host", t.units.Job[t.Tasks[k][0]]+1), t.misfit(k)}
		}
	}
	if len(t.class) > 1 {
		for r, needs := range t.Rigid {
			if n, v := t.tooMany(needs, func(c class) int64 { return c.Cap[r] }); n > 0 {
				why := fmt.Sprintf("%d tasks need at least %.6g of %s, and the hosts take fewer such tasks", n, float64(v)/float64(t.units.Scale), t.units.Names[r])
				return &refutation{why, t.crowd(t.units.Names[r], n)}
			}
		}
	}
	t.sums(func(size []int64, most int64, resources ...int) bool {
		if n, f := duals.NewItems(size, t.Count).Bound(ctx, most); n > t.Hosts {
			var names []string
			for _, r := range resources {
				names = append(names, t.units.Names[r])
			}
			no = &refutation{fmt.Sprintf("the needs of several resources together fill at least %d hosts, there are %d hosts", n, t.units.Hosts), t.filling(f, most, names...)}
		}
		return no == nil
	})
	return no
}

// tooMany returns a number of tasks that exceeds the hosts' room for them, and the least need of each; 0 if there is
// none. Each host can take some capacity.
func (t *Tasks) tooMany(needs []int64, capacity func(c class) int64) (tasks, need int64) {
	for _, k := range decreasing(needs) {
		if needs[k] <= 1 { // which may represent 0
			break
		}
		tasks += int64(t.Count[k])
		room := int64(0)
		for _, c := range t.class {
			room += c.count * min(capacity(c)/needs[k], int64(len(t.units.CPU)))
		}
		if tasks > room {
			return tasks, needs[k]
		}
	}
	return 0, 0
}

// refute returns why no placement has L ≤ load; nil if these tests don't know, or if ctx ends. Tasks that conflict pair
// by pair on one host (a clique of conflicts) need a host each. A dual-feasible function f has Σ f(x) ≤ f(bin) over the
// tasks on a host, in a rigid resource (which PackingLoad asks once) or in CPU. So all tasks need ≥ Σ f(x) / f(bin)
// hosts. If hosts differ, the largest is taken for each, which is a relaxation, and the tasks above a need are counted
// (tooMany).
func (t *Tasks) refute(ctx context.Context, load int64) *refutation {
	if meter.Stop(ctx, int64(len(t.CPU))) {
		return nil
	}
	if n, set := t.clique(ctx, load); n > t.Hosts {
		return &refutation{fmt.Sprintf("%d tasks of which no two fit on one host, there are %d hosts", n, t.units.Hosts), t.cliqueEvidence(set, load)}
	}
	room := int64(0)
	for _, c := range t.class {
		room = max(room, c.Room(load))
	}
	if t.cpus == nil {
		t.cpus = duals.NewItems(t.cpuDown(), t.Count)
	}
	if n, f := t.cpus.Bound(ctx, room); n > t.Hosts {
		return &refutation{fmt.Sprintf("at this load the CPU needs alone fill at least %d hosts, there are %d hosts", n, t.units.Hosts), t.filling(f, load, "cpu")}
	}
	if len(t.class) > 1 {
		if n, _ := t.tooMany(t.CPU, func(c class) int64 { return c.Room(load) }); n > 0 {
			return &refutation{fmt.Sprintf("at this load the hosts take fewer than %d tasks of their CPU needs", n), t.crowd("cpu", n)}
		}
	}
	return nil
}

// clique returns the size of a set of tasks that conflict pair by pair on one host, and their types, by a greedy
// extension in the order of each need, until ctx ends. A type of tasks that conflict with each other counts with all of
// them, another with one. O(n log n) for memory alone and equal hosts, else O(resources n² classes).
func (t *Tasks) clique(ctx context.Context, load int64) (best int64, types []int32) {
	if t.orders == nil {
		for _, key := range append([][]int64{t.CPU}, t.Rigid...) {
			t.orders = append(t.orders, decreasing(key))
		}
	}
	if len(t.class) == 1 && len(t.Rigid) == 1 {
		room, has := t.class[0].Room(load), t.class[0].Cap[0]
		best, types = t.pairClique(ctx, t.orders[0], t.CPU, t.Mem, room, has)
		if n, set := t.pairClique(ctx, t.orders[1], t.Mem, t.CPU, has, room); n > best {
			return n, set
		}
		return best, types
	}
	conflict, work := t.conflicts(load), 0
	for _, order := range t.orders {
		var set []int32
		size := int64(0)
	next:
		for _, k := range order {
			if work += 1 + len(set); work > 1<<20 { // a millisecond or some
				if work = 0; meter.Stop(ctx, 1000) {
					return best, types
				}
			}
			for _, o := range set {
				if !conflict(k, o) {
					continue next
				}
			}
			set = append(set, k)
			if conflict(k, k) {
				size += int64(t.Count[k])
			} else {
				size++
			}
		}
		if size > best {
			best, types = size, set
		}
	}
	return best, types
}

// conflicts returns whether no host has room for two tasks of some types at a load.
func (t *Tasks) conflicts(load int64) func(a, b int32) bool {
	rooms := make([]int64, len(t.class))
	for k, c := range t.class {
		rooms[k] = c.Room(load)
	}
	return func(a, b int32) bool {
	hosts:
		for k, c := range t.class {
			if t.CPU[a]+t.CPU[b] > rooms[k] {
				continue
			}
			for r, needs := range t.Rigid {
				if needs[a]+needs[b] > c.Cap[r] {
					continue hosts
				}
			}
			return false
		}
		return true
	}
}

// pairClique is clique in one order, by decreasing x, for two resources x and y.
func (t *Tasks) pairClique(ctx context.Context, order []int32, x, y []int64, roomX, roomY int64) (size int64, set []int32) {
	extendClique(ctx, order, x, y, roomX, roomY, func(k int32) bool {
		set = append(set, k)
		if 2*x[k] > roomX || 2*y[k] > roomY {
			size += int64(t.Count[k])
		} else {
			size++
		}
		return true
	})
	return size, set
}
