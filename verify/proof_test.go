// SPDX-License-Identifier: MIT

package verify_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	batchexact "github.com/gapwise/gapwise/exact/batch"
	consexact "github.com/gapwise/gapwise/exact/consolidation"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	resexact "github.com/gapwise/gapwise/exact/reservation"
	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// provenCase is an instance with its optimum and a proof of it.
type provenCase struct {
	in      model.Instance
	hash    string
	optimum float64
	proof   []byte
}

// prove has a solver write a proof, which is nil if the solver refuses to.
func prove(t *testing.T, s model.Prover, in model.Instance) provenCase {
	t.Helper()
	hash := require.Value(model.Hash(in))(t)
	var b bytes.Buffer
	r, err := s.Solve(context.Background(), in, model.Settings{Proof: &model.ProofWriter{Writer: &b, Instance: hash}})
	if errors.Is(err, model.ErrUnsupported) { // of too many digits, or a goal without proofs
		return provenCase{in: in}
	}
	require.OK(t, err)
	return provenCase{in, hash, r.Objective, b.Bytes()}
}

// check replays a proof.
func (c *provenCase) check(proof []byte) (verify.Proved, error) {
	return verify.Proof(context.Background(), c.in, c.hash, bytes.NewReader(proof))
}

// isOptimum fails if the proof doesn't prove the optimum.
func (c *provenCase) isOptimum(t *testing.T, optimum float64) {
	t.Helper()
	p := require.Value(c.check(c.proof))(t)
	if model.Gap(p.Bound, optimum) > 1e-6 || p.Bound > c.optimum*(1+1e-9) {
		t.Errorf("it proves %v, the optimum is %v, found is %v", p.Bound, optimum, c.optimum)
	}
}

// Instances on which older versions called a value optimal that isn't, with the right
// one.
func TestProofFound(t *testing.T) {
	t.Parallel()
	for name, optimum := range map[string]float64{
		"dag-18x4": 332, "dag-m472": 674, "dag-m773": 278, "dag-m1324": 287,
		"dag-search-wrong-optimum-13-for-12": 12, "dag-search-wrong-optimum-19-for-15": 15,
		"dag-search-wrong-optimum-2-for-1": 1, "dag-search-wrong-optimum-floats": 17.88150617,
		"dag-falsely-optimal-17-5machines": 2364, "dag-falsely-optimal-19": 94, "dag-falsely-optimal-30": 98,
		"dag-bound-load-highs-error": 1e-30,
	} {
		in := require.Value(instances.Load(filepath.Join("..", "exact", "dag", "testdata", "found", name+".json")))(t)
		c := prove(t, dagexact.Kernel, in)
		c.isOptimum(t, optimum)
	}
}

// randomDAG draws an instance: whole costs or not, few or many machines, with and
// without contention.
func randomDAG(t *testing.T, rng *rand.Rand, tasks int) *model.DAG {
	t.Helper()
	spec := instances.DAGSpec{Tasks: tasks, Machines: 1 + rng.IntN(4), Fat: 0.2 + 0.7*rng.Float64(), Density: rng.Float64(), Regular: 0.5, Jump: 1 + rng.IntN(2),
		MaxCost: 1 + rng.IntN(30), MaxData: []int{0, 5, 60}[rng.IntN(3)], Platform: []string{"uniform", "bus", "star"}[rng.IntN(3)], Seed: rng.Uint64()}
	d := require.Value(spec.Generate())(t)
	if rng.IntN(3) == 0 { // not whole seconds, some of them none
		for i := range d.Tasks {
			for a := range d.Tasks[i].CostS {
				d.Tasks[i].CostS[a] = float64(rng.IntN(9)) / float64(1+rng.IntN(3))
			}
		}
		for e := range d.Edges {
			d.Edges[e].Data /= 3
		}
	}
	d.TransferModel = model.TransferModels[rng.IntN(len(model.TransferModels))]
	return d
}

// best returns the optimum by the plain engine where it can find it, else by another engine; false: there is no
// solution.
func best(t *testing.T, in model.Instance, other model.Solver) (value float64, found bool) {
	t.Helper()
	if other == nil {
		return plain.Optimum(in)
	}
	if d, is := in.(*model.DAG); is { // contention only delays
		in = d.WithoutContention()
	}
	r, err := other.Solve(t.Context(), in, model.Settings{})
	if err != nil || r.Status != model.StatusOptimal {
		t.Fatal(err, r.Status)
	}
	if a, err := plain.Solve(in, r.Objective+float64(model.SenseOf(in))*1e-9*math.Abs(r.Objective),
		100_000); err == nil && a.Solution != nil {
		t.Errorf("%v is proved, the plain engine finds %v", r.Objective, a.Value)
	}
	return r.Objective, true
}

// The kernel's proofs of drawn instances with everything that an instance may have replay. They prove the optimum, and
// that there is no solution where there is none.
func TestProofs(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		rounds, nogoods int // at least so many nogoods in all
		kernel          model.Prover
		draw            func(rng *rand.Rand, n int) (model.Instance, model.Solver) // other engine, nil: the plain one
		rules           string                                                     // constraints that some proofs use
	}{
		"dag": {100, 50, dagexact.Kernel, func(rng *rand.Rand, _ int) (model.Instance, model.Solver) {
			return randomDAG(t, rng, 3+rng.IntN(12)), dagexact.Search
		}, ""},
		"batch": {60, 60, batchexact.Kernel, func(rng *rand.Rand, _ int) (model.Instance, model.Solver) {
			return testkit.RandomBatch(rng, 1, 6, 2+rng.IntN(4)), nil
		}, ""},
		"vcsched": {100, 10, vcexact.Kernel, func(rng *rand.Rand, n int) (model.Instance, model.Solver) {
			return testkit.RandomVCSched(rng, n%2 == 0), nil
		}, ""},
		"reservation": {150, 50, resexact.Kernel, func(rng *rand.Rand, _ int) (model.Instance, model.Solver) {
			return testkit.RandomReservation(rng, 3+rng.IntN(4)), nil
		}, ""},
		"tvc": {150, 50, tvcexact.Kernel, func(rng *rand.Rand, n int) (model.Instance, model.Solver) {
			if n%5 == 0 { // four pods, with a choice of routes
				return testkit.RandomTVC(rng, 4, 2+rng.IntN(3), false), tvcexact.Search
			}
			return testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false), nil
		}, ""},
		"consolidation": {800, 60, consexact.Kernel, func(rng *rand.Rand, n int) (model.Instance, model.Solver) {
			switch {
			case n%20 == 1: // no task may be alone on the host, as a bought one has company elsewhere
				out := 1 + rng.Int64N(9)
				return &model.Consolidation{Name: "beside", Resources: []string{"cpu"}, Hosts: []model.ConsolidationHost{{ID: "h", Capacity: []int64{1}, Labels: map[string]string{"zone": "a"}}},
					Offers:   []model.HostOffer{{ID: "o", Capacity: []int64{4}, Price: 1 + rng.Int64N(3), Labels: map[string]string{"zone": "b"}, Count: 1}},
					HostSets: []model.HostSet{{ID: "s", Hosts: []string{"h"}}},
					Jobs:     []model.ConsolidationJob{{ID: "first", Tasks: 1, Needs: []int64{1}, Allowed: "s", LeaveOutCost: &out}, {ID: "big", Tasks: 1, Needs: []int64{2 + rng.Int64N(3)}}},
					Rules:    []model.PlacementRule{{ID: "r", Type: model.RuleTogether, Domain: "zone", Jobs: []string{"first"}, Standing: []model.HostCount{{Offer: "o", Count: 1}}}}}, nil
			case n%8 == 3:
				return testkit.Mended(rng, 2+rng.IntN(4), 1+rng.IntN(3)), nil
			case n%4 == 1:
				return testkit.Short(rng, 2+rng.IntN(4), 1+rng.IntN(3)), nil
			}
			in := testkit.Consolidation(rng, 2+rng.IntN(4), 1+rng.IntN(3))
			for q := range in.Rules {
				if r := &in.Rules[q]; n%3 == 0 { // as many domains as only bought hosts can bring
					r.Type, r.Domain, r.MaxSkew, r.MinDomains = model.RuleSpread, "zone", 1, 2+rng.IntN(3)
				}
			}
			return in, nil
		}, "objective cost moves limit tasks has stay anew order filled flag apart together " +
			"alone beside home over spread least offer enough domains open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(14, 1))
			nogoods, none, refused, rules := 0, 0, 0, map[string]int{}
			rounds := require.Rounds(x.rounds)
			for n := range rounds {
				in, other := x.draw(rng, n)
				c := prove(t, x.kernel, in)
				if c.proof == nil {
					refused++
					continue
				}
				p, err := c.check(c.proof)
				if err != nil {
					t.Fatalf("%d: %v\n%s\n%s", n, err, text(in), c.proof)
				}
				want, found := best(t, in, other)
				sense := model.SenseOf(in)
				if !found {
					none++
				}
				if strings.HasPrefix(p.Claim, "there is no ") != !found ||
					found && (model.Gap(p.Bound, want) > 1e-6 || sense.Better(want, p.Bound) &&
						model.Gap(want, p.Bound) > 1e-12) {
					t.Errorf("%d: %s, bound %v, the best is %v (there is one: %v)\n%s", n, p.Claim, p.Bound, want,
						found, text(in))
				}
				nogoods += p.Nogoods
				for line := range strings.Lines(string(c.proof)) {
					if w := strings.Fields(line); w[0] == "con" {
						rules[w[2]]++
					}
				}
			}
			t.Logf("%d nogoods, %d without a solution, %d refused, constraints %v", nogoods, none, refused, rules)
			if testing.Short() {
				return
			}
			for _, rule := range strings.Fields(x.rules) {
				if rules[rule] == 0 {
					t.Errorf("no proof has a constraint %q", rule)
				}
			}
			if nogoods < x.nogoods || refused > rounds/2 || (name == "vcsched" || name == "consolidation") &&
				none == 0 {
				t.Errorf("%d nogoods, %d without a solution, %d refused", nogoods, none, refused)
			}
		})
	}
}

// A proof with one thing changed is refused, or its claim is true.
func TestProofMutated(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 2))
	var cases []provenCase
	for len(cases) < 60 {
		var c provenCase
		switch len(cases) % 6 {
		case 5:
			if c = prove(t, consexact.Kernel, testkit.Consolidation(rng, 3+rng.IntN(4), 1+rng.IntN(4))); math.IsNaN(c.optimum) {
				continue
			}
		case 4:
			c = prove(t, tvcexact.Kernel, testkit.RandomTVC(rng, 2, 6, false))
		case 0:
			if c = prove(t, batchexact.Kernel, testkit.RandomBatch(rng, 1, 6, 4)); rng.IntN(2) == 0 {
				c = prove(t, batchexact.Kernel, testkit.RandomNodes(rng, 3+rng.IntN(4)))
			}
		case 1:
			if c = prove(t, vcexact.Kernel, testkit.RandomVCSched(rng, rng.IntN(2) == 0)); math.IsNaN(c.optimum) {
				continue
			}
		default:
			c = prove(t, dagexact.Kernel, randomDAG(t, rng, 5+rng.IntN(5)))
		}
		if len(c.proof) > 600 && len(c.proof) < 5000 {
			cases = append(cases, c)
		}
	}
	refused, tries := 0, require.Rounds(10_000)
	for range tries {
		c := cases[rng.IntN(len(cases))]
		lines := strings.Split(strings.TrimSpace(string(c.proof)), "\n")
		what := mutate(rng, lines)
		p, err := c.check([]byte(strings.Join(lines, "\n") + "\n"))
		switch {
		case errors.Is(err, verify.ErrProof):
			refused++
		case err != nil:
			t.Fatal(err)
		case model.SenseOf(c.in).Better(c.optimum, p.Bound) && model.Gap(c.optimum, p.Bound) > 1e-9 || strings.HasPrefix(p.Claim, "there is no "):
			t.Fatalf("with %s it proves %v, the optimum is %v\n%s", what, p.Bound, c.optimum, strings.Join(lines, "\n"))
		}
	}
	if t.Logf("%d of %d refused", refused, tries); refused < tries/3 {
		t.Errorf("only %d of %d are refused", refused, tries)
	}
}

// mutate changes a line of a proof and returns how.
func mutate(rng *rand.Rand, lines []string) string {
	at := 3 + rng.IntN(len(lines)-3)
	words := strings.Fields(lines[at])
	k := rng.IntN(len(words))
	switch rng.IntN(5) {
	case 0:
		what := fmt.Sprintf("line %d left out", at+1)
		copy(lines[at:], lines[at+1:])
		lines[len(lines)-1] = lines[len(lines)-2]
		return what
	case 1: // a word is dropped
		words = append(words[:k:k], words[k+1:]...)
	case 2: // a word of another line
		other := strings.Fields(lines[3+rng.IntN(len(lines)-3)])
		words[k] = other[rng.IntN(len(other))]
	default: // a number is moved
		i := strings.LastIndexAny(words[k], "=n") + 1
		n, err := strconv.Atoi(words[k][i:])
		if err != nil {
			words[k] += "x"
			break
		}
		by := []int{1, -1, 1 + rng.IntN(20), -1 - rng.IntN(20)}[rng.IntN(4)]
		words[k] = words[k][:i] + strconv.Itoa(n+by)
	}
	was := lines[at]
	lines[at] = strings.Join(words, " ")
	return fmt.Sprintf("%q for %q in line %d", lines[at], was, at+1)
}

// pack returns the gzip of a text.
func pack(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// forged is an instance with a proof by hand; its hash is filled in.
func forged(t *testing.T, in model.Instance, unit string, upper int64, lines ...string) (verify.Proved, error) {
	t.Helper()
	hash, err := model.Hash(in)
	if err != nil || in.Validate() != nil {
		t.Fatal(err, in.Validate())
	}
	c := provenCase{in: in, hash: hash}
	return c.check(fmt.Appendf(nil, "gapwise-proof 1 %s\ninstance %s\nunit %s\nupper %d\n%s\n", in.Kind(), hash, unit, upper, strings.Join(lines, "\n")))
}

// Lengths that sum to more than the checker's numbers hold are refused, not wrapped.
func TestProofLongBatch(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Name: "long", Processors: 30_000, Tiers: 1}
	for k := range 100_000 {
		b.Jobs = append(b.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1e8, Processes: 1})
	}
	if p, err := forged(t, b, "1000000,1", 1<<50, "claim 1"); err == nil || !strings.Contains(err.Error(), "jobs 0 to 23058 sum to more than 2305843009213 s") {
		t.Errorf("%v, %v", p, err)
	}
}

// No row wraps, be the numbers as large as a header takes them: two tasks fit on any
// of many hosts.
func TestProofLargeNumbers(t *testing.T) {
	t.Parallel()
	for _, hosts := range []int{2, 128, 129, 200, 10_000} {
		in := &model.VCSched{Name: "two", Hosts: hosts, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 2, CPU: 0.5, Memory: 0.5}}}
		for _, upper := range []int64{1000, 1 << 56, 1<<60 - 1} {
			for _, row := range []string{"area", "need 0", "memory 1", "one 0"} {
				if p, err := forged(t, in, "1000", upper, "con 1 "+row, "1 !", fmt.Sprint("claim ", upper+1)); !errors.Is(err, verify.ErrProof) {
					t.Errorf("%d hosts, upper %d: by %s, %s", hosts, upper, row, p.Claim)
				}
			}
		}
	}
	batch := &model.Batch{Name: "one", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", SubmitS: 0, RuntimeS: 1, Processes: 1}, {ID: "b", SubmitS: 1e9, RuntimeS: 1, Processes: 1, Weight: model.MostWeight}}}
	for _, upper := range []int64{1e12 + 1e6, 1e17, 1<<60 - 1} {
		for _, row := range []string{"responses", "processors"} {
			for _, step := range []string{"1 !", fmt.Sprintf("1 ! %d %d", -(1<<60 - 1), 1<<60-1)} {
				if p, err := forged(t, batch, "1,1", upper, "con 1 "+row, step, fmt.Sprint("claim ", upper+1)); !errors.Is(err, verify.ErrProof) {
					t.Errorf("upper %d: by %s, %s", upper, row, p.Claim)
				}
			}
		}
	}
}

// Costs of thousands of offers that sum to more than 2^63 make no claim true: an assignment exists, whatever is claimed
// of objectives below 0.
func TestProofLargeCosts(t *testing.T) {
	t.Parallel()
	in := &model.Consolidation{Name: "offers", Resources: []string{"cpu"}, Jobs: []model.ConsolidationJob{{ID: "web", Tasks: 10_000_000, Needs: []int64{0}}}}
	for k := range 9300 {
		in.Offers = append(in.Offers, model.HostOffer{ID: fmt.Sprint("o", k), Capacity: []int64{1}, Price: 100_000_000, Count: 10_000_000})
	}
	require.OK(t, in.Validate())
	hash := require.Value(model.Hash(in))(t)
	lines := fmt.Sprintf("gapwise-proof 1 consolidation\ninstance %s\nunit 1\nupper 10000000000\nclaim 0\n", hash)
	if p, err := verify.Proof(t.Context(), in, hash, strings.NewReader(lines)); err != nil || p.Claim != "no assignment costs less than 0" {
		t.Errorf("%q, %v", p.Claim, err)
	}
}

// A duration that is rounded up to more than the upper bound is rounded up, too.
func TestProofRoundedBeyondUpper(t *testing.T) {
	t.Parallel()
	const almost = 1 - 0x1p-51
	for _, cost := range []float64{almost, 1, 1.5, 3} {
		in := testkit.DAG([][]float64{{cost}}, nil)
		p, err := forged(t, in, "1", 0, "claim 1")
		if err != nil || p.Bound > cost || p.Bound < almost*(1-0x1p-50) || cost >= 1 && p.Bound != 1 {
			t.Errorf("cost %v: %v, %v", cost, p, err)
		}
	}
}

// Texts that aren't a proof, or are one of something else.
func TestProofRefuses(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 3))
	c := prove(t, dagexact.Kernel, randomDAG(t, rng, 8))
	text := string(c.proof)
	head := strings.Join(strings.SplitAfter(text, "\n")[:4], "")
	packed := pack(t, text)
	for name, good := range map[string]string{"gzip": packed, "two members": pack(t, text[:99]) + pack(t, text[99:]),
		"carriage returns": strings.ReplaceAll(text, "\n", "\r\n"), "spaces": "  " + strings.ReplaceAll(strings.ReplaceAll(text, " ", "   "), "\n", "  \n"), "no last line feed": strings.TrimSpace(text)} {
		if p, err := c.check([]byte(good)); err != nil || p.Bound != c.optimum {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for name, bad := range map[string]struct{ proof, want string }{
		"nothing":            {"", "without a claim"},
		"cut off":            {text[:len(text)*2/3], ""},
		"gzip cut off":       {packed[:len(packed)/2], "unexpected EOF"},
		"gzip's first bytes": {"\x1f\x8bxx", ""},
		"another version":    {strings.Replace(text, "proof 1", "proof 2", 1), "version 1"},
		"another kind":       {strings.Replace(text, " dag", " tvc", 1), "it is of a tvc instance"},
		"another instance":   {strings.Replace(text, c.hash, "sha256:0", 1), "line 2"},
		"a unit of nothing":  {strings.Replace(text, "\nunit ", "\nunit -", 1), "line 4"},
		"a huge bound":       {head[:strings.Index(head, "upper")] + "upper 99999999999999999999\n", "no whole number"},
		"a claim of nothing": {head + "claim 1\n", "only 0 was derived"},
		"a huge literal":     {head + "var 0 makespan\nvar 1 makespan\ncon 0 end 0\n0 0>=9223372036854775807\n", "no whole number"},
		"no such task":       {head + "con 0 end 999\n", "from 0 to 7"},
		"an unknown rule":    {head + "con 0 tail 1\n", "nothing of this name"},
		"a false step":       {head + "var 0 makespan\ncon 0 end 0\n0 0>=10000000\n", `"makespan >=10000000" doesn't follow from "end 0"`},
		"a binary file":      {head + "\x00\xff\xfe\n", "no line of a proof"},
		"a long line":        {head + strings.Repeat("9", 5<<20), "line 5: it is longer than 4194304 bytes"},
		"just too long":      {head + "con 0 " + strings.Repeat("9", 1<<22-5), "it is longer than 4194304 bytes"},
		"a gzip bomb":        {pack(t, head+strings.Repeat(" ", 1<<26)), "line 5: it is longer than 4194304 bytes"},
		"an empty line":      {head + "\nclaim 0\n", "is empty"},
		"a tab":              {head + "claim\t0\n", "no line of a proof"},
		"a plus":             {head + "claim +0\n", "no whole number"},
		"a zero before":      {head + "var 00 makespan\n", "no whole number"},
		"minus zero":         {head + "claim -0\n", "no whole number"},
		"a negative id":      {head + "var -1 makespan\n", "below 0"},
		"2^60":               {head + "claim 1152921504606846976\n", "no whole number"},
		"more in the header": {strings.Replace(text, "\nunit ", "\nunit 1 ", 1), "line 3"},
		"a hex unit":         {strings.Replace(text, "\nunit ", "\nunit 0x", 1), "is no number above 0"},
		"upper below 0":      {strings.Replace(text, "\nupper ", "\nupper -", 1), "below 0"},
		"a new cut":          {head + "cut 2\ncut 2\nclaim 0\n", "at most 2 already"},
		"after the claim":    {head + "claim 0\nclaim 0\n", "after the claim"},
		"an open nogood":     {head + "nogood 0\nclaim 0\n", "no line of a proof here"},
		"an empty nogood":    {head + "nogood 0\nend\n", "doesn't follow"},
		"a name twice":       {head + "var 0 makespan\nvar 0 makespan\n", "name already"},
	} {
		_, err := c.check([]byte(bad.proof))
		require.Refused(t, name, err, verify.ErrProof, bad.want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	long := head
	for k := range 3000 {
		long += fmt.Sprintf("var %d makespan\n", k)
	}
	require.Refused(t, "stopped", require.Err(verify.Proof(ctx, c.in, c.hash, strings.NewReader(long))),
		context.Canceled, "")
}

// FuzzProof feeds the checker any lines after a good header, of machines that run one task or several at a time: it must
// neither panic nor believe a false claim.
func FuzzProof(f *testing.F) {
	type proven struct {
		in         *model.DAG
		hash, head string
		optimum    float64
	}
	var all []proven
	for _, in := range []*model.DAG{testkit.SixTasks(), roomyTasks()} {
		x := proven{in: in, hash: require.Value(model.Hash(in))(f)}
		var b bytes.Buffer
		x.optimum = require.Value(dagexact.Kernel.Solve(context.Background(), in,
			model.Settings{Proof: &model.ProofWriter{Writer: &b, Instance: x.hash}}))(f).Objective
		head, body := 0, b.String()
		for range 4 {
			head += strings.Index(body[head:], "\n") + 1
		}
		x.head = body[:head]
		all = append(all, x)
		f.Add(body[head:])
	}
	f.Add("var 0 makespan\ncon 0 load 1,1: 0 1\n0 0>=3\nclaim 3\n")
	f.Add("var 0 makespan\ncon 0 area 0 2,3: 0 1 2 3 4 5\n0 0>=3\nclaim 3\n")
	f.Add("var 0 makespan\nvar 1 on 0 0\nvar 2 start 0 0\ncon 0 room 0 1\n0 2>=1 0 9\n0 ! 0 40\nclaim 3\n")
	f.Fuzz(func(t *testing.T, rest string) {
		for _, x := range all {
			p, err := verify.Proof(context.Background(), x.in, x.hash, strings.NewReader(x.head+rest))
			if err == nil && p.Bound > x.optimum*(1+1e-9) {
				t.Errorf("it believes %v, the optimum is %v", p.Bound, x.optimum)
			}
			if err != nil && !errors.Is(err, verify.ErrProof) {
				t.Error(err)
			}
		}
	})
}
