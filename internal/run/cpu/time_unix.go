// SPDX-License-Identifier: MIT

//go:build unix

package cpu

import (
	"syscall"
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
