// SPDX-License-Identifier: MIT

package runs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestCompareByHand(t *testing.T) {
	for name, tc := range map[string]struct {
		options CompareOptions
		want    [][]string
	}{
		// On i1 exact has 0.8, greedy 0.4, random 0.65 of two seeds. On i2 exact alone
		// has a solution with every seed. On i3 none has one.
		"objective": {CompareOptions{}, [][]string{
			{"greedy", "random", "3", "0", "2", "1", "1", "-0.25", "-", "0.6154", "1.000", "1.000"}, // both offline
			{"exact", "greedy", "3", "2", "1", "0", "1", "0.4", "-", "2", "1.000", "1.000"},
			{"exact", "random", "3", "2", "1", "0", "1", "0.15", "-", "1.231", "1.000", "1.000"},
		}},
		// 2, 4, 0.5 against 0.001, 0.003, 0.002: all signs alike have p = 2/8.
		"time, less is better": {CompareOptions{Value: "time", Base: "greedy"}, [][]string{
			{"random", "greedy", "3", "0", "0", "3", "0.008", "0.002484", "5.503", "0.250", "0.500"},
			{"exact", "greedy", "3", "0", "0", "3", "2.165", "4.361", "873.6", "0.250", "0.500"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			records := sample()
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			require.Same(t, "values", tc.want, require.Value(Compare(records, tc.options))(t).Rows)
		})
	}
	for name, o := range map[string]CompareOptions{
		"no such value": {Value: "speed"}, "no such algorithm": {Algorithms: []string{"x"}}, "no such base": {Base: "x"}, "one alone": {Algorithms: []string{"exact"}},
		"of another problem": {Value: "rounds"},
	} {
		require.Refused(t, name, require.Err(Compare(sample(), o)), model.ErrInvalid, "")
	}
}

// Exchanged, a pair has its wins and losses exchanged, and the same p.
func TestCompareExchanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		a, b := map[string][]float64{}, map[string][]float64{}
		for k := range rng.IntN(20) {
			for _, m := range []map[string][]float64{a, b} {
				y := float64(1 + rng.IntN(9))
				if rng.IntN(10) == 0 {
					y = math.NaN()
				}
				m[string(rune('a'+k))] = []float64{y}
			}
		}
		x, y := compare(model.Minimise, "a", "b", a, b), compare(model.Minimise, "b", "a", b, a)
		if x.wins != y.losses || x.ties != y.ties || x.losses != y.wins || x.wins+x.ties+x.losses != x.n || !same(x.mean, -y.mean) || !same(x.half, y.half) || !same(x.p, y.p) || !same(x.ratio, 1/y.ratio) {
			t.Fatalf("%+v and %+v", x, y)
		}
	}
}

func same(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) || math.IsNaN(a) && math.IsNaN(b)
}

// A table for a paper has one unit in a column of times.
func TestOneUnit(t *testing.T) {
	got := require.Value(tabulate(sample(), TableOptions{OneUnit: true, Columns: []string{"time mean", "time geo.", "best"}}))(t)
	want := [][]string{
		{"algorithm", "time mean (ms)", "time geo. (ms)", "best"},
		{"greedy", "2.00", "2.00", "0"}, {"random", "10.0", "10.0", "2"}, {"exact", "2166.7", "1823.1", "2"},
	}
	require.Same(t, "values", want, append([][]string{got.Header}, got.Rows...))
}

// Algorithms are in the plan's order if the records state it.
func TestPlanOrder(t *testing.T) {
	records := sample()
	for i := range records {
		if records[i].Algorithm != "greedy" {
			records[i].Run = len(records) - i
		}
	}
	got, err := algorithmsOf(records, nil)
	if diff := cmp.Diff([]string{"random", "exact", "greedy"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want,+got):\n%s", err, diff)
	}
}
