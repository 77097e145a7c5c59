// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// CompareOptions configure Compare.
type CompareOptions struct {
	Value      string             // of ValueNames; empty: objective
	Algorithms []string           // labels; empty: all, in the plan's order
	Base       string             // compares each of the others with this one alone; empty: every pair
	Plain      bool               // figures in full, for programs to read
	Where      map[string]float64 // of the runs' parameters, as in SeriesOptions
}

// tieWithin is the relative difference up to which two values are a tie: rounding
// errors are no difference.
const tieWithin = 1e-9

// Compare makes a table of pairs of algorithms, each compared on the instances that
// both have runs on. The value of several seeds is their mean: runs on one instance
// don't count as independent.
//
// A win of the first algorithm is an instance on which its value is the better one,
// or on which it has a solution and the second one has none. The difference is the mean of the first's value minus the
// second's where both have one, on as many instances as the column "both" says, with the half-width of its 95 % confidence interval by Student's t. The ratio is the
// geometric mean of the first over the second, where all are positive. The column p is from Wilcoxon's signed-rank test
// of these differences, two-sided, and "holm" corrects it for all rows of the table together (Holm 1979): below 0.05
// the difference is significant although so many pairs were tried. Plain tables also have the effect, see signedRank.
func Compare(records []Record, o CompareOptions) (Table, error) {
	t := Table{Header: []string{"first", "second", "n", "win", "tie", "loss", "diff.", "±", "ratio", "p", "holm"}, Subject: "Pairs of algorithms, by " + cmp.Or(o.Value, objectiveKey)}
	all, values, sense, err := o.values(records)
	if err != nil {
		return t, err
	}
	order := all.Algorithms
	var rows []comparison
	for i, a := range order {
		for k, b := range order {
			if o.Base == "" && i < k || o.Base == b && a != b {
				rows = append(rows, compare(sense, a, b, values[a], values[b]))
			}
		}
	}
	if len(rows) == 0 {
		return t, o.bad("there is one algorithm, %s, and nothing to compare it with", order[0])
	}
	var tests []float64
	for i := range rows {
		tests = append(tests, rows[i].p)
	}
	for i, p := range stats.Holm(tests) {
		rows[i].holm = p
	}
	show := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	if o.Plain {
		show = full
	}
	known := func(x float64) string {
		if math.IsNaN(x) {
			return "-"
		}
		return show(x)
	}
	// A pair that one algorithm hasn't solved throughout says on how many instances its differences are.
	apart := o.Plain || slices.ContainsFunc(rows, func(c comparison) bool { return c.both < c.n })
	if apart {
		t.Header = slices.Insert(t.Header, 6, "both")
	}
	if o.Plain {
		t.Header = append(t.Header, "effect")
	}
	// Pairs of one class first. A difference between two classes doesn't rank them.
	class := all.classes
	slices.SortStableFunc(rows, func(a, b comparison) int { return cmp.Compare(a.rank(class), b.rank(class)) })
	for i := range rows {
		t.Groups = append(t.Groups, rows[i].group(class))
	}
	for _, c := range rows {
		row := []string{c.first, c.second, strconv.Itoa(c.n), strconv.Itoa(c.wins), strconv.Itoa(c.ties), strconv.Itoa(c.losses)}
		if apart {
			row = append(row, strconv.Itoa(c.both))
		}
		row = append(row, known(c.mean), known(c.half), known(c.ratio), words.Probability(c.p, o.Plain), words.Probability(c.holm, o.Plain))
		if o.Plain {
			row = append(row, known(c.effect))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func (o CompareOptions) bad(format string, args ...any) error {
	return fmt.Errorf("%w comparison: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
}

// values returns the values of the runs, by algorithm and instance's hash, a value for each seed, NaN without one.
func (o CompareOptions) values(records []Record) (all *Results, values map[string]map[string][]float64, sense model.Sense, err error) {
	if all, err = Load("comparison", records, o.Algorithms); err != nil {
		return nil, nil, sense, err
	}
	if err := all.Where(o.Where); err != nil {
		return nil, nil, sense, o.bad("%v", err)
	}
	of := valueOf(cmp.Or(o.Value, objectiveKey), all.records)
	switch {
	case of == nil:
		return nil, nil, sense, o.bad("there is no value %q; see gapwise bench plot --help", o.Value)
	case o.Base != "" && !slices.Contains(all.Algorithms, o.Base):
		return nil, nil, sense, o.bad("the base %q is none of the algorithms compared, %s", o.Base, strings.Join(all.Algorithms, ", "))
	}
	sense, values = of.metric(all.Rows[0].Record).Sense, map[string]map[string][]float64{}
	for _, r := range all.Rows {
		y, err := of.at(r)
		if err != nil {
			return nil, nil, sense, o.bad("%v", err)
		}
		if of.metric(r.Record).Sense != sense {
			return nil, nil, sense, o.bad("%q is maximised in some of these runs and minimised in others; choose runs of one problem", of.name)
		}
		if values[r.Algorithm] == nil {
			values[r.Algorithm] = map[string][]float64{}
		}
		values[r.Algorithm][r.Hash] = append(values[r.Algorithm][r.Hash], y)
	}
	return all, values, sense, nil
}

// comparison is a row of Compare.
type comparison struct {
	first, second         string
	n, wins, ties, losses int
	both                  int     // of the n instances, with values of both
	mean, half            float64 // of the differences
	ratio                 float64 // geometric mean; NaN where it has no meaning
	p, holm, effect       float64 // NaN without a difference
}

// rank orders the pairs: pairs of one class first, by class, then pairs of two.
func (c *comparison) rank(class map[string]model.Class) int {
	a, b := class[c.first].Rank(), class[c.second].Rank()
	if a == b {
		return a
	}
	return len(model.Classes()) * (1 + a + b)
}

// group names the classes of the pair, and the meaning of a difference between them.
func (c *comparison) group(class map[string]model.Class) string {
	low, high := class[c.first], class[c.second]
	if low.Rank() > high.Rank() {
		low, high = high, low
	}
	switch {
	case low == high:
		return GroupOf(low)
	case low == model.Online:
		return "online against " + string(high) + ": their regret, what they lose to those that know the future"
	}
	return "offline against yardstick: how far heuristics are from the yardsticks"
}

// compare compares two algorithms by their mean values on the instances.
func compare(sense model.Sense, first, second string, a, b map[string][]float64) comparison {
	c := comparison{first: first, second: second, ratio: math.NaN(), p: math.NaN(), holm: math.NaN(), effect: math.NaN()}
	var hashes []string
	for hash := range a {
		if b[hash] != nil {
			hashes = append(hashes, hash)
		}
	}
	slices.Sort(hashes) // sums of floating-point numbers depend on their order
	var differences, logs []float64
	largest, positive := 0.0, true
	for _, hash := range hashes {
		x, y := sum(a[hash])/float64(len(a[hash])), sum(b[hash])/float64(len(b[hash])) // NaN if a run has none
		c.n++
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			c.ties++
			continue
		case math.IsNaN(y):
			c.wins++
			continue
		case math.IsNaN(x):
			c.losses++
			continue
		}
		d, size := x-y, max(math.Abs(x), math.Abs(y))
		switch {
		case tied(x, y):
			c.ties, d = c.ties+1, 0
		case sense.Better(x, y):
			c.wins++
		default:
			c.losses++
		}
		differences, largest = append(differences, d), max(largest, size)
		if positive = positive && x > 0 && y > 0; positive {
			logs = append(logs, math.Log(x/y))
		}
	}
	c.both = len(differences)
	c.mean, c.half = Estimate(differences, largest)
	if positive && len(logs) > 0 {
		c.ratio = math.Exp(stat.Mean(logs, nil))
	}
	c.p, c.effect = signedRank(differences)
	return c
}
