// SPDX-License-Identifier: MIT

package audit

import (
	"math/rand/v2"
	"reflect"
	"slices"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// problem holds the audit's functions for one problem. The functions are called with instances and solutions of this
// problem alone.
type problem struct {
	// draw makes an instance of a size from one of the problem's families. The name of the instance names its family.
	draw func(size, *rand.Rand) model.Instance
	// count returns the number of tasks, jobs or requests.
	count func(model.Instance) int
	// wants reports whether an engine other than the search runs on an instance
	// that isn't drawn for engines alone.
	wants func(engine string, s size, in model.Instance) bool
	// relations lists the relations to other instances.
	relations []relation
	// tidy changes a copy that lacks elements from, ..., to - 1 of a list, a field of the
	// instance, so that nothing speaks of them.
	tidy func(in, c model.Instance, list string, from, to int)
	// simpler changes an instance so that it becomes smaller, in ways other than its elements and figures.
	simpler []func(model.Instance)
	// forged returns a copy of a solution with an improvement that is probably
	// infeasible; nil where there is none to make.
	forged func(model.Instance, model.Solution, *rand.Rand) model.Solution
}

// problems holds the problems with families of their own.
var problems = map[model.Kind]problem{
	model.KindBatch: audited(drawBatch, func(b *model.Batch) int { return len(b.Jobs) }, wantsBatch, forgedExecution,
		batchRelations, noTidying, narrowerBatch, plainBatch, batchFromZero),
	model.KindConsolidation: audited(drawConsolidation, (*model.Consolidation).Tasks, wantsConsolidation, forgedAssignment,
		consolidationRelations, tidyConsolidation, oneTaskOfEach, withoutLabels),
	model.KindDAG: audited(drawDAG, func(d *model.DAG) int { return len(d.Tasks) }, wantsDAG, forgedSchedule,
		dagRelations, tidyDAG, oneTaskAtATime, oneNeedEach),
	model.KindReservation: audited(drawReservation, func(r *model.Reservation) int { return len(r.Requests) }, wantsReservation, forgedBookings,
		reservationRelations, noTidying, reservationFromZero, narrowerReservation),
	model.KindTVC: audited(drawTVC, func(v *model.TVC) int { return len(v.Requests) }, wantsTVC, forgedEmbeddings,
		tvcRelations, noTidying, tvcFromZero, func(c *model.TVC) { c.FatTree.K -= 2 }, func(c *model.TVC) { c.FatTree.Fabric = model.FabricNonBlocking }),
	model.KindVCSched: audited(drawVCSched, (*model.VCSched).Tasks, wantsVCSched, forgedPlacement,
		vcschedRelations, tidyVCSched, oneHostLess, oneTaskEach),
}

// audited adapts the functions of a problem with instances of type I and solutions of type S. A nil solution of type S
// means that there is none to forge.
func audited[I model.Instance, S interface {
	comparable
	model.Solution
}](draw func(size, *rand.Rand) I, count func(I) int, wants func(string, size, I) bool, forged func(I, S, *rand.Rand) S,
	relations []relation, tidy func(in, c I, list string, from, to int), simpler ...func(I)) problem {
	p := problem{
		draw:      func(s size, rng *rand.Rand) model.Instance { return draw(s, rng) },
		count:     func(in model.Instance) int { return count(in.(I)) },
		wants:     func(engine string, s size, in model.Instance) bool { return wants(engine, s, in.(I)) },
		relations: relations,
		tidy:      func(in, c model.Instance, list string, from, to int) { tidy(in.(I), c.(I), list, from, to) },
		forged: func(in model.Instance, s model.Solution, rng *rand.Rand) model.Solution {
			var none S
			if x := forged(in.(I), s.(S), rng); x != none {
				return x
			}
			return nil
		},
	}
	for _, f := range simpler {
		p.simpler = append(p.simpler, func(in model.Instance) { f(in.(I)) })
	}
	return p
}

// Kinds returns the problems that are audited, all that gapwise knows, in alphabetical
// order.
func Kinds() (kinds []model.Kind) {
	for _, p := range gapwise.Problems() {
		kinds = append(kinds, p.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

// problemOf returns the audit's functions for a problem. One that has no families here is audited on the small
// instances of its generator, without relations and forged solutions.
func problemOf(kind model.Kind) problem {
	if p, ok := problems[kind]; ok {
		return p
	}
	return problem{
		draw: func(_ size, rng *rand.Rand) model.Instance { return drawSmall(kind, rng) },
		count: func(in model.Instance) (n int) {
			fields := reflect.ValueOf(in).Elem()
			for k := range fields.NumField() {
				if f := fields.Field(k); f.Kind() == reflect.Slice {
					n = max(n, f.Len())
				}
			}
			return n
		},
		wants:  func(string, size, model.Instance) bool { return true },
		tidy:   func(_, _ model.Instance, _ string, _, _ int) {},
		forged: func(model.Instance, model.Solution, *rand.Rand) model.Solution { return nil },
	}
}

// drawSmall draws an instance by the values of its specification that are tagged small; some of these don't go
// together.
func drawSmall(kind model.Kind, rng *rand.Rand) model.Instance {
	p, err := gapwise.ProblemOf(kind)
	if err != nil {
		panic(err) // Run has asked
	}
	for {
		values := map[string][]string{}
		for _, x := range p.Generator.Parameters() {
			if len(x.Small) > 0 {
				values[x.Key] = []string{x.Small[rng.IntN(len(x.Small))]}
			}
		}
		specs, err := p.Generator.Grid(values, 1)
		if err != nil {
			panic(err) // a wrong tag
		}
		if in, err := instances.Nth(specs[0], 0, 1, rng.Uint64()).Load(); err == nil {
			return in
		}
	}
}

// atLeast12 reports whether an instance has 12 tasks, jobs or requests or more.
func atLeast12(in model.Instance) bool { return problemOf(in.Kind()).count(in) >= 12 }

// wantsDAG and the functions of the other problems leave out instances on which HiGHS proves nothing in time: large
// task graphs, fat-trees and queues, formulations with a variable for each host.
func wantsDAG(_ string, s size, in *model.DAG) bool {
	return s == tiny || s == middle && len(in.Tasks)*len(in.Machines) <= 24
}

func wantsConsolidation(engine string, s size, in *model.Consolidation) bool {
	return s <= middle || engine != "highs" && in.Tasks() <= 30
}

func wantsReservation(engine string, s size, _ *model.Reservation) bool {
	return s == tiny || engine == "highs"
}

func wantsTVC(_ string, s size, in *model.TVC) bool {
	return s == tiny || s == middle && in.FatTree.K <= 4
}

func wantsVCSched(engine string, s size, in *model.VCSched) bool {
	return s == tiny || engine == "highs" && in.Tasks() <= 24
}

func wantsBatch(_ string, s size, _ *model.Batch) bool { return s <= middle }
