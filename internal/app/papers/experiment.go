// SPDX-License-Identifier: MIT

package papers

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
)

// experiment holds the runs that findings are about.
type experiment struct {
	x      []string
	points [][]float64 // values of x, ascending; one, of no value, without x
	runs   map[cell]map[drawn]float64
	survey bool // runs at different points have nothing in common

	names  []string            // of the points in words, if x doesn't identify them
	of     func(cell) estimate // estimates each cell by itself; nil: runs do, in pairs
	chosen []int               // points at which algorithms are compared, nil: all
	ties   map[string]float64  // differences of measures that are none
}

// cell is a value (see ValueNames) of an algorithm at a point of x.
type cell struct {
	value, algorithm string
	point            int
}

// drawn distinguishes runs of one cell, and pairs the runs of two cells.
type drawn struct {
	draw float64
	hash string // of a survey
	seed uint64
}

// newExperiment reads some values of the runs of some algorithms. Every algorithm
// must have runs at two points at least and at every point, and of one draw at one
// point there is one instance: the same draw is paired with itself at all points.
func newExperiment(records []runs.Record, x, algorithms, wanted []string) (*experiment, error) {
	if len(x) == 0 {
		return nil, errors.New("no parameter is given that findings are over")
	}
	e := &experiment{x: x}
	return e, e.read(records, algorithms, wanted)
}

// newSurvey reads some values of the runs of some algorithms on many instances at
// each point of x, of all in one point if x is empty. Algorithms are compared on the
// same instances; points have nothing in common.
func newSurvey(records []runs.Record, x, algorithms, wanted []string) (*experiment, error) {
	e := &experiment{x: x, survey: true}
	return e, e.read(records, algorithms, wanted)
}

func (e *experiment) read(records []runs.Record, algorithms, wanted []string) error {
	x := e.x
	e.runs = map[cell]map[drawn]float64{}
	type at struct {
		point string
		draw  float64
	}
	instances := map[at]*runs.Record{}
	type run struct {
		*runs.Record
		x []float64
	}
	var chosen []run
	for i := range records {
		r := &records[i]
		if !slices.Contains(algorithms, r.Algorithm) {
			continue
		}
		p, err := runs.Parameters(r, x)
		if err != nil {
			return err
		}
		if e.at(p...) < 0 {
			e.points = append(e.points, p)
		}
		here := at{fmt.Sprint(p), r.Params["draw"]}
		if other := instances[here]; !e.survey && other != nil && other.Hash != r.Hash {
			return fmt.Errorf("draw %v at %s %s is %s and %s; give the results of one setting", here.draw, strings.Join(x, ","), runs.Label(p), other.Instance, r.Instance)
		}
		instances[here] = r
		chosen = append(chosen, run{r, p})
	}
	slices.SortFunc(e.points, slices.Compare)
	known := runs.Learn(records, algorithms)
	fewest := 2
	if len(x) == 0 {
		fewest = 1
	}
	for _, name := range wanted {
		for _, r := range chosen {
			y, err := runs.Measure(name, runs.Run{Record: r.Record, Known: known[r.Hash]})
			if err != nil {
				return err
			}
			c := cell{name, r.Algorithm, e.at(r.x...)}
			if e.runs[c] == nil {
				e.runs[c] = map[drawn]float64{}
			}
			if !math.IsNaN(y) {
				e.runs[c][e.draw(r.Record)] = y
			}
		}
		for _, a := range algorithms {
			for k := range max(len(e.points), fewest) {
				switch runs := e.runs[cell{name, a, k}]; {
				case fewest == 1 && runs == nil:
					return fmt.Errorf("findings need runs of each of %s", strings.Join(algorithms, ", "))
				case runs == nil || len(runs) == 0 && !e.survey: // an algorithm may fail at a point of a survey
					return fmt.Errorf("findings need runs of each of %s at two values of %s at least", strings.Join(algorithms, ", "), strings.Join(x, ", "))
				}
			}
		}
	}
	return nil
}

// draw returns the key that distinguishes a run.
func (e *experiment) draw(r *runs.Record) drawn {
	if e.survey {
		return drawn{hash: r.Hash, seed: r.Seed}
	}
	return drawn{draw: r.Params["draw"], seed: r.Seed}
}

// at returns the point with the given values of x, -1 if there is none.
func (e *experiment) at(values ...float64) int {
	return slices.IndexFunc(e.points, func(p []float64) bool { return slices.Equal(p, values) })
}

// where describes point k in words.
func (e *experiment) where(k int) string {
	if e.names != nil {
		return e.names[k]
	}
	if len(e.x) == 0 {
		return "all"
	}
	text := runs.Label(e.points[k])
	if len(e.x) == 1 {
		text = words.Figure(e.points[k][0])
	}
	return strings.Join(e.x, ",") + " " + text
}
