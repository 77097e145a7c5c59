// SPDX-License-Identifier: MIT

package require_test

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Fields of every kind are set, through pointers and interfaces; what else points to the old value keeps it.
func TestSet(t *testing.T) {
	type inner struct {
		Name  string
		Share *float64
	}
	type outer struct {
		N    int
		Any  any
		List []inner
		Big  big.Int
		On   bool
	}
	old := 0.5
	x := outer{N: 1, Any: &inner{Name: "a", Share: &old}, List: []inner{{Name: "b"}, {Name: "c"}}}
	require.Set(t, &x, "N=-3; On=true; Any.Name=a b=c; Any.Share=0.25; List.1.Name=; List=[1:]; Big=12")
	share := 0.25
	require.Same(t, "all of it",
		outer{N: -3, On: true, Any: &inner{Name: "a b=c", Share: &share}, List: []inner{{}}, Big: *big.NewInt(12)}, x,
		cmp.Comparer(func(a, b big.Int) bool { return a.Cmp(&b) == 0 }))
	require.Set(t, &x, "Any.Share=nil; List=[:0]")
	require.Same(t, "an empty list", []inner{}, x.List)
	require.Same(t, "no share, and the one that it was", []any{(*float64)(nil), 0.5}, []any{x.Any.(*inner).Share, old})
}
