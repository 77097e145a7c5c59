// SPDX-License-Identifier: MIT

package external

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model/milp"
)

// errNoFile is the error of a program that wrote no solution file and proved
// nothing.
var errNoFile = errors.New("it wrote no solution")

// unread is an error about a solution file that isn't as it should be.
func unread(format string, args ...any) error {
	return fmt.Errorf("can't read its solution: "+format, args...)
}

// nothing is an outcome without a point or a bound.
func nothing(s milp.Status) outcome { return outcome{status: s, bound: math.NaN()} }

// value reads a finite number.
func value(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, unread("%q is no number", text)
	}
	return x, nil
}

// number is a group of an expression that matches a number as programs print it.
const number = `([-+0-9.e]+)`

// said is a program's text for a status.
type said struct {
	pattern *regexp.Regexp
	status  milp.Status
}

// format describes how a program reports its results. Expressions that are nil match nothing.
type format struct {
	// says are the statuses in the solution file and the log below it, or in the log alone; the first that
	// matches counts. Without one the status is other if there is a file: Unknown is refused.
	says  []said
	inLog bool
	other milp.Status
	// objective finds the value of the point in the solution file. Without a value there is no point; nil: each
	// file has a point. exact finds the value of an optimum in the log, with more digits.
	objective, exact *regexp.Regexp
	bound, nodes     *regexp.Regexp // in the log, the last that matches
	// The bound is printed with a relative error of digits. Nodes that aren't better than the point by a relative
	// prunes are dropped. If closes, an optimum is the bound: the log's is older.
	digits, prunes float64
	closes         bool
	// Each line of the solution file that skip doesn't match is a column: its name, or if numbered its number
	// from 1, and its value. Columns that are 0 may be missing if they have names.
	skip, column *regexp.Regexp
	numbered     bool
}

// parse implements program.parse.
func (f format) parse(c *call, solution, log string) (outcome, error) {
	got, text := nothing(milp.Unknown), solution+"\n"+log
	if f.inLog {
		text = log
	}
	if k := slices.IndexFunc(f.says, func(s said) bool { return s.pattern.MatchString(text) }); k >= 0 {
		got.status = f.says[k].status
	} else if solution != "" {
		got.status = f.other
	}
	objective := last(f.objective, solution)
	point := solution != "" && (f.objective == nil || !math.IsNaN(objective))
	switch got.status {
	case milp.Infeasible, milp.Unbounded, milp.InfeasibleOrUnbounded:
		return nothing(got.status), nil
	case milp.Unknown, milp.Optimal:
		if solution == "" {
			return got, errNoFile
		}
		if got.status == milp.Unknown || !point {
			first, _, _ := strings.Cut(solution, "\n")
			return got, unread("it has no status, or is optimal without a point; its first line is %q", first)
		}
	}
	got.nodes = count(f.nodes, log)
	if b := last(f.bound, log); !math.IsNaN(b) {
		got.bound = below(b, f.digits)
	}
	if !point {
		return got, nil
	}
	switch best := below(objective, f.prunes); {
	case math.IsNaN(best):
	case got.status == milp.Optimal && f.closes:
		got.bound = best
		if exact := last(f.exact, log); math.Abs(exact-objective) <= f.digits*max(1, math.Abs(objective)) {
			got.bound = below(exact, 1e-9)
		}
	case got.status == milp.Optimal || !math.IsNaN(got.bound):
		got.bound = lowest(got.bound, best)
	}
	var err error
	got.x, err = f.point(c, solution)
	return got, err
}

// point reads the columns of a solution file.
func (f format) point(c *call, solution string) ([]float64, error) {
	x, n := make([]float64, len(c.columns)), 0
	for line := range strings.Lines(solution) {
		line = strings.TrimSpace(line)
		if line == "" || f.skip.MatchString(line) {
			continue
		}
		m := f.column.FindStringSubmatch(line)
		if m == nil {
			return nil, unread("the line %q", line)
		}
		j, ok := c.columns[m[1]]
		if f.numbered {
			k, err := strconv.Atoi(m[1])
			j, ok = k-1, err == nil && k >= 1 && k <= len(x)
		}
		if !ok {
			return nil, unread("there is no column %q", m[1])
		}
		var err error
		if x[j], err = value(m[2]); err != nil {
			return nil, err
		}
		n++
	}
	if f.numbered && n != len(x) {
		return nil, unread("it has %d columns, the model %d", n, len(x))
	}
	return x, nil
}

// last returns the first group of an expression's last match as a number, NaN
// without one.
func last(e *regexp.Regexp, text string) float64 {
	if e == nil {
		return math.NaN()
	}
	all := e.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// count returns last as a number of nodes, 0 without one.
func count(e *regexp.Regexp, text string) int64 {
	if n := last(e, text); n >= 0 && n < 1e15 {
		return int64(n)
	}
	return 0
}

// below returns a number that is less than x by a relative error, at least by as
// much of 1.
func below(x, relative float64) float64 { return x - relative*max(1, math.Abs(x)) }

// lowest returns the smaller of two bounds; one that is NaN isn't there.
func lowest(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

// has reports whether a text contains one of some parts.
func has(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
