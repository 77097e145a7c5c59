// SPDX-License-Identifier: MIT

package runs

import (
	"math"
	"slices"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/model"
)

// Param is a parameter by which runs are selected and tables grouped.
type Param struct {
	Key  string
	Unit string // empty for counts, shares and ratios
	Help string
	// Computed means that it is computed of any instance (gapwise.Problem.Features); else only instances of the
	// problem's generator have it.
	Computed bool
}

// ParamsOf returns the parameters of a problem: the computed ones of its instances, then the numbers that its generator
// alone knows. A generator's own number goes before a computed one of the same key.
func ParamsOf(p *gapwise.Problem) []Param {
	var all []Param
	for _, f := range p.Features(p.Kind.New()) {
		all = append(all, Param{f.Key, f.Unit, f.Usage, true})
	}
	for _, x := range p.Generator.Parameters() {
		if !x.Text && !slices.ContainsFunc(all, func(q Param) bool { return q.Key == x.Key }) {
			all = append(all, Param{Key: x.Key, Help: x.Usage})
		}
	}
	return all
}

// Params returns the keys of all problems' parameters, and "draw", the number of
// an instance among those that are drawn alike.
func Params() []string {
	var all []string
	for _, p := range gapwise.Problems() {
		for _, x := range ParamsOf(p) {
			if !slices.Contains(all, x.Key) {
				all = append(all, x.Key)
			}
		}
	}
	return append(all, "draw")
}

// Features returns the features of an instance.
func Features(in model.Instance) []features.Feature {
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return nil
	}
	return p.Features(in)
}

// FeatureValues returns the features of an instance that have a value, by key.
func FeatureValues(in model.Instance) map[string]float64 {
	all := map[string]float64{}
	for _, f := range Features(in) {
		if !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0) {
			all[f.Key] = f.Value
		}
	}
	return all
}
