// Package cpu measures what benchmarks take of the processor. On a machine that
// others use as well it tells more than a clock.
package cpu

import (
	"syscall"
	"testing"
	"time"
)

// Time returns the CPU time of this process so far, its own and the kernel's for it.
func Time() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

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
