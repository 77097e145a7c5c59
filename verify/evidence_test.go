// SPDX-License-Identifier: MIT

package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/bounds"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	resexact "github.com/gapwise/gapwise/exact/reservation"
	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// tallied counts evidence by type, and bounds without.
type tallied map[string]int

// holds fails if a bound doesn't follow from its evidence, in exact arithmetic.
func (n tallied) holds(t *testing.T, in model.Instance, all []bounds.Bound) {
	t.Helper()
	for _, b := range all {
		if b.Evidence == nil {
			n["none"]++
			continue
		}
		f, err := verify.Evidence(t.Context(), in, b.Evidence)
		if errors.Is(err, verify.ErrUnchecked) {
			n["unchecked"]++
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v: %s of %s", b.Name, err, text(b.Evidence), text(in))
		}
		if f.Figure == b.Name {
			f.Figure = ""
		}
		if !f.Implies(model.SenseOf(in), b.Value, b.Infeasible) {
			x := 0.0
			if f.Bound != nil {
				x, _ = f.Bound.Float64()
			}
			t.Fatalf("%s: claims %v (infeasible %v), from %s follows %v (%v): %s of %s", b.Name, b.Value, b.Infeasible, f.How, x, f.Infeasible, text(b.Evidence), text(in))
		}
		n[b.Evidence.Type]++
		if !slices.Contains([]string{"squashed", "widths", "gathering", "traffic"}, b.Name) { // these are all that their evidence gives
			continue
		}
		if x, _ := f.Bound.Float64(); x > b.Value*(1+1e-9) {
			t.Fatalf("%s: claims %v, from %s follows more, %v: %s of %s", b.Name, b.Value, f.How, x, text(b.Evidence), text(in))
		}
	}
}

func (n tallied) want(t *testing.T, types ...string) {
	t.Helper()
	for _, x := range types {
		if n[x] == 0 {
			t.Errorf("no evidence of type %s: %v", x, n)
		}
	}
	t.Log(n)
}

// Every bound of drawn instances follows from its evidence, and hardly any is on trust.
func TestEvidence(t *testing.T) {
	t.Parallel()
	all := func(list []bounds.Bound, err error) []bounds.Bound {
		if err != nil {
			t.Error(err)
		}
		return list
	}
	ctx := t.Context()
	for name, x := range map[string]struct {
		rounds  int
		seed    uint64
		some    func(rng *rand.Rand, k int) (model.Instance, []bounds.Bound)
		want    []string
		highs   []string // more of it with HiGHS
		trusted float64  // the share of bounds without evidence, at most
	}{
		"dag": {2000, 1, func(rng *rand.Rand, k int) (model.Instance, []bounds.Bound) {
			in := verify.DrawDAG(rng, 12, 4)
			if k%2 == 0 {
				in = randomDAG(t, rng, 3+rng.IntN(12))
			}
			if k%8 == 0 || testing.Short() {
				return in, append(all(dagbounds.All(ctx, in)), dagbounds.QuickOf(ctx, in)...)
			}
			return in, dagbounds.QuickOf(ctx, in)
		}, []string{evidence.Path, evidence.Load, evidence.Interval, evidence.Gathering, evidence.Traffic},
			[]string{evidence.Ordering}, 1}, // never unchecked
		"reservation": {2000, 3, func(rng *rand.Rand, k int) (model.Instance, []bounds.Bound) {
			if k%4 == 0 { // with lp, which is of few jobs here
				in := testkit.RandomReservation(rng, 3+rng.IntN(4))
				return in, all(resbounds.All(ctx, in))
			}
			in := testkit.RandomReservation(rng, 3+rng.IntN(12))
			in.Goal = model.Goals[k%4]
			return in, resbounds.QuickOf(ctx, in)
		}, []string{evidence.Areas, evidence.Windows, evidence.Prices}, nil, 0.05},
		"batch": {600, 6, func(rng *rand.Rand, k int) (model.Instance, []bounds.Bound) {
			in := testkit.RandomBatch(rng, 1+k%2, 6, 1+rng.IntN(8))
			if k%20 == 0 {
				in = testkit.RandomBatch(rng, 1+k/20%2, 20, 100+rng.IntN(200))
			}
			if k%3 == 0 {
				in = testkit.RandomNodes(rng, 1+rng.IntN(8))
			}
			return in, append(append(batchbounds.Quick(ctx, in), all(batchbounds.All(ctx, in))...),
				batchbounds.Others(ctx, in)...)
		}, []string{evidence.Sum, evidence.Prices, evidence.Machine, evidence.Windows}, nil, 0},
		"tvc": {300, 7, func(rng *rand.Rand, k int) (model.Instance, []bounds.Bound) {
			in := testkit.RandomTVC(rng, 2, 2+rng.IntN(7), false)
			if k%2 == 0 {
				in.Goal = model.GoalRevenue
			}
			return in, append(all(tvcbounds.All(ctx, in)), tvcbounds.Quick(ctx, in)...)
		}, []string{evidence.Sum, evidence.Prices}, nil, 0},
		"queue": {300, 7, func(rng *rand.Rand, k int) (model.Instance, []bounds.Bound) {
			in := testkit.RandomTVC(rng, 2+k%2*2, 2+rng.IntN(30), true)
			return in, append(tvcbounds.Quick(ctx, in), tvcbounds.ResponseByResources(ctx, view.OfTVC(in)))
		}, []string{evidence.Machine}, nil, 0},
		"consolidation": {3000, 8, func(rng *rand.Rand, _ int) (model.Instance, []bounds.Bound) {
			in := testkit.Consolidation(rng, 2+rng.IntN(20), 1+rng.IntN(12))
			if rng.IntN(4) == 0 {
				in = testkit.Short(rng, 2+rng.IntN(20), 1+rng.IntN(12))
			}
			return in, consbounds.Quick(ctx, in)
		}, []string{evidence.Cover, evidence.Apart, evidence.Emptied}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rng, n := rand.New(rand.NewPCG(31, x.seed)), tallied{}
			for k := range require.Rounds(x.rounds) {
				in, some := x.some(rng, k)
				n.holds(t, in, some)
			}
			n.want(t, x.want...)
			if highs.Available() {
				n.want(t, x.highs...)
			}
			sum := 0
			for _, count := range n {
				sum += count
			}
			if name == "dag" && n["unchecked"] > 0 || float64(n["none"]+n["unchecked"]) > x.trusted*float64(sum) {
				t.Errorf("bounds are on trust: %v", n)
			}
		})
	}
}

// Spoilt and forged evidence on drawn tasks on stars and other networks under contention gives no bound above a
// schedule.
func TestEvidenceContention(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 9)), tallied{}
	for k := range require.Rounds(600) {
		in := testkit.StarDAG(rng, 5, 3)
		if drop := rng.IntN(len(in.Network.Routes)); k%3 == 0 {
			in = testkit.ContendedDAG(rng, 5, 3)
		} else if k%3 == 1 { // no link of a machine is of all its routes
			in.Network.Routes = slices.Delete(in.Network.Routes, drop, drop+1)
		}
		r := require.Value(dagexact.Search.Solve(t.Context(), in, model.Settings{}))(t)
		all := dagbounds.QuickOf(t.Context(), in)
		n.holds(t, in, all)
		all = slices.DeleteFunc(all, func(b bounds.Bound) bool { return b.Name != "gathering" && b.Name != "traffic" })
		n.sound(t, rng, in, all, r.Objective, true, 90)
		more := testkit.StarDAG(rng, 12, 4)
		n.holds(t, more, dagbounds.QuickOf(t.Context(), more))
		heavy := *in // its data would pay more
		heavy.Edges = slices.Clone(in.Edges)
		for i := range heavy.Edges {
			heavy.Edges[i].Data *= 10
		}
		for _, b := range dagbounds.QuickOf(t.Context(), &heavy) {
			if b.Name != "traffic" {
				continue
			}
			f, err := verify.Evidence(t.Context(), in, b.Evidence)
			switch {
			case err != nil:
				n["too heavy"]++
			case f.Implies(model.Minimise, r.Objective*(1+1e-9)+1e-9, false):
				t.Fatalf("prices of more data are taken for a bound above %v: %s of %s", r.Objective, text(b.Evidence), text(in))
			}
		}
	}
	n.want(t, evidence.Gathering, evidence.Traffic, "refused", "true", "tight", "too heavy")
}

func TestEvidenceVCSched(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 2)), tallied{}
	vectors, sizes := rand.New(rand.NewPCG(31, 4)), tallied{}
	for k := range require.Rounds(2000) {
		in := testkit.RandomVCSched(rng, k%4 == 0)
		n.holds(t, in, append(vcbounds.Quick(t.Context(), in), vcbounds.ClosedForm(in)))
		if k%20 == 0 || testing.Short() {
			n.holds(t, in, require.Value(vcbounds.All(context.Background(), in))(t))
		}
		if k%5 == 0 {
			in, x := testkit.RandomVectors(vectors, false), n
			if len(in.HostSizes) > 0 {
				x = sizes
			}
			all := require.Value(vcbounds.All(t.Context(), in))(t)
			x.holds(t, in, append(all, vcbounds.Quick(t.Context(), in)...))
		}
	}
	n.want(t, evidence.Sum, evidence.Crowd, evidence.Clique, evidence.Filling)
	sizes.want(t, evidence.Sum, evidence.Crowd, evidence.Clique)
	if !testing.Short() {
		sizes.want(t, evidence.Filling)
	}
	if on := n["none"] + n["unchecked"] + sizes["none"] + sizes["unchecked"]; on > 0 {
		t.Errorf("%d bounds are on trust", on)
	}
	if highs.Available() { // column generation solves linear programs
		n.want(t, evidence.Patterns, evidence.Moves)
		if !testing.Short() {
			sizes.want(t, evidence.Moves)
		}
	}
}

// A task that fits on few hosts, which have little CPU, bounds the yield by them; spoilt and forged
// evidence gives no bound below a placement.
func TestEvidenceFewHosts(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 10)), tallied{}
	for k := range require.Rounds(200) {
		in := &model.VCSched{Name: "few", Hosts: 3, HostSizes: []model.HostSize{{Count: 2, CPU: 2, Memory: 0.5}, {Count: 1, CPU: 0.5, Memory: 2}},
			Jobs: []model.VCSchedJob{{ID: "large", Tasks: 1, CPU: 0.6 + rng.Float64(), Memory: 1 + rng.Float64()},
				{ID: "small", Tasks: 2, CPU: 0.2 * rng.Float64(), Memory: 0.1}}}
		if k%2 == 0 {
			in.Resources = []string{"disk"}
			for i := range in.HostSizes {
				in.HostSizes[i].Resources = []float64{in.HostSizes[i].Memory}
			}
			for i := range in.Jobs {
				in.Jobs[i].Resources, in.Jobs[i].Memory = []float64{in.Jobs[i].Memory}, 0.1
			}
		}
		optimum, ok := plain.Optimum(in)
		if !ok {
			t.Fatal("there is a placement")
		}
		all := vcbounds.Quick(t.Context(), in)
		n.holds(t, in, all)
		n.sound(t, rng, in, all, optimum, true, 30)
	}
	n.want(t, evidence.Misfit, "true", "tight")
	if n["none"]+n["unchecked"] > 0 {
		t.Errorf("bounds are on trust: %v", n)
	}
}

// A few requests with wide windows have more starts than chains with repeats would leave. lp has evidence, and spoilt
// and forged evidence gives no bound that the exact engine refutes.
func TestEvidenceChains(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 10)), tallied{}
	for k := range require.Rounds(60) {
		in := &model.Reservation{Name: "chains", PEs: 2 + rng.IntN(3), Goal: model.Goals[k%4]}
		for i := range 5 + rng.IntN(4) {
			length := float64(100 + rng.IntN(900))
			q := model.Request{ID: fmt.Sprint("r", i+1), ReadyS: float64(rng.IntN(200)), DurationS: length, PEs: 1 + rng.IntN(in.PEs)}
			q.DeadlineS = q.ReadyS + length + float64(rng.IntN(2500))
			in.Requests = append(in.Requests, q)
		}
		require.OK(t, in.Validate())
		all := require.Value(resbounds.All(t.Context(), in))(t)
		n.holds(t, in, all)
		r := require.Value(resexact.Kernel.Solve(t.Context(), in, model.Settings{}))(t)
		n.sound(t, rng, in, all, r.Objective, r.Status != model.StatusInfeasible, 60)
	}
	n.want(t, evidence.Prices, "refused", "true", "tight")
	if n["none"]+n["unchecked"] > 0 {
		t.Errorf("bounds are on trust: %v", n)
	}
}

// If links of all layers are scarce, lp and resources follow from their evidence, and spoilt and forged evidence gives
// no bound that the exact engine refutes.
func TestEvidenceLayers(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 11)), tallied{}
	for k := range require.Rounds(400) {
		queue := k%4 == 3
		in := testkit.RandomTVC(rng, 2+k%3/2*2, 4+rng.IntN(12), queue)
		if queue {
			in = testkit.RandomTVC(rng, 2, 2+rng.IntN(4), true)
		}
		for i := range in.Requests { // more of them at one time
			in.Requests[i].ArrivalS = math.Round(in.Requests[i].ArrivalS*2e5) / 1e6
		}
		link := in.FatTree.LinkMbps
		share := func() float64 { return max(1e-6, math.Round(1e6*link*[]float64{0.5, 1, 1.5}[rng.IntN(3)])/1e6) }
		in.FatTree.Fabric, in.FatTree.LayersMbps = model.FabricOnePath, &model.LayerRates{ServerMbps: link, EdgeMbps: share(), AggregationMbps: share()}
		if in.Validate() != nil {
			continue
		}
		r := require.Value(tvcexact.Search.Solve(t.Context(), in, model.Settings{TimeLimit: time.Second}))(t)
		if r.Status != model.StatusOptimal {
			continue
		}
		all := require.Value(tvcbounds.All(t.Context(), in))(t)
		n.holds(t, in, all)
		n.sound(t, rng, in, all[len(all)-1:], r.Objective, true, 60)
		lp := all[len(all)-1]
		n[lp.Evidence.Resource]++
		of := []*model.Evidence{lp.Evidence}
		if !queue { // with prices of every resource, by few steps, or with all that the linear program has
			ticks := view.OfTVC(in)
			w := tvcrelax.NewWeights(in, ticks)
			rough, sum := &model.Evidence{Type: evidence.Prices}, int64(0)
			for _, part := range tvcrelax.Components(ticks) {
				r, all := tvcrelax.NewRelaxation(ticks, part, w, false), int64(0)
				for _, i := range part {
					all += w.Of[i]
				}
				m := r.Ascend(t.Context(), 1+rng.IntN(20))
				if k%8 == 0 {
					m = require.Value(r.Tighten(t.Context()))(t)
				}
				if e := r.Evidence(in, m); e != nil {
					rough.Parts = append(rough.Parts, *e)
				}
				sum += min(all, m.Floor())
			}
			all = []bounds.Bound{{Name: "rough", Value: w.Value(sum), Evidence: rough}}
			n.holds(t, in, all)
			n.sound(t, rng, in, all, r.Objective, true, 30)
			of = append(of, rough)
		}
		for _, e := range of {
			for _, p := range e.Parts {
				for _, x := range p.Parts {
					n[x.Resource]++
				}
			}
		}
	}
	n.want(t, append([]string{evidence.Prices, evidence.Machine, "refused", "true", "tight", evidence.Slots, evidence.Servers, evidence.Shares}, evidence.Links...)...)
	if !testing.Short() {
		n.want(t, evidence.PatternsOfServers)
	}
	if n["none"]+n["unchecked"] > 0 {
		t.Errorf("bounds are on trust: %v", n)
	}
}

// The drawn instances have up to three further resources, hosts of different sizes, more hosts than tasks and CPU needs
// of no unit. Every bound has evidence that the judge follows, and spoilt and forged evidence gives no bound below the
// best placement, found by enumeration.
func TestEvidenceResources(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 12)), tallied{}
	for k := range require.Rounds(800) {
		tasks, hosts := 2+rng.IntN(5), 1+rng.IntN(3)
		large := k%16 == 0
		if large {
			tasks, hosts = 8+rng.IntN(24), 2+rng.IntN(8)
		} else if k%4 == 1 {
			tasks, hosts = 1+rng.IntN(4), 3+rng.IntN(4)
		}
		in := testkit.VCSched(rng, tasks, hosts, k%3 == 0)
		if k%10 > 0 {
			in = testkit.Vectors(rng, in)
		}
		if k%5 == 2 { // of no reference host
			resize(in, 0.5+rng.Float64())
		}
		if k%7 == 3 {
			for i := range in.Jobs {
				if x := in.Jobs[i].CPU; x > 0 && rng.IntN(2) == 0 {
					in.Jobs[i].CPU = max(1e-12, x*1e-12)
				}
			}
		}
		require.OK(t, in.Validate())
		all := require.Value(vcbounds.All(t.Context(), in))(t)
		n.holds(t, in, all)
		for _, b := range all {
			if e := b.Evidence; e != nil && e.Resource != "" && e.Resource != "cpu" {
				n["rigid "+e.Type]++
			} else if e != nil && e.Type == evidence.Filling && len(e.Elements) > 0 {
				n["several"]++
			}
		}
		if !large {
			optimum, ok := plain.Optimum(in)
			n.sound(t, rng, in, all, optimum, ok, 30)
		}
	}
	n.want(t, evidence.Sum, evidence.Crowd, evidence.Clique, evidence.Misfit, "rigid sum", "infeasible", "refused", "true", "tight")
	if !testing.Short() {
		n.want(t, evidence.Filling)
	}
	if highs.Available() {
		n.want(t, evidence.Patterns, evidence.Moves)
	}
	if n["none"]+n["unchecked"] > 0 {
		t.Errorf("bounds are on trust: %v", n)
	}
}

// resize makes hosts, as host_sizes, and tasks so much as large.
func resize(in *model.VCSched, by float64) {
	in.HostSizes = slices.Clone(in.Sizes())
	amounts := func(all []float64, least float64) (sized []float64) {
		for _, x := range all {
			if x > 0 {
				x = max(least, x*by)
			}
			sized = append(sized, x)
		}
		return sized
	}
	for k := range in.HostSizes {
		s := &in.HostSizes[k]
		all := amounts(append([]float64{s.CPU, s.Memory}, s.Resources...), 0)
		s.CPU, s.Memory, s.Resources = all[0], all[1], all[2:]
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		all := amounts(append([]float64{j.CPU, j.Memory}, j.Resources...), 1e-12)
		j.CPU, j.Memory, j.Resources = all[0], all[1], all[2:]
	}
}

// Each kind of evidence by a rigid resource, on an instance where nothing else shows as much.
func TestEvidenceRigid(t *testing.T) {
	t.Parallel()
	draw := func(jobs, tasks int, cpu, memory, disk, net func(i int) float64) []model.VCSchedJob {
		var all []model.VCSchedJob
		for i := range jobs {
			all = append(all, model.VCSchedJob{ID: fmt.Sprint("j", i), Tasks: tasks, CPU: cpu(i), Memory: memory(i), Resources: []float64{disk(i), net(i)}})
		}
		return all
	}
	is := func(x float64) func(int) float64 { return func(int) float64 { return x } }
	turn := func(x ...float64) func(int) float64 { return func(i int) float64 { return x[i%len(x)] } }
	size := func(count int, cpu, memory, disk, net float64) model.HostSize {
		return model.HostSize{Count: count, CPU: cpu, Memory: memory, Resources: []float64{disk, net}}
	}
	for name, x := range map[string]struct {
		hosts      int
		sizes      []model.HostSize
		jobs       []model.VCSchedJob
		evidence   string // its type
		resource   string
		elements   int
		infeasible bool
	}{
		"the sum of another resource":       {2, nil, draw(5, 1, is(0.1), is(0.1), is(0.45), is(0.1)), evidence.Sum, "disk", 0, true},
		"a function of another resource":    {3, nil, draw(7, 1, is(0.1), is(0.1), is(0.34), is(0.1)), evidence.Filling, "disk", 0, true},
		"a function of two other resources": {2, nil, draw(5, 1, is(0.1), is(0.1), turn(0.59, 0.1), turn(0.1, 0.59)), evidence.Filling, "", 2, true},
		"a crowd of another resource": {5, []model.HostSize{size(2, 1, 1, 1, 1), size(3, 1, 1, 0.3, 1)}, draw(5, 1, is(0.1), is(0.1), is(0.4), is(0.1)),
			evidence.Crowd, "disk", 0, true},
		"a clique of 1,000 jobs": {999, nil, draw(1000, 1, is(0.1), turn(0.6, 0.6, 0.1), turn(0.6, 0.1, 0.6), turn(0.1, 0.6, 0.6)), evidence.Clique, "", 1000, true},
		"a clique of 1,000 jobs on hosts of two sizes": {999, []model.HostSize{size(500, 1, 2, 1, 1), size(499, 1.5, 2, 1, 1.1)},
			draw(1000, 1, is(0.1), turn(1.2, 1.2, 0.1), turn(0.6, 0.1, 0.6), turn(0.1, 0.6, 0.6)), evidence.Clique, "", 1000, true},
		"more hosts of a size than tasks": {21, []model.HostSize{size(1, 1, 1, 1, 1), size(20, 0.05, 1, 1, 1)}, draw(5, 1, is(0.4), is(0.1), is(0.1), is(0.1)),
			evidence.Crowd, "", 0, false},
	} {
		in := &model.VCSched{Name: "rigid", Hosts: x.hosts, HostSizes: x.sizes, Resources: []string{"disk", "net"}, Jobs: x.jobs}
		require.OK(t, in.Validate(), name)
		b := vcbounds.Quick(t.Context(), in)[0]
		if b.Evidence == nil || b.Infeasible != x.infeasible || (b.Evidence.Type != x.evidence || b.Evidence.Resource != x.resource || len(b.Evidence.Elements) != x.elements) {
			t.Errorf("%s: %v, infeasible %v, by %s", name, b.Value, b.Infeasible, text(b.Evidence))
			continue
		}
		start, n := time.Now(), tallied{}
		n.holds(t, in, []bounds.Bound{b})
		if t.Logf("%s: judged in %v", name, time.Since(start)); n["unchecked"] > 0 {
			t.Errorf("%s: on trust", name)
		}
	}
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// sound fails if the judge derives from forged or spoilt evidence a claim that the optimum refutes.
func (n tallied) sound(t *testing.T, rng *rand.Rand, in model.Instance, all []bounds.Bound, optimum float64, feasible bool, tries int) {
	t.Helper()
	all = slices.DeleteFunc(all, func(b bounds.Bound) bool { return b.Evidence == nil })
	for range tries {
		e, genuine := new(model.Evidence), len(all) > 0 && rng.IntN(2) == 0
		if genuine {
			require.OK(t, json.Unmarshal([]byte(text(all[rng.IntN(len(all))].Evidence)), e))
			for range 1 + rng.IntN(2) {
				testkit.SpoilEvidence(rng, e)
			}
		} else {
			e = testkit.ForgeEvidence(rng, in)
		}
		n["tried"]++
		f, err := verify.Evidence(t.Context(), in, e)
		switch {
		case err != nil:
			n["refused"]++
			continue
		case f.Infeasible && feasible:
			t.Fatalf("no solution, by %s, but there is one of %v: %s of %s", f.How, optimum, text(e), text(in))
		case f.Infeasible || !feasible:
			n["infeasible"]++
			continue
		}
		optimum := optimum
		if f.Figure != "" {
			if optimum = leastSlowdown(in.(*model.Batch), f.Figure); f.Implies(model.SenseOf(in), 0, false) {
				t.Fatalf("%s is taken for a bound on the objective: %s", f.Figure, text(e))
			}
			n[f.Figure]++
		}
		x, _ := f.Bound.Float64()
		if model.SenseOf(in).Better(optimum, x) && model.Gap(optimum, x) > 1e-12 {
			t.Fatalf("%v, by %s, but the optimum is %v: %s of %s", x, f.How, optimum, text(e), text(in))
		}
		n["true"]++
		n[e.Type]++
		if x == optimum {
			n["tight"]++
		}
	}
}

// leastSlowdown returns the least mean or largest bounded slowdown of a schedule on one tier, by enumeration of
// the orders of jobs.
func leastSlowdown(in *model.Batch, figure string) float64 {
	ticks, least := view.OfBatch(in), math.Inf(1)
	order := make([]int, len(in.Jobs))
	for k := range order {
		order[k] = k
	}
	var permute func(k int)
	permute = func(k int) {
		for i := k; i < len(order) && k < len(order)-1; i++ {
			order[k], order[i] = order[i], order[k]
			permute(k + 1)
			order[k], order[i] = order[i], order[k]
		}
		if k < len(order)-1 {
			return
		}
		sum, most := 0.0, 0.0
		for k, s := range batchbounds.Serial(ticks, order) {
			j := &ticks.Jobs[k]
			x := max(1, float64(s+j.Length-j.Submit)/max(1e6*model.SlowdownFloor, float64(j.Length)))
			sum, most = sum+x, max(most, x)
		}
		if figure == evidence.MeanSlowdown {
			most = sum / float64(len(order))
		}
		least = min(least, most)
	}
	permute(0)
	return least
}

// TestEvidenceForged compares the conclusions from evidence that is forged, or spoilt after a bound gave it, with
// optima by enumeration: whatever it states, the judge derives nothing that isn't true.
func TestEvidenceForged(t *testing.T) {
	t.Parallel()
	const capacities = "dag with capacities"
	draws := map[model.Kind]func(rng *rand.Rand) (in model.Instance, all []bounds.Bound, optimum float64, feasible bool){
		model.KindDAG: func(rng *rand.Rand) (model.Instance, []bounds.Bound, float64, bool) {
			d := verify.DrawDAG(rng, 5, 3)
			d.TransferModel = model.TransferIdeal
			optimum, _ := plain.Optimum(d)
			all := dagbounds.QuickOf(t.Context(), d)
			if rng.IntN(2) == 0 && highs.Available() {
				_, e := require.Pair(dagbounds.Relaxation(t.Context(), d,
					[]float64{1.01 * optimum, 1.5 * optimum, math.Inf(1)}[rng.IntN(3)]))(t)
				all = []bounds.Bound{{Name: "ordering-relaxation", Evidence: e}}
			}
			return d, all, optimum, true
		},
		capacities: func(rng *rand.Rand) (model.Instance, []bounds.Bound, float64, bool) {
			d := testkit.Roomy(rng, testkit.RandomDAG(rng, 1+rng.IntN(6), 1+rng.IntN(3)))
			optimum, _ := plain.Optimum(d)
			return d, dagbounds.QuickOf(t.Context(), d), optimum, true
		},
		model.KindVCSched: func(rng *rand.Rand) (model.Instance, []bounds.Bound, float64, bool) {
			v := testkit.RandomVCSched(rng, rng.IntN(2) == 0)
			if rng.IntN(5) == 0 {
				v = testkit.RandomVectors(rng, false)
			}
			optimum, ok := plain.Optimum(v)
			all := append(vcbounds.Quick(t.Context(), v), vcbounds.ClosedForm(v))
			if more, err := vcbounds.All(t.Context(), v); err == nil {
				all = append(all, more...)
			}
			return v, all, optimum, ok
		},
		model.KindReservation: func(rng *rand.Rand) (model.Instance, []bounds.Bound, float64, bool) {
			r := testkit.RandomReservation(rng, 3+rng.IntN(3))
			optimum, ok := plain.Optimum(r)
			return r, require.Value(resbounds.All(t.Context(), r))(t), optimum, ok
		},
		model.KindBatch: func(rng *rand.Rand) (model.Instance, []bounds.Bound, float64, bool) {
			b := testkit.RandomBatch(rng, 1, 6, 1+rng.IntN(4))
			optimum, _ := plain.Optimum(b)
			return b, append(batchbounds.Quick(t.Context(), b), batchbounds.Others(t.Context(), b)...), optimum, true
		},
		model.KindTVC: func(rng *rand.Rand) (model.Instance, []bounds.Bound, float64, bool) {
			v := testkit.RandomTVC(rng, 2, 2+rng.IntN(4), false)
			optimum, _ := plain.Optimum(v)
			return v, require.Value(tvcbounds.All(t.Context(), v))(t), optimum, true
		},
		model.KindConsolidation: func(rng *rand.Rand) (model.Instance, []bounds.Bound, float64, bool) {
			c := testkit.Consolidation(rng, 2+rng.IntN(4), 1+rng.IntN(3))
			optimum, ok := plain.Optimum(c)
			return c, consbounds.Quick(t.Context(), c), optimum, ok
		},
	}
	types := map[model.Kind][]string{
		model.KindDAG:           {evidence.Path, evidence.Load, evidence.Interval, evidence.Ordering, evidence.Gathering},
		capacities:              {evidence.Path, evidence.Load, evidence.Interval},
		model.KindVCSched:       {evidence.Sum, evidence.Crowd, evidence.Clique, evidence.Filling, evidence.Patterns, evidence.Moves, "infeasible"},
		model.KindReservation:   {evidence.Areas, evidence.Windows, evidence.Prices, "infeasible"},
		model.KindBatch:         {evidence.Sum, evidence.Prices, evidence.Machine, evidence.Windows, evidence.MeanSlowdown, evidence.MostSlowdown},
		model.KindTVC:           {evidence.Sum, evidence.Prices},
		model.KindConsolidation: {evidence.Cover, evidence.Apart, evidence.Emptied, "infeasible"},
	}
	for kind, draw := range draws {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			rng, n := rand.New(rand.NewPCG(31, 4)), tallied{}
			const tries = 100
			for range require.Rounds(800) {
				in, all, optimum, feasible := draw(rng)
				n.sound(t, rng, in, all, optimum, feasible, tries)
			}
			n.want(t, append(types[kind], "refused", "true", "tight")...)
		})
	}
}

// Evidence outside the listed forms is refused, each for one reason: a rule computes only the cases that it was written
// for.
func TestEvidenceForms(t *testing.T) {
	t.Parallel()
	one := 1.0
	batch := &model.Batch{Name: "b", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "short", RuntimeS: 10, Processes: 1}, {ID: "long", RuntimeS: 100, Processes: 1}}}
	vc := &model.VCSched{Name: "v", Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 2, CPU: 0.5, Memory: 0.5}}}
	res := &model.Reservation{Name: "r", PEs: 1, Requests: []model.Request{{ID: "a", DurationS: 1, DeadlineS: 2, PEs: 1}}}
	tvc := &model.TVC{Name: "t", FatTree: model.FatTree{K: 2, Slots: 1, LinkMbps: 10}, Requests: []model.TVCRequest{{ID: "a", VMs: 1, BandwidthMbps: 1, DurationS: 1}}}
	dag := testkit.TenTasks()
	hosts, _ := fiveHosts()
	many := make([]int64, 40_000)
	for k := range many {
		many[k] = int64(k)
	}
	priced := func(e model.Evidence) *model.Evidence {
		e.Type = evidence.Prices
		return &model.Evidence{Type: evidence.Prices, Parts: []model.Evidence{e}}
	}
	ordered := func(horizon float64, parts ...model.Evidence) *model.Evidence {
		return &model.Evidence{Type: evidence.Ordering, Window: []float64{0, horizon}, Parts: parts}
	}
	rows := func(kind string, number int64, multiplier float64) model.Evidence {
		return model.Evidence{Type: evidence.Ordering, Resource: kind, Rows: []int64{number}, Weights: []float64{multiplier}}
	}
	set := func(machine int64, tasks ...string) model.Evidence {
		return model.Evidence{Type: evidence.Gathering, Elements: tasks, Rows: []int64{machine}}
	}
	gathered := func(kind string, sets ...model.Evidence) *model.Evidence {
		return &model.Evidence{Type: evidence.Gathering, Parts: []model.Evidence{{Type: evidence.Gathering, Resource: kind, Parts: sets}}}
	}
	heads := *gathered(evidence.Heads)
	weighed := func(edges, machines int, weights ...float64) *model.Evidence {
		return &model.Evidence{Type: evidence.Traffic, Weights: weights, Prices: make([]float64, edges*machines)}
	}
	dearer, endless := weighed(15, 3, 1, 1, 1), weighed(15, 3, 1, 1, 1)
	dearer.Prices[1], endless.Prices[0] = 1, math.Inf(1)
	slots := model.Evidence{Type: evidence.Prices, Resource: "slots", Times: []int64{0}, Prices: []float64{1}}
	unblocked := *tvc
	unblocked.FatTree.Fabric = model.FabricNonBlocking
	layered := func(x model.Evidence) *model.Evidence {
		x.Type, x.Times, x.Prices = evidence.Prices, []int64{0}, []float64{1}
		return priced(model.Evidence{Elements: []string{"a"}, Parts: []model.Evidence{x}})
	}
	shares := []model.Evidence{{Type: evidence.Prices, Resource: "slots"}, {Type: evidence.Prices, Resource: "links"}}
	patterns := func(weight float64, id string) *model.Evidence {
		e := layered(model.Evidence{Resource: "patterns", Elements: []string{id}, Weights: []float64{weight}})
		e.Parts[0].Parts[0].Times = nil
		return e
	}
	apart := *tvc // a request that ends when the next one starts
	apart.Requests = append(slices.Clone(tvc.Requests), model.TVCRequest{ID: "b", ArrivalS: 1, VMs: 1, BandwidthMbps: 1, DurationS: 1})
	both := patterns(1, "a")
	both.Parts[0].Elements = []string{"a", "b"}
	both.Parts[0].Parts[0].Elements, both.Parts[0].Parts[0].Weights = []string{"a", "b"}, []float64{1, 1}
	for name, x := range map[string]struct {
		in   model.Instance
		e    *model.Evidence
		want string // of the error; empty: it is accepted
	}{
		"a price between times":            {batch, &model.Evidence{Type: evidence.Prices, Times: []int64{0, 1}, Prices: []float64{1}}, ""},
		"a price at a time":                {batch, &model.Evidence{Type: evidence.Prices, Times: []int64{0}, Prices: []float64{1e9}}, "1 for 1 times"},
		"no price":                         {batch, &model.Evidence{Type: evidence.Prices}, "0 for 0 times"},
		"a price below 0":                  {batch, &model.Evidence{Type: evidence.Prices, Times: []int64{0, 1}, Prices: []float64{-1}}, "-1 isn't 0"},
		"a price that isn't a number":      {batch, &model.Evidence{Type: evidence.Prices, Times: []int64{0, 1}, Prices: []float64{math.NaN()}}, "NaN isn't 0"},
		"times out of order":               {batch, &model.Evidence{Type: evidence.Prices, Times: []int64{1, 1}, Prices: []float64{1}}, "not after"},
		"a time out of range":              {batch, &model.Evidence{Type: evidence.Prices, Times: []int64{0, math.MaxInt64}, Prices: []float64{1}}, "out of range"},
		"more times than any needs":        {batch, &model.Evidence{Type: evidence.Prices, Times: many, Prices: []float64{1}}, "more than 32800 entries"},
		"a key of another form":            {batch, &model.Evidence{Type: evidence.Sum, Mirrored: true}, `no key "mirrored"`},
		"a bound within evidence":          {batch, &model.Evidence{Type: evidence.Sum, RootBound: &one}, `no key "root_bound"`},
		"another problem's type":           {batch, &model.Evidence{Type: evidence.Path, Elements: []string{"short"}}, `type "path"`},
		"no element":                       {dag, &model.Evidence{Type: evidence.Path}, "there are 0"},
		"an element twice":                 {dag, &model.Evidence{Type: evidence.Path, Elements: []string{"n1", "n1"}}, "named twice"},
		"too few weights":                  {dag, &model.Evidence{Type: evidence.Load, Weights: []float64{1, 1}}, "2 for 3 machines"},
		"weights that are all 0":           {dag, &model.Evidence{Type: evidence.Load, Weights: []float64{0, 0, 0}}, "all are 0"},
		"an infinite weight":               {dag, &model.Evidence{Type: evidence.Load, Weights: []float64{1, 1, math.Inf(1)}}, "finite"},
		"a window that ends before":        {dag, &model.Evidence{Type: evidence.Interval, Window: []float64{2, 1}}, "a later one"},
		"no multipliers":                   {dag, ordered(1000), ""},
		"a row of an edge":                 {dag, ordered(1000, rows(evidence.EdgeRow, 14, 1)), ""},
		"a row that isn't there":           {dag, ordered(1000, rows(evidence.EdgeRow, 15, 1)), `15 rows "edge" at most`},
		"a row of a number below 0":        {dag, ordered(1000, rows(evidence.EdgeRow, -1, 1)), "-1 is below 0"},
		"a multiplier below 0":             {dag, ordered(1000, rows(evidence.TailRow, 0, -1)), "-1 isn't from"},
		"one of an equation":               {dag, ordered(1000, rows(evidence.FromRow, 0, -1)), ""},
		"a multiplier that isn't one":      {dag, ordered(1000, rows(evidence.ToRow, 0, math.NaN())), "NaN isn't from"},
		"a multiplier without a row":       {dag, ordered(1000, model.Evidence{Type: evidence.Ordering, Resource: evidence.TailRow, Weights: []float64{1}}), "1 for 0 rows"},
		"rows of no kind":                  {dag, ordered(1000, rows("", 0, 1)), `"" isn't one of`},
		"rows of a kind twice":             {dag, ordered(1000, rows(evidence.TailRow, 0, 1), rows(evidence.TailRow, 1, 1)), "two are of tail"},
		"a row of ordered tasks":           {dag, ordered(1000, rows(evidence.BothRow, 3, 1)), "tasks that are ordered"},
		"a row of a task with itself":      {dag, ordered(1000, rows(evidence.WaitRow, 11, 1)), "tasks that are ordered"},
		"a horizon of 0":                   {dag, ordered(0), "a later one"},
		"a horizon that begins later":      {dag, &model.Evidence{Type: evidence.Ordering, Window: []float64{1, 2}}, "must begin at 0"},
		"a set before a task":              {dag, gathered(evidence.Heads, set(0, "8", "2", "1")), ""},
		"a set after a task":               {dag, gathered(evidence.Tails, set(0, "1", "2", "8")), ""},
		"a set of the other way":           {dag, gathered(evidence.Tails, set(0, "8", "2", "1")), "no path of two edges"},
		"a set three edges before":         {dag, gathered(evidence.Heads, set(0, "10", "1")), "no path of two edges"},
		"a set two edges before alone":     {dag, gathered(evidence.Heads, set(0, "8", "1")), "no path of two edges"},
		"a set with its own task":          {dag, gathered(evidence.Heads, set(0, "8", "8")), "named twice"},
		"a set of no task":                 {dag, gathered(evidence.Heads, set(0)), "there are 0"},
		"a set of a task of nowhere":       {dag, gathered(evidence.Heads, set(0, "8", "0")), "that there isn't"},
		"a set on no machine":              {dag, gathered(evidence.Heads, set(3, "8", "2")), "none has the number 3"},
		"a set on a machine below 0":       {dag, gathered(evidence.Heads, set(-1, "8", "2")), "-1 is below 0"},
		"two sets on a machine":            {dag, gathered(evidence.Heads, set(0, "8", "2"), set(0, "8", "4")), "two sets are of"},
		"sets of no kind":                  {dag, gathered("", set(0, "8", "2")), `"" isn't one of`},
		"sets of heads twice":              {dag, &model.Evidence{Type: evidence.Gathering, Parts: append(heads.Parts, heads.Parts...)}, "two are of head"},
		"a set of more than 15":            {dag, gathered(evidence.Heads, set(0, make([]string, 17)...)), "must be 16 at most"},
		"a set with weights":               {dag, gathered(evidence.Heads, model.Evidence{Type: evidence.Gathering, Elements: []string{"8", "2"}, Weights: []float64{1}}), `no key "weights"`},
		"no prices":                        {dag, weighed(15, 3, 1, 1, 1), ""},
		"a price too few":                  {dag, weighed(14, 3, 1, 1, 1), "42 for 15 edges"},
		"a weight of no link":              {dag, weighed(15, 3, 1, 1, 1, 1), "4 for 3 machines and links"},
		"half a weight":                    {dag, weighed(15, 3, 1, 0.5, 1), "0.5 isn't a whole number"},
		"no weights":                       {dag, weighed(15, 3, 0, 0, 0), "all weights are 0"},
		"a price of data on no link":       {dag, dearer, "pay more for a move"},
		"a price without end":              {dag, endless, "+Inf isn't from"},
		"no scale":                         {vc, &model.Evidence{Type: evidence.Sum, Resource: "cpu"}, "scale: 0"},
		"no resource":                      {vc, &model.Evidence{Type: evidence.Sum, Scale: 1000}, `resource: ""`},
		"a weight that isn't whole":        {vc, &model.Evidence{Type: evidence.Clique, Scale: 1000, Elements: []string{"a"}, Weights: []float64{1.5}}, "whole number"},
		"more tasks than the job has":      {vc, &model.Evidence{Type: evidence.Clique, Scale: 1000, Elements: []string{"a"}, Weights: []float64{3}}, "no job"},
		"no tasks":                         {vc, &model.Evidence{Type: evidence.Crowd, Scale: 1000}, "count: 0"},
		"a load of 0":                      {vc, &model.Evidence{Type: evidence.Filling, Scale: 1000, Resource: "cpu"}, "load: 0"},
		"an unknown function":              {res, &model.Evidence{Type: evidence.Areas, Function: &model.DualFunction{Name: "magic"}}, "magic"},
		"windows that meet":                {res, &model.Evidence{Type: evidence.Windows, Windows: []model.EvidenceWindow{{From: 0, To: 2}, {From: 1, To: 3}}}, "before the one before it has ended"},
		"prices without parts":             {res, &model.Evidence{Type: evidence.Prices, Times: []int64{0, 1}, Prices: []float64{1}}, `no key "times"`},
		"a part at instants":               {res, priced(model.Evidence{Elements: []string{"a"}, Times: []int64{0}, Prices: []float64{1}}), ""},
		"a part with a price too many":     {res, priced(model.Evidence{Elements: []string{"a"}, Times: []int64{0}, Prices: []float64{1, 1}}), "parts: [0].prices"},
		"a part of nothing":                {res, priced(model.Evidence{Times: []int64{0, 1}, Prices: []float64{1}}), "parts: [0].elements"},
		"a part between instants":          {tvc, priced(model.Evidence{Elements: []string{"a"}, Parts: []model.Evidence{{Type: evidence.Prices, Resource: "slots", Times: []int64{0, 1}, Prices: []float64{1}}}}), "1 for 2 times"},
		"one resource twice":               {tvc, priced(model.Evidence{Elements: []string{"a"}, Parts: []model.Evidence{slots, slots}}), "two are of slots"},
		"a resource that there isn't":      {tvc, priced(model.Evidence{Elements: []string{"a"}, Parts: []model.Evidence{{Type: evidence.Prices, Resource: "cpu", Times: []int64{0}, Prices: []float64{1}}}}), `"cpu" isn't one of`},
		"a resource of a cluster":          {hosts, &model.Evidence{Type: evidence.Cover, Resource: "cpu"}, ""},
		"a resource that it hasn't":        {hosts, &model.Evidence{Type: evidence.Cover, Resource: "gpu"}, `no resource "gpu"`},
		"no host set":                      {hosts, &model.Evidence{Type: evidence.Cover, Resource: "cpu", Elements: []string{"none"}}, `no host set "none"`},
		"two host sets":                    {hosts, &model.Evidence{Type: evidence.Cover, Resource: "cpu", Elements: []string{"some", "y"}}, "there are 2"},
		"a rule of another type":           {hosts, &model.Evidence{Type: evidence.Apart, Elements: []string{"zones"}}, "keeps tasks apart"},
		"a rule by host":                   {hosts, &model.Evidence{Type: evidence.Apart, Elements: []string{"by host"}}, ""},
		"no rule":                          {hosts, &model.Evidence{Type: evidence.Apart}, "there are 0"},
		"prices of links under a function": {tvc, layered(model.Evidence{Resource: "edge_links", Function: &model.DualFunction{Name: "steps", Parameter: 1}}), ""},
		"slots under a function":           {tvc, layered(model.Evidence{Resource: "slots", Function: &model.DualFunction{Name: "steps", Parameter: 1}}), `"slots" has none`},
		"links of which there are none":    {&unblocked, layered(model.Evidence{Resource: "edge_links"}), "non-blocking"},
		"shares of servers":                {tvc, layered(model.Evidence{Resource: "shares", Count: 1, Parts: shares}), ""},
		"shares without a weight":          {tvc, layered(model.Evidence{Resource: "shares", Parts: shares}), `"shares" has`},
		"shares of slots alone":            {tvc, layered(model.Evidence{Resource: "shares", Count: 1, Parts: shares[:1]}), "there are 1"},
		"shares in another order":          {tvc, layered(model.Evidence{Resource: "shares", Count: 1, Parts: []model.Evidence{shares[1], shares[0]}}), "must be first"},
		"links with parts":                 {tvc, layered(model.Evidence{Resource: "links", Parts: shares}), "there are 2"},
		"patterns":                         {tvc, patterns(1, "a"), ""},
		"patterns at a time":               {tvc, layered(model.Evidence{Resource: "patterns", Elements: []string{"a"}, Weights: []float64{1}}), "one for none"},
		"patterns of a part of a weight":   {tvc, patterns(0.5, "a"), "whole number"},
		"patterns of no moment":            {&apart, both, "no moment"},
		"patterns of another part":         {tvc, patterns(1, "b"), "in the part"},
		"prices of slots at an instant":    {tvc, priced(model.Evidence{Elements: []string{"a"}, Parts: []model.Evidence{slots}}), ""},
	} {
		require.OK(t, x.in.Validate())
		f, err := verify.Evidence(t.Context(), x.in, x.e)
		switch {
		case x.want == "" && (err != nil || f.Evidence != x.e):
			t.Errorf("%s: %v", name, err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want) || errors.Is(err, verify.ErrUnchecked)):
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

func TestEvidenceOfResult(t *testing.T) {
	t.Parallel()
	in := testkit.TenTasks()
	optimum, _ := plain.Optimum(in)
	path := func() *model.Evidence { return dagbounds.QuickOf(t.Context(), in)[1].Evidence }
	result := func(bound float64, e *model.Evidence) verify.Report {
		t.Helper()
		r := model.NewResult("mine", 1)
		r.Instance, r.Kind = in.Name, model.KindDAG
		r.SetBound(model.Metric{Sense: model.Minimise}, bound, model.DefaultGap)
		r.Evidence = e
		return require.Value(verify.Result(t.Context(), in, r, verify.Options{}))(t)
	}
	value := dagbounds.QuickOf(t.Context(), in)[1].Value
	if r := result(value, path()); !r.Feasible() || !slices.Contains(r.Checked, "the bound, by a path of 4 tasks") {
		t.Errorf("the path's own bound: %v", r)
	}
	for name, x := range map[string]struct {
		bound float64
		e     *model.Evidence
		trust string // the trusted part; empty: the evidence is wrong
	}{
		"an ulp more than follows":     {math.Nextafter(value, 1e9), path(), ""},
		"another problem's":            {value, &model.Evidence{Type: evidence.Areas}, ""},
		"a task that there isn't":      {value, &model.Evidence{Type: evidence.Path, Elements: []string{"nobody"}}, ""},
		"one task twice":               {value, &model.Evidence{Type: evidence.Path, Elements: []string{"n1", "n1"}}, ""},
		"weights that are negative":    {value, &model.Evidence{Type: evidence.Load, Weights: []float64{1, -1, 1}}, ""},
		"a search":                     {optimum, &model.Evidence{Type: evidence.Search, Nodes: 1975}, "the bound (search, 1,975 nodes)"},
		"a linear relaxation":          {value, &model.Evidence{Type: evidence.Relaxation}, "the bound (linear relaxation)"},
		"nothing":                      {value, nil, "the bound"},
		"a type that nobody knows yet": {value, &model.Evidence{Type: "oracle"}, ""},
	} {
		r := result(x.bound, x.e)
		switch {
		case x.trust != "" && (!r.Feasible() || !slices.Contains(r.Trusted, x.trust)):
			t.Errorf("%s: %v", name, r)
		case x.trust == "" && (r.Feasible() || r.Violations[0].Constraint != verify.WrongEvidence):
			t.Errorf("%s: %v", name, r)
		}
	}
}

// FuzzEvidence gives the judge any evidence on four small instances: it neither panics nor takes long, and no optimum
// refutes its conclusions.
func FuzzEvidence(f *testing.F) {
	rng := rand.New(rand.NewPCG(31, 5))
	d, roomy := testkit.SixTasks(), roomyTasks()
	v := testkit.RandomVCSched(rng, false)
	r := testkit.RandomReservation(rng, 5)
	ofDAG, err := dagbounds.All(f.Context(), d) // with multipliers of the ordering model
	require.OK(f, err)
	for _, all := range [][]bounds.Bound{ofDAG, dagbounds.QuickOf(f.Context(), roomy), vcbounds.Quick(f.Context(), v), resbounds.QuickOf(f.Context(), r)} {
		for _, b := range all {
			f.Add(text(b.Evidence))
		}
	}
	best, _ := plain.Optimum(d)
	together, _ := plain.Optimum(roomy)
	yield, fits := plain.Optimum(v)
	weight, accepts := plain.Optimum(r)
	f.Fuzz(func(t *testing.T, data string) {
		var e model.Evidence
		if json.Unmarshal([]byte(data), &e) != nil {
			return
		}
		for _, x := range []struct {
			in       model.Instance
			optimum  float64
			feasible bool
		}{{d, best, true}, {roomy, together, true}, {v, yield, fits}, {r, weight, accepts}} {
			g, err := verify.Evidence(t.Context(), x.in, &e)
			if err != nil || !x.feasible {
				continue
			}
			if g.Infeasible {
				t.Fatalf("no solution of %s", x.in.ID())
			}
			if y, _ := g.Bound.Float64(); model.SenseOf(x.in).Better(x.optimum, y) && model.Gap(x.optimum, y) > 1e-12 {
				t.Fatalf("%v of %s, the optimum is %v", y, x.in.ID(), x.optimum)
			}
		}
	})
}
