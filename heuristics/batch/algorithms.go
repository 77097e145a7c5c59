// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

const source = "Liu et al.: FCFS, EASY, KEASY, REASY, MEASY"

// Algorithms lists the heuristics for Batch.
func Algorithms() []model.Algorithm {
	const backfilling = "O(log n) per event, O(waiting jobs) per pass at worst"
	const twoTiers = "O(log n) per event and processor concerned, O(jobs not in the foreground) per pass at worst"
	const section = source + ", section "
	var all []model.Algorithm
	add := func(name, paper, complexity, summary string, policy func(context.Context, *model.Batch, model.Settings) (*model.Execution, error)) {
		all = append(all, model.Algorithm{Name: name, Kind: model.KindBatch, Class: model.Online, Paper: paper, Complexity: complexity, Summary: summary, Traced: name == "easy",
			Solver: run.OneShot(name, policy)})
	}
	add("fcfs", source, "O(n log n)", "first come, first served: a job that doesn't fit blocks those behind it", FCFS)
	add("sjf", source, "O(n log n)", "shortest estimate first: a job that doesn't fit blocks those behind it", SJF)
	add("conservative", "Mu'alem, Feitelson: Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with Backfilling, 2001",
		"O(rounds · waiting jobs + jobs tried · profile steps) per early end", "backfilling that keeps a reservation for every job", Conservative)
	add("easy", "Lifka: The ANL/IBM SP Scheduling System, 1995", backfilling, "FCFS with backfilling that doesn't delay the head of the queue by the estimates", EASY)
	add("easy-sjbf", "Tsafrir et al.: Backfilling Using System-Generated Predictions Rather Than User Runtime Estimates, 2007", backfilling, "EASY that backfills the shortest estimate first", EASYSJBF)
	add("easy-saf", "gapwise", backfilling, "EASY that backfills the smallest area first, estimate times processes", EASYSAF)
	add("keasy", section+"2.2", twoTiers, "EASY with SJF in the background; a job chosen for other processors is killed and restarted", KEASY)
	add("reasy", section+"2.3.1", twoTiers, "EASY with SJF in the background; jobs there are pinned to their processors", REASY)
	add("measy", section+"2.3.2", twoTiers, "EASY with SJF in the background; a job chosen for other processors is migrated", MEASY)
	add("peasy", "gapwise", twoTiers, "MEASY that backfills short jobs first; jobs in the background use the foreground of their processors while it is idle", PEASY)
	offline := func(name, paper, complexity, summary string, work func(*run.Run, *model.Batch) (*model.Execution, error)) {
		all = append(all, model.Algorithm{Name: name, Kind: model.KindBatch, Class: model.Offline, Paper: paper, Complexity: complexity, Summary: summary,
			Solver: run.Heuristic(name, work)})
	}
	const lists = "O(n log n), O(waiting jobs) per pass at worst"
	offline("spt", "Smith: Various Optimizers for Single-Stage Production, 1956", lists, "whatever fits starts, the shortest runtime first", spt)
	offline("list", "Graham: Bounds on Multiprocessing Timing Anomalies, 1969; gapwise", lists, "the best of twelve list schedules by runtime and width, with reservations and without", bestList)
	offline("rollout", "Bertsekas, Tsitsiklis, Wu: Rollout Algorithms for Combinatorial Optimization, 1997; gapwise", "O(waiting jobs) per event and rule", "a list schedule whose rule is chosen anew for every 25 jobs, by what each rule makes of the next 300", rollout)
	all[len(all)-1].Seeded = true
	offline("improve", "Burke, Bykov: The Late Acceptance Hill-Climbing Heuristic, 2017; gapwise", "O(window) per step", "local search over orders of jobs in windows, from rollout's schedule", improve)
	all[len(all)-1].Seeded = true
	return all
}

// ranked sorts the numbers 0 to n-1, ties by number, and returns them and the place of each.
func ranked(n int, order func(a, b int32) int) (at, place []int32) {
	at, place = make([]int32, n), make([]int32, n)
	for k := range at {
		at[k] = int32(k)
	}
	slices.SortFunc(at, func(a, b int32) int { return cmp.Or(order(a, b), cmp.Compare(a, b)) })
	for p, k := range at {
		place[k] = int32(p)
	}
	return at, place
}
