// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/gapwise/gapwise/model/milp"
)

// scip is SCIP's shell, which is told what to do by -c. "write solution" writes
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
	parse: parseSCIP,
}

var (
	scipBound = regexp.MustCompile(`(?m)^Dual Bound +: +([-+0-9.e]+)`)
	scipNodes = regexp.MustCompile(`(?m)^Solving Nodes +: +(\d+)`)
)

func parseSCIP(c *call, solution, log string) (outcome, error) {
	got := nothing(milp.Unknown)
	if solution == "" {
		return got, errNoFile
	}
	lines := strings.Split(solution, "\n")
	status, ok := strings.CutPrefix(lines[0], "solution status:")
	if !ok {
		return got, unread("its first line is %q", lines[0])
	}
	got.nodes = count(scipNodes, log)
	if b := last(scipBound, log); !math.IsNaN(b) {
		got.bound = below(b, 1e-9)
	}
	switch status = strings.TrimSpace(status); {
	case status == "optimal solution found":
		got.status = milp.Optimal
	case status == "infeasible":
		return nothing(milp.Infeasible), nil
	case status == "unbounded":
		return nothing(milp.Unbounded), nil
	case status == "infeasible or unbounded":
		return nothing(milp.InfeasibleOrUnbounded), nil
	case status == "time limit reached":
		got.status = milp.TimeLimit
	case status == "user interrupt" || status == "termination signal received" || has(status, "limit reached"):
		got.status = milp.NodeLimit
	default:
		return got, unread("the status %q isn't known", status)
	}
	var x []float64
	for _, line := range lines[1:] {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || strings.HasPrefix(line, "no solution available"):
		case strings.HasPrefix(line, "objective value:"):
			objective, err := value(f[len(f)-1])
			if err != nil {
				return got, err
			}
			x = make([]float64, len(c.columns))
			if got.status == milp.Optimal {
				got.bound = lowest(got.bound, below(objective, 1e-9))
			}
		case x == nil || len(f) < 2:
			return got, unread("the line %q", line)
		default:
			j, ok := c.columns[f[0]]
			if !ok {
				return got, unread("there is no column %q", f[0])
			}
			var err error
			if x[j], err = value(f[1]); err != nil {
				return got, err
			}
		}
	}
	if got.status == milp.Optimal && x == nil {
		return got, unread("it says optimal and has no solution")
	}
	got.x = x
	return got, nil
}
