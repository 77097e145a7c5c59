// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulations are the names that Build knows, the default first.
var Formulations = []string{"counts"}

// maxVariables and maxTerms limit a formulation.
const (
	maxVariables = 1_000_000
	// tightHosts is up to how many hosts each job has its own rows.
	tightHosts = 100
)

// Program is the linear model of an instance in whole numbers. Its objective counts cost
// or moves by the goal.
type Program struct {
	milp.Formulation[*model.Assignment]
	View  *view.Consolidation
	Use   []int           // variable of each host that is in use: 0 or 1
	Stay  []map[int32]int // of each job and host, how many tasks stay
	Anew  [][]int         // of each job and host: how many are placed anew, -1 where none can
	Leave []int           // of each job: how many are left out, -1 where none may be
	// Exact are the rows in whole numbers; Rows has some divided by their greatest coefficient.
	Exact []milp.Row
	// What encode computes: Booleans that are 1 if a term is, the least of some sums, and
	// Booleans that are 1 if a sum is at most 1.
	flags, alones []derived
	leasts        []derived
}

// Build builds the formulation "counts": of each job, how many tasks stay on each host and how
// many are placed there anew, and which hosts are in use. Tasks of a job are alike, so that nothing is
// lost. Of each offer there are so many hosts as a solution of at most the cost `most` can have
// (< 0: as many as tasks), the first ones in use before the others.
//
// Rules: with A the tasks that are bound, B the others in a domain, and "anew" those placed anew,
// apart says that 1 of A anew excludes all of B and the other way round, by Boolean variables;
// spread and together say what must hold where a Boolean is 1, which it is if one of A is anew.
// O(jobs × hosts) variables.
func Build(in *model.Consolidation, most int64) (*Program, error) {
	slots := -1
	if most >= 0 {
		slots = 0
		for _, o := range in.Offers {
			n := int64(in.Tasks())
			if o.Price > 0 {
				n = min(n, most/o.Price)
			}
			slots = max(slots, int(n))
		}
	}
	if err := bounds.CheckSize(Formulations[0], "variables", len(in.Jobs)*(len(in.Hosts)+len(in.Offers)*max(slots, 1)), maxVariables); err != nil {
		return nil, err
	}
	c := view.OfConsolidation(in, slots)
	if err := bounds.CheckSize(Formulations[0], "variables", len(in.Jobs)*len(c.Hosts), maxVariables); err != nil {
		return nil, err
	}
	p := &Program{View: c}
	p.Name, p.Scheme, p.Whole = in.Name, Formulations[0], true
	p.Value, p.Limit = func(x float64) float64 { return x }, 0
	b := builder{Program: p, cost: map[int]int64{}, moves: map[int]int64{}}
	b.variables()
	b.capacities()
	for q := range c.Rules {
		b.rule(q)
	}
	b.objective()
	b.scale()
	p.Sensitivity = b.sensitivity()
	p.Encode, p.Decode = p.encode, p.decode
	return p, nil
}

// derived is a variable that follows from sums.
type derived struct {
	v    int
	sums [][]milp.Term
}

// builder builds a Program.
type builder struct {
	*Program
	cost, moves map[int]int64 // coefficients
	allMoves    int64
}

func (b *builder) integer(name string, low, high int64) int {
	return b.AddVar(milp.Var{Name: name, Lower: float64(low), Upper: float64(high), Integer: true})
}

func (b *builder) atMost(name string, most float64, terms ...milp.Term) {
	b.AddRow(name, math.Inf(-1), most, terms...)
}

func term(v int, coef int64) milp.Term { return milp.Term{Var: v, Coef: float64(coef)} }

// variables adds the variables, what each job has, and the order of bought hosts.
func (b *builder) variables() {
	c := b.View
	current := make([]map[int32]int64, len(c.Jobs)) // tasks of each job on each host now
	pinned := make([]bool, len(c.Hosts))
	for i := range c.Jobs {
		current[i] = map[int32]int64{}
		for _, h := range c.Jobs[i].Current {
			if h >= 0 {
				current[i][h]++
				pinned[h] = pinned[h] || c.Jobs[i].Pinned
			}
		}
	}
	for h := range c.Hosts {
		low := int64(0)
		if c.Hosts[h].Kept || pinned[h] {
			low = 1
		}
		use := b.integer(fmt.Sprintf("use_%d", h+1), low, 1)
		b.Use = append(b.Use, use)
		b.cost[use] += c.Hosts[h].Price
		if h > c.Existing && c.Hosts[h].Offer == c.Hosts[h-1].Offer {
			b.atMost(fmt.Sprintf("bought_%d", h+1), 0, term(use, 1), term(b.Use[h-1], -1))
		}
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		n := int64(len(j.Current))
		var all []milp.Term
		stay, anew := map[int32]int{}, make([]int, len(c.Hosts))
		for h := range c.Hosts {
			if k := current[i][int32(h)]; k > 0 {
				low := int64(0)
				if j.Pinned {
					low = k
				}
				v := b.integer(fmt.Sprintf("stay_%d_%d", i+1, h+1), low, k)
				stay[int32(h)] = v
				all = append(all, term(v, 1))
				b.moves[v] -= j.Move
				b.allMoves += j.Move * k
			}
			anew[h] = -1
			if !j.Pinned && j.Allowed.Has(h) {
				room := n
				for r, x := range j.Needs {
					if x > 0 {
						room = min(room, c.Hosts[h].Capacity[r]/x)
					}
				}
				if room > 0 {
					anew[h] = b.integer(fmt.Sprintf("anew_%d_%d", i+1, h+1), 0, room)
					all = append(all, term(anew[h], 1))
				}
			}
		}
		leave := -1
		if j.LeaveOut >= 0 && !j.Pinned {
			leave = b.integer(fmt.Sprintf("leave_%d", i+1), 0, n)
			all = append(all, term(leave, 1))
			b.cost[leave] += j.LeaveOut
		}
		b.Stay, b.Anew, b.Leave = append(b.Stay, stay), append(b.Anew, anew), append(b.Leave, leave)
		b.AddRow(fmt.Sprintf("tasks_%d", i+1), float64(n), float64(n), all...)
	}
}

// each calls f for the variables of job i on host h.
func (p *Program) each(i, h int, f func(v int, anew bool)) {
	if v, ok := p.Stay[i][int32(h)]; ok {
		f(v, false)
	}
	if v := p.Anew[i][h]; v >= 0 {
		f(v, true)
	}
}

// capacities adds what hosts have, and that tasks are on hosts in use.
func (b *builder) capacities() {
	c := b.View
	for h := range c.Hosts {
		for r, has := range c.Hosts[h].Capacity {
			if c.Hosts[h].Overfull {
				break
			}
			var row []milp.Term
			for i := range c.Jobs {
				if need := c.Jobs[i].Needs[r]; need > 0 {
					b.each(i, h, func(v int, _ bool) { row = append(row, term(v, need)) })
				}
			}
			if len(row) == 0 {
				continue
			}
			b.atMost(fmt.Sprintf("has_%d_%d", r+1, h+1), 0, append(row, term(b.Use[h], -has))...)
		}
		// Rows for each job are tighter, and the only ones where tasks need nothing.
		for i := range c.Jobs {
			needs := false
			for _, x := range c.Jobs[i].Needs {
				needs = needs || x > 0
			}
			if needs && !c.Hosts[h].Overfull && len(c.Hosts) > tightHosts {
				continue
			}
			b.each(i, h, func(v int, _ bool) {
				if most := int64(b.Vars[v].Upper); most > 0 && b.Vars[b.Use[h]].Lower == 0 {
					b.atMost(fmt.Sprintf("in_%d_%d", v+1, h+1), 0, term(v, 1), term(b.Use[h], -most))
				}
			})
		}
	}
}

// sides are the variables of a rule in a domain, with the most that they sum to.
type sides struct {
	anew, all []milp.Term
	most      int64 // of anew
	mostAll   int64
}

// of returns the variables of jobs in a domain, by whether the jobs are in a set.
func (b *builder) of(jobs []int, domain, d int, only func(i int) bool) (s sides) {
	c := b.View
	for h, x := range c.Domains[domain] {
		if int(x) != d {
			continue
		}
		for _, i := range jobs {
			if !only(i) {
				continue
			}
			b.each(i, h, func(v int, anew bool) {
				s.all = append(s.all, term(v, 1))
				s.mostAll += int64(b.Vars[v].Upper)
				if anew {
					s.anew = append(s.anew, term(v, 1))
					s.most += int64(b.Vars[v].Upper)
				}
			})
		}
	}
	return s
}

// times returns the terms times a factor.
func times(terms []milp.Term, by float64) []milp.Term {
	all := make([]milp.Term, len(terms))
	for k, t := range terms {
		all[k] = milp.Term{Var: t.Var, Coef: t.Coef * by}
	}
	return all
}

// plus adds up terms; a variable that is in both has one term.
func plus(lists ...[]milp.Term) []milp.Term {
	at, all := map[int]int{}, []milp.Term(nil)
	for _, list := range lists {
		for _, t := range list {
			if k, ok := at[t.Var]; ok {
				all[k].Coef += t.Coef
				continue
			}
			at[t.Var] = len(all)
			all = append(all, t)
		}
	}
	return all
}

// rule adds the rows of a rule.
func (b *builder) rule(q int) {
	c := b.View
	r := &c.Rules[q]
	anyJob := func(int) bool { return true }
	// Tasks that are bound go to no host outside of domains, except apart.
	if r.Type != model.RuleApart {
		for h, x := range c.Domains[r.Domain] {
			if x >= 0 {
				continue
			}
			for _, i := range r.Jobs {
				if v := b.Anew[i][h]; v >= 0 {
					b.Vars[v].Upper = 0
				}
			}
		}
	}
	var least int
	if r.Type == model.RuleSpread {
		least = b.integer(fmt.Sprintf("least_%d", q+1), 0, int64(b.tasks(r.Others)))
		sums := derived{v: least}
		for d := range c.Values[r.Domain] {
			if r.Among.Has(d) {
				s := b.of(r.Others, r.Domain, d, anyJob)
				b.atMost(fmt.Sprintf("least_%d_%d", q+1, d+1), 0, append(times(s.all, -1), term(least, 1))...)
				sums.sums = append(sums.sums, s.all)
			}
		}
		b.leasts = append(b.leasts, sums)
		if r.Among.Empty() {
			b.Vars[least].Upper = 0
		}
	}
	alone := -1
	for d := range c.Values[r.Domain] {
		name := fmt.Sprintf("rule_%d_%d", q+1, d+1)
		switch r.Type {
		case model.RuleApart:
			isBoth := func(i int) bool { return r.Bound.Has(i) && r.Other.Has(i) }
			b.mutual(name, b.of(r.Jobs, r.Domain, d, isBoth))
			b.exclude(name+"_a", b.of(r.Jobs, r.Domain, d, func(i int) bool { return !r.Other.Has(i) }), b.of(r.Others, r.Domain, d, anyJob))
			b.exclude(name+"_b", b.of(r.Others, r.Domain, d, func(i int) bool { return !r.Bound.Has(i) }), b.of(r.Jobs, r.Domain, d, isBoth))
		case model.RuleSpread:
			anew, all := b.of(r.Jobs, r.Domain, d, anyJob), b.of(r.Others, r.Domain, d, anyJob)
			if anew.most == 0 {
				continue
			}
			f := b.flag(name, anew)
			// all - least ≤ skew + (1 - f) (most - skew)
			slack := max(0, all.mostAll-int64(r.MaxSkew))
			b.atMost(name, float64(int64(r.MaxSkew)+slack), append(plus(all.all), term(least, -1), term(f, slack))...)
		case model.RuleTogether:
			all := b.of(r.Others, r.Domain, d, anyJob)
			if s := b.of(r.Jobs, r.Domain, d, func(i int) bool { return !r.Other.Has(i) }); s.most > 0 {
				b.atMost(name, 0, append(times(all.all, -1), term(b.flag(name+"_o", s), 1))...)
			}
			if s := b.of(r.Jobs, r.Domain, d, func(i int) bool { return r.Other.Has(i) }); s.most > 0 {
				if alone < 0 { // 1: there is no more than one task of the others at all
					alone = b.integer(fmt.Sprintf("alone_%d", q+1), 0, 1)
					n := int64(b.tasks(r.Others))
					placed := b.placed(r.Others)
					b.atMost(fmt.Sprintf("alone_%d", q+1), float64(max(n, 1)), append(plus(placed), term(alone, max(n-1, 0)))...)
					b.alones = append(b.alones, derived{alone, [][]milp.Term{placed}})
				}
				b.atMost(name+"_2", 0, append(times(all.all, -1), term(b.flag(name+"_b", s), 2), term(alone, -1))...)
			}
		}
	}
}

// tasks counts the tasks of jobs.
func (b *builder) tasks(jobs []int) (n int) {
	for _, i := range jobs {
		n += len(b.View.Jobs[i].Current)
	}
	return n
}

// placed returns the terms of all tasks of jobs that aren't left out.
func (b *builder) placed(jobs []int) (all []milp.Term) {
	for _, i := range jobs {
		for h := range b.View.Hosts {
			b.each(i, h, func(v int, _ bool) { all = append(all, term(v, 1)) })
		}
	}
	return all
}

// flag adds a Boolean that is 1 if a task is placed anew.
func (b *builder) flag(name string, s sides) int {
	f := b.integer(name+"_anew", 0, 1)
	b.atMost(name+"_anew", 0, append(plus(s.anew), term(f, -s.most))...)
	b.flags = append(b.flags, derived{f, [][]milp.Term{s.anew}})
	return f
}

// mutual adds that tasks of one side exclude each other, unless all of them stay.
func (b *builder) mutual(name string, s sides) {
	switch {
	case s.most == 0 || s.mostAll <= 1:
	case s.mostAll-s.most <= 1: // at most one can stay
		b.atMost(name, 1, s.all...)
	default:
		f := b.flag(name, s)
		b.atMost(name, float64(s.mostAll), append(plus(s.all), term(f, s.mostAll-1))...)
	}
}

// exclude adds that a task of one side that is placed anew excludes all of the other, and the
// other way round. The sides have no job in common.
func (b *builder) exclude(name string, x, y sides) {
	for k, pair := range [][2]sides{{x, y}, {y, x}} {
		if anew, all := pair[0], pair[1]; anew.most > 0 && all.mostAll > 0 {
			f := b.flag(fmt.Sprintf("%s%d", name, k+1), anew)
			b.atMost(fmt.Sprintf("%s%d", name, k+1), float64(all.mostAll), append(plus(all.all), term(f, all.mostAll))...)
		}
	}
}

// objective sets the costs of the goal, and the limit of the other figure.
func (b *builder) objective() {
	in := b.View.In
	set := func(coefs map[int]int64, constant int64) {
		for v, x := range coefs {
			b.Vars[v].Cost = float64(x)
		}
		b.Offset = float64(constant)
	}
	limit := func(name string, coefs map[int]int64, constant int64, most *int64) {
		if most == nil {
			return
		}
		var row []milp.Term
		for v := range b.Vars {
			if x := coefs[v]; x != 0 {
				row = append(row, term(v, x))
			}
		}
		b.atMost(name, float64(*most-constant), row...)
	}
	limit("move_budget", b.moves, b.allMoves, in.MoveBudget)
	limit("cost_limit", b.cost, 0, in.CostLimit)
	if in.Goal == model.GoalMoves {
		set(b.moves, b.allMoves)
	} else {
		set(b.cost, 0)
	}
}

// largeCoef is the coefficient from which on a row is scaled for solvers in floating-point numbers.
const largeCoef = 1000

// scale keeps the rows in whole numbers, divided by what divides all of a row, and scales those
// of large coefficients for solvers.
func (b *builder) scale() {
	b.Exact = make([]milp.Row, len(b.Rows))
	for k := range b.Rows {
		row := b.Rows[k]
		var common, most int64
		for _, t := range row.Terms {
			common, most = gcd(common, int64(math.Abs(t.Coef))), max(most, int64(math.Abs(t.Coef)))
		}
		if common > 1 {
			row.Terms = times(row.Terms, 1/float64(common))
			for i := range row.Terms {
				row.Terms[i].Coef = math.Round(row.Terms[i].Coef)
			}
			row.Lower, row.Upper = math.Ceil(row.Lower/float64(common)), math.Floor(row.Upper/float64(common))
		}
		b.Exact[k], b.Rows[k] = row, row
		if most /= max(common, 1); most >= largeCoef {
			by := 1 / float64(most)
			b.Rows[k].Terms = times(row.Terms, by)
			b.Rows[k].Lower, b.Rows[k].Upper = row.Lower*by, row.Upper*by
		}
	}
}

// sensitivity bounds what the objective gains by a tolerance of the integers.
func (b *builder) sensitivity() float64 {
	sum := 0.0
	for _, v := range b.Vars {
		sum += math.Abs(v.Cost)
	}
	return sum
}

// decode returns the solution of a point: of the tasks of a job on a host as many stay as can.
func (p *Program) decode(x []float64) (*model.Assignment, error) {
	c := p.View
	plan := c.Today()
	for i := range plan {
		j := &c.Jobs[i]
		here := map[int32]int{} // how many there are
		for h := range c.Hosts {
			p.each(i, h, func(v int, _ bool) { here[int32(h)] += int(math.Round(x[v])) })
		}
		var free []int
		for k, h := range j.Current {
			if h >= 0 && here[h] > 0 {
				here[h]--
				continue
			}
			plan[i][k] = view.Nowhere
			free = append(free, k)
		}
		for h := range c.Hosts {
			for ; here[int32(h)] > 0; here[int32(h)]-- {
				if len(free) == 0 {
					return nil, fmt.Errorf("%w: more tasks of job %q than it has", model.ErrInfeasible, c.In.Jobs[i].ID)
				}
				plan[i][free[0]] = int32(h)
				free = free[1:]
			}
		}
	}
	return c.Assignment(plan), nil
}

// encode returns the point of a solution; nil if it has more bought hosts than there are slots.
func (p *Program) encode(a *model.Assignment) []float64 {
	plan, err := p.View.PlanOf(a)
	if err != nil {
		return nil
	}
	c, x := p.View, make([]float64, len(p.Vars))
	for v := range p.Vars {
		x[v] = p.Vars[v].Lower
	}
	for i := range plan {
		for v := range p.Stay[i] {
			x[p.Stay[i][v]] = 0
		}
		for k, h := range plan[i] {
			switch {
			case h < 0 && p.Leave[i] < 0:
				return nil
			case h < 0:
				x[p.Leave[i]]++
			case h == c.Jobs[i].Current[k]:
				x[p.Stay[i][h]]++
			case p.Anew[i][h] < 0:
				return nil
			default:
				x[p.Anew[i][h]]++
			}
			if h >= 0 {
				x[p.Use[h]] = 1
			}
		}
	}
	sum := func(terms []milp.Term) (n float64) {
		for _, t := range terms {
			n += x[t.Var]
		}
		return n
	}
	for _, d := range p.flags {
		x[d.v] = min(1, sum(d.sums[0]))
	}
	for _, d := range p.alones {
		if sum(d.sums[0]) <= 1 {
			x[d.v] = 1
		}
	}
	for _, d := range p.leasts {
		for k, terms := range d.sums {
			if n := sum(terms); k == 0 || n < x[d.v] {
				x[d.v] = n
			}
		}
	}
	return x
}
