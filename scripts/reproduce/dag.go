// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
)

// dagSetting is the part of the results of dag-1296 on one platform under one transfer
// model: HEFT and the network-aware HEFT on each graph and draw of costs.
type dagSetting struct {
	Title string
	runs  []runs.Record
}

// dagSettings reads the parts of the results, given as name and pattern of the
// instances' names in turn.
func (r *runner) dagSettings(file string, parts ...string) (all []dagSetting) {
	for k := 0; k+1 < len(parts); k += 2 {
		some := r.of(set{File: file, Pattern: parts[k+1]})
		if len(some) == 0 {
			panic(fmt.Errorf("%s has no instance %s", file, parts[k+1]))
		}
		all = append(all, dagSetting{parts[k], some})
	}
	return all
}

// dagMeans holds means over instances: makespans in seconds, and the round of the
// best.
type dagMeans struct{ Planned, Stretched, Best, Round float64 }

// Increase returns by how many percent contention lengthens HEFT's plans.
func (m dagMeans) Increase() float64 { return 100 * (m.Stretched/m.Planned - 1) }

// Decrease returns by how many percent the rounds shorten what HEFT realises.
func (m dagMeans) Decrease() float64 { return 100 * (1 - m.Best/m.Stretched) }

// All returns the means over all instances.
func (s dagSetting) All() dagMeans {
	return s.where(func(runs.Record) bool { return true })
}

var daggenName = regexp.MustCompile(`-d([0-9]+)-m[0-9]`)

// At returns the means over the instances with a value of a parameter. A jump J.K
// is jump J and the first, second or third third of its graphs, K being 1, 2 or 4.
func (s dagSetting) At(parameter, value string) dagMeans {
	third := 0
	if parameter == "jump" {
		jump, part, _ := strings.Cut(value, ".")
		value, third = jump, map[string]int{"1": 1, "2": 2, "4": 3}[part]
	}
	x := number(value)
	return s.where(func(r runs.Record) bool {
		if r.Params[parameter] != x || third == 0 {
			return r.Params[parameter] == x
		}
		m := daggenName.FindStringSubmatch(r.Instance)
		return m != nil && third == 1+int(number(m[1]))%12/4
	})
}

func (s dagSetting) where(has func(runs.Record) bool) dagMeans {
	t := must(runs.Tabulate(kept(s.runs, has), runs.TableOptions{Algorithms: []string{"heft", "network-aware"}, Columns: []string{"planned", "objective", "rounds"}}))
	heft, aware := t.Rows[0].Values, t.Rows[1].Values
	return dagMeans{Planned: heft[0], Stretched: heft[1], Best: aware[1], Round: aware[2]}
}

// met says whether a figure of ours, rounded as the printed one is, equals it.
func met(printed string, ours any) string {
	x := must(strconv.ParseFloat(fmt.Sprint(ours), 64))
	_, decimals, _ := strings.Cut(printed, ".")
	if strconv.FormatFloat(x, 'f', len(decimals), 64) == printed {
		return "met"
	}
	return "not met"
}

// makespans are the realised ones of a network-aware run's rounds.
func (r result) makespans() (all []float64) {
	for _, t := range r.Trace {
		all = append(all, number(t.Realistic.String()))
	}
	return all
}

// short rounds a figure to five digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

// Rounds lists the makespans of all rounds.
func (r result) Rounds() string {
	var all []string
	for _, x := range r.makespans() {
		all = append(all, short(x))
	}
	return strings.Join(all, " ")
}

// Best describes the best round.
func (r result) Best() string {
	all := r.makespans()
	best := slices.Min(all)
	return fmt.Sprintf("%s, at round %d", short(best), slices.Index(all, best)+1)
}

// Stretched returns the makespan of HEFT's plan under contention, the first round's.
func (r result) Stretched() string { return short(r.makespans()[0]) }

// Off returns by how many seconds both makespans of a network-aware run are off two
// printed ones.
func (r result) Off(stretched, best float64) float64 {
	return math.Abs(r.makespans()[0]-stretched) + math.Abs(number(r.Objective.String())-best)
}
