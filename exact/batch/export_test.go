// SPDX-License-Identifier: MIT

package batch

import "github.com/gapwise/gapwise/model"

// WithoutRows is the kernel without pooled resources on nodes.
func WithoutRows() model.Solver { return Kernel.Off(devRows) }
