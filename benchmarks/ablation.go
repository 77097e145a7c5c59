// SPDX-License-Identifier: MIT

package benchmarks

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
)

// Each names one device after the other, see Plan.Without.
const Each = "each"

// Without returns the plan with some devices switched off in its native searches, kernels and portfolios
// (Problem.Search, Kernel, Portfolio). Each of these algorithms stays as it is with Each, followed by as many more as
// it has devices, each without one, labelled by WithoutLabel: an ablation. The error is model.ErrInvalid if no
// algorithm has devices, or if Each is asked for and the instances aren't all of one problem.
func (p *Plan) Without(devices []string) (*Plan, error) {
	if len(devices) == 0 {
		return p, nil
	}
	q := *p
	q.Algorithms = nil
	found := false
	for _, a := range p.Algorithms {
		engine := a.engine()
		if found = found || engine != ""; engine == "" || !slices.Contains(devices, Each) {
			if engine != "" {
				a.without = devices
			}
			q.Algorithms = append(q.Algorithms, a)
			continue
		}
		all, err := p.devices(engine)
		if err != nil {
			return nil, err
		}
		q.Algorithms = append(q.Algorithms, a)
		for _, d := range all {
			one := a
			one.Label, one.without = WithoutLabel(a.Label, d.Name), []string{d.Name}
			q.Algorithms = append(q.Algorithms, one)
		}
	}
	if !found {
		return nil, fmt.Errorf("%w plan: none of its algorithms is the native search, the kernel or auto, whose devices could be switched off", model.ErrInvalid)
	}
	return &q, nil
}

// WithoutLabel returns the label of an algorithm without a device.
func WithoutLabel(label, device string) string { return label + " without " + device }

// devices lists the devices of an engine for the plan's one problem.
func (p *Plan) devices(engine string) ([]exact.Device, error) {
	cases, err := p.Instances()
	if err != nil {
		return nil, err
	}
	kinds := kindsOf(cases)
	if len(kinds) > 1 {
		return nil, fmt.Errorf("%w plan: its instances are of %s and %s, whose devices differ", model.ErrInvalid, kinds[0], kinds[1])
	}
	problem, err := gapwise.ProblemOf(cases[0].Kind)
	if err != nil {
		return nil, err
	}
	if e := switchable(problem, engine); e != nil {
		return e.Devices(), nil
	}
	return nil, nil
}

// switchable returns the search, the kernel or the portfolio of a problem; nil if it has
// no devices.
func switchable(p *gapwise.Problem, engine string) exact.Switchable {
	switch engine {
	case "kernel":
		return p.Kernel
	case "auto":
		return p.Portfolio
	}
	return p.Search
}
