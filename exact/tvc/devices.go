// SPDX-License-Identifier: MIT

package tvc

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
)

// deviceSet is a set of the search's devices that are switched off. None changes the proved result, only how soon it
// comes.
type deviceSet uint32

const (
	devMemo deviceSet = 1 << iota
	devSymmetry
	devLook
	devRestarts
	devConstruct
	devMultipliers
	devRelaxation
	devPatterns
	devQueueOrder
)

// devices names them, in the order of their bits.
var devices = []engine.Switch[deviceSet]{
	{Bit: devMemo, Name: "memo", Summary: "it is decided only once whether a pod or an edge switch can hold a collection of parts"},
	{Bit: devSymmetry, Name: "symmetry", Summary: "among subtrees in the same state, the first gets the largest part; only one of the unused lanes is tried"},
	{Bit: devLook, Name: "forward-checking", Summary: "every later request must have room by itself; the one with the least room comes next (Haralick, Elliott 1980)"},
	{Bit: devRestarts, Name: "restarts", Summary: "embeddings of a set are searched in several random orders first (Gomes, Selman, Kautz 1998)"},
	{Bit: devConstruct, Name: "construction", Summary: "sets to start from: requests by reduced weight, weight and density, as far as they fit"},
	{Bit: devMultipliers, Name: "multipliers", Summary: "bound by Lagrangian multipliers of slots and links at every instant"},
	{Bit: devRelaxation, Name: "relaxation", Summary: "bound by the linear relaxation, solved at every node that the multipliers leave"},
	{Bit: devPatterns, Name: "patterns", Summary: "cuts of the relaxation by the sets that servers can hold at an instant (Gilmore, Gomory 1961)"},
	{Bit: devQueueOrder, Name: "queue-order", Summary: "if two requests of a queue can take each other's place, the earlier and shorter one ends first"},
}
