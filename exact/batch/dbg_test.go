package batch_test
import ("testing";"math/rand/v2";"os";"strconv";"time"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)
func TestDbg(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("JOBS"))
	limit, _ := strconv.Atoi(os.Getenv("LIMIT"))
	ways := map[string]model.Solver{"whole": batchexact.Kernel, "norows": batchexact.KernelOnNodesWithout(true,false),"noalike": batchexact.KernelOnNodesWithout(false,true)}
	for _, d := range []string{"prices","supported-starts","identical-jobs"} { ways[d]=require.Value(batchexact.Kernel.Without(d))(t) }
	if os.Getenv("WAYS") != "" { ways = map[string]model.Solver{os.Getenv("WAYS"): ways[os.Getenv("WAYS")]} }
	for name, s := range ways {
		rng := rand.New(rand.NewPCG(51, uint64(n)))
		ok, atroot, conf := 0, 0, int64(0)
		begin := time.Now()
		for range 20 {
			in := testkit.RandomNodes(rng, n)
			at := time.Now()
			r, err := s.Solve(t.Context(), in, model.Settings{Seed:1, Effort: int64(limit)*1000000})
			if err != nil { t.Fatal(err) }
			if r.Status == model.StatusOptimal { ok++; if r.Nodes == 0 { atroot++ } }
			if os.Getenv("EACH") != "" { t.Logf("%s %v %.3g %.3g %d conflicts %v %s procs %d", name, r.Status, r.Objective, r.Bound, r.Nodes, time.Since(at), r.Reason, in.Processors) }
			conf += r.Nodes
		}
		t.Logf("%s: %d of 20, %d at once, %d conflicts, %.1fs", name, ok, atroot, conf, time.Since(begin).Seconds())
	}
}
