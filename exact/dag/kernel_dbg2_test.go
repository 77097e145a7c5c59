package dag

import (
	"context"
	"math/rand/v2"
	"testing"
	"math"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
	"github.com/gapwise/gapwise/model/cp"
)

func TestKernelDbg2(t *testing.T) {
	open := 0
	for seed := range 1500 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		d := modeltest.RandomDAG(r, 2+r.IntN(12), 1+r.IntN(4))
		d = d.WithoutContention()
		g := d.Graph()
		if g.Tasks == 0 { continue }
		_, upper, err := dagheur.BestPlan(context.Background(), d, g, model.Settings{Seed: 1}, 0, 0)
		if err != nil { t.Fatal(err) }
		v := newTicks(g, upper, 0)
		v.findWeights(context.Background())
		h := int32(math.Floor(upper/v.unit*(1+1e-12)))
		k := newKernelModel(v, h)
		o, _ := k.minimise(context.Background(), int64(h))
		res, err := Search{}.Solve(context.Background(), d, model.Settings{})
		if err != nil { t.Fatal(err) }
		if res.Status != model.StatusOptimal { open++; continue }
		lim := res.Objective/v.unit
		if !o.Optimal || float64(o.Best) > lim*(1+1e-9)+1e-6 || (v.whole && float64(o.Best) < lim-0.5) || float64(o.Best) < lim*(1-1e-6)-float64(2*g.Tasks) {
			t.Errorf("seed %d: kernel %d %v, search %v (%v) whole %v", seed, o.Best, o.Optimal, lim, upper/v.unit, v.whole)
		}
	}
	t.Log(open)
}

func TestKernelDbg3(t *testing.T) {
	for _, seed := range []int{908, 504, 1341} {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		d := modeltest.RandomDAG(r, 2+r.IntN(12), 1+r.IntN(4))
		d = d.WithoutContention()
		g := d.Graph()
		_, upper, _ := dagheur.BestPlan(context.Background(), d, g, model.Settings{Seed: 1}, 0, 0)
		v := newTicks(g, upper, 0)
		v.findWeights(context.Background())
		h := int32(math.Floor(upper/v.unit*(1+1e-12)))
		for mode := range 4 {
			k := newKernelModel(v, h)
			var keep []cp.Constraint
			for _, c := range k.Constraints {
				_, lin := c.(*cp.Linear)
				_, no := c.(*cp.NoOverlap)
				if mode == 1 && lin || mode == 2 && no { continue }
				keep = append(keep, c)
			}
			k.Constraints = keep
			o, _ := k.minimise(context.Background(), int64(h))
			t.Log(seed, mode, o.Best, o.Bound, o.Optimal, v.n, v.m, v.cost, v.tail)
		}
	}
}
