// SPDX-License-Identifier: MIT

package plain

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// vcschedTask is a task with the sums and the least needs of itself and those
// behind it.
type vcschedTask struct {
	number            int // in the instance's order
	cpu               float64
	needs             []float64 // memory and the further resources
	units             []int64   // needs, rounded down to whole units
	current           int       // host, -1 without one or if moving costs nothing
	twin              bool      // it is like the task before
	restCPU, leastCPU float64
	rest, least       []int64 // of units
}

// unit is the number of units in a host's memory, in which the quick sums of
// memory and of the further resources are counted.
const unit = 1 << 46

// capacity is an amount of memory that may be used: exactly, and in units,
// rounded down.
type capacity struct {
	exact *big.Rat
	units int64
}

// newCapacity returns the capacity with the judge's tolerance of 1e-9 of an amount.
func newCapacity(x, amount float64) capacity {
	c := capacity{exact: new(big.Rat).SetFloat64(x)}
	tolerance := new(big.Rat).SetFloat64(1e-9)
	c.exact.Add(c.exact, tolerance.Mul(tolerance, new(big.Rat).SetFloat64(amount)))
	units := new(big.Rat).Mul(c.exact, new(big.Rat).SetInt64(unit))
	c.units = new(big.Int).Quo(units.Num(), units.Denom()).Int64()
	return c
}

// vcschedTasks lists the tasks, the hardest first.
func vcschedTasks(in *model.VCSched) []vcschedTask {
	var tasks []vcschedTask
	for _, j := range in.Jobs {
		for k := range j.Tasks {
			t := vcschedTask{number: len(tasks), cpu: j.CPU, needs: append([]float64{j.Memory}, j.Resources...), current: -1}
			for _, x := range t.needs {
				t.units = append(t.units, int64(x*unit))
			}
			if in.MigrationBudget != nil && len(j.CurrentHosts) > 0 {
				t.current = j.CurrentHosts[k]
			}
			tasks = append(tasks, t)
		}
	}
	slices.SortStableFunc(tasks, func(a, b vcschedTask) int {
		return cmp.Or(cmp.Compare(max(b.cpu, slices.Max(b.needs)), max(a.cpu, slices.Max(a.needs))), cmp.Compare(b.cpu, a.cpu),
			slices.Compare(b.needs, a.needs), cmp.Compare(a.current, b.current))
	})
	for i := range slices.Backward(tasks) {
		t := &tasks[i]
		t.twin = i > 0 && t.cpu == tasks[i-1].cpu && slices.Equal(t.needs, tasks[i-1].needs) && t.current == tasks[i-1].current
		t.restCPU, t.leastCPU, t.rest, t.least = t.cpu, t.cpu, slices.Clone(t.units), slices.Clone(t.units)
		if i+1 == len(tasks) {
			continue
		}
		next := &tasks[i+1]
		t.restCPU, t.leastCPU = next.restCPU+t.cpu, min(next.leastCPU, t.cpu)
		for r := range t.rest {
			t.rest[r] += next.rest[r]
			t.least[r] = min(t.least[r], next.least[r])
		}
	}
	return tasks
}
