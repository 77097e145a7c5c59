package reservation

import "github.com/gapwise/gapwise/exact"

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
	quickBounds                            // run
	localSearch                            // run
	learning                               // turns
)

// devices are all of them, in the order of their bits.
var devices = []exact.Switch[switches]{
	{Bit: activeSchedules, Device: exact.Device{Name: "active-schedules", Summary: "no start at or after a time by which another job could have ended (Giffler and Thompson 1960)"}},
	{Bit: identicalJobs, Device: exact.Device{Name: "identical-jobs", Summary: "of equal jobs that can start at one moment, the one due first goes first"}},
	{Bit: dominance, Device: exact.Device{Name: "dominance", Summary: "states that another of no less value dominates are dropped"}},
	{Bit: lagrangianBound, Device: exact.Device{Name: "lagrangian-bound", Summary: "states are bounded by relaxing the capacity (Geoffrion 1974)"}},
	{Bit: capacityReduction, Device: exact.Device{Name: "capacity-reduction", Summary: "PEs that no sum of the jobs' PEs can use count as in use (Boschetti and Mingozzi 2003)"}},
	{Bit: wholeValues, Device: exact.Device{Name: "whole-values", Summary: "bounds are rounded down to the common unit of the weights"}},
	{Bit: bothDirections, Device: exact.Device{Name: "both-directions", Summary: "the search runs backwards in time, too"}},
	{Bit: quickBounds, Device: exact.Device{Name: "quick-bounds", Summary: "bounds by areas, energies and flows"}},
	{Bit: localSearch, Device: exact.Device{Name: "local-search", Summary: "the clairvoyant's local search looks for plans"}},
	{Bit: learning, Device: exact.Device{Name: "learning", Summary: "from the second round on, sweeps take turns with the learning kernel (Ohrimenko, Stuckey, Codish 2009)"}},
}
