package batch_test
import ("testing";"math/rand/v2";"os";"strconv";"time";"fmt"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/internal/test/require"
)
func siteLike(rng *rand.Rand, n int) *model.Batch {
	in := &model.Batch{Name: "site", Tiers: 1, Processors: 6, Resources: []string{"cpu","memory_gb","gpu"}, Nodes: []model.NodeGroup{
		{ID: "std", Count: 4, Capacity: []int64{16,64,0}, Partitions: []string{"main"}}, {ID:"gpu",Count:2,Capacity: []int64{16,128,4}, Partitions: []string{"main","gpu"}, Features: []string{"a100"}}}}
	kinds := []*model.NodeNeeds{{Each: []int64{16,32,0}, Spread: true, Partitions: []string{"main"}}, {Each: []int64{4,24,0}, Partitions: []string{"main"}}, {Each: []int64{2,16,1}, Partitions: []string{"gpu"}}, {Each: []int64{6,20,2}, Features: []string{"a100"}}, {Each: []int64{8,8,0}, Exclusive: true, Partitions: []string{"main"}}}
	submit := 0.0
	for len(in.Jobs) < n {
		j := model.BatchJob{ID: fmt.Sprint(len(in.Jobs)), SubmitS: submit, RuntimeS: float64(1+rng.IntN(20)), Processes: 1+rng.IntN(4), Needs: kinds[rng.IntN(len(kinds))]}
		in.Jobs = append(in.Jobs, j)
		if in.Validate() != nil { in.Jobs = in.Jobs[:len(in.Jobs)-1]; continue }
		submit += float64(rng.IntN(3))
	}
	return in
}
func TestDbg2(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("JOBS"))
	ways := map[string]model.Solver{"whole": batchexact.Kernel, "norows": batchexact.WithoutRows(), "prices": require.Value(batchexact.Kernel.Without("prices"))(t)}
	for name, s := range ways {
		if w := os.Getenv("WAYS"); w != "" && w != name { continue }
		rng := rand.New(rand.NewPCG(51, uint64(n)))
		ok, conf := 0, int64(0)
		begin := time.Now()
		for range 12 {
			in := siteLike(rng, n)
			at := time.Now()
			r, err := s.Solve(t.Context(), in, model.Settings{Seed:1, Effort: 3*1000000})
			if err != nil { t.Fatal(err) }
			if r.Status == model.StatusOptimal { ok++ }
			if os.Getenv("EACH") != "" { t.Logf("%s %v %.3g %.3g %d conflicts %v %s", name, r.Status, r.Objective, r.Bound, r.Nodes, time.Since(at), r.Reason) }
			conf += r.Nodes
		}
		t.Logf("%s: %d of 12, %d conflicts, %.1fs", name, ok, conf, time.Since(begin).Seconds())
	}
}
