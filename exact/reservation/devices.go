// SPDX-License-Identifier: MIT

package reservation

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
)

// switches is a set of devices of the search that are off. The proof of each is
// where it is applied.
type switches uint16

const (
	activeSchedules   switches = 1 << iota // expand
	identicalJobs                          // expand
	dominance                              // dominates
	lagrangianBound                        // propagate
	capacityReduction                      // reduceCapacity
	wholeValues                            // grainOf
	bothDirections                         // run, relaxation.reversed
	localSearch                            // run
	learning                               // turns
)

// devices are all of them, in the order of their bits.
var devices = []engine.Switch[switches]{
	{Bit: activeSchedules, Name: "active-schedules", Summary: "no start at or after a time by which another job could have ended (Giffler and Thompson 1960)"},
	{Bit: identicalJobs, Name: "identical-jobs", Summary: "of equal jobs that can start at one moment, the one due first goes first"},
	{Bit: dominance, Name: "dominance", Summary: "states that another of no less value dominates are dropped"},
	{Bit: lagrangianBound, Name: "lagrangian-bound", Summary: "states are bounded by relaxing the capacity (Geoffrion 1974)"},
	{Bit: capacityReduction, Name: "capacity-reduction", Summary: "PEs that no sum of the jobs' PEs can use count as in use (Boschetti and Mingozzi 2003)"},
	{Bit: wholeValues, Name: "whole-values", Summary: "bounds are rounded down to the common unit of the weights"},
	{Bit: bothDirections, Name: "both-directions", Summary: "the search runs backwards in time, too"},
	{Bit: localSearch, Name: "local-search", Summary: "the clairvoyant's local search looks for plans"},
	{Bit: learning, Name: "learning", Summary: "from the second round on, sweeps take turns with the learning kernel (Ohrimenko, Stuckey, Codish 2009)"},
}
