// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"regexp"

	"github.com/gapwise/gapwise/model/milp"
)

// cbc is COIN-OR's CBC. Its solution file begins with a status, as in
//
//	Optimal - objective value 2.43066500
//	Stopped on time (no integer solution - continuous used) - objective value 2.1
//	      0 x                    1                     0.5
//
// The lines after it are INDEX NAME VALUE REDUCED-COST with eight digits, after "**"
// where a row or a bound is broken; columns that are 0 may be missing. The point of "no integer solution" isn't one.
// CBC always returns exit code 0, and no file for a model that it can't read.
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
		add("-increment", 0) // by default it looks only for improvements by 1e-5
		if c.Gap > 0 {
			add("-ratioGap", c.Gap)
		}
		if c.Threads > 1 {
			add("-threads", 100+c.Threads) // above 100: deterministic
		}
		return append(args, "-solve", "-solution", c.out)
	},
	parse: format{
		says: []said{
			{regexp.MustCompile(`\AStopped on time \(no integer solution`), milp.TimeLimit},
			{regexp.MustCompile(`\A.*\(no integer solution`), milp.NodeLimit},
			{regexp.MustCompile(`\A(?:Integer i|I)nfeasible - objective value `), milp.Infeasible},
			{regexp.MustCompile(`\AUnbounded - objective value `), milp.Unbounded},
			{regexp.MustCompile(`\AOptimal - objective value `), milp.Optimal},
			{regexp.MustCompile(`\AStopped on time - objective value `), milp.TimeLimit},
			{regexp.MustCompile(`\A.* - objective value `), milp.NodeLimit}, // as "Optimal (within gap tolerance)"
		},
		objective: regexp.MustCompile(`\A[^(\n]*(?:\(within.*\))? - objective value +` + number),
		exact:     regexp.MustCompile(`Search completed - best objective ` + number),
		bound:     regexp.MustCompile(`best possible ` + number),
		nodes:     regexp.MustCompile(`Enumerated nodes: +(\d+)`),
		digits:    1e-7, prunes: 1e-7, closes: true, // it prints eight digits
		skip:   regexp.MustCompile(` - objective value `),
		column: regexp.MustCompile(`^(?:\*\*)?\s*\d+\s+(\S+)\s+(\S+)\s+\S+$`),
	}.parse,
}
