// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
)

// duelsFile holds what gapwise and CP-SAT did on the same instances: a row for each
// instance and solver, written by the program that ran both. CP-SAT isn't run again
// here.
const duelsFile = "benchmarks/duels/cpsat.csv"

// duelColumns are the columns of duelsFile.
//
//   - instance: the command that draws it, or the graph and the number of machines;
//   - sense: minimise or maximise;
//   - limit_s, cpu_s: CPU seconds of one thread;
//   - objective: of the solver's solution as gapwise computes it; empty: none;
//   - witness: "yes" if gapwise verify accepts the solution with this objective.
var duelColumns = []string{"family", "instance", "sense", "limit_s", "solver", "version", "date", "status", "objective", "bound", "cpu_s", "witness"}

// cpsat is CP-SAT's name in duelsFile; the others are algorithms of gapwise.
const cpsat = "cp-sat"

// duel is what the solvers did on the instances of a family.
type duel struct {
	Family    string
	Limit     float64
	Sense     string
	Instances int
	sides     map[string]*tally // by solver
	False     []string          // instances that CP-SAT calls optimal though there is a better solution
	Better    int               // open instances on which gapwise's solution is better than CP-SAT's
	Worse     int               // ... worse
}

// tally sums up one solver.
type tally struct {
	proved, paired int     // instances with a proof, and with a ratio
	cpu, ratios    float64 // seconds; sum of the logarithms of the ratios to CP-SAT's time
}

func (d *duel) of(solver string) *tally {
	if d.sides[solver] == nil {
		d.sides[solver] = &tally{}
	}
	return d.sides[solver]
}

// Proved counts the instances of which a solver proves the optimum; for CP-SAT those
// of its claims that aren't refuted and whose solution was verified.
func (d *duel) Proved(solver string) int { return d.of(solver).proved }

// Engines returns the engines of gapwise that solved the family.
func (d *duel) Engines() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.sides)), func(s string) bool { return s == cpsat })
}

// CPU returns a solver's CPU seconds on all instances.
func (d *duel) CPU(solver string) float64 { return d.of(solver).cpu }

// Ratio returns the geometric mean of the ratios of a solver's CPU time to
// CP-SAT's, both as counted.
func (d *duel) Ratio(solver string) float64 {
	return math.Exp(d.of(solver).ratios / float64(d.of(solver).paired))
}

// counted returns the CPU time that a ratio takes: 10 ms at least, the limit at most,
// since a solver may notice the limit late.
func (d *duel) counted(cpu float64) float64 { return min(max(cpu, 0.01), d.Limit) }

// duels is what duelsFile says.
type duels struct {
	Families []*duel
	Versions map[string][]string // by solver
	Dates    []string
}

// side is what one solver did on one instance.
type side struct {
	optimal, solved, witness bool
	objective, cpu           float64
}

// readDuels reads duelsFile.
func readDuels() (*duels, error) {
	f, err := os.Open(duelsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return duelsOf(f)
}

// duelsOf reads rows of duelsFile. An instance of which two solvers prove what can't
// both be true is an error, unless it is CP-SAT that is refuted by a verified
// solution.
func duelsOf(r io.Reader) (*duels, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], duelColumns) {
		return nil, fmt.Errorf("%s has other columns than %q", duelsFile, duelColumns)
	}
	all := &duels{Versions: map[string][]string{}}
	type key struct{ family, instance string }
	sides, order, families := map[key]map[string]side{}, []key{}, map[string]*duel{}
	for _, l := range lines[1:] {
		k, solver, limit := key{l[0], l[1]}, l[4], number(l[3])
		d := families[k.family]
		if d == nil {
			d = &duel{Family: k.family, Limit: limit, Sense: l[2], sides: map[string]*tally{}}
			families[k.family], all.Families = d, append(all.Families, d)
		}
		if sides[k] == nil {
			sides[k], order = map[string]side{}, append(order, k)
			d.Instances++
		}
		one := side{optimal: l[7] == "optimal", solved: l[8] != "", witness: l[11] == "yes", objective: number(cmp.Or(l[8], "0")), cpu: number(cmp.Or(l[10], "0"))}
		if _, twice := sides[k][solver]; twice || limit != d.Limit || l[2] != d.Sense || one.cpu <= 0 {
			return nil, fmt.Errorf("%s: %s on %s: twice, with another limit or sense than its family, or without a time", duelsFile, solver, k.instance)
		}
		sides[k][solver] = one
		if !slices.Contains(all.Versions[solver], l[5]) {
			all.Versions[solver] = append(all.Versions[solver], l[5])
		}
		all.Dates = append(all.Dates, l[6])
	}
	for _, k := range order {
		if err := families[k.family].add(k.instance, sides[k]); err != nil {
			return nil, err
		}
	}
	slices.Sort(all.Dates)
	all.Dates = slices.Compact(all.Dates)
	return all, nil
}

// add counts an instance.
func (d *duel) add(instance string, sides map[string]side) error {
	peer, ok := sides[cpsat]
	switch {
	case !ok:
		return fmt.Errorf("%s: %s lacks %s", duelsFile, instance, cpsat)
	case peer.optimal && !peer.witness:
		return fmt.Errorf("%s: the optimum that %s claims of %s has no witness", duelsFile, cpsat, instance)
	}
	refuted, proved, ours := false, false, side{}
	for _, solver := range slices.Sorted(maps.Keys(sides)) {
		s, t := sides[solver], d.of(solver)
		t.cpu += s.cpu
		if solver == cpsat {
			continue
		}
		t.ratios += math.Log(d.counted(s.cpu) / d.counted(peer.cpu))
		t.paired++
		if s.solved && (!ours.solved || d.better(s.objective, ours.objective)) {
			ours = s
		}
		refuted = refuted || peer.optimal && s.solved && d.better(s.objective, peer.objective)
		if !s.optimal {
			continue
		}
		if peer.witness && d.better(peer.objective, s.objective) {
			return fmt.Errorf("%s: %s says that %v is the optimum of %s, %s has a verified solution of %v", duelsFile, solver, s.objective, instance, cpsat, peer.objective)
		}
		t.proved++
		proved = true
	}
	switch {
	case refuted:
		d.False = append(d.False, instance)
	case peer.optimal:
		d.of(cpsat).proved++
	case proved || !peer.witness || !ours.solved:
	case d.better(ours.objective, peer.objective):
		d.Better++
	case d.better(peer.objective, ours.objective):
		d.Worse++
	}
	return nil
}

// better reports whether objective a is better than b by more than 10^-5 of it: for
// CP-SAT the needs of VCSched are rounded to 10^-6.
func (d *duel) better(a, b float64) bool {
	if d.Sense == "maximise" {
		a, b = -a, -b
	}
	return a < b-1e-5*math.Abs(b)
}
