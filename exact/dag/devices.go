package dag

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
)

// deviceSet is a set of the search's devices that are switched off. None changes
// what is proved, only how soon: the optimum is the same without each of them and
// without all of them.
type deviceSet uint32

const (
	// Devices that drop states or tighten a bound. Each has its proof where it is
	// applied.
	devDominance deviceSet = 1 << iota
	devSymmetry
	devLoadBound
	devHeads
	devJoin
	devRelease
	devIndependent
	devTails
	devFork
	devAssignedLoad
	devOneMachine
	devAssignedPaths
	devIndependentBound
	// Devices that find schedules or a better order of the search, and phases.
	devEdgeOrder
	devLoadWeights
	devLocalSearch
	devBeams
	devAssignments
	devLevels
	endOfDevices

	droppingDevices = devEdgeOrder - 1
	allDevices      = endOfDevices - 1
)

// devices names them, in the order of their bits.
var devices = []struct {
	bit deviceSet
	exact.Device
}{
	{devDominance, exact.Device{Name: "dominance", Summary: "drops a partial schedule that is nowhere earlier than another of the same tasks"}},
	{devSymmetry, exact.Device{Name: "machine-symmetry", Summary: "of identical machines without tasks, only the first takes one"}},
	{devLoadBound, exact.Device{Name: "load-bound", Summary: "the machines' weighted remaining time holds the open tasks (dual bound of R|pmtn|Cmax)"}},
	{devHeads, exact.Device{Name: "head-propagation", Summary: "earliest starts of tasks behind open predecessors, on each machine"}},
	{devJoin, exact.Device{Name: "join-bound", Summary: "predecessors whose data can't arrive in time run on the task's own machine, one after another"}},
	{devRelease, exact.Device{Name: "machine-release", Summary: "a machine is free no earlier than the first open task can start there"}},
	{devIndependent, exact.Device{Name: "independent-tasks", Summary: "a dynamic program over load vectors completes states whose open tasks wait for machines alone (R||Cmax)"}},
	{devTails, exact.Device{Name: "tails", Summary: "longest paths to the end, each task on its best machine (PEFT's optimistic cost table)"}},
	{devFork, exact.Device{Name: "fork-bound", Summary: "successors that can't be done elsewhere in time run on the task's own machine, one after another"}},
	{devAssignedLoad, exact.Device{Name: "assignment-load", Summary: "the load bound of a partial assignment of tasks to machines"}},
	{devOneMachine, exact.Device{Name: "one-machine", Summary: "Jackson's preemptive bound for the tasks assigned to a machine (Carlier 1982)"}},
	{devAssignedPaths, exact.Device{Name: "assignment-paths", Summary: "longest paths of a partial assignment"}},
	{devIndependentBound, exact.Device{Name: "independent-tasks-bound", Summary: "the load bound within the dynamic program for independent tasks"}},
	{devEdgeOrder, exact.Device{Name: "edge-order", Summary: "assigns tasks joined by long transfers one after another"}},
	{devLoadWeights, exact.Device{Name: "load-weights", Summary: "weights of the load bound from the duals of a linear program, beside equal ones"}},
	{devLocalSearch, exact.Device{Name: "local-search", Summary: "simulated annealing before the search"}},
	{devBeams, exact.Device{Name: "beam-search", Summary: "the level search with few states per level, before the assignments"}},
	{devAssignments, exact.Device{Name: "assignment-search", Summary: "machines first, orders after, for one makespan after another from the bound up"}},
	{devLevels, exact.Device{Name: "level-search", Summary: "the exact search over partial schedules, level by level"}},
}

// Devices lists the parts of Search that Without can switch off.
func Devices() []exact.Device {
	all := make([]exact.Device, len(devices))
	for k, d := range devices {
		all[k] = d.Device
	}
	return all
}

// Without returns Search with the named devices switched off. It proves the same,
// later; without its phases it may leave a gap. An unknown name is an error that
// lists the known ones.
func Without(names ...string) (model.Solver, error) {
	s := Search{}
next:
	for _, name := range names {
		known := make([]string, len(devices))
		for k, d := range devices {
			if d.Name == name {
				s.off |= d.bit
				continue next
			}
			known[k] = d.Name
		}
		return nil, fmt.Errorf("the dag search has no device %q, it has %s", name, strings.Join(known, ", "))
	}
	return s, nil
}
