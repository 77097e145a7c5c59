// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"strconv"
	"testing"

	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The published optima of vector packing of 20 items in 3 to 10 dimensions are proved: there is a placement on that
// many hosts, and none on one less.
func TestVBPOptima(t *testing.T) {
	t.Parallel()
	rows := require.CSV(t, "vbp", "optima.csv")
	optima := map[string]int{}
	for _, row := range rows {
		if n, err := strconv.Atoi(row[4]); err == nil && n > 0 && row[1] == "20" {
			optima[row[0]] = n
		}
	}
	seen, proved := 0, 0
	for name, data := range require.TarGz(t, "vbp", "vbp.tar.gz") {
		best, ok := optima[name]
		if !ok {
			continue
		}
		if seen++; seen%12 != 0 {
			continue
		}
		v := require.Value(instances.ReadVBP(data))(t)
		for _, hosts := range []int{best, best - 1} {
			in := require.Value(v.Place(name, hosts))(t)
			r := require.Value(vcexact.Search.Solve(t.Context(), in, model.Settings{Seed: 1}))(t)
			want := model.StatusOptimal
			if hosts < best {
				want = model.StatusInfeasible
			}
			if r.Status != want {
				t.Errorf("%s on %d hosts: %s, the optimum is %d", name, hosts, r.Status, best)
			}
			require.Feasible(verify.Result(t.Context(), in, r, verify.Options{}))(t, name, hosts, "hosts")
			proved++
		}
	}
	if proved == 0 {
		t.Error("no file of 20 items was found")
	}
}
