// SPDX-License-Identifier: MIT

package lcg

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/heap"
)

// Proof writes the derivations of a kernel, for a checker that shares no code with it: the format and the rules are in
// docs/reference/proofs.md. A nil Proof writes nothing.
//
// The proof has the events of level 0, in their order, and each learned nogood: its premises, and the events between
// them and the conflict in the order in which they came about. An event's line names its constraint or nogood, and the
// bound that is needed of it. Premises aren't written: the checker holds all bounds that were derived so far.
//
// The events behind a nogood are found again here, apart from learn: it goes from the conflict backwards and explains
// each event that is needed and isn't implied by the nogood's premises. So a nogood that doesn't follow shows in the
// proof, however it was learned.
type Proof struct {
	w           *bufio.Writer
	declared    []bool // variables
	constraints []bool
	cut, low    int64 // only solutions with an objective of at most cut are left, and they have at least low
	impossible  bool  // there are none
	logged      int   // events of level 0 that are written
	given       map[int32]int64
	steps       []cp.Lit // the needed bounds, the last event first
	events      []int32
	pending     []int32 // of each signed variable: the last event that is needed and not yet explained, or -1
	need        []int64 // its bound
	wanted      heap.Heap[int32]
	line        []byte
	err         error
}

// cause is the origin of a conflict: the inference of a bound that can't hold, or the explanation of why.by itself if
// lit is False.
type cause struct {
	why    reason
	lit    cp.Lit
	window [2]int64
}

// span is a stored explanation, in k.arena, of an inference of a propagator.
type span struct {
	first, end int32
	by         int32
	window     [2]int64
}

// within gives proofs the window of time [from, to) in which the next inference by
// imply or fail is to be checked, for rules that would have to look for it. It is
// empty for rules that need none.
func (k *Kernel) within(from, to int64) { k.window = [2]int64{from, to} }

// Header describes the model of a proof. The checker builds variables and constraints from the instance and their
// names.
type Header struct {
	Kind, Instance string // the instance's kind and hash
	Unit           string // of the integers: a number for the checker, or a word
	Upper          int64  // the model has the solutions with an objective of at most this
}

// Prove has the kernel, which must be new, write a proof. All variables and constraints
// of the model must have names. Close ends the proof.
func (k *Kernel) Prove(w io.Writer, h Header) (*Proof, error) {
	m := k.model
	for v := range m.Low {
		if v >= len(m.VarNames) || m.VarNames[v] == "" {
			return nil, fmt.Errorf("lcg: variable %d of the model has no name, so there is no proof of it", v)
		}
	}
	for c, name := range m.Names {
		if name == "" {
			return nil, fmt.Errorf("lcg: constraint %d of the model has no name, so there is no proof of it", c)
		}
	}
	p := &Proof{w: bufio.NewWriterSize(w, 1<<16), declared: make([]bool, len(m.Low)),
		cut: h.Upper, low: m.Low[m.Objective], given: map[int32]int64{}, need: make([]int64, 2*len(m.Low)),
		wanted: heap.Heap[int32]{Less: func(a, b int32) bool { return a > b }}}
	for range p.need {
		p.pending = append(p.pending, -1)
	}
	fmt.Fprintf(p.w, "gapwise-proof 1 %s\ninstance %s\nunit %s\nupper %d\n", h.Kind, h.Instance, h.Unit, h.Upper)
	p.declare(k, m.Objective)
	k.proof = p
	return p, nil
}

// Claim returns the objective below which, by the proof, there is no solution. impossible says that it is no more than
// Upper+1 or a solution's objective, since all below are excluded.
func (p *Proof) Claim() (bound int64, impossible bool) {
	if p.impossible {
		return p.cut + 1, true
	}
	return min(p.low, p.cut+1), false
}

// Close writes the claim. It doesn't close the writer.
func (p *Proof) Close() error {
	bound, _ := p.Claim()
	fmt.Fprintf(p.w, "claim %d\n", bound)
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("writing the proof: %w", err)
	}
	return p.err
}

// owner returns the constraint from which a propagator draws an inference.
func (k *Kernel) owner(why reason) int32 {
	if p, ok := k.all[why.by].(interface{ owner(tag int32) int32 }); ok {
		return p.owner(why.tag)
	}
	return k.owners[why.by]
}

// root writes the events of level 0 that aren't written yet. It is called before they
// are forgotten.
func (p *Proof) root(k *Kernel) {
	if p == nil {
		return
	}
	end := len(k.events)
	if k.level() > 0 {
		end = int(k.levels[0])
	}
	for e := p.logged; e < end; e++ {
		x := &k.events[e]
		p.infer(k, cp.Lit{SV: x.sv, B: x.bound}, x.why, [2]int64{})
		if x.sv == 2*int32(k.model.Objective) {
			p.low = x.bound
		}
	}
	if p.logged = end; k.level() == 0 && !k.failed {
		p.logged = 0 // they are forgotten now
	}
}

// infer writes that a literal follows.
func (p *Proof) infer(k *Kernel, l cp.Lit, why reason, window [2]int64) {
	switch why.by {
	case crossed:
		return // the checker sees it
	case decided:
		if l.SV != 2*int32(k.model.Objective)+1 {
			p.err = fmt.Errorf("lcg: no proof of what follows from %v, which is only required", l)
		} else if -l.B < p.cut {
			p.cut = -l.B
			fmt.Fprintf(p.w, "cut %d\n", p.cut)
		}
		return
	case excluded:
		if n := &k.nogoods[why.tag]; n.learned {
			p.line = append(p.line[:0], 'n')
			p.line = strconv.AppendInt(p.line, n.number, 10)
		} else {
			p.name(k, int32(n.number))
		}
	case implied:
		s := &k.spans[why.tag]
		window = s.window
		p.name(k, k.owner(reason{s.by, 0}))
	default:
		p.name(k, k.owner(why))
	}
	if l.SV >= 0 {
		p.declare(k, l.Var())
		p.line = literal(p.line, l)
	} else {
		p.line = append(p.line, " !"...)
	}
	if window != [2]int64{} {
		for _, t := range window {
			p.line = strconv.AppendInt(append(p.line, ' '), t, 10)
		}
	}
	p.w.Write(append(p.line, '\n'))
}

// name begins a line with a constraint's number, after its declaration.
func (p *Proof) name(k *Kernel, c int32) {
	for len(p.constraints) < len(k.names) { // there are new ones
		p.constraints = append(p.constraints, false)
	}
	if !p.constraints[c] {
		p.constraints[c] = true
		fmt.Fprintf(p.w, "con %d %s\n", c, k.names[c])
	}
	p.line = strconv.AppendInt(p.line[:0], int64(c), 10)
}

func (p *Proof) declare(k *Kernel, v cp.Var) {
	if !p.declared[v] {
		p.declared[v] = true
		fmt.Fprintf(p.w, "var %d %s\n", v, k.model.VarNames[v])
	}
}

// literal appends a literal after a space.
func literal(line []byte, l cp.Lit) []byte {
	line = strconv.AppendInt(append(line, ' '), int64(l.SV>>1), 10)
	if l.SV&1 == 0 {
		return strconv.AppendInt(append(line, ">="...), l.B, 10)
	}
	return strconv.AppendInt(append(line, "<="...), -l.B, 10)
}

// learn writes the nogood that was learned from the conflict, or that the conflict
// needs no decision if there are no premises.
func (p *Proof) learn(k *Kernel, premises []cp.Lit) {
	if p == nil {
		return
	}
	p.root(k)
	if len(premises) == 0 {
		p.conflict(k)
		p.impossible = true
		return
	}
	clear(p.given)
	for _, l := range premises {
		p.declare(k, l.Var())
		p.given[l.SV] = l.B
	}
	line := strconv.AppendInt(append(p.line[:0], "nogood "...), k.number, 10)
	for _, l := range premises {
		line = literal(line, l)
	}
	p.line = append(line, '\n')
	p.w.Write(p.line)
	first := int32(len(k.events))
	if k.level() > 0 {
		first = k.levels[0]
	}
	// For each signed variable, the strongest need that isn't explained yet serves for the others, since all events
	// that need it come after it.
	ask := func(l cp.Lit) {
		if b, ok := p.given[l.SV]; ok && b >= l.B {
			return
		}
		if e := k.eventOf(l); e >= first && (p.pending[l.SV] < 0 || p.need[l.SV] < l.B) {
			p.pending[l.SV], p.need[l.SV] = e, l.B
			p.wanted.Push(e)
		}
	}
	for _, l := range k.conflict {
		ask(l)
	}
	p.steps, p.events = p.steps[:0], p.events[:0]
	for p.wanted.Len() > 0 {
		e := p.wanted.Pop()
		x := &k.events[e]
		if p.pending[x.sv] != e {
			continue // a later one serves, or it is done
		}
		p.pending[x.sv] = -1
		l := cp.Lit{SV: x.sv, B: p.need[x.sv]}
		p.steps, p.events = append(p.steps, l), append(p.events, e)
		for _, l := range k.explanation(l, x.why, e) {
			ask(l)
		}
	}
	for i, l := range slices.Backward(p.steps) {
		p.infer(k, l, k.events[p.events[i]].why, [2]int64{})
	}
	p.conflict(k)
	p.w.WriteString("end\n")
}

// conflict writes what the conflict follows from.
func (p *Proof) conflict(k *Kernel) {
	if c := &k.cause; c.why.by != crossed {
		p.infer(k, c.lit, c.why, c.window)
	}
}

// delete writes that a nogood is dropped.
func (p *Proof) delete(n *nogood) {
	if p != nil && n.learned {
		fmt.Fprintf(p.w, "delete %d\n", n.number)
	}
}
