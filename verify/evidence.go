// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// WrongEvidence reports that a bound doesn't follow from its evidence.
const WrongEvidence = "wrong_evidence"

// ErrUnchecked marks evidence that the judge doesn't recompute: a claim, or more work
// than maxEvidenceWork.
var ErrUnchecked = errors.New("evidence isn't checked")

// Followed is the conclusion from evidence.
type Followed struct {
	// Bound is the bound on the objective, exact. It is nil if Infeasible.
	Bound      *big.Rat
	Infeasible bool
	Figure     string // the bounded figure; "": the objective
	How        string // in words: "a path of 7 tasks"
	// Evidence is its premise: the judge has read it and it is of a listed form.
	Evidence *model.Evidence
}

// maxEvidenceWork bounds the steps of one recomputation, of some 20 ns to 1 µs each.
const maxEvidenceWork = 4_000_000

// evidenceKinds recompute the conclusion from one problem's evidence, which has one of its forms.
var evidenceKinds = map[model.Kind]func(context.Context, model.Instance, *model.Evidence) (Followed, error){
	model.KindBatch: evidenceFor(batchEvidence, func(in *model.Batch) evidenceShape { return evidenceShape{ids: len(in.Jobs)} }),
	model.KindConsolidation: evidenceFor(consolidationEvidence, func(in *model.Consolidation) evidenceShape {
		return evidenceShape{ids: len(in.Jobs), machines: len(in.Hosts)}
	}),
	model.KindDAG: evidenceFor(dagEvidence, func(in *model.DAG) evidenceShape {
		return evidenceShape{ids: len(in.Tasks), machines: len(in.Machines), edges: len(in.Edges), links: len(in.Network.Links)}
	}),
	model.KindTVC: evidenceFor(tvcEvidence, func(in *model.TVC) evidenceShape { return evidenceShape{ids: len(in.Requests)} }),
	model.KindVCSched: evidenceFor(vcschedEvidence, func(in *model.VCSched) evidenceShape {
		return evidenceShape{ids: len(in.Jobs), resources: vcschedResources(in)}
	}),
	model.KindReservation: evidenceFor(reservationEvidence, func(in *model.Reservation) evidenceShape { return evidenceShape{ids: len(in.Requests)} }),
}

func evidenceFor[I model.Instance](f func(context.Context, I, *model.Evidence) (Followed, error), size func(I) evidenceShape) func(context.Context, model.Instance, *model.Evidence) (Followed, error) {
	return func(ctx context.Context, in model.Instance, e *model.Evidence) (Followed, error) {
		typed, ok := in.(I)
		if !ok {
			return Followed{}, fmt.Errorf("verify: no evidence is known of a %T", in)
		}
		if err := fitsForm(in.Kind(), e, size(typed)); err != nil {
			return Followed{}, err
		}
		return f(ctx, typed, e)
	}
}

// Evidence recomputes the bound that follows from evidence on a valid instance, in
// exact arithmetic. The error wraps ErrUnchecked for evidence that it doesn't recompute, and ctx.Err() if the context
// ends; else it describes the fault of the evidence.
func Evidence(ctx context.Context, in model.Instance, e *model.Evidence) (Followed, error) {
	return NewJudge(in).Evidence(ctx, e)
}

// Judge judges results of one instance. It recomputes the bound from a piece of evidence once, when it first meets it:
// neither the instance nor that evidence may change while the Judge is used. Several goroutines may use it.
type Judge struct {
	in    model.Instance
	mu    sync.Mutex
	known map[*model.Evidence]conclusion
}

// conclusion is an answer of Evidence.
type conclusion struct {
	followed Followed
	err      error
}

// NewJudge returns a Judge of an instance, which has recomputed nothing yet.
func NewJudge(in model.Instance) *Judge {
	return &Judge{in: in, known: map[*model.Evidence]conclusion{}}
}

// Evidence is the function Evidence on the judge's instance.
func (j *Judge) Evidence(ctx context.Context, e *model.Evidence) (Followed, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c, ok := j.known[e]; ok {
		return c.followed, c.err
	}
	f, err := follow(ctx, j.in, e)
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		j.known[e] = conclusion{f, err}
	}
	return f, err
}

// follow is Evidence without a memory.
func follow(ctx context.Context, in model.Instance, e *model.Evidence) (Followed, error) {
	if !e.Checkable() {
		return Followed{}, ErrUnchecked
	}
	f, ok := evidenceKinds[in.Kind()]
	if !ok {
		return Followed{}, ErrUnchecked
	}
	followed, err := f(ctx, in, e)
	switch {
	case ctx.Err() != nil:
		return Followed{}, fmt.Errorf("verify: stopped before the evidence was checked: %w", ctx.Err())
	case err != nil:
		return Followed{}, err
	}
	followed.Evidence, followed.Figure = e, e.Figure
	return followed, nil
}

// Implies reports whether, by the conclusion, no solution is better than a bound, or, if infeasible, none exists.
// Nothing is tolerated. A bound on another figure implies nothing; to ask about that figure, clear Figure.
func (f Followed) Implies(sense model.Sense, bound float64, infeasible bool) bool {
	switch {
	case f.Figure != "":
		return false
	case f.Infeasible:
		return true
	case infeasible || f.Bound == nil || !finite(bound):
		return false
	case sense == model.Minimise:
		return f.Bound.Cmp(exact(bound)) >= 0
	}
	return f.Bound.Cmp(exact(bound)) <= 0
}

// tooMuch is the error of evidence that would take too long.
func tooMuch(what string) error { return fmt.Errorf("%w: %s", ErrUnchecked, what) }

// checkEvidence judges the evidence of a result: it adds the checked, the wrong and the trusted parts. The error is
// ctx's, if it ends before.
func (j *Judge) checkEvidence(ctx context.Context, res *model.Result, r *Report) error {
	infeasible := res.Status == model.StatusInfeasible
	what := "the bound"
	if infeasible {
		what = "that there is no solution"
	} else if math.IsNaN(res.Bound) {
		return nil
	}
	e := res.Evidence
	if e == nil {
		r.Trusted = append(r.Trusted, what)
		return nil
	}
	f, err := j.Evidence(ctx, e)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case errors.Is(err, ErrUnchecked):
		r.Trusted = append(r.Trusted, what+" "+claim(e))
	case err != nil:
		r.add(WrongEvidence, 0, "%s: %v", what, err)
	case !f.Implies(model.SenseOf(j.in), res.Bound, infeasible):
		follows := "no bound"
		if f.Bound != nil {
			x, _ := f.Bound.Float64()
			follows = fmt.Sprintf("the bound %.12g", x)
		}
		if infeasible {
			r.add(WrongEvidence, 0, "from %s follows %s, not that there is no solution", f.How, follows)
		} else {
			r.add(WrongEvidence, 0, "from %s follows %s, stated is %.12g", f.How, follows, res.Bound)
		}
	default:
		r.Checked = append(r.Checked, what+", by "+f.How)
	}
	return nil
}

// linear holds beginnings of engines' names. Up to 0.10.0, their "optimal" and "infeasible" were a foreign solver's
// word. From then on they come from certificates in safe arithmetic.
var linear = []string{"highs", "lanl", "glpsol", "cbc", "scip", "gurobi", "mps:"}

// wordOf reports that a proof is the word of a solver of linear models, which may be wrong; "" if it isn't.
func wordOf(res *model.Result) string {
	var major, minor, patch int
	if _, err := fmt.Sscanf(res.Version, "%d.%d.%d", &major, &minor, &patch); err != nil || slices.Compare([]int{major, minor, patch}, []int{0, 10, 0}) > 0 {
		return ""
	}
	said := "optimal"
	switch res.Status {
	case model.StatusInfeasible:
		said = "infeasible"
	case model.StatusOptimal:
	default:
		return ""
	}
	of := ""
	if res.Kind == model.KindConsolidation && res.Algorithm == "auto" {
		of = "HiGHS in auto"
	}
	for _, name := range strings.Split(res.Algorithm, "+") {
		if of == "" && slices.ContainsFunc(linear, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			of = name
		}
	}
	if of == "" {
		return ""
	}
	return fmt.Sprintf("%q, in doubt as the word of %s without a certificate (version %s): solve it again", said, of, res.Version)
}

// claim returns the claim of evidence in brackets.
func claim(e *model.Evidence) string {
	switch e.Type {
	case evidence.Search:
		s := "s"
		if e.Nodes == 1 {
			s = ""
		}
		return fmt.Sprintf("(search, %s node%s)", thousands(e.Nodes), s)
	case evidence.Relaxation:
		return "(linear relaxation)"
	case evidence.Proof:
		return "(a proof, which gapwise check replays)"
	}
	return fmt.Sprintf("(%s, too large to be recomputed here)", e.Type)
}

// thousands returns a number with commas between its thousands.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for k := len(text) - 3; k > 0 && text[k-1] != '-'; k -= 3 {
		text = text[:k] + "," + text[k:]
	}
	return text
}

// minimum and maximum return one of two numbers.
func minimum(a, b *big.Int) *big.Int {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func maximum(a, b *big.Int) *big.Int {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// binary turns float64s into whole numbers of one power of two, 2^-shift, so that sums
// need no fractions.
type binary struct{ shift int }

// see makes the unit small enough for x, if that is finite.
func (b *binary) see(x float64) {
	if x == 0 || math.IsInf(x, 1) {
		return
	}
	m, exponent := parts(x)
	b.shift = max(b.shift, -exponent-bits.TrailingZeros64(m))
}

// parts returns m and e with |x| = m 2^e, m below 2^53, for a finite x.
func parts(x float64) (m uint64, e int) {
	const fraction = 1<<52 - 1
	w := math.Float64bits(x)
	m, e = w&fraction, int(w>>52&0x7ff)-1075
	if e < -1074 { // subnormal
		return m, -1074
	}
	return m | 1<<52, e
}

// small returns x >= 0, which was seen, in units, if that is below 2^63.
func (b binary) small(x float64) (units uint64, ok bool) {
	m, e := parts(x)
	switch e += b.shift; {
	case m == 0:
		return 0, true
	case e < 0:
		return m >> -e, true // zeros
	}
	return m << e, e <= 10
}

// whole returns x, which was seen, in units.
func (b binary) whole(x float64) *big.Int {
	if x == 0 {
		return new(big.Int)
	}
	mantissa, exponent := math.Frexp(x)
	n := big.NewInt(int64(mantissa * (1 << 53)))
	if s := exponent - 53 + b.shift; s >= 0 {
		return n.Lsh(n, uint(s))
	} else {
		return n.Rsh(n, uint(-s)) // zeros
	}
}

// rat returns n units.
func (b binary) rat(n *big.Int) *big.Rat {
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), uint(b.shift)))
}
