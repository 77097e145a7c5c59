// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/gapwise/gapwise/instances"
)

// workload describes the requests at a UMed, on average over the draws of the plan.
type workload struct {
	UMed                 int
	Size, Duration, Load float64 // PEs, seconds, PE-seconds asked for over those there are
}

// workloads are those of several values of UMed.
type workloads struct {
	Rows []workload
	// Both mean size and mean duration rise from each UMed to the next: in how many
	// of the draws.
	Rising, Draws int
}

// reservationWorkload draws the requests of the plan reservation-size. The offered
// load is the PE-seconds asked for, over those available from the first arrival to
// the last.
func reservationWorkload() workloads {
	w := workloads{Draws: 20, Rows: make([]workload, 5)}
	for k := range w.Draws {
		rising, before := 1, workload{}
		for i := range w.Rows {
			row := &w.Rows[i]
			row.UMed = 5 + i
			spec := instances.NewReservationSpec()
			spec.UMed, spec.Index, spec.Seed = float64(row.UMed), k, 1
			in := must(spec.Generate())
			var one workload
			n, last := float64(len(in.Requests)), len(in.Requests)-1
			for _, q := range in.Requests {
				one.Size, one.Duration, one.Load = one.Size+float64(q.PEs)/n, one.Duration+q.DurationS/n, one.Load+q.DurationS*float64(q.PEs)
			}
			one.Load /= float64(in.PEs) * (in.Requests[last].ArrivalS - in.Requests[0].ArrivalS)
			if one.Size <= before.Size || one.Duration <= before.Duration {
				rising = 0
			}
			before = one
			draws := float64(w.Draws)
			row.Size, row.Duration, row.Load = row.Size+one.Size/draws, row.Duration+one.Duration/draws, row.Load+one.Load/draws
		}
		w.Rising += rising
	}
	return w
}

// slotGrowth runs BenchmarkGrowth, or takes what it has written since its package was
// changed, and returns by operation and by what grows ("find records") the exponents by
// which the CPU time of an operation grows, with the paper's list and with Availability:
// log(t'/t) over log(x'/x) for CPU times t and the measured figures x of two runs.
func slotGrowth() map[string]string {
	const folder = "heuristics/reservation"
	commit := must(output("git", "log", "-1", "--format=%h", "--", folder))
	return growthOf(once("results/reservation-growth-"+commit+".txt", func() string {
		return must(output("go", "test", "./"+folder, "-run", "^$", "-bench", "BenchmarkGrowth", "-benchtime", "1x"))
	}))
}

// growthOf reads what the benchmark prints.
func growthOf(text string) map[string]string {
	m := medians("growth", text)
	all := map[string]string{}
	for over, unit := range map[string]string{"records": "records", "window": "in-window", "PEs": "PEs"} {
		for _, op := range []string{"find", "find-du-b", "update"} {
			var exponents []string
			for _, list := range []string{"plain", "fast"} {
				var x, t [2]float64
				for k, larger := range []string{"false", "true"} {
					name := fmt.Sprintf("Growth/over=%s/larger=%s/op=%s/%s", over, larger, op, list)
					x[k] = m.Of(unit, name)
					t[k] = m.Of("cpu-sec/op", name)
				}
				exponents = append(exponents, fmt.Sprintf("%.2f", math.Log(t[1]/t[0])/math.Log(x[1]/x[0])))
			}
			all[op+" "+over] = strings.Join(exponents, ", ")
		}
	}
	return all
}
