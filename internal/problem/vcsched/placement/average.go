// SPDX-License-Identifier: MIT

package placement

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// secondPhase limits the second phase after its context has ended.
const secondPhase = 50 * time.Millisecond

// RaiseAverage is the second phase (sections 3.5 and 5.2). It keeps p's hosts and the minimum yield Y = in.Yield(hosts)
// that they allow, and gives the CPU that is left so that the average yield of the jobs is as large as can be.
//
// If all jobs are sequential, each host serves its tasks by increasing CPU need c, which is optimal, since a unit of
// CPU adds 1/c to the sum of the yields. O(n log n). A parallel job's tasks have the same share on every host, so then
// a linear program decides. It maximises Σ_j y_j subject to Σ_j cpu_jh y_j ≤ CPU_h on each host h and Y ≤ y_j ≤ 1.
// Without HiGHS each job in turn, by increasing CPU need Σ_h cpu_jh, gets the largest yield that its hosts have room
// for.
//
// This takes little time compared with finding the hosts, so the linear program has secondPhase more time after ctx has
// ended. If that isn't enough, every job is left at the minimum yield.
func RaiseAverage(ctx context.Context, in *model.VCSched, p *model.Placement) (*model.Placement, error) {
	hosts := p.TaskHosts()
	lowest := in.Yield(hosts)
	if lowest == 1 { // each job has all that it needs
		return in.NewPlacement(hosts, lowest), nil
	}
	sequential := true
	for i := range in.Jobs {
		sequential = sequential && in.Jobs[i].Tasks == 1
	}
	if sequential {
		return RaiseGreedily(in, hosts, lowest), nil
	}
	late, end := meter.Late(ctx, secondPhase)
	defer end()
	return raiseByLP(late, in, hosts, lowest)
}

// RaiseGreedily is RaiseAverage for sequential jobs, lowest being the minimum yield.
func RaiseGreedily(in *model.VCSched, hosts []int32, lowest float64) *model.Placement {
	p := in.NewPlacement(hosts, lowest)
	free := make([]float64, in.Hosts)
	copy(free, hostCPUs(in))
	for i := range p.Jobs {
		free[hosts[i]] -= p.Jobs[i].CPU[0]
	}
	jobs := order.Of[int](len(in.Jobs))
	order.Stable(jobs, func(a, b int) int { return cmp.Compare(in.Jobs[a].CPU, in.Jobs[b].CPU) })
	for _, i := range jobs {
		share, need, h := &p.Jobs[i].CPU[0], in.Jobs[i].CPU, hosts[i]
		if free[h] <= 0 {
			continue
		}
		if rest := need - *share; rest <= free[h] {
			free[h] -= rest
			*share = need
		} else {
			*share += free[h]
			free[h] = 0
		}
	}
	return p
}

// hostCPUs returns the CPU of each host.
func hostCPUs(in *model.VCSched) []float64 {
	cpus := make([]float64, 0, in.Hosts)
	for _, s := range in.Sizes() {
		for range s.Count {
			cpus = append(cpus, s.CPU)
		}
	}
	return cpus
}

// jobLoads returns, for each job, its CPU needs on each of its hosts.
func jobLoads(in *model.VCSched, hosts []int32) [][]hostLoad {
	loads := make([][]hostLoad, len(in.Jobs))
	k := 0
	for i := range in.Jobs {
		mine := slices.Clone(hosts[k : k+in.Jobs[i].Tasks])
		slices.Sort(mine)
		for _, h := range mine {
			if l := len(loads[i]); l == 0 || loads[i][l-1].host != h {
				loads[i] = append(loads[i], hostLoad{host: h})
			}
			loads[i][len(loads[i])-1].cpu += in.Jobs[i].CPU
		}
		k += in.Jobs[i].Tasks
	}
	return loads
}

type hostLoad struct {
	host int32
	cpu  float64
}

func raiseByLP(ctx context.Context, in *model.VCSched, hosts []int32, lowest float64) (*model.Placement, error) {
	loads := jobLoads(in, hosts)
	if !highs.Available() {
		return repair(in, hosts, lowest, loads, yieldsInTurn(in, loads, lowest)), nil
	}
	m := &milp.Model{Maximise: true, Rows: make([]milp.Row, in.Hosts)}
	for h, cpu := range hostCPUs(in) {
		m.Rows[h] = milp.Row{Lower: math.Inf(-1), Upper: cpu}
	}
	for i := range loads {
		m.AddVar(milp.Var{Lower: lowest, Upper: 1, Cost: 1})
		for _, l := range loads[i] {
			m.Rows[l.host].Terms = append(m.Rows[l.host].Terms, milp.Term{Var: i, Coef: l.cpu})
		}
	}
	r, err := highs.Solve(ctx, m, milp.Options{})
	if err != nil {
		return nil, fmt.Errorf("second phase: %w", err)
	}
	switch {
	case r.Status == milp.Optimal:
		return repair(in, hosts, lowest, loads, r.X), nil
	case ctx.Err() != nil:
		return in.NewPlacement(hosts, lowest), nil
	}
	return nil, fmt.Errorf("second phase: the linear program, which has a solution, ended as %v", r.Status)
}

// yieldsInTurn returns yields of at least the lowest that fit the hosts, [job].
func yieldsInTurn(in *model.VCSched, loads [][]hostLoad, lowest float64) []float64 {
	left, need := hostCPUs(in), make([]float64, len(loads))
	for i := range loads {
		for _, l := range loads[i] {
			left[l.host] -= l.cpu * lowest
			need[i] += l.cpu
		}
	}
	yields := make([]float64, len(loads))
	for _, i := range order.By(order.Of[int](len(loads)), need) {
		more := 1 - lowest
		for _, l := range loads[i] {
			if l.cpu > 0 {
				more = min(more, max(0, left[l.host])/l.cpu)
			}
		}
		yields[i] = lowest + more
		for _, l := range loads[i] {
			left[l.host] -= l.cpu * more
		}
	}
	return yields
}

// repair returns the placement with the given yields of the jobs, which may exceed their bounds and the hosts' CPU by a
// solver's tolerance. It scales the excess over the lowest yield down until it fits.
func repair(in *model.VCSched, hosts []int32, lowest float64, loads [][]hostLoad, yields []float64) *model.Placement {
	left, extra := hostCPUs(in), make([]float64, in.Hosts)
	for i := range loads {
		for _, l := range loads[i] {
			left[l.host] -= l.cpu * lowest
			extra[l.host] += l.cpu * (min(max(yields[i], lowest), 1) - lowest)
		}
	}
	p := in.NewPlacement(hosts, lowest)
	for i := range loads {
		keep := 1.0
		for _, l := range loads[i] {
			if most := max(0, left[l.host]); extra[l.host] > most {
				keep = min(keep, most/extra[l.host])
			}
		}
		raise := min(max(yields[i], lowest), 1) - lowest
		for k := range p.Jobs[i].CPU {
			p.Jobs[i].CPU[k] = min(in.Jobs[i].CPU*(lowest+keep*raise), in.Jobs[i].CPU)
		}
	}
	return p
}
