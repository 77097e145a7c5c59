// SPDX-License-Identifier: MIT

package batch

import "github.com/gapwise/gapwise/model"

// WithoutRows returns the kernel without pooled resources on nodes.
func WithoutRows() model.Solver { return Kernel.Off(devRows) }

// SetMostPlacing sets the steps of a search for nodes, and returns what they were.
func SetMostPlacing(most int) (before int) {
	before, mostPlacing = mostPlacing, most
	return before
}
