// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/model"
)

// Kernel is the exact engine for Consolidation by lazy clause generation, on the rows of the
// formulation "counts" in whole numbers, from the heuristics' solution on. A node is a conflict.
var Kernel = engine.Engine[*model.Consolidation, uint16]{ID: "kernel", Learns: true, Proof: true, Work: engine.Learning(ask)}

// mostKernelVariables bounds the model.
const mostKernelVariables = 60_000

// ask makes the question to the kernel.
func ask(r *engine.Run, in *model.Consolidation, _ uint16, q *engine.Kernel) error {
	from, err := start(r)
	if err != nil {
		return err
	}
	q.Lower, q.Upper = math.NaN(), math.MaxInt64
	for _, b := range consbounds.Quick(r.Ctx, in) {
		switch {
		case b.Infeasible && r.Set.Proof == nil: // else the kernel derives it, too
			r.Infeasible(b.Reason)
			q.Reason = b.Reason
			return nil
		case !b.Infeasible:
			q.Lower = b.Value
		}
	}
	if from != nil {
		o, err := in.Objective(from)
		if err != nil {
			return err
		}
		q.Start, q.Upper = from, int64(o.Value)
	}
	q.Value = func(objective int64) float64 { return float64(objective) }
	if n := len(in.Jobs) * (len(in.Hosts) + len(in.Offers)); n > mostKernelVariables {
		q.Reason = fmt.Sprintf("the constraint model would have more than %d variables", mostKernelVariables)
		return nil
	}
	p, err := consbounds.Build(in, most(in, from))
	if err != nil {
		return err
	}
	if len(p.Vars) > mostKernelVariables {
		q.Reason = fmt.Sprintf("the constraint model would have more than %d variables", mostKernelVariables)
		return nil
	}
	q.ProofUnit = "1"
	m, err := constraints(p, int64(max(q.Lower, 0)))
	if err != nil {
		q.Reason = err.Error()
		return nil
	}
	if r.Set.Proof != nil {
		m.Low[m.Objective], m.High[m.Objective] = 0, q.Upper // the proof derives more
		if from == nil {
			m.High[m.Objective] = dearest(in)
		}
	}
	q.Model, q.Solution = m, func(values []int64) (model.Solution, error) {
		x := make([]float64, len(p.Vars))
		for v := range x {
			x[v] = float64(values[v])
		}
		return p.Decode(x)
	}
	return nil
}

// dearest returns a bound of all objectives. As many hosts are bought as there are tasks, at most. Up to 10^7 hosts and
// tasks of at most 10^8 each, which Validate demands, sum to less than 2^53.
func dearest(in *model.Consolidation) (most int64) {
	tasks, price := int64(in.Tasks()), int64(0)
	for k := range in.Hosts {
		most += in.Hosts[k].Price
	}
	for k := range in.Offers {
		price = max(price, in.Offers[k].Price)
	}
	most += price * tasks
	moves := int64(0)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if j.LeaveOutCost != nil && !j.Pinned {
			most += *j.LeaveOutCost * int64(j.Tasks)
		}
		moves += j.Moving() * int64(j.Tasks)
	}
	if in.Goal == model.GoalMoves {
		return moves
	}
	return most
}

// constraints returns the rows of a program as a constraint model with an objective of at least lower. All have the
// program's names, with numbers from 0.
func constraints(p *consbounds.Program, lower int64) (*cp.Model, error) {
	m := new(cp.Model)
	low, high := int64(p.Offset), int64(p.Offset)
	sum := cp.Linear{AtMost: -int64(p.Offset)}
	for k, v := range p.Vars {
		x := m.Int(int64(v.Lower), int64(v.Upper))
		m.Call(x, called(v.Name))
		if v.Upper <= 1 {
			m.Decisions = append(m.Decisions, x)
		} else {
			m.Integers = append(m.Integers, x)
		}
		if c := int64(v.Cost); c != 0 {
			sum.Terms = append(sum.Terms, cp.Term{Times: c, Var: cp.Var(k)})
			low, high = low+min(c*m.Low[x], c*m.High[x]), high+max(c*m.Low[x], c*m.High[x])
		}
	}
	m.Objective = m.Int(max(low, lower), max(high, lower))
	m.Call(m.Objective, "objective")
	m.Integers = append(m.Integers, m.Objective)
	sum.Terms = append(sum.Terms, cp.Term{Times: -1, Var: m.Objective})
	m.AddAs("objective", &sum)
	for _, row := range p.Exact {
		for _, side := range []float64{1, -1} {
			most := row.Upper
			if side < 0 {
				most = -row.Lower
			}
			if math.IsInf(most, 1) {
				continue
			}
			l := &cp.Linear{AtMost: int64(most)}
			for _, t := range row.Terms {
				l.Terms = append(l.Terms, cp.Term{Times: int64(side * t.Coef), Var: cp.Var(t.Var)})
			}
			m.AddAs(called(row.Name), l)
		}
	}
	return m, m.Check()
}

// called returns the name in a proof: "stay 0 3" for "stay_1_4".
func called(name string) string {
	words := strings.Split(name, "_")
	for k, w := range words {
		if n, err := strconv.Atoi(w); err == nil {
			words[k] = strconv.Itoa(n - 1)
		}
	}
	return strings.Join(words, " ")
}
