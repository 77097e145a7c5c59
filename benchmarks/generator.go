package benchmarks

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// Generator draws Count instances for every combination of its parameters'
// values. The parameters are those of the problem's specification (package
// instances); an absent one has its default.
type Generator struct {
	Kind  model.Kind `yaml:"kind"`
	Count int        `yaml:"count"`
	Seed  uint64     `yaml:"seed"`
	// Source says where to get the file that a parameter names.
	Source string `yaml:"source"`
	// Values holds a value or a list of values for each parameter.
	Values map[string]yaml.Node `yaml:",inline"`

	lists map[string][]string // Values as text
}

// read reads the values as texts, checks them, and returns the number of
// instances.
func (g *Generator) read() (float64, error) {
	p, err := gapwise.ProblemOf(g.Kind)
	if err != nil {
		return 0, fmt.Errorf("kind is %q, must be one of %q", g.Kind, model.Kinds())
	}
	if g.Count < 1 {
		return 0, fmt.Errorf("count is %d, must be at least 1", g.Count)
	}
	g.lists = map[string][]string{}
	file := false
	for _, key := range slices.Sorted(maps.Keys(g.Values)) {
		node := g.Values[key]
		values := []*yaml.Node{&node}
		if node.Kind == yaml.SequenceNode {
			values = node.Content
		}
		for _, v := range values {
			text := v.Value
			if v.Kind != yaml.ScalarNode {
				return 0, fmt.Errorf("%s must be a value or a list of values", key)
			}
			if v.ShortTag() == "!!float" { // NaN and infinities have spellings of YAML's own
				var x float64
				if err := v.Decode(&x); err != nil {
					return 0, fmt.Errorf("%s is %q, must be a number", key, text)
				}
				text = fmt.Sprint(x)
			}
			g.lists[key] = append(g.lists[key], text)
		}
	}
	for _, x := range p.Generator.Parameters() {
		if x.Required && len(g.lists[x.Key]) == 0 {
			return 0, fmt.Errorf("%s must be given", x.Key)
		}
		file = file || x.File && len(g.lists[x.Key]) > 0
	}
	if g.Source != "" && !file {
		return 0, fmt.Errorf("source goes with a parameter that names a file: it says where the file is to be had")
	}
	specs, err := p.Generator.Grid(g.lists, maxInstances)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for _, s := range specs {
		n += float64(s.Count(g.Count))
	}
	return n, nil
}

// files replaces each value of a parameter that names a file by what change
// returns.
func (g *Generator) files(change func(string) string) {
	p, err := gapwise.ProblemOf(g.Kind)
	if err != nil {
		return
	}
	for _, x := range p.Generator.Parameters() {
		for k, text := range g.lists[x.Key] {
			if x.File {
				g.lists[x.Key][k] = change(text)
			}
		}
	}
}

// instances lists the instances. read comes first.
func (g *Generator) instances() ([]instances.Planned, error) {
	p, err := gapwise.ProblemOf(g.Kind)
	if err != nil {
		return nil, err
	}
	specs, err := p.Generator.Grid(g.lists, maxInstances)
	if err != nil {
		return nil, err
	}
	var all []instances.Planned
	for _, s := range specs {
		for k := range s.Count(g.Count) {
			all = append(all, s.Nth(k, g.Count, g.Seed))
		}
	}
	return all, nil
}
