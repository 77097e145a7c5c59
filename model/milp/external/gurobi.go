// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"math"
	"regexp"
	"strings"

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
	parse: parseGurobi,
}

var (
	gurobiBound  = regexp.MustCompile(`best bound ([-+0-9.e]+)`)
	gurobiLinear = regexp.MustCompile(`(?m)^Optimal objective +([-+0-9.e]+)`)
	gurobiNodes  = regexp.MustCompile(`(?m)^Explored (\d+) nodes`)
)

func parseGurobi(c *call, solution, log string) (outcome, error) {
	got := nothing(milp.Unknown)
	switch {
	case has(log, "Optimal solution found", "Optimal objective"):
		got.status = milp.Optimal
	case has(log, "Infeasible or unbounded model", "Model is infeasible or unbounded"):
		return nothing(milp.InfeasibleOrUnbounded), nil
	case has(log, "Infeasible model", "Model is infeasible"):
		return nothing(milp.Infeasible), nil
	case has(log, "Unbounded model", "Model is unbounded"):
		return nothing(milp.Unbounded), nil
	case has(log, "Time limit reached"):
		got.status = milp.TimeLimit
	case has(log, "Solve interrupted", "limit reached", "Sub-optimal"):
		got.status = milp.NodeLimit
	case solution == "":
		return got, errNoFile
	default:
		got.status = milp.NodeLimit
	}
	got.nodes = count(gurobiNodes, log)
	bound := last(gurobiBound, log)
	if math.IsNaN(bound) {
		bound = last(gurobiLinear, log)
	}
	if !math.IsNaN(bound) {
		got.bound = below(bound, 1e-9) // it has thirteen digits
	}
	if solution == "" {
		if got.status == milp.Optimal {
			return got, errNoFile
		}
		return got, nil
	}
	x := make([]float64, len(c.columns))
	for _, line := range strings.Split(solution, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != 2 {
			return got, unread("the line %q", line)
		}
		j, ok := c.columns[f[0]]
		if !ok {
			return got, unread("there is no column %q", f[0])
		}
		var err error
		if x[j], err = value(f[1]); err != nil {
			return got, err
		}
	}
	got.x = x
	return got, nil
}
