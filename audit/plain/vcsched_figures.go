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
	number                  int // in the instance's order
	cpu, memory             float64
	units                   int64 // memory, rounded down to whole units
	current                 int   // host, -1 without one or if moving costs nothing
	twin                    bool  // nothing tells it from the task before
	restCPU, leastCPU       float64
	restMemory, leastMemory int64
}

// unit is the number of units in a host's memory, in which the quick sums of
// memory are counted.
const unit = 1 << 50

// capacity is an amount of memory that may be used: exactly, and in units,
// rounded down.
type capacity struct {
	exact *big.Rat
	units int64
}

// newCapacity returns the capacity with the judge's tolerance of 1e-9 of a host.
func newCapacity(x float64) capacity {
	c := capacity{exact: new(big.Rat).SetFloat64(x)}
	c.exact.Add(c.exact, new(big.Rat).SetFloat64(1e-9))
	units := new(big.Rat).Mul(c.exact, new(big.Rat).SetInt64(unit))
	c.units = new(big.Int).Quo(units.Num(), units.Denom()).Int64()
	return c
}

// vcschedTasks lists the tasks, the hardest first.
func vcschedTasks(in *model.VCSched) []vcschedTask {
	var tasks []vcschedTask
	for _, j := range in.Jobs {
		for k := range j.Tasks {
			t := vcschedTask{number: len(tasks), cpu: j.CPU, memory: j.Memory, units: int64(j.Memory * unit), current: -1}
			if in.MigrationBudget != nil && len(j.CurrentHosts) > 0 {
				t.current = j.CurrentHosts[k]
			}
			tasks = append(tasks, t)
		}
	}
	slices.SortStableFunc(tasks, func(a, b vcschedTask) int {
		return cmp.Or(cmp.Compare(max(b.cpu, b.memory), max(a.cpu, a.memory)), cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.memory, a.memory), cmp.Compare(a.current, b.current))
	})
	for i := range slices.Backward(tasks) {
		t, next := &tasks[i], vcschedTask{leastCPU: 1, leastMemory: unit}
		if i+1 < len(tasks) {
			next = tasks[i+1]
		}
		t.twin = i > 0 && t.cpu == tasks[i-1].cpu && t.memory == tasks[i-1].memory && t.current == tasks[i-1].current
		t.restCPU, t.leastCPU = next.restCPU+t.cpu, min(next.leastCPU, t.cpu)
		t.restMemory, t.leastMemory = next.restMemory+t.units, min(next.leastMemory, t.units)
	}
	return tasks
}
