// SPDX-License-Identifier: MIT

package dag

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// spoilt are faults of a model, by which it excludes schedules that there are. Each returns whether the model has the
// part to be spoilt.
var spoilt = map[string]func(rng *rand.Rand, m *kernelModel) bool{
	"transfers take longer": func(rng *rand.Rand, m *kernelModel) bool {
		for _, c := range m.Constraints {
			if d, ok := c.(*cp.Delay); ok {
				row := d.By[rng.IntN(len(d.By))]
				row[rng.IntN(len(row))] += 3
			}
		}
		return true
	},
	"a task takes longer on each machine": func(rng *rand.Rand, m *kernelModel) bool {
		for _, c := range m.Constraints {
			if c, ok := c.(*cp.NoOverlap); ok {
				c.Lengths[rng.IntN(len(c.Lengths))] += 3
			}
		}
		return true
	},
	"load rows ask for more": func(_ *rand.Rand, m *kernelModel) (ok bool) {
		for _, c := range m.Constraints {
			if c, is := c.(*cp.Linear); is {
				ok = true
				c.AtMost += 3 * c.Terms[0].Times
			}
		}
		return ok
	},
	"a start ends too soon": func(rng *rand.Rand, m *kernelModel) bool {
		x := m.Starts[rng.IntN(len(m.Starts))]
		m.High[x[rng.IntN(len(x))].At] -= 4
		return true
	},
	"a machine is taken from a task": func(rng *rand.Rand, m *kernelModel) bool {
		t := rng.IntN(len(m.Starts))
		x := m.Starts[t][rng.IntN(len(m.Starts[t]))].If
		if len(m.Starts[t]) > 1 {
			m.AddAs("one "+strconv.Itoa(t), cp.Nogood{x})
		}
		return len(m.Starts[t]) > 1
	},
}

// A kernel with a wrong model writes proofs that the checker refuses, unless they claim something true all the same.
func TestProofOfSpoiltModel(t *testing.T) {
	t.Parallel()
	for name, spoil := range spoilt {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(14, uint64(len(name))))
			refused, tries := 0, 0
			for tries < require.Rounds(12) {
				d := testkit.RandomDAG(rng, 3+rng.IntN(4), 2+rng.IntN(2)).WithoutContention()
				r := require.Value(Kernel.Solve(context.Background(), d, model.Settings{}))(t)
				hash := require.Value(model.Hash(d))(t)
				v := newTicks(view.OfDAG(d), r.Objective, devUnproved)
				require.OK(t, v.findWeights(context.Background()))
				horizon := int64(r.Objective/v.Ticks.Unit) + 2
				m := newKernelModel(v, horizon)
				if !spoil(rng, m) {
					continue
				}
				tries++
				var b bytes.Buffer
				k := lcg.New(&m.Model.Model)
				p := require.Value(k.Prove(&b,
					lcg.Header{Kind: "dag", Instance: hash, Unit: strconv.FormatFloat(v.Ticks.Unit, 'g', -1, 64),
						Upper: horizon}))(t)
				k.Minimise(context.Background(), nil, 300, nil)
				require.OK(t, p.Close())
				claim, err := verify.Proof(context.Background(), d, hash, &b)
				if err != nil {
					refused++
				} else if claim.Bound > r.Objective*(1+1e-9) {
					t.Fatalf("%s is believed, the optimum is %v", claim.Claim, r.Objective)
				}
			}
			if refused == 0 && !testing.Short() {
				t.Errorf("only %d of %d are refused", refused, tries)
			}
		})
	}
}
