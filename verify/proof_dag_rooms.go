// SPDX-License-Identifier: MIT

package verify

import "math/big"

// roomsOf returns a rule of machines that run several tasks at once, see dagProof:
//
//	room A R            the needs of the tasks on machine A of resource R are at any time at most its capacity
//	area R W...: T...   with needs n and capacities c in units, a set S of tasks, and weights w of the machines,
//	                    Σ_{t in S} w_a n_ta cost_ta, a the machine of t, ≤ Σ_a w_a c_a (makespan - min(head_a + tail_a, lower))
//	till T, from T      the variable "at T" is the start of task T on its machine, on whatever it is
//	together R          at any time, what runs needs at most what all machines have of R, with each task's least need for its
//	                    least cost, on the machines that can run it, from "at T"
//
// A unit is what divides the needs of the tasks in question on all machines in question, so that what they need together
// is a multiple of it: c is rounded down. The area is the load of dagProof.load with each machine c_a wide.
//
// A schedule's machines and order of starts make one in units here, too. By induction over that order, no task starts
// later than (1 + ε) of its time: its data are there by then, and of those that started before it on its machine each
// has ended by (1 + ε) of its end, so that no more of them run than ran beside it.
func (k *dagProof) roomsOf(name []string) (proofRule, error) {
	switch {
	case len(name) == 2 && name[0] == "together":
		r, err := proofIndex(name[1], len(k.in.Resources))
		if err != nil {
			return nil, err
		}
		return k.together(r)
	case len(name) == 2 && (name[0] == "till" || name[0] == "from"):
		t, err := proofIndex(name[1], k.n)
		if err != nil {
			return nil, err
		}
		at, by := []proofStart{{always, k.startOf(t)}}, func(int, int) int64 { return 0 }
		if name[0] == "till" {
			return &proofDelay{k.starts(t), at, by}, nil
		}
		return &proofDelay{at, k.starts(t), by}, nil
	case len(name) < 3 || name[0] != "room" && name[0] != "area":
		return nil, errUnknownName
	}
	if name[0] == "room" {
		a, err := proofIndex(name[1], k.m)
		if err != nil || len(name) > 3 {
			return nil, errUnknownName
		}
		r, err := proofIndex(name[2], len(k.in.Resources))
		if err != nil {
			return nil, err
		}
		return k.room(a, r), nil
	}
	r, err := proofIndex(name[1], len(k.in.Resources))
	if err != nil {
		return nil, err
	}
	weights, tasks, err := k.weighted(name[2:])
	if err != nil {
		return nil, err
	}
	return k.area(r, weights, tasks)
}

// room returns the capacity of a machine. Tasks that can't be there, or take no time in units, aren't in it.
func (k *dagProof) room(a, r int) *proofCumulative {
	c := &proofCumulative{capacity: k.in.Machines[a].Capacity[r]}
	at := make([]int, k.n) // activity of each task, -1 without
	for t := range k.n {
		at[t] = -1
		need, length := k.in.Needs(t, a)[r], k.cost[t*k.m+a]
		if need == 0 || need > c.capacity || length == 0 || length >= far {
			continue
		}
		at[t] = len(c.starts)
		c.starts, c.lengths, c.demands = append(c.starts, proofStart{k.on[t*k.m+a], k.start[t*k.m+a]}), append(c.lengths, length), append(c.demands, need)
	}
	k.s.spend(k.n)
	c.about = func(v int32) int {
		for _, t := range k.about(v) {
			if k.start[t*k.m+a] == v {
				return at[t]
			}
		}
		return -1
	}
	return c
}

// area returns the row of an area; figures that could be too large for it are refused.
func (k *dagProof) area(r int, weights []int64, tasks []int) (proofRule, error) {
	unit := new(big.Int)
	for _, t := range tasks {
		for a := range k.m {
			unit.GCD(nil, nil, unit, big.NewInt(k.in.Needs(t, a)[r]))
		}
	}
	if unit.Sign() == 0 {
		return nil, errUnknownName
	}
	const most = 1 << 31 // times a cost below 2^29
	row, total := &proofLinear{}, int64(0)
	for a, w := range weights {
		c := k.in.Machines[a].Capacity[r] / unit.Int64()
		if w > 0 && c > (most-1)/w {
			return nil, errUnknownName
		}
		total += w * c
		row.allow(-w*c, k.idle(tasks, a))
	}
	if total >= most {
		return nil, errUnknownName
	}
	row.terms = []proofTerm{{-total, k.makespan}}
	for _, t := range tasks {
		g := make([]proofChoice, k.m)
		for a, w := range weights {
			g[a] = proofChoice{k.on[t*k.m+a], 0}
			if need := k.in.Needs(t, a)[r]; need <= k.in.Machines[a].Capacity[r] && k.cost[t*k.m+a] < far {
				g[a].value = w * (need / unit.Int64()) * k.cost[t*k.m+a]
			}
		}
		row.groups = append(row.groups, g)
	}
	return row, nil
}

// startOf returns the variable of a task's start on whatever machine.
func (k *dagProof) startOf(t int) int32 {
	v, ok := k.at[t]
	if !ok {
		v = k.s.add(0, k.upper, always)
		k.at[t] = v
	}
	return v
}

// together returns the capacity of all machines, rounded down to units on each.
func (k *dagProof) together(r int) (proofRule, error) {
	c, unit := &proofCumulative{}, new(big.Int)
	activity := map[int32]int{}
	for t := range k.n {
		need, length := int64(-1), int64(far)
		for a := range k.m {
			if cost := k.cost[t*k.m+a]; cost < far {
				if n := k.in.Needs(t, a)[r]; need < 0 || n < need {
					need = n
				}
				length = min(length, cost)
			}
		}
		if need <= 0 || length == 0 {
			continue
		}
		v := k.startOf(t)
		activity[v] = len(c.starts)
		c.starts, c.lengths, c.demands = append(c.starts, proofStart{always, v}), append(c.lengths, length), append(c.demands, need)
		unit.GCD(nil, nil, unit, big.NewInt(need))
	}
	k.s.spend(k.n * k.m)
	if unit.Sign() == 0 {
		return nil, errUnknownName
	}
	for a := range k.m {
		c.capacity += k.in.Machines[a].Capacity[r] / unit.Int64() // below 2^20 · 2^40
	}
	for i := range c.demands {
		if c.demands[i] /= unit.Int64(); c.demands[i] > c.capacity {
			return nil, errUnknownName
		}
	}
	c.about = func(v int32) int {
		if i, ok := activity[v]; ok {
			return i
		}
		return -1
	}
	return c, nil
}
