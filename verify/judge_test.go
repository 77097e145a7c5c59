// SPDX-License-Identifier: MIT

package verify_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// A Judge recomputes a piece of evidence once: the second time it doesn't look at its context. Its answer is the
// function's, and it follows evidence anew after an interrupt.
func TestJudgeFollowsEvidenceOnce(t *testing.T) {
	t.Parallel()
	const n = 3000
	for _, kind := range model.Kinds() {
		in, _, all := large(kind, n)
		j := verify.NewJudge(in)
		for k := range all {
			e := &all[k]
			want := require.Value(verify.Evidence(t.Context(), in, e))(t)
			if _, err := j.Evidence(&testkit.StopAfter{Context: context.Background()}, e); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, %s: interrupted it returns %v", kind, e.Type, err)
			}
			for round, least := range []int{1, 0} {
				c := &testkit.StopAfter{Context: context.Background(), Looks: math.MaxInt}
				f := require.Value(j.Evidence(c, e))(t)
				if looks := math.MaxInt - c.Looks; (looks > 0) != (least > 0) {
					t.Errorf("%s, %s: call %d looks at its context %d times", kind, e.Type, round+1, looks)
				}
				if f.How != want.How || f.Infeasible != want.Infeasible || f.Bound.Cmp(want.Bound) != 0 {
					t.Errorf("%s, %s: it follows %v, not %v", kind, e.Type, f, want)
				}
			}
		}
	}
}
