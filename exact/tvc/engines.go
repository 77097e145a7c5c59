// SPDX-License-Identifier: MIT

// Package tvc holds the exact engines for time-aware virtual clusters: a search
// of its own, HiGHS and the learning kernel.
package tvc

import (
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Engines lists the exact engines for TVC, the default first.
func Engines() []model.Algorithm {
	return []model.Algorithm{
		model.Engine(model.KindTVC, Search, "gapwise", "sets of requests, and embeddings of each set from the pods down; of a queue the order of ends"),
		model.Engine(model.KindTVC, Linear(highs.Backend), "gapwise", "HiGHS, a binary for each number of VMs below each link; loss mode"),
		model.Engine(model.KindTVC, Kernel, "Ohrimenko, Stuckey, Codish (2009)", "lazy clause generation on the parts of requests at servers, switches and lanes; loss mode"),
	}
}
