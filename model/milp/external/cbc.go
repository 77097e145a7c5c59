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

// cbc is COIN-OR's CBC. Its solution file begins with a status, as in
//
//	Optimal - objective value 2.43066500
//	Stopped on time (no integer solution - continuous used) - objective value 2.1
//	      0 x                    1                     0.5
//
// The lines after it are INDEX NAME VALUE REDUCED-COST with eight digits, after "**"
// where a row or a bound is broken; columns that are 0 may be missing. What "no
// integer solution" comes with is no point. CBC returns exit code 0 whatever
// happens, and no file for a model that it can't read.
var cbc = &program{
	name: "cbc", title: "CBC", binary: "cbc", install: " (Debian: coinor-cbc)",
	version: []string{"-quit"}, found: regexp.MustCompile(`Version: (\S+)`),
	tolerance: 1e-6, interrupt: true,
	args: func(c *call) []string {
		args := []string{"cbc", c.in}
		add := func(option string, value any) { args = append(args, option, fmt.Sprint(value)) }
		if c.limit > 0 {
			add("-seconds", c.limit)
			add("-timeMode", "elapsed")
		}
		if t := c.Tolerance; t > 0 {
			add("-integerTolerance", t)
			add("-primalTolerance", t)
			add("-dualTolerance", t)
		}
		add("-allowableGap", 0)
		add("-increment", 0) // by default it looks only for what is better by 1e-5
		if c.Gap > 0 {
			add("-ratioGap", c.Gap)
		}
		if c.Threads > 1 {
			add("-threads", 100+c.Threads) // above 100: deterministic
		}
		return append(args, "-solve", "-solution", c.out)
	},
	parse: parseCBC,
}

var (
	cbcBound   = regexp.MustCompile(`best possible ([-+0-9.e]+)`)
	cbcOptimum = regexp.MustCompile(`Search completed - best objective ([-+0-9.e]+)`)
	cbcNodes   = regexp.MustCompile(`Enumerated nodes: +(\d+)`)
)

// cbcDigits is the relative error of a number of eight digits.
const cbcDigits = 1e-7

func parseCBC(c *call, solution, log string) (outcome, error) {
	got := nothing(milp.Unknown)
	if solution == "" {
		return got, errNoFile
	}
	first, rest, _ := strings.Cut(solution, "\n")
	status, text, ok := strings.Cut(first, " - objective value ")
	if strings.Contains(status, "(no integer solution") {
		// "(no integer solution - continuous used)" has a dash, too
		status, ok = "stopped without", true
		if strings.HasPrefix(first, "Stopped on time") {
			status = "out of time without"
		}
	}
	if !ok {
		return got, unread("its first line is %q", first)
	}
	got.nodes = count(cbcNodes, log)
	if b := last(cbcBound, log); !math.IsNaN(b) {
		got.bound = below(b, cbcDigits)
	}
	switch {
	case status == "out of time without":
		got.status = milp.TimeLimit
		return got, nil
	case status == "stopped without":
		got.status = milp.NodeLimit
		return got, nil
	case status == "Infeasible" || status == "Integer infeasible":
		return nothing(milp.Infeasible), nil
	case status == "Unbounded":
		return nothing(milp.Unbounded), nil
	case status == "Optimal":
		got.status = milp.Optimal
		objective, err := value(strings.TrimSpace(text))
		if err != nil {
			return got, err
		}
		got.bound = below(objective, cbcDigits)
		if exact := last(cbcOptimum, log); math.Abs(exact-objective) <= cbcDigits*max(1, math.Abs(objective)) {
			got.bound = below(exact, 1e-9)
		}
	case strings.HasPrefix(status, "Optimal"): // (within gap tolerance)
		got.status = milp.NodeLimit
	case status == "Stopped on time":
		got.status = milp.TimeLimit
	default:
		got.status = milp.NodeLimit
	}
	x := make([]float64, len(c.columns))
	for _, line := range strings.Split(rest, "\n") {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "**"))
		if len(f) == 0 {
			continue
		}
		if len(f) != 4 {
			return got, unread("the line %q", line)
		}
		j, ok := c.columns[f[1]]
		if _, err := strconv.Atoi(f[0]); err != nil || !ok {
			return got, unread("the line %q names no column of the model", line)
		}
		var err error
		if x[j], err = value(f[2]); err != nil {
			return got, err
		}
	}
	got.x = x
	return got, nil
}
