package audit

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// problem is what the audit knows of one problem. The functions are called with
// instances and solutions of this problem alone.
type problem struct {
	// draw makes an instance of a size from one of the problem's families. The
	// name of the instance tells its family.
	draw func(size, *rand.Rand) model.Instance
	// count returns the number of tasks, jobs or requests.
	count func(model.Instance) int
	// wants reports whether an engine other than the search runs on an instance
	// that isn't drawn for engines alone.
	wants func(engine string, s size, in model.Instance) bool
	// relations lists the relations to other instances.
	relations []relation
	// smaller yields instances that lack a part or have a figure of fewer digits,
	// larger parts first. They need not be valid.
	smaller func(model.Instance) iter.Seq[model.Instance]
	// forged returns a copy of a solution with an improvement that is probably
	// infeasible; nil where there is none to make.
	forged func(model.Instance, model.Solution, *rand.Rand) model.Solution
}

// problems holds what is audited.
var problems = map[model.Kind]problem{
	model.KindBatch:       audited(drawBatch, countBatch, wantsBatch, batchRelations(), smallerBatch, forgedExecution),
	model.KindDAG:         audited(drawDAG, countDAG, wantsDAG, dagRelations(), smallerDAG, forgedSchedule),
	model.KindReservation: audited(drawReservation, countReservation, wantsReservation, reservationRelations(), smallerReservation, forgedBookings),
	model.KindTVC:         audited(drawTVC, countTVC, wantsTVC, tvcRelations(), smallerTVC, forgedEmbeddings),
	model.KindVCSched:     audited(drawVCSched, (*model.VCSched).Tasks, wantsVCSched, vcschedRelations(), smallerVCSched, forgedPlacement),
}

// audited adapts what is known of a problem with instances of type I and solutions
// of type S. A nil solution of type S means that there is none to forge.
func audited[I model.Instance, S interface {
	comparable
	model.Solution
}](draw func(size, *rand.Rand) I, count func(I) int, wants func(string, size, I) bool, relations []relation,
	smaller func(I, func(I) bool), forged func(I, S, *rand.Rand) S) problem {
	return problem{
		draw:      func(s size, rng *rand.Rand) model.Instance { return draw(s, rng) },
		count:     func(in model.Instance) int { return count(in.(I)) },
		wants:     func(engine string, s size, in model.Instance) bool { return wants(engine, s, in.(I)) },
		relations: relations,
		smaller: func(in model.Instance) iter.Seq[model.Instance] {
			return func(yield func(model.Instance) bool) { smaller(in.(I), func(x I) bool { return yield(x) }) }
		},
		forged: func(in model.Instance, s model.Solution, rng *rand.Rand) model.Solution {
			var none S
			if x := forged(in.(I), s.(S), rng); x != none {
				return x
			}
			return nil
		},
	}
}

// Kinds returns the problems that are audited, in alphabetical order.
func Kinds() []model.Kind { return slices.Sorted(maps.Keys(problems)) }

// draw makes a valid instance of the problem and size.
func draw(kind model.Kind, s size, rng *rand.Rand) model.Instance {
	for {
		// Validate refuses some of the ugly figures, and rightly so.
		if in := problems[kind].draw(s, rng); in.Validate() == nil {
			return in
		}
	}
}

// atLeast12 reports whether an instance has 12 tasks, jobs or requests or more.
func atLeast12(in model.Instance) bool { return problems[in.Kind()].count(in) >= 12 }

func countDAG(in *model.DAG) int { return len(in.Tasks) }

func countReservation(in *model.Reservation) int { return len(in.Requests) }

func countTVC(in *model.TVC) int { return len(in.Requests) }

// wantsDAG and the functions of the other problems leave out that of which HiGHS
// proves nothing in time: large task graphs and fat-trees, formulations with a
// variable for each host.
func wantsDAG(_ string, s size, in *model.DAG) bool {
	return s == tiny || s == middle && len(in.Tasks)*len(in.Machines) <= 24
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
