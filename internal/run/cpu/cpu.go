// SPDX-License-Identifier: MIT

// Package cpu tells the CPU time of this process. On a machine that
// others use as well it tells more than a clock.
package cpu
