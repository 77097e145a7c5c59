// SPDX-License-Identifier: MIT

//go:build unix

package benchmarks

import "syscall"

// cpuTime returns the CPU time, in seconds, that this process and its ended children took so far; nil if it isn't
// known.
func cpuTime() *float64 {
	var sum float64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return nil
		}
		for _, t := range []syscall.Timeval{u.Utime, u.Stime} {
			sum += float64(t.Sec) + float64(t.Usec)/1e6
		}
	}
	return &sum
}
