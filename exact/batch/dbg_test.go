package batch_test
import ("testing";"math/rand/v2";"os";"strconv";"time";"math";"context"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)
func TestDbg(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("JOBS"))
	limit, _ := strconv.Atoi(os.Getenv("LIMIT"))
		rng := rand.New(rand.NewPCG(51, uint64(n)))
		ok, dok, daok := 0, 0, 0
		c1, c2, c3 := int64(0), int64(0), int64(0)
		var t1, t2, t3 time.Duration
		for range 20 {
			in := testkit.RandomNodes(rng, n)
			at := time.Now()
			ctx, stop := context.WithTimeout(t.Context(), time.Duration(limit)*time.Second)
			r, err := batchexact.Kernel.Solve(ctx, in, model.Settings{Seed:1})
			stop()
			if err != nil { t.Fatal(err) }
			if r.Status == model.StatusOptimal { ok++ }
			t1 += time.Since(at); c1 += r.Nodes
			at = time.Now()
			ctx, stop = context.WithTimeout(t.Context(), time.Duration(limit)*time.Second)
			d, c := batchexact.Direct(ctx, in, r.Objective, false, 0)
			stop()
			if !math.IsNaN(d) { dok++; if r.Status == model.StatusOptimal && math.Abs(d-r.Objective)>1e-9 { t.Errorf("%v %v", d, r.Objective) } }
			t2 += time.Since(at); c2 += c
			at = time.Now()
			ctx, stop = context.WithTimeout(t.Context(), time.Duration(limit)*time.Second)
			d, c = batchexact.Direct(ctx, in, r.Objective, true, 0)
			stop()
			if !math.IsNaN(d) { daok++; if r.Status == model.StatusOptimal && math.Abs(d-r.Objective)>1e-9 { t.Errorf("%v %v", d, r.Objective) } }
			t3 += time.Since(at); c3 += c
		}
		t.Logf("%d jobs: benders %d %d conflicts %.1fs, direct %d %d %.1fs, alone %d %d %.1fs", n, ok, c1, t1.Seconds(), dok, c2, t2.Seconds(), daok, c3, t3.Seconds())
}
