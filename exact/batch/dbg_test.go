package batch_test
import ("testing";"math/rand/v2";"os";"strconv";"time"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)
func TestDbg(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("JOBS"))
	limit, _ := strconv.Atoi(os.Getenv("LIMIT"))
	for _, kind := range []string{"random", "site"} {
		rng := rand.New(rand.NewPCG(51, uint64(n)))
		ok, conf := 0, int64(0)
		gap := 0.0
		begin := time.Now()
		for range 12 {
			in := testkit.RandomNodes(rng, n)
			if kind == "site" { in = siteLike(rng, n) }
			r, err := batchexact.Kernel.Solve(t.Context(), in, model.Settings{Seed:1, Effort: int64(limit)*1000000})
			if err != nil { t.Fatal(err) }
			if r.Status == model.StatusOptimal { ok++ }
			conf += r.Nodes
			gap += r.Gap
		}
		t.Logf("%s %d: %d of 12, %d conflicts, gap %.3f, %.1fs", kind, n, ok, conf, gap, time.Since(begin).Seconds())
	}
}
