package vcsched

import "github.com/gapwise/gapwise/exact"

// deviceSet is a set of the search's devices that are switched off. None changes
// what is proved, only how soon: the optimum is the same without any of them.
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
var devices = []exact.Switch[deviceSet]{
	{Bit: devMaximal, Device: exact.Device{Name: "maximal-bins", Summary: "bin completion: a bin takes every task left that fits (Korf 2003)"}},
	{Bit: devExchange, Device: exact.Device{Name: "exchange-dominance", Summary: "bin completion: no task left could replace a smaller one in the bin (Martello, Toth 1990)"}},
	{Bit: devWaste, Device: exact.Device{Name: "waste-bound", Summary: "bin completion: what bins waste of a resource is at most what the tasks leave of it (Korf 2003)"}},
	{Bit: devTwins, Device: exact.Device{Name: "task-symmetry", Summary: "host tree: equal tasks in the order of the hosts"}},
	{Bit: devHosts, Device: exact.Device{Name: "host-symmetry", Summary: "host tree: one of the hosts of equal load and memory"}},
	{Bit: devIncumbent, Device: exact.Device{Name: "incumbent-bound", Summary: "host tree: every host's load stays below the best largest load"}},
	{Bit: devPacking, Device: exact.Device{Name: "packing-bound", Summary: "cliques of conflicting tasks and dual-feasible functions (Fekete, Schepers 2001), beside the area"}},
	{Bit: devColumns, Device: exact.Device{Name: "column-generation", Summary: "bound by fractional covers with host patterns (Gilmore, Gomory 1961), and placements of these"}},
	{Bit: devCover, Device: exact.Device{Name: "pattern-cover", Summary: "integer covers by the patterns of the column generation (restricted master heuristic)"}},
	{Bit: devProbing, Device: exact.Device{Name: "load-probing", Summary: "bin completion at loads between the bounds, not at the next better one alone (destructive bounds)"}},
	{Bit: devLocalSearch, Device: exact.Device{Name: "local-search", Summary: "simulated annealing on overloads, before and between the phases"}},
	{Bit: devCompletion, Device: exact.Device{Name: "bin-completion", Summary: "bin completion for up to 64 tasks; without it, the host tree"}},
	{Bit: devMoves, Device: exact.Device{Name: "priced-moves", Summary: "with a migration budget: bounds by host patterns that price moves (vcbounds.Moves)"}},
	{Bit: devLearning, Device: exact.Device{Name: "learning", Summary: "with a migration budget: the learning kernel and column generation, in turns with the host tree"}},
}
