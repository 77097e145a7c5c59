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
func batchGaps(schedulers ...string) (string, error) {
	var text strings.Builder
	text.WriteString("| workload | jobs | figure | lower bound |")
	for _, name := range schedulers {
		fmt.Fprintf(&text, " %s |", name)
	}
	text.WriteString("\n|---|---:|---|---:|" + strings.Repeat("---:|", len(schedulers)) + "\n")
	all, err := batchGapInstances()
	if err != nil {
		return "", err
	}
	for _, in := range all {
		rows, err := batchGapsOf(in, schedulers)
		if err != nil {
			return "", err
		}
		text.WriteString(rows)
	}
	return text.String(), nil
}

// batchGapInstances returns the paper's two workloads and Lublin's model at three
// loads, and two logs.
func batchGapInstances() (all []*model.Batch, err error) {
	data, err := dataFolder()
	if err != nil {
		return nil, err
	}
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
			in, err := spec.Generate()
			if err != nil {
				return nil, err
			}
			in.Name = fmt.Sprintf("%s, load %g", w.name, load)
			all = append(all, in)
		}
	}
	for _, file := range []string{"KTH-SP2-1996-2.1-cln.swf.gz", "NASA-iPSC-1993-3.1-cln.swf.gz"} {
		name, _, _ := strings.Cut(file, "-")
		log, err := instances.LoadSWF(filepath.Join(data, "swf", file))
		if err != nil {
			return nil, err
		}
		spec := instances.NewBatchSpec()
		spec.Tiers, spec.Jobs = 1, 0
		in, _, err := instances.FromSWF(&spec, name, log, instances.SWFJobs{})
		if err != nil {
			return nil, err
		}
		all = append(all, in.(*model.Batch))
	}
	return all, nil
}

// batchGapsOf returns the rows of an instance.
func batchGapsOf(in *model.Batch, schedulers []string) (string, error) {
	ctx := context.Background()
	all, err := batchbounds.All(ctx, in)
	if err != nil {
		return "", err
	}
	ticks := view.OfBatch(in)
	low := [3]float64{0, batchbounds.Slowdown(ctx, ticks, 2, batchGapSteps).Value, batchbounds.MostSlowdown(ctx, ticks).Value}
	for _, b := range all {
		low[0] = max(low[0], b.Value)
	}
	figures := [3]string{"mean response time, s", "mean bounded slowdown", "largest bounded slowdown"}
	var rows [3]strings.Builder
	for i := range rows {
		fmt.Fprintf(&rows[i], "| %s | %d | %s | %.*f |", in.Name, len(in.Jobs), figures[i], []int{0, 3, 2}[i], low[i])
	}
	for _, name := range schedulers {
		r, err := gapwise.Solve(ctx, in, gapwise.Options{Algorithm: name, Settings: model.Settings{Seed: 1}})
		if err != nil {
			return "", err
		}
		outcomes, err := in.Outcomes(r.Solution)
		if err != nil {
			return "", err
		}
		largest := 0.0
		for k := range outcomes {
			largest = max(largest, outcomes[k].Slowdown())
		}
		for i, x := range []float64{r.Objective, r.SecondObjective, largest} {
			if gap := 100 * (x/low[i] - 1); gap < 1000 {
				fmt.Fprintf(&rows[i], " %.1f %% |", gap)
			} else {
				fmt.Fprintf(&rows[i], " %.0f times |", x/low[i])
			}
		}
	}
	return rows[0].String() + "\n" + rows[1].String() + "\n" + rows[2].String() + "\n", nil
}
