// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model/milp"
)

// ofCommand returns the solver of a command line. {in} is the model as free MPS, which minimises, and {out} the
// solution file. {time_limit} is the number of seconds left (10^9 without a limit) and {threads} the number of threads.
//
// The solution has lines NAME VALUE, as in the .sol files of MIPLIB, SCIP, Gurobi and HiGHS. Columns that are 0 may be
// missing, and text after a # is a comment. A line before them may state the status: optimal, feasible, infeasible,
// unbounded or unknown, or =obj= VALUE, =infeas=, =unbd=, =unkn= as in MIPLIB. Without one (and after =obj=) the
// solution is feasible. "bound VALUE" is a proved bound. "optimal" means that nothing is better: a solver that stops at
// a gap must write feasible and the bound.
func ofCommand(text string) (*program, error) {
	command, err := process.ParseCommand(text)
	if err != nil {
		return nil, fmt.Errorf("%s%w", Prefix, err)
	}
	for _, placeholder := range []string{"{in}", "{out}"} {
		if !command.Has(placeholder) {
			return nil, fmt.Errorf("%s the command %q has no %s, where the file's name goes", Prefix, text, placeholder)
		}
	}
	binary := command.Args(nil)[0]
	return &program{
		name: Prefix + text, title: Prefix + filepath.Base(binary), binary: binary,
		tolerance: 1e-6, fixed: true, here: true,
		args: func(c *call) []string {
			limit := 1e9
			if c.limit > 0 {
				limit = c.limit
			}
			return command.Args(map[string]string{"{in}": c.in, "{out}": c.out,
				"{time_limit}": strconv.FormatFloat(limit, 'f', -1, 64), "{threads}": fmt.Sprint(max(1, c.Threads))})
		},
		parse: parseSol,
	}, nil
}

// solStatuses are the words for a status, in lower case.
var solStatuses = map[string]milp.Status{
	"optimal": milp.Optimal, "=obj=": milp.NodeLimit, "feasible": milp.NodeLimit,
	"infeasible": milp.Infeasible, "=infeas=": milp.Infeasible, "unbounded": milp.Unbounded, "=unbd=": milp.Unbounded,
	"unknown": milp.NodeLimit, "=unkn=": milp.NodeLimit, "time limit reached": milp.TimeLimit,
	"infeasible or unbounded": milp.InfeasibleOrUnbounded, "primal infeasible or unbounded": milp.InfeasibleOrUnbounded,
}

func parseSol(c *call, solution, _ string) (outcome, error) {
	got := nothing(milp.NodeLimit)
	if strings.TrimSpace(solution) == "" {
		return got, errNoFile
	}
	x, any, said, without := make([]float64, len(c.columns)), false, false, false
lines:
	for _, line := range strings.Split(solution, "\n") {
		text := strings.TrimSpace(line)
		f := strings.Fields(text)
		if len(f) == 0 {
			continue
		}
		// HiGHS's file goes on with rows and duals.
		if strings.HasPrefix(text, "#") {
			if has(text, "# Rows", "# Dual") {
				break lines
			}
			continue
		}
		if _, column := c.columns[f[0]]; !column && !any {
			word := strings.ToLower(text)
			if f[0] == "=obj=" {
				word = f[0]
			}
			status, known := solStatuses[word]
			switch {
			case known && said:
				continue // HiGHS's second "Feasible"
			case known:
				got.status, said = status, true
				without = word == "unknown" || word == "=unkn="
				continue
			case strings.EqualFold(text, "model status") || text == "None" || f[0] == "Objective":
				continue // HiGHS's
			case len(f) == 2 && strings.EqualFold(f[0], "bound"):
				b, err := value(f[1])
				if err != nil {
					return got, err
				}
				got.bound = b
				continue
			}
		}
		j, ok := c.columns[f[0]]
		switch {
		case !ok:
			return got, unread("the line %q is neither NAME VALUE of a column nor a status", line)
		case len(f) < 2:
			return got, unread("the line %q", line)
		}
		var err error
		if x[j], err = value(f[1]); err != nil {
			return got, err
		}
		any = true
	}
	switch got.status {
	case milp.Infeasible, milp.Unbounded, milp.InfeasibleOrUnbounded:
		return nothing(got.status), nil
	}
	// A file of nothing but a status may mean that all columns are 0.
	if without && !any || !said && !any {
		return got, nil
	}
	got.x = x
	return got, nil
}
