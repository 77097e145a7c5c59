package dag

import "github.com/gapwise/gapwise/internal/cp/lcg"

// tuning is how far each phase of a search goes. It decides how soon a proof is
// found, never what is proved.
type tuning struct {
	off         deviceSet  // devices switched off
	widths      []int      // states per level of the beams before the assignments
	block       int        // bytes of states per level of a beam; the exact levels together get as much
	assignSteps int        // makespans that the assignment search tries
	assignNodes []int64    // its nodes per makespan, one pass over the makespans for each entry
	leafWidth   int        // beam width of the levels that order a complete assignment
	levels      bool       // end with the exact level search
	improve     int        // steps of the local search; -1: by the instance's size
	poor        bool       // start from all tasks on one machine, without heuristics
	learn       bool       // search by learning (kernel), and nothing else after the heuristics
	turn        int64      // conflicts of the kernel's first turn before the phases; 0: no turns
	conflicts   int64      // most conflicts of the learning kernel; 0: no limit
	without     lcg.Device // devices of the learning kernel switched off
}

// Limits of memory and of work that no tuning changes.
const (
	// maxTasks is the number of tasks that a taskSet holds.
	maxTasks = 128
	// levelBytes bounds the states of the level search.
	levelBytes = 1_500_000_000
	// leafBytes bounds the states of the levels that order one complete
	// assignment.
	leafBytes = 100_000_000
)

// searchTuning is the schedule of phases of Search. Measured on 38 DAGs of 12 to 30
// tasks (every seventh of the plan dag-exact), 4 s of CPU each, without turns of the
// kernel:
//
//	                      proved  thousand nodes  CPU s
//	as it is                  38             440   13.9
//	without beams             37            2409    6.5
//	beams of 100              37            2408    7.3
//	beams of 1000             38             262    8.9
//	beams of 3000             37             555   20.2
//	without assignments       34             978   27.4
//	without exact levels      38             440   13.3
//	without local search      38             479   15.7
//
// The exact levels are for instances on which the assignments reach their limit of
// nodes: without them a search may end with a gap.
var searchTuning = tuning{
	widths:      []int{100, 3000},
	block:       levelBytes,
	assignSteps: 40,
	assignNodes: []int64{300_000, 10_000_000},
	leafWidth:   2000,
	levels:      true,
	improve:     -1,
	turn:        1000,
}

// kernelTuning is that of Kernel.
var kernelTuning = tuning{improve: -1, learn: true}

// phases are Search and each of its phases alone, from a poor schedule.
var phases = map[string]tuning{
	"":         searchTuning,
	"levels":   {poor: true, block: 1 << 26, levels: true},
	"beams":    {poor: true, widths: []int{1, 5}, block: 1 << 26, assignSteps: 3, assignNodes: []int64{5, 50}, leafWidth: 2, levels: true},
	"assigner": {poor: true, block: 1 << 26, assignSteps: 100, assignNodes: []int64{1 << 20}, leafWidth: 50, levels: true},
}
