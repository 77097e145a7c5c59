// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"runtime/debug"
)

// largeFile is the size in bytes from which on an input is large: of some 100,000 items.
const largeFile = 8 << 20

// beFrugal has garbage collected when the heap has grown by half since the last time, not by
// all of it, if a file is large: memory is what limits the largest instances, and what they
// are made of is quickly marked. GOGC, if set, says otherwise.
func beFrugal(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() >= largeFile && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
