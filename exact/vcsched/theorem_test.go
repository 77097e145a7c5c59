// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"fmt"
	"testing"

	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Theorem 1 reduces 3-Partition, numbers between B/4 and B/2 with a sum of H B, to
// minimum yield 1 on H hosts: CPU needs x/B and no memory.
func TestTheoremOne(t *testing.T) {
	const bound = 100
	for name, c := range map[string]struct {
		numbers []int
		want    bool
	}{
		"three triples of 100": {[]int{26, 34, 40, 27, 33, 40, 30, 32, 38}, true},
		"52 is no pair's sum":  {[]int{27, 27, 27, 33, 33, 33, 36, 36, 48}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := &model.VCSched{Name: "theorem", Hosts: len(c.numbers) / 3}
			for k, x := range c.numbers {
				in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(k), Tasks: 1, CPU: float64(x) / bound})
			}
			for _, e := range vcexact.Engines()[:2] {
				r := require.Value(e.Solver.Solve(t.Context(), in, model.Settings{}))(t)
				if r.Status != model.StatusOptimal || (r.Objective > 1-1e-6) != c.want {
					t.Errorf("%s: %s, yield %v; a partition exists: %v", e.Name, r.Status, r.Objective, c.want)
				}
			}
		})
	}
}
