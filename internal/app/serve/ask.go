// SPDX-License-Identifier: MIT

package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/explain"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// VerifyRequest asks for a judgement.
type VerifyRequest struct {
	Instance  jsontext.Value `json:"instance" schema:"instance"`
	Solution  jsontext.Value `json:"solution" schema:"solution or result" about:"a result, or a bare solution, which may leave out what follows from the rest"`
	Tolerance *float64       `json:"tolerance,omitempty" about:"relative to the capacity at hand; left out: 1e-9"`
}

// BoundRequest asks for bounds.
type BoundRequest struct {
	Instance jsontext.Value `json:"instance" schema:"instance"`
	Options  Limit          `json:"options,omitzero"`
}

// Limit limits requests other than solves.
type Limit struct {
	TimeLimitS float64 `json:"time_limit_s,omitempty" about:"in seconds; left out: 10, or the service's longest if that is shorter"`
}

// ExplainRequest asks for an explanation.
type ExplainRequest struct {
	Instance jsontext.Value `json:"instance" schema:"instance"`
	Result   jsontext.Value `json:"result,omitempty" schema:"result" about:"what was solved; left out: the instance is solved first"`
	Options  Options        `json:"options,omitzero" about:"the time limit is for solving, and again for explaining; with result, the others but the seed are refused"`
}

// CheckRequest asks for a proof to be replayed.
type CheckRequest struct {
	Instance jsontext.Value `json:"instance" schema:"instance"`
	Proof    string         `json:"proof" about:"as gapwise solve --proof writes it, as text"`
}

type (
	verdictOf   struct{ ask.Verdict }
	explanation struct{ explain.Explanation }
)

// ask answers a POST that is no solve: it reads the request, waits for a slot, and has the
// answer computed within a time limit.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, q any, answer func(context.Context, *pass) (any, error)) {
	p, err := s.body(w, r, q)
	if err != nil {
		s.fail(w, failureOf(err, "body"))
		return
	}
	defer p.leave()
	var x any
	if err := s.work(r.Context(), p, func(ctx context.Context) (err error) { x, err = answer(ctx, p); return err }); err != nil {
		s.fail(w, failureOf(err, "body"))
		return
	}
	if drawn, ok := x.(picture); ok {
		writeText(w, http.StatusOK, drawn.contentType, drawn.data)
		return
	}
	s.write(w, http.StatusOK, x)
}

// verify answers POST /v1/verify.
func (s *Server) verify(w http.ResponseWriter, r *http.Request) {
	var q VerifyRequest
	s.ask(w, r, &q, func(ctx context.Context, p *pass) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, s.TimeLimit)
		defer cancel()
		in, err := p.instance(ctx, q.Instance)
		if err != nil {
			return nil, err
		}
		if t := q.Tolerance; t != nil && !(*t >= 0 && *t < 1) {
			return nil, failuref(http.StatusBadRequest, "tolerance", "leave it out", "tolerance is %v, must be from 0 to below 1", *t)
		}
		x, _, _, err := judged(ctx, in, q.Solution, "solution", verify.Options{Tolerance: q.Tolerance, Valid: true})
		return x, err
	})
}

// judged has a result or a bare solution judged, in the instance's variant for which it was made, and returns both with
// the judgement.
func judged(ctx context.Context, in model.Instance, data []byte, where string, o verify.Options) (v ask.Verdict, of model.Instance, r model.Result, err error) {
	if len(data) == 0 {
		return v, in, r, failuref(http.StatusBadRequest, "body", "see /v1/openapi.json", "the key %s is missing", where)
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(data, &keys) // data that are no object have no keys, and the decoders report it
	_, whole := keys["status"]
	if whole {
		r, err = model.DecodeResult(data)
	} else {
		r = model.NewResult(ask.Bare, 0)
		r.Solution, err = gapwise.CompleteSolution(ctx, in, data)
	}
	if err != nil {
		return v, in, r, failureOf(err, where)
	}
	if of = ask.AsSolved(in, r.Solution, func(string) bool { return false }); of != in {
		if err := of.Validate(); err != nil {
			return v, of, r, failureOf(err, "instance")
		}
	}
	if o.Hash, err = model.Hash(of); err != nil {
		return v, of, r, err
	}
	claim := &r
	switch {
	case !whole:
		claim = nil
	case r.InstanceHash != o.Hash:
		return v, of, r, failuref(http.StatusBadRequest, where, "send the instance that it is of", "the result is of the instance %q (%.15s...), not of this one (%.15s...)", r.Instance, r.InstanceHash, o.Hash)
	}
	if v, _, err = ask.Judge(ctx, of, claim, r.Solution, o); err != nil {
		return v, of, r, failureOf(err, where)
	}
	return v, of, r, nil
}

// accepted is judged, with an error if the judge refuses.
func accepted(ctx context.Context, in model.Instance, data []byte, where string) (v ask.Verdict, of model.Instance, r model.Result, err error) {
	if v, of, r, err = judged(ctx, in, data, where, verify.Options{Valid: true}); err == nil && !v.Accepted {
		err = failuref(http.StatusUnprocessableEntity, where, "POST /v1/verify says all that is wrong", "the judge refuses the %s: %s",
			where, v.Violations[0].Constraint+" "+v.Violations[0].Where)
	}
	return v, of, r, err
}

// bound answers POST /v1/bound.
func (s *Server) bound(w http.ResponseWriter, r *http.Request) {
	var q BoundRequest
	s.ask(w, r, &q, func(ctx context.Context, p *pass) (any, error) {
		limit, err := s.seconds(q.Options.TimeLimitS)
		if err != nil {
			return nil, err
		}
		in, err := p.instance(ctx, q.Instance)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return ask.BoundsOf(ctx, in)
	})
}

// explain answers POST /v1/explain.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	var q ExplainRequest
	s.ask(w, r, &q, func(ctx context.Context, p *pass) (any, error) {
		in, err := p.instance(ctx, q.Instance)
		if err != nil {
			return nil, err
		}
		o, err := s.options(in, q.Options)
		if err != nil {
			return nil, failureOf(err, "options")
		}
		if set := (Options{TimeLimitS: q.Options.TimeLimitS, Seed: q.Options.Seed}); len(q.Result) > 0 && !reflect.DeepEqual(q.Options, set) {
			return nil, failuref(http.StatusBadRequest, "options", "leave out the others, or result", "of the options only time_limit_s and seed go with a result, which isn't solved again")
		}
		var res model.Result
		if len(q.Result) == 0 {
			res, err = s.solved(ctx, in, o)
		} else {
			var v ask.Verdict
			v, in, res, err = accepted(ctx, in, q.Result, "result")
			if err == nil && v.Status == "" {
				res, err = ask.Bounded(ctx, in, res.Solution, o.TimeLimit)
			}
		}
		if err != nil {
			return nil, failureOf(err, "instance")
		}
		x, err := explain.Explain(ctx, in, res, explain.Options{TimeLimit: o.TimeLimit, Seed: o.Seed, Proof: true})
		if err != nil {
			return nil, failureOf(err, "instance")
		}
		return x, nil
	})
}

// check answers POST /v1/check.
func (s *Server) check(w http.ResponseWriter, r *http.Request) {
	var q CheckRequest
	s.ask(w, r, &q, func(ctx context.Context, p *pass) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, s.TimeLimit)
		defer cancel()
		in, err := p.instance(ctx, q.Instance)
		if err != nil {
			return nil, err
		}
		hash, err := model.Hash(in)
		if err != nil {
			return nil, err
		}
		if q.Proof == "" {
			return nil, failuref(http.StatusBadRequest, "body", "see /v1/openapi.json", "the key proof is missing or empty")
		}
		return ask.OfProof(ctx, in, hash, q.Proof)
	})
}

// algorithms answers GET /v1/algorithms.
func (s *Server) algorithms(w http.ResponseWriter, _ *http.Request) {
	s.write(w, http.StatusOK, ask.Algorithms(model.Kinds()...))
}
