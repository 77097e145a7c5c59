// SPDX-License-Identifier: MIT

package benchmarks

import (
	"fmt"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// planGenerator draws Count instances for every combination of its parameters'
// values. The parameters come from the problem's specification (package
// instances); an absent one has its default.
type planGenerator struct {
	problem *gapwise.Problem
	Kind    model.Kind
	Count   int
	Seed    uint64
	// Source says where to get the file that a parameter names.
	Source string
	// Values holds, as text, one or several values of each parameter.
	Values map[string][]string
}

// check checks the values and returns the number of instances.
func (g *planGenerator) check() (float64, error) {
	if g.Count < 1 {
		return 0, fmt.Errorf("count is %d, must be at least 1", g.Count)
	}
	file := false
	for _, x := range g.problem.Generator.Parameters() {
		if x.Required && len(g.Values[x.Key]) == 0 {
			return 0, fmt.Errorf("%s must be given: the %s", x.Key, x.Usage)
		}
		file = file || x.File && len(g.Values[x.Key]) > 0
	}
	if g.Source != "" && !file {
		return 0, fmt.Errorf("source goes with a parameter that names a file: it says where the file is to be had")
	}
	specs, err := g.problem.Generator.Grid(g.Values, maxInstances)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for _, s := range specs {
		n += float64(instances.Count(s, g.Count))
	}
	return n, nil
}

// files replaces each value of a parameter that names a file by the result of change.
func (g *planGenerator) files(change func(string) string) {
	for _, x := range g.problem.Generator.Parameters() {
		for k, text := range g.Values[x.Key] {
			if x.File {
				g.Values[x.Key][k] = change(text)
			}
		}
	}
}

// instances lists the instances. check comes first.
func (g *planGenerator) instances() ([]instances.Planned, error) {
	specs, err := g.problem.Generator.Grid(g.Values, maxInstances)
	if err != nil {
		return nil, err
	}
	var all []instances.Planned
	for _, s := range specs {
		for k := range instances.Count(s, g.Count) {
			all = append(all, instances.Nth(s, k, g.Count, g.Seed))
		}
	}
	return all, nil
}
