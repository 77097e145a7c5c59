// SPDX-License-Identifier: MIT

package tvc

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// linear returns a row with a name that begins with a word, nil without one.
func (m *kernelModel) linear(rng *rand.Rand, word string) *cp.Linear {
	var all []*cp.Linear
	for c, name := range m.Names {
		if row, ok := m.Constraints[c].(*cp.Linear); ok && strings.HasPrefix(name, word+" ") {
			all = append(all, row)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[rng.IntN(len(all))]
}

// tighter is a fault: a row of a name has less room.
func tighter(word string) func(rng *rand.Rand, m *kernelModel) bool {
	return func(rng *rand.Rand, m *kernelModel) bool {
		row := m.linear(rng, word)
		if row != nil {
			row.AtMost--
		}
		return row != nil
	}
}

// spoilt are faults of a model, by which it excludes embeddings that there are. Each
// returns whether there was something to spoil.
var spoilt = map[string]func(rng *rand.Rand, m *kernelModel) bool{
	"a server with a slot less": tighter("slots"),
	"a link with a bit/s less":  tighter("link"),
	"a slot less in all":        tighter("total"),
	"VMs that get lost":         tighter("whole"),
	"an objective that is more": func(_ *rand.Rand, m *kernelModel) bool {
		m.Constraints[len(m.Constraints)-1].(*cp.Linear).AtMost--
		return true
	},
	"a part that isn't there": func(rng *rand.Rand, m *kernelModel) bool {
		r := m.requests[rng.IntN(len(m.requests))]
		for v := range r.at[0] { // no server has the largest one
			all := r.at[0][v]
			m.AddAs("one "+strings.TrimPrefix(m.VarNames[all[0].is], "none "), cp.Nogood{all[len(all)-1].is.Is()})
		}
		return true
	},
	"a request that is taken for one that runs": func(rng *rand.Rand, m *kernelModel) bool {
		a, b := m.requests[rng.IntN(len(m.requests))], m.requests[rng.IntN(len(m.requests))]
		if a.span.From <= b.span.To && b.span.From <= a.span.To {
			return false
		}
		for c, name := range m.Names {
			if row, ok := m.Constraints[c].(*cp.Linear); ok && strings.HasPrefix(name, "slots 0 ") {
				row.Groups = append(row.Groups, group(a.at[0][0], vms, 0), group(b.at[0][0], vms, 0))
			}
		}
		return true
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
			for tries < require.Rounds(40) {
				in := testkit.RandomTVC(rng, 2, 3+rng.IntN(3), false)
				ticks := view.OfTVC(in)
				w := tvcrelax.NewWeights(in, ticks)
				m := newKernelModel(in, ticks, w, offSiblings|offOtherTotals, tvcrelax.Components(ticks)...)
				if len(m.requests) == 0 || !spoil(rng, m) {
					continue
				}
				tries++
				hash := require.Value(model.Hash(in))(t)
				var b bytes.Buffer
				k := lcg.New(&m.Model)
				p := require.Value(k.Prove(&b, lcg.Header{Kind: "tvc", Instance: hash, Unit: "1", Upper: w.Total}))(t)
				k.Minimise(context.Background(), nil, 300, nil)
				require.OK(t, p.Close())
				best, _ := plain.Optimum(in)
				claim, err := verify.Proof(context.Background(), in, hash, &b)
				if err != nil {
					refused++
				} else if claim.Bound < best*(1-1e-12) {
					t.Fatalf("%s is believed, the optimum is %v", claim.Claim, best)
				}
			}
			if t.Logf("%d of %d are refused", refused, tries); refused == 0 && !testing.Short() {
				t.Errorf("only %d of %d are refused", refused, tries)
			}
		})
	}
}
