package reservation

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

const (
	// largeFigure is the largest coefficient that HiGHS is given: its
	// tolerances are for figures of middling size, and with cells of 10^12
	// ticks it doesn't end.
	largeFigure = 1e9
	// maxPricing bounds the rounds of column generation; some ten are usual.
	maxPricing = 100
	// pricedOut is the reduced profit, as a share of the largest weight, below
	// which no column is added, and dualGap the gap to the linear program's
	// optimum at which pricing ends.
	pricedOut = 1e-9
	dualGap   = 1e-6
)

// lpRelaxation returns the relaxation with the uniform multipliers of the least
// bound on a grid: the duals of the linear relaxation with a variable for each
// job and start, which HiGHS solves by column generation. Whatever HiGHS says,
// multipliers give a bound.
//
// Where figures are large, rows are in shares of a cell and weights in shares
// of the largest.
func lpRelaxation(ctx context.Context, pes int, jobs []job, g grid) (*relaxation, error) {
	cells := g.cells()
	corners := g.corners(jobs)
	row, weight := make([]float64, cells), 1.0 // what the figures of rows and objective are divided by
	room := make([]float64, cells)
	for c := range row {
		row[c], room[c] = 1, float64(pes)*g.length(c)
	}
	if slices.Max(room) > largeFigure {
		for c := range row {
			row[c] = g.length(c)
		}
	}
	heaviest := 0.0
	for i := range jobs {
		heaviest = max(heaviest, jobs[i].weight)
	}
	if heaviest > largeFigure {
		weight = heaviest
	}
	m := &milp.Model{Maximise: true}
	for c := range row {
		m.AddRow("", math.Inf(-1), room[c]/row[c])
	}
	for range jobs {
		m.AddRow("", math.Inf(-1), 1)
	}
	lp, err := highs.NewLP(m)
	if err != nil {
		return nil, fmt.Errorf("linear relaxation: %w", err)
	}
	defer lp.Close()
	lambda := make([]float64, cells)
	var best *relaxation
	least := math.Inf(1)
	for range maxPricing {
		now := newRelaxation(pes, jobs, g, corners, newUniform(jobs, g, lambda))
		if bound := now.bound(); bound < least {
			best, least = now, bound
		}
		var cols []highs.Column
		for i := range jobs {
			if start, profit := now.best(i); profit > pricedOut*heaviest {
				cols = append(cols, startColumn(&jobs[i], i, start, g, row, weight))
			}
		}
		if err := lp.AddColumns(cols); err != nil {
			return nil, fmt.Errorf("linear relaxation: %w", err)
		}
		r, err := lp.Solve(ctx)
		if err != nil {
			return nil, fmt.Errorf("linear relaxation: %w", err)
		}
		if r.Status != highs.Optimal || least <= r.Objective*weight*(1+dualGap) {
			break
		}
		for c := range lambda {
			lambda[c] = max(0, r.Duals[c]*weight/row[c])
		}
	}
	return best, nil
}

// startColumn returns the column of job i started at the given time.
func startColumn(j *job, i int, start tick, g grid, row []float64, weight float64) highs.Column {
	col := highs.Column{Cost: j.weight / weight, Upper: milp.Inf, Terms: []highs.RowTerm{{Row: g.cells() + i, Coef: 1}}}
	for c := g.first(start); c < g.cells() && g[c] < start+j.length; c++ {
		over := min(g[c+1], start+j.length) - max(g[c], start)
		col.Terms = append(col.Terms, highs.RowTerm{Row: c, Coef: float64(j.pes) * float64(over) / row[c]})
	}
	return col
}
