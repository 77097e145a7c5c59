// SPDX-License-Identifier: MIT

package features

import (
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Batch returns the features of an instance. O(jobs).
func Batch(b *model.Batch) []Feature {
	var size, runtime moments
	first, last, work, serial, capacity := 0.0, 0.0, 0.0, 0.0, float64(b.Processors)
	if len(b.Nodes) > 0 { // of the first resource
		capacity = float64(view.CapacityOf(b.Nodes, 0))
	}
	for i := range b.Jobs {
		j := &b.Jobs[i]
		if i == 0 {
			first, last = j.SubmitS, j.SubmitS
		}
		first, last = min(first, j.SubmitS), max(last, j.SubmitS)
		size.add(float64(j.Processes), 1)
		runtime.add(j.RuntimeS, 1)
		need := 1.0
		if j.Needs != nil {
			need = float64(j.Needs.Each[0])
		}
		work += float64(j.Processes) * need * j.RuntimeS
		if j.Processes == 1 {
			serial++
		}
	}
	unit := "number of processors"
	if len(b.Nodes) > 0 {
		unit = "number of nodes"
	}
	return []Feature{
		{"jobs", "", "number of jobs", float64(len(b.Jobs))},
		{"processors", "", unit, float64(b.Processors)},
		{"tiers", "", "tiers of the processors", float64(b.Tiers)},
		{"load", "", "requested processor-seconds (for nodes, of the first resource), divided by those available from first to last arrival", offered(work, capacity, first, last)},
		{"serial", "", "share of single-process jobs", serial / float64(len(b.Jobs))},
		{"mean_size", "", "mean number of processes", size.mean()},
		{"mean_runtime", "s", "mean runtime", runtime.mean()},
		{"migration_s", "s", "cost of a migration", b.MigrationS},
		{"threshold", "", "foreground use from which no process starts in the background", b.EffectiveThreshold()},
	}
}
