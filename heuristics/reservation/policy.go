package reservation

// Policy chooses among the feasible starts of a request (section 5) the one with
// the least score, of equal ones the earliest.
type Policy struct {
	Name  string
	score func(candidate) float64
	// first takes the first feasible start; rectangle and load tell what the
	// score needs to be computed.
	first, rectangle, load bool
	open                   bool // see Rectangle
}

// candidate is a feasible start as a policy sees it.
type candidate struct {
	pes    float64 // of the rectangle
	length float64 // of the rectangle in ticks
	load   float64 // PE-ticks that are taken over the run
}

// The paper's policies.
var (
	FF    = Policy{Name: "FF", first: true, score: func(candidate) float64 { return 0 }}
	PEB   = Policy{Name: "PE_B", score: func(c candidate) float64 { return c.pes }}
	DUB   = Policy{Name: "DU_B", rectangle: true, score: func(c candidate) float64 { return c.length }}
	PEDUB = Policy{Name: "PEDU_B", rectangle: true, score: func(c candidate) float64 { return c.pes * c.length }}
	PEW   = Policy{Name: "PE_W", score: func(c candidate) float64 { return -c.pes }}
	DUW   = Policy{Name: "DU_W", rectangle: true, score: func(c candidate) float64 { return -c.length }}
	PEDUW = Policy{Name: "PEDU_W", rectangle: true, score: func(c candidate) float64 { return -c.pes * c.length }}

	// Policies lists them all.
	Policies = []Policy{FF, PEB, DUB, PEDUB, PEW, DUW, PEDUW}
)

// LeastLoad starts a request where the fewest PE-ticks are taken over its run.
// PE_W looks at the PEs that are free all the time, and so at the peak alone; of
// two windows with the same peak, one may be empty but for it. Not in the paper.
var LeastLoad = Policy{Name: "least load", load: true, score: func(c candidate) float64 { return c.load }}

// Open returns the policy with rectangles that don't end at the deadline, see
// Rectangle.
func (p Policy) Open() Policy {
	p.Name, p.open = p.Name+" open", true
	return p
}
