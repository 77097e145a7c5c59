// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// batchGapSteps is how many subgradient steps the bounds of slowdowns take.
const batchGapSteps = 20

// batchGaps returns a Markdown table: a row for each workload of 20,000 jobs, or log,
// on one tier, with the best bounds of three figures, and by how many percent, or
// from 1,000 % on how many times, each scheduler is above them.
func batchGaps(schedulers ...string) string {
	var text strings.Builder
	text.WriteString("| workload | jobs | figure | lower bound |")
	for _, name := range schedulers {
		fmt.Fprintf(&text, " %s |", name)
	}
	text.WriteString("\n|---|---:|---|---:|" + strings.Repeat("---:|", len(schedulers)) + "\n")
	for _, in := range batchGapInstances() {
		text.WriteString(batchGapsOf(in, schedulers))
	}
	return text.String()
}

// batchGapInstances returns the paper's two workloads and Lublin's model at three
// loads, and two logs.
func batchGapInstances() (all []*model.Batch) {
	data := dataFolder()
	for _, w := range []struct {
		name, model                  string
		serial, meanSize, meanLength float64
	}{{"FWload", "feitelson", 0.18, 23.4, 2606.6}, {"JWload", "jann", 0.408, 10.5, 11267}, {"Lublin", "lublin", 0, 0, 0}} {
		for _, load := range []float64{0.5, 0.7, 0.9} {
			spec := instances.NewBatchSpec()
			spec.Model, spec.Jobs, spec.Tiers, spec.Load, spec.Seed = w.model, 20_000, 1, load, 1
			if w.serial > 0 {
				spec.Serial, spec.MeanSize, spec.MeanRuntime = w.serial, w.meanSize, w.meanLength
			}
			in := must(spec.Generate())
			in.Name = fmt.Sprintf("%s, load %g", w.name, load)
			all = append(all, in)
		}
	}
	for _, file := range []string{"KTH-SP2-1996-2.1-cln.swf.gz", "NASA-iPSC-1993-3.1-cln.swf.gz"} {
		name, _, _ := strings.Cut(file, "-")
		log := must(instances.LoadLog(filepath.Join(data, "swf", file), instances.LogOptions{}))
		spec := instances.NewBatchSpec()
		spec.Tiers, spec.Jobs = 1, 0
		in, _, err := instances.FromSWF(&spec, name, log, instances.SWFJobs{})
		check(err)
		all = append(all, in.(*model.Batch))
	}
	return all
}

// batchGapsOf returns the rows of an instance.
func batchGapsOf(in *model.Batch, schedulers []string) string {
	ctx := context.Background()
	ticks := view.OfBatch(in)
	low := [3]float64{0, batchbounds.Slowdown(ctx, ticks, 2, batchGapSteps).Value, batchbounds.MostSlowdown(ctx, ticks).Value}
	for _, b := range must(batchbounds.All(ctx, in)) {
		low[0] = max(low[0], b.Value)
	}
	figures := [3]string{"mean response time, s", "mean bounded slowdown", "largest bounded slowdown"}
	var rows [3]strings.Builder
	for i := range rows {
		fmt.Fprintf(&rows[i], "| %s | %d | %s | %.*f |", in.Name, len(in.Jobs), figures[i], []int{0, 3, 2}[i], low[i])
	}
	for _, name := range schedulers {
		r := must(gapwise.Solve(ctx, in, gapwise.Options{Algorithm: name, Settings: model.Settings{Seed: 1}}))
		largest := 0.0
		for _, o := range must(in.Outcomes(r.Solution)) {
			largest = max(largest, o.Slowdown())
		}
		for i, x := range []float64{r.Objective, r.SecondObjective, largest} {
			if gap := 100 * (x/low[i] - 1); gap < 1000 {
				fmt.Fprintf(&rows[i], " %.1f %% |", gap)
			} else {
				fmt.Fprintf(&rows[i], " %.0f times |", x/low[i])
			}
		}
	}
	return rows[0].String() + "\n" + rows[1].String() + "\n" + rows[2].String() + "\n"
}
