// SPDX-License-Identifier: MIT

//go:build !highs && !js

package highs

// handed returns the function that reads HiGHS.
func handed() (open func() ([]byte, error), missing error) { return find() }
