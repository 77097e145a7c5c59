// SPDX-License-Identifier: MIT

package play

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Solve is a question: the best solution within a time.
type Solve struct {
	Algorithm  string          `json:"algorithm"`
	Seed       uint64          `json:"seed"`
	TimeLimitS float64         `json:"time_limit_s"`
	Start      json.RawMessage `json:"start,omitempty"` // a solution to start from
	Proof      bool            `json:"proof"`           // write a proof
	Trace      bool            `json:"trace"`           // report the steps
	Quiet      bool            `json:"quiet"`           // no pictures on the way
	First      bool            `json:"first"`           // by the default algorithm of pictures
}

// Progress is the state of a solve, with a better solution now and then. It isn't judged yet.
type Progress struct {
	ask.Progress
	Solution json.RawMessage `json:"solution,omitempty"`
	Scene    *scene.Scene    `json:"scene,omitempty"`
}

// Shown is a solution with its verdict and its picture.
type Shown struct {
	Algorithm string          `json:"algorithm"`
	Class     string          `json:"class,omitempty"`
	Status    string          `json:"status,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Objective *float64        `json:"objective"`
	Second    *float64        `json:"second"`
	Bound     *float64        `json:"bound"`
	Gap       *float64        `json:"gap"`
	Nodes     int64           `json:"nodes"`
	ElapsedS  float64         `json:"elapsed_s"`
	Result    json.RawMessage `json:"result,omitempty"`
	Solution  json.RawMessage `json:"solution,omitempty"`
	Verdict   *ask.Verdict    `json:"verdict,omitempty"`
	Scene     *scene.Scene    `json:"scene,omitempty"`
	Steps     []model.Step    `json:"steps,omitempty"`
	Proof     string          `json:"proof,omitempty"`
}

// between is the least time between two reported solutions. leisure is how many times the duration of a report the
// solver then has to itself.
const (
	between = 120 * time.Millisecond
	leisure = 8
)

// mostSteps is how many steps of a trace are kept.
const mostSteps = 20_000

func (d *Desk) solve(ctx context.Context, q Solve, tell func(any)) (any, error) {
	o := gapwise.Options{Algorithm: q.Algorithm, Settings: model.Settings{Seed: q.Seed, TimeLimit: time.Duration(q.TimeLimitS * 1e9)}}
	if q.First {
		o.Algorithm = d.first()
	}
	if d.ran != nil && q.Algorithm == gapwise.LogAlgorithm {
		o.Solver = known{d.ran}
	}
	if len(q.Start) > 0 {
		start, err := ask.StartOf(ctx, d.in, q.Start)
		if err != nil {
			return nil, err
		}
		o.Start = start
	}
	var proof bytes.Buffer
	if q.Proof {
		o.Proof = &model.ProofWriter{Writer: &proof, Instance: d.hash}
		o.Algorithm = ""
	}
	var steps []model.Step
	if q.Trace {
		o.Trace = func(s model.Step) {
			if len(steps) < mostSteps {
				steps = append(steps, s)
			}
		}
	}
	t := &teller{Solve: ask.Watch(d.in), d: d, ctx: ctx, tell: tell, scenes: !q.Quiet}
	quick := d.quick(ctx)
	for _, b := range quick {
		t.Hear(model.Progress{Incumbent: math.NaN(), Bound: b.Value})
	}
	o.Progress = t.hear
	r, err := gapwise.Solve(ctx, d.in, o)
	if err != nil {
		return nil, err
	}
	d.bound(&r, quick, o.GapLimit())
	shown, err := d.shown(ctx, r)
	if err != nil {
		return nil, err
	}
	shown.Steps, shown.Proof = steps, proof.String()
	return shown, nil
}

// known is the schedule of a log's own scheduler, as a solver.
type known struct{ ran *model.Execution }

// Name implements model.Solver.
func (known) Name() string { return gapwise.LogAlgorithm }

// Solve implements model.Solver.
func (k known) Solve(_ context.Context, in model.Instance, s model.Settings) (model.Result, error) {
	r := model.NewResult(gapwise.LogAlgorithm, s.Seed)
	err := r.SetSolution(in, k.ran)
	return r, err
}

// bound gives a result the best of some bounds: of a heuristic's, and of a solution moved by hand, nothing else is known.
func (d *Desk) bound(r *model.Result, all []bounds.Bound, gap float64) {
	for _, b := range all {
		if r.Solution != nil && ask.Number(b.Value) != nil && (math.IsNaN(r.Bound) || model.SenseOf(d.in).Better(r.Bound, b.Value)) {
			r.SetBound(d.in.Metrics()[0], b.Value, gap)
			r.Evidence = b.Evidence
		}
	}
}

// first names the algorithm whose solution is drawn when none is requested.
func (d *Desk) first() string {
	p, err := gapwise.ProblemOf(d.in.Kind())
	if err != nil || len(p.Gantt) == 0 {
		return ""
	}
	if b, ok := d.in.(*model.Batch); ok && b.Tiers == 1 {
		return "easy"
	}
	if v, ok := d.in.(*model.TVC); ok && v.Queue {
		return "bgmbf"
	}
	return p.Gantt[0]
}

// quick returns the bounds that take no time.
func (d *Desk) quick(ctx context.Context) []bounds.Bound {
	p, err := gapwise.ProblemOf(d.in.Kind())
	if err != nil {
		return nil
	}
	return p.Quick(ctx, d.in)
}

// shown returns a result as the page shows it. The judge has accepted it.
func (d *Desk) shown(ctx context.Context, r model.Result) (*Shown, error) {
	text, err := written(r)
	if err != nil {
		return nil, err
	}
	x := &Shown{Algorithm: r.Algorithm, Class: string(gapwise.ClassOf(d.in.Kind(), r.Algorithm)), Status: string(r.Status), Reason: r.Reason,
		Objective: ask.Number(r.Objective), Second: ask.Number(r.SecondObjective), Bound: ask.Number(r.Bound), Gap: ask.Number(r.Gap),
		Nodes: r.Nodes, ElapsedS: r.Elapsed.Seconds(), Result: text}
	if r.Solution == nil {
		in, isReservation := d.in.(*model.Reservation)
		if why, ok := r.Details.(*model.ReservationDetails); ok && isReservation && len(why.Conflict) > 0 {
			x.Scene = scene.Conflict(in, why.Conflict)
		}
		return x, nil
	}
	return x, d.picture(ctx, x, r.Solution, x.Bound)
}

// picture adds the solution, its verdict and its picture.
func (d *Desk) picture(ctx context.Context, x *Shown, s model.Solution, bound *float64) (err error) {
	if x.Solution, err = written(s); err != nil {
		return err
	}
	v, _, err := ask.Judge(ctx, d.in, nil, s, verify.Options{Valid: true})
	if err != nil {
		return err
	}
	x.Verdict = &v
	x.Scene, err = d.scene(ctx, s, bound)
	return err
}

// scene draws a solution.
func (d *Desk) scene(ctx context.Context, s model.Solution, bound *float64) (*scene.Scene, error) {
	o := scene.Options{Bound: bound, Page: true}
	if g, ok := d.in.(*model.DAG); ok {
		var err error
		if o.Arrived, err = verify.Arrivals(ctx, g, s.(*model.Schedule)); err != nil {
			return nil, err
		}
	}
	return scene.Of(d.in, s, o)
}

// Judge is a question: the verdict on a solution, which may lack parts that follow from the rest.
type Judge struct {
	Solution json.RawMessage `json:"solution"`
	Bound    *float64        `json:"bound"` // as reported: no solution is better
	Keep     string          `json:"keep"`  // of mend: the last moved part
}

func (d *Desk) judge(ctx context.Context, q Judge, _ func(any)) (any, error) {
	s, err := gapwise.CompleteSolution(ctx, d.in, q.Solution)
	if err != nil {
		return nil, err
	}
	return d.byHand(ctx, s, q.Bound)
}

// byHand returns a solution that no algorithm claims.
func (d *Desk) byHand(ctx context.Context, s model.Solution, bound *float64) (*Shown, error) {
	x := &Shown{Algorithm: "by hand", Bound: bound}
	if err := d.picture(ctx, x, s, bound); err != nil {
		return nil, err
	}
	x.Objective, x.Second = x.Verdict.Objective, x.Verdict.SecondObjective
	if x.Verdict.Accepted && x.Objective != nil && bound != nil {
		x.Gap = ask.Number(model.Gap(*x.Objective, *bound))
	}
	return x, nil
}

// Change is a question: the effect on a solution when something is moved.
type Change struct {
	Judge
	Move Move `json:"move"`
}

func (d *Desk) move(ctx context.Context, q Change, _ func(any)) (any, error) {
	s, err := gapwise.CompleteSolution(ctx, d.in, q.Solution)
	if err != nil {
		return nil, err
	}
	if s, err = moved(ctx, d.in, s, q.Move); err != nil {
		return nil, err
	}
	return d.byHand(ctx, s, q.Bound)
}

// repair keeps the parts that can stay, and adapts the rest.
func (d *Desk) repair(ctx context.Context, q Judge, _ func(any)) (any, error) {
	s, err := gapwise.CompleteSolution(ctx, d.in, q.Solution)
	if err != nil {
		return nil, err
	}
	if s, err = mended(ctx, d.in, s, q.Keep); err != nil {
		return nil, err
	}
	return d.byHand(ctx, s, q.Bound)
}

// teller passes on a solver's reports, not too often.
type teller struct {
	*ask.Solve
	d      *Desk
	ctx    context.Context
	tell   func(any)
	scenes bool
	next   time.Time      // when the next solution may be reported
	s      model.Solution // not passed on yet
}

// hear takes a solver's report.
func (t *teller) hear(p model.Progress) {
	was := t.Look()
	t.Hear(p)
	now := Progress{Progress: t.Look()}
	if p.Solution != nil {
		t.s = p.Solution
	}
	began := time.Now()
	due := !began.Before(t.next)
	if p.Done || !due && was.Objective == now.Objective && was.Bound == now.Bound { // figures are reported at once
		return
	}
	if t.s != nil && due {
		now.Solution, _ = written(t.s) // a solution that can't be written isn't shown
		if t.scenes {
			now.Scene, _ = t.d.scene(t.ctx, t.s, now.Bound)
		}
		t.s = nil
	}
	t.tell(now)
	if due {
		t.next = began.Add(max(between, leisure*time.Since(began)))
	}
}
