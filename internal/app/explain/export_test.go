// SPDX-License-Identifier: MIT

package explain

import "github.com/gapwise/gapwise/model"

// Part is the instance of some jobs or requests that the search for a conflict asks about.
func Part(in model.Instance, keep []int) model.Instance {
	_, part := problems[in.Kind()].parts(in)
	return part(keep)
}
