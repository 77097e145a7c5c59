// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Ranking is the mean ranks of the algorithms of a class, the best first, over so many instances.
type Ranking struct {
	Class      model.Class
	Algorithms []string
	Ranks      []float64
	Instances  int
	P          float64 // of Friedman's test that all are equal; NaN where all tie
	Distance   float64 // of mean ranks from which on two algorithms differ significantly (Nemenyi, 0.05)
}

// Alike reports whether two algorithms aren't told apart.
func (r *Ranking) Alike(i, k int) bool { return math.Abs(r.Ranks[i]-r.Ranks[k]) < r.Distance }

// Cliques returns the first and the last of each largest set of algorithms of which no two are told apart.
func (r *Ranking) Cliques() (all [][2]int) {
	for first, end := 0, 0; first < len(r.Ranks); first++ {
		last := first
		for last+1 < len(r.Ranks) && r.Alike(first, last+1) {
			last++
		}
		if last > max(first, end) {
			all, end = append(all, [2]int{first, last}), last
		}
	}
	return all
}

// Rankings ranks the algorithms of each class with two or more by their mean ranks on the instances that all of the class
// have runs on, but for instances on which none has a value. That of several seeds is their mean; a run without a value
// has the last rank, and values that are equal within tieWithin of the least of them share the mean of their ranks. P and
// Distance are those of Demšar (2006). Classes are never ranked together. O(n k log k) for n instances.
func Rankings(records []Record, o CompareOptions) (found []Ranking, err error) {
	if o.Base != "" {
		return nil, o.bad("ranks are of all algorithms together: leave the base %s out", o.Base)
	}
	all, values, sense, err := o.values(records)
	if err != nil {
		return nil, err
	}
	for _, class := range model.Classes() {
		members := all.members(class)
		if len(members) < 2 {
			continue
		}
		var blocks [][]float64
		for _, hash := range slices.Sorted(maps.Keys(values[members[0]])) {
			var block []float64
			for _, a := range members {
				if y := values[a][hash]; y != nil {
					block = append(block, stats.Mean(y))
				}
			}
			if len(block) == len(members) && slices.ContainsFunc(block, func(y float64) bool { return !math.IsNaN(y) }) {
				blocks = append(blocks, ranked(sense, block))
			}
		}
		if len(blocks) == 0 {
			continue
		}
		mean, p := stats.Friedman(blocks)
		r := Ranking{Class: class, Instances: len(blocks), P: p, Distance: stats.Nemenyi(0.05, len(blocks), len(members))}
		for _, i := range order.By(order.Of[int](len(members)), mean) {
			r.Algorithms, r.Ranks = append(r.Algorithms, members[i]), append(r.Ranks, mean[i])
		}
		found = append(found, r)
	}
	if len(found) == 0 {
		return nil, o.bad("no two algorithms of one class have runs on the same instances: there is nothing to rank")
	}
	return found, nil
}

// Ranks makes a table of Rankings. The column "not told apart" names the algorithms that are nearer than the distance.
func Ranks(records []Record, o CompareOptions) (Table, error) {
	t := Table{Header: []string{"algorithm", "mean rank", "n", "p", "distance", "not told apart"}, Subject: "Mean ranks, by " + cmp.Or(o.Value, objectiveKey)}
	found, err := Rankings(records, o)
	for _, r := range found {
		show := func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
		for i, name := range r.Algorithms {
			var alike []string
			for k, other := range r.Algorithms {
				if k != i && r.Alike(i, k) {
					alike = append(alike, other)
				}
			}
			t.Groups = append(t.Groups, GroupOf(r.Class))
			t.Rows = append(t.Rows, []string{name, show(r.Ranks[i]), strconv.Itoa(r.Instances), words.Probability(r.P, o.Plain), show(r.Distance),
				cmp.Or(strings.Join(alike, ", "), "-")})
		}
	}
	return t, err
}

// ranked returns the ranks of the values of a block, from 1 for the best.
func ranked(sense model.Sense, block []float64) []float64 {
	key, ranks := make([]float64, len(block)), make([]float64, len(block))
	for i, y := range block {
		switch {
		case math.IsNaN(y):
			key[i] = math.Inf(1)
		case sense == model.Maximise:
			key[i] = -y
		default:
			key[i] = y
		}
	}
	order := order.By(order.Of[int](len(block)), key)
	for i := 0; i < len(order); {
		k := i + 1
		for k < len(order) && tied(block[order[i]], block[order[k]]) {
			k++
		}
		for _, j := range order[i:k] {
			ranks[j] = float64(i+1+k) / 2
		}
		i = k
	}
	return ranks
}

// tied reports that two values are a tie: neither is one, or they are equal up to rounding.
func tied(x, y float64) bool {
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.IsNaN(x) && math.IsNaN(y)
	}
	return math.Abs(x-y) <= tieWithin*max(math.Abs(x), math.Abs(y))
}
