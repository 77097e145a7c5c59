// SPDX-License-Identifier: MIT

package batch

import "github.com/gapwise/gapwise/model"

// KernelOnNodesWithout returns the kernel without pooled resources, or without nogoods about jobs alike.
func KernelOnNodesWithout(rows, alike bool) model.Solver {
	var off deviceSet
	if rows {
		off |= devRows
	}
	if alike {
		off |= devAlike
	}
	return Kernel.Off(off)
}
