// SPDX-License-Identifier: MIT

package vcsched

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
)

// deviceSet is a set of the search's devices that are switched off. None changes the proved result, only how soon it
// comes: the optimum is the same without any of them.
type deviceSet uint32

const (
	// Devices that drop subsets, states or loads. Each has its proof where it is
	// applied: partition, hostTree, vcbounds.Packing, vcbounds.Patterns.
	devMaximal deviceSet = 1 << iota
	devExchange
	devWaste
	devTwins
	devHosts
	devIncumbent
	devPacking
	devColumns
	// Devices that find placements or a better order of the search, and phases.
	devCover
	devProbing
	devLocalSearch
	devCompletion
	devMoves
	devLearning
)

// devices names them, in the order of their bits.
var devices = []engine.Switch[deviceSet]{
	{Bit: devMaximal, Name: "maximal-bins", Summary: "bin completion: a bin takes every remaining task that fits (Korf 2003)"},
	{Bit: devExchange, Name: "exchange-dominance", Summary: "bin completion: no remaining task could replace a smaller one in the bin (Martello, Toth 1990)"},
	{Bit: devWaste, Name: "waste-bound", Summary: "bin completion: bins waste no more of a resource than the tasks leave free (Korf 2003)"},
	{Bit: devTwins, Name: "task-symmetry", Summary: "host tree: equal tasks in the order of the hosts"},
	{Bit: devHosts, Name: "host-symmetry", Summary: "host tree: one of the hosts of equal load and memory"},
	{Bit: devIncumbent, Name: "incumbent-bound", Summary: "host tree: every host's load stays below the best largest load"},
	{Bit: devPacking, Name: "packing-bound", Summary: "cliques of conflicting tasks and dual-feasible functions (Fekete, Schepers 2001), in addition to the area"},
	{Bit: devColumns, Name: "column-generation", Summary: "bound by fractional covers with host patterns (Gilmore, Gomory 1961), and placements of these"},
	{Bit: devCover, Name: "pattern-cover", Summary: "integer covers by the patterns of the column generation (restricted master heuristic)"},
	{Bit: devProbing, Name: "load-probing", Summary: "bin completion at loads between the bounds, not only at the next better load (destructive bounds)"},
	{Bit: devLocalSearch, Name: "local-search", Summary: "simulated annealing on overloads, before and between the phases"},
	{Bit: devCompletion, Name: "bin-completion", Summary: "bin completion for up to 64 tasks; without it, the host tree"},
	{Bit: devMoves, Name: "priced-moves", Summary: "with a migration budget: bounds by host patterns that price moves (vcbounds.Moves)"},
	{Bit: devLearning, Name: "learning", Summary: "with a migration budget: the learning kernel and column generation, in turns with the host tree"},
}
