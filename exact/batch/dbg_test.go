package batch_test
import ("testing";"math/rand/v2";"math"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)
func TestDbg(t *testing.T) {
	rng := rand.New(rand.NewPCG(50, 7))
	ways := map[string]model.Solver{"whole": batchexact.Kernel, "norows": batchexact.KernelOnNodesWithout(true,false),"noalike": batchexact.KernelOnNodesWithout(false,true)}
	for _, d := range []string{"prices","supported-starts","identical-jobs"} { ways[d]=require.Value(batchexact.Kernel.Without(d))(t) }
	bad := map[string]int{}
	for range 2000 {
		in := testkit.RandomNodes(rng, 1+rng.IntN(4))
		if in.Processors > 4 { continue }
		least := testkit.LeastOnNodes(in)
		for n, s := range ways {
			r, err := s.Solve(t.Context(), in, model.Settings{Seed:1})
			if err != nil { t.Fatal(err) }
			if r.Status != model.StatusOptimal { bad[n+" "+string(r.Status)+r.Reason]++; continue }
			if math.Abs(r.Objective-least) > 1e-9*least { bad[n]++ }
		}
	}
	t.Log(bad)
}
