// SPDX-License-Identifier: MIT

package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Disagreement is two claims, one of which is wrong.
type Disagreement struct {
	Check    string // which comparison
	Instance model.Instance
	Reason   string
	Seed     uint64 // of the run
	Number   int64  // of the instance in it
}

// trial is one instance with the answers about it so far.
type trial struct {
	ctx     context.Context
	in      model.Instance
	size    size
	quick   bool // engines alone: no heuristics and bounds, and relations of large ones alone
	seed    uint64
	number  int64
	tally   *Tally
	answers map[string]model.Result
	found   []Disagreement
	only    string // the one check to make, when an instance is shrunk; "": all
}

// skips reports whether a part of the checks, by its prefix, is left out.
func (c *trial) skips(prefix string) bool {
	return c.ctx.Err() != nil || c.only != "" && !strings.HasPrefix(c.only, prefix)
}

func (c *trial) rng() *rand.Rand { return rand.New(rand.NewPCG(c.seed, uint64(c.number))) }

// disagree records a disagreement.
func (c *trial) disagree(check, format string, args ...any) {
	c.found = append(c.found, Disagreement{Check: check, Instance: c.in, Reason: fmt.Sprintf(format, args...), Seed: c.seed, Number: c.number})
}

// The limits of one solver on one instance, by its counted work (model.Settings.Effort): so the comparisons don't
// depend on the machine. Bounds and solutions found by then are compared even without a proof.
const (
	engineEffort    = 500_000
	quickEffort     = 100_000 // of an instance for the engines alone
	heuristicEffort = 100_000
	phaseEffort     = 60_000
)

// longest ends solvers that count too little, and runs of two threads, which aren't counted.
const longest = 5 * time.Second

// plainNodes is how many nodes a plain engine may take, some tenths of a second.
const plainNodes = 1_000_000

// solve is the door with a panic turned into an error.
func (c *trial) solve(in model.Instance, o gapwise.Options) (r model.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v at %s", p, where(debug.Stack()))
		}
	}()
	if o.Effort == 0 && o.Threads < 2 {
		if o.Effort = engineEffort; c.quick {
			o.Effort = quickEffort
		}
	}
	o.TimeLimit = longest
	if o.Seed == 0 {
		o.Seed = 1
	}
	return gapwise.Solve(c.ctx, in, o)
}

// where returns the line of a stack at which the program panicked.
func where(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for k, line := range lines {
		if strings.Contains(line, "panic(") && k+3 < len(lines) {
			return strings.TrimSpace(lines[k+3])
		}
	}
	return "an unknown place"
}

// answer returns an algorithm's result for the instance; false if the algorithm
// doesn't take it, or if its result has been refuted.
func (c *trial) answer(algorithm string) (model.Result, bool) {
	if r, ok := c.answers[algorithm]; ok {
		return r, r.Algorithm != ""
	}
	o := gapwise.Options{Algorithm: algorithm}
	for _, p := range gapwise.Phases(c.in.Kind()) {
		if p.Name() == algorithm {
			o.Solver, o.Effort = p, phaseEffort
		}
	}
	if slices.Contains(heuristics(c.in.Kind()), algorithm) {
		o.Effort = heuristicEffort
	}
	r, err := c.solve(c.in, o)
	if !c.accept("answer", algorithm, r, err) {
		r = model.Result{}
	}
	c.answers[algorithm] = r
	return r, r.Algorithm != ""
}

// accept counts a result that Solve returned, and records an error as a
// disagreement. It reports whether there is a result to compare.
func (c *trial) accept(check, algorithm string, r model.Result, err error) bool {
	switch {
	case c.ctx.Err() != nil, errors.Is(err, model.ErrUnsupported):
		return false
	case err != nil:
		c.disagree(check+" "+algorithm, "%v", err)
		return false
	}
	if r.Solution != nil {
		c.tally.add(judged, c.in)
	}
	return true
}

// compare compares two claims about the instance.
func (c *trial) compare(kind comparison, check string, a claim, nameA string, b claim, nameB string) {
	if !a.agrees(b) {
		c.disagree(check, "%s says %v, %s says %v", nameA, a, nameB, b)
		return
	}
	c.tally.add(kind, c.in)
}

// engines returns the names of a problem's exact engines and of the phases of its native search; each can run alone.
func engines(kind model.Kind) (names []string) {
	for _, p := range gapwise.Phases(kind) {
		names = append(names, p.Name())
	}
	for _, a := range gapwise.Algorithms(kind) {
		if a.Exact {
			names = append(names, a.Name)
		}
	}
	return names
}

// heuristics returns the names of a problem's heuristics.
func heuristics(kind model.Kind) (names []string) {
	for _, a := range gapwise.Algorithms(kind) {
		if !a.Exact {
			names = append(names, a.Name)
		}
	}
	return names
}

// own returns the problem's default engine, to which the others are compared.
func (c *trial) own() string {
	p, err := gapwise.ProblemOf(c.in.Kind())
	if err != nil {
		panic(err) // Run has asked
	}
	return p.Default
}

// wants reports whether an engine runs at all.
func (c *trial) wants(engine string) bool {
	switch {
	case engine == "search", engine == "kernel":
		return true
	case strings.HasPrefix(engine, "search-"): // few of the larger ones end in time
		if c.size == tiny && c.quick {
			phases := gapwise.Phases(c.in.Kind())
			return phases[c.number%int64(len(phases))].Name() == engine || c.only != ""
		}
		return c.size == tiny || c.size == middle && c.number%20 == 1
	}
	// The plain engine is quicker, and as good an opponent.
	if c.quick && (c.size == tiny || c.number%30 > 0) {
		return false
	}
	return problemOf(c.in.Kind()).wants(engine, c.size, c.in)
}

// run makes every comparison on the instance.
func (c *trial) run() {
	sense := model.SenseOf(c.in)
	all := map[string]claim{}
	names := []string{}
	note := func(name string) {
		if c.only != "" && !strings.Contains(c.only, name) {
			return
		}
		if r, ok := c.answer(name); ok {
			all[name] = claimOf(sense, r)
			names = append(names, name)
		}
	}
	for _, name := range engines(c.in.Kind()) {
		if c.wants(name) {
			note(name)
		}
	}
	proving := len(names)
	if c.quick {
		c.compareAll(all, names, proving)
		c.plain()
		c.replay()
		c.forge()
		if c.size == large { // which has no plain engine against it
			c.relate()
		}
		return
	}
	rng := c.rng()
	for _, name := range heuristics(c.in.Kind()) {
		if c.size == tiny || rng.IntN(3) == 0 || c.only != "" {
			note(name)
		}
	}
	for _, b := range c.bounds() {
		d := unknown()
		if b.Infeasible {
			d.infeasible = true
		} else {
			d = d.withBound(sense, b.Value)
		}
		name := "bound " + b.Name
		c.recompute(name, b)
		all[name] = d
		names = append(names, name)
	}
	if others, err := gapwise.OtherBounds(c.ctx, c.in); err == nil {
		for _, b := range others {
			c.recompute("bound "+b.Name, b)
		}
	}
	c.compareAll(all, names, proving)
	c.plain()
	c.replay()
	c.forge()
	c.restart()
	c.relate()
}

// compareAll compares each pair of claims. The first proving names belong to exact engines.
func (c *trial) compareAll(all map[string]claim, names []string, proving int) {
	for i, a := range names {
		for j, b := range names[:i] {
			kind := bounded
			if i < proving && j < proving && all[a].proved() && all[b].proved() {
				if kind = twoEngines; strings.HasPrefix(a, "search") && strings.HasPrefix(b, "search") {
					kind = related
				}
			} else if !(all[a].solved || all[b].solved) {
				continue // two bounds can't contradict each other
			}
			c.compare(kind, "claims "+b+" "+a, all[b], b, all[a], a)
		}
	}
}

// recompute has the judge follow a bound from its evidence.
func (c *trial) recompute(name string, b bounds.Bound) {
	if b.Evidence == nil {
		return
	}
	f, err := verify.Evidence(c.ctx, c.in, b.Evidence)
	if f.Figure == b.Name {
		f.Figure = ""
	}
	switch {
	case c.ctx.Err() != nil, errors.Is(err, verify.ErrUnchecked):
	case err != nil:
		c.disagree(name, "its evidence: %v", err)
	case !f.Implies(model.SenseOf(c.in), b.Value, b.Infeasible):
		c.disagree(name, "it says %v (infeasible: %v), which doesn't follow from %s", b.Value, b.Infeasible, f.How)
	default:
		c.tally.add(recomputed, c.in)
	}
}

// bounds returns the bounds that need no search.
func (c *trial) bounds() (all []bounds.Bound) {
	ctx, cancel := context.WithTimeout(c.ctx, longest)
	defer cancel()
	err := meter.Within(ctx, engineEffort, func(ctx context.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v at %s", p, where(debug.Stack()))
			}
		}()
		if all, err = gapwise.Bounds(ctx, c.in); ctx.Err() != nil {
			return nil
		}
		return err
	})
	if err != nil && !errors.Is(err, model.ErrUnsupported) {
		c.disagree("bound", "%v", err)
	}
	return all
}
