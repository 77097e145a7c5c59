// SPDX-License-Identifier: MIT

// Package simplex solves small linear programs without HiGHS.
package simplex

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model/milp"
)

// Options say how far a program is solved.
type Options struct {
	Cutoff float64 // it stops above
	Pivots int     // it stops after
	// Bounded holds variables to their upper bounds. Without it they are left to duals.SafeLower, which is faster and
	// no weaker if rows keep variables below.
	Bounded bool
}

// Simplex is the dual simplex method on a dense dictionary (Lemke 1954), for programs that minimise costs that aren't
// negative. With all variables at their lower bounds the dual is feasible from the start, and after each pivot. So it
// has a bound whenever it stops. Integrality is left to the caller.
//
// A basic variable above its upper bound is replaced by its distance below the bound, which makes its value negative
// (Wagner 1958). A variable with equal bounds never comes back into the basis: its reduced cost may have any sign.
// O(rows · variables) per pivot
type Simplex struct {
	m       *milp.Model
	rows    int // of the dictionary: each of a row's bounds makes one
	vars    int
	of      []dictRow   // of each row of the dictionary
	rhs     []float64   // of each basic variable: its value
	coef    [][]float64 // basic variables in terms of the others
	cost    []float64   // of the others
	value   float64
	basic   []int     // by row: a variable, or vars + the row of the slack
	others  []int     // by column, likewise
	width   []float64 // by variable: the most that it can be above its lower bound
	turned  []bool    // by variable: it counts down from its upper bound
	refuted int       // a row that nothing satisfies; -1: none
	room    []float64 // of coef
}

// dictRow is a row of the model, as it is (at least its lower bound) or turned around.
type dictRow struct {
	row  int
	sign float64
}

// Solve returns a bound of the model, and values of its variables, nil if it stopped before there
// were any that satisfy all rows. No cost may be negative, and all bounds of variables are finite. A Simplex solves one program after the other.
func (s *Simplex) Solve(ctx context.Context, m *milp.Model, o Options) (lower float64, x []float64) {
	s.m, s.vars, s.rows, s.value, s.refuted = m, len(m.Vars), 0, m.Offset, -1
	s.of, s.rhs, s.coef, s.basic = s.of[:0], s.rhs[:0], s.coef[:0], s.basic[:0]
	if need := 2 * len(m.Rows) * s.vars; cap(s.room) < need {
		s.room = make([]float64, need*2)
	}
	room := s.room[:cap(s.room)]
	for i := range m.Rows {
		for _, sign := range []float64{1, -1} {
			side := m.Rows[i].Lower
			if sign < 0 {
				side = -m.Rows[i].Upper
			}
			if math.IsInf(side, 0) {
				continue
			}
			c, rhs := room[:s.vars:s.vars], -side
			room = room[s.vars:]
			clear(c)
			for _, t := range m.Rows[i].Terms {
				c[t.Var] += sign * t.Coef
				rhs += sign * t.Coef * m.Vars[t.Var].Lower
			}
			s.of = append(s.of, dictRow{i, sign})
			s.rhs, s.coef, s.basic = append(s.rhs, rhs), append(s.coef, c), append(s.basic, s.vars+s.rows)
			s.rows++
		}
	}
	s.cost, s.others, s.width, s.turned = s.cost[:0], s.others[:0], s.width[:0], s.turned[:0]
	for j, v := range m.Vars {
		s.others, s.cost, s.turned = append(s.others, j), append(s.cost, v.Cost), append(s.turned, false)
		s.value += v.Cost * v.Lower
		if width := v.Upper - v.Lower; o.Bounded {
			s.width = append(s.width, width)
		} else {
			s.width = append(s.width, math.Inf(1))
		}
	}
	done := s.pivots(ctx, o)
	lower = duals.SafeLower(m, s.duals(0))
	if s.refuted >= 0 {
		scale := 1.0
		if !math.IsInf(o.Cutoff, 0) {
			scale = max(1, math.Abs(o.Cutoff))
		}
		for by := 1.0; lower < o.Cutoff && by < 1e9; by *= 10 {
			lower = max(lower, duals.SafeLower(m, s.duals(by*scale)))
		}
	}
	if !done {
		return lower, nil
	}
	x = make([]float64, s.vars)
	for i, v := range s.basic {
		if v < s.vars {
			x[v] = s.rhs[i]
		}
	}
	for j, v := range m.Vars {
		if s.turned[j] {
			x[j] = v.Upper - x[j]
		} else {
			x[j] += v.Lower
		}
	}
	return lower, x
}

// pivots goes on to the optimum, and reports whether it has reached it.
func (s *Simplex) pivots(ctx context.Context, o Options) bool {
	const small = 1e-9
	for range o.Pivots {
		out, least := -1, -1e-9
		for i, r := range s.rhs {
			if v := s.basic[i]; v < s.vars && s.width[v]-r < r {
				r = s.width[v] - r
			}
			if r < least {
				out, least = i, r
			}
		}
		if out < 0 {
			return true
		}
		if s.value > o.Cutoff || meter.Stop(ctx, int64(s.rows*s.vars)/2000) {
			return false
		}
		if v := s.basic[out]; v < s.vars && s.width[v]-s.rhs[out] < s.rhs[out] {
			s.turn(out)
		}
		row := s.coef[out]
		in, ratio := -1, math.Inf(1)
		for j, a := range row {
			if v := s.others[j]; a <= small || v < s.vars && s.width[v] == 0 {
				continue
			}
			if r := max(0, s.cost[j]) / a; r < ratio-1e-12 || r <= ratio+1e-12 && a > row[in] {
				in, ratio = j, r
			}
		}
		if in < 0 {
			s.refuted = out
			return false
		}
		s.pivot(out, in)
	}
	return false
}

// turn counts a basic variable down from its upper bound, or up from its lower one again.
func (s *Simplex) turn(i int) {
	v := s.basic[i]
	s.turned[v] = !s.turned[v]
	s.rhs[i] = s.width[v] - s.rhs[i]
	for j := range s.coef[i] {
		s.coef[i][j] = -s.coef[i][j]
	}
}

// pivot exchanges a basic variable for another one.
func (s *Simplex) pivot(out, in int) {
	row := s.coef[out]
	a := 1 / row[in]
	for j := range row {
		row[j] *= -a
	}
	row[in] = a
	s.rhs[out] *= -a
	at := s.rhs[out]
	for i, other := range s.coef {
		if c := other[in]; i != out && c != 0 {
			other[in] = 0
			for j, x := range row {
				other[j] += c * x
			}
			s.rhs[i] += c * at
		}
	}
	c := s.cost[in]
	s.cost[in] = 0
	for j, x := range row {
		s.cost[j] += c * x
	}
	s.value += c * at
	s.basic[out], s.others[in] = s.others[in], s.basic[out]
}

// duals returns the dual values of the model's rows, with a multiple of the ray that refutes the refuted row.
func (s *Simplex) duals(by float64) []float64 {
	y := make([]float64, len(s.m.Rows))
	add := func(v int, x float64) {
		if v >= s.vars && x > 0 {
			r := s.of[v-s.vars]
			y[r.row] += r.sign * x
		}
	}
	for j, v := range s.others {
		x := s.cost[j]
		if by > 0 {
			x += by * max(0, -s.coef[s.refuted][j])
		}
		add(v, x)
	}
	if by > 0 {
		add(s.basic[s.refuted], by)
	}
	return y
}
