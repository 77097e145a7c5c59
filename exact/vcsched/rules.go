package vcsched

// vcschedRules names rules by which the VCSched search drops states, for tests
// that turn one off: the optimum must stay the same. Zero: all are on.
type vcschedRules uint16

const (
	noMaximal   vcschedRules = 1 << iota // partition: bins to which an item left could be added
	noExchange                           // partition: bins in which an item left could replace a smaller one
	noWaste                              // partition: bins that waste more than may be wasted
	noMemo                               // partition: sets of items known not to fit in the bins left
	noTwins                              // budget tree: equal tasks in the hosts' order
	noSeen                               // budget tree: hosts like one that was tried
	noRoom                               // budget tree: the hosts' CPU left against the tasks'
	noIncumbent                          // budget tree: loads of no less than the best known
	noPacking                            // the first bound by packing arguments, but for the area
	noPatterns                           // the bound by column generation
	rulesEnd

	// What else tests turn off: the placement by local search before the search,
	// which leaves it little to do, and bin completion, in favour of the budget tree.
	noStart  = rulesEnd
	treeOnly = rulesEnd << 1
)

// vcschedPhases are phases of the search without the local search before them.
var vcschedPhases = map[string]vcschedRules{"bins": noStart | noPacking, "tree": noStart | treeOnly}
