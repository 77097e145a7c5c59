// SPDX-License-Identifier: MIT

package batch

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
)

// deviceSet is a set of the search's devices that are switched off. None changes the proved result, only how soon it
// comes. The proof of each is where it is applied.
type deviceSet uint32

const (
	devActive    deviceSet = 1 << iota // tree.children
	devIdentical                       // tree.children
	devMemo                            // memo
	devPrices                          // paid
	devLocal                           // improved, of the kernel
	devOrder                           // tiers.Search.Unordered
	devBusy                            // tiers.Search.Unsquashed
	devPaid                            // tiers.Search.Unpaid
	devLast                            // tiers.Search.Undecided
	devBarred                          // tiers.Search.Unbarred
	devRows                            // kernelModel.pool
)

// devices names them, in the order of their bits.
var devices = []engine.Switch[deviceSet]{
	{Bit: devActive, Name: "active-schedules", Summary: "no start at or after a time by which another job could have ended (Giffler and Thompson 1960)"},
	{Bit: devIdentical, Name: "identical-jobs", Summary: "among equally long and wide jobs, one that is submitted no later and weighs no less starts first"},
	{Bit: devMemo, Name: "dominance", Summary: "partial schedules that are dominated by another one of the same jobs are dropped"},
	{Bit: devPrices, Name: "prices", Summary: "bound by Lagrangian multipliers of jobs and instants, fixed at the root (Guignard and Kim 1987)"},
	{Bit: devOrder, Name: "order-first", Summary: "two tiers: the order of starts and ends is decided before the places of jobs"},
	{Bit: devBusy, Name: "mean-busy-times", Summary: "two tiers: jobs that aren't ordered yet share machines (Queyranne 1993)"},
	{Bit: devPaid, Name: "migrations-paid", Summary: "two tiers: a migration under way costs its time in the ordered part"},
	{Bit: devLast, Name: "last-places", Summary: "two tiers: when a job comes to processors, it is decided whether they are its last ones"},
	{Bit: devBarred, Name: "background-entry", Summary: "two tiers: a job that needs processors under another job's busy ones doesn't enter the background while that job runs"},
}

// kernelDevices lists the devices of Kernel. Its model says why each changes nothing.
var kernelDevices = []engine.Switch[deviceSet]{
	{Bit: devActive, Name: "supported-starts", Summary: "a job starts at its submission or at another's end"},
	{Bit: devIdentical, Name: "identical-jobs", Summary: "among equally long and wide jobs, one that is submitted no later and weighs no less starts first"},
	{Bit: devPrices, Name: "prices", Summary: "bound by Lagrangian multipliers of jobs and instants, and starts beyond it refused (Kovács, Beck 2008)"},
	{Bit: devLocal, Name: "local-search", Summary: "orders to start from: jobs are moved to other positions"},
}
