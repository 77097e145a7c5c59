// SPDX-License-Identifier: MIT

package testkit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// shares are styles of needs, in parts of a host: the first are coarse, so that ties and
// exact fits are common; sums of the last are just above a host within the tolerance and
// without.
var shares = []func(rng *rand.Rand) float64{
	func(rng *rand.Rand) float64 { return float64(1+rng.IntN(4)) / 4 },
	func(rng *rand.Rand) float64 { return float64(1+rng.IntN(10)) / 10 },
	func(rng *rand.Rand) float64 { return float64(1+rng.IntN(1000)) / 1000 },
	func(rng *rand.Rand) float64 { return math.Round(1e3*(0.02+0.6*rng.Float64())) / 1e3 },
	func(rng *rand.Rand) float64 { return one(rng, 0.5, 0.25, 0.3) },
	func(*rand.Rand) float64 { return 0.3 },
	func(rng *rand.Rand) float64 { return float64(float32(1) / float32(1+rng.IntN(5))) },
	func(rng *rand.Rand) float64 { return 1 / float64(1+rng.IntN(6)) },
	func(rng *rand.Rand) float64 { return 0.01 + 0.5*rng.Float64() },
	func(rng *rand.Rand) float64 { return 0.5 + float64(rng.IntN(3)-1)*1e-6 },
	func(rng *rand.Rand) float64 { return max(1e-12, math.Ldexp(rng.Float64(), -rng.IntN(40))) }, // the smallest need there is
	func(rng *rand.Rand) float64 { return 0.5 + float64(rng.IntN(5)-2)*5e-10/2 },
	func(rng *rand.Rand) float64 { return (1 + float64(rng.IntN(3))*1e-9) / float64(2+rng.IntN(3)) },
	func(rng *rand.Rand) float64 { return 1/float64(1+rng.IntN(5)) + float64(rng.IntN(4))*2e-10 },
}

// RandomVCSched draws an instance of a few tasks on up to three hosts. With a budget, tasks run now,
// and the memory that may move is limited.
func RandomVCSched(rng *rand.Rand, budget bool) *model.VCSched {
	return VCSched(rng, 2+rng.IntN(5), 1+rng.IntN(3), budget)
}

// RandomVectors is RandomVCSched with further resources, hosts of different sizes, or both,
// and at times without CPU needs.
func RandomVectors(rng *rand.Rand, budget bool) *model.VCSched {
	return Vectors(rng, RandomVCSched(rng, budget))
}

// VCSched draws an instance of n tasks whose needs are of one style for CPU and one for
// memory; its name tells which. With a budget, tasks run now, and what may move is mostly
// just enough for some of them, or a little less.
func VCSched(rng *rand.Rand, n, hosts int, budget bool) *model.VCSched {
	style := func() int { return rng.IntN(one(rng, 3, len(shares))) }
	cpu, memory := style(), style()
	in := &model.VCSched{Name: fmt.Sprintf("cpu%d-memory%d", cpu, memory), Hosts: hosts}
	parallel, equal := rng.IntN(4) == 0, rng.IntN(4) == 0
	total := 0.0
	for i := 0; i < n; {
		j := model.VCSchedJob{ID: fmt.Sprintf("j%d", len(in.Jobs)+1), Tasks: 1, CPU: min(1, shares[cpu](rng)), Memory: min(1, shares[memory](rng))}
		if parallel {
			j.Tasks = min(n-i, 1+rng.IntN(3))
		}
		if rng.IntN(12) == 0 {
			j.Memory = 0
		}
		if equal && i > 0 && rng.IntN(2) == 0 {
			j.CPU, j.Memory = in.Jobs[0].CPU, in.Jobs[0].Memory
		}
		i += j.Tasks
		total += float64(j.Tasks) * j.Memory
		in.Jobs = append(in.Jobs, j)
	}
	// An instance whose memory needs are far too large tests little: mostly
	// they are scaled to what just fits.
	if room := float64(hosts) * (0.6 + 0.5*rng.Float64()); total > room && rng.IntN(3) > 0 {
		for i := range in.Jobs {
			in.Jobs[i].Memory = math.Round(in.Jobs[i].Memory*room/total*1e4) / 1e4
		}
	}
	if !budget {
		return in
	}
	in.Name += "-budget"
	limit, moves := float64(rng.IntN(11))/10, 0.0
	for i := range in.Jobs {
		if j := &in.Jobs[i]; rng.IntN(3) > 0 {
			for range j.Tasks {
				j.CurrentHosts = append(j.CurrentHosts, rng.IntN(hosts))
				if rng.IntN(4) == 0 {
					moves += j.Memory
				}
			}
		}
	}
	if rng.IntN(2) > 0 {
		limit = max(0, moves+one(rng, 0, 0, -1e-10, -5e-10, -1e-9, 5e-10))
	}
	in.MigrationBudget = &limit
	return in
}

// Vectors adds up to three further resources, sizes of hosts, or both, and takes the CPU needs
// of some instances and jobs away. The first host is large enough for everything.
func Vectors(rng *rand.Rand, in *model.VCSched) *model.VCSched {
	in.Name += "-vectors"
	kind := rng.IntN(3) // resources, sizes, both
	if kind != 1 {
		for r := range 1 + rng.IntN(3) {
			in.Resources = append(in.Resources, fmt.Sprint("r", r))
			style := shares[rng.IntN(len(shares))]
			for i := range in.Jobs {
				need := min(1, style(rng))
				if rng.IntN(3) == 0 || need > 0.5 && in.Tasks() > 2*in.Hosts {
					need = 0
				}
				in.Jobs[i].Resources = append(in.Jobs[i].Resources, need)
			}
		}
	}
	noCPU := rng.IntN(6) == 0
	for i := range in.Jobs {
		if noCPU || rng.IntN(12) == 0 {
			in.Jobs[i].CPU = 0
		}
	}
	if kind == 0 {
		return in
	}
	amount := func() float64 { return one(rng, 0.5, 1, 1, 1.5, 2, 0.7, 1.0/3) }
	for left := in.Hosts; left > 0; {
		s := model.HostSize{Count: 1 + rng.IntN(left), CPU: amount(), Memory: amount()}
		for range in.Resources {
			s.Resources = append(s.Resources, amount())
		}
		if left == in.Hosts {
			s.CPU, s.Memory = 1, 1
			for r := range s.Resources {
				s.Resources[r] = 1
			}
		}
		left -= s.Count
		in.HostSizes = append(in.HostSizes, s)
	}
	return in
}

// VCJob is a job of so many tasks.
func VCJob(id string, tasks int, cpu, memory float64) model.VCSchedJob {
	return model.VCSchedJob{ID: id, Tasks: tasks, CPU: cpu, Memory: memory}
}

// GridVCSched draws a small instance on a grid, so that ties, exact fits, zero memory and
// parallel jobs are common.
func GridVCSched(rng *rand.Rand, maxHosts, maxJobs int) *model.VCSched {
	grid := []int{4, 10, 1000}[rng.IntN(3)]
	in := &model.VCSched{Name: "random", Hosts: 1 + rng.IntN(maxHosts)}
	largest := rng.IntN(grid + 1)
	for k := range 1 + rng.IntN(maxJobs) {
		in.Jobs = append(in.Jobs, VCJob(fmt.Sprint("j", k), 1+max(0, rng.IntN(5)-2),
			float64(1+rng.IntN(grid))/float64(grid), float64(rng.IntN(largest+1))/float64(grid)))
	}
	return in
}
