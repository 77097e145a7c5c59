// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// semiActive plays the tasks on the given machines, each as early as its data and its machine allow. It returns when
// each starts and each edge is sent (in seconds), and turn, each task's place in a topological order that has the order
// of every machine. The next task waits for no other; ordered (which may be nil) decides, then the least start, end,
// and place in the graph's order. An order that contradicts the edges is broken at the contradiction. O(V² + E), V³
// with an order.
func (b *dagBuild) semiActive(machine []int32, start []float64, ordered func(i, j int) bool) (begin, sent []float64, turn []int) {
	g, n, m := b.g, b.n, b.m
	missing, done := make([]int, n), make([]bool, n)
	for _, t := range g.To {
		missing[t]++
	}
	blocked := func(t int) bool {
		for i := range n {
			if i != t && !done[i] && ordered(i, t) {
				return true
			}
		}
		return false
	}
	end := func(t int) float64 { return start[t] + g.Cost[t*m+int(machine[t])] }
	before := func(i, j int) bool {
		return cmp.Or(cmp.Compare(start[i], start[j]), cmp.Compare(end(i), end(j)), cmp.Compare(b.place[i], b.place[j])) < 0
	}
	turn = make([]int, n)
	order := make([][]int32, m)
	for k := range n {
		next, nextBlocked := -1, false
		for t := range n {
			if done[t] || missing[t] > 0 {
				continue
			}
			late := ordered != nil && blocked(t)
			if next < 0 || nextBlocked && !late || late == nextBlocked && before(t, next) {
				next, nextBlocked = t, late
			}
		}
		done[next], turn[next] = true, k
		order[machine[next]] = append(order[machine[next]], int32(next))
		for _, e := range g.Succ(int32(next)) {
			missing[g.To[e]]--
		}
	}
	play := view.NewPlay(g)
	play.Run(machine, order)
	return play.Start, play.Sent, turn
}

// decode implements milp.Formulation's Decode, see Build.
func (b *dagBuild) decode(d *model.DAG, x []float64) (*model.Schedule, error) {
	if len(x) != len(b.Vars) {
		return nil, fmt.Errorf("ordering: %w point: it has %d values, the model has %d variables", model.ErrInvalid, len(x), len(b.Vars))
	}
	n, m := b.n, b.m
	machine, start := make([]int32, n), make([]float64, n)
	for t := range n {
		most := math.Inf(-1)
		for a := range m {
			if v := b.x[t*m+a]; v >= 0 && x[v] > most {
				most, machine[t] = x[v], int32(a)
			}
		}
		start[t] = x[b.s[t]] * b.unit
	}
	begin, sent, _ := b.semiActive(machine, start, func(i, j int) bool {
		if machine[i] != machine[j] || b.before[i*n+j] {
			return false
		}
		y := b.y[(i*n+j)*m+int(machine[i])]
		return y >= 0 && x[y] > 0.5
	})
	return d.Schedule(machine, begin, sent), nil
}

// encode implements milp.Formulation's Encode, see Build.
func (b *dagBuild) encode(d *model.DAG, s *model.Schedule) []float64 {
	n, m := b.n, b.m
	machine, err := d.MachineOf(s)
	if err != nil {
		return nil
	}
	start := make([]float64, n)
	for t := range start {
		start[t] = s.Tasks[t].StartS
	}
	begin, _, turn := b.semiActive(machine, start, nil)
	x := make([]float64, len(b.Vars))
	// set puts the variable to 1, and returns false if the model doesn't have it.
	set := func(v int) bool {
		if v >= 0 {
			x[v] = 1
		}
		return v >= 0
	}
	for t := range n {
		a := int(machine[t])
		if !set(b.x[t*m+a]) {
			return nil
		}
		x[b.s[t]] = begin[t] / b.unit
		x[b.c] = max(x[b.c], x[b.s[t]]+b.cost[t*m+a])
	}
	if x[b.c] > b.horizon {
		return nil
	}
	x[b.c] = max(x[b.c], b.Vars[b.c].Lower)
	for e := range b.g.Data {
		at := (e*m + int(machine[b.g.From[e]])) * m
		if z := b.z[at+int(machine[b.g.To[e]])]; !set(z) && b.hasTransfer(e) {
			return nil
		}
	}
	for i := range n {
		for j := range n {
			if turn[i] >= turn[j] || machine[i] != machine[j] || b.before[i*n+j] {
				continue
			}
			if !set(b.y[(i*n+j)*m+int(machine[i])]) {
				return nil
			}
		}
	}
	return x
}

// hasTransfer reports whether edge e has variables z.
func (b *dagBuild) hasTransfer(e int) bool {
	for _, z := range b.z[e*b.m*b.m : (e+1)*b.m*b.m] {
		if z >= 0 {
			return true
		}
	}
	return false
}
