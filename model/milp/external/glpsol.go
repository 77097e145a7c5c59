// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"regexp"
	"strconv"

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
	parse: format{
		says: []said{
			{regexp.MustCompile(`(?m)^s +(?:mip +\d+ +\d+ +o|bas +\d+ +\d+ +f +f) `), milp.Optimal},
			{regexp.MustCompile(`(?m)^s +(?:mip|bas) +\d+ +\d+ +n `), milp.Infeasible},
			{regexp.MustCompile(`(?ms)^s +(?:mip|bas) +\d+ +\d+ +[ui] .*NO PRIMAL FEASIBLE SOLUTION`), milp.Infeasible},
			{regexp.MustCompile(`(?ms)^s +(?:mip|bas) +\d+ +\d+ +[ui] .*(?:NO DUAL FEASIBLE SOLUTION|UNBOUNDED)`),
				milp.InfeasibleOrUnbounded},
			{regexp.MustCompile(`(?ms)^s +(?:mip|bas) +\d+ +\d+ +[fui] .*TIME LIMIT EXCEEDED`), milp.TimeLimit},
			{regexp.MustCompile(`(?m)^s +(?:mip|bas) +\d+ +\d+ +[fui] `), milp.NodeLimit},
		},
		objective: regexp.MustCompile(`(?m)^s +(?:mip +\d+ +\d+ +[of]|bas +\d+ +\d+ +f +\w) +` + number + `\s*$`),
		// +  9340: mip =   2.404383000e+00 >=   2.376209750e+00   1.2% (1806; 710)
		bound:  regexp.MustCompile(`(?m)^\+.*>= +` + number),
		nodes:  regexp.MustCompile(`(?m)^\+.*\(\d+; (\d+)\)$`),
		digits: 1e-9, // it prints ten digits
		// GLPK's tol_obj: a node is dropped if its bound isn't better than the best point by a relative 1e-7.
		prunes: 1e-7, closes: true,
		skip:     regexp.MustCompile(`^[^j]`),
		column:   regexp.MustCompile(`^j\s+(\d+)\s+(?:[a-z]\s+)?(\S+)(?:\s+\S+)?$`),
		numbered: true,
	}.parse,
}
