// SPDX-License-Identifier: MIT

package ask_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The best bound is the strongest: the largest if the figure is minimised, the least if it is maximised.
func TestBest(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"ten-tasks", "eight-requests", "ten-jobs", "fourteen-clusters"} {
		x, err := ask.BoundsOf(t.Context(), read(t, file))
		if err != nil || len(x.Bounds) == 0 || x.Best == nil || x.Infeasible {
			t.Fatalf("%s: %+v, %v", file, x, err)
		}
		strongest := *x.Bounds[0].Value
		for _, b := range x.Bounds {
			if file == "eight-requests" || file == "fourteen-clusters" {
				strongest = min(strongest, *b.Value)
			} else {
				strongest = max(strongest, *b.Value)
			}
		}
		require.Same(t, fmt.Sprintf("%s: best", file), strongest, *x.Best)
	}
}

// The last report always arrives, however soon the solve ends; figures never get worse.
func TestTell(t *testing.T) {
	t.Parallel()
	x := ask.Watch(read(t, "ten-tasks"))
	var told []ask.Progress
	stop := x.Tell(time.Hour, func(p ask.Progress) { told = append(told, p) })
	x.Hear(model.Progress{Algorithm: "search", Incumbent: 80, Bound: math.NaN()})
	x.Hear(model.Progress{Algorithm: "search", Incumbent: 90, Bound: 70, Nodes: 5})
	stop()
	if len(told) != 1 || *told[0].Objective != 80 || *told[0].Bound != 70 || *told[0].Gap != 0.125 || told[0].Nodes != 5 {
		t.Errorf("told %+v", told)
	}
	told = nil
	x.Tell(time.Hour, func(p ask.Progress) { told = append(told, p) })()
	if told != nil {
		t.Errorf("without news it tells %+v", told)
	}
}

// read returns an instance of docs/examples.
func read(t *testing.T, name string) model.Instance {
	t.Helper()
	data := require.Value(os.ReadFile("../../../docs/examples/" + name + ".json"))(t)
	return require.Value(model.DecodeInstance(data))(t)
}
