// SPDX-License-Identifier: MIT

// Package explain states in plain words why no solution beats a result's bound, why an instance has no solution, and
// which parts keep a solution's objective up.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Explanation explains a result. It is written as JSON, or as text by String.
type Explanation struct {
	Instance  string       `json:"instance"`
	Kind      model.Kind   `json:"kind"`
	Algorithm string       `json:"algorithm"`
	Status    model.Status `json:"status"`
	// Value states the value reached and the bound.
	Value     string   `json:"value"`
	Objective *float64 `json:"objective,omitempty"`
	Bound     *float64 `json:"bound,omitempty"`
	// Why explains why no solution beats the bound, or why there is none.
	Why []Reason `json:"why"`
	// Holds lists the parts that keep the solution from being better.
	Holds []Reason `json:"holds,omitempty"`
	// Conflict is a part of an infeasible instance that is infeasible by itself.
	Conflict *Conflict `json:"conflict,omitempty"`
}

// Reason is one reason, in words, with the elements that it names.
type Reason struct {
	Words string `json:"words"`
	// Elements are ids of tasks, jobs or requests, Rows a table with a header.
	Elements []string        `json:"elements,omitempty"`
	Rows     [][]string      `json:"rows,omitempty"`
	Evidence *model.Evidence `json:"evidence,omitempty"`
	// Checked means that the judge has recomputed the bound from the evidence.
	Checked bool `json:"checked,omitempty"`
}

// Conflict is a set of jobs or requests that can't all be met.
type Conflict struct {
	Elements []string `json:"elements"`
	// Minimal means that without any one of them the others can be met, proved.
	Minimal bool `json:"minimal"`
}

// Options are the options of Explain.
type Options struct {
	// TimeLimit limits the bounds, and the questions for a conflict; 0: 10 s.
	TimeLimit time.Duration
	Seed      uint64
	// Proof asks for the whole tables of prices that a bound follows from; else the words stand alone.
	Proof bool
	// Known is the objective of the best known solution, which may be better than the result's; nil: the result's.
	Known *float64
	// Prove tells how a proof that can be replayed is written; empty: by the command.
	Prove string
}

// Explain explains a result of an instance, which must be valid and the result's own.
func Explain(ctx context.Context, in model.Instance, r model.Result, o Options) (*Explanation, error) {
	if o.TimeLimit <= 0 {
		o.TimeLimit = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, o.TimeLimit)
	defer cancel()
	x := &Explanation{Instance: in.ID(), Kind: in.Kind(), Algorithm: r.Algorithm, Status: r.Status, Why: []Reason{}}
	metric := in.Metrics()[0]
	number := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	x.Objective, x.Bound = number(r.Objective), number(r.Bound)
	amount := func(v float64) string { return strings.TrimSpace(fmt.Sprintf("%.9g %s", v, metric.Unit)) }
	title := strings.ToUpper(metric.Name[:1]) + metric.Name[1:]
	beat := "more"
	if metric.Sense == model.Minimise {
		beat = "less"
	}
	switch {
	case r.Status == model.StatusInfeasible:
		x.Value = "There is no solution."
	case x.Objective == nil && x.Bound == nil:
		x.Value = "Nothing is known: neither a solution nor a bound."
	case x.Bound == nil:
		x.Value = fmt.Sprintf("%s: %s. No bound is known.", title, amount(r.Objective))
	case x.Objective == nil:
		x.Value = fmt.Sprintf("%s: no solution is known; none has %s than %s.", title, beat, amount(r.Bound))
	case model.Gap(r.Objective, r.Bound) <= model.DefaultGap:
		x.Value = fmt.Sprintf("%s: %s, and no solution has %s: it is optimal.", title, amount(r.Objective), beat)
	case o.Known != nil && metric.Closed(*o.Known, r.Bound, model.DefaultGap):
		x.Value = fmt.Sprintf("%s: %s. A known solution has %s, and none has %s: that one is optimal.", title, amount(r.Objective), amount(*o.Known), beat)
	case o.Known != nil && metric.Sense.Better(*o.Known, r.Objective):
		x.Value = fmt.Sprintf("%s: %s. A known solution has %s, and none has %s than %s; what lies between the two, %.3g %%, isn't settled.",
			title, amount(r.Objective), amount(*o.Known), beat, amount(r.Bound), 100*model.Gap(*o.Known, r.Bound))
	default:
		x.Value = fmt.Sprintf("%s: %s. No solution has %s than %s; what lies between, %.3g %%, isn't settled.",
			title, amount(r.Objective), beat, amount(r.Bound), 100*model.Gap(r.Objective, r.Bound))
	}
	if r.SolutionOf != "" && r.SolutionOf != "start" && r.Status == model.StatusFeasible {
		x.Value += fmt.Sprintf(" The solution is that of %s.", r.SolutionOf)
	}
	if w, ok := WaitsOf(in, r.Objective, r.Bound); ok && r.Solution != nil {
		x.Value += " " + words.Upper(w.String()) + "."
	}
	if x.Bound != nil || r.Status == model.StatusInfeasible {
		x.Why = append(x.Why, budget(ctx, in, r, o)...)
		if err := x.why(ctx, in, r, o); err != nil {
			return nil, err
		}
	}
	if r.Status == model.StatusInfeasible {
		if err := x.conflict(ctx, in, r, o); err != nil {
			return nil, err
		}
	}
	if !o.Proof {
		x.withoutNumbers()
	}
	if r.Solution != nil {
		held, err := holds(ctx, in, r.Solution)
		if err != nil {
			return nil, err
		}
		x.Holds = held
	}
	return x, nil
}

// mostNumbers is how many rows of prices an explanation has without Options.Proof.
const mostNumbers = 8

// withoutNumbers leaves long tables of prices out of the reasons.
func (x *Explanation) withoutNumbers() {
	for k := range x.Why {
		if r := &x.Why[k]; len(r.Rows) > mostNumbers && slices.Equal(r.Rows[0], pricesHeader) {
			r.Words = fmt.Sprintf("%s, by %s that --proof shows.", strings.TrimRight(r.Words, ".:"), words.Plural(len(r.Rows)-1, "price"))
			r.Rows = nil
		}
	}
}

// why explains the bound, or that there is no solution. It uses the result's evidence if the judge can recompute it,
// else the weakest bound without search that implies it. Otherwise it uses the search's claim and the strongest such
// bound, which it began with.
func (x *Explanation) why(ctx context.Context, in model.Instance, r model.Result, o Options) error {
	infeasible := r.Status == model.StatusInfeasible
	sense := model.SenseOf(in)
	if f, err := verify.Evidence(ctx, in, r.Evidence); r.Evidence.Checkable() && err == nil {
		if !f.Implies(sense, r.Bound, infeasible) {
			return fmt.Errorf("%w: the bound %.12g doesn't follow from its evidence", model.ErrInvalid, r.Bound)
		}
		x.Why = append(x.Why, reasonOf(in, r.Bound, f))
		return nil
	} else if err != nil && !errors.Is(err, verify.ErrUnchecked) {
		return fmt.Errorf("%w: the result's evidence: %w", model.ErrInvalid, err)
	}
	all, err := gapwise.Bounds(ctx, in)
	if err != nil && ctx.Err() == nil {
		return err
	}
	var best *bounds.Bound
	for k := range all {
		b := &all[k]
		if b.Infeasible != infeasible || b.Infeasible && b.Evidence == nil && b.Reason == "" {
			continue
		}
		if infeasible || !sense.Better(b.Value, r.Bound) {
			why := boundReason(ctx, in, b)
			x.Why = append(x.Why, why)
			if !infeasible && !why.Checked {
				x.shown(ctx, in, all)
			}
			return nil
		}
		if best == nil || sense.Better(best.Value, b.Value) {
			best = b
		}
	}
	if best != nil && r.Nodes == 0 && model.Gap(best.Value, r.Bound) <= model.DefaultGap { // but for rounding to whole units
		why := boundReason(ctx, in, best)
		if x.Why = append(x.Why, why); !why.Checked {
			x.shown(ctx, in, all)
		}
		return nil
	}
	x.Why = append(x.Why, searched(ctx, in, r, o))
	if best != nil && !infeasible {
		lift := Reason{Words: fmt.Sprintf("The strongest bound without search is %.9g (%s); the search moved it to %.9g.", best.Value, best.Name, r.Bound)}
		x.Why = append(x.Why, lift)
		if r := boundReason(ctx, in, best); r.Checked {
			x.Why = append(x.Why, r)
		} else {
			x.shown(ctx, in, all)
		}
	}
	return nil
}

// shown adds the strongest bound with evidence that the judge recomputes.
func (x *Explanation) shown(ctx context.Context, in model.Instance, all []bounds.Bound) {
	var best *bounds.Bound
	for k := range all {
		if b := &all[k]; !b.Infeasible && b.Evidence.Checkable() && (best == nil || model.SenseOf(in).Better(best.Value, b.Value)) {
			best = b
		}
	}
	if best == nil {
		return
	}
	if r := boundReason(ctx, in, best); r.Checked {
		x.Why = append(x.Why, Reason{Words: fmt.Sprintf("The strongest bound that can be shown is %.9g (%s).", best.Value, best.Name)}, r)
	}
}

// boundReason explains a bound.
func boundReason(ctx context.Context, in model.Instance, b *bounds.Bound) Reason {
	if b.Evidence.Checkable() {
		if f, err := verify.Evidence(ctx, in, b.Evidence); err == nil && f.Implies(model.SenseOf(in), b.Value, b.Infeasible) {
			return reasonOf(in, b.Value, f)
		}
	}
	if b.Infeasible {
		return Reason{Words: words.Upper(b.Reason) + ".", Evidence: b.Evidence}
	}
	how := "no evidence of it is kept that the judge could recompute"
	if b.Evidence != nil && b.Evidence.Type == evidence.Relaxation {
		how = "it is the optimum of a linear relaxation of more rows than the judge reads"
	}
	return Reason{Words: fmt.Sprintf("The bound %s needs no search and is %.9g; %s.", b.Name, b.Value, how), Evidence: b.Evidence}
}

// searched states a search's claim: of the result's algorithm, or of another one that a heuristic's result has its bound
// from. Nodes of the other one aren't known, and some search counts none.
func searched(ctx context.Context, in model.Instance, r model.Result, o Options) Reason {
	by, counted, nodes := r.Algorithm, r.Nodes > 0, "1 node"
	if r.BoundOf != "" && r.Algorithm != "auto" {
		by, counted = r.BoundOf, false
	}
	if r.Nodes != 1 {
		nodes = words.Thousands(r.Nodes) + " nodes"
	}
	what := "This was proved by search: " + by
	if counted {
		what += " looked at " + nodes + ", and"
	}
	switch {
	case r.Status == model.StatusInfeasible:
		what += " closed every way to place everything."
	case r.Status == model.StatusOptimal:
		what += " closed every branch in which a better solution could lie."
	case counted:
		what = strings.TrimSuffix(what, ", and") + "; in what it left open nothing better than the bound can lie."
	default:
		what += " left nothing open in which anything better than the bound can lie."
	}
	if replayable(ctx, in) {
		what += " It is on trust; for a proof that anybody can replay, " + cmp.Or(o.Prove, "run gapwise solve --proof FILE (docs/reference/proofs.md)") + "."
	}
	return Reason{Words: what, Evidence: r.Evidence}
}

// replayable reports whether gapwise solve --proof takes the instance: it is asked, and
// stopped at once.
func replayable(ctx context.Context, in model.Instance) bool {
	_, err := gapwise.Solve(ctx, in, gapwise.Options{Settings: model.Settings{TimeLimit: time.Millisecond, Proof: &model.ProofWriter{Writer: io.Discard}}})
	return err == nil
}

// width of the text.
const width = 78

// String returns the explanation as text of at most 80 columns, if names allow it.
func (x *Explanation) String() string {
	var b strings.Builder
	by := ", solved by " + x.Algorithm
	fmt.Fprintf(&b, "%s %s%s\n\n%s\n", x.Kind, words.Shorten(x.Instance, max(20, width-1-len(x.Kind)-len(by))), by, words.Wrap(x.Value, width, 0))
	part := func(title string, all []Reason) {
		if len(all) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, r := range all {
			text := r.Words
			if r.Checked {
				end := text[len(text)-1:]
				text = text[:len(text)-1] + " (recomputed by the judge)" + end
			}
			fmt.Fprintf(&b, "  %s\n", words.Wrap(text, width-2, 2))
			b.WriteString(table(r.Rows))
		}
	}
	if x.Status == model.StatusInfeasible {
		part("Why there is none", x.Why)
	} else {
		part("Why no solution beats the bound", x.Why)
	}
	if c := x.Conflict; c != nil {
		text := fmt.Sprintf("These %d can't be met together", len(c.Elements))
		if len(c.Elements) == 1 {
			text = "This one can't be met"
		} else if c.Minimal {
			text += "; without any one of them the others can"
		}
		if !c.Minimal {
			text += " (that none of them can be left out isn't proved)"
		}
		fmt.Fprintf(&b, "\nA conflict\n  %s\n", words.Wrap(text+": "+words.Some(c.Elements, 30)+".", width-2, 2))
	}
	part("What limits the solution", x.Holds)
	return b.String()
}

// mostRows of a table are shown.
const mostRows = 24

// table returns rows in columns, without the middle of a long one.
func table(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var size, least []int
	for i, r := range rows {
		for k, cell := range r {
			if k == len(size) {
				size, least = append(size, 0), append(least, 0)
			}
			n := len([]rune(cell))
			size[k] = max(size[k], n)
			figure, unit, _ := strings.Cut(cell, " ")
			if i > 0 && strings.Trim(figure, "-+.,e0123456789") == "" && len(unit) <= 4 {
				least[k] = max(least[k], n) // it isn't cut
			}
		}
	}
	narrow(size, least, width-3)
	var b strings.Builder
	for i, r := range rows {
		if left := len(rows) - mostRows; left > 1 && i >= mostRows-4 && i < len(rows)-4 {
			if i == mostRows-4 {
				fmt.Fprintf(&b, "    ... %d more\n", left)
			}
			continue
		}
		cells, high := make([][]string, len(r)), 1
		for k, cell := range r {
			if cells[k] = []string{cell}; len([]rune(cell)) > size[k] {
				cells[k] = strings.Split(words.Wrap(cell, size[k], 0), "\n")
				for n, part := range cells[k] { // names have no blanks
					cells[k][n] = words.Shorten(part, size[k])
				}
			}
			high = max(high, len(cells[k]))
		}
		for n := range high {
			line := "   "
			for k, parts := range cells {
				part := ""
				if n < len(parts) {
					part = parts[n]
				}
				line += " " + part + strings.Repeat(" ", max(0, size[k]-len([]rune(part)))+1)
			}
			fmt.Fprintln(&b, strings.TrimRight(line, " "))
		}
	}
	return b.String()
}

// leastColumn is the width below which no column is broken.
const leastColumn = 6

// narrow makes the widest columns narrower, but for the least width of each, until a line has at most so many runes.
func narrow(size, least []int, most int) {
	sum := 0
	for _, s := range size {
		sum += s + 2
	}
	for ; sum > most; sum-- {
		widest := -1
		for k := range size {
			if size[k] > max(least[k], leastColumn) && (widest < 0 || size[k] > size[widest]) {
				widest = k
			}
		}
		if widest < 0 {
			return
		}
		size[widest]--
	}
}
