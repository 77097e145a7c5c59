// SPDX-License-Identifier: MIT

//go:build cgo && !nohighs

package gapwise_test

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise"
)

// Bounds need no search; the last is the strongest. (Patterns need HiGHS.)
func ExampleBounds() {
	all, err := gapwise.Bounds(context.Background(), threeJobs())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range all {
		fmt.Printf("%s %.4f\n", b.Name, b.Value)
	}
	// Output:
	// closed-form 1.0000
	// packing 0.9091
	// patterns 0.9091
}
