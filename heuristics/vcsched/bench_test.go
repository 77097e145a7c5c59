// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// drawn is an instance of the paper's generator.
func drawn(t testing.TB, spec instances.VCSchedSpec) *model.VCSched {
	t.Helper()
	in := require.Value(spec.Generate())(t)
	return in
}

// spec is one of its specifications, with jobs of up to a number of tasks.
func spec(hosts, jobs, maxTasks int) instances.VCSchedSpec {
	return instances.VCSchedSpec{Hosts: hosts, Jobs: jobs, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.75, MaxTasks: maxTasks, Seed: 1}
}

func large(t testing.TB, hosts, jobs int) *model.VCSched {
	return drawn(t, spec(hosts, jobs, 1))
}

// BenchmarkMCB8 is the whole binary search, on the trees that MCB8 uses and on
// the plain lists that they replace. Plain lists take a quarter of a minute
// on the largest size and are left out there.
func BenchmarkMCB8(b *testing.B) {
	for _, size := range []struct{ hosts, jobs int }{{64, 100}, {64, 500}, {640, 5_000}, {2_000, 20_000}, {10_000, 100_000}} {
		in := large(b, size.hosts, size.jobs)
		u := view.OfVCSched(in)
		for _, lists := range []struct {
			name string
			make func(*view.VCSched, []int32) firstFit
		}{{"trees", newTreeList}, {"plain", newScanList}} {
			if lists.name == "plain" && size.hosts > 2_000 {
				continue
			}
			b.Run(fmt.Sprintf("hosts=%d/jobs=%d/%s", size.hosts, size.jobs, lists.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := searchYield(context.Background(), u, &mcbPacker{u: u, key: largerKey, sign: -1, newList: lists.make}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
