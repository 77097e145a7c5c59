package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/bounds"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/model/modeltest"
	"github.com/gapwise/gapwise/verify"
)

// tallied counts evidence by type, and bounds without.
type tallied map[model.EvidenceType]int

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
		if !f.Implies(model.SenseOf(in), b.Value, b.Infeasible) {
			x := 0.0
			if f.Bound != nil {
				x, _ = f.Bound.Float64()
			}
			t.Fatalf("%s: claims %v (infeasible %v), from %s follows %v (%v): %s of %s", b.Name, b.Value, b.Infeasible, f.How, x, f.Infeasible, text(b.Evidence), text(in))
		}
		n[b.Evidence.Type]++
	}
}

func (n tallied) want(t *testing.T, types ...model.EvidenceType) {
	t.Helper()
	for _, x := range types {
		if n[x] == 0 {
			t.Errorf("no evidence of type %s: %v", x, n)
		}
	}
	t.Log(n)
}

func TestEvidenceDAG(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 1)), tallied{}
	for k := range need.Rounds(2000) {
		in := verify.DrawDAG(rng, 12, 4)
		if k%2 == 0 {
			in = randomDAG(t, rng, 3+rng.IntN(12))
		}
		n.holds(t, in, dagbounds.QuickOf(in))
	}
	n.want(t, model.EvidencePath, model.EvidenceLoad, model.EvidenceInterval)
}

func TestEvidenceVCSched(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 2)), tallied{}
	vectors := rand.New(rand.NewPCG(31, 4))
	for k := range need.Rounds(2000) {
		in := modeltest.RandomVCSched(rng, k%4 == 0)
		n.holds(t, in, []bounds.Bound{vcbounds.ClosedForm(in), vcbounds.Packing(in)})
		if k%20 == 0 || testing.Short() {
			b, err := vcbounds.ColumnGeneration(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			n.holds(t, in, []bounds.Bound{b})
		}
		if k%5 == 0 {
			in := modeltest.RandomVectors(vectors, false)
			n.holds(t, in, []bounds.Bound{vcbounds.ClosedForm(in), vcbounds.Packing(in)})
		}
	}
	n.want(t, model.EvidenceSum, model.EvidenceCrowd, model.EvidenceClique, model.EvidenceFilling)
	if highs.Built { // column generation solves linear programs
		n.want(t, model.EvidencePatterns)
	}
}

func TestEvidenceReservation(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 3)), tallied{}
	for k := range need.Rounds(2000) {
		in := modeltest.RandomReservation(rng, 3+rng.IntN(12))
		if k%2 == 0 {
			in.Goal = model.Goals[k/2%4]
		}
		n.holds(t, in, resbounds.QuickOf(in))
	}
	n.want(t, model.EvidenceAreas, model.EvidenceWindows, model.EvidencePrices)
}

func TestEvidenceBatch(t *testing.T) {
	t.Parallel()
	rng, n := rand.New(rand.NewPCG(31, 6)), tallied{}
	for k := range need.Rounds(600) {
		in := modeltest.RandomBatch(rng, 1+k%2, 6, 1+rng.IntN(8))
		all, err := batchbounds.All(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		n.holds(t, in, append(batchbounds.Quick(in), all...))
	}
	n.want(t, model.EvidenceSum, model.EvidencePrices)
}

func TestEvidenceTVC(t *testing.T) {
	t.Parallel()
	rng, n, spoilt := rand.New(rand.NewPCG(31, 7)), tallied{}, tallied{}
	for k := range need.Rounds(300) {
		in := modeltest.RandomTVC(rng, 2, 2+rng.IntN(7), false)
		if k%2 == 0 {
			in.Goal = model.GoalRevenue
		}
		n.holds(t, in, tvcbounds.Quick(in))
		if k%4 < 2 {
			optimum, _ := modeltest.BruteTVC(t, in)
			spoilt.sound(t, rng, in, tvcbounds.Quick(in), optimum, true)
		}
	}
	n.want(t, model.EvidenceSum, model.EvidencePrices)
	spoilt.want(t, "refused", "weaker", "still")
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// spoil changes evidence in one place, so that most often it proves less, more, or nothing.
func spoil(rng *rand.Rand, in model.Instance, e *model.Evidence) {
	nudge := func(x float64) float64 {
		return x * []float64{0, 0.5, 0.9, 1 + 1e-9, 1.1, 2, -1}[rng.IntN(7)]
	}
	whole := func(x int64) int64 {
		return []int64{0, x - 1, x + 1, x / 2, 2 * x, -x, x + x/10}[rng.IntN(7)]
	}
	if len(e.Parts) > 0 && rng.IntN(4) > 0 {
		spoil(rng, in, &e.Parts[rng.IntN(len(e.Parts))])
		return
	}
	switch rng.IntN(11) {
	case 0:
		if n := len(e.Elements); n > 0 {
			k := rng.IntN(n)
			e.Elements = append(e.Elements[:k:k], e.Elements[k+1:]...)
		}
	case 1:
		if n := len(e.Elements); n > 1 {
			e.Elements[rng.IntN(n)] = e.Elements[rng.IntN(n)]
		}
	case 2:
		if n := len(e.Weights); n > 0 {
			k := rng.IntN(n)
			e.Weights[k] = nudge(e.Weights[k])
		}
	case 3:
		if n := len(e.Prices); n > 0 {
			k := rng.IntN(n)
			e.Prices[k] = nudge(e.Prices[k])
		}
	case 4:
		if n := len(e.Times); n > 0 {
			k := rng.IntN(n)
			e.Times[k] = whole(e.Times[k])
		}
	case 5:
		e.Load = whole(e.Load)
	case 6:
		if e.Function != nil && rng.IntN(2) == 0 {
			e.Function.Parameter = whole(e.Function.Parameter)
		} else {
			e.Function = &model.DualFunction{Name: []string{"steps", "threshold", "pieces", "halves"}[rng.IntN(4)], Parameter: 1 + rng.Int64N(4)}
		}
	case 7:
		if n := len(e.Windows); n > 0 {
			x := &e.Windows[rng.IntN(n)]
			x.From, x.To = whole(x.From), whole(x.To)
		}
		if len(e.Window) == 2 {
			e.Window[rng.IntN(2)] = nudge(e.Window[rng.IntN(2)])
		}
	case 8:
		e.Mirrored = !e.Mirrored
		e.Count = int(whole(int64(e.Count)))
	case 9:
		e.Scale = []int64{1, 7, 1000, e.Scale / 3, 1e13}[rng.IntN(5)]
	case 10:
		e.Type = []model.EvidenceType{model.EvidencePath, model.EvidenceLoad, model.EvidenceSum, model.EvidenceClique, model.EvidenceFilling,
			model.EvidencePatterns, model.EvidenceAreas, model.EvidencePrices, model.EvidenceWindows}[rng.IntN(9)]
		e.Resource = []string{"", "cpu", "memory"}[rng.IntN(3)]
	}
}

// sound fails if the judge derives from spoilt evidence what the optimum refutes.
func (n tallied) sound(t *testing.T, rng *rand.Rand, in model.Instance, all []bounds.Bound, optimum float64, feasible bool) {
	t.Helper()
	for _, b := range all {
		if b.Evidence == nil {
			continue
		}
		for range 8 {
			var e model.Evidence
			if err := json.Unmarshal([]byte(text(b.Evidence)), &e); err != nil {
				t.Fatal(err)
			}
			for range 1 + rng.IntN(2) {
				spoil(rng, in, &e)
			}
			f, err := verify.Evidence(t.Context(), in, &e)
			switch {
			case err != nil:
				n["refused"]++
			case f.Infeasible && feasible:
				t.Fatalf("%s: no solution, by %s, but there is one of %v: %s of %s", b.Name, f.How, optimum, text(e), text(in))
			case f.Infeasible || !feasible:
				n["infeasible"]++
			default:
				x, _ := f.Bound.Float64()
				if model.SenseOf(in).Better(optimum, x) && model.Gap(optimum, x) > 1e-12 {
					t.Fatalf("%s: %v, by %s, but the optimum is %v: %s of %s", b.Name, x, f.How, optimum, text(e), text(in))
				}
				if f.Implies(model.SenseOf(in), b.Value, b.Infeasible) {
					n["still"]++
				} else {
					n["weaker"]++
				}
			}
		}
	}
}

// TestEvidenceSpoilt compares what follows from changed evidence with optima by
// enumeration: whatever it says, the judge derives nothing that isn't true.
func TestEvidenceSpoilt(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 4))
	dag, vcsched, reservation, batch := tallied{}, tallied{}, tallied{}, tallied{}
	for k := range need.Rounds(300) {
		if k%3 == 0 { // enumeration takes longer
			b := modeltest.RandomBatch(rng, 1, 6, 1+rng.IntN(4))
			sum, _ := modeltest.BruteBatch(t, b)
			batch.sound(t, rng, b, batchbounds.Quick(b), b.Ticks().Mean(sum, 1), true)
		}
		d := verify.DrawDAG(rng, 6, 3)
		d.TransferModel = model.TransferIdeal
		if optimum, ok := modeltest.BruteDAG(d, 100_000); ok {
			dag.sound(t, rng, d, dagbounds.QuickOf(d), optimum, true)
		}
		v := modeltest.RandomVCSched(rng, false)
		optimum, ok := modeltest.BruteVCSched(v)
		all := []bounds.Bound{vcbounds.ClosedForm(v), vcbounds.Packing(v)}
		if b, err := vcbounds.ColumnGeneration(t.Context(), v); err == nil {
			all = append(all, b)
		}
		vcsched.sound(t, rng, v, all, optimum, ok)
		r := modeltest.RandomReservation(rng, 3+rng.IntN(4))
		r.Goal = model.Goals[rng.IntN(4)]
		optimum, ok = modeltest.BruteReservation(t, r)
		reservation.sound(t, rng, r, resbounds.QuickOf(r), optimum, ok)
	}
	for _, n := range []tallied{dag, vcsched, reservation, batch} {
		n.want(t, "refused", "weaker", "still")
	}
}

func TestEvidenceOfResult(t *testing.T) {
	t.Parallel()
	in := modeltest.TenTasks()
	optimum, _ := modeltest.BruteDAG(in, 1_000_000)
	path := func() *model.Evidence { return dagbounds.QuickOf(in)[1].Evidence }
	result := func(bound float64, e *model.Evidence) verify.Report {
		t.Helper()
		r := model.NewResult("mine", 1)
		r.Instance, r.Kind = in.Name, model.KindDAG
		r.SetBound(model.Minimise, bound, model.DefaultGap)
		r.Evidence = e
		report, err := verify.Result(t.Context(), in, r, verify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	value := dagbounds.QuickOf(in)[1].Value
	if r := result(value, path()); !r.Feasible() || !slices.Contains(r.Checked, "the bound, by a path of 4 tasks") {
		t.Errorf("the path's own bound: %v", r)
	}
	for name, x := range map[string]struct {
		bound float64
		e     *model.Evidence
		trust string // what is on trust; empty: the evidence is wrong
	}{
		"an ulp more than follows":     {math.Nextafter(value, 1e9), path(), ""},
		"another problem's":            {value, &model.Evidence{Type: model.EvidenceAreas}, ""},
		"a task that there isn't":      {value, &model.Evidence{Type: model.EvidencePath, Elements: []string{"nobody"}}, ""},
		"one task twice":               {value, &model.Evidence{Type: model.EvidencePath, Elements: []string{"n1", "n1"}}, ""},
		"weights that are negative":    {value, &model.Evidence{Type: model.EvidenceLoad, Weights: []float64{1, -1, 1}}, ""},
		"a search":                     {optimum, &model.Evidence{Type: model.EvidenceSearch, Nodes: 1975}, "the bound (search, 1,975 nodes)"},
		"a linear relaxation":          {value, &model.Evidence{Type: model.EvidenceRelaxation}, "the bound (linear relaxation)"},
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

// FuzzEvidence gives the judge any evidence on three small instances: it neither panics
// nor takes long, and what follows is refuted by no optimum.
func FuzzEvidence(f *testing.F) {
	rng := rand.New(rand.NewPCG(31, 5))
	d := modeltest.SixTasks()
	v := modeltest.RandomVCSched(rng, false)
	r := modeltest.RandomReservation(rng, 5)
	for _, all := range [][]bounds.Bound{dagbounds.QuickOf(d), {vcbounds.Packing(v)}, resbounds.QuickOf(r)} {
		for _, b := range all {
			f.Add(text(b.Evidence))
		}
	}
	best, _ := modeltest.BruteDAG(d, 1_000_000)
	yield, fits := modeltest.BruteVCSched(v)
	weight, accepts := modeltest.BruteReservation(f, r)
	f.Fuzz(func(t *testing.T, data string) {
		var e model.Evidence
		if json.Unmarshal([]byte(data), &e) != nil {
			return
		}
		for _, x := range []struct {
			in       model.Instance
			optimum  float64
			feasible bool
		}{{d, best, true}, {v, yield, fits}, {r, weight, accepts}} {
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
