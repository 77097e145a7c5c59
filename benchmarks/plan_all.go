// SPDX-License-Identifier: MIT

package benchmarks

import (
	"errors"
	"slices"

	gapwise "github.com/gapwise/gapwise"
)

// allName means, in a plan, every algorithm of the instances' problems.
const allName = "all"

// expand replaces the algorithm "all" by all algorithms, each with its settings, except those that the plan names with
// settings of their own.
func (p *Plan) expand() error {
	at := slices.IndexFunc(p.Algorithms, func(a Algorithm) bool { return a.Name == allName })
	if at < 0 {
		return nil
	}
	all := p.Algorithms[at]
	if all.Label != allName || all.Engine != "" || all.Formulation != "" || len(all.Parameters) > 0 {
		return errors.New("the algorithm all takes time_limit, effort, gap, threads, sample and only, nothing else")
	}
	rest := slices.Delete(slices.Clone(p.Algorithms), at, at+1)
	if slices.ContainsFunc(rest, func(a Algorithm) bool { return a.Name == allName }) {
		return errors.New("the algorithm all is there twice")
	}
	var some []Algorithm
	for _, kind := range p.kinds() {
		for _, a := range gapwise.Algorithms(kind) {
			named := func(b Algorithm) bool { return b.Label == a.Name }
			if slices.ContainsFunc(some, named) || slices.ContainsFunc(rest, named) {
				continue
			}
			one := all
			one.Name, one.Label, one.ofAll = a.Name, a.Name, true
			some = append(some, one)
		}
	}
	p.Algorithms = slices.Insert(rest, at, some...)
	return nil
}
