// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The ratio that is asked for is the one that is measured, whatever the network; graph and costs stay, and without it
// nothing has changed.
func TestDAGSpecCCR(t *testing.T) {
	for _, s := range []DAGSpec{
		{Tasks: 40, Fat: 0.6, Density: 0.5, Regular: 0.5, Jump: 2, MaxCost: 30, MaxData: 10, Machines: 3, Platform: "paper", Transfer: model.TransferTCPAll, Seed: 1},
		{Tasks: 20, Fat: 0.3, Density: 0.2, Regular: 0.8, Jump: 1, MaxCost: 5, MaxData: 3, Machines: 4, Platform: "uniform,startup=0.2", Seed: 2},
		{MaxCost: 50, MaxData: 50, Machines: 3, Kinds: 2, Cores: 4, Platform: "star", Daggen: "daggen-1296", Draws: 1, Index: 700},
	} {
		plain := require.Value(s.Generate())(t)
		for _, ccr := range []float64{0.1, 1, 7.5} {
			s.CCR = ccr
			d := require.Value(s.Generate())(t)
			for _, f := range features.DAG(d) {
				if f.Key == "ccr" && math.Abs(f.Value-ccr) > 1e-12*ccr {
					t.Errorf("%s: the ratio is %v", d.Name, f.Value)
				}
			}
			require.Same(t, "tasks", plain.Tasks, d.Tasks)
			require.Same(t, "edges", len(plain.Edges), len(d.Edges))
			for e := range d.Edges {
				if of := plain.Edges[e].Data / plain.Edges[0].Data; math.Abs(d.Edges[e].Data/d.Edges[0].Data-of) > 1e-9*of {
					t.Errorf("%s: edge %d isn't scaled like the first", d.Name, e)
				}
			}
			if d.Name == plain.Name {
				t.Errorf("%s is the name with a ratio and without", d.Name)
			}
		}
	}
	small := DAGSpec{Tasks: 9, Fat: 0.5, Density: 1, Jump: 1, MaxCost: 5, MaxData: 5, Machines: 2, Platform: "uniform,startup=9"}
	for want, change := range map[string]func(*DAGSpec){
		"start-up times alone":     func(s *DAGSpec) { s.CCR = 0.5 },
		"nothing is sent":          func(s *DAGSpec) { s.CCR, s.Fat = 1, 1 },
		"max_data is 0":            func(s *DAGSpec) { s.CCR, s.MaxData = 1, 0 },
		"machines 1":               func(s *DAGSpec) { s.CCR, s.Machines = 1, 1 },
		"must be from 0 to 10^6":   func(s *DAGSpec) { s.CCR = math.NaN() },
		"is -1, must be from 0 to": func(s *DAGSpec) { s.CCR = -1 },
	} {
		s := small
		change(&s)
		require.Refused(t, want, require.Err(s.Generate()), model.ErrInvalid, want)
	}
}

// A plan's parameter is what was asked for, and without that it is left to what the instance has.
func TestDAGSpecCCRParameter(t *testing.T) {
	s := NewDAGSpec()
	if x, is := Nth(&s, 0, 1, 1).Params["ccr"]; is {
		t.Errorf("ccr is %v, where none was asked for", x)
	}
	s.CCR = 5
	require.Same(t, "ccr", 5, Nth(&s, 0, 1, 1).Params["ccr"])
}
