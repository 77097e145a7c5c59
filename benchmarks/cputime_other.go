// SPDX-License-Identifier: MIT

//go:build !unix

package benchmarks

// cpuTime returns nil: the CPU time isn't known here.
func cpuTime() *float64 { return nil }
