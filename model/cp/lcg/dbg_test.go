package lcg
import ("testing";"math/rand/v2";"context";"time")
func TestDbg(t *testing.T){
 for seed := range 20000 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		m := shop(r)
		k := New(m)
		k.limit = int64(1 + r.IntN(20))
		ctx, c := context.WithTimeout(context.Background(), time.Second)
		o := k.Minimise(ctx, nil, 5000, nil)
		c()
		if !o.Optimal && !o.Infeasible { t.Errorf("%d %+v %d %d", seed, o, k.Conflicts, k.Decided) }
 }
}
