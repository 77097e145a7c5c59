// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// drawn is an instance of the paper's generator.
func drawn(t testing.TB, spec instances.VCSchedSpec) *model.VCSched {
	t.Helper()
	in, err := spec.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// spec is one of its specifications, with jobs of up to a number of tasks.
func spec(hosts, jobs, maxTasks int) instances.VCSchedSpec {
	return instances.VCSchedSpec{Hosts: hosts, Jobs: jobs, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.75, MaxTasks: maxTasks, Seed: 1}
}

func large(t testing.TB, hosts, jobs int) *model.VCSched {
	return drawn(t, spec(hosts, jobs, 1))
}

// BenchmarkMCB8 is the whole binary search.
func BenchmarkMCB8(b *testing.B) {
	for _, size := range []struct{ hosts, jobs int }{{64, 100}, {64, 500}, {640, 5_000}, {2_000, 20_000}, {10_000, 100_000}} {
		u := view.OfVCSched(large(b, size.hosts, size.jobs))
		b.Run(fmt.Sprintf("hosts=%d/jobs=%d/trees", size.hosts, size.jobs), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := searchYield(context.Background(), u, packerOf(u, 8), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
