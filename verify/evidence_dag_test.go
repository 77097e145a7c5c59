// SPDX-License-Identifier: MIT

package verify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The load in words of the machine is the load in integers of any length, where it is known.
func TestDAGLoadSmall(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 53))
	small, draws := 0, 2000
	for range draws {
		figure := []func() float64{
			func() float64 { return float64(rng.IntN(50)) },
			func() float64 { return float64(rng.IntN(1000)) / 10 },
			func() float64 { return rng.Float64() },
			func() float64 { return math.Ldexp(rng.Float64(), rng.IntN(30)-15) },
			func() float64 { return 1e18 * rng.Float64() },
			func() float64 { return math.Ldexp(1, rng.IntN(63)) },
		}
		weigh, take := figure[rng.IntN(len(figure))], figure[rng.IntN(len(figure))]
		d := &model.DAG{Machines: make([]model.Machine, 1+rng.IntN(4)), Tasks: make([]model.DAGTask, rng.IntN(20))}
		var weight, cost binary
		weights := make([]float64, len(d.Machines))
		for a := range weights {
			weights[a] = weigh()
			weight.see(weights[a])
		}
		for k := range d.Tasks {
			for range d.Machines {
				c := take()
				cost.see(c)
				d.Tasks[k].CostS = append(d.Tasks[k].CostS, c)
			}
		}
		whole := make([]*big.Int, len(weights))
		for a, w := range weights {
			whole[a] = weight.whole(w)
		}
		want := dagLoadSum(t.Context(), d, &part{resource: -1, whole: big.NewInt(1)}, whole, cost)
		got, ok := dagLoadSmall(t.Context(), d, weights, weight, cost)
		if !ok {
			continue
		}
		small++
		require.Is(t, 0, got.Cmp(want), got, "beside", want, "weights", weights, d.Tasks)
	}
	if small < draws/2 || small == draws {
		t.Errorf("%d of %d loads in words", small, draws)
	}
}
