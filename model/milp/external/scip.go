// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"regexp"

	"github.com/gapwise/gapwise/model/milp"
)

// scip is SCIP's shell, which takes commands by -c. "write solution" writes
//
//	solution status: optimal solution found
//	objective value:                                   22
//	x                                                   1 	(obj:1)
//
// or "no solution available" in place of the last two; columns that are 0 are
// missing. (SCIP's documentation, "Tutorial: the interactive shell", and
// SCIPprintSol.) INT ends the search, and the commands after it are carried out.
var scip = &program{
	name: "scip", title: "SCIP", binary: "scip", install: " (scipopt.org)",
	version: []string{"--version"}, found: regexp.MustCompile(`SCIP version (\S+)`),
	tolerance: 1e-6, interrupt: true,
	args: func(c *call) []string {
		args := []string{"scip"}
		say := func(format string, values ...any) { args = append(args, "-c", fmt.Sprintf(format, values...)) }
		if t := c.Tolerance; t > 0 {
			say("set numerics feastol %g", t)
			say("set numerics dualfeastol %g", t)
		}
		if c.limit > 0 {
			say("set limits time %g", c.limit)
		}
		if c.Gap > 0 {
			say("set limits gap %g", c.Gap)
		}
		say("read %s", c.in)
		say("optimize")
		say("write solution %s", c.out)
		say("quit")
		return args
	},
	parse: format{
		says: []said{
			{regexp.MustCompile(`(?m)\Asolution status: *optimal solution found\s*$`), milp.Optimal},
			{regexp.MustCompile(`(?m)\Asolution status: *infeasible\s*$`), milp.Infeasible},
			{regexp.MustCompile(`(?m)\Asolution status: *unbounded\s*$`), milp.Unbounded},
			{regexp.MustCompile(`(?m)\Asolution status: *infeasible or unbounded\s*$`), milp.InfeasibleOrUnbounded},
			{regexp.MustCompile(`(?m)\Asolution status: *time limit reached\s*$`), milp.TimeLimit},
			{regexp.MustCompile(`(?m)\Asolution status: *(?:user interrupt|termination signal received)\s*$`), milp.NodeLimit},
			{regexp.MustCompile(`\Asolution status: .*limit reached`), milp.NodeLimit},
		},
		objective: regexp.MustCompile(`(?m)^objective value: +` + number + `\s*$`),
		bound:     regexp.MustCompile(`(?m)^Dual Bound +: +` + number),
		nodes:     regexp.MustCompile(`(?m)^Solving Nodes +: +(\d+)`),
		digits:    1e-9, prunes: 1e-9,
		skip:   regexp.MustCompile(`^(?:solution status|objective value):`),
		column: regexp.MustCompile(`^(\S+)\s+(\S+)`),
	}.parse,
}
