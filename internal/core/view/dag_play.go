// SPDX-License-Identifier: MIT

package view

import "math"

// Play plays plans of one Graph without contention: each task starts as soon
// as its machine and its data are there, each transfer as soon as its producer
// has finished. That is the plan's semi-active schedule: in no other with the same
// machines and orders does a task start earlier. On a machine with a capacity no task starts before the one that it
// follows in the order there, and each as soon as the ones before it that still run leave it room. It may be used again and again,
// by one goroutine at a time.
type Play struct {
	// The times of the last run, in seconds: when each task starts and finishes, and each edge is sent and has arrived.
	Start, Finish, Sent, Arrived []float64
	// Played are the tasks of the last run in a topological order of the edges and
	// of the machines' orders.
	Played []int32

	g       *Graph
	missing []int32 // a task's waits: edges, and the task before it on its machine
	next    []int32 // the task after it on its machine, -1 without
	running *Running
}

// NewPlay prepares the play of plans for g.
func NewPlay(g *Graph) *Play {
	n, e := g.Tasks, len(g.Data)
	p := &Play{Start: make([]float64, n), Finish: make([]float64, n), Sent: make([]float64, e), Arrived: make([]float64, e),
		g: g, missing: make([]int32, n), next: make([]int32, n), Played: make([]int32, 0, n)}
	if g.Room != nil {
		p.running = NewRunning(g)
	}
	return p
}

// Run plays the plan that has task t on machine[t], the tasks of each machine in
// the given order, and returns the makespan: +Inf if tasks wait for each other
// in a circle. O(V + E), with capacities O(V log V + E).
func (p *Play) Run(machine []int32, order [][]int32) float64 {
	g, makespan, list := p.g, 0.0, p.Played[:0]
	g.Waits(order, p.missing, p.next)
	clear(p.Start)
	if p.running != nil {
		p.running.Reset()
	}
	for t := range int32(g.Tasks) {
		if p.missing[t] == 0 {
			list = append(list, t)
		}
	}
	for k := 0; k < len(list); k++ {
		t := list[k]
		m := machine[t]
		if p.running != nil {
			p.Start[t] = p.running.Start(t, m, p.Start[t], g.Cost[int(t)*g.Machines+int(m)])
		}
		finish := p.Start[t] + g.Cost[int(t)*g.Machines+int(m)]
		p.Finish[t] = finish
		makespan = max(makespan, finish)
		for _, e := range g.Succ(t) {
			s := g.To[e]
			p.Sent[e], p.Arrived[e] = finish, finish+g.Comm(e, m, machine[s])
			p.Start[s] = max(p.Start[s], p.Arrived[e])
			if p.missing[s]--; p.missing[s] == 0 {
				list = append(list, s)
			}
		}
		if s := p.next[t]; s >= 0 {
			free := finish
			if p.running != nil {
				free = p.Start[t]
			}
			p.Start[s] = max(p.Start[s], free)
			if p.missing[s]--; p.missing[s] == 0 {
				list = append(list, s)
			}
		}
	}
	p.Played = list
	if len(list) < g.Tasks {
		return math.Inf(1)
	}
	return makespan
}

// Waits sets, for each task, how many edges and tasks on its machine it waits
// for, and the task after it on its machine, -1 without.
func (g *Graph) Waits(order [][]int32, missing, next []int32) {
	for t := range missing {
		missing[t] = int32(len(g.Pred(int32(t))))
		next[t] = -1
	}
	for _, tasks := range order {
		for k := 1; k < len(tasks); k++ {
			next[tasks[k-1]] = tasks[k]
			missing[tasks[k]]++
		}
	}
}
