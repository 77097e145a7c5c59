// SPDX-License-Identifier: MIT

package highs

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/gapwise/gapwise/model/milp"
)

// option is one of HiGHS's options with a bool, an int or a float64.
type option struct {
	name  string
	value any
}

// safeOptions are set in every solve, whichever binding calls HiGHS.
var safeOptions = []option{
	// 1.10 merges integer columns that are multiples of each other, and then called
	// 1/0.353 optimal where 1/0.462 is (three and two equal tasks, a third and a sixth
	// of the CPU of the first job's). Without the rule it doesn't.
	{"presolve_rule_off", 1 << 13}, // kPresolveRuleParallelRowsAndCols
	// With symmetry detection 1.10 calls wrong values optimal.
	{"mip_detect_symmetry", false},
	// The default 1e-6 ends with answers that are off by up to 1e-5.
	{"mip_abs_gap", 1e-9},
	// A restart presolves again, and 1.10 then cut off the optimum of a
	// compact VCSched model at tight tolerances.
	{"mip_allow_restart", false},
}

// integerTolerance returns the most by which a MIP may break integrality, bounds and rows. HiGHS 1.15.1 calls feasible
// models with a big M infeasible at its own 1e-6, from M = 5e6 on: an integer variable that is off by the tolerance t opens
// a row by t M. At 1e-9 it is right up to M = 1e9. That costs up to nine times the time of 1e-8 on clusters of 600 rows, so
// models without such rows have 1e-8. (1.10 is right there at 1e-6, and has given a wrong optimum at 1e-9: so this isn't
// among safeOptions.)
func integerTolerance(m *milp.Model) float64 {
	const big = 1e5 // t M is 1e-3 then

	if len(m.Rows) == 0 { // a file's, with unknown rows
		return 1e-9
	}
	for i := range m.Rows {
		least, most := math.Inf(1), 0.0
		for _, t := range m.Rows[i].Terms {
			if c := math.Abs(t.Coef); c > 0 {
				least, most = min(least, c), max(most, c)
			}
		}
		if most > big*least {
			return 1e-9
		}
	}
	return 1e-8
}

// smallest is the smallest coefficient that HiGHS can be made to consider. It takes less for 0.
const smallest = 1e-12

// tolerances returns the options of a tolerance, 0 for HiGHS's own tolerance of linear programs; whole is the tolerance
// of MIPs. A MIP asked again at HiGHS's own tolerances needs another answer, so the seed makes the search take another
// path.
func tolerances(t, whole float64) []option {
	if t == 0 {
		return append(tolerances(1e-7, whole), option{"random_seed", 1})
	}
	return []option{{"primal_feasibility_tolerance", t}, {"dual_feasibility_tolerance", t}, {"mip_feasibility_tolerance", min(t, whole)}}
}

// optionsOf returns the options for a caller's, except the tolerances.
func optionsOf(o milp.Options) []option {
	all := []option{{"mip_rel_gap", o.Gap}, {"time_limit", cmp.Or(o.TimeLimit, noLimit).Seconds()}}
	if o.NodeLimit > 0 {
		all = append(all, option{"mip_max_nodes", int(min(o.NodeLimit, math.MaxInt32))})
	}
	return all
}

// noLimit is HiGHS's time limit where none is asked for: it needs one, so that the clock can stop it.
const noLimit = 1e6 * time.Second

// apply sets options by a binding's functions.
func apply(setBool func(string, bool) error, setInt func(string, int) error, setFloat func(string, float64) error, all []option) error {
	var errs []error
	for _, o := range all {
		switch v := o.value.(type) {
		case bool:
			errs = append(errs, setBool(o.name, v))
		case int:
			errs = append(errs, setInt(o.name, v))
		case float64:
			errs = append(errs, setFloat(o.name, v))
		}
	}
	return errors.Join(errs...)
}

// mip reports whether a model has integer variables that aren't relaxed.
func mip(m *milp.Model, o milp.Options) bool {
	for i := range m.Vars {
		if m.Vars[i].Integer && !o.Relax {
			return true
		}
	}
	return false
}
