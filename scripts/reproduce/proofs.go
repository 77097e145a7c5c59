// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/run/cpu"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// proved is what was measured on the proofs of a set of instances.
type proved struct {
	Set              string
	Step             int // one instance in so many is taken
	Instances        int
	Refused          int // instances that the kernel writes no proof of
	Optimal          int // whose proof is of the value of the solution at hand
	Open             int // of a bound only, by the limit of the effort
	Wrong            int // that the checker refused, or whose claim a solution beats
	Steps, Nogoods   int
	Bytes            int     // packed
	Solve, Prove     float64 // CPU seconds of the kernel without and with a proof
	Check            float64
	Largest, Slowest float64 // packed MB of the largest proof, CPU seconds of the longest check
}

// PerSolve returns the CPU time of the checker for a second of the kernel with a
// proof.
func (p *proved) PerSolve() float64 { return p.Check / p.Prove }

// MB returns the size of all proofs in megabytes, packed.
func (p *proved) MB() float64 { return float64(p.Bytes) / 1e6 }

// proofs proves instances, checks the proofs and measures both, with a limit on the effort of
// each: those of the files of a pattern in
// instances.DataFolder, or every step-th of a plan.
func proofs(set, limit string, step int) (*proved, error) {
	most, err := strconv.ParseInt(limit, 10, 64)
	if err != nil {
		return nil, err
	}
	p := &proved{Set: set, Step: step}
	files, err := filepath.Glob(filepath.Join(instances.DataFolder(), set))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		in, err := instances.Load(f)
		if err != nil || in.Validate() != nil {
			continue // a solution, or what was found to be no instance
		}
		if err := p.one(in, most); err != nil {
			return nil, err
		}
	}
	if len(files) > 0 {
		return p, nil
	}
	plan, err := benchmarks.LoadPlan(set)
	if err != nil {
		return nil, err
	}
	all, err := plan.Instances()
	if err != nil {
		return nil, err
	}
	for k := 0; k < len(all); k += step {
		in, err := all[k].Load()
		if err == nil {
			err = p.one(in, most)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// one proves an instance and checks the proof.
func (p *proved) one(in model.Instance, limit int64) error {
	ctx := context.Background()
	o := gapwise.Options{Algorithm: "exact", Engine: "kernel", Settings: model.Settings{Effort: limit}}
	p.Instances++
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return err
	}
	with := o
	with.Proof = &model.ProofWriter{Writer: z}
	var r model.Result
	prove, err := cpuSeconds(func() (err error) { r, err = gapwise.Solve(ctx, in, with); return errors.Join(err, z.Close()) })
	if errors.Is(err, model.ErrUnsupported) || errors.Is(err, gapwise.ErrUnknownAlgorithm) {
		p.Refused++
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", in.ID(), err)
	}
	solve, err := cpuSeconds(func() error { _, err := gapwise.Solve(ctx, in, o); return err })
	if err != nil {
		return fmt.Errorf("%s: %w", in.ID(), err)
	}
	hash, err := model.Hash(in)
	if err != nil {
		return err
	}
	size := b.Len()
	var claim verify.Proved
	check, wrong := cpuSeconds(func() (err error) { claim, err = verify.Proof(ctx, in, hash, &b); return err })
	p.Solve, p.Prove, p.Check = p.Solve+solve, p.Prove+prove, p.Check+check
	p.Steps, p.Nogoods, p.Bytes = p.Steps+claim.Steps, p.Nogoods+claim.Nogoods, p.Bytes+size
	p.Largest, p.Slowest = max(p.Largest, float64(size)/1e6), max(p.Slowest, check)
	switch close := model.Gap(r.Objective, claim.Bound) <= model.DefaultGap; {
	case wrong != nil, !close && model.SenseOf(in).Better(r.Objective, claim.Bound):
		p.Wrong++
	case close, r.Status == model.StatusInfeasible:
		p.Optimal++
	default:
		p.Open++
	}
	return nil
}

// cpuSeconds returns the CPU seconds that a function takes, those of all threads.
func cpuSeconds(do func() error) (float64, error) {
	before := cpu.Time()
	err := do()
	return (cpu.Time() - before).Seconds(), err
}
