package reservation

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
)

// switches is a set of devices of the search that are off. The proof of each is
// where it is applied.
type switches uint16

const (
	activeSchedules   switches = 1 << iota // expand
	identicalJobs                          // expand
	dominance                              // dominates
	lagrangianBound                        // propagate
	reducedCostFixing                      // propagate
	capacityReduction                      // reduceCapacity
	wholeValues                            // grainOf
	gapTargets                             // improve
	perJobMultipliers                      // bound
	linearProgram                          // bound
	bothDirections                         // run, relaxation.reversed
	quickBounds                            // run
	localSearch                            // run
)

// devices are all of them, in the order of their bits.
var devices = []exact.Device{
	{Name: "active-schedules", Summary: "no start at or after a time by which another job could have ended (Giffler and Thompson 1960)"},
	{Name: "identical-jobs", Summary: "of equal jobs that can start at one moment, the one due first goes first"},
	{Name: "dominance", Summary: "states that another of no less value dominates are dropped"},
	{Name: "lagrangian-bound", Summary: "states are bounded by relaxing the capacity (Geoffrion 1974)"},
	{Name: "reduced-cost-fixing", Summary: "jobs that only completions below the target start are declined"},
	{Name: "capacity-reduction", Summary: "PEs that no sum of the jobs' PEs can use count as in use (Boschetti and Mingozzi 2003)"},
	{Name: "whole-values", Summary: "bounds are rounded down to the common unit of the weights"},
	{Name: "gap-targets", Summary: "plans better by less than half the gap limit aren't looked for"},
	{Name: "per-job-multipliers", Summary: "multipliers of each job's own, with a knapsack for each cell (Dantzig and Wolfe 1960; Barahona and Anbil 2000)"},
	{Name: "linear-program", Summary: "multipliers of up to 150 jobs by column generation, else by subgradients"},
	{Name: "both-directions", Summary: "the search runs backwards in time, too"},
	{Name: "quick-bounds", Summary: "bounds by areas, energies and flows"},
	{Name: "local-search", Summary: "the clairvoyant's local search looks for plans"},
}

// Devices lists the devices of Search.
func Devices() []exact.Device { return append([]exact.Device(nil), devices...) }

// Without returns Search with the named devices switched off. It proves the
// same, later. An unknown name is an error that lists the known ones.
func Without(names ...string) (model.Solver, error) {
	s := Search{}
	for _, name := range names {
		known, bit := []string{}, switches(0)
		for k, d := range devices {
			known = append(known, d.Name)
			if d.Name == name {
				bit = 1 << k
			}
		}
		if bit == 0 {
			return nil, fmt.Errorf("the reservation search has no device %q, it has %s", name, strings.Join(known, ", "))
		}
		s.off |= bit
	}
	return s, nil
}
