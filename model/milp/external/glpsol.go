// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model/milp"
)

// glpsol is GLPK. Its tolerances can't be given on the command line: 1e-5 on
// integrality is the widest. It writes its solution in the format of glp_write_mip
// and glp_write_sol (GLPK's reference manual, section 5.2):
//
//	s mip ROWS COLUMNS STATUS OBJECTIVE    o optimal, f feasible, n none, u undefined
//	s bas ROWS COLUMNS PRIMAL DUAL OBJECTIVE
//	j COLUMN VALUE                         of a MIP; columns count from 1
//	j COLUMN STATUS VALUE DUAL             of a linear program
//
// The bound of a search that was stopped is in its log alone. INT ends glpsol
// without a word, so that its own time limit, in whole seconds, has to do.
var glpsol = &program{
	name: "glpsol", title: "GLPK", binary: "glpsol", install: " (Debian: glpk-utils)",
	version: []string{"--version"}, found: regexp.MustCompile(`LP/MIP Solver (\S+)`),
	tolerance: 1e-5, fixed: true, whole: true,
	args: func(c *call) []string {
		args := []string{"glpsol", "--freemps", c.in, "--write", c.out}
		if c.limit > 0 {
			args = append(args, "--tmlim", strconv.Itoa(int(min(c.limit, 1e6))))
		}
		if c.Gap > 0 {
			args = append(args, "--mipgap", fmt.Sprint(c.Gap))
		}
		return args
	},
	parse: parseGLPSol,
}

var (
	// +  9340: mip =   2.404383000e+00 >=   2.376209750e+00   1.2% (1806; 710)
	glpsolBound = regexp.MustCompile(`(?m)^\+.*>= +([-+0-9.e]+)`)
	glpsolNodes = regexp.MustCompile(`(?m)^\+.*\(\d+; (\d+)\)$`)
)

// glpsolPrunes is GLPK's tol_obj: nodes whose bound isn't better than the best
// point by a relative 1e-7 are dropped.
const glpsolPrunes = 1e-7

func parseGLPSol(c *call, solution, log string) (outcome, error) {
	got := nothing(milp.Unknown)
	if solution == "" {
		return got, errNoFile
	}
	got.nodes = count(glpsolNodes, log)
	x := make([]float64, len(c.columns))
	status, objective, mip := "", math.NaN(), false
	for _, line := range strings.Split(solution, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "s" && (len(f) == 6 && f[1] == "mip" || len(f) == 7 && f[1] == "bas"):
			if f[3] != strconv.Itoa(len(x)) {
				return got, unread("it has %s columns, the model %d", f[3], len(x))
			}
			mip = f[1] == "mip"
			if status = f[4]; !mip && status == "f" && f[5] == "f" {
				status = "o"
			}
			var err error
			if objective, err = value(f[len(f)-1]); err != nil {
				return got, err
			}
		case f[0] == "j":
			at := 2
			if !mip {
				at = 3
			}
			if len(f) <= at {
				return got, unread("the line %q", line)
			}
			j, err := strconv.Atoi(f[1])
			if err != nil || j < 1 || j > len(x) {
				return got, unread("column %q of %d", f[1], len(x))
			}
			if x[j-1], err = value(f[at]); err != nil {
				return got, err
			}
		}
	}
	bound := last(glpsolBound, log)
	if !math.IsNaN(bound) {
		bound = below(bound, 1e-9) // it has ten digits
	}
	switch status {
	case "o":
		got.status, got.x, got.bound = milp.Optimal, x, below(objective, glpsolPrunes)
	case "f":
		got.status, got.x = milp.NodeLimit, x
		if !math.IsNaN(bound) {
			got.bound = lowest(bound, below(objective, glpsolPrunes))
		}
	case "n":
		got.status = milp.Infeasible
	case "u", "i":
		got.bound = bound
		switch {
		case has(log, "NO PRIMAL FEASIBLE SOLUTION"):
			got.status = milp.Infeasible
		case has(log, "NO DUAL FEASIBLE SOLUTION", "UNBOUNDED"):
			got.status = milp.InfeasibleOrUnbounded
		default:
			got.status = milp.NodeLimit
		}
	default:
		return got, unread("there is no line \"s mip ...\" or \"s bas ...\"")
	}
	if got.status == milp.NodeLimit && has(log, "TIME LIMIT EXCEEDED") {
		got.status = milp.TimeLimit
	}
	return got, nil
}
