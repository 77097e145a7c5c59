// SPDX-License-Identifier: MIT

package vcsched

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The tree answers as a look at every host does, on equal hosts and on hosts of several
// sizes, with one rigid resource and with several.
func TestLeastLoad(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 60 {
		in := &model.VCSched{Hosts: fewHosts + 1 + rng.IntN(100)}
		if round%2 == 1 {
			half := in.Hosts / 2
			in.HostSizes = []model.HostSize{{Count: half, CPU: 1, Memory: 1}, {Count: in.Hosts - half, CPU: 0.5, Memory: 2}}
		}
		if round%3 == 2 {
			in.Resources = []string{"disk"}
			for k := range in.HostSizes {
				in.HostSizes[k].Resources = []float64{1}
			}
		}
		for k := range 200 {
			j := model.VCSchedJob{ID: fmt.Sprint(k), Tasks: 1, CPU: float64(1+rng.IntN(5)) / 10, Memory: float64(rng.IntN(7)) / 10}
			if len(in.Resources) > 0 {
				j.Resources = []float64{float64(rng.IntN(7)) / 10}
			}
			in.Jobs = append(in.Jobs, j)
		}
		require.OK(t, in.Validate())
		u := view.OfVCSched(in)
		tree, nowhere := newLeastLoad(u), 0
		for i := range int32(len(u.CPU)) {
			want, least := -1, int64(0)
			for h := range u.Hosts {
				if !tree.fits(i, h) {
					continue
				}
				if load := tree.loadWith(i, h); want < 0 || load < least {
					want, least = h, load
				}
			}
			got := tree.best(i)
			require.Is(t, want, got, "round", round, "task", i, "host")
			if got < 0 {
				nowhere++
				got = rng.IntN(u.Hosts)
			}
			tree.put(i, got)
		}
		if round == 0 && nowhere == len(u.CPU) {
			t.Error("nothing fits anywhere")
		}
	}
}
