package batch

import (
	"context"

	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

const source = "Liu et al.: FCFS, EASY, KEASY, REASY, MEASY"

// Algorithms lists the heuristics for Batch.
func Algorithms() []model.Algorithm {
	const backfilling = "O(log n) per event, O(waiting jobs) per pass at worst"
	var all []model.Algorithm
	for _, h := range []struct {
		name, paper, complexity, summary string
		run                              func(context.Context, *model.Batch, model.Settings) (*model.Execution, error)
	}{
		{"fcfs", source, "O(n log n)", "first come, first served: a job that doesn't fit blocks those behind it", FCFS},
		{"sjf", source, "O(n log n)", "shortest estimate first: a job that doesn't fit blocks those behind it", SJF},
		{"conservative", "Mu'alem, Feitelson: Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with Backfilling, 2001",
			"O(rounds · waiting jobs + jobs tried · profile steps) per early end", "backfilling that keeps a reservation for every job", Conservative},
		{"easy", "Lifka: The ANL/IBM SP Scheduling System, 1995", backfilling, "FCFS with backfilling that doesn't delay the head of the queue by the estimates", EASY},
		{"easy-sjbf", "Tsafrir et al.: Backfilling Using System-Generated Predictions Rather Than User Runtime Estimates, 2007", backfilling, "EASY that backfills the shortest estimate first", EASYSJBF},
		{"easy-saf", "gapwise", backfilling, "EASY that backfills the smallest area first, estimate times processes", EASYSAF},
	} {
		all = append(all, model.Algorithm{Name: h.name, Kind: model.KindBatch, Class: model.Online, Paper: h.paper, Complexity: h.complexity, Summary: h.summary, Traced: true,
			Solver: model.Adapt(h.name, h.run)})
	}
	return append(all, twoTier()...)
}

// onOneTier simulates a scheduler for one tier.
func onOneTier(ctx context.Context, in *model.Batch, set model.Settings, newScheduler func(*machine) scheduler) (*model.Execution, error) {
	t := view.OfBatch(in)
	s, err := newSimulation(t, set)
	if err != nil {
		return nil, err
	}
	if set.Trace != nil {
		s.machine.tracer = &tracer{in, set.Trace}
	}
	by := newScheduler(&s.machine)
	if by, ok := by.(interface{ check() error }); ok {
		if err := by.check(); err != nil {
			return nil, err
		}
	}
	return s.run(ctx, by).Execution(in, t, s.lengths)
}
