package reservation

// Policy chooses among the feasible starts of a request (section 5): the least
// score wins, of equal ones the earliest start.
type Policy struct {
	Name  string
	score func(candidate) float64
	// What the score looks at.
	first, rectangle, load bool
	open                   bool
}

// candidate is what a policy sees of a feasible start.
type candidate struct {
	pes    float64 // of the rectangle
	length float64 // of the rectangle in ticks
	load   float64 // PE-ticks that are taken over the window
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

// LeastLoad starts a request where the fewest PE-seconds are taken over its
// run. PE_W looks at the PEs that are free all the time, and so at the fullest
// moment alone; of two windows with the same fullest moment one may be empty but
// for that. Not of the paper.
var LeastLoad = Policy{Name: "least load", load: true, score: func(c candidate) float64 { return c.load }}

// Open is the policy with rectangles that don't end at the deadline, see Rectangle.
func (p Policy) Open() Policy {
	p.Name, p.open = p.Name+" open", true
	return p
}
