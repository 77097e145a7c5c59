// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// judging judges solutions that other programs have found, one after the other. It keeps the last instance with its quick
// bounds: further solutions of it cost the judge's time alone.
type judging struct {
	seed     uint64
	known    *gapwise.Case
	features map[string]float64 // of known, once a run was asked for
}

// foundSolution is a line for judging.
type foundSolution struct {
	Instance  json.RawMessage `json:"instance"` // none: as the line before
	Solution  json.RawMessage `json:"solution"` // null: none was found
	Algorithm string          `json:"algorithm"`
	ElapsedS  float64         `json:"elapsed_s"`
	Seed      *uint64         `json:"seed"`
	Reason    string          `json:"reason"`  // why there is no solution
	Run       string          `json:"run"`     // the answer is to hold a line of gapwise bench, too, with this name of the instance
	Files     []string        `json:"files"`   // the experiment's, of which a line of gapwise bench -a would have its plan's name
	Program   string          `json:"program"` // digest of the function (runs.Record)
	Hash      bool            `json:"hash"`    // the answer is to be the instance's hash alone
}

// step answers a line.
func (j *judging) step(ctx context.Context, line []byte) (answer step, err error) {
	var q foundSolution
	if err := json.Unmarshal(line, &q); err != nil {
		return answer, fmt.Errorf("%w line: %w", model.ErrInvalid, err)
	}
	if len(q.Instance) > 0 {
		in, err := model.DecodeInstance(q.Instance)
		if err != nil {
			return answer, err
		}
		known := gapwise.NewCase(in)
		if err := known.Validate(); err != nil {
			return answer, err
		}
		j.known, j.features = known, nil
	}
	switch {
	case j.known == nil:
		return answer, fmt.Errorf("%w line: the first one needs the key \"instance\"", model.ErrInvalid)
	case q.Hash:
		answer.Hash, err = j.known.Hash()
		return answer, err
	case q.Algorithm == "":
		return answer, fmt.Errorf("%w line: the key \"algorithm\" is missing: the name of the solution's source", model.ErrInvalid)
	case !(q.ElapsedS >= 0 && q.ElapsedS < 1e9):
		return answer, fmt.Errorf("%w line: elapsed_s is %g, must be seconds", model.ErrInvalid, q.ElapsedS)
	}
	in, own := j.known.Instance, runs.Given{Label: q.Algorithm, Elapsed: time.Duration(q.ElapsedS * 1e9), Reason: q.Reason}
	if len(q.Solution) > 0 && string(q.Solution) != "null" {
		if own.Solution, err = gapwise.CompleteSolution(ctx, in, q.Solution); err != nil {
			return answer, &gapwise.RefusedError{Name: q.Algorithm, Err: err}
		}
	}
	o := gapwise.Options{Solver: own, Settings: model.Settings{Seed: j.seed}}
	if q.Seed != nil {
		o.Seed = *q.Seed
	}
	if q.Run == "" {
		r, err := j.known.Solve(ctx, o)
		if err != nil {
			return answer, refusal(ctx, in, own, err)
		}
		answer.Result = &r
		return answer, nil
	}
	if j.features == nil {
		j.features = runs.FeatureValues(in)
	}
	x, err := benchmarks.Solve(ctx, j.known, j.features, o)
	if err == nil {
		err = x.Declined
	}
	if err != nil {
		return answer, refusal(ctx, in, own, err)
	}
	if len(q.Files) > 0 {
		x.Record.Plan = runs.AdHocName(q.Files)
	}
	x.Record.Instance, x.Record.Program, answer.Result = q.Run, q.Program, &x.Result
	answer.Run, err = x.Record.Encode()
	return answer, err
}

// refusal returns the judge's refusal of a solution in the place of an error that it leads to.
func refusal(ctx context.Context, in model.Instance, own runs.Given, err error) error {
	if own.Solution == nil {
		return err
	}
	report, failed := verify.Verify(ctx, in, own.Solution, verify.Options{})
	if failed == nil {
		failed = report.Err()
	}
	if failed != nil {
		return &gapwise.RefusedError{Name: own.Label, Err: failed}
	}
	return err
}
