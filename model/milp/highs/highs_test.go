// SPDX-License-Identifier: MIT

//go:build !js

package highs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

func solve(t testing.TB, m *milp.Model, o milp.Options) milp.Result {
	t.Helper()
	return require.Value(highs.Solve(context.Background(), m, o))(t)
}

// randomMILP has small integer data, so that an enumeration is exact.
func randomMILP(rng *rand.Rand) *milp.Model {
	m := &milp.Model{Maximise: rng.IntN(2) == 0, Offset: float64(rng.IntN(5))}
	for range 1 + rng.IntN(5) {
		lo := float64(rng.IntN(4) - 2)
		m.AddVar(milp.Var{Lower: lo, Upper: lo + float64(rng.IntN(4)), Cost: float64(rng.IntN(11) - 5), Integer: true})
	}
	for range rng.IntN(4) {
		var terms []milp.Term
		for j := range m.Vars {
			if rng.IntN(3) > 0 {
				terms = append(terms, milp.Term{Var: j, Coef: float64(rng.IntN(9) - 4)})
			}
		}
		lo, hi := math.Inf(-1), math.Inf(1)
		switch rng.IntN(3) {
		case 0:
			lo = float64(rng.IntN(10) - 5)
			hi = lo + float64(rng.IntN(3))
		case 1:
			lo = float64(rng.IntN(10) - 6)
		default:
			hi = float64(rng.IntN(10) - 3)
		}
		m.AddRow("", lo, hi, terms...)
	}
	return m
}

// enumerate is the best objective over all integer points, false without one.
func enumerate(m *milp.Model) (best float64, found bool) {
	x := make([]float64, len(m.Vars))
	var walk func(j int)
	walk = func(j int) {
		if j == len(x) {
			if o := m.Objective(x); m.Violation(x) == 0 && (!found || m.Maximise == (o > best)) {
				best, found = o, true
			}
			return
		}
		for v := m.Vars[j].Lower; v <= m.Vars[j].Upper; v++ {
			x[j] = v
			walk(j + 1)
		}
	}
	walk(0)
	return best, found
}

// Solves run side by side, in memory of their own, and find the optimum of enumeration, or that there is none.
func TestAgainstEnumeration(t *testing.T) {
	require.HiGHS(t)
	var feasible atomic.Int64
	var wg sync.WaitGroup
	for k := range 24 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(5, uint64(k)))
			for range require.Rounds(80) {
				m := randomMILP(rng)
				want, ok := enumerate(m)
				r, err := highs.Solve(context.Background(), m, milp.Options{Threads: 1 + k%8/7})
				if err != nil || ok != (r.Status == milp.Optimal) || !ok && r.Status != milp.Infeasible ||
					ok && (math.Abs(r.Objective-want) > 1e-6 || math.Abs(r.Bound-want) > 1e-6) {
					t.Errorf("status %v, objective %v, bound %v, want %v %v; error %v: %+v", r.Status, r.Objective, r.Bound, want, ok, err, m)
				}
				if ok {
					feasible.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := feasible.Load(); n < int64(require.Rounds(320)) {
		t.Errorf("only %d feasible models: the test tests little", n)
	}
}

// Duality on random linear programs: equal objectives, reduced costs that are
// costs less the duals' prices, complementary slackness.
func TestDuals(t *testing.T) {
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for k := range 300 {
		m := randomMILP(rng)
		r := solve(t, m, milp.Options{Relax: true})
		if r.Status != milp.Optimal {
			continue
		}
		dual := m.Offset
		for j, v := range m.Vars {
			price := v.Cost
			for i := range m.Rows {
				for _, term := range m.Rows[i].Terms {
					if term.Var == j {
						price -= r.Duals[i] * term.Coef
					}
				}
			}
			if math.Abs(price-r.Reduced[j]) > 1e-6 {
				t.Fatalf("model %d: reduced cost %v, want %v", k, r.Reduced[j], price)
			}
			at := v.Lower
			if price > 0 == m.Maximise {
				at = v.Upper
			}
			if math.Abs(price) > 1e-7 {
				dual += price * at
				if math.Abs(r.X[j]-at) > 1e-6 {
					t.Fatalf("model %d: x%d = %v with the reduced cost %v", k, j, r.X[j], price)
				}
			}
		}
		for i, row := range m.Rows {
			at := row.Lower
			if r.Duals[i] > 0 == m.Maximise {
				at = row.Upper
			}
			if math.Abs(r.Duals[i]) > 1e-7 {
				dual += r.Duals[i] * at
			}
		}
		if math.Abs(dual-r.Objective) > 1e-6 {
			t.Fatalf("model %d: dual objective %v, primal %v", k, dual, r.Objective)
		}
	}
}

// hard is a market-split instance: HiGHS doesn't finish it in any reasonable time.
func hard() *milp.Model {
	rng := rand.New(rand.NewPCG(9, 9))
	m := &milp.Model{}
	const n, rows = 45, 5
	for range n {
		m.AddVar(milp.Var{Upper: 1, Integer: true})
	}
	for range rows {
		var terms []milp.Term
		sum := 0.0
		for j := range n {
			c := float64(rng.IntN(100))
			sum += c
			terms = append(terms, milp.Term{Var: j, Coef: c})
		}
		p, q := m.AddVar(milp.Var{Upper: inf, Cost: 1}), m.AddVar(milp.Var{Upper: inf, Cost: 1})
		terms = append(terms, milp.Term{Var: p, Coef: 1}, milp.Term{Var: q, Coef: -1})
		half := math.Floor(sum / 2)
		m.AddRow("", half, half, terms...)
	}
	return m
}

func TestStops(t *testing.T) {
	require.HiGHS(t)
	m := hard()
	t.Run("cancelled context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		progress := 0
		r, err := highs.Solve(ctx, m, milp.Options{Progress: func(milp.Progress) {
			if progress++; progress == 2 {
				cancel()
			}
		}})
		if err != nil || r.Status != milp.Interrupted {
			t.Fatalf("status %v, error %v, want interrupted", r.Status, err)
		}
		if !r.Feasible || !(r.Bound <= r.Objective) {
			t.Errorf("a feasible point and a bound were known: %+v", r)
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if r, err := highs.Solve(ctx, m, milp.Options{}); err != nil || r.Status != milp.Interrupted || r.Feasible {
			t.Fatalf("%+v, %v", r, err)
		}
	})
	t.Run("time limit", func(t *testing.T) {
		if r := solve(t, m, milp.Options{TimeLimit: 300 * time.Millisecond}); r.Status != milp.TimeLimit {
			t.Fatalf("status %v, want time limit", r.Status)
		}
	})
	t.Run("count", func(t *testing.T) { // the calls are the same in each run, and so is where it stops
		var runs [2][]int64
		var ends [2]milp.Result
		for k := range runs {
			sum, told := int64(0), 0
			ends[k] = solve(t, m, milp.Options{Progress: func(milp.Progress) { told++ }, Count: func(iterations int64) bool {
				runs[k] = append(runs[k], iterations)
				sum += iterations
				return sum >= 5000
			}})
			if r := ends[k]; r.Status != milp.TimeLimit && r.Status != milp.Interrupted || !r.Feasible || sum < 5000 || told == 0 || told > len(runs[k]) {
				t.Fatalf("%+v after %d iterations, told %d times in %d calls", r, sum, told, len(runs[k]))
			}
		}
		if a, b := ends[0], ends[1]; !slices.Equal(runs[0], runs[1]) || !slices.Equal(a.X, b.X) || a.Bound != b.Bound || a.Nodes != b.Nodes {
			t.Errorf("%d calls, then %d; %+v, then %+v", len(runs[0]), len(runs[1]), a, b)
		}
	})
	t.Run("cancelled while counting", func(t *testing.T) { // nothing waits for an answer then
		ctx, cancel := context.WithCancel(context.Background())
		if r, err := highs.Solve(ctx, m, milp.Options{Count: func(int64) bool { cancel(); return false }}); err != nil || r.Status != milp.Interrupted {
			t.Fatalf("status %v, error %v, want interrupted", r.Status, err)
		}
	})
	t.Run("node limit", func(t *testing.T) {
		if r := solve(t, m, milp.Options{NodeLimit: 1}); r.Status != milp.NodeLimit {
			t.Fatalf("status %v, want node limit", r.Status)
		}
	})
	t.Run("gap", func(t *testing.T) {
		m := knapsack(30)
		r := solve(t, m, milp.Options{Gap: 0.5})
		if r.Status != milp.Optimal || !(r.Gap <= 0.5) {
			t.Fatalf("status %v, gap %v", r.Status, r.Gap)
		}
	})
}

func knapsack(n int) *milp.Model {
	m := &milp.Model{Maximise: true}
	var terms []milp.Term
	for j := range n {
		m.AddVar(milp.Var{Upper: 1, Cost: float64(10 + j*7%13), Integer: true})
		terms = append(terms, milp.Term{Var: j, Coef: float64(9 + j*5%11)})
	}
	m.AddRow("", math.Inf(-1), float64(5*n), terms...)
	return m
}

func TestStart(t *testing.T) {
	require.HiGHS(t)
	m := hard()
	start := make([]float64, len(m.Vars))
	for i, r := range m.Rows { // all zero, the deficit in the slack
		start[45+2*i] = r.Lower
	}
	want := m.Objective(start)
	r := solve(t, m, milp.Options{Start: start, NodeLimit: 1})
	if !r.Feasible || r.Objective > want+1e-6 {
		t.Errorf("objective %v, the start has %v", r.Objective, want)
	}
	require.Refused(t, "a start of the wrong length",
		require.Err(highs.Solve(context.Background(), m, milp.Options{Start: start[:3]})), milp.ErrInvalid, "")
}

func TestBadModelsAndOptions(t *testing.T) {
	require.HiGHS(t)
	ctx := context.Background()
	require.Refused(t, "error",
		require.Err(highs.Solve(ctx, &milp.Model{Vars: []milp.Var{{Lower: 2, Upper: 1}}}, milp.Options{})),
		milp.ErrInvalid, "")
	if _, err := highs.Solve(ctx, &milp.Model{}, milp.Options{Gap: -1}); err == nil {
		t.Error("a negative gap gives no error")
	}
}

// Nothing is written to the process's standard output or error.
func TestSilent(t *testing.T) {
	require.HiGHS(t)
	r, w := require.Pair(os.Pipe())(t)
	saved := map[int]int{}
	for _, fd := range []int{1, 2} {
		saved[fd] = require.Value(syscall.Dup(fd))(t)
		require.OK(t, syscall.Dup3(int(w.Fd()), fd, 0))
	}
	solve(t, knapsack(20), milp.Options{})
	var lines []string
	solve(t, knapsack(20), milp.Options{Log: func(s string) { lines = append(lines, s) }})
	for fd, old := range saved {
		syscall.Dup3(old, fd, 0)
		syscall.Close(old)
	}
	w.Close()
	if out, _ := io.ReadAll(r); len(out) != 0 {
		t.Errorf("HiGHS printed %q", out)
	}
	if !strings.Contains(strings.Join(lines, "\n"), "Solving") {
		t.Errorf("the log has no solving report: %q", lines)
	}
}

// Six models that HiGHS 1.10 calls optimal with a wrong value while its symmetry
// detection is on: VCSched instances of our own generator, with the true optimum
// (best_min_yield, on which three other solvers agree).
func TestSymmetryCases(t *testing.T) {
	require.HiGHS(t)
	files, _ := filepath.Glob(filepath.Join("testdata", "symmetry", "*.json"))
	require.Is(t, 6, len(files), "files")
	for _, f := range files {
		data := require.Value(os.ReadFile(f))(t)
		var in struct {
			Hosts int
			Jobs  []struct{ CPU, Memory float64 }
			Best  float64 `json:"best_min_yield"`
		}
		require.OK(t, json.Unmarshal(data, &in))
		m := &milp.Model{}
		load := m.AddVar(milp.Var{Upper: inf, Cost: 1})
		cpu, mem := make([][]milp.Term, in.Hosts), make([][]milp.Term, in.Hosts)
		for range in.Jobs {
			var one []milp.Term
			for range in.Hosts {
				one = append(one, milp.Term{Var: m.AddVar(milp.Var{Upper: 1, Integer: true}), Coef: 1})
			}
			m.AddRow("", 1, 1, one...)
		}
		for i, j := range in.Jobs {
			for h := range in.Hosts {
				e := 1 + i*in.Hosts + h
				cpu[h], mem[h] = append(cpu[h], milp.Term{Var: e, Coef: j.CPU}), append(mem[h], milp.Term{Var: e, Coef: j.Memory})
			}
		}
		for h := range in.Hosts {
			m.AddRow("", math.Inf(-1), 0, append(cpu[h], milp.Term{Var: load, Coef: -1})...)
			m.AddRow("", math.Inf(-1), 1, mem[h]...)
		}
		if testing.Short() && len(in.Jobs) > 10 {
			continue
		}
		r := solve(t, m, milp.Options{})
		if r.Status != milp.Optimal || math.Abs(min(1, 1/r.Objective)-in.Best) > 1e-6 {
			t.Errorf("%s: %v with yield %v, want %v", filepath.Base(f), r.Status, 1/r.Objective, in.Best)
		}
	}
}

// The output of WriteMPS and WriteLP is read back as the same model.
func TestWritersReadBack(t *testing.T) {
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(8, 8))
	dir := t.TempDir()
	models := []*milp.Model{}
	for range require.Rounds(100) {
		models = append(models, randomMILP(rng))
	}
	for name := range conformance {
		m := conformance[name].model
		if len(m.Vars) > 0 {
			models = append(models, &m)
		}
	}
	for k, m := range models {
		want := solve(t, m, milp.Options{})
		for ext, write := range map[string]func(io.Writer) error{"mps": m.WriteMPS, "lp": m.WriteLP} {
			file := filepath.Join(dir, fmt.Sprintf("m%d.%s", k, ext))
			f := require.Value(os.Create(file))(t)
			require.OK(t, errors.Join(write(f), f.Close()))
			got, err := highs.SolveFile(context.Background(), file, milp.Options{})
			require.OK(t, err, ext)
			if ext == "mps" && m.Maximise {
				got.Objective = -got.Objective // MPS minimises always
			}
			if got.Status != want.Status || want.Feasible && math.Abs(got.Objective-want.Objective) > 1e-6 {
				text, _ := os.ReadFile(file)
				t.Fatalf("%s: %v %v, want %v %v\n%s", ext, got.Status, got.Objective, want.Status, want.Objective, text)
			}
		}
	}
}

func BenchmarkTiny(b *testing.B) {
	m := knapsack(3)
	for b.Loop() {
		solve(b, m, milp.Options{})
	}
}
