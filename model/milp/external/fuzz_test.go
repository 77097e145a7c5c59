// SPDX-License-Identifier: MIT

package external

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp"
)

// fuzz checks a parser for the properties that others rely on: a point has a finite value for each column, an optimum
// has a point, and a bound is no infinity.
func fuzz(f *testing.F, p *program, prefix string) {
	files := require.Value(filepath.Glob(filepath.Join("testdata", prefix+"-*")))(f)
	for _, name := range files {
		name = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".sol"), ".log")
		f.Add(file(f, name+".sol"), file(f, name+".log"))
	}
	if len(files) == 0 {
		f.Fatal(os.ErrNotExist)
	}
	columns := knapsack().Columns()
	f.Fuzz(func(t *testing.T, solution, log string) {
		got, err := p.parse(&call{columns: columns}, solution, log)
		if err != nil {
			return
		}
		if got.x != nil && len(got.x) != len(columns) {
			t.Errorf("%d values", len(got.x))
		}
		for _, x := range got.x {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("the value %v", x)
			}
		}
		if got.status == milp.Optimal && got.x == nil || got.status == milp.Infeasible && got.x != nil || math.IsInf(got.bound, 0) || got.nodes < 0 {
			t.Errorf("%+v", got)
		}
		r := milp.NoResult(p.tolerance)
		p.decode(knapsack(), got, &r)
		require.Same(t, fmt.Sprintf("%+v is feasible", r), got.x != nil, r.Feasible)
	})
}

func FuzzGLPSol(f *testing.F) { fuzz(f, glpsol, "glpsol") }
func FuzzCBC(f *testing.F)    { fuzz(f, cbc, "cbc") }
func FuzzSCIP(f *testing.F)   { fuzz(f, scip, "scip") }
func FuzzGurobi(f *testing.F) { fuzz(f, gurobi, "gurobi") }
func FuzzSol(f *testing.F)    { fuzz(f, mps(f), "mps") }
