// SPDX-License-Identifier: MIT

package main

import (
	"path/filepath"

	"github.com/gapwise/gapwise/internal/app/runs"
)

// anytimeRow is a run of the plan anytime beside that of an older version on the same instance.
type anytimeRow struct {
	Instance            string
	Was, Is             float64 // primal integrals, in seconds
	WasFound, Found     float64 // objectives at the end
	WasProved, IsProved bool
}

// anytime runs the plan anytime and compares it with what a version left in
// benchmarks/baseline/anytime-VERSION.jsonl, to the better solution of the two.
func (r *runner) anytime(version string) []anytimeRow {
	now := r.records(r.benchAlone("anytime"))
	old := r.records(filepath.Join("benchmarks", "baseline", "anytime-"+version+".jsonl"))
	known := runs.Learn(append(old[:len(old):len(old)], now...), nil)
	var all []anytimeRow
	for k := range now {
		for j := range old {
			if a, b := &old[j], &now[k]; a.Hash == b.Hash {
				on, end := known[b.Hash], max(a.ElapsedS, b.ElapsedS)
				all = append(all, anytimeRow{Instance: b.Instance,
					Was: a.PrimalIntegral(end, on.Best), Is: b.PrimalIntegral(end, on.Best), WasFound: runs.Number(a.Objective), Found: runs.Number(b.Objective),
					WasProved: on.Optimal(runs.Number(a.Objective)), IsProved: on.Optimal(runs.Number(b.Objective))})
			}
		}
	}
	return all
}
