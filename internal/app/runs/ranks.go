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

// Ranks makes a table of the algorithms of each class by their mean ranks on the instances that all of the class have
// runs on, the best first, but for instances on which none has a value. That of several seeds is their mean; a run without a value has the last rank, and
// values that are equal within tieWithin of the least of them share the mean of their ranks.
//
// The column p is from Friedman's test that the algorithms of the class are equal (Demšar 2006). Two of them differ
// significantly if their mean ranks differ by the critical distance at least (Nemenyi, 0.05, all pairs together); "not
// told apart" names the others for which they don't. Classes are never ranked together. O(n k log k) for n instances.
func Ranks(records []Record, o CompareOptions) (Table, error) {
	t := Table{Header: []string{"algorithm", "mean rank", "n", "p", "distance", "not told apart"}, Subject: "Mean ranks, by " + cmp.Or(o.Value, objectiveKey)}
	if o.Base != "" {
		return t, o.bad("ranks are of all algorithms together: leave the base %s out", o.Base)
	}
	all, values, sense, err := o.values(records)
	if err != nil {
		return t, err
	}
	for _, class := range model.Classes() {
		var members []string
		for _, a := range all.Algorithms {
			if all.classes[a] == class {
				members = append(members, a)
			}
		}
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
		distance := stats.Nemenyi(0.05, len(blocks), len(members))
		order := order.By(order.Of[int](len(members)), mean)
		show := func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
		for _, i := range order {
			var alike []string
			for _, k := range order {
				if k != i && math.Abs(mean[i]-mean[k]) < distance {
					alike = append(alike, members[k])
				}
			}
			t.Groups = append(t.Groups, GroupOf(class))
			t.Rows = append(t.Rows, []string{members[i], show(mean[i]), strconv.Itoa(len(blocks)), words.Probability(p, o.Plain), show(distance),
				cmp.Or(strings.Join(alike, ", "), "-")})
		}
	}
	if len(t.Rows) == 0 {
		return t, o.bad("no two algorithms of one class have runs on the same instances: there is nothing to rank")
	}
	return t, nil
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
