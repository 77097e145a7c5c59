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

// surveyed are records of DAG algorithms on instances of several sizes: objective is
// asked for each of some instances a size; NaN is a run without a solution.
func surveyed(sizes []float64, instances int, objective func(algorithm string, size float64, k int) float64, algorithms ...string) []runs.Record {
	var all []runs.Record
	for _, a := range algorithms {
		for _, size := range sizes {
			for k := range instances {
				r := runs.Record{Plan: "p", Instance: fmt.Sprintf("g%v-%d-draw%d", size, k/2, k%2), Hash: fmt.Sprint("h", size, k), Kind: model.KindDAG,
					Params: map[string]float64{"tasks": size, "draw": float64(k % 2)}, Algorithm: a, Status: model.StatusUnknown}
				if x := objective(a, size, k); !math.IsNaN(x) {
					r.Objective, r.Status, r.Verified = &x, model.StatusFeasible, true
				}
				all = append(all, r)
			}
		}
	}
	return all
}

func closeTo(t *testing.T, what string, got estimate, mean, half float64) {
	t.Helper()
	if math.Abs(got.mean-mean) > 1e-3 || math.Abs(got.half-half) > 1e-3 {
		t.Errorf("%s is %v ± %v, want %v ± %v", what, got.mean, got.half, mean, half)
	}
}

// A survey compares algorithms on the same instances, points as independent
// samples, and percentages by their linear approximation.
func TestSurvey(t *testing.T) {
	records := surveyed([]float64{10, 20}, 4, func(a string, size float64, k int) float64 {
		x := size + 10*float64(k)
		switch {
		case a == "a":
			return x
		case a == "b":
			return x + 1 + float64(k%2)
		case size == 10:
			return math.NaN()
		}
		return x
	}, "a", "b", "fails")
	three := []string{"a", "b", "fails"}
	e := require.Value(newSurvey(records, []string{"tasks"}, three, []string{"objective", "failure %"}))(t)
	at := func(a string, k int) cell { return cell{"objective", a, k} }
	// The differences are 1 2 1 2: t(0.975, 3) 0.57735 / 2 = 0.91872.
	lead := e.mean(term{1, at("b", 0)}, term{-1, at("a", 0)})
	closeTo(t, "b minus a", lead, 1.5, 0.91872)
	// 10 20 30 40 and 20 30 40 50, independent: 3.18245 12.90994 / 2 sqrt(2).
	closeTo(t, "one step", e.mean(term{1, at("a", 1)}, term{-1, at("a", 0)}), 10, 29.0512)
	// A difference of differences: both are paired first.
	closeTo(t, "a growing lead", e.mean(term{1, at("b", 1)}, term{-1, at("b", 0)}, term{-1, at("a", 1)}, term{1, at("a", 0)}), 0, math.Hypot(0.91872, 0.91872))
	// 11 22 31 42 over 10 20 30 40: R = 1.06, residuals 0.4 0.8 -0.8 -0.4 of 25.
	closeTo(t, "b over a", e.change(at("b", 0), at("a", 0)), 6, 100*3.182446*math.Sqrt((0.16+0.64+0.64+0.16)/3)/2/25)
	require.Is(t, estimate{df: 3}, e.change(at("a", 0), at("a", 0)), "a value over itself")
	if none := e.mean(term{1, at("fails", 0)}, term{-1, at("a", 0)}); !math.IsNaN(none.mean) || none.String() != "no run has a value" {
		t.Errorf("an algorithm without solutions has %v", none)
	}
	c := below("fails minus a", e.mean(term{1, at("fails", 0)}, term{-1, at("a", 0)}), 0)
	require.Same(t, "runs without solutions decide", Undecided, c.verdict())
	failed := e.only(e.at(10)).count("failure %", "fails", false, func(x float64) bool { return x > 0 })
	if failed.String() != "4 of 4 (100 %)" || e.at(15) != -1 {
		t.Errorf("failed: %v", failed)
	}
	whole := require.Value(newSurvey(records, nil, three, []string{"objective"}))(t)
	closeTo(t, "all of a", whole.mean(term{1, at("a", 0)}), 30, 2.364624*math.Sqrt(1200./7)/math.Sqrt(8))
	require.Same(t, "without x the place", "all", whole.where(0))
	if _, err := newSurvey(records, nil, []string{"a", "c"}, []string{"objective"}); err == nil || !strings.Contains(err.Error(), "each of a, c") {
		t.Errorf("an algorithm without runs: %v", err)
	}
}

func TestNear(t *testing.T) {
	ten := &Figure{Value: 10, Margin: 0.1}
	at := func(mean, half float64) Finding { return near("mean", estimate{mean, half, 19}, ten) }
	for name, c := range map[string]struct {
		finding Finding
		want    Verdict
		text    string
	}{
		"met":              {at(9.5, 0.4), Held, "mean (within 10 % of that)"},
		"missed":           {at(8, 0.4), NotHeld, ""},
		"on the edge":      {at(9.2, 0.4), Undecided, ""},
		"no claims":        {judged("none", "", nil), Undecided, "none"},
		"most of none":     {judged("none", "most", nil), Undecided, "none"},
		"one of none":      {judged("none", "one", nil), Undecided, "none"},
		"of one run":       {at(10, math.NaN()), Undecided, ""},
		"of no run":        {at(math.NaN(), math.NaN()), Undecided, ""},
		"below zero":       {near("mean", estimate{-18.2, 0.1, 5}, &Figure{Value: -18.31, Margin: 0.1}), Held, ""},
		"at a range's end": {near("mean", estimate{mean: 13}, &Figure{Range: []float64{11, 13}}), Held, "mean"},
		"at its other end": {near("mean", estimate{mean: 11}, &Figure{Range: []float64{11, 13}}), Held, ""},
		"beside a range":   {near("mean", estimate{10.7, 0.17, 100}, &Figure{Range: []float64{11, 13}}), NotHeld, ""},
		"a large count":    {counted("failures", tally{1120, 10000}, tally{1124, 10000}), Held, "failures"},
		"a count alike":    {counted("failures", tally{15, 1400}, tally{15, 1380}), Held, ""},
		"a small sample":   {counted("failures", tally{11, 100}, tally{120, 1000}), Undecided, ""},
		"another count":    {counted("failures", tally{104, 1440}, tally{60, 1440}), NotHeld, ""},
		"counts of none":   {counted("failures", tally{0, 0}, tally{60, 1440}), Undecided, ""},
		"none of them":     {none("no failure", tally{0, 5}), Held, ""},
		"some of them":     {none("no failure", tally{1, 5}), NotHeld, ""},
		"none of no run's": {none("no failure", tally{}), Undecided, ""},
	} {
		if c.finding.Verdict != c.want || c.text != "" && c.finding.Text != c.text {
			t.Errorf("%s: %+v, want %s, %q", name, c.finding, c.want, c.text)
		}
	}
	require.Same(t, "none of 24", "0 of 24 (0 %); of all such instances at most 14.2 %, with 95 % confidence",
		none("", tally{0, 24}).Measured)
}
