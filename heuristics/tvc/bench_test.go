// SPDX-License-Identifier: MIT

package tvc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// request is a cluster that a benchmark asks for.
type request struct {
	n int
	b int64
}

// loadedCentre returns a data centre with 8 slots a server and links of 1 Gbps. It is five sixths full during as many
// placements by AdaBa as it has servers, then filled until ten requests have been rejected. Requests are of 1 to
// several hundred VMs (log-uniform) at 5 to 500 Mbps (log-uniform) and fit an empty data centre. It also returns
// requests that fit, and some that it rejects.
func loadedCentre(k int, fabric model.Fabric) (d *fattree.DataCentre, accepted, rejected []request) {
	in := &model.TVC{FatTree: model.FatTree{K: k, Slots: 8, LinkMbps: 1000, Fabric: fabric}}
	rng, adaba := rand.New(rand.NewPCG(uint64(k), 48)), newAdaBa()
	logUniform := func(from, to float64) float64 { return from * math.Exp(rng.Float64()*math.Log(to/from)) }
	d = fattree.New(view.OfTVC(in))
	empty := fattree.New(view.OfTVC(in))
	draw := func() request {
		for {
			r := request{int(logUniform(1, float64(min(400, 2*d.TVC.Servers)))), int64(logUniform(5e6, 500e6))}
			if _, ok := adaba.Embed(empty, r.n, r.b); ok {
				d.Arrive(r.b)
				return r
			}
		}
	}
	type cluster struct {
		e model.Embedding
		request
	}
	var running []cluster
	for placed := 0; placed < len(d.Free); {
		r := draw()
		if e, ok := adaba.Embed(d, r.n, r.b); ok {
			d.Add(&e, r.n, r.b)
			running = append(running, cluster{e, r})
			placed++
			if 6*d.AllFree > d.Slots*len(d.Free) {
				continue
			}
		}
		x := rng.IntN(len(running))
		d.Remove(&running[x].e, running[x].n, running[x].b)
		running[x] = running[len(running)-1]
		running = running[:len(running)-1]
	}
	for len(rejected) < 10 {
		r := draw()
		if e, ok := adaba.Embed(d, r.n, r.b); ok {
			d.Add(&e, r.n, r.b)
		} else {
			rejected = append(rejected, r)
		}
	}
	for range 1000 {
		r := draw()
		if _, ok := adaba.Embed(d, r.n, r.b); ok {
			accepted = append(accepted, r)
		} else {
			rejected = append(rejected, r)
		}
	}
	return d, accepted, rejected
}

// BenchmarkAdaBa measures one decision in a loaded data centre.
func BenchmarkAdaBa(b *testing.B) { benchmarkEmbedder(b, "adaba") }

// BenchmarkOktopus measures one decision in a loaded data centre.
func BenchmarkOktopus(b *testing.B) { benchmarkEmbedder(b, "oktopus") }

// BenchmarkGreedy measures one decision in a loaded data centre.
func BenchmarkGreedy(b *testing.B) { benchmarkEmbedder(b, "greedy") }

// BenchmarkProgram measures one decision of the exact program.
func BenchmarkProgram(b *testing.B) { benchmarkEmbedder(b, "program-reserved") }

func benchmarkEmbedder(b *testing.B, name string) {
	for _, fabric := range model.Fabrics {
		for _, k := range []int{6, 12, 24, 48} {
			var d *fattree.DataCentre
			var requests [2][]request
			for answer, title := range []string{"accepted", "rejected"} {
				b.Run(fmt.Sprintf("k=%d/%s/%s", k, fabric, title), func(b *testing.B) {
					if d == nil { // only if it is asked for
						d, requests[0], requests[1] = loadedCentre(k, fabric)
					}
					e := require.Value(findEmbedder(name))(b)
					b.ReportAllocs()
					b.ResetTimer()
					for i := range b.N {
						r := requests[answer][i%len(requests[answer])]
						e.Embed(d, r.n, r.b)
					}
				})
			}
		}
	}
}
