// SPDX-License-Identifier: MIT

// Package play answers the playground's questions to the library: the page (web) sends a question as JSON and gets an
// answer as JSON. An instance lies on a desk; it is solved, judged, explained, changed by hand. Nothing here knows of a
// browser.
package play

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/explain"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// Desk is where one instance lies. One goroutine uses it at a time.
type Desk struct {
	in   model.Instance
	hash string
	ran  *model.Execution // how the jobs of a log ran, if it tells that and the judge accepts it
}

// operations are the operations that can be asked for.
var operations = map[string]func(*Desk, context.Context, []byte, func(any)) (any, error){
	"about":   of((*Desk).about),
	"load":    of((*Desk).load),
	"solve":   of((*Desk).solve),
	"judge":   of((*Desk).judge),
	"move":    of((*Desk).move),
	"mend":    of((*Desk).repair),
	"explain": of((*Desk).explain),
	"check":   of((*Desk).check),
}

// of reads a question.
func of[Q any](answer func(*Desk, context.Context, Q, func(any)) (any, error)) func(*Desk, context.Context, []byte, func(any)) (any, error) {
	return func(d *Desk, ctx context.Context, question []byte, tell func(any)) (any, error) {
		var q Q
		if err := json.Unmarshal(question, &q); err != nil {
			return nil, fmt.Errorf("%w question: %w", model.ErrInvalid, err)
		}
		return answer(d, ctx, q, tell)
	}
}

// Ask answers a question about an operation. The reports of a solver before it ends go to tell, which mustn't keep
// them. A panic is an error.
func (d *Desk) Ask(ctx context.Context, operation string, question []byte, tell func(any)) (answer any, err error) {
	do, known := operations[operation]
	if !known {
		return nil, fmt.Errorf("%w: there is no operation %q", model.ErrInvalid, operation)
	}
	if d.in == nil && operation != "about" && operation != "load" {
		return nil, fmt.Errorf("%w: there is no instance yet", model.ErrInvalid)
	}
	err = panics.Call(func() (err error) { answer, err = do(d, ctx, question, tell); return err })
	return answer, err
}

// Kind is a problem, for the page.
type Kind struct {
	Kind       model.Kind  `json:"kind"`
	Algorithms []Algorithm `json:"algorithms"`
}

// Algorithm is an algorithm, for the page.
type Algorithm struct {
	Name    string `json:"name"`
	Class   string `json:"class"`
	Summary string `json:"summary"`
	Paper   string `json:"paper"`
	Exact   bool   `json:"exact"`
	Traced  bool   `json:"traced"`
	Seeded  bool   `json:"seeded"`
	Linear  bool   `json:"linear"` // it needs HiGHS, which the page loads when it is asked for
}

// Class is a class of algorithms, for the page.
type Class struct {
	Class   string `json:"class"`
	Title   string `json:"title"`
	Meaning string `json:"meaning"`
}

// About lists the available problems and classes.
type About struct {
	Version string  `json:"version"`
	Kinds   []Kind  `json:"kinds"`
	Classes []Class `json:"classes"`
}

func (d *Desk) about(context.Context, struct{}, func(any)) (any, error) {
	a := About{Version: gapwise.Version}
	for _, c := range model.Classes() {
		a.Classes = append(a.Classes, Class{string(c), c.Plural(), c.Meaning()})
	}
	for _, p := range gapwise.Problems() {
		k := Kind{Kind: p.Kind}
		for _, x := range p.Algorithms {
			k.Algorithms = append(k.Algorithms, Algorithm{Name: x.Name, Class: string(x.Class), Summary: x.Summary, Paper: x.Paper,
				Exact: x.Exact, Traced: x.Traced, Seeded: x.Seeded, Linear: linear(x.Name)})
		}
		a.Kinds = append(a.Kinds, k)
	}
	return a, nil
}

// linear reports whether an algorithm can't do without HiGHS.
func linear(name string) bool {
	return strings.HasPrefix(name, highs.Backend.Name) || name == "rrnd" || name == "rrnz"
}

// Load is a question: a file to be put on the desk.
type Load struct {
	Name     string            `json:"name"` // of the file
	Data     []byte            `json:"data"` // its contents, base64 in JSON
	Text     string            `json:"text"` // or as text
	Platform string            `json:"platform"`
	Kind     string            `json:"kind"`     // of an SWF log: the kind to make of it
	First    int               `json:"first"`    // of an SWF log: so many jobs at most
	Capacity int               `json:"capacity"` // of a table: so many hosts, processors, PEs or slots
	Packing  string            `json:"packing"`  // of items and bins: the kind to make of them
	Variants map[string]string `json:"variants"` // how it is read
}

// Loaded is the instance on the desk.
type Loaded struct {
	Kind     model.Kind      `json:"kind"`
	Name     string          `json:"name"`
	Hash     string          `json:"hash"`
	Instance json.RawMessage `json:"instance"`
	Said     []string        `json:"said,omitempty"`    // the account of the file, in lines
	Reading  string          `json:"reading,omitempty"` // the fields of Load that the file could be read by: "logs", "packings"
	Metric   Metric          `json:"metric"`
	Second   Metric          `json:"second"`
	Facts    []Fact          `json:"facts"`
	Variants []Variant       `json:"variants"`
	Proofs   bool            `json:"proofs"` // there are proofs of its bounds
	Ran      bool            `json:"ran"`    // there is an algorithm log, the schedule of the log's own scheduler
}

// Metric is the optimised figure.
type Metric struct {
	Name     string `json:"name"`
	Unit     string `json:"unit"`
	Minimise bool   `json:"minimise"`
	Whole    bool   `json:"whole"` // its values are whole numbers
}

// Fact is a figure of an instance.
type Fact struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	Unit  string   `json:"unit"`
	Value *float64 `json:"value"`
}

// Variant is how an instance is read, and could be.
type Variant struct {
	Flag   string   `json:"flag"`
	Value  string   `json:"value"`
	Values []string `json:"values"`
}

func (d *Desk) load(ctx context.Context, q Load, _ func(any)) (any, error) {
	if q.Data == nil {
		q.Data = []byte(q.Text)
	}
	if q.Name == "" || q.Name == "-" {
		q.Name = "pasted"
	}
	f, err := instances.OpenData(q.Name, q.Data)
	if err != nil {
		return nil, err
	}
	if isCluster(f) {
		return Unread{"kubernetes"}, nil
	}
	in, ran, err := q.read(f)
	if err != nil {
		return nil, err
	}
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return nil, err
	}
	for _, v := range p.Variants {
		value := q.Variants[v.Flag]
		switch {
		case value == "":
		case !slices.Contains(v.Values, value):
			return nil, fmt.Errorf("%w: %s is %q, give one of %q", model.ErrInvalid, v.Flag, value, v.Values)
		case v.Get(in) != value:
			in, ran = v.With(in, value), nil
		}
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	hash, err := model.Hash(in)
	if err != nil {
		return nil, err
	}
	text, err := written(in)
	if err != nil {
		return nil, err
	}
	if ran != nil {
		if v, err := verify.Verify(ctx, in, ran, verify.Options{}); err != nil || !v.Feasible() {
			ran = nil
		}
	}
	d.in, d.hash, d.ran = in, hash, ran
	x := Loaded{Kind: in.Kind(), Name: in.ID(), Hash: hash, Instance: text, Said: model.AccountOf(in).Lines(), Reading: q.reading(f, in), Metric: metric(in, 0), Second: metric(in, 1), Variants: []Variant{}, Facts: []Fact{}}
	for _, v := range p.Variants {
		x.Variants = append(x.Variants, Variant{v.Flag, v.Get(in), v.Values})
	}
	for _, f := range p.Features(in) {
		if v := ask.Number(f.Value); v != nil {
			x.Facts = append(x.Facts, Fact{f.Key, f.Usage, f.Unit, v})
		}
	}
	x.Ran = ran != nil
	x.Proofs = slices.Contains(p.Engines(), "kernel")
	return x, nil
}

// Unread is the answer for a file that another program than the library reads. What lies on the desk stays there.
type Unread struct {
	Reader string `json:"reader"`
}

// isCluster reports whether a file is kubectl's JSON.
func isCluster(f *instances.File) bool {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	return f.Unread() != nil && json.Unmarshal(f.Text(), &head) == nil && head.APIVersion != "" && head.Kind != ""
}

// reading returns Loaded.Reading of a file and its instance.
func (q Load) reading(f *instances.File, in model.Instance) string {
	switch {
	case f.IsLog():
		return "logs"
	case f.IsPacking() && (q.Packing != "" || in.Kind() == model.KindVCSched): // bins of several types have one reading
		return "packings"
	}
	return ""
}

// read reads the file as gapwise convert does.
func (q Load) read(f *instances.File) (in model.Instance, ran *model.Execution, err error) {
	o := instances.Options{Platform: q.Platform, IfNeeded: true, Capacity: q.Capacity, Jobs: instances.SWFJobs{First: q.First, Seed: 1}}
	if f.IsLog() && q.Kind != "" {
		p, err := gapwise.ProblemOf(model.Kind(q.Kind))
		if err != nil {
			return nil, nil, err
		}
		o.Spec = p.Generator()
	}
	if f.IsPacking() {
		o.Kind = model.Kind(q.Packing)
	}
	o.Jobs.Ran = f.IsLog() && (q.Kind == "" || q.Kind == string(model.KindBatch))
	in, ran, err = f.WithRan(o)
	if err != nil && o.Jobs.Ran { // the log doesn't tell it
		o.Jobs.Ran = false
		in, ran, err = f.WithRan(o)
	}
	if err != nil && f.IsLog() && q.First > 0 { // it may have fewer
		o.Jobs.First = 0
		in, ran, err = f.WithRan(o)
	}
	return in, ran, err
}

func metric(in model.Instance, k int) Metric {
	all := in.Metrics()
	if k >= len(all) {
		return Metric{}
	}
	return Metric{all[k].Name, all[k].Unit, all[k].Sense == model.Minimise, all[k].Whole}
}

// written returns a value as JSON.
func written(x any) (json.RawMessage, error) {
	var b bytes.Buffer
	err := model.WriteJSON(&b, x)
	return b.Bytes(), err
}

// Explain is a question: why a result isn't better.
type Explain struct {
	Result     json.RawMessage `json:"result,omitempty"`
	Solution   json.RawMessage `json:"solution,omitempty"` // if there is no result
	Known      Known           `json:"known"`
	TimeLimitS float64         `json:"time_limit_s"`
}

// Known is what all solves of an instance have told: the best solution's objective, and the best bound, with the
// algorithm that proved it.
type Known struct {
	Objective *float64        `json:"objective"`
	Bound     *float64        `json:"bound"`
	Evidence  *model.Evidence `json:"evidence"`
	By        string          `json:"by"`
}

func (d *Desk) explain(ctx context.Context, q Explain, _ func(any)) (any, error) {
	r, err := d.claimed(ctx, q)
	if err == nil {
		err = ask.Accept(ctx, d.in, d.hash, r)
	}
	if err != nil {
		return nil, err
	}
	return explain.Explain(ctx, d.in, r, explain.Options{TimeLimit: time.Duration(q.TimeLimitS * 1e9), Seed: 1, Proof: true,
		Known: q.Known.Objective, Prove: "write one under Proof"})
}

// claimed returns the result to explain. The bound of a solution moved by hand is a quick one, or the known one.
func (d *Desk) claimed(ctx context.Context, q Explain) (model.Result, error) {
	if len(q.Result) > 0 {
		return model.DecodeResult(q.Result)
	}
	r := model.NewResult("moved by hand", 0)
	s, err := gapwise.CompleteSolution(ctx, d.in, q.Solution)
	if err == nil {
		err = r.SetSolution(d.in, s)
	}
	all := d.quick(ctx)
	if k := q.Known; k.Bound != nil {
		all = append(all, bounds.Bound{Value: *k.Bound, Evidence: k.Evidence})
		r.BoundOf = k.By
	}
	d.bound(&r, all, model.DefaultGap)
	return r, err
}

// Check is a question: whether a proof holds.
type Check struct {
	Proof string `json:"proof"`
}

func (d *Desk) check(ctx context.Context, q Check, _ func(any)) (any, error) {
	return ask.OfProof(ctx, d.in, d.hash, q.Proof)
}
