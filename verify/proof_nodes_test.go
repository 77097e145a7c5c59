// SPDX-License-Identifier: MIT

package verify_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The kernel's proofs on nodes replay and prove the optimum, which enumeration finds on tiny machines. A claim of one
// more is refused.
func TestProofsOnNodes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 20))
	rounds, crowds, pools, enumerated, nogoods := require.Rounds(400), 0, 0, 0, 0
	for n := range rounds {
		in := testkit.RandomNodes(rng, 1+rng.IntN(9))
		c := prove(t, batchexact.Kernel, in)
		if c.proof == nil {
			t.Fatalf("%d: there is no proof\n%s", n, text(in))
		}
		p, err := c.check(c.proof)
		if err != nil {
			t.Fatalf("%d: %v\n%s\n%s", n, err, text(in), c.proof)
		}
		if model.Gap(p.Bound, c.optimum) > 1e-9 {
			t.Fatalf("%d: it proves %v, the optimum is %v\n%s", n, p.Bound, c.optimum, text(in))
		}
		if in.Processors <= 4 && len(in.Jobs) <= 4 {
			if enumerated++; model.Gap(p.Bound, testkit.LeastOnNodes(in)) > 1e-9 {
				t.Fatalf("%d: it proves %v, the optimum by enumeration is %v\n%s", n, p.Bound, testkit.LeastOnNodes(in), text(in))
			}
		}
		nogoods += p.Nogoods
		lines := strings.Split(strings.TrimSpace(string(c.proof)), "\n")
		last := len(lines) - 1
		for at, line := range lines {
			w := strings.Fields(line)
			switch {
			case w[0] == "con" && w[2] == "crowd":
				crowds++
			case w[0] == "con" && w[2] == "pool":
				pools++
			case at == last:
				var claim int64
				fmt.Sscan(w[1], &claim)
				lines[at] = fmt.Sprint("claim ", claim+1)
				if _, err := c.check([]byte(strings.Join(lines, "\n"))); !errors.Is(err, verify.ErrProof) {
					t.Fatalf("%d: a claim of one more is taken: %v\n%s", n, err, c.proof)
				}
			}
		}
	}
	t.Logf("%d crowds, %d pools, %d nogoods, %d enumerated", crowds, pools, nogoods, enumerated)
	if !testing.Short() && (crowds < rounds/4 || pools < rounds/4 || nogoods < rounds || enumerated < rounds/10) {
		t.Error("too few of a kind")
	}
}

// haveNodes reports whether jobs have nodes such that of each set of them that pairwise meet all fit each node. It
// tries each choice of a node for each process, but for processes of a job, which are alike, and looks at all sets.
func haveNodes(in *model.Batch, jobs []int, meet func(i, k int) bool) bool {
	var group []*model.NodeGroup
	for g := range in.Nodes {
		for range in.Nodes[g].Count {
			group = append(group, &in.Nodes[g])
		}
	}
	on := make([][]int64, len(jobs)) // processes on each node
	fit := func(p int) bool {
		for set := range 1 << len(jobs) {
			used, members, alone, crowd := make([]int64, len(in.Resources)), 0, false, true
			for a, i := range jobs {
				if set>>a&1 == 0 || on[a] == nil || on[a][p] == 0 {
					continue
				}
				for b, k := range jobs[:a] {
					crowd = crowd && (set>>b&1 == 0 || on[b][p] == 0 || meet(i, k))
				}
				members++
				alone = alone || in.Jobs[i].Needs.Exclusive
				for r, need := range in.Jobs[i].Needs.Each {
					used[r] += need * on[a][p]
				}
			}
			if crowd && (members > 1 && alone || slices.ContainsFunc(in.Resources, func(name string) bool {
				r := slices.Index(in.Resources, name)
				return used[r] > group[p].Capacity[r]
			})) {
				return false
			}
		}
		return true
	}
	var place func(a, p, left int, groups []int) bool
	next := func(a int) bool {
		if a == len(jobs) {
			return true
		}
		for _, groups := range in.Alternatives(jobs[a]) {
			on[a] = make([]int64, len(group))
			if place(a, 0, in.Jobs[jobs[a]].Processes, groups) {
				return true
			}
		}
		on[a] = nil
		return false
	}
	place = func(a, p, left int, groups []int) bool {
		if left == 0 {
			return next(a + 1)
		}
		if p == len(group) {
			return false
		}
		allowed := slices.ContainsFunc(groups, func(g int) bool { return &in.Nodes[g] == group[p] })
		for count := 0; count <= left && (count == 0 || allowed && (count == 1 || !in.Jobs[jobs[a]].Needs.Spread)); count++ {
			if on[a][p] = int64(count); !fit(p) {
				break
			}
			if place(a, p+1, left-count, groups) {
				return true
			}
		}
		on[a][p] = 0
		return false
	}
	return next(0)
}

// likeNodes draws a machine of one group of nodes, with jobs whose processes share them in many ways.
func likeNodes(rng *rand.Rand, jobs int) *model.Batch {
	in := &model.Batch{Name: "like", Tiers: 1, Processors: 3 + rng.IntN(2), Resources: []string{"cpu"}}
	in.Nodes = []model.NodeGroup{{ID: "n", Count: in.Processors, Capacity: []int64{4 + rng.Int64N(4)}}}
	for k := range jobs {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1, Processes: 2 + rng.IntN(5), Needs: &model.NodeNeeds{Each: []int64{1 + rng.Int64N(3)}, Exclusive: rng.IntN(8) == 0}})
		for in.Validate() != nil {
			in.Jobs[k].Processes--
		}
	}
	return in
}

// A crowd is taken if and only if its jobs have no nodes by trying all, whatever its pairs.
func TestProofCrowds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 21))
	rounds, taken, refused, close := require.Rounds(12_000), 0, 0, 0
	for range rounds {
		in := testkit.RandomNodes(rng, 2+rng.IntN(5))
		if rng.IntN(3) == 0 {
			in = likeNodes(rng, 2+rng.IntN(3))
		}
		if in.Processors > 4 {
			continue
		}
		n, likely := len(in.Jobs), rng.IntN(5)
		var pairs [][2]int
		for i := range n {
			for k := range i {
				if rng.IntN(5) <= likely {
					pairs = append(pairs, [2]int{i, k})
				}
			}
		}
		if len(pairs) == 0 {
			continue
		}
		rng.Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
		crowd := func(pairs [][2]int) (jobs []int, name string) {
			for _, x := range pairs {
				if rng.IntN(2) == 0 {
					x[0], x[1] = x[1], x[0]
				}
				for _, k := range x {
					if name += fmt.Sprint(" ", k); !slices.Contains(jobs, k) {
						jobs = append(jobs, k)
					}
				}
			}
			return jobs, name
		}
		isTaken := func(pairs [][2]int) bool {
			jobs, name := crowd(pairs)
			_, err := forged(t, in, "1,1", math.MaxInt32, "con 1 crowd"+name, "claim 0")
			if err != nil && !strings.Contains(err.Error(), "there are nodes for these jobs") {
				t.Fatal(err)
			}
			if want := haveNodes(in, jobs, func(i, k int) bool {
				return slices.Contains(pairs, [2]int{i, k}) || slices.Contains(pairs, [2]int{k, i})
			}); want == (err == nil) {
				t.Fatalf("crowd%s: %v, by all ways there are nodes: %v\n%s", name, err, want, text(in))
			}
			return err == nil
		}
		if !isTaken(pairs) {
			refused++
			continue
		}
		taken++
		if len(pairs) > 1 && !isTaken(pairs[1:]) { // one overlap less, and they have nodes
			close++
		}
	}
	if t.Logf("%d are taken, %d refused; without one overlap %d of them would be wrong", taken, refused, close); min(taken, refused) < rounds/20 || close < rounds/60 {
		t.Error("too few of a kind")
	}
}

// twoGroups is a machine of two nodes of 4 CPUs and one of 2, with jobs of one process: five of 3 CPUs, one of 2, and one
// that has its node alone.
func twoGroups() *model.Batch {
	in := &model.Batch{Name: "two", Tiers: 1, Processors: 3, Resources: []string{"cpu", "gpu"}, Nodes: []model.NodeGroup{
		{ID: "large", Count: 2, Capacity: []int64{4, 0}}, {ID: "small", Count: 1, Capacity: []int64{2, 0}}}}
	for k, need := range []int64{3, 3, 3, 3, 3, 2, 1} {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1, Processes: 1,
			Needs: &model.NodeNeeds{Each: []int64{need, 0}, Exclusive: k == 6}})
	}
	return in
}

// Lines about nodes by hand are taken, or refused with the reason.
func TestProofNodesLines(t *testing.T) {
	t.Parallel()
	onProcessors := &model.Batch{Name: "one", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 1, Processes: 1}, {ID: "b", RuntimeS: 1, Processes: 1}}}
	const ordered = "con 1 order 0 1\nvar 1 before 0 1\nvar 2 start 0\nvar 3 start 1\n"
	for _, x := range []struct {
		in         model.Instance
		line, want string // "" : taken
	}{
		{twoGroups(), "con 1 crowd 0 1 0 2 1 2", ""},                             // three on two large nodes
		{twoGroups(), "con 1 crowd 0 1 0 2", "there are nodes"},                  // 1 and 2 may take turns
		{twoGroups(), "con 1 crowd 0 1", "there are nodes"},                      //
		{twoGroups(), "con 1 crowd 0 1 0 5 1 5", "there are nodes"},              // 5 is on the small one
		{twoGroups(), "con 1 crowd 0 1 0 5 1 5 5 6 0 6 1 6", ""},                 // where 6 is alone
		{twoGroups(), "con 1 crowd 0 1 0 5 1 5 0 6 1 6", "there are nodes"},      // 5 and 6 may take turns
		{twoGroups(), "con 1 crowd 0 0", "a pair of one job"},                    //
		{twoGroups(), "con 1 crowd 0 7", "must be a number from 0 to 6"},         //
		{twoGroups(), "con 1 crowd 0 1 2", "nothing of this name"},               //
		{twoGroups(), "con 1 crowd", "nothing of this name"},                     //
		{twoGroups(), "con 1 processors", "nothing of this name"},                // three nodes hold more than three jobs
		{twoGroups(), "con 1 order 0 1", ""},                                     //
		{twoGroups(), "con 1 order 1 1", "a pair of one job"},                    //
		{twoGroups(), "con 1 order 1", "nothing of this name"},                   //
		{twoGroups(), "var 1 before 0 6", ""},                                    //
		{twoGroups(), "var 1 before 6 6", "a pair of one job"},                   //
		{twoGroups(), "con 1 pool 0 3", ""},                                      //
		{twoGroups(), "con 1 pool 0 3 0 1", ""},                                  //
		{twoGroups(), "con 1 pool 0 3 1", "no slots of 3 cpu"},                   //
		{twoGroups(), "con 1 pool 0 0", "must be a number of at least 1"},        //
		{twoGroups(), "con 1 pool 1 1", "no slots of 1 gpu"},                     //
		{twoGroups(), "con 1 pool 2 1", "must be a number from 0 to 1"},          //
		{twoGroups(), "con 1 pool 0 1 2", "must be a number from 0 to 1"},        //
		{twoGroups(), "con 1 pool 0", "nothing of this name"},                    //
		{onProcessors, "con 1 pool 0 1", "nothing of this name"},                 //
		{onProcessors, "con 1 order 0 1", "nothing of this name"},                //
		{onProcessors, "con 1 crowd 0 1", "nothing of this name"},                //
		{onProcessors, "var 1 before 0 1", "nothing of this name"},               //
		{twoGroups(), "con 1 pool 0 3\nvar 1 start 0\n1 1>=1", "doesn't follow"}, //
		{twoGroups(), "con 1 crowd 0 1 0 2 1 2\nvar 1 before 0 1\n1 1>=1", "doesn't follow"},
		{twoGroups(), "con 1 order 0 1\nvar 1 before 0 1\n1 1>=1", "doesn't follow"},
		{twoGroups(), ordered + "nogood 1 1>=1 3<=0\n1 !\nend", ""}, // 0 runs until 1
		{twoGroups(), ordered + "nogood 1 1>=1 3<=1\n1 !\nend", "doesn't follow"},
		{twoGroups(), ordered + "nogood 1 1<=0 2<=0 3>=1\n1 !\nend", ""}, // and has ended by then
		{twoGroups(), ordered + "nogood 1 1<=0 2<=0 3>=0\n1 !\nend", "doesn't follow"},
	} {
		_, err := forged(t, x.in, "1000000,1", 1000, x.line, "claim 0")
		if err == nil && x.want != "" || err != nil && (x.want == "" || !errors.Is(err, verify.ErrProof) || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.line, err, x.want)
		}
	}
}

// A crowd whose nodes take too long to look for is refused, and so is one of too many jobs.
func TestProofLargeCrowds(t *testing.T) {
	t.Parallel()
	hard := &model.Batch{Name: "hard", Tiers: 1, Processors: 12, Resources: []string{"cpu"}, Nodes: []model.NodeGroup{{ID: "n", Count: 12, Capacity: []int64{1000}}}}
	for k := range 70 {
		hard.Jobs = append(hard.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1, Processes: 1, Needs: &model.NodeNeeds{Each: []int64{int64(251 + 7*k%150)}}})
	}
	deep := &model.Batch{Name: "deep", Tiers: 1, Resources: []string{"cpu"}}
	for g := range 40_000 { // the second job has its nodes at the far end
		deep.Nodes = append(deep.Nodes, model.NodeGroup{ID: fmt.Sprint(g), Count: 1, Capacity: []int64{1}})
	}
	deep.Processors = len(deep.Nodes)
	for k := range 2 {
		deep.Jobs = append(deep.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1, Processes: 40_000, Needs: &model.NodeNeeds{Each: []int64{1}}})
	}
	crowd := func(n int) string {
		name := "con 1 crowd"
		for i := range n {
			for k := range i {
				name += fmt.Sprint(" ", i, " ", k)
			}
		}
		return name
	}
	for _, x := range []struct {
		in   model.Instance
		jobs int
		want string
	}{{hard, 40, "takes more than 33554432 steps"}, {hard, 65, "more than 64 jobs"}, {deep, 2, "takes more than"}} {
		if _, err := forged(t, x.in, "1,1", math.MaxInt32, crowd(x.jobs), "claim 0"); !errors.Is(err, verify.ErrProof) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%d jobs: %v, want %q", x.jobs, err, x.want)
		}
	}
}
