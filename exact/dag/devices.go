// SPDX-License-Identifier: MIT

package dag

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
)

// deviceSet is a set of the search's devices that are switched off. None changes the proved result, only how soon it
// comes: the optimum is the same without each of them and without all of them. Each has its proof where it is applied.
type deviceSet uint32

const (
	devLoadRows deviceSet = 1 << iota
	devLoadWeights
	devWholeLoads
	devNoOverlap
	devCumulative
	devHint
	devLocalSearch
	devLinkWindows
	devLinkLoads
	endOfDevices

	// devStart is everything before the kernel, which then begins with all tasks on one machine.
	devStart = endOfDevices
	// devLinked are the devices that prove more under contention than without it.
	devLinked = endOfDevices << 1
	// devEnergy are windows of time with more work than room (cp.Cumulative.Energy), and devTogether is the room of all
	// machines together (dagmodel.Together), on machines that run several tasks at once. The table of ablation has no such
	// graphs. Of 34 (19 of WfInstances on four machines of 8 cores, 15 drawn) with 3M of effort the search proves 32 with
	// 4,489 nodes, without energy 32 with 24,646, and without the room together 30 with 80,799 and three times the gap.
	devEnergy   = endOfDevices << 2
	devTogether = endOfDevices << 3
	// devUnproved are the devices that a proof doesn't cover.
	devUnproved = devWholeLoads | devCumulative | devEnergy | devLinked
)

// devices names them, in the order of their bits.
var devices = []engine.Switch[deviceSet]{
	{Bit: devLoadRows, Name: "load-rows", Summary: "rows of the machines' weighted load in the constraint model (dual bound of R|pmtn|Cmax)"},
	{Bit: devLoadWeights, Name: "load-weights", Summary: "weights of the load rows from the duals of a linear program, in addition to equal ones"},
	{Bit: devWholeLoads, Name: "whole-loads", Summary: "a machine's room in a load row is rounded to a multiple of the costs' common divisor there (Chvátal 1973)"},
	{Bit: devNoOverlap, Name: "no-overlap", Summary: "all tasks of a machine in one constraint, instead of one for each pair (Vilím 2007)"},
	{Bit: devCumulative, Name: "cumulative", Summary: "identical machines without data as one cumulative, in turns with the model of machines and orders"},
	{Bit: devHint, Name: "hint", Summary: "machines and orders of the best schedule are tried first (Demirović, Chu, Stuckey 2018)"},
	{Bit: devLocalSearch, Name: "local-search", Summary: "simulated annealing before the search"},
	{Bit: devLinkWindows, Name: "link-windows", Summary: "under contention: in no time window must more data pass than a link can carry (Jackson 1955)"},
	{Bit: devLinkLoads, Name: "link-loads", Summary: "under contention: the remaining work of each link, in the programs of held transfers"},
}
