// SPDX-License-Identifier: MIT

package papers

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// placed are records of the small set, or of a larger one, with eight instances at each slack: yields by algorithm as
// in the paper, except for the changes of change. A yield of 0 is a run without a solution.
func placed(params map[string]float64, yields map[string]float64, change func(algorithm string, slack float64, k int, yield, average *float64)) []runs.Record {
	var all []runs.Record
	for a, yield := range yields {
		for _, slack := range []float64{0.1, 0.2, 0.3, 0.9} {
			for k := range 8 {
				y := yield + 0.01*float64(k) + 0.02*slack
				average := y + 0.1
				if change != nil {
					change(a, slack, k, &y, &average)
				}
				name := fmt.Sprintf("s%v-rescaled-%d", slack, k)
				r := runs.Record{Plan: "p", Instance: name, Hash: name, Kind: model.KindVCSched, Algorithm: a, Status: model.StatusUnknown, ElapsedS: 2 - yield,
					Params: map[string]float64{"slack": slack, "draw": float64(k), "max_tasks": 1}}
				for p, v := range params {
					r.Params[p] = v
				}
				switch {
				case a == "lp":
					r.Bound = &y
				case y > 0:
					r.Objective, r.Second, r.Status, r.Verified = &y, &average, model.StatusFeasible, true
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// smallYields are of all algorithms of the small set.
func smallYields() map[string]float64 {
	yields := map[string]float64{"lp": 0.834, "search": 0.8, "sg": 0.71, "gr": 0.715, "gb": 0.713, "sgb": 0.712, "rrnz": 0.5, "rrnd": 0.48}
	for k, a := range mcbs {
		yields[a] = 0.785 - 0.01*float64(k)
	}
	return yields
}

// wantVerdicts compares verdicts by the beginnings of the findings' texts.
func wantVerdicts(t *testing.T, all []Finding, want map[string]Verdict) {
	t.Helper()
	for begins, verdict := range want {
		n := 0
		for _, f := range all {
			if strings.HasPrefix(f.Text, begins) {
				if n++; f.Verdict != verdict {
					t.Errorf("%q is %s (%s), want %s", f.Text, f.Verdict, f.Measured, verdict)
				}
			}
		}
		if n == 0 {
			t.Errorf("no finding begins with %q", begins)
		}
	}
}

func TestVCSchedFindings(t *testing.T) {
	small := map[string]float64{"hosts": 4}
	all := require.Value(FindingsOf(placed(small, smallYields(), nil), nil))(t)
	wantVerdicts(t, all, map[string]Verdict{
		"the four descending sorts have": Held, "MCB8 has a higher minimum yield than each": Held, "MCB8 has the least average": Held,
		"the eight are in the printed order": Held, "the four descending sorts fail less": Tied, "the LP is 4 % above the MILP": Held,
		"the MILP is 2 % above MCB8": Held, "the MILP is 11 to 13 % above GR": Held, "RRND and RRNZ have lower": Held, "RRNZ has a higher": Held,
		"from slack 0.2 on": Undecided, "60 of 1,440 (4.17 %) instances are infeasible": Undecided, "GB never fails": Held, "GR and SG are the fastest": NotHeld,
	})
	all = require.Value(FindingsOf(placed(small, smallYields(),
		func(a string, slack float64, k int, yield, _ *float64) {
			switch {
			case a == "mcb5" && slack == 0.2:
				*yield += 0.1 // above MCB8 at one slack alone
			case a == "mcb4" && k < 4, a == "gb" && k == 0 && slack == 0.1:
				*yield = 0
			case a == "rrnd":
				*yield -= 0.3 * slack
			}
		}), nil))(t)
	wantVerdicts(t, all, map[string]Verdict{
		"MCB8 has a higher minimum yield than each": NotHeld, "the four descending sorts have": Held, "GB never fails": NotHeld, "SGB never fails": Held,
		"60 of 1,440 (4.17 %) instances are infeasible": Undecided, "from slack 0.2 on": Undecided, "RRNZ has a higher": Held,
	})
	mixed := placed(small, smallYields(), nil)
	mixed[3].Instance = strings.Replace(mixed[3].Instance, "-rescaled", "", 1)
	mixed[3].Hash = "another"
	require.Refused(t, "two readings", require.Err(FindingsOf(mixed, nil)), model.ErrInvalid, "several readings of the memory needs")
	require.Refused(t, "over slack", require.Err(FindingsOf(mixed, []string{"slack"})), model.ErrInvalid, "give none")
}

func TestVCSchedFindingsLarge(t *testing.T) {
	yields := smallYields()
	var all []runs.Record
	for _, jobs := range []float64{100, 500} {
		some := placed(map[string]float64{"hosts": 64, "jobs": jobs}, yields, func(a string, slack float64, k int, yield, average *float64) {
			switch {
			case a == "rrnd" && slack < 0.4, a == "mcb8" && slack == 0.1 && k == 0:
				*yield = 0
			case a == "lp" && slack == 0.1:
				*yield *= 1.35
			case a == "lp" && slack == 0.2:
				*yield = (*yield - 0.834 + 0.785) / 0.92
			case strings.Contains("gr sg gb sgb", a):
				*average += 0.3
			}
		})
		for i := range some {
			some[i].Instance += fmt.Sprint("-", jobs)
			some[i].Hash = some[i].Instance
		}
		all = append(all, some...)
	}
	for i := range all {
		all[i].Instance += "-rescaled-"
	}
	wantVerdicts(t, require.Value(FindingsOf(all, nil))(t), map[string]Verdict{
		"RRND solves no instance": Held, "at slack 0.2 MCB8's minimum yield is 8 % below the LP's": Held, "MCB8 is less than 5 %": NotHeld,
		"the greedy algorithms have a higher average": Held, "GR and GB have nearly": Held, "above slack 0.3": NotHeld,
		"RRND has the lowest": Held,
	})
	var tasks []runs.Record
	for _, n := range []float64{100, 500} {
		some := placed(map[string]float64{"hosts": 64, "max_tasks": 64, "tasks": n}, map[string]float64{"mcb8": 0.5, "sg": 0.4, "lp": 0.6}, nil)
		for i := range some {
			some[i].Instance += fmt.Sprint("-", n, "-rescaled-")
			some[i].Hash = some[i].Instance
		}
		tasks = append(tasks, some...)
	}
	parallel := require.Value(FindingsOf(tasks, nil))(t)
	wantVerdicts(t, parallel, map[string]Verdict{"MCB8 has a higher": Held, "SG has a higher average": NotHeld, "MCB8 and SG fail equally": Held, "MCB8 takes less": NotHeld})
}

// Curves are means over different instances.
func TestCurves(t *testing.T) {
	records := placed(map[string]float64{"hosts": 4}, map[string]float64{"lp": 0.8, "mcb8": 0.8}, func(a string, slack float64, k int, yield, _ *float64) {
		if *yield = float64(k + 1); a == "mcb8" && k < 4 {
			*yield = 0
		}
	})
	e := require.Value(newSurvey(records, []string{"slack"}, []string{"lp", "mcb8"}, []string{"objective", "bound", unsolved}))(t)
	// 36/8 over 26/4.
	got := e.curves(cell{"bound", "lp", 0}, cell{"objective", "mcb8", 0})
	if math.Abs(got.mean-100*(4.5/6.5-1)) > 1e-9 || !(got.half > 10 && got.half < 60) {
		t.Errorf("%v", got)
	}
	// With the same instances it is the change of paired runs.
	same := e.curves(cell{"bound", "lp", 0}, cell{"bound", "mcb8", 0})
	if !math.IsNaN(same.mean) {
		t.Errorf("a curve of no run has %v", same)
	}
	self, change := e.curves(cell{"objective", "mcb8", 0}, cell{"objective", "mcb8", 0}), e.change(cell{"objective", "mcb8", 0}, cell{"objective", "mcb8", 0})
	closeTo(t, "a curve over itself", self, change.mean, change.half)
}
