// SPDX-License-Identifier: MIT

package batch

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
)

// deviceSet is a set of the search's devices that are switched off. None changes
// what is proved, only how soon. The proof of each is where it is applied.
type deviceSet uint32

const (
	devActive    deviceSet = 1 << iota // tree.children
	devIdentical                       // tree.children
	devMemo                            // memo
	devMachine                         // remaining.machine
	devWidths                          // newTree
	devPrices                          // paid
	devLocal                           // improve
)

// devices names them, in the order of their bits. The workloads of the plan
// ablation-batch have hardly a job that two of them are about: without dual-feasible
// the drawn instances of TestDevices take 36 % more nodes, without identical-jobs 15 %.
var devices = []engine.Switch[deviceSet]{
	{Bit: devActive, Name: "active-schedules", Summary: "no start at or after a time by which another job could have ended (Giffler and Thompson 1960)"},
	{Bit: devIdentical, Name: "identical-jobs", Summary: "of equally long and wide jobs one that is submitted no later and weighs no less starts first"},
	{Bit: devMemo, Name: "dominance", Summary: "of partial schedules of the same jobs, those that another dominates are dropped"},
	{Bit: devMachine, Name: "squashed", Summary: "bound by the shortest remaining work first on one machine of the free processors (Schrage 1968)"},
	{Bit: devWidths, Name: "dual-feasible", Summary: "the same by dual-feasible functions of the widths (Fekete and Schepers 2001)"},
	{Bit: devPrices, Name: "prices", Summary: "bound by Lagrangian multipliers of the capacity, fixed at the root (Fisher 1973)"},
	{Bit: devLocal, Name: "local-search", Summary: "orders to start from: jobs are moved to other positions"},
}

// kernelDevices are those of Kernel. Its model says why each changes nothing.
var kernelDevices = []engine.Switch[deviceSet]{
	{Bit: devActive, Name: "supported-starts", Summary: "a job starts at its submission or at another's end"},
	{Bit: devIdentical, Name: "identical-jobs", Summary: "of equally long and wide jobs one that is submitted no later and weighs no less starts first"},
	{Bit: devPrices, Name: "prices", Summary: "bound by Lagrangian multipliers of the capacity, and starts beyond it refused (Kovács, Beck 2008)"},
	{Bit: devWidths, Name: "dual-feasible", Summary: "the same by dual-feasible functions of the widths (Fekete and Schepers 2001)"},
	{Bit: devLocal, Name: "local-search", Summary: "orders to start from: jobs are moved to other positions"},
}
