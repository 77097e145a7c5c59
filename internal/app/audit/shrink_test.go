// SPDX-License-Identifier: MIT

package audit

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A copy is equal and shares nothing; a smaller one is another instance, some of it valid.
func TestSmaller(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	for _, kind := range Kinds() {
		valid := 0
		for range 20 {
			in := problemOf(kind).draw(tiny, rng)
			hash := require.Value(model.Hash(in))(t)
			for s := range smaller(in) {
				if s.Validate() == nil {
					valid++
					if equal(s, in) {
						t.Fatalf("%+v is no smaller", s)
					}
				}
			}
			for _, x := range leaves(clone(in)) {
				x.SetZero()
			}
			if again, err := model.Hash(in); err != nil || again != hash {
				t.Fatalf("the instance has changed: %v", err)
			}
		}
		if valid < 200 {
			t.Errorf("%s: %d smaller instances are valid", kind, valid)
		}
	}
}
