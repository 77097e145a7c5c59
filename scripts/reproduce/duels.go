// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
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

// cpsat and ours are the names of CP-SAT and of gapwise's algorithm exact, with its
// default engine, in duelsFile.
const cpsat, ours = "cp-sat", "default"

// duel is what the solvers did on the instances of a family.
type duel struct {
	Family    string
	Limit     float64
	Sense     string
	Instances int
	proved    map[string]int     // by solver, instances with a proof
	cpu       map[string]float64 // by solver, seconds
	ratios    float64            // sum of the logarithms of the ratios to CP-SAT's time
	False     []string           // instances on which a solution beats CP-SAT's bound
	Better    int                // open instances on which gapwise's solution is better than CP-SAT's, or the only one
	Worse     int                // ... CP-SAT's
}

func newDuel(family, sense string, limit float64) *duel {
	return &duel{Family: family, Limit: limit, Sense: sense, proved: map[string]int{}, cpu: map[string]float64{}}
}

// Proved counts the instances of which a solver proves the optimum. Claims of CP-SAT
// count if no solution refutes them.
func (d *duel) Proved(solver string) int { return d.proved[solver] }

// CPU returns a solver's CPU seconds on all instances.
func (d *duel) CPU(solver string) float64 { return d.cpu[solver] }

// Ratio returns the geometric mean of the ratios of gapwise's CPU time to CP-SAT's,
// both as counted.
func (d *duel) Ratio() float64 { return math.Exp(d.ratios / float64(d.Instances)) }

// counted returns the CPU time that a ratio takes: 10 ms at least, the limit at most,
// since a solver may notice the limit late.
func (d *duel) counted(cpu float64) float64 { return min(max(cpu, 0.01), d.Limit) }

// duels is what duelsFile says.
type duels struct {
	Families []*duel
	Versions map[string][]string // by solver
	Dates    []string
}

// Total sums up all families.
func (all *duels) Total() *duel {
	sum := newDuel("", "", 0)
	for _, d := range all.Families {
		sum.Instances, sum.Better, sum.Worse, sum.ratios = sum.Instances+d.Instances, sum.Better+d.Better, sum.Worse+d.Worse, sum.ratios+d.ratios
		for _, solver := range []string{ours, cpsat} {
			sum.proved[solver] += d.proved[solver]
			sum.cpu[solver] += d.cpu[solver]
		}
	}
	return sum
}

// side is what one solver did on one instance.
type side struct {
	optimal, witness      bool
	objective, bound, cpu float64
}

// readDuels reads duelsFile.
func readDuels() *duels { return duelsOf(string(must(os.ReadFile(duelsFile)))) }

// duelsOf reads rows of duelsFile. A verified solution of CP-SAT that beats a bound of gapwise is an error.
func duelsOf(text string) *duels {
	lines := must(csv.NewReader(strings.NewReader(text)).ReadAll())
	if len(lines) == 0 || !slices.Equal(lines[0], duelColumns) {
		panic(fmt.Errorf("%s has other columns than %q", duelsFile, duelColumns))
	}
	all := &duels{Versions: map[string][]string{}}
	type key struct{ family, instance string }
	sides, order, families := map[key]map[string]side{}, []key{}, map[string]*duel{}
	for _, l := range lines[1:] {
		k, solver, limit := key{l[0], l[1]}, l[4], number(l[3])
		d := families[k.family]
		if d == nil {
			d = newDuel(k.family, l[2], limit)
			families[k.family], all.Families = d, append(all.Families, d)
		}
		if sides[k] == nil {
			sides[k], order = map[string]side{}, append(order, k)
			d.Instances++
		}
		one := side{optimal: l[7] == "optimal", witness: l[8] != "" && l[11] == "yes", objective: number(cmp.Or(l[8], "0")), bound: number(l[9]), cpu: number(cmp.Or(l[10], "0"))}
		if _, twice := sides[k][solver]; twice || limit != d.Limit || l[2] != d.Sense || one.cpu <= 0 {
			panic(fmt.Errorf("%s: %s on %s: twice, with another limit or sense than its family, or without a time", duelsFile, solver, k.instance))
		}
		sides[k][solver] = one
		if !slices.Contains(all.Versions[solver], l[5]) {
			all.Versions[solver] = append(all.Versions[solver], l[5])
		}
		all.Dates = append(all.Dates, l[6])
	}
	for _, k := range order {
		families[k.family].add(k.instance, sides[k])
	}
	slices.Sort(all.Dates)
	all.Dates = slices.Compact(all.Dates)
	return all
}

// add counts an instance.
func (d *duel) add(instance string, sides map[string]side) {
	own, ran := sides[ours]
	peer, also := sides[cpsat]
	switch {
	case !ran || !also || len(sides) != 2:
		panic(fmt.Errorf("%s: %s needs a row of %s, one of %s and no other", duelsFile, instance, ours, cpsat))
	case peer.optimal && !peer.witness || own.optimal && !own.witness:
		panic(fmt.Errorf("%s: an optimum of %s has no witness", duelsFile, instance))
	}
	d.cpu[cpsat] += peer.cpu
	d.cpu[ours] += own.cpu
	d.ratios += math.Log(d.counted(own.cpu) / d.counted(peer.cpu))
	if peer.witness && d.better(peer.objective, own.bound) {
		panic(fmt.Errorf("%s: gapwise says that no solution of %s is better than %v, %s has a verified one of %v", duelsFile, instance, own.bound, cpsat, peer.objective))
	}
	switch {
	case own.witness && d.better(own.objective, peer.bound):
		d.False = append(d.False, instance)
	case peer.optimal:
		d.proved[cpsat]++
	case own.optimal:
	case own.witness && (!peer.witness || d.better(own.objective, peer.objective)):
		d.Better++
	case peer.witness && (!own.witness || d.better(peer.objective, own.objective)):
		d.Worse++
	}
	if own.optimal {
		d.proved[ours]++
	}
}

// better reports whether objective a is better than b by more than 10^-5 of it: for
// CP-SAT the needs of VCSched are rounded to 10^-6.
func (d *duel) better(a, b float64) bool {
	if d.Sense == "maximise" {
		a, b = -a, -b
	}
	return a < b-1e-5*math.Abs(b)
}
