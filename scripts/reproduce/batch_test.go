// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
)

func TestCrossing(t *testing.T) {
	points := func(means ...float64) (all []runs.SeriesPoint) {
		for k, y := range means {
			all = append(all, runs.SeriesPoint{X: float64(100 * (k + 1)), Mean: y})
		}
		return all
	}
	for want, means := range map[string][]float64{"150": {1, -1, 2}, "275": {3, 3, -1}, "200": {1, 0}, "100 or less": {-1, 2}, "more than 300": {1, 2, 3}} {
		require.Same(t, fmt.Sprintf("%v cross 0 at", means), want, crossing(points(means...)))
	}
}

func TestVerdicts(t *testing.T) {
	var v verdicts
	words := ""
	for _, p := range []runs.SeriesPoint{{Mean: 2, Half: 1}, {Mean: -2, Half: 1}, {Mean: 0.5, Half: 1}, {}} {
		words += string(v.add(verdict(p))) + ", "
	}
	if v.String() != "1 held, 1 not held, 1 tied, 1 undecided" || v.All() != 4 || words != "held, not held, undecided, tied, " {
		t.Errorf("%+v, %s", v, words)
	}
}

// Each printed figure has the reading nearest to it, and the last row is about all of
// them by relative differences.
func TestNearest(t *testing.T) {
	of := func(name string, values ...float64) batchReading {
		r := batchReading{Name: name}
		for i, x := range values {
			r.Values[i] = [2]float64{x, x + 1}
		}
		return r
	}
	rows := nearest([]batchReading{of("a", 23, 60, 60, 82), of("b", 40, 41, 70, 60), of("c", 25, 45, 65, 80)})
	var names []string
	for _, r := range rows {
		name, _, _ := strings.Cut(r[1], ":")
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "a b b a c" || rows[0] != [3]string{"response, mean: 23.1", "a: 23.0", "a: 24.0"} {
		t.Errorf("%s; %q", got, rows)
	}
}

// The table has the interval of paired differences in percent of the mean.
func TestBelow(t *testing.T) {
	text := ""
	for _, r := range []struct {
		algorithm       string
		draw, objective int
	}{{"measy", 0, 100}, {"measy", 1, 200}, {"peasy", 0, 90}, {"peasy", 1, 160}, {"keasy", 0, 1}, {"keasy", 2, 1}} {
		text += fmt.Sprintf(`{"plan":"p","instance":"batch-feitelson-%d","instance_hash":"sha256:%d","kind":"batch","params":{"draw":%d,"load":0.5},"algorithm":%q,"seed":1,"status":"feasible","objective":%d,"verified":true,"version":"0.6.0"}`+"\n",
			r.draw, r.draw, r.draw, r.algorithm, r.objective)
	}
	file := filepath.Join(t.TempDir(), "batch.jsonl")
	check(os.WriteFile(file, []byte(text), 0o644))
	r, x := reader(), set{File: file, By: "load", Pattern: "^batch-feitelson-"}
	points := r.below(x, "objective", "peasy", "measy")
	// Responses 100 and 200 of MEASY, 90 and 160 of PEASY: 10 and 40 less than 150.
	if len(points) != 1 || points[0].X != 0.5 || points[0].Runs != 2 || points[0].Mean < 16.66 || points[0].Mean > 16.67 {
		t.Errorf("%+v", points)
	}
	fails(t, "unpaired runs", "without one of measy", func() { r.below(x, "objective", "measy", "keasy") })
}
