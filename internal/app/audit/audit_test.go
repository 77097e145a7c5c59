// SPDX-License-Identifier: MIT

package audit

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The everyday part of the net: gapwise's claims agree with each other, for as long as there is time.
func TestAudit(t *testing.T) {
	o := Options{Time: 5 * time.Second, Seed: 1, Workers: 2, Folder: t.TempDir()}
	if testing.Short() {
		o.Time = 3 * time.Second
	}
	o.Found = func(d Disagreement, file string) { t.Errorf("%s: %s: %s", file, d.Check, d.Reason) }
	all, engines, proofs, instances := require.Value(Run(t.Context(), o))(t).Comparisons()
	t.Logf("%d comparisons on %d instances, %d of them of two engines on larger ones, %d proofs replayed", all, instances, engines, proofs)
	if all == 0 || engines == 0 || proofs == 0 {
		t.Error("nothing was compared")
	}
}

// A problem without families is refused, and not audited by default.
func TestUnknownProblem(t *testing.T) {
	if r, err := Run(t.Context(), Options{Kinds: []model.Kind{"new"}}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("report %v, error %v", r, err)
	}
}

// A problem without families of its own is audited on the small instances of its
// generator.
func TestWithoutFamilies(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 2))
	for _, kind := range Kinds() {
		for range 20 {
			if err := drawSmall(kind, rng).Validate(); err != nil {
				t.Error(err)
			}
		}
	}
	if p := problemOf("new"); len(p.relations) > 0 || p.count(drawSmall(model.KindDAG, rng)) == 0 {
		t.Errorf("%+v", p)
	}
}
