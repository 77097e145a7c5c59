// SPDX-License-Identifier: MIT

package main

import "testing"

// A few instances of a plan are proved, and their proofs hold.
func TestProofs(t *testing.T) {
	t.Parallel()
	p := proofs("vcsched-small", "60000000", 10000)
	if p.Instances != 5 || p.Wrong+p.Refused+p.Open != 0 || p.Optimal != 5 || p.Steps == 0 || p.Bytes == 0 || p.Check <= 0 {
		t.Errorf("%+v", p)
	}
}
