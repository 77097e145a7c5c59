// SPDX-License-Identifier: MIT

package batch

import "slices"

// memo holds the nodes made so far, by their sets of jobs.
//
// A node B is dropped if A has the same jobs and
//
//	cost_A ≤ cost_B,  now_A ≤ t,  used_A(τ) ≤ used_B(τ) for all τ ≥ t,
//
// where t is the earliest start of a job that B hasn't started. In a completion of
// B all further starts are at t or later. The same starts complete A: they are no
// earlier than now_A, and where they run A has no more in use. So A's best completion
// is no worse than B's. A is or will be explored to the end, or is dropped for the same reason: each node that
// others are dropped for stays until a later one is as good.
type memo struct {
	off   bool
	nodes map[jobSet][]*remembered
	size  int
}

// remembered is a node: used[i] processors from times[i] on, from now on.
type remembered struct {
	node      *node
	now, cost int64
	from      int64 // the earliest start of a job to come
	times     []int64
	used      []int64
}

// mostMemo bounds the steps of all nodes together. Beyond that no node is added.
const mostMemo = 4 << 20

// dominates reports whether a node dominates x; else it adds x, and forgets those
// that x dominates: they are dead.
func (m *memo) dominates(x *node, t *tree) bool {
	if m.off {
		return false
	}
	if m.nodes == nil {
		m.nodes = map[jobSet][]*remembered{}
	}
	from := int64(1 << 62)
	for k := range t.release {
		if !x.set.has(k) {
			from = min(from, t.earliest(x, k))
		}
	}
	own := &remembered{node: x, now: x.now, cost: x.cost, from: from}
	used := int64(0)
	for _, e := range x.ends {
		used += t.width[e.job]
	}
	own.times, own.used = append(own.times, x.now), append(own.used, used)
	for _, e := range x.ends {
		used -= t.width[e.job]
		if last := len(own.times) - 1; own.times[last] == e.at {
			own.used[last] = used
		} else {
			own.times, own.used = append(own.times, e.at), append(own.used, used)
		}
	}
	list := m.nodes[x.set]
	for _, a := range list {
		if a.dominates(own, from) {
			return true
		}
	}
	if m.size > mostMemo {
		return false
	}
	list = slices.DeleteFunc(list, func(b *remembered) bool {
		if own.dominates(b, b.from) {
			b.node.dead = true
			m.size -= len(b.times)
			return true
		}
		return false
	})
	m.nodes[x.set] = append(list, own)
	m.size += len(own.times)
	return false
}

// dominates reports whether a dominates b if the jobs to come in b start at from or later. from is at least b.now.
func (a *remembered) dominates(b *remembered, from int64) bool {
	if a.cost > b.cost || a.now > from {
		return false
	}
	// The processors in use only fall. So they are compared at from, and at each fall in b.
	i := 0
	at := func(t int64) int64 {
		for i+1 < len(a.times) && a.times[i+1] <= t {
			i++
		}
		return a.used[i]
	}
	for k := range b.times {
		if k+1 < len(b.times) && b.times[k+1] <= from {
			continue
		}
		if at(max(from, b.times[k])) > b.used[k] {
			return false
		}
	}
	return true
}
