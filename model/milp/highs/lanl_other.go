// SPDX-License-Identifier: MIT

//go:build !native

package highs

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// errNative is the error of Lanl in a build without it.
var errNative = fmt.Errorf("%w: this gapwise is built without lanl, a native HiGHS: make native builds one, see docs/how-to/install.md", model.ErrUnsupported)

// Lanl is HiGHS by github.com/lanl/highs, in a build with the tag native.
var Lanl = milp.Backend{Name: "lanl", Title: "HiGHS (lanl/highs)", Missing: func() error { return errNative },
	Solve: func(context.Context, *milp.Model, milp.Options) (milp.Result, error) { return emptyResult(), errNative }}

func nativeVersion() string { return "" }
