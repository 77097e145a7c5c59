package modeltest

import (
	"fmt"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// RandomVCSched draws an instance that BruteVCSched can solve, of a few tasks with
// coarse needs, so that ties and exact fits are common. With a budget, tasks run now
// and the memory that may move is limited.
func RandomVCSched(rng *rand.Rand, budget bool) *model.VCSched {
	in := &model.VCSched{Name: "tiny", Hosts: 1 + rng.IntN(3)}
	grid := []float64{4, 10, 1000}[rng.IntN(3)]
	for tasks := 0; tasks < 2+rng.IntN(5); {
		n := 1
		if rng.IntN(4) == 0 {
			n += rng.IntN(2)
		}
		j := model.VCSchedJob{ID: fmt.Sprint("j", len(in.Jobs)), Tasks: n,
			CPU: float64(1+rng.IntN(int(grid))) / grid, Memory: float64(rng.IntN(int(0.7*grid)+1)) / grid}
		if budget && rng.IntN(3) > 0 {
			for range n {
				j.CurrentHosts = append(j.CurrentHosts, rng.IntN(in.Hosts))
			}
		}
		in.Jobs = append(in.Jobs, j)
		tasks += n
	}
	if budget {
		b := float64(rng.IntN(int(grid))) / grid
		in.MigrationBudget = &b
	}
	return in
}

// BruteVCSched returns the optimal minimum yield of an instance whose needs are
// multiples of 1/1000, and whether a placement exists. It tries every assignment of
// tasks to hosts.
func BruteVCSched(in *model.VCSched) (best float64, found bool) {
	var tasks, task []int // job, task within it
	for i := range in.Jobs {
		for k := range in.Jobs[i].Tasks {
			tasks, task = append(tasks, i), append(task, k)
		}
	}
	hosts := make([]int32, len(tasks))
	mem := make([]float64, in.Hosts)
	var walk func(k int, moved float64)
	walk = func(k int, moved float64) {
		if k == len(hosts) {
			if in.MigrationBudget == nil || moved <= *in.MigrationBudget+1e-9 {
				if y := in.Yield(hosts); !found || y > best {
					best, found = y, true
				}
			}
			return
		}
		j := &in.Jobs[tasks[k]]
		for h := range in.Hosts {
			if mem[h]+j.Memory > 1+1e-9 {
				continue
			}
			cost := 0.0
			if len(j.CurrentHosts) > 0 && j.CurrentHosts[task[k]] != h {
				cost = j.Memory
			}
			mem[h] += j.Memory
			hosts[k] = int32(h)
			walk(k+1, moved+cost)
			mem[h] -= j.Memory
		}
	}
	walk(0, 0)
	return best, found
}
