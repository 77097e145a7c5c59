// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"fmt"

	"github.com/gapwise/gapwise/internal/text/words"
)

// Failures counts the failed runs in words: a line with their number, and one for each of the first so many reasons, by
// algorithm. The last one counts the rest. It returns nil if no run failed.
func Failures(records []Record, most int) (lines []string) {
	type cause struct{ algorithm, reason string }
	runs, order, failed := map[cause][]string{}, []cause(nil), 0
	known := Learn(records, nil)
	for i := range records {
		r := &records[i]
		if !(Run{Record: r, Known: known[r.Hash]}).Failed() {
			continue
		}
		c := cause{r.Algorithm, cmp.Or(r.Reason, "no reason is known")}
		if runs[c] == nil {
			order = append(order, c)
		}
		on := r.Instance
		if r.Seed != 1 {
			on += fmt.Sprintf(" with seed %d", r.Seed)
		}
		runs[c] = append(runs[c], on)
		failed++
	}
	if failed == 0 {
		return nil
	}
	lines = append(lines, fmt.Sprintf("%s of %s without a solution:", words.Short(float64(failed), 0), words.Plural(len(records), "run")))
	rest := failed
	for _, c := range order[:min(most, len(order))] {
		lines = append(lines, fmt.Sprintf("%s on %s: %s", c.algorithm, words.Some(runs[c], 1), c.reason))
		rest -= len(runs[c])
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("and %s for other reasons: gapwise bench table --by run has them all", words.Plural(rest, "run")))
	}
	return lines
}
