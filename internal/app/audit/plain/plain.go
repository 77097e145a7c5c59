// SPDX-License-Identifier: MIT

// Package plain holds a second exact engine for each problem: a depth-first
// branch and bound that is short enough to be proved by reading it. It shares no
// code with the solvers, so it doesn't share their errors. All tests and gapwise audit
// hold solvers, bounds and proofs against it. It is slow: it takes about 18 tasks, 16 jobs
// or 16 requests (of batch, 12 jobs).
//
// A solution counts as better than a value v if it is better by more than
// 1e-9 of |v|. If all figures are whole and their sums are below 2^53, every sum is exact and any difference counts.
package plain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Answer is the result of a plain engine, and whether it searched the whole tree.
type Answer struct {
	Solution model.Solution // nil: nothing better than the value to beat
	Value    float64        // its objective, NaN without one
	Whole    bool           // the search ended by itself: nothing better exists
	Nodes    int64          // of the search tree
}

// Solve searches for the best solution with an objective better than beat (NaN: any), within a number of nodes. A whole
// search without a solution proves that there is none: that a claimed optimum beat is right, or, for NaN, that the
// instance is infeasible. The error is model.ErrInvalid for an instance that breaks its format's rules and
// model.ErrUnsupported for one that the engine doesn't know.
func Solve(in model.Instance, beat float64, nodes int64) (Answer, error) {
	return search(in, beat, counter{limit: nodes, slack: slack})
}

// Best is Solve for tests: it searches the whole tree, and distinguishes values down to the precision of float64 sums.
// It panics for an instance that the engine doesn't know or can't finish.
func Best(in model.Instance) Answer {
	a, err := search(in, math.NaN(), counter{limit: 1 << 28})
	if err != nil || !a.Whole {
		panic(fmt.Sprintf("the plain engine can't solve %s %q (%d nodes): %v", in.Kind(), in.ID(), a.Nodes, err))
	}
	return a
}

// Optimum returns the value of the best solution, and whether there is a solution. See Best.
func Optimum(in model.Instance) (value float64, found bool) {
	if a := Best(in); a.Solution != nil {
		return a.Value, true
	}
	return 0, false
}

func search(in model.Instance, beat float64, c counter) (Answer, error) {
	if err := in.Validate(); err != nil {
		return Answer{}, err
	}
	a := Answer{Value: math.NaN()}
	solve, ok := engines[in.Kind()]
	if !ok {
		return a, fmt.Errorf("%w: there is no plain engine for %s", model.ErrUnsupported, in.Kind())
	}
	var err error
	if a.Solution, err = solve(in, beat, &c); err != nil {
		return Answer{}, err
	}
	if a.Solution != nil {
		o, err := in.Objective(a.Solution)
		if err != nil {
			return Answer{}, err
		}
		a.Value = o.Value
	}
	a.Whole, a.Nodes = !c.cut, c.nodes
	return a, nil
}

// engines holds the plain engine of each problem that has one.
var engines = map[model.Kind]func(in model.Instance, beat float64, c *counter) (model.Solution, error){
	model.KindBatch:         engine(solveBatch),
	model.KindConsolidation: engine(solveConsolidation),
	model.KindDAG:           engine(solveDAG),
	model.KindReservation:   engine(solveReservation),
	model.KindTVC:           engine(solveTVC),
	model.KindVCSched:       engine(solveVCSched),
}

// engine adapts a plain engine. A nil solution of type S means that nothing is better.
func engine[I model.Instance, S interface {
	comparable
	model.Solution
}](solve func(in I, beat float64, c *counter) (S, error)) func(model.Instance, float64, *counter) (model.Solution, error) {
	return func(in model.Instance, beat float64, c *counter) (model.Solution, error) {
		var none S
		if s, err := solve(in.(I), beat, c); err != nil || s != none {
			return s, err
		}
		return nil, nil
	}
}

// counter counts the nodes of a search up to a limit.
type counter struct {
	nodes, limit int64
	cut          bool    // a node was refused
	slack        float64 // the relative improvement that counts as one where sums are rounded
}

// stop counts a node and reports whether it is one too many.
func (c *counter) stop() bool {
	if c.nodes >= c.limit {
		c.cut = true
		return true
	}
	c.nodes++
	return false
}

// slack is the slack of Solve.
const slack = 1e-9

// exactSum is the limit up to which every sum of whole float64s is exact.
const exactSum = 1 << 53

// threshold returns the value that a solution must pass to count as better than
// beat.
func (c *counter) threshold(sense model.Sense, beat float64, whole bool) float64 {
	switch {
	case math.IsNaN(beat):
		return math.Inf(int(-sense))
	case whole:
		return beat
	}
	return beat + float64(sense)*c.slack*math.Abs(beat)
}

// ascending returns the numbers from 0 to n-1 in the order of their keys.
func ascending(n int, key func(int) float64) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	return list
}
