package tvc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// request is a cluster that a benchmark asks for.
type request struct {
	n int
	b int64
}

// loadedCentre returns a data centre with 8 slots a server and links of 1 Gbps,
// about five sixths full after as many placements by AdaBa as it has servers: requests
// of 1 to several hundred VMs (log-uniform) at 5 to 500 Mbps (log-uniform) that
// fit an empty data centre. It also returns requests of the kind that it accepts,
// and some that it rejects.
func loadedCentre(k int, fabric model.Fabric) (d *DataCentre, accepted, rejected []request) {
	in := &model.TVC{FatTree: model.FatTree{K: k, Slots: 8, LinkMbps: 1000, Fabric: fabric}}
	rng, adaba := rand.New(rand.NewPCG(uint64(k), 48)), NewAdaBa()
	logUniform := func(from, to float64) float64 { return from * math.Exp(rng.Float64()*math.Log(to/from)) }
	d = NewDataCentre(in.Ticks())
	empty := NewDataCentre(in.Ticks())
	draw := func() request {
		for {
			r := request{int(logUniform(1, float64(min(400, 2*d.TVCTicks.Servers)))), int64(logUniform(5e6, 500e6))}
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
			if 6*d.free > d.Slots*len(d.Free) {
				continue
			}
		}
		x := rng.IntN(len(running))
		d.Remove(&running[x].e, running[x].n, running[x].b)
		running[x] = running[len(running)-1]
		running = running[:len(running)-1]
	}
	for range 5000 { // full to an eighth, if this many requests suffice
		r := draw()
		if e, ok := adaba.Embed(d, r.n, r.b); ok && 8*d.free > d.Slots*len(d.Free) {
			d.Add(&e, r.n, r.b)
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
func BenchmarkAdaBa(b *testing.B) { benchmarkEmbedder(b, NewAdaBa()) }

// BenchmarkProgram measures one decision of the exact program.
func BenchmarkProgram(b *testing.B) { benchmarkEmbedder(b, newProgram(CostReserved)()) }

func benchmarkEmbedder(b *testing.B, e Embedder) {
	for _, fabric := range model.Fabrics {
		for _, k := range []int{6, 12, 24, 48} {
			d, accepted, rejected := loadedCentre(k, fabric)
			for _, x := range []struct {
				name     string
				requests []request
			}{{"accepted", accepted}, {"rejected", rejected}} {
				if len(x.requests) == 0 {
					continue
				}
				b.Run(fmt.Sprintf("%s/k=%d/%s", fabric, k, x.name), func(b *testing.B) {
					b.ReportAllocs()
					for k := range b.N {
						r := x.requests[k%len(x.requests)]
						e.Embed(d, r.n, r.b)
					}
				})
			}
		}
	}
}
