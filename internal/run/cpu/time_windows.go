// SPDX-License-Identifier: MIT

package cpu

import (
	"syscall"
	"time"
)

// Time returns the CPU time of this process so far, its own and the kernel's for it.
func Time() time.Duration {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		return 0
	}
	return spent(kernel) + spent(user)
}

// spent converts a span of time, which Windows counts in units of 100 ns. (Filetime.Nanoseconds is for dates.)
func spent(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
