// SPDX-License-Identifier: MIT

//go:build !js

package highs

import (
	"context"
	"os"
	"path/filepath"

	"github.com/gapwise/gapwise/model/milp"
)

// SolveFile solves a model that HiGHS reads from a file in the format of its extension (.mps, .lp), for tests of
// written files.
func SolveFile(ctx context.Context, file string, o milp.Options) (milp.Result, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return emptyResult(), err
	}
	return prepared(ctx, o, func(n *object) (err error) {
		n.content = content
		if err = n.do("Highs_readModel", filepath.Base(file)); err == nil {
			n.cols, err = n.call("Highs_getNumCol", n.highs)
		}
		return err
	}, &milp.Model{}, true)
}
