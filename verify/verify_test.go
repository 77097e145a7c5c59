// SPDX-License-Identifier: MIT

package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// solved draws a feasible placement with its instance: tasks are put on hosts
// first, then made to fill them.
func solved(rng *rand.Rand) (*model.VCSched, *model.Placement) {
	in := &model.VCSched{Name: "v", Hosts: 2 + rng.IntN(4)}
	free := make([]float64, in.Hosts)
	for h := range free {
		free[h] = 1
	}
	var hosts []int32
	moved := 0.0
	for i := range 3 + rng.IntN(8) {
		j := model.VCSchedJob{ID: fmt.Sprint("j", i), Tasks: 1 + rng.IntN(2)*rng.IntN(3), CPU: 0.05 + 0.95*rng.Float64(), Memory: 0.06 * rng.Float64()}
		runs := rng.IntN(2) == 0
		for range j.Tasks {
			h := rng.IntN(in.Hosts)
			for free[h] < j.Memory {
				h = (h + 1) % in.Hosts
			}
			free[h] -= j.Memory
			hosts = append(hosts, int32(h))
			if runs {
				c := rng.IntN(in.Hosts)
				j.CurrentHosts = append(j.CurrentHosts, c)
				if c != h {
					moved += j.Memory
				}
			}
		}
		in.Jobs = append(in.Jobs, j)
	}
	b := moved + 1e-12
	in.MigrationBudget = &b
	return in, in.NewPlacement(hosts, in.Yield(hosts))
}

func clone(p *model.Placement) *model.Placement {
	c := &model.Placement{}
	for _, j := range p.Jobs {
		c.Jobs = append(c.Jobs, model.JobPlacement{ID: j.ID, Hosts: slices.Clone(j.Hosts), CPU: slices.Clone(j.CPU)})
	}
	return c
}

func judge(t *testing.T, in model.Instance, s model.Solution, o verify.Options) verify.Report {
	t.Helper()
	return require.Value(verify.Verify(t.Context(), in, s, o))(t)
}

// mutations corrupt a feasible solution (or the instance under it); each names
// the violation that must be reported. False: it doesn't apply here.
var mutations = map[string]struct {
	want   string
	mutate func(*rand.Rand, *model.VCSched, *model.Placement) bool
}{
	"task on a full host": {"host_memory", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		j, h := rng.IntN(len(p.Jobs)), p.Jobs[0].Hosts[0]
		if j == 0 || p.Jobs[j].Hosts[0] == h {
			return false
		}
		sum := 0.0
		for i := range p.Jobs {
			for k := range p.Jobs[i].Hosts {
				if p.Jobs[i].Hosts[k] == h {
					sum += in.Jobs[i].Memory
				}
			}
		}
		// The host's memory is filled up by the job that is moved there.
		in.Jobs[j].Memory = 1 - sum + 1e-6
		if in.Jobs[j].Memory > 1 {
			return false
		}
		p.Jobs[j].Hosts[0] = h
		return true
	}},
	"memory exceeded by 1e-6": {"host_memory", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		h, sum := p.Jobs[0].Hosts[0], 0.0
		for i := range p.Jobs {
			for k := range p.Jobs[i].Hosts {
				if p.Jobs[i].Hosts[k] == h && i > 0 {
					sum += in.Jobs[i].Memory
				}
			}
		}
		n := 0
		for _, x := range p.Jobs[0].Hosts {
			if x == h {
				n++
			}
		}
		in.Jobs[0].Memory = (1 - sum + 1e-6) / float64(n)
		return in.Jobs[0].Memory <= 1
	}},
	"share scaled up": {"share_above_need", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		j := rng.IntN(len(p.Jobs))
		for k := range p.Jobs[j].CPU {
			p.Jobs[j].CPU[k] = in.Jobs[j].CPU * (1 + 1e-8)
		}
		return true
	}},
	"host's CPU exceeded": {"host_cpu", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		load := make([]float64, in.Hosts)
		for i := range p.Jobs {
			for _, h := range p.Jobs[i].Hosts {
				load[h] += in.Jobs[i].CPU
			}
			p.Jobs[i].CPU = slices.Repeat([]float64{in.Jobs[i].CPU}, in.Jobs[i].Tasks)
		}
		return slices.Max(load) > 1+1e-6
	}},
	"negative share": {"negative_share", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		p.Jobs[rng.IntN(len(p.Jobs))].CPU[0] = -1e-3
		return true
	}},
	"unequal shares": {"unequal_shares", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		j := rng.IntN(len(p.Jobs))
		if in.Jobs[j].Tasks < 2 {
			return false
		}
		p.Jobs[j].CPU[rng.IntN(2)] *= 1 - 1e-6
		return true
	}},
	"task dropped": {"task_count", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		q := &p.Jobs[rng.IntN(len(p.Jobs))]
		q.Hosts, q.CPU = q.Hosts[1:], q.CPU[1:]
		return true
	}},
	"task added": {"task_count", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		q := &p.Jobs[rng.IntN(len(p.Jobs))]
		q.Hosts, q.CPU = append(q.Hosts, 0), append(q.CPU, 0)
		return true
	}},
	"job dropped": {"missing_job", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		k := rng.IntN(len(p.Jobs))
		p.Jobs = slices.Delete(p.Jobs, k, k+1)
		return true
	}},
	"job twice": {"repeated_job", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		p.Jobs = append(p.Jobs, p.Jobs[rng.IntN(len(p.Jobs))])
		return true
	}},
	"foreign job": {"unknown_job", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		p.Jobs[rng.IntN(len(p.Jobs))].ID = "foreign"
		return true
	}},
	"host out of range": {"unknown_host", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		p.Jobs[rng.IntN(len(p.Jobs))].Hosts[0] = []int{-1, in.Hosts, math.MaxInt}[rng.IntN(3)]
		return true
	}},
	"share is NaN": {"invalid_share", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		p.Jobs[rng.IntN(len(p.Jobs))].CPU[0] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
		return true
	}},
	"budget exceeded by 1e-6": {"migration_budget", func(rng *rand.Rand, in *model.VCSched, p *model.Placement) bool {
		b := *in.MigrationBudget - 1e-6
		in.MigrationBudget = &b
		return b >= 0
	}},
}

func TestMutationsAreCaught(t *testing.T) {
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 5))
			applied, draws := 0, require.Rounds(500)
			for range draws {
				in, p := solved(rng)
				if r := judge(t, in, p, verify.Options{}); !r.Feasible() {
					t.Fatalf("before the mutation: %v", r)
				}
				q := clone(p)
				if !m.mutate(rng, in, q) {
					continue
				}
				applied++
				r := judge(t, in, q, verify.Options{})
				named := slices.ContainsFunc(r.Violations, func(v verify.Violation) bool { return v.Constraint == m.want })
				if !named || !errors.Is(r.Err(), model.ErrInfeasible) {
					t.Fatalf("want %s, the report says: %v", m.want, r)
				}
			}
			if applied < draws/10 {
				t.Errorf("applied %d times only", applied)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	in := &model.VCSched{Name: "t", Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 1, Memory: 0.75}, {ID: "b", Tasks: 1, CPU: 1, Memory: 0.25}}}
	p := in.NewPlacement([]int32{0, 0}, 0.5)
	zero, bad := 0.0, -1.0
	if r := judge(t, in, p, verify.Options{Tolerance: &zero}); !r.Feasible() || r.Objective != 0.5 || r.Second != 0.5 {
		t.Errorf("exactly feasible, but: %v", r)
	}
	in.Jobs[0].Memory += 5e-10
	if r := judge(t, in, p, verify.Options{}); !r.Feasible() {
		t.Errorf("within the tolerance, but: %v", r)
	}
	if r := judge(t, in, p, verify.Options{Tolerance: &zero}); r.Feasible() {
		t.Error("the tolerance 0 lets 5e-10 pass")
	}
	if _, err := verify.Verify(t.Context(), in, p, verify.Options{Tolerance: &bad}); err == nil {
		t.Error("a negative tolerance gives no error")
	}
	if _, err := verify.Verify(t.Context(), in, nil, verify.Options{}); err == nil {
		t.Error("no solution gives no error")
	}
}

// The whole result is judged: each wrong figure is named.
func TestResult(t *testing.T) {
	good := func() (*model.VCSched, model.Result) {
		in, p := solved(rand.New(rand.NewPCG(4, 4)))
		r := model.NewResult("x", 1)
		require.OK(t, r.SetSolution(in, p))
		r.SetBound(model.Metric{Sense: model.Maximise}, r.Objective*1.01, 1e-6)
		r.Kind = in.Kind()
		r.InstanceHash, _ = model.Hash(in)
		return in, r
	}
	for name, c := range map[string]struct {
		want string
		set  string
		edit func(*model.VCSched, *model.Result)
	}{
		"nothing wrong":    {"", "", nil},
		"objective":        {"wrong_objective", "", func(_ *model.VCSched, r *model.Result) { r.Objective *= 1 + 1e-8 }},
		"second objective": {"wrong_objective", "", func(_ *model.VCSched, r *model.Result) { r.SecondObjective -= 1e-6 }},
		"gap":              {"wrong_gap", "S.Gap=0", nil},
		"beaten bound":     {"beaten_bound", "", func(_ *model.VCSched, r *model.Result) { r.Bound = r.Objective * (1 - 1e-6) }},
		"hash":             {"wrong_instance", "S.InstanceHash=sha256:0", nil},
		"kind":             {"wrong_kind", "S.Kind=dag", nil},
		"status":           {"wrong_status", "S.Status=infeasible", nil},
		"no bound":         {"wrong_status", "S.Status=optimal; S.Bound=NaN; S.Gap=NaN", nil},
		// 0 with a bound is an infinite gap, which a file writes as null.
		"name":                      {"wrong_instance", "S.Instance=another", nil},
		"optimal, gap of 1 %":       {"wrong_status", "S.Status=optimal", nil},
		"optimal, within its limit": {"", "S.Status=optimal; S.GapLimit=0.01", nil},
		"optimal, just beyond":      {"wrong_status", "S.Status=optimal; S.GapLimit=0.0098", nil},
		"limit of 100 %":            {"wrong_status", "S.Status=optimal; S.GapLimit=1", nil},
		"limit below 0":             {"wrong_status", "S.Status=optimal; S.GapLimit=-1", nil},
		"unknown gap":               {"wrong_gap", "S.Gap=NaN", nil},
		"no solution":               {"wrong_status", "S.Solution=nil", nil},
	} {
		t.Run(name, func(t *testing.T) {
			in, r := good()
			edited(t, in, &r, c.set, c.edit)
			report := require.Value(verify.Result(t.Context(), in, r, verify.Options{}))(t)
			named := slices.ContainsFunc(report.Violations, func(v verify.Violation) bool { return v.Constraint == c.want })
			if report.Feasible() != (c.want == "") || named != (c.want != "") {
				t.Errorf("want %q: %v", c.want, report)
			}
		})
	}
}

// A caller's hash is taken for the instance's, and an instance that the caller calls valid isn't validated again.
func TestResultWithWhatIsKnown(t *testing.T) {
	in, p := solved(rand.New(rand.NewPCG(4, 4)))
	r := model.NewResult("x", 1)
	require.OK(t, r.SetSolution(in, p))
	r.InstanceHash, _ = model.Hash(in)
	for hash, want := range map[string]bool{"": true, r.InstanceHash: true, "sha256:0": false} {
		report, err := verify.Result(t.Context(), in, r, verify.Options{Hash: hash, Valid: true})
		if err != nil || report.Feasible() != want {
			t.Errorf("with the hash %q: error %v, %v", hash, err, report)
		}
	}
	in.Jobs[0].CurrentHosts = make([]int, 99) // breaks a rule that the judge doesn't need
	r.InstanceHash, _ = model.Hash(in)
	require.Refused(t, "an invalid instance", require.Err(verify.Result(t.Context(), in, r, verify.Options{})),
		model.ErrInvalid, "")
	if _, err := verify.Result(t.Context(), in, r, verify.Options{Valid: true}); err != nil {
		t.Errorf("said to be valid: error %v", err)
	}
}

// No pair of decodable files makes the judge panic.
func FuzzVerify(f *testing.F) {
	in, p := solved(rand.New(rand.NewPCG(9, 9)))
	a, _ := json.Marshal(in)
	b, _ := json.Marshal(p)
	f.Add(a, b)
	f.Add([]byte(`{"kind":"vcsched","version":1,"name":"n","hosts":2,"jobs":[{"id":"a","tasks":2,"cpu":1e-12,"memory":1e-12,"current_hosts":[0,1]}],"migration_budget":1e308}`),
		[]byte(`{"kind":"vcsched","jobs":[{"id":"a","hosts":[1,-1],"cpu":[1e308,-1e308]},{"id":"b","hosts":[],"cpu":[]}]}`))
	f.Add([]byte(`{"kind":"vcsched","version":1,"name":"n","hosts":2,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":1}]}`),
		[]byte(`{"kind":"vcsched","jobs":[{"id":"a","hosts":[0],"cpu":[1e308]}]}`))
	reservation, bookings := fourRequests(f)
	bookings.Online = true
	a, _ = json.Marshal(reservation)
	b, _ = json.Marshal(bookings)
	f.Add(a, b)
	batch, execution := twoTiers()
	a, _ = json.Marshal(batch)
	b, _ = json.Marshal(execution)
	f.Add(a, b)
	f.Add(a, bytes.ReplaceAll(b, []byte(`"background"`), []byte(`""`)))
	batch.KillAtEstimate, batch.Jobs[0].EstimateS, batch.Jobs[2].RuntimeS = true, 1e-6, 1e8
	execution.Runs[2].Segments[1].EndS = 8e9
	a, _ = json.Marshal(batch)
	b, _ = json.Marshal(execution)
	f.Add(a, b)
	for _, queue := range []bool{false, true} {
		clusters, embeddings := fourPods(queue)
		a, _ = json.Marshal(clusters)
		b, _ = json.Marshal(embeddings)
		f.Add(a, b)
	}
	hosts, assigned := fiveHosts()
	a, _ = json.Marshal(hosts)
	b, _ = json.Marshal(assigned)
	f.Add(a, b)
	for _, tr := range model.TransferModels {
		d := sixTasks(tr)
		s := sixPlan(d, 21)
		a, _ = json.Marshal(d)
		b, _ = json.Marshal(s)
		f.Add(a, b)
		r := model.NewResult("x", 1)
		require.OK(f, r.SetSolution(d, s))
		r.Kind = d.Kind()
		b, _ = json.Marshal(r)
		f.Add(a, b)
		for _, big := range []float64{1e308, -1e308, 5e-324, 1e100} {
			s.Tasks[3].StartS, s.Transfers[1].StartS = big, big
			b, _ = json.Marshal(s)
			f.Add(a, b)
		}
	}
	f.Add([]byte(`{"kind":"vcsched","version":1,"name":"x","hosts":1,"jobs":[{"id":"a","tasks":2,"cpu":0.5,"memory":0.1}]}`),
		[]byte(`{"kind":"vcsched","version":1,"jobs":[{"id":"a","hosts":[0,0],"cpu":[1e308,1e308]}]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		in, err := model.DecodeInstance(a)
		if err != nil {
			return
		}
		if r, err := model.DecodeResult(b); err == nil {
			report, err := verify.Result(t.Context(), in, r, verify.Options{})
			if err != nil || report.String() == "" {
				t.Fatal(err)
			}
		}
		if s, err := model.DecodeSolution(b); err == nil {
			require.OK(t, require.Err(verify.Verify(t.Context(), in, s, verify.Options{})))
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			in := &model.VCSched{Hosts: n / 10}
			hosts := make([]int32, n)
			for i := range n {
				in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(i), Tasks: 1, CPU: 0.1 + float64(i%7)/10, Memory: 0.05 + float64(i%5)/100})
				hosts[i] = int32(i % in.Hosts)
			}
			p := in.NewPlacement(hosts, in.Yield(hosts))
			for b.Loop() {
				require.Feasible(verify.Verify(b.Context(), in, p, verify.Options{}))(b)
			}
		})
	}
}

// The tolerance is a share of each host's own size, and is reported only where it is used.
func TestToleranceOfSmallHosts(t *testing.T) {
	t.Parallel()
	in := &model.VCSched{Name: "tiny", Hosts: 2, Resources: []string{"disk"}, HostSizes: []model.HostSize{{Count: 1, CPU: 1, Memory: 1, Resources: []float64{1}},
		{Count: 1, CPU: 0.001, Memory: 0.001, Resources: []float64{0.001}}}}
	for name, c := range map[string]struct {
		memory, disk, share float64 // of each of two tasks on the small host, in halves of the host's own
		want                string
	}{
		"exactly":                    {1, 1, 1, ""},
		"within the tolerance":       {1 + 0.9e-9, 1 + 0.9e-9, 1 + 0.9e-9, ""},
		"more CPU than is tolerated": {1, 1, 1 + 1e-6, "host_cpu"},
		"more memory":                {1 + 1e-8, 1, 1, "host_memory"},
		"more disk":                  {1, 1 + 1e-8, 1, "host_resource"},
	} {
		in.Jobs = []model.VCSchedJob{{ID: "a", Tasks: 2, CPU: 0.001, Memory: 0.0005 * c.memory, Resources: []float64{0.0005 * c.disk}}}
		x := 0.0005 * c.share
		r, err := verify.Verify(t.Context(), in, &model.Placement{Jobs: []model.JobPlacement{{ID: "a", Hosts: []int{1, 1}, CPU: []float64{x, x}}}}, verify.Options{})
		if err != nil || (c.want == "") != r.Feasible() || c.want != "" && (len(r.Violations) != 1 || r.Violations[0].Constraint != c.want) {
			t.Errorf("%s: %v %v, want %q", name, r, err, c.want)
		}
		if !strings.Contains(r.String(), "feasible, tolerance 1e-09, ") {
			t.Errorf("%s: %v", name, r)
		}
	}
	r, err := verify.Verify(t.Context(), testkit.RandomTVC(rand.New(rand.NewPCG(1, 1)), 2, 2, false), &model.Embeddings{}, verify.Options{})
	if err != nil || !strings.HasPrefix(r.String(), "feasible, no tolerance, ") {
		t.Errorf("%v %v", r, err)
	}
}
