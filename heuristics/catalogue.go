// Package heuristics is the catalogue of named algorithms. The algorithms live
// one folder down, by problem, as typed functions; the catalogue adapts them
// to model.Solver.
package heuristics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/model"
)

// Algorithm is one entry of the catalogue.
type Algorithm struct {
	Name       string     // as in --algorithm
	Kind       model.Kind // the problem that it solves
	Paper      string     // where it comes from, with the section
	Complexity string     // worst case, in the words of its doc comment
	Summary    string     // one line
	Exact      bool       // proves optimality when given time
	Seeded     bool       // draws random numbers from Settings.Seed
	Solver     model.Solver
}

// Adapt makes a model.Solver of a typed algorithm. The result carries the
// solution and its objective; model.ErrNoSolution becomes the status unknown. The
// time limit reaches the algorithm through its context.
func Adapt[I model.Instance, S model.Solution](name string, solve func(context.Context, I, model.Settings) (S, error)) model.Solver {
	return AdaptTraced(name, func(ctx context.Context, in I, set model.Settings) (S, []model.Round, error) {
		solution, err := solve(ctx, in, set)
		return solution, nil, err
	})
}

// AdaptTraced is Adapt for algorithms that tell what they saw on the way.
func AdaptTraced[I model.Instance, S model.Solution](name string, solve func(context.Context, I, model.Settings) (S, []model.Round, error)) model.Solver {
	return solver[I, S]{name, solve}
}

type solver[I model.Instance, S model.Solution] struct {
	name  string
	solve func(context.Context, I, model.Settings) (S, []model.Round, error)
}

func (s solver[I, S]) Name() string { return s.name }

func (s solver[I, S]) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.name, set.Seed)
	typed, ok := in.(I)
	if !ok {
		return r, fmt.Errorf("%s: %w: it doesn't solve %s instances", s.name, model.ErrUnsupported, in.Kind())
	}
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	start := time.Now()
	solution, trace, err := s.solve(ctx, typed, set)
	r.Elapsed, r.Trace = time.Since(start), trace
	switch {
	case errors.Is(err, model.ErrNoSolution):
		r.Reason = err.Error()
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%s: %w", s.name, err)
	}
	if ctx.Err() != nil {
		r.Reason = "stopped before its end"
	}
	return r, r.SetSolution(in, solution)
}

// Catalogue lists every heuristic, by problem, weakest first.
func Catalogue() []Algorithm {
	return slices.Concat(vcschedAlgorithms(), dagAlgorithms(), reservationAlgorithms())
}

const vcschedPaper = "Stillwell, Schanzenbach, Vivien, Casanova: Resource Allocation using Virtual Clusters"

func vcschedAlgorithms() []Algorithm {
	var all []Algorithm
	add := func(name, section, complexity, summary string, seeded bool, solve func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error)) {
		paper := "gapwise"
		if section != "" {
			paper = vcschedPaper + ", section " + section
		}
		all = append(all, Algorithm{Name: name, Kind: model.KindVCSched, Paper: paper, Complexity: complexity,
			Summary: summary, Seeded: seeded, Solver: Adapt(name, solve)})
	}
	const lp, pack = "a linear program of 2nH+1 variables", "O(log(1/precision) n log n) when the trees prune well"
	add("rrnd", "3.2", lp, "randomised rounding of the linear relaxation", true, vcsched.RRND)
	add("rrnz", "3.2", lp, "the same, with no host's probability zero", true, vcsched.RRNZ)
	add("gr", "3.3", "O(nH)", "greedy by least CPU load", false, vcsched.GR)
	add("sg", "3.3", "O(n log n + nH)", "greedy, tasks by decreasing memory", false, vcsched.SG)
	add("gb", "3.3", "O(500,000 H + nH)", "greedy with backtracking", false, vcsched.GB)
	add("sgb", "3.3", "O(500,000 H + nH)", "sorted greedy with backtracking", false, vcsched.SGB)
	for k, key := range []string{"sum, ascending", "difference, ascending", "ratio, ascending", "larger, ascending",
		"sum, descending", "difference, descending", "ratio, descending", "larger, descending"} {
		add(fmt.Sprintf("mcb%d", k+1), "3.4", pack, "multi-capacity bin packing by "+key, false, vcsched.MCBs[k+1])
	}
	add("anneal", "", "O(1) per step, 500,000 + 4,000 n steps", "local search on overloads towards the bound", true, vcsched.Anneal)
	return all
}

const dagPaper = "Yousaf, Welzl: Network-Aware HEFT Scheduling for Grid"

func dagAlgorithms() []Algorithm {
	var all []Algorithm
	add := func(name, paper, complexity, summary string, seeded bool, solve dag.Solver) {
		all = append(all, Algorithm{Name: name, Kind: model.KindDAG, Paper: paper, Complexity: complexity,
			Summary: summary, Seeded: seeded, Solver: AdaptTraced(name, solve)})
	}
	const topcuoglu, list = "Topcuoglu, Hariri, Wu: Performance-Effective and Low-Complexity Task Scheduling (2002)", "O(V log V + E + V M log V), uniform network"
	add("dls", "Sih, Lee: A Compile-Time Scheduling Heuristic (1993)", "O(V R M + E M), R ready tasks", "dynamic levels: task and machine chosen together", false, dag.DLS)
	add("cpop", topcuoglu, list, "critical path on one processor", false, dag.CPOP)
	add("heft", topcuoglu+"; "+dagPaper+", section 5.2", list, "earliest finish time by upward rank", false, dag.HEFT)
	add("peft", "Arabnejad, Barbosa: List Scheduling by an Optimistic Cost Table (2014)", "O(E M^2 + V M log V)", "finish time plus optimistic cost of the rest", false, dag.PEFT)
	add("lookahead", "Bittencourt, Sakellariou, Madeira: DAG Scheduling Using a Lookahead Variant of HEFT (2010)", "O(E M^2 log V), uniform network", "HEFT that looks at a task's children", false, dag.Lookahead)
	add("sinnen-sousa", "Sinnen, Sousa: Communication Contention in Task Scheduling (2005)", "O(E M P log E), routes of P links", "list scheduling of tasks and of transfers on links", false, dag.SinnenSousa)
	add("network-aware", dagPaper+", section 5.3", "50 rounds of HEFT and a replay", "HEFT again and again with realistic transfers", false, dag.NetworkAware)
	add("improve", "gapwise", "O(V + E log E) per step", "local search on the realistic makespan", true, dag.Improve)
	return all
}

const reservationPaper = "Li et al.: Resource Availability-Aware Advance Reservation for Parallel Jobs with Deadlines"

func reservationAlgorithms() []Algorithm {
	var all []Algorithm
	add := func(name, paper, complexity, summary string, solve reservation.Solver) {
		all = append(all, Algorithm{Name: name, Kind: model.KindReservation, Paper: paper, Complexity: complexity,
			Summary: summary, Solver: Adapt(name, solve)})
	}
	const plain, stretched = "O(log n + v PEs) per request, v records in its window", "O(log n + v n PEs) per request, v records in its window"
	const section = reservationPaper + ", section 5"
	names := map[string]string{"FF": "earliest start", "PE_B": "start with the fewest free PEs", "DU_B": "shortest availability rectangle",
		"PEDU_B": "smallest availability rectangle", "PE_W": "start with the most free PEs", "DU_W": "longest availability rectangle", "PEDU_W": "largest availability rectangle"}
	for _, p := range reservation.Policies {
		name := strings.ReplaceAll(strings.ToLower(p.Name), "_", "-")
		cost := plain
		if strings.HasPrefix(name, "du") || strings.HasPrefix(name, "pedu") {
			cost = stretched
		}
		add(name, section, cost, names[p.Name], p.Solver())
		if cost == stretched {
			add(name+"-open", section, cost, "the same, rectangles not cut at the deadline", p.Open().Solver())
		}
	}
	add("least-load", "gapwise", plain, "start with the fewest PE-seconds taken over the run", reservation.LeastLoad.Solver())
	add("selective", "gapwise", "O(n + v PEs) per request", "least-load that declines what is too large", reservation.Selective)
	add("moving", "gapwise", "O(v^3 + n^2) per request", "selective that may move what hasn't started", reservation.Moving)
	all = append(all, Algorithm{Name: "clairvoyant", Kind: model.KindReservation, Paper: "gapwise", Complexity: "O(w + log n) per step, w requests in a window",
		Summary: "local search that sees all requests at once", Seeded: true, Solver: Adapt("clairvoyant", reservation.Clairvoyant)})
	return all
}
