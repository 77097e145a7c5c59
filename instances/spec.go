// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/model"
)

// Spec specifies random instances of one problem: BatchSpec, DAGSpec, ReservationSpec, TVCSpec or VCSchedSpec. It is a
// pointer to a struct with tags that describe its parameters (package params).
type Spec interface {
	nth(k, draws int, seed uint64) Planned
	checkKeys(given map[string]bool) error
}

// counter is implemented by a Spec that has more instances than draws.
type counter interface{ count(draws int) int }

// Count returns the number of a specification's instances for a number of draws:
// draws, or draws for each graph of a file of graphs.
func Count(s Spec, draws int) int {
	if c, ok := s.(counter); ok {
		return c.count(draws)
	}
	return draws
}

// Nth returns instance number k of a specification, from 0 to Count - 1.
func Nth(s Spec, k, draws int, seed uint64) Planned { return s.nth(k, draws, seed) }

// CheckKeys reports what is wrong with the set of parameters given: some go together.
func CheckKeys(s Spec, given map[string]bool) error { return s.checkKeys(given) }

// Planned is an instance that is drawn or read when it is needed.
type Planned struct {
	Name   string
	Kind   model.Kind
	Params map[string]float64 // values of its parameters, by key; "draw" is Index
	Index  int                // number of the draw, from 0
	Load   func() (model.Instance, error)
	// Try finds what is wrong with the specification, by an instance that may be smaller than Load's.
	Try func() error
}

func newPlanned[I model.Instance](spec any, name string, index int, load func() (I, error)) Planned {
	numbers := params.Numbers(spec)
	numbers["draw"] = float64(index)
	var none I
	c := Planned{Name: name, Kind: none.Kind(), Params: numbers, Index: index, Load: func() (model.Instance, error) { return load() }}
	c.Try = func() error {
		_, err := load()
		return err
	}
	return c
}

// Generator makes the specifications of one problem, with their defaults.
type Generator func() Spec

// GeneratorOf makes a Generator of a function that returns a specification.
func GeneratorOf[T any, P interface {
	*T
	Spec
}](spec func() T) Generator {
	return func() Spec {
		s := spec()
		return P(&s)
	}
}

// NewVCSchedSpec returns the specification with its defaults.
func NewVCSchedSpec() VCSchedSpec { return *params.SetDefaults(&VCSchedSpec{}) }

// NewDAGSpec returns the specification with its defaults.
func NewDAGSpec() DAGSpec { return *params.SetDefaults(&DAGSpec{}) }

// NewReservationSpec returns the specification with the paper's defaults:
// 10,000 requests, UMed 7, arrival factor 1, flexibility {3, 3}, 1,024 PEs.
func NewReservationSpec() ReservationSpec { return *params.SetDefaults(&ReservationSpec{}) }

// Parameters lists the parameters of the specifications.
func (g Generator) Parameters() []params.Param { return params.Of(g()) }

// Grid returns the specifications for every combination of the parameters' values, the first parameter varying slowest;
// at most limit. A missing key means its single default. The error says which key is wrong, and is the caller's to
// wrap.
func (g Generator) Grid(values map[string][]string, limit int) ([]Spec, error) {
	known, given, size := g.Parameters(), map[string]bool{}, 1.0
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(known, func(p params.Param) bool { return p.Key == key }) {
			var keys []string
			for _, p := range known {
				keys = append(keys, p.Key)
			}
			return nil, fmt.Errorf("there is no parameter %q, give one of %s", key, strings.Join(keys, ", "))
		}
		if n := len(values[key]); n > 0 {
			given[key] = true
			size *= float64(n)
		}
	}
	if size > float64(limit) {
		return nil, fmt.Errorf("the lists make %.0f combinations, at most %d are allowed", size, limit)
	}
	all := []Spec{g()}
	for _, p := range known {
		if !given[p.Key] {
			continue
		}
		var more []Spec
		for _, s := range all {
			for _, text := range values[p.Key] {
				one := reflect.New(reflect.TypeOf(s).Elem())
				one.Elem().Set(reflect.ValueOf(s).Elem())
				if err := p.Set(one.Interface(), text); err != nil {
					return nil, fmt.Errorf("%s %w", p.Key, err)
				}
				more = append(more, one.Interface().(Spec))
			}
		}
		all = more
	}
	for _, s := range all {
		if err := s.checkKeys(given); err != nil {
			return nil, err
		}
	}
	return all, nil
}
