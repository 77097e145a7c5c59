// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulations are the names that Build knows, the default first.
var Formulations = []string{"counts"}

// maxVariables and maxTerms limit a formulation.
const (
	maxVariables = 1_000_000
	// tightHosts is the number of hosts up to which each job has its own rows.
	tightHosts = 100
)

// Program is the linear model of an instance in whole numbers. Its objective counts cost
// or moves by the goal.
type Program struct {
	milp.Formulation[*model.Assignment]
	View  *view.Consolidation
	Use   []int           // variable of each host that is in use: 0 or 1
	Stay  []map[int32]int // by job and host: how many tasks stay
	Anew  [][]int         // by job and host: how many are newly placed, -1 if none can be
	Leave []int           // by job: how many are left out, -1 if none may be
	// Exact holds the rows in whole numbers; Rows has some of them divided by their greatest coefficient.
	Exact []milp.Row
	// The figures that encode computes: Booleans that are 1 if a term is, the least of some sums, Booleans that are 1 if a
	// sum is at most 1, and those that are 1 if it is 0.
	flags, alones, overs []derived
	spreads              []spread
}

// Build builds the formulation "counts". For each job it counts the tasks that stay on each host and the tasks that are
// newly placed there; it also decides which hosts are in use. Tasks of a job are alike, so that nothing is lost. Each
// offer has as many hosts as a solution of at most the cost `most` can have (< 0: as many as tasks), the first ones in
// use before the others.
//
// Names describe each variable and row, in words and numbers from 1. Proofs have the same names with numbers from 0,
// and the judge builds each from its name.
//
// Rules: let A be the tasks that are bound, B the others in a domain, and call tasks new if they are newly placed.
// Apart says, by Boolean variables, that 1 new task of A excludes all of B and the other way round. Spread and together
// have Booleans that are 1 if one of A is new, and rows that must hold then. A host that holds more of a resource than it
// has may do so as long as no new task there needs it (over). O(jobs × hosts) variables.
func Build(in *model.Consolidation, most int64) (*Program, error) {
	slots := view.Slots(in, most)
	hosts := len(in.Hosts)
	for k := range in.Offers {
		hosts += min(in.Offers[k].Count, slots)
	}
	if err := bounds.CheckSize(Formulations[0], "variables", len(in.Jobs)*hosts, maxVariables); err != nil {
		return nil, err
	}
	c := view.OfConsolidation(in, slots)
	for h := range c.Hosts {
		if slices.Contains(c.Hosts[h].Held, view.Saturated) {
			return nil, fmt.Errorf("formulation %s: %w: the tasks on host %q need 2^60 or more of a resource", Formulations[0], model.ErrUnsupported, in.Hosts[h].ID)
		}
	}
	p := &Program{View: c}
	p.Name, p.Scheme, p.Whole = in.Name, Formulations[0], true
	p.Scale = &objective.Scale{Factor: 1}
	p.Value, p.Limit = p.Scale.Value, 0
	b := builder{Program: p, cost: map[int]int64{}, moves: map[int]int64{}, filled: map[int]bool{}, flagOf: map[string]int{}, homes: map[string]bool{}}
	b.variables()
	b.outside()
	b.capacities()
	for q := range c.Rules {
		b.rule(q)
	}
	for k := range c.Limits {
		var row []milp.Term
		for h, n := range c.Limits[k].Counts {
			if n > 0 {
				row = append(row, term(b.Use[h], n))
			}
		}
		b.atMost(fmt.Sprintf("limit_%d", k+1), float64(c.Limits[k].Most), row...)
	}
	b.objective()
	b.scale()
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
	filled      map[int]bool // bought hosts that are in use only with tasks
	flagOf      map[string]int
	homes       map[string]bool // rows
}

func (b *builder) integer(name string, low, high int64) int {
	return b.AddVar(milp.Var{Name: name, Lower: float64(low), Upper: float64(high), Integer: true})
}

func (b *builder) atMost(name string, most float64, terms ...milp.Term) {
	b.AddRow(name, math.Inf(-1), most, terms...)
}

func term(v int, coef int64) milp.Term { return milp.Term{Var: v, Coef: float64(coef)} }

// variables adds the variables, the counts of each job, and the order of bought hosts.
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
			b.atMost(fmt.Sprintf("order_%d", h+1), 0, term(use, 1), term(b.Use[h-1], -1))
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

// each calls f for the variables of job i on host h, with whether rules bind their tasks.
func (p *Program) each(i, h int, f func(v int, anew bool)) {
	if v, ok := p.Stay[i][int32(h)]; ok {
		f(v, p.View.In.Mend)
	}
	if v := p.Anew[i][h]; v >= 0 {
		f(v, true)
	}
}

// capacities adds the hosts' capacities, and that tasks are on hosts in use. Let a host hold more of a resource than it
// has, and let over be 1 if no newly placed task there needs it:
//
//	Σ need · (stay + anew) ≤ capacity · use + excess · over    with excess ≥ what it holds - capacity
//	Σ anew that need it ≤ most · (1 - over)
//
// If over is 1, only tasks that stay need the resource, at most what the host holds; if it is 0, the sum is within the
// capacity, as for other hosts. If no task that needs it can be newly placed there, the rows aren't needed.
func (b *builder) capacities() {
	c := b.View
	for h := range c.Hosts {
		for r, has := range c.Hosts[h].Capacity {
			var row, anew []milp.Term
			most := int64(0) // of anew
			for i := range c.Jobs {
				if need := c.Jobs[i].Needs[r]; need > 0 {
					b.each(i, h, func(v int, fresh bool) {
						if row = append(row, term(v, need)); fresh {
							anew, most = append(anew, term(v, 1)), most+int64(b.Vars[v].Upper)
						}
					})
				}
			}
			if held := c.Hosts[h].Held; held != nil && held[r] > has && len(row) > 0 {
				if most == 0 {
					continue
				}
				over := b.integer(fmt.Sprintf("over_%d_%d", r+1, h+1), 0, 1)
				b.atMost(fmt.Sprintf("over_%d_%d", r+1, h+1), float64(most), append(plus(anew), term(over, most))...)
				b.overs = append(b.overs, derived{over, [][]milp.Term{anew}})
				row = append(row, term(over, -excess(held[r]-has)))
			}
			if len(row) == 0 {
				continue
			}
			b.atMost(fmt.Sprintf("has_%d_%d", r+1, h+1), 0, append(row, term(b.Use[h], -has))...)
		}
		// Rows for each job are tighter, and the only ones if tasks need nothing.
		for i := range c.Jobs {
			needs := false
			for _, x := range c.Jobs[i].Needs {
				needs = needs || x > 0
			}
			if needs && c.Hosts[h].Held == nil && len(c.Hosts) > tightHosts {
				continue
			}
			b.each(i, h, func(v int, _ bool) {
				if most := int64(b.Vars[v].Upper); most > 0 && b.Vars[b.Use[h]].Lower == 0 {
					name := "stay_%d_%d"
					if v == b.Anew[i][h] {
						name = "anew_%d_%d"
					}
					b.atMost(fmt.Sprintf(name, i+1, h+1), 0, term(v, 1), term(b.Use[h], -most))
				}
			})
		}
	}
}

// excess returns a number from x on that a float64 holds.
func excess(x int64) int64 {
	if x <= 1<<53 {
		return x
	}
	return 1 << bits.Len64(uint64(x))
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
	limit("moves", b.moves, b.allMoves, in.MoveBudget)
	limit("cost", b.cost, 0, in.CostLimit)
	if in.Goal == model.GoalMoves {
		set(b.moves, b.allMoves)
	} else {
		set(b.cost, 0)
	}
}

// largeCoef is the coefficient from which on a row is scaled for solvers in floating-point numbers.
const largeCoef = 1000

// scale keeps the rows in whole numbers, divided by the common divisor of each row, and scales rows with large
// coefficients for solvers.
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
