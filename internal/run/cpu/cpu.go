// SPDX-License-Identifier: MIT

// Package cpu measures the CPU time of this process. On a machine that others use as well it is more reliable than a
// clock.
package cpu
