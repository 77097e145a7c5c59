// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// heavy draws instances of the generators with n jobs, tasks or requests, at loads at which
// those that wait become many.
var heavy = map[model.Kind][]func(rng *rand.Rand, n int) model.Instance{
	model.KindBatch:         {drawnBy("batch", "tiers=1 processors=128 load=0.9"), drawnBy("batch", "tiers=2 processors=128 load=0.9")},
	model.KindTVC:           {drawnBy("tvc", "load=0.9 k=16"), drawnBy("tvc", "load=0.9 k=16 queue=yes")},
	model.KindReservation:   {drawnBy("reservation", "")},
	model.KindDAG:           {drawnBy("dag", "machines=16")},
	model.KindVCSched:       {drawnBy("vcsched", "mean_cpu=0.1")},
	model.KindConsolidation: {drawnBy("consolidation", "")},
}

// drawnBy returns a function that draws an instance by the generator's parameters.
func drawnBy(kind model.Kind, parameters string) func(*rand.Rand, int) model.Instance {
	return func(rng *rand.Rand, n int) model.Instance {
		p, err := gapwise.ProblemOf(kind)
		if err != nil {
			panic(err)
		}
		values := map[string][]string{}
		for _, x := range strings.Fields(parameters) {
			key, value, _ := strings.Cut(x, "=")
			values[key] = []string{value}
		}
		set := func(key string, x any) { values[key] = []string{fmt.Sprint(x)} }
		switch kind {
		case model.KindBatch:
			set("jobs", n)
		case model.KindVCSched: // ten jobs to a host
			set("jobs", n)
			set("hosts", max(1, n/10))
		case model.KindConsolidation: // about twenty tasks to a host
			set("hosts", max(2, n/20))
		case model.KindDAG: // some ten edges to a task
			set("tasks", n)
			set("density", min(0.5, 900/float64(n)))
		default:
			set("requests", n)
		}
		specs, err := p.Generator.Grid(values, 1)
		if err != nil {
			panic(err)
		}
		x := instances.Nth(specs[0], 0, 1, rng.Uint64())
		in, err := x.Load()
		if err != nil {
			panic(err)
		}
		return in
	}
}
