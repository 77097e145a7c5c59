package plain_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// drawVCSched draws a number of jobs of one or a few tasks from one of several
// families: tenths, needs that just fill a host or are 1e-9 off it, thirds in
// float32, equal jobs, no memory, running tasks with a budget that is just
// enough or just too small.
func drawVCSched(rng *rand.Rand, jobs, hosts, tasks int) *model.VCSched {
	v := &model.VCSched{Name: "drawn", Hosts: hosts}
	shares := []func() float64{
		func() float64 { return float64(1+rng.IntN(10)) / 10 },
		func() float64 { return float64(1+rng.IntN(3)) / 4 },
		func() float64 { return 0.5 + float64(rng.IntN(5)-2)*5e-10/2 },
		func() float64 { return float64(float32(1) / float32(2+rng.IntN(3))) },
		func() float64 { return 1 / float64(2+rng.IntN(3)) },
		func() float64 { return (1 + float64(rng.IntN(3))*1e-9) / float64(2+rng.IntN(3)) },
		func() float64 { return 0.02 + 0.6*rng.Float64() },
		func() float64 { return max(1e-12, math.Ldexp(rng.Float64(), -rng.IntN(40))) }, // the smallest need there is
	}
	cpu, memory := shares[rng.IntN(len(shares))], shares[rng.IntN(len(shares))]
	total, equal, running := 0.0, rng.IntN(3) == 0, rng.IntN(3) == 0
	for i := range jobs {
		j := model.VCSchedJob{ID: fmt.Sprint("j", i), Tasks: 1 + rng.IntN(tasks), CPU: cpu(), Memory: memory()}
		if rng.IntN(8) == 0 {
			j.Memory = 0
		}
		if equal && i > 0 && rng.IntN(2) == 0 {
			j.CPU, j.Memory = v.Jobs[i-1].CPU, v.Jobs[i-1].Memory
		}
		if running && rng.IntN(4) > 0 {
			for range j.Tasks {
				j.CurrentHosts = append(j.CurrentHosts, rng.IntN(hosts))
				if rng.IntN(3) == 0 {
					total += j.Memory
				}
			}
		}
		v.Jobs = append(v.Jobs, j)
	}
	if running && rng.IntN(6) > 0 {
		total = max(0, total+float64(rng.IntN(5)-2)*5e-10)
		v.MigrationBudget = &total
	}
	return v
}

// vectorise adds further resources and sizes of hosts, and takes CPU needs away.
func vectorise(rng *rand.Rand, v *model.VCSched) {
	tenths := func(least, most float64) float64 {
		return least + float64(rng.IntN(int((most-least)*10+0.5)+1))/10
	}
	for r := range rng.IntN(3) {
		v.Resources = append(v.Resources, fmt.Sprint("r", r))
		for i := range v.Jobs {
			v.Jobs[i].Resources = append(v.Jobs[i].Resources, tenths(0, 1))
		}
	}
	for h := 0; h < v.Hosts && (len(v.HostSizes) > 0 || rng.IntN(2) == 0); h++ {
		s := model.HostSize{Count: 1, CPU: tenths(0.3, 1), Memory: tenths(0.5, 2)}
		if h == 0 {
			s = model.HostSize{Count: 1, CPU: 1, Memory: 1} // large enough for any need
		}
		for range v.Resources {
			s.Resources = append(s.Resources, max(tenths(0, 1), s.Memory))
		}
		v.HostSizes = append(v.HostSizes, s)
	}
	if rng.IntN(4) == 0 {
		v.Jobs[rng.IntN(len(v.Jobs))].CPU = 0
	}
}

// bruteVCSched is the best yield of all ways to put tasks on hosts, in
// fractions; NaN if no way fits.
func bruteVCSched(v *model.VCSched) float64 {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	n, best := v.Tasks(), math.NaN()
	most := func(x, of float64) *big.Rat { return new(big.Rat).Add(rat(x), new(big.Rat).Mul(rat(1e-9), rat(of))) }
	smallest := v.Capacity(0).Memory
	for h := range v.Hosts {
		smallest = min(smallest, v.Capacity(h).Memory)
	}
	for code := range int(math.Pow(float64(v.Hosts), float64(n))) {
		cpu, use, moved := make([]*big.Rat, v.Hosts), make([][]*big.Rat, v.Hosts), new(big.Rat)
		for h := range cpu {
			cpu[h] = new(big.Rat)
			for range 1 + len(v.Resources) {
				use[h] = append(use[h], new(big.Rat))
			}
		}
		for _, j := range v.Jobs {
			for k := range j.Tasks {
				h := code % v.Hosts
				code /= v.Hosts
				cpu[h].Add(cpu[h], rat(j.CPU))
				for r, x := range append([]float64{j.Memory}, j.Resources...) {
					use[h][r].Add(use[h][r], rat(x))
				}
				if j.CurrentHosts != nil && j.CurrentHosts[k] != h {
					moved.Add(moved, rat(j.Memory))
				}
			}
		}
		fits, load := true, rat(1)
		for h := range cpu {
			size := v.Capacity(h)
			for r, x := range append([]float64{size.Memory}, size.Resources...) {
				fits = fits && use[h][r].Cmp(most(x, x)) <= 0
			}
			if cpu[h].Quo(cpu[h], rat(size.CPU)).Cmp(load) > 0 {
				load = cpu[h]
			}
		}
		if b := v.MigrationBudget; b != nil && moved.Cmp(most(*b, smallest)) > 0 {
			fits = false
		}
		if yield, _ := load.Inv(load).Float64(); fits && !(yield <= best) {
			best = yield
		}
	}
	return best
}

func TestVCSchedAgainstBruteForce(t *testing.T) {
	rng, none, short := rand.New(rand.NewPCG(9, 3)), 0, 0
	for range 3000 {
		hosts := 1 + rng.IntN(3)
		v := drawVCSched(rng, 1+rng.IntN(3), hosts, 2)
		if rng.IntN(2) == 0 {
			v = drawVCSched(rng, 1+rng.IntN([]int{6, 6, 5}[hosts-1]), hosts, 1)
		}
		if rng.IntN(3) == 0 {
			vectorise(rng, v)
			if err := v.Validate(); err != nil {
				t.Fatal(err)
			}
		}
		want := bruteVCSched(v)
		agree(t, v, want)
		if math.IsNaN(want) {
			none++
		} else if want < 1 {
			short++
		}
	}
	if none < 300 || short < 300 {
		t.Errorf("%d without a solution, %d with a yield below 1: too few to test much", none, short)
	}
}

// Instances whose needs of memory are within 1e-9 of what there is: one
// definition of what fits.
func TestVCSchedFound(t *testing.T) {
	of := func(b float64) *float64 { return &b }
	for name, c := range map[string]struct {
		budget *float64
		memory []float64
		want   float64 // NaN: nothing fits
	}{
		"a host and less than 1e-9":  {nil, []float64{0.5, 0.5 + 9e-10}, 0.5},
		"a host and more than 1e-9":  {nil, []float64{0.5, 0.5 + 1.1e-9}, math.NaN()},
		"a budget of 1e-10 too few":  {of(0.3 - 1e-10), []float64{0.3, 0.3}, 0.5},
		"a budget of 1.1e-9 too few": {of(0.3 - 1.1e-9), []float64{0.3, 0.3}, math.NaN()},
	} {
		v := &model.VCSched{Hosts: 1, MigrationBudget: c.budget}
		for i, m := range c.memory {
			v.Jobs = append(v.Jobs, model.VCSchedJob{ID: fmt.Sprint(i), Tasks: 1, CPU: 1, Memory: m})
		}
		if c.budget != nil { // the second task must leave host 1, where a new one needs everything
			v.Hosts = 2
			v.Jobs[0].CurrentHosts = []int{1}
			v.Jobs = append(v.Jobs, model.VCSchedJob{ID: "all", Tasks: 1, CPU: 1, Memory: 1}, model.VCSchedJob{ID: "free", Tasks: 1, CPU: 1e-9, Memory: 0})
			v.Jobs[1].CurrentHosts = []int{0}
		}
		t.Run(name, func(t *testing.T) {
			agree(t, v, c.want)
			if brute := bruteVCSched(v); brute != c.want && !(math.IsNaN(brute) && math.IsNaN(c.want)) {
				t.Errorf("the brute force finds %v, want %v", brute, c.want)
			}
		})
	}
}

func BenchmarkVCSched(b *testing.B) {
	for _, hosts := range []int{2, 4, 6} {
		for _, jobs := range []int{8, 11, 14, 17} {
			b.Run(fmt.Sprintf("hosts=%d/jobs=%d", hosts, jobs), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(9, 4))
				grow(b, func() model.Instance { return drawVCSched(rng, jobs, hosts, 1) })
			})
		}
	}
}
