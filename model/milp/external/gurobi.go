// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"regexp"

	"github.com/gapwise/gapwise/model/milp"
)

// gurobi is Gurobi's command-line program. Its .sol file has lines NAME VALUE and
// comments after #; without a point there is no file. Status and bound are in the
// log. (Gurobi's reference manual, "SOL format" and "MIP logging".)
var gurobi = &program{
	name: "gurobi_cl", title: "Gurobi", binary: "gurobi_cl", install: " (gurobi.com)",
	version: []string{"--version"}, found: regexp.MustCompile(`version (\d\S*)`),
	tolerance: 1e-5, interrupt: true,
	args: func(c *call) []string {
		args := []string{"gurobi_cl", "LogFile="}
		set := func(name string, value any) { args = append(args, fmt.Sprintf("%s=%v", name, value)) }
		if t := c.Tolerance; t > 0 {
			t = max(t, 1e-9) // the least that it takes
			set("FeasibilityTol", t)
			set("IntFeasTol", t)
			set("OptimalityTol", t)
		}
		if c.limit > 0 {
			set("TimeLimit", c.limit)
		}
		set("MIPGap", c.Gap)
		set("Threads", max(1, c.Threads))
		set("ResultFile", c.out)
		return append(args, c.in)
	},
	parse: format{
		inLog: true,
		says: []said{
			{regexp.MustCompile(`Optimal solution found|Optimal objective`), milp.Optimal},
			{regexp.MustCompile(`Infeasible or unbounded model|Model is infeasible or unbounded`), milp.InfeasibleOrUnbounded},
			{regexp.MustCompile(`Infeasible model|Model is infeasible`), milp.Infeasible},
			{regexp.MustCompile(`Unbounded model|Model is unbounded`), milp.Unbounded},
			{regexp.MustCompile(`Time limit reached`), milp.TimeLimit},
			{regexp.MustCompile(`Solve interrupted|limit reached|Sub-optimal`), milp.NodeLimit},
		},
		other:  milp.NodeLimit,
		bound:  regexp.MustCompile(`(?m)(?:best bound|^Optimal objective) +` + number),
		nodes:  regexp.MustCompile(`(?m)^Explored (\d+) nodes`),
		digits: 1e-9, // it prints thirteen digits
		skip:   regexp.MustCompile(`^#`),
		column: regexp.MustCompile(`^(\S+)\s+(\S+)$`),
	}.parse,
}
