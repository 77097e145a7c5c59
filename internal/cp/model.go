// SPDX-License-Identifier: MIT

// Package cp defines constraint models over whole numbers: variables, some of them optional, and constraints. It has no
// solver; package lcg solves them.
package cp

import (
	"fmt"
	"slices"
)

// Var is the number of a variable of a model.
type Var int32

// Lit is a bound literal: the signed variable SV is at least B. Signed variable 2v
// is the variable v and 2v+1 its negative, so that "v is at most b" is {2v+1, -b}.
//
// A literal of an optional variable holds, too, if the variable is absent. Its negation says that the variable is
// present and not at least B; it is no literal.
type Lit struct {
	SV int32
	B  int64
}

// True and False are the literals that always and never hold.
var (
	True  = Lit{SV: -1}
	False = True.Not()
)

// AtLeast returns the literal v ≥ b.
func (v Var) AtLeast(b int64) Lit { return Lit{2 * int32(v), b} }

// AtMost returns the literal v ≤ b.
func (v Var) AtMost(b int64) Lit { return Lit{2*int32(v) + 1, -b} }

// Is returns the literal that a Boolean variable is 1.
func (v Var) Is() Lit { return v.AtLeast(1) }

// Not returns the opposite bound, v < b for v ≥ b. For a variable that is present
// or not optional, it is the negation.
func (l Lit) Not() Lit { return Lit{l.SV ^ 1, 1 - l.B} }

// Var returns the variable of a literal other than True.
func (l Lit) Var() Var { return Var(l.SV >> 1) }

// String returns "v3>=5" or "v3<=5".
func (l Lit) String() string {
	switch {
	case l.SV == True.SV:
		return "true"
	case l.SV < 0:
		return "false"
	case l.SV&1 == 0:
		return fmt.Sprintf("v%d>=%d", l.SV>>1, l.B)
	}
	return fmt.Sprintf("v%d<=%d", l.SV>>1, -l.B)
}

// Model is a set of variables and constraints; the assignment with the least objective is asked for.
type Model struct {
	Low, High   []int64 // bounds of each variable
	Present     []Lit   // by variable: when it is present, if it is a Boolean that isn't optional; True for others
	Constraints []Constraint
	Objective   Var // to be minimised
	// VarNames and Names are the names of the variables and the constraints in a proof, in words and numbers of the
	// instance: "start 3 1", "delay 3 5". Those without a name can't be in a proof.
	VarNames, Names []string
	// Decisions are the Booleans to be decided and then, if they are present, the integers, each at its least value. If
	// they are fixed and nothing is left to propagate, all least values must be a solution.
	Decisions, Integers []Var
}

// Constraint is one of Nogood, *Linear, *Delay, *NoOverlap, *Cumulative, *Preemptive,
// *Among, *Charges.
type Constraint any

// Assignment is a value of each variable.
type Assignment struct {
	Model  *Model
	Values []int64
}

// Is reports whether a literal holds.
func (a Assignment) Is(l Lit) bool {
	if l.SV < 0 {
		return l.SV == True.SV
	}
	if p := a.Model.Present[l.SV>>1]; p.SV >= 0 && !a.Is(p) {
		return true
	}
	v := a.Values[l.SV>>1]
	if l.SV&1 == 1 {
		v = -v
	}
	return v >= l.B
}

// Int adds a variable from low to high.
func (m *Model) Int(low, high int64) Var { return m.Optional(True, low, high) }

// Bool adds a variable that is 0 or 1.
func (m *Model) Bool() Var { return m.Int(0, 1) }

// Optional adds a variable from low to high that is only there if a literal of a
// variable that isn't optional holds.
func (m *Model) Optional(present Lit, low, high int64) Var {
	m.Low, m.High, m.Present = append(m.Low, low), append(m.High, high), append(m.Present, present)
	return Var(len(m.Low) - 1)
}

// Add adds constraints without a name.
func (m *Model) Add(c ...Constraint) {
	for _, c := range c {
		m.AddAs("", c)
	}
}

// AddAs adds a constraint with a name. Several may have one name: together they are the named constraint.
func (m *Model) AddAs(name string, c Constraint) {
	m.Constraints, m.Names = append(m.Constraints, c), append(m.Names, name)
}

// Call gives a variable a name.
func (m *Model) Call(v Var, name string) {
	for len(m.VarNames) < len(m.Low) {
		m.VarNames = append(m.VarNames, "")
	}
	m.VarNames[v] = name
}

// ExactlyOne adds nogoods of one name by which exactly one of the literals holds,
// none of them of an optional variable.
func (m *Model) ExactlyOne(name string, lits ...Lit) {
	none := make(Nogood, len(lits))
	for i, a := range lits {
		none[i] = a.Not()
		for _, b := range lits[:i] {
			m.AddAs(name, Nogood{a, b})
		}
	}
	m.AddAs(name, none)
}

// Nogood is a set of literals that don't all hold. None is of an optional variable.
type Nogood []Lit

// Named is a nogood and its name in a proof.
type Named struct {
	Nogood
	Name string
}

// Choice is a value that counts if its literal holds.
type Choice struct {
	If    Lit
	Value int64 // at least 0
}

// Term is a multiple of a variable that isn't optional.
type Term struct {
	Times int64
	Var   Var
}

// Linear bounds a sum: Σ groups (the value of its choice) + Σ terms ≤ AtMost. Exactly one choice of each group holds,
// by other constraints.
type Linear struct {
	Groups [][]Choice
	Terms  []Term
	AtMost int64
}

// Start is a start that an activity has if a literal holds. The variable is optional
// with this literal, or the literal is True.
type Start struct {
	If Lit
	At Var
}

// Delay says that an activity starts no sooner than another one and a delay: if From[k] and To[l] hold, To[l].At ≥
// From[k].At + By[k][l]. Exactly one of From, and one of To, holds, by other constraints.
type Delay struct {
	From, To []Start
	By       [][]int64
}

// NoOverlap says that, of some activities, the ones with a literal that holds don't run at one time: [start, start +
// Length). Before[i][j], for i ≠ j, says that i goes first if both run; Before[j][i] is its negation. No length is 0 or
// less.
type NoOverlap struct {
	Starts  []Start
	Lengths []int64
	Before  [][]Lit
}

// Cumulative says that the demands of the running activities add up to at most the capacity at any time. An activity
// runs in [start, start + Length) if its literal holds. No length or demand is below 1.
type Cumulative struct {
	Starts   []Start
	Lengths  []int64
	Demands  []int64
	Capacity int64
	// Energy also has the kernel look at windows of time with more work than room. That pays if the work nearly fills
	// the capacity. The checker of proofs doesn't know it.
	Energy bool
}

// Preemptive says that activities that may be interrupted have room on one machine. The activities with literals that
// all hold can each run for their length within their window, from From + After to To, one at a time. So it is if and
// only if no window of time holds more work than its length (Jackson 1955; Horn 1974). The checker of proofs doesn't
// know it.
type Preemptive struct{ Items []Windowed }

// Windowed is an activity of a Preemptive. Its variables are there if its literals hold,
// which are of variables that aren't optional. No length is below 1.
type Windowed struct {
	If     []Lit
	From   Var
	After  int64
	To     Var
	Length int64
}

// Among says that a variable has one of some values: X = At, or X = Of[i] + By[i] for
// some i. None is optional.
type Among struct {
	X  Var
	At int64
	Of []Var
	By []int64
}

// Charges bounds the payments of activities: Σ charges + Σ terms ≤ AtMost. An activity pays Slope·start and its rate
// over [start, start + Length) if its literal holds, and Absent if not.
type Charges struct {
	Items  []Charged
	Terms  []Term
	AtMost int64
}

// Charged is an activity that pays. Its literal is of a variable that isn't optional.
type Charged struct {
	Start
	Length int64
	Absent int64
	Slope  int64
	Rate   Rate
}

// Rate is the payment per unit of time, at least 0 and constant in between times that ascend: Paid is its integral from
// the first time on. It is 0 outside of them.
type Rate struct {
	Times, Paid []int64
}

// Until returns the integral up to a time.
func (r *Rate) Until(t int64) int64 {
	n, found := slices.BinarySearch(r.Times, t)
	switch {
	case found:
		return r.Paid[n]
	case n == 0:
		return 0
	case n == len(r.Times):
		return r.Paid[n-1]
	}
	return r.Paid[n-1] + (r.Paid[n]-r.Paid[n-1])/(r.Times[n]-r.Times[n-1])*(t-r.Times[n-1])
}

// Cost returns the payment for a start.
func (c *Charged) Cost(start int64) int64 {
	return c.Slope*start + c.Rate.Until(start+c.Length) - c.Rate.Until(start)
}
