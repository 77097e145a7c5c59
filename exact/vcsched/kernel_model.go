// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
)

// kernelModel is the constraint model of an instance in units (view.VCSched), a relaxation by their rounding. Variables
// and constraints, by which a proof names them, tasks counted through the instance and hosts from 0:
//
//   - "on T H": 1 if task T is on host H; "one T": exactly one over H holds.
//   - "memory H": Σ_T Memory[T] on(T,H) ≤ what H has, and "rigid R H" likewise for the
//     further resources R of view.VCSched.Rigid.
//   - "load", the objective, and "need H": Σ_T ⌊CPU[T] / CPU of H⌋ on(T,H) ≤ load. If hosts differ, a load in the model
//     is hence below the one in units by less than a unit for each task; on reference hosts they are equal.
//   - "budget", with a migration budget: Σ Memory[T] (1 - on(T, Current[T])) ≤ Budget,
//     over the tasks that run now.
//
// The model has at most as many idle hosts of each class as tasks. Without a proof, symmetries are broken (order).
type kernelModel struct {
	cp.Model
	u     *view.VCSched
	hosts []int32    // the hosts in the model
	on    [][]cp.Var // [task][index in hosts]
}

// maxKernel bounds tasks × hosts of a model, and maxOrder the literals of the nogoods
// that break symmetries: their sets are built in some 100 ms.
const (
	maxKernel = 1 << 16
	maxOrder  = 1 << 21
)

// tooLarge reports whether, and why, an instance has no model.
func tooLarge(u *view.VCSched) string {
	hosts, _ := modelHosts(u)
	if n := len(u.CPU); len(hosts) > maxKernel/n {
		return fmt.Sprintf("%d tasks on %d hosts are more than the kernel takes", n, u.Hosts)
	}
	return ""
}

// modelHosts returns the hosts on which tasks run now, and of the others of each class at most as many as there are
// tasks: a placement needs no more. The latter are the last, by class.
func modelHosts(u *view.VCSched) (hosts []int32, running int) {
	busy := map[int32]bool{}
	for _, h := range u.Current {
		if h >= 0 && !busy[h] {
			busy[h] = true
			hosts = append(hosts, h)
		}
	}
	slices.Sort(hosts)
	running = len(hosts)
	for k := range u.Classes {
		before := len(hosts)
		for _, h := range u.Classes[k].Hosts {
			if len(hosts)-before < len(u.CPU) && !busy[h] {
				hosts = append(hosts, h)
			}
		}
	}
	return hosts, running
}

// newKernelModel returns the model of the placements with a load from lower to upper.
func newKernelModel(u *view.VCSched, lower, upper int64, off deviceSet) *kernelModel {
	hosts, running := modelHosts(u)
	k := &kernelModel{u: u, hosts: hosts, on: make([][]cp.Var, len(u.CPU))}
	k.Objective = k.Int(lower, upper)
	k.Call(k.Objective, "load")
	rigid, need := make([][]*cp.Linear, len(u.Rigid)), make([]*cp.Linear, len(hosts))
	for r := range rigid {
		for _, h := range hosts {
			rigid[r] = append(rigid[r], &cp.Linear{AtMost: u.Classes[u.ClassOf(h)].Cap[r]})
		}
	}
	for h := range hosts {
		need[h] = &cp.Linear{Terms: []cp.Term{{Times: -1, Var: k.Objective}}}
	}
	budget := &cp.Linear{AtMost: u.Budget}
	for i := range u.CPU {
		one, none := &cp.Linear{AtMost: 1}, make(cp.Nogood, len(hosts))
		for h := range hosts {
			x := k.Bool()
			k.Call(x, fmt.Sprintf("on %d %d", i, hosts[h]))
			k.on[i] = append(k.on[i], x)
			one.Terms, none[h] = append(one.Terms, cp.Term{Times: 1, Var: x}), x.AtMost(0)
			for r, needs := range u.Rigid {
				if needs[i] > 0 {
					rigid[r][h].Terms = append(rigid[r][h].Terms, cp.Term{Times: needs[i], Var: x})
				}
			}
			if load := u.Classes[u.ClassOf(hosts[h])].LoadDown(u.CPU[i]); load > 0 {
				need[h].Terms = append(need[h].Terms, cp.Term{Times: load, Var: x})
			}
			if u.Current != nil && u.Current[i] == hosts[h] {
				budget.Terms = append(budget.Terms, cp.Term{Times: -u.Memory[i], Var: x})
				budget.AtMost -= u.Memory[i]
			}
		}
		k.Decisions = append(k.Decisions, k.on[i]...)
		k.AddAs(fmt.Sprintf("one %d", i), one)
		k.AddAs(fmt.Sprintf("one %d", i), none)
	}
	for h := range hosts {
		k.AddAs(fmt.Sprintf("memory %d", hosts[h]), rigid[0][h])
		for r := 1; r < len(rigid); r++ {
			k.AddAs(fmt.Sprintf("rigid %d %d", r, hosts[h]), rigid[r][h])
		}
		k.AddAs(fmt.Sprintf("need %d", hosts[h]), need[h])
	}
	if u.Current != nil {
		k.AddAs("budget", budget)
	}
	k.order(running, off)
	return k
}

// order breaks symmetries. Take the tasks in the order of decreasing size. Some placements are equal up to an exchange
// of equal tasks (same needs and the same current host or none) and of the hosts on which nothing runs now. Keep the
// one of these with the lexicographically least list of hosts, by task. In it
//
//   - equal tasks are on hosts of no smaller number than those before: else exchanging
//     two makes the list smaller, at the first of them;
//   - the k-th of the idle hosts of a class gets no task before the (k-1)-th has one:
//     else exchanging both hosts makes the list smaller, at the first task on either.
//
// Neither exchange changes loads, use or moves, since hosts of a class are equal. So at least one placement of each
// such class is left, by any part of these rules: there are no more than maxOrder.
func (k *kernelModel) order(running int, off deviceSet) {
	u := k.u
	order := make([]int32, len(u.CPU))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(u.CPU[b]+u.Memory[b], u.CPU[a]+u.Memory[a]), cmp.Compare(u.CPU[b], u.CPU[a]))
	})
	current := func(i int32) int32 {
		if u.Current == nil {
			return -1
		}
		return u.Current[i]
	}
	equal := func(i, j int32) bool {
		for _, needs := range u.ExactRigid {
			if needs[u.Job[i]] != needs[u.Job[j]] {
				return false
			}
		}
		return true
	}
	literals := 0
	for at, i := range order {
		if literals += len(k.hosts)*len(k.hosts) + (len(k.hosts)-running)*at; literals > maxOrder {
			return
		}
		if off&devTwins == 0 {
			for b := at - 1; b >= 0 && u.CPU[order[b]] == u.CPU[i] && u.Memory[order[b]] == u.Memory[i]; b-- {
				j := order[b]
				if !equal(i, j) || current(j) != current(i) {
					continue
				}
				for h := range k.hosts {
					for g := range h {
						k.Add(cp.Nogood{k.on[j][h].Is(), k.on[i][g].Is()})
					}
				}
				break
			}
		}
		if off&devHosts != 0 {
			continue
		}
		for h := running + 1; h < len(k.hosts); h++ {
			if u.ClassOf(k.hosts[h]) != u.ClassOf(k.hosts[h-1]) {
				continue
			}
			c := cp.Nogood{k.on[i][h].Is()}
			for _, j := range order[:at] {
				c = append(c, k.on[j][h-1].AtMost(0))
			}
			k.Add(c)
		}
	}
}

// values returns values of the variables that represent a placement; hosts is [task].
func (k *kernelModel) values(hosts []int32) []int64 {
	values := make([]int64, len(k.Low))
	for i, row := range k.on {
		for h, x := range row {
			if k.hosts[h] == hosts[i] {
				values[x] = 1
			}
		}
	}
	return values
}

// placement returns the host of each task.
func (k *kernelModel) placement(values []int64) []int32 {
	hosts := make([]int32, len(k.on))
	for i, row := range k.on {
		for h, x := range row {
			if values[x] == 1 {
				hosts[i] = k.hosts[h]
			}
		}
	}
	return hosts
}

// misfits returns nogoods that exclude a placement which doesn't fit exactly, though it does in units. They are sets of
// tasks, as small as may be, that don't fit on any host together, or that can't all move.
func (k *kernelModel) misfits(hosts []int32) (nogoods []cp.Nogood) {
	u := k.u
	over := func(tasks []int32, needs []view.Memory, limit view.Memory) []int32 {
		sum := func(skip int) (m view.Memory) {
			for a, i := range tasks {
				if a != skip {
					m = m.Add(needs[u.Job[i]])
				}
			}
			return m
		}
		tasks = slices.Clone(tasks)
		if !limit.Less(sum(-1)) {
			return nil
		}
		for a := 0; a < len(tasks); {
			if limit.Less(sum(a)) {
				tasks = slices.Delete(tasks, a, a+1)
			} else {
				a++
			}
		}
		return tasks
	}
	var moved []int32
	on := make([][]int32, u.Hosts)
	for i, h := range hosts {
		on[h] = append(on[h], int32(i))
		if u.Current != nil && u.Current[i] >= 0 && u.Current[i] != h {
			moved = append(moved, int32(i))
		}
	}
	for r, needs := range u.ExactRigid {
		for g, tasks := range on {
			tasks = over(tasks, needs, u.Classes[u.ClassOf(int32(g))].ExactCap[r])
			var sum view.Memory
			for _, i := range tasks {
				sum = sum.Add(needs[u.Job[i]])
			}
			for h := range k.hosts {
				c := cp.Nogood{}
				for _, i := range tasks {
					c = append(c, k.on[i][h].Is())
				}
				if len(c) > 0 && u.Classes[u.ClassOf(k.hosts[h])].ExactCap[r].Less(sum) {
					nogoods = append(nogoods, c)
				}
			}
		}
	}
	c := cp.Nogood{}
	for _, i := range over(moved, u.Exact, u.ExactBudget) {
		c = append(c, k.on[i][slices.Index(k.hosts, u.Current[i])].AtMost(0))
	}
	if len(c) > 0 {
		nogoods = append(nogoods, c)
	}
	return nogoods
}
