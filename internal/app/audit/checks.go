// SPDX-License-Identifier: MIT

package audit

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// plain has the plain engine look for a solution that beats the strongest bound of all engines, or for any solution of
// an instance that one of them calls infeasible.
func (c *trial) plain() {
	if c.size == large || c.skips("plain") {
		return
	}
	if _, ok := c.answer(c.own()); !ok {
		return
	}
	// strongest is the name of the engine that claims most, with its result.
	sense := model.SenseOf(c.in)
	strongest, r := "", model.Result{}
	for _, name := range engines(c.in.Kind()) {
		known, ok := c.answers[name]
		switch {
		case !ok || known.Algorithm == "":
		case strongest == "", r.Status != model.StatusInfeasible && (known.Status == model.StatusInfeasible ||
			math.IsNaN(r.Bound) && !math.IsNaN(known.Bound) || sense.Better(r.Bound, known.Bound) && math.Abs(r.Bound-known.Bound) > slop*math.Abs(r.Bound)):
			strongest, r = name, known // a tie is the first one's
		}
	}
	claim := claimOf(sense, r)
	beat := math.NaN()
	if claim.solved && !math.IsNaN(r.Bound) {
		beat = r.Bound
	}
	nodes := int64(plainNodes)
	if c.quick {
		nodes /= 5
	}
	a, err := plain.Solve(c.in, beat, nodes)
	switch {
	case errors.Is(err, model.ErrUnsupported):
	case err != nil:
		c.disagree("plain", "%v", err)
	case a.Solution != nil:
		// Only solutions that the judge accepts refute anything.
		_, err := c.solve(c.in, gapwise.Options{Solver: given{a.Solution}})
		if err != nil {
			c.disagree("plain", "the plain engine's own solution: %v", err)
		} else if found := unknown().withSolution(sense, a.Value); !claim.agrees(found) {
			c.disagree("plain "+strongest, "%s says %v, the plain engine has a solution of %.12g", strongest, claim, a.Value)
		} else {
			c.tally.add(bounded, c.in)
		}
	case !a.Whole: // it gave up
	case math.IsNaN(beat) && claim.solved:
		c.disagree("plain "+strongest, "%s has a solution, the plain engine says infeasible", strongest)
	default:
		// Nothing beats the strongest bound, and its solution is there.
		looked := unknown()
		if looked.infeasible = math.IsNaN(beat); !looked.infeasible {
			looked = looked.withBound(sense, beat).withSolution(sense, r.Objective)
		}
		for _, name := range engines(c.in.Kind()) {
			if known, ok := c.answers[name]; ok && known.Algorithm != "" {
				kind := bounded
				if claimOf(sense, known).proved() && looked.proved() {
					kind = plainEngine
				}
				c.compare(kind, "plain "+name, claimOf(sense, known), name, looked, "the plain engine")
			}
		}
	}
}

// replay has the kernel prove its claim in writing, and the checker replay the proof. A proof that doesn't hold reveals
// a wrong inference of the kernel, even if all claims are right.
func (c *trial) replay() {
	if c.skips("replay") || !slices.Contains(engines(c.in.Kind()), "kernel") {
		return
	}
	if a, err := gapwise.Find(c.in.Kind(), "kernel"); err != nil {
		return
	} else if p, ok := a.Solver.(model.Prover); !ok || !p.Proves() {
		return // it writes no proofs for this problem
	}
	sense := model.SenseOf(c.in)
	k, ok := c.answer("kernel")
	if !ok || !claimOf(sense, k).proved() {
		return
	}
	var proof bytes.Buffer
	o := gapwise.Options{Algorithm: "exact", Engine: "kernel"}
	o.Proof = &model.ProofWriter{Writer: &proof}
	r, err := c.solve(c.in, o)
	if !c.accept("replay", "kernel", r, err) || proof.Len() == 0 {
		return // there is no proof of some goals, or time was up before there was one
	}
	hash, err := model.Hash(c.in)
	if err != nil {
		c.disagree("replay", "%v", err)
		return
	}
	proved, err := verify.Proof(c.ctx, c.in, hash, &proof)
	if c.ctx.Err() != nil {
		return
	}
	if err != nil {
		c.disagree("replay", "%v", err)
		return
	}
	follows, says := unknown().withBound(sense, proved.Bound), claimOf(sense, r)
	if follows.infeasible = strings.HasPrefix(proved.Claim, "there is no "); !follows.infeasible && r.Evidence != nil && r.Evidence.Type == evidence.Proof &&
		(says.infeasible || !follows.implies(unknown().withBound(sense, r.Bound))) {
		c.disagree("replay", "the kernel says %v, its proof that %s", says, proved.Claim)
	}
	c.compare(replayed, "replay", follows, "the proof", says, "the kernel")
	c.compare(related, "replay", claimOf(sense, k), "the kernel", says, "the kernel with a proof")
}

// given is a solver that returns a given solution.
type given struct{ solution model.Solution }

func (given) Name() string { return "given" }

func (g given) Solve(_ context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult("given", set.Seed)
	return r, r.SetSolution(in, g.solution)
}

// restart runs the search again with another seed, other threads or a start, which must not change its proofs.
func (c *trial) restart() {
	if c.skips("search, ") {
		return
	}
	first, ok := c.answer(c.own())
	if !ok {
		return
	}
	sense := model.SenseOf(c.in)
	if c.only == "" && c.size == large && !claimOf(sense, first).proved() {
		return // the repeated runs would prove nothing either
	}
	again := func(name string, o gapwise.Options) {
		o.Algorithm = c.own()
		r, err := c.solve(c.in, o)
		if c.accept("search, "+name, c.own(), r, err) {
			c.compare(related, "search, "+name, claimOf(sense, first), c.own(), claimOf(sense, r), c.own()+", "+name)
		}
	}
	var o gapwise.Options
	switch rng := c.rng(); rng.IntN(3) {
	case 0:
		o.Seed = 2 + rng.Uint64N(1000)
		again("another seed", o)
	case 1:
		o.Threads = 2
		again("two threads", o)
	case 2:
		if first.Solution != nil {
			o.Start = first.Solution
			again("started from its own solution", o)
		}
	}
	for _, name := range heuristics(c.in.Kind()) {
		if r := c.answers[name]; r.Solution != nil {
			var o gapwise.Options
			o.Start = r.Solution
			again("started from a heuristic's solution", o)
			if k, ok := c.answers["kernel"]; ok && k.Algorithm != "" {
				o.Algorithm = "kernel"
				started, err := c.solve(c.in, o)
				if c.accept("search, the kernel from a heuristic's solution", "kernel", started, err) {
					c.compare(related, "search, the kernel from a heuristic's solution", claimOf(sense, k), "kernel", claimOf(sense, started), "kernel, started")
				}
			}
			break
		}
	}
}

// relate runs the search on instances with an optimum that follows from this one's, and for every third relation the
// kernel.
func (c *trial) relate() {
	if c.skips("relation: ") {
		return
	}
	first, ok := c.answer(c.own())
	if !ok {
		return
	}
	sense := model.SenseOf(c.in)
	rng := c.rng()
	share := 3 // of the relations, one in so many
	switch {
	case c.quick:
		share = 4
	case c.size == large && claimOf(sense, first).proved():
		share = 1
	case c.size == large: // the others are as hard
		share = 20
	}
	for i, rel := range problemOf(c.in.Kind()).relations {
		if c.ctx.Err() != nil {
			return
		}
		mine, drawn := rand.New(rand.NewPCG(rng.Uint64(), 1)), rng.IntN(share) == 0
		if c.only != "" && !strings.HasPrefix(c.only, "relation: "+rel.name) || c.only == "" && !drawn {
			continue
		}
		other, implies := rel.other(c.in, mine)
		if other == nil {
			continue
		}
		check := "relation: " + rel.name
		o := gapwise.Options{Algorithm: c.own()}
		if k, ok := c.answers["kernel"]; ok && k.Algorithm != "" && (c.number+int64(i))%3 == 0 {
			o.Algorithm = "kernel"
			check += ", by the kernel"
		}
		if o.Effort = engineEffort / 4; !claimOf(sense, first).proved() { // it should be about as hard
			o.Effort /= 5
		}
		r, err := c.solve(other, o)
		if !c.accept(check, o.Algorithm, r, err) {
			continue
		}
		c.compare(related, check, implies(sense, claimOf(sense, first)), "the first", claimOf(model.SenseOf(other), r), "the second")
	}
}
