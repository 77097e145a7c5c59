// SPDX-License-Identifier: MIT

//go:build !cgo || nohighs

package highs

import (
	"context"

	"github.com/gapwise/gapwise/model/milp"
)

// Built reports whether this program was built with HiGHS.
const Built = false

var missing = ErrNotBuilt

// Version is the version of the HiGHS library that is linked in; "" without one.
func Version() string { return "" }

func solve(context.Context, *milp.Model, milp.Options) (milp.Result, error) {
	return emptyResult(), ErrNotBuilt
}

func solveLanl(context.Context, *milp.Model, milp.Options) (milp.Result, error) {
	return emptyResult(), ErrNotBuilt
}

func solveFile(context.Context, string, milp.Options) (milp.Result, error) {
	return emptyResult(), ErrNotBuilt
}

// LP is a linear program that is solved repeatedly while columns are added. There is
// none without HiGHS.
type LP struct{}

// NewLP returns ErrNotBuilt.
func NewLP(*milp.Model) (*LP, error) { return nil, ErrNotBuilt }

// AddColumns returns ErrNotBuilt.
func (*LP) AddColumns([]Column) error { return ErrNotBuilt }

// Solve returns ErrNotBuilt.
func (*LP) Solve(context.Context) (milp.Result, error) { return emptyResult(), ErrNotBuilt }

// Close does nothing.
func (*LP) Close() {}
