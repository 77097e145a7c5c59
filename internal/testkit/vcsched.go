package testkit

import (
	"fmt"
	"math"
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

// RandomVectors is RandomVCSched with up to four further resources, hosts of different
// sizes, or both, and at times without CPU needs. Amounts are multiples of 1/4 or 1/10.
func RandomVectors(rng *rand.Rand, budget bool) *model.VCSched {
	in := RandomVCSched(rng, budget)
	grid := []float64{4, 10}[rng.IntN(2)]
	amount := func(least, most float64) float64 {
		low, high := math.Ceil(least*grid), math.Floor(most*grid)
		return (low + float64(rng.IntN(int(high-low)+1))) / grid
	}
	kind := rng.IntN(3) // resources, sizes, both
	if kind != 1 {
		for r := range 1 + rng.IntN(4) {
			in.Resources = append(in.Resources, fmt.Sprint("r", r))
		}
	}
	most := model.HostSize{CPU: 1, Memory: 1, Resources: []float64{1, 1, 1, 1}}
	if kind > 0 {
		most = model.HostSize{Resources: make([]float64, 4)}
		for left := in.Hosts; left > 0; {
			s := model.HostSize{Count: 1 + rng.IntN(left), CPU: amount(0.25, 2), Memory: amount(0, 2)}
			if s.CPU *= []float64{1, 1, 1.0 / 3}[rng.IntN(3)]; rng.IntN(3) == 0 {
				s.CPU, s.Memory = 1, 1
			}
			for r := range in.Resources {
				s.Resources = append(s.Resources, amount(0, 2))
				most.Resources[r] = max(most.Resources[r], s.Resources[r])
			}
			most.CPU, most.Memory = max(most.CPU, s.CPU), max(most.Memory, s.Memory)
			left -= s.Count
			in.HostSizes = append(in.HostSizes, s)
		}
	}
	noCPU := rng.IntN(5) == 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.CPU, j.Memory = min(most.CPU, j.CPU), amount(0, 0.8*most.Memory)
		if noCPU || rng.IntN(12) == 0 {
			j.CPU = 0
		}
		for r := range in.Resources {
			j.Resources = append(j.Resources, amount(0, 0.8*most.Resources[r]))
		}
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
	amounts := func(memory float64, resources []float64) []float64 { return append([]float64{memory}, resources...) }
	var free, allowed [][]float64
	smallest := in.Capacity(0).Memory
	for h := range in.Hosts {
		size := in.Capacity(h)
		free, allowed = append(free, amounts(size.Memory, size.Resources)), append(allowed, amounts(size.Memory, size.Resources))
		smallest = min(smallest, size.Memory)
	}
	fits := func(needs, free, all []float64) bool {
		for r, x := range needs {
			if x > free[r]+1e-9*all[r] {
				return false
			}
		}
		return true
	}
	var walk func(k int, moved float64)
	walk = func(k int, moved float64) {
		if k == len(hosts) {
			if in.MigrationBudget == nil || moved <= *in.MigrationBudget+1e-9*smallest {
				if y := in.Yield(hosts); !found || y > best {
					best, found = y, true
				}
			}
			return
		}
		j := &in.Jobs[tasks[k]]
		needs := amounts(j.Memory, j.Resources)
		for h := range in.Hosts {
			if !fits(needs, free[h], allowed[h]) {
				continue
			}
			cost := 0.0
			if len(j.CurrentHosts) > 0 && j.CurrentHosts[task[k]] != h {
				cost = j.Memory
			}
			for r, x := range needs {
				free[h][r] -= x
			}
			hosts[k] = int32(h)
			walk(k+1, moved+cost)
			for r, x := range needs {
				free[h][r] += x
			}
		}
	}
	walk(0, 0)
	return best, found
}
