// SPDX-License-Identifier: MIT

package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// ErrProof reports that a proof doesn't hold, or isn't one.
var ErrProof = errors.New("the proof doesn't hold")

// Proved is the result of a proof.
type Proved struct {
	Claim   string  // in words: "no schedule ends before 98"
	Bound   float64 // no solution has a better objective
	Steps   int     // inferences that were checked
	Nogoods int     // nogoods
}

// proofKind defines the variables and constraints of a proof, for one instance.
type proofKind interface {
	// variable returns the variable of a name, given in words; it adds it to the
	// state if it is new.
	variable(name []string) (int32, error)
	// constraint returns the constraint of a name.
	constraint(name []string) (proofRule, error)
	// objective returns the name of the variable that is minimised.
	objective() string
	// claim puts in words, and as a bound, that no solution has an objective below a value.
	claim(below int64) (words string, bound float64)
}

// proofKinds makes the proofKind of an instance, the unit and the objective's upper
// bound that the proof begins with.
var proofKinds = map[model.Kind]func(in model.Instance, s *proofState, unit string, upper int64) (proofKind, error){
	model.KindBatch:         newBatchProof,
	model.KindDAG:           newDAGProof,
	model.KindVCSched:       newVCSchedProof,
	model.KindReservation:   newReservationProof,
	model.KindTVC:           newTVCProof,
	model.KindConsolidation: newConsolidationProof,
}

// Proof replays a proof of a bound on the objective of a valid instance, as text or as
// gzip of it. Its format is described in docs/reference/proofs.md.
//
// It holds a set of bounds on the variables, which it builds from the instance by their
// names, and which hold in all solutions with an objective of at most some value, the
// cut. For each inference it adds the opposite and looks whether the constraint that
// the proof names is violated. So it needs no search, but for nodes of a few jobs (crowd), and the premises of an
// inference needn't be written.
//
// If the proof doesn't hold, the error wraps ErrProof and names the first line that
// doesn't follow. hash is model.Hash of the instance.
func Proof(ctx context.Context, in model.Instance, hash string, r io.Reader) (Proved, error) {
	return replay(ctx, in, hash, r, proofLimits{maxProofLines, maxProofMemory})
}

// proofChecker is the state after some lines of a proof.
type proofChecker struct {
	proofState
	kind    proofKind
	unit    string
	target  int32 // the objective
	cut     int64
	vars    map[int64]proofVar
	rules   map[int64]proofCon
	nogoods map[int64]proofNogood
	line    int64
	memory  int64 // bytes of the definitions, by the costs of proof_words.go
	limits  proofLimits

	open     int64 // nogood with steps still to read, or -1
	premises proofNogood
	mark     int  // length of the trail before its premises
	refuted  bool // at the root: there is no solution with an objective of at most cut
	claimed  bool
	proved   Proved
	words    [][]byte
}

// proofVar and proofCon are the variable and the constraint of a number in the proof.
type proofVar struct {
	v    int32
	name string
}

type proofCon struct {
	rule proofRule
	name string
}

// header reads one of the first four lines.
func (c *proofChecker) header(in model.Instance, hash string, words []string) error {
	want := [...]string{"gapwise-proof", "instance", "unit", "upper"}[c.line-1]
	count := 2
	if c.line == 1 {
		count = 3
	}
	if len(words) != count || words[0] != want {
		return fmt.Errorf("must be %q and its value", want)
	}
	switch c.line {
	case 1:
		if words[1] != "1" {
			return errors.New("must be version 1 and the instance's kind")
		}
		if words[2] != string(in.Kind()) {
			return fmt.Errorf("it is of a %s instance, this one is %s", words[2], in.Kind())
		}
		if proofKinds[in.Kind()] == nil {
			return fmt.Errorf("there is no checker for %s", in.Kind())
		}
	case 2:
		if words[1] != hash {
			return fmt.Errorf("it is of another instance, this one has %s", hash)
		}
	case 3:
		c.unit = words[1]
	case 4:
		var err error
		if c.cut, err = proofID([]byte(words[1])); err != nil {
			return err
		}
		if c.kind, err = proofKinds[in.Kind()](in, &c.proofState, c.unit, c.cut); err != nil {
			return err
		}
		if c.tooLarge {
			return errors.New("a variable has bounds of 2^60 or more from 0")
		}
		if c.target, err = c.kind.variable(strings.Fields(c.kind.objective())); err != nil {
			return err
		}
		c.set(atMost(c.target, c.cut))
		c.atRoot()
	}
	return nil
}

// next reads a line after the header.
func (c *proofChecker) next(w [][]byte) error {
	if c.claimed {
		return errors.New("comes after the claim")
	}
	if x := w[0][0]; x >= '0' && x <= '9' || x == 'n' && len(w[0]) > 1 && w[0][1] >= '0' && w[0][1] <= '9' {
		return c.step(w)
	}
	switch word := string(w[0]); {
	case word == "var" && len(w) > 2:
		return c.declareVar(w)
	case word == "con" && len(w) > 2:
		return c.declareCon(w)
	case word == "nogood" && len(w) > 1 && c.open < 0:
		return c.begin(w)
	case word == "end" && len(w) == 1 && c.open >= 0:
		return c.end()
	case word == "delete" && len(w) == 2 && c.open < 0:
		n, err := proofID(w[1])
		old, ok := c.nogoods[n]
		if !ok || err != nil {
			return errors.New("there is no such nogood")
		}
		c.memory -= old.memory()
		delete(c.nogoods, n)
		return nil
	case word == "cut" && len(w) == 2 && c.open < 0:
		n, err := proofNumber(w[1])
		if err != nil {
			return err
		}
		if n >= c.cut {
			return fmt.Errorf("the objective is at most %d already", c.cut)
		}
		if !c.refuted {
			c.cut = n
			c.set(atMost(c.target, n))
			c.atRoot()
		}
		return nil
	case word == "claim" && len(w) == 2 && c.open < 0:
		n, err := proofID(w[1])
		if err != nil {
			return err
		}
		most := c.cut + 1
		if !c.refuted {
			most = min(most, c.least(c.target))
		}
		if n > most {
			return fmt.Errorf("only %d was derived", most)
		}
		c.claimed = true
		c.proved.Claim, c.proved.Bound = c.kind.claim(n)
		return nil
	}
	return errors.New("is no line of a proof here")
}

// atRoot keeps the bounds set at the root.
func (c *proofChecker) atRoot() { c.trail, c.refuted = c.trail[:0], c.refuted || c.broken }

func (c *proofChecker) declareVar(w [][]byte) error {
	n, err := proofID(w[1])
	if err != nil {
		return err
	}
	if _, ok := c.vars[n]; ok {
		return errors.New("has a name already")
	}
	name := asStrings(w[2:])
	x := proofVar{name: strings.Join(name, " ")}
	if x.v, err = c.kind.variable(name); err != nil {
		return err
	}
	c.vars[n] = x
	c.memory += int64(costOfName + len(x.name))
	return nil
}

func (c *proofChecker) declareCon(w [][]byte) error {
	n, err := proofID(w[1])
	if err != nil {
		return err
	}
	if _, ok := c.rules[n]; ok {
		return errors.New("has a name already")
	}
	name := asStrings(w[2:])
	x := proofCon{name: strings.Join(name, " ")}
	if x.rule, err = c.kind.constraint(name); err != nil {
		return err
	}
	c.rules[n] = x
	size := x.rule.entries()
	c.spend(size)
	c.memory += int64(costOfName + len(x.name) + costOfEntry*size)
	return nil
}

// begin reads the premises of a nogood and has them hold.
func (c *proofChecker) begin(w [][]byte) error {
	n, err := proofID(w[1])
	if err != nil {
		return err
	}
	if _, ok := c.nogoods[n]; ok {
		return errors.New("there is a nogood of this number")
	}
	c.open, c.premises, c.mark = n, make(proofNogood, 0, len(w)-2), len(c.trail)
	for _, text := range w[2:] {
		b, err := c.bound(text)
		if err != nil {
			return err
		}
		c.premises = append(c.premises, b)
	}
	for _, b := range c.premises {
		c.set(b)
	}
	c.memory += c.premises.memory()
	return nil
}

// end stores the nogood if its steps have led to a contradiction.
func (c *proofChecker) end() error {
	if !c.broken {
		return fmt.Errorf("nogood %d doesn't follow: its steps don't lead to a contradiction", c.open)
	}
	c.undo(c.mark)
	c.broken = c.refuted
	c.nogoods[c.open] = c.premises
	c.open = -1
	c.proved.Nogoods++
	return nil
}

// step checks an inference and adds its conclusion. After a contradiction anything does.
func (c *proofChecker) step(w [][]byte) error {
	rule, err := c.rule(w[0])
	if err != nil {
		return err
	}
	if len(w) != 2 && len(w) != 4 {
		return errors.New("must be a number, a bound, and a window of two numbers if the rule needs one")
	}
	claim := never
	if string(w[1]) != "!" {
		if claim, err = c.bound(w[1]); err != nil {
			return err
		}
	}
	var window [2]int64
	for k := range w[2:] {
		if window[k], err = proofNumber(w[2+k]); err != nil {
			return err
		}
	}
	if !c.broken {
		c.proved.Steps++
		mark := len(c.trail)
		if claim != never {
			c.oppose(claim)
		}
		c.spend(rule.entries())
		if !c.broken && !rule.violated(&c.proofState, claim, window) {
			return notDerived{c, string(w[1]), string(w[0])}
		}
		c.undo(mark)
		c.set(claim)
	}
	if c.open < 0 {
		c.atRoot()
	}
	return nil
}

// notDerived reports that a bound doesn't follow from a constraint. Its text is made when it is read, since a search
// for a proof tries many steps.
type notDerived struct {
	c         *proofChecker
	claim, by string
}

func (e notDerived) Error() string {
	return fmt.Sprintf("%s doesn't follow from %s", e.c.describe(e.claim), e.c.describe(e.by))
}

// describe returns a constraint or a bound in the names of the proof.
func (c *proofChecker) describe(word string) string {
	if i := strings.IndexAny(word, "<>"); i >= 0 {
		n, _ := proofID([]byte(word[:i]))
		return fmt.Sprintf("%q", c.vars[n].name+" "+word[i:])
	}
	switch {
	case word == "!":
		return "a contradiction"
	case word[0] == 'n':
		return "nogood " + word[1:]
	}
	n, _ := proofID([]byte(word))
	return fmt.Sprintf("%q", c.rules[n].name)
}

// rule returns the constraint, or nogood with an n before it, of a number.
func (c *proofChecker) rule(text []byte) (proofRule, error) {
	nogood := text[0] == 'n'
	if nogood {
		text = text[1:]
	}
	n, err := proofID(text)
	if err != nil {
		return nil, err
	}
	if nogood {
		if r, ok := c.nogoods[n]; ok {
			return r, nil
		}
		return nil, fmt.Errorf("there is no nogood %d", n)
	}
	if r, ok := c.rules[n]; ok {
		return r.rule, nil
	}
	return nil, fmt.Errorf("there is no constraint %d", n)
}

// bound reads a bound like 12>=5.
func (c *proofChecker) bound(text []byte) (bound, error) {
	i := bytes.IndexByte(text, '=')
	if i < 2 {
		return never, fmt.Errorf("%q is no bound like 12>=5", text)
	}
	n, err := proofID(text[:i-1])
	if err != nil {
		return never, err
	}
	x, ok := c.vars[n]
	if !ok {
		return never, fmt.Errorf("there is no variable %d", n)
	}
	at, err := proofNumber(text[i+1:])
	switch {
	case err != nil:
		return never, err
	case text[i-1] == '>':
		return atLeast(x.v, at), nil
	case text[i-1] == '<':
		return atMost(x.v, at), nil
	}
	return never, fmt.Errorf("%q is no bound like 12>=5", text)
}
