// SPDX-License-Identifier: MIT

package explain

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Waits is the mean response time of a batch queue in its parts, in seconds, weighted as the objective is: the jobs' own
// runtimes, which no schedule of one tier changes, the wait that the bound proves unavoidable, and the rest, which is
// open. They sum to the objective. The wait's own gap is Open / (Unavoidable + Open).
type Waits struct{ Runs, Unavoidable, Open float64 }

// WaitsOf returns the parts of an objective with its bound; false for other problems, two tiers, and without both.
func WaitsOf(in model.Instance, objective, bound float64) (Waits, bool) {
	b, ok := in.(*model.Batch)
	if !ok || b.Tiers != 1 || len(b.Jobs) == 0 || math.IsNaN(objective) || math.IsNaN(bound) {
		return Waits{}, false
	}
	sum, weights := 0.0, 0.0
	for k := range b.Jobs {
		w := float64(b.Jobs[k].EffectiveWeight())
		sum, weights = sum+float64(w*b.Work(k)), weights+w
	}
	x := Waits{Runs: sum / weights}
	x.Unavoidable = max(0, bound-x.Runs)
	if x.Open = objective - x.Runs - x.Unavoidable; x.Open <= 1e-9*objective { // a rounding error is no wait
		x.Open = 0
	}
	return x, true
}

// String says the parts: "14,774 s of it run, 1,617 s of wait proved unavoidable, 390 s open".
func (x Waits) String() string {
	said := fmt.Sprintf("%s s of it are runtimes, %s s wait that no schedule avoids, %s s open", words.Three(x.Runs), words.Three(x.Unavoidable), words.Three(x.Open))
	if wait := x.Unavoidable + x.Open; wait > 0 {
		said += fmt.Sprintf(" (%s %% of the wait)", words.Percent(x.Open/wait))
	}
	return said
}
