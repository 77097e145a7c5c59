// SPDX-License-Identifier: MIT

package vcsched

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulation is a linear model of VCSched with placements as points. Decode puts every task on the host of its largest
// e (the numbers of tasks of a type on a host are rounded) and gives it the CPU share of the best minimum yield there.
type Formulation struct {
	milp.Formulation[*model.Placement]
	// E holds the index of the variable that puts the k-th task, counted through the instance, on the first host; the
	// other hosts follow. In the compact formulation it is the variable of the task's type; a host's value is the
	// number of such tasks.
	E []int
	// Rigid holds the rows of the hosts' memory and other rigid resources, [resource of view.VCSched.Rigid][host].
	// Budget is the row of the migration budget, -1 without.
	Rigid  [][]int
	Budget int
}

// Formulations are the names that Build knows, the default first.
var Formulations = []string{"compact", "paper", "parallel", "migration"}

// maxFormulationVariables and maxFormulationTerms limit the size of a formulation, so that a large instance is an error
// and doesn't take all of the memory. A variable with its rows takes some 600 bytes, a term 16. Solvers give up at
// smaller sizes.
const (
	maxFormulationVariables = 1_000_000
	maxFormulationTerms     = 50_000_000
)

// Build builds a formulation by name:
//
//   - paper: Eq. 3-11, sequential jobs only;
//   - parallel: Eq. 12-21, any jobs; equal to paper on sequential ones;
//   - migration: Eq. 22-31, with the budget row; also for parallel jobs;
//   - compact: minimise the largest CPU load; equal tasks share one integer
//     variable per host and identical hosts are ordered by first use.
//
// Each further rigid resource has rows as memory has, unless they follow from others,
// and hosts of different sizes have their own right sides.
//
// With a migration budget only migration and compact are valid. The number of variables is 2nH+1 for the first three
// and TH+1, T the number of different tasks, for compact (nH+1 with a budget). Anything that would need more than
// maxFormulationVariables or maxFormulationTerms is model.ErrUnsupported.
func Build(in *model.VCSched, name string) (*Formulation, error) {
	sequential := in.Tasks() == len(in.Jobs)
	switch name {
	case "paper", "parallel":
		if in.MigrationBudget != nil {
			return nil, fmt.Errorf("formulation %s: %w: it has no migration budget; use migration or compact", name, model.ErrUnsupported)
		}
		if name == "paper" && !sequential {
			return nil, fmt.Errorf("formulation paper: %w: it is for sequential jobs; use parallel", model.ErrUnsupported)
		}
		fallthrough
	case "migration":
		if err := bounds.CheckSize(name, "variables", 2*in.Tasks()*in.Hosts+1, maxFormulationVariables); err != nil {
			return nil, err
		}
		return sharesModel(in, name), nil
	case "compact":
		if in.MigrationBudget != nil {
			if err := bounds.CheckSize(name, "variables", in.Tasks()*in.Hosts+1, maxFormulationVariables); err != nil {
				return nil, err
			}
			return loadModel(in), nil
		}
		u := view.OfVCSched(in)
		t := NewTasks(u)
		T := len(t.CPU)
		if err := bounds.CheckSize(name, "variables", T*in.Hosts+1, maxFormulationVariables); err != nil {
			return nil, err
		}
		// The rows that order the hosts dominate.
		if err := bounds.CheckSize(name, "terms", T*T/2*in.Hosts, maxFormulationTerms); err != nil {
			return nil, err
		}
		return compactModel(in, u, t), nil
	}
	return nil, fmt.Errorf("formulation %q is unknown, give one of %v", name, Formulations)
}

// smallNeed is the CPU need, in hosts, below which x in the paper's formulations
// counts shares of the need and not of a host: a coefficient of 1/need is too large
// for solvers' tolerances.
const smallNeed = 1e-4

// sharesModel builds Eq. 3-11, 12-21 or 22-31, which maximise the minimum yield Y: binary
// e puts a task on a host, continuous x is its CPU share there.
func sharesModel(in *model.VCSched, name string) *Formulation {
	small := slices.ContainsFunc(in.Jobs, func(j model.VCSchedJob) bool { return j.CPU < smallNeed })
	f := &Formulation{Budget: -1}
	f.Name, f.Scheme, f.Maximise = in.Name, name, true
	f.Scale = &objective.Scale{Factor: 1}
	f.Value, f.Limit = f.Scale.Value, 1
	H := in.Hosts
	// Equation numbers of: placed once, x ≤ e, x ≤ need, CPU, memory, yield.
	eq := map[string][6]string{
		"paper":     {"5", "6", "7", "8", "9", "10"},
		"parallel":  {"14", "15", "16", "17", "18", "20"},
		"migration": {"24", "25", "26", "27", "28", "29"},
	}[name]
	y := f.AddVar(milp.Var{Name: "Y", Upper: 1, Cost: 1})
	cpu, rigid := make([][]milp.Term, H), newRigidRows(in)
	var moved []milp.Term
	task := 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		need, cpuOfX := j.CPU, 1.0 // need in units of x; hosts in a unit of x
		if small {
			need, cpuOfX = 1, j.CPU
		}
		most := max(1, need)
		yield := []milp.Term{{Var: y, Coef: 1}}
		var before []milp.Term // the shares of the job's task before
		for k := range j.Tasks {
			label := fmt.Sprintf("%d_%d", i+1, k+1)
			if name == "paper" {
				label = fmt.Sprint(i + 1)
			}
			e := len(f.Vars)
			f.E = append(f.E, e)
			for h := range H {
				f.AddVar(milp.Var{Name: fmt.Sprintf("e_%s_%d", label, h+1), Upper: 1, Integer: true})
			}
			var once, shares []milp.Term
			for h := range H {
				x := f.AddVar(milp.Var{Name: fmt.Sprintf("x_%s_%d", label, h+1), Upper: most})
				once = append(once, milp.Term{Var: e + h, Coef: 1})
				shares = append(shares, milp.Term{Var: x, Coef: 1})
				yield = append(yield, milp.Term{Var: x, Coef: -1 / (need * float64(j.Tasks))})
				cpu[h] = append(cpu[h], milp.Term{Var: x, Coef: cpuOfX})
				rigid.add(h, e+h, task)
				f.AddRow(fmt.Sprintf("eq%s_%s_%d", eq[1], label, h+1), math.Inf(-1), 0,
					milp.Term{Var: x, Coef: 1}, milp.Term{Var: e + h, Coef: -most})
				if len(j.CurrentHosts) > 0 && j.CurrentHosts[k] != h {
					moved = append(moved, milp.Term{Var: e + h, Coef: j.Memory})
				}
			}
			f.AddRow(fmt.Sprintf("eq%s_%s", eq[0], label), 1, 1, once...)
			f.AddRow(fmt.Sprintf("eq%s_%s", eq[2], label), math.Inf(-1), need, shares...)
			if before != nil { // Eq. 19: equal CPU for all tasks of a job
				equal := slices.Clone(shares)
				for _, t := range before {
					equal = append(equal, milp.Term{Var: t.Var, Coef: -1})
				}
				f.AddRow(fmt.Sprintf("eq19_%s", label), 0, 0, equal...)
			}
			before = shares
			task++
		}
		f.AddRow(fmt.Sprintf("eq%s_%d", eq[5], i+1), math.Inf(-1), 0, yield...)
	}
	for h := range H {
		f.AddRow(fmt.Sprintf("eq%s_%d", eq[3], h+1), math.Inf(-1), rigid.sizes[h].CPU, cpu[h]...)
		rigid.rows(f, h, fmt.Sprintf("eq%s", eq[4]))
	}
	if name == "migration" && in.MigrationBudget != nil {
		f.Budget = f.AddRow("eq31", math.Inf(-1), *in.MigrationBudget, moved...)
	}
	f.Decode = func(x []float64) (*model.Placement, error) { return decodeHosts(in, f.E, x) }
	f.Encode = func(p *model.Placement) []float64 {
		hosts, x := p.TaskHosts(), make([]float64, len(f.Vars))
		x[y] = in.Yield(hosts)
		k := 0
		for i := range in.Jobs {
			for range in.Jobs[i].Tasks {
				e := f.E[k] + int(hosts[k])
				x[e], x[e+H] = 1, x[y]
				if !small {
					x[e+H] *= in.Jobs[i].CPU
				}
				k++
			}
		}
		return x
	}
	return f
}

// decodeHosts returns the placement with every task on the host of its largest e.
func decodeHosts(in *model.VCSched, first []int, x []float64) (*model.Placement, error) {
	hosts := make([]int32, len(first))
	for k, e := range first {
		for h := range in.Hosts {
			if x[e+h] > x[e+int(hosts[k])] {
				hosts[k] = int32(h)
			}
		}
	}
	return in.NewPlacement(hosts, in.Yield(hosts)), nil
}

// loadModel builds the compact formulation for a migration budget: a binary for each
// task and host, minimise the largest load.
func loadModel(in *model.VCSched) *Formulation {
	f := &Formulation{Budget: -1}
	f.Name, f.Scheme, f.Scale = in.Name, "compact", &objective.Scale{Load: true}
	f.Value, f.Limit = f.Scale.Value, 1
	load := f.AddVar(milp.Var{Name: "L", Upper: milp.Inf, Cost: 1})
	cpu, rigid := make([][]milp.Term, in.Hosts), newRigidRows(in)
	var moved []milp.Term
	task := 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		for k := range j.Tasks {
			f.E = append(f.E, len(f.Vars))
			var once []milp.Term
			for h := range in.Hosts {
				e := f.AddVar(milp.Var{Name: fmt.Sprintf("e_%d_%d_%d", i+1, k+1, h+1), Upper: 1, Integer: true})
				once = append(once, milp.Term{Var: e, Coef: 1})
				cpu[h] = append(cpu[h], milp.Term{Var: e, Coef: j.CPU})
				rigid.add(h, e, task)
				if len(j.CurrentHosts) > 0 && j.CurrentHosts[k] != h {
					moved = append(moved, milp.Term{Var: e, Coef: j.Memory})
				}
			}
			f.AddRow(fmt.Sprintf("once_%d_%d", i+1, k+1), 1, 1, once...)
			task++
		}
	}
	for h := range in.Hosts {
		f.AddRow(fmt.Sprintf("load_%d", h+1), math.Inf(-1), 0, append(cpu[h], milp.Term{Var: load, Coef: -rigid.sizes[h].CPU})...)
		rigid.rows(f, h, "memory")
	}
	f.Budget = f.AddRow("budget", math.Inf(-1), *in.MigrationBudget, moved...)
	f.Decode = func(x []float64) (*model.Placement, error) { return decodeHosts(in, f.E, x) }
	f.Encode = func(p *model.Placement) []float64 {
		hosts, x := p.TaskHosts(), make([]float64, len(f.Vars))
		for k, h := range hosts {
			x[f.E[k]+int(h)] = 1
		}
		x[load] = largestRow(&f.Model, x, load)
		return x
	}
	return f
}

// rigidRows collects the rows of the rigid resources of the hosts.
type rigidRows struct {
	names []string         // [resource], as view.VCSched.Rigid
	needs [][]float64      // [resource][task]
	has   [][]float64      // [resource][host]
	sizes []model.HostSize // [host]
	terms [][][]milp.Term  // [resource][host]
}

func newRigidRows(in *model.VCSched) *rigidRows {
	r := &rigidRows{}
	for _, s := range in.Sizes() {
		for range s.Count {
			r.sizes = append(r.sizes, s)
		}
	}
	for _, k := range view.RigidResources(in) {
		name, needs, has := "memory", []float64(nil), make([]float64, in.Hosts)
		if k >= 0 {
			name = fmt.Sprintf("resource%d", k+1)
		}
		for i := range in.Jobs {
			for range in.Jobs[i].Tasks {
				needs = append(needs, in.Jobs[i].Rigid(k))
			}
		}
		for h := range has {
			has[h] = r.sizes[h].Rigid(k)
		}
		r.names, r.needs, r.has = append(r.names, name), append(r.needs, needs), append(r.has, has)
		r.terms = append(r.terms, make([][]milp.Term, in.Hosts))
	}
	return r
}

// add counts the needs of a task for each unit of a variable on host h.
func (r *rigidRows) add(h, variable, task int) {
	for k, needs := range r.needs {
		if k == 0 || needs[task] > 0 {
			r.terms[k][h] = append(r.terms[k][h], milp.Term{Var: variable, Coef: needs[task]})
		}
	}
}

// rows adds the rows of host h; memory is called by its equation.
func (r *rigidRows) rows(f *Formulation, h int, memory string) {
	if f.Rigid == nil {
		f.Rigid = make([][]int, len(r.names))
	}
	for k, name := range r.names {
		if k == 0 {
			name = memory
		}
		f.Rigid[k] = append(f.Rigid[k], f.AddRow(fmt.Sprintf("%s_%d", name, h+1), math.Inf(-1), r.has[k][h], r.terms[k][h]...))
	}
}

// largestRow returns the smallest value of the variable load that satisfies, at x,
// the rows Σ … - CPU load ≤ 0.
func largestRow(m *milp.Model, x []float64, load int) float64 {
	largest := 0.0
	for _, r := range m.Rows {
		if n := len(r.Terms); n > 0 && r.Terms[n-1].Var == load {
			sum := 0.0
			for _, t := range r.Terms[:n-1] {
				sum += t.Coef * x[t.Var]
			}
			largest = max(largest, -sum/r.Terms[n-1].Coef)
		}
	}
	return largest
}

// compactModel minimises the largest load L over n_kh, the number of tasks of type k on host h. Its rows break the
// symmetry of the equal hosts, which are numbered by first use. Let g be the equal host before h. Then n_kh ≤ count_k
// Σ_{k' ≤ k} n_k'g, so a type may use host h only if host g is used by it or a type before it. Also n_kh = 0 if more
// equal hosts are before h than Σ_{k' ≤ k} count_k'. Every placement satisfies them after renumbering the hosts of each
// size among themselves.
func compactModel(in *model.VCSched, u *view.VCSched, t *Tasks) *Formulation {
	f := &Formulation{Budget: -1}
	f.Name, f.Scheme, f.Scale = in.Name, "compact", &objective.Scale{Load: true}
	f.Value, f.Limit = f.Scale.Value, 1
	H := in.Hosts
	load := f.AddVar(milp.Var{Name: "L", Upper: milp.Inf, Cost: 1})
	cpu, rigid, used := make([][]milp.Term, H), newRigidRows(in), make([][]milp.Term, H)
	index := make([]int, len(t.CPU))
	// The number of equal hosts before each, and the last of them.
	rank, before := make([]int, H), make([]int32, H)
	for _, c := range u.Classes {
		for k, h := range c.Hosts[1:] {
			rank[h], before[h] = k+1, c.Hosts[k]
		}
	}
	soFar := 0
	f.E = make([]int, len(u.CPU))
	for k := range t.CPU {
		count := float64(t.Count[k])
		soFar += int(t.Count[k])
		j := &in.Jobs[u.Job[t.Tasks[k][0]]]
		index[k] = len(f.Vars)
		for _, i := range t.Tasks[k] {
			f.E[i] = index[k]
		}
		var all []milp.Term
		for h := range H {
			v := milp.Var{Name: fmt.Sprintf("n_%d_%d", k+1, h+1), Upper: count, Integer: true}
			if rank[h] >= soFar {
				v.Upper = 0
			}
			x := f.AddVar(v)
			one := milp.Term{Var: x, Coef: 1}
			all = append(all, one)
			cpu[h] = append(cpu[h], milp.Term{Var: x, Coef: j.CPU})
			rigid.add(h, x, int(t.Tasks[k][0]))
			used[h] = append(used[h], milp.Term{Var: x, Coef: -count})
		}
		f.AddRow(fmt.Sprintf("all_%d", k+1), count, count, all...)
		for h := range H {
			if rank[h] == 0 || rank[h] >= soFar {
				continue
			}
			row := slices.Clone(used[before[h]])
			for i := range row {
				row[i].Coef = -count
			}
			f.AddRow(fmt.Sprintf("order_%d_%d", k+1, h+1), math.Inf(-1), 0, append(row, milp.Term{Var: index[k] + h, Coef: 1})...)
		}
	}
	for h := range H {
		f.AddRow(fmt.Sprintf("load_%d", h+1), math.Inf(-1), 0, append(cpu[h], milp.Term{Var: load, Coef: -rigid.sizes[h].CPU})...)
		rigid.rows(f, h, "memory")
	}
	f.Encode = func(p *model.Placement) []float64 {
		hosts, x := p.TaskHosts(), make([]float64, len(f.Vars))
		number := map[int32]int{} // of hosts by first use
		used := make([]int, len(u.Classes))
		for k, tasks := range t.Tasks {
			// A type's new hosts come after the old ones, in any order.
			for _, i := range tasks {
				if _, ok := number[hosts[i]]; !ok {
					c := u.ClassOf(hosts[i])
					number[hosts[i]] = int(u.Classes[c].Hosts[used[c]])
					used[c]++
				}
				x[index[k]+number[hosts[i]]]++
			}
		}
		x[load] = largestRow(&f.Model, x, load)
		return x
	}
	f.Decode = func(x []float64) (*model.Placement, error) {
		hosts := make([]int32, len(u.CPU))
		for k, tasks := range t.Tasks {
			left := tasks
			for h := range H {
				n := int(math.Round(x[index[k]+h]))
				if n < 0 || n > len(left) {
					return nil, fmt.Errorf("compact: %w point: it puts %d tasks of type %d on host %d, %d are left", model.ErrInfeasible, n, k+1, h, len(left))
				}
				for _, i := range left[:n] {
					hosts[i] = int32(h)
				}
				left = left[n:]
			}
			if len(left) > 0 {
				return nil, fmt.Errorf("compact: %w point: it leaves %d tasks of type %d without a host", model.ErrInfeasible, len(left), k+1)
			}
		}
		return in.NewPlacement(hosts, in.Yield(hosts)), nil
	}
	return f
}
