// SPDX-License-Identifier: MIT

// Package cpu measures what benchmarks take of the processor. On a machine that
// others use as well it tells more than a clock.
package cpu

import "testing"

// Run runs f b.N times and reports the CPU time per run, the garbage collector's
// included, as cpu-sec/op, beside what is allocated.
func Run(b *testing.B, f func()) {
	b.ReportAllocs()
	b.ResetTimer()
	start := Time()
	for range b.N {
		f()
	}
	b.ReportMetric((Time()-start).Seconds()/float64(b.N), "cpu-sec/op")
}
