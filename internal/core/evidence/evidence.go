// SPDX-License-Identifier: MIT

// Package evidence names the types of model.Evidence.
package evidence

// The types of evidence. The judge recomputes the bound of the types down to Prices (package verify,
// docs/explanation/bounds-and-evidence.md); the others are claims.
const (
	// Path is of dag: tasks that wait for each other (Elements).
	Path = "path"
	// Load is of dag: the machines' weights (Weights), by which all tasks
	// together take their time.
	Load = "load"
	// Interval is of dag: work that must be done in a window of time
	// (Window).
	Interval = "interval"
	// Ordering is of dag: multipliers of rows of the formulation "ordering" (Parts: Resource
	// is the kind of rows; Rows, Weights), for schedules that end by a horizon (Window).
	Ordering = "ordering"
	// Gathering is of dag under contention: tasks that must come together (Parts: Resource is Heads or Tails; their
	// Parts: Elements are a task and a set of tasks before, or after, it, Rows the machines where this counts).
	Gathering = "gathering"
	// Traffic is of dag under contention: weights of the machines, then of the links (Weights), and prices by edge, in
	// the order of the instance, and machine (Prices). The data pay these prices for the places of their tasks.
	Traffic = "traffic"

	// Sum is of vcsched: all needs of a resource together (Resource); and of
	// batch: the least time that each job takes.
	Sum = "sum"
	// Crowd is of vcsched: the largest needs of CPU, or of another resource
	// (Resource), of more tasks (Count) than the hosts take.
	Crowd = "crowd"
	// Clique is of vcsched: tasks (Elements: the job of each); no two of them fit on one host.
	Clique = "clique"
	// Misfit is of vcsched: a task (Elements: its job) that fits on no host, or on hosts of little CPU.
	Misfit = "misfit"
	// Filling is of vcsched: the needs of a resource, or of some together, under a
	// dual-feasible function (Resource or Elements, Function, Load).
	Filling = "filling"
	// Patterns is of vcsched: weights of the jobs' tasks (Elements, Weights, whole numbers); no host of a load (Load)
	// holds enough.
	Patterns = "patterns"
	// Moves is of vcsched: weights of tasks by the host that they are on now (Parts: Count is the host's number and 1,
	// 0 for none; Elements: jobs; Weights) and a price of moving a host's memory (Prices). No hosts of a load (Load)
	// hold enough.
	Moves = "moves"

	// Areas is of reservation: PEs times time, all ready times at the first
	// or, if Mirrored, all deadlines at the last.
	Areas = "areas"
	// Windows is of reservation: windows of time (Windows, with a Function
	// each) with more to do than there is room.
	Windows = "windows"
	// Prices is of reservation, batch and tvc: a price of a unit of the
	// capacity between each two times (Times, Prices), of tvc one for each resource.
	Prices = "prices"

	// Machine is of batch and of tvc with a queue: one machine as fast as all processors (slots, links: Resource)
	// together. Demands under a dual-feasible function (Function) fill it, or on two tiers demands of a share in tenths
	// (Count).
	Machine = "machine"

	// Cover is of consolidation: the needs of a resource (Resource) of all tasks that can be
	// nowhere but on the hosts of a set (Elements: its id; "": of jobs without one; none: all hosts).
	Cover = "cover"
	// Apart is of consolidation: the tasks that a rule (Elements: its id) keeps apart by host.
	Apart = "apart"
	// Emptied is of consolidation: the moves from the hosts that the cost limit empties.
	Emptied = "emptied"

	// Relaxation claims the optimum of a linear relaxation (Method), which has more
	// multipliers than evidence may have entries.
	Relaxation = "relaxation"
	// Search claims that a search has closed everything beyond the bound.
	Search = "search"
	// Proof names a file that gapwise check replays.
	Proof = "proof"
)

// The kinds of rows of Ordering (Evidence.Resource of its parts), with their indices: tasks t, i, j of n, machines a of
// m, edges e (verify/evidence_ordering.go).
const (
	TailRow   = "tail"   // t
	HeadRow   = "head"   // t
	FromRow   = "from"   // e m + a
	ToRow     = "to"     // e m + a
	EdgeRow   = "edge"   // e
	BothRow   = "both"   // (i n + j) m + a, i < j
	WaitRow   = "wait"   // i n + j
	LoadRow   = "load"   // a
	BeforeRow = "before" // t
	AfterRow  = "after"  // t
)

// The two parts of Gathering.
const (
	Heads = "head"
	Tails = "tail"
)

// MostEntries returns how many entries the lists of evidence may have in all, of an instance with so many
// tasks, jobs or requests and machines.
func MostEntries(ids, machines int) int { return 1<<15 + 16*(ids+machines) }

// MostPrices is how many prices, one for each edge and machine, Traffic has at most.
const MostPrices = 1 << 18

// OrderingRows are the kinds of rows of Ordering.
var OrderingRows = []string{TailRow, HeadRow, FromRow, ToRow, EdgeRow, BothRow, WaitRow, LoadRow, BeforeRow, AfterRow}

// The resources of tvc (Evidence.Resource of Prices' parts and of Machine).
const (
	Slots   = "slots"
	Servers = "servers" // slots and links of servers together, of a share of the slots (Count)
	// Shares are slots and links of servers, each under a dual-feasible function (Parts), in shares of a server; the
	// share of the slots counts so often (Count).
	Shares = "shares"
	// PatternsOfServers has a whole weight (Weights) of each VM of some requests (Elements) that run at one moment, and
	// one price: no server holds more than its heaviest pattern.
	PatternsOfServers = "patterns"
)

// Links are the links above servers, edge switches and aggregation switches; demands may be seen by a
// dual-feasible function of one link (Function).
var Links = []string{"links", "edge_links", "aggregation_links"}

// The figures of batch other than the objective that evidence may be of (Evidence.Figure).
const (
	MeanSlowdown = "mean bounded slowdown"
	MostSlowdown = "largest bounded slowdown"
)
