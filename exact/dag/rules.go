package dag

// dagRules is a set of the rules by which the DAG searches drop states. Each
// has its proof where it is applied. Tests switch them off, one by one and all
// together: the optimum must stay the same.
type dagRules uint16

const (
	ruleDominance dagRules = 1 << iota // dominance.add
	ruleTwins                          // expander.exchangeable, assigner.choices
	ruleLoad                           // expander.load
	ruleHeads                          // expander.headsOf: tasks that wait for open ones
	ruleJoin                           // expander.join
	ruleRaise                          // expander.heads: when machines are free
	ruleSpread                         // expander.spread
	ruleTails                          // ticks.tails: all of them
	ruleFork                           // ticks.tails: the fork
	ruleShare                          // assigner.walk: the machines' time
	ruleAlone                          // assigner.alone, the leaf's oneMachine
	rulePaths                          // assigner.paths
	ruleRoom                           // expander.roomFor
	ruleList                           // assigner.list, which drops nothing: without it, the levels find the order
	allDAGRules   = 1<<iota - 1
)

// dagTuning tells how far the phases of a DAG search go. It changes how long a
// proof takes, never what is proved.
type dagTuning struct {
	off         dagRules
	widths      []int // of the beams before the assigner
	block       int   // most bytes of states of the levels of a beam; the exact ones get as much for all levels together
	assignSteps int   // most makespans that the assigner tries
	assignNodes []int64
	leafWidth   int  // of the assigner's levels
	levels      bool // at the end, exact
	improve     int  // steps of the local search; -1: as many as the size asks
	poor        bool // start from all tasks on one machine, without list scheduling and local search
}

// defaultTuning: the assigner tries at most 40 makespans, from the bound up,
// first with few nodes for each, then with many: some ten seconds for the
// makespan at which it gives up.
var defaultTuning = dagTuning{
	widths:      []int{100, 3000},
	block:       1_500_000_000,
	assignSteps: 40,
	assignNodes: []int64{300_000, 10_000_000},
	leafWidth:   2000,
	levels:      true,
	improve:     -1,
}

// dagPhases are the search and its phases alone, from a poor schedule.
var dagPhases = map[string]dagTuning{
	"":       defaultTuning,
	"levels": {poor: true, block: 1 << 26, levels: true},
	"beams":  {poor: true, widths: []int{1, 5}, block: 1 << 26, assignSteps: 3, assignNodes: []int64{5, 50}, leafWidth: 2, levels: true},
	// Without lists, the levels find the orders of each assignment.
	"assigner": {poor: true, off: ruleList, block: 1 << 26, assignSteps: 100, assignNodes: []int64{1 << 20}, leafWidth: 50, levels: true},
}
