package dag

import (
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
	devLearning
	// Those of the engine kernel.
	devLoadRows
	devNoOverlap
	devHint
	endOfDevices

	kernelModelDevices = devLoadRows | devNoOverlap | devHint
	droppingDevices    = devEdgeOrder - 1
	allDevices         = endOfDevices - 1
)

// devices names them, in the order of their bits.
var devices = []exact.Switch[deviceSet]{
	{Bit: devDominance, Device: exact.Device{Name: "dominance", Summary: "drops a partial schedule that is nowhere earlier than another of the same tasks"}},
	{Bit: devSymmetry, Device: exact.Device{Name: "machine-symmetry", Summary: "of identical machines without tasks, only the first takes one"}},
	{Bit: devLoadBound, Device: exact.Device{Name: "load-bound", Summary: "the machines' weighted remaining time holds the open tasks (dual bound of R|pmtn|Cmax)"}},
	{Bit: devHeads, Device: exact.Device{Name: "head-propagation", Summary: "earliest starts of tasks behind open predecessors, on each machine"}},
	{Bit: devJoin, Device: exact.Device{Name: "join-bound", Summary: "predecessors whose data can't arrive in time run on the task's own machine, one after another"}},
	{Bit: devRelease, Device: exact.Device{Name: "machine-release", Summary: "a machine is free no earlier than the first open task can start there"}},
	{Bit: devIndependent, Device: exact.Device{Name: "independent-tasks", Summary: "a dynamic program over load vectors completes states whose open tasks wait for machines alone (R||Cmax)"}},
	{Bit: devTails, Device: exact.Device{Name: "tails", Summary: "longest paths to the end, each task on its best machine (PEFT's optimistic cost table)"}},
	{Bit: devFork, Device: exact.Device{Name: "fork-bound", Summary: "successors that can't be done elsewhere in time run on the task's own machine, one after another"}},
	{Bit: devAssignedLoad, Device: exact.Device{Name: "assignment-load", Summary: "the load bound of a partial assignment of tasks to machines"}},
	{Bit: devOneMachine, Device: exact.Device{Name: "one-machine", Summary: "Jackson's preemptive bound for the tasks assigned to a machine (Carlier 1982)"}},
	{Bit: devAssignedPaths, Device: exact.Device{Name: "assignment-paths", Summary: "longest paths of a partial assignment"}},
	{Bit: devIndependentBound, Device: exact.Device{Name: "independent-tasks-bound", Summary: "the load bound within the dynamic program for independent tasks"}},
	{Bit: devEdgeOrder, Device: exact.Device{Name: "edge-order", Summary: "assigns tasks joined by long transfers one after another"}},
	{Bit: devLoadWeights, Device: exact.Device{Name: "load-weights", Summary: "weights of the load bound from the duals of a linear program, beside equal ones"}},
	{Bit: devLocalSearch, Device: exact.Device{Name: "local-search", Summary: "simulated annealing before the search"}},
	{Bit: devBeams, Device: exact.Device{Name: "beam-search", Summary: "the level search with few states per level, before the assignments"}},
	{Bit: devAssignments, Device: exact.Device{Name: "assignment-search", Summary: "machines first, orders after, for one makespan after another from the bound up"}},
	{Bit: devLevels, Device: exact.Device{Name: "level-search", Summary: "the exact search over partial schedules, level by level"}},
	{Bit: devLearning, Device: exact.Device{Name: "learning", Summary: "the learning kernel, in turns with the phases, before the first of them (Ohrimenko, Stuckey, Codish 2009)"}},
	{Bit: devLoadRows, Device: exact.Device{Name: "load-rows", Summary: "kernel: rows of the machines' weighted load in the constraint model (dual bound of R|pmtn|Cmax)"}},
	{Bit: devNoOverlap, Device: exact.Device{Name: "no-overlap", Summary: "kernel: all tasks of a machine in one constraint, not each two of them alone (Vilim 2007)"}},
	{Bit: devHint, Device: exact.Device{Name: "hint", Summary: "kernel: machines and orders of the best schedule are tried first (Demirovic, Chu, Stuckey 2018)"}},
}

// Devices lists the parts of Search that Without can switch off.
func Devices() []exact.Device { return exact.DevicesOf(devices) }

// Without returns Search with the named devices switched off. It proves the same,
// later; without its phases it may leave a gap. An unknown name is an error that
// lists the known ones.
func Without(names ...string) (model.Solver, error) {
	off, err := exact.BitsOf("dag", devices, names)
	return Search{off: off}, err
}
