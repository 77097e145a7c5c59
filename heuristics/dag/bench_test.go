// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// large draws n tasks in levels of about the square root of n, with three edges into each, on m machines. All pairs of
// machines share one link.
func large(n, m int, transfer model.TransferModel) *model.DAG {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	d := &model.DAG{TransferModel: transfer, Network: model.Network{Bandwidth: 1, Links: []model.Link{{ID: "bus", Capacity: float64(m)}}}}
	for k := range m {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint("P", k)})
		for l := range k {
			d.Network.Routes = append(d.Network.Routes, model.Route{From: fmt.Sprint("P", l), To: fmt.Sprint("P", k), Links: []string{"bus"}})
		}
	}
	width := 1
	for width*width < n {
		width++
	}
	for t := range n {
		c := make([]float64, m)
		for k := range c {
			c[k] = float64(1 + rng.IntN(50))
		}
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: c})
		if t < width {
			continue
		}
		first := (t/width - 1) * width
		for k := range 3 {
			d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(first + (t*7+k*(1+width/3))%width), To: fmt.Sprint(t), Data: float64(1 + rng.IntN(50))})
		}
	}
	return d
}

// Near linear in tasks times machines: an insertion costs O(log gaps).
func BenchmarkHEFT(b *testing.B) {
	for _, c := range [][2]int{{1_000, 16}, {10_000, 16}, {10_000, 64}, {100_000, 64}} {
		b.Run(fmt.Sprintf("tasks=%d/machines=%d", c[0], c[1]), func(b *testing.B) {
			g := view.OfDAG(large(c[0], c[1], model.TransferIdeal))
			for b.Loop() {
				require.OK(b, require.Err(heft(context.Background(), g, nil)))
			}
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, transfer := range []model.TransferModel{model.TransferIdeal, model.TransferFair} {
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/tasks=%d", transfer, n), func(b *testing.B) {
				g := view.OfDAG(large(n, 16, transfer))
				p := require.Value(heft(context.Background(), g, nil))(b)
				r := dagplay.NewReplay(g)
				for b.Loop() {
					r.Run(p, nil)
				}
			})
		}
	}
}
