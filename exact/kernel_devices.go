package exact

import (
	"slices"

	"github.com/gapwise/gapwise/internal/cp/lcg"
)

// kernelDevices names the parts of the learning kernel, whatever the problem.
var kernelDevices = []Switch[lcg.Device]{
	{lcg.Learning, Device{"learning", "keeps the nogood of each conflict (Ohrimenko, Stuckey, Codish 2009)"}},
	{lcg.Minimisation, Device{"minimisation", "drops premises of a nogood that follow from others (Sörensson, Biere 2009)"}},
	{lcg.Restarts, Device{"restarts", "begins anew after 100 conflicts times Luby's sequence (Luby, Sinclair, Zuckerman 1993)"}},
	{lcg.Phases, Device{"phases", "tries first what the best solution has (Demirović, Chu, Stuckey 2018)"}},
	{lcg.Upwards, Device{"upwards", "refutes one objective after another from the bound up"}},
	{lcg.Downwards, Device{"downwards", "looks for better solutions, in turns with the refutations"}},
	{lcg.PrecedenceSets, Device{"precedence-sets", "no-overlap: an activity starts when all that go before it can have ended"}},
	{lcg.Overload, Device{"overload", "no-overlap: a window with more work than time is a conflict (Vilím 2004)"}},
	{lcg.DetectablePrecedence, Device{"detectable-precedences", "no-overlap: orders that the bounds of two activities imply (Vilím 2004)"}},
	{lcg.NotFirstNotLast, Device{"not-first-not-last", "no-overlap: activities that can't begin or end a set (Vilím 2004)"}},
	{lcg.Transitivity, Device{"transitivity", "no-overlap: an activity goes before all that go after one that it goes before"}},
	{lcg.EdgeFinding, Device{"edge-finding", "no-overlap: activities that must begin or end a set (Vilím 2004)"}},
}

// KernelDevices lists the parts of the learning kernel that KernelOff knows.
func KernelDevices() []Device { return DevicesOf(kernelDevices) }

// KernelOff returns which of the named devices are the learning kernel's, and the
// names of all others, which are for the problem to know.
func KernelOff(names []string) (off lcg.Device, others []string) {
	for _, name := range names {
		if k := slices.IndexFunc(kernelDevices, func(s Switch[lcg.Device]) bool { return s.Name == name }); k >= 0 {
			off |= kernelDevices[k].Bit
		} else {
			others = append(others, name)
		}
	}
	return off, others
}
