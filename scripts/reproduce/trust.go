// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit"
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
func proofs(set, limit string, step int) *proved {
	most := must(strconv.ParseInt(limit, 10, 64))
	p := &proved{Set: set, Step: step}
	files := must(filepath.Glob(filepath.Join(instances.DataFolder(), set)))
	for _, f := range files {
		in, err := instances.Load(f)
		if err != nil || in.Validate() != nil {
			continue // a solution, or what was found to be no instance
		}
		p.one(in, most)
	}
	if len(files) > 0 {
		return p
	}
	all := must(must(benchmarks.LoadPlan(set)).Instances())
	for k := 0; k < len(all); k += step {
		p.one(must(all[k].Load()), most)
	}
	return p
}

// one proves an instance and checks the proof.
func (p *proved) one(in model.Instance, limit int64) {
	ctx := context.Background()
	o := gapwise.Options{Algorithm: "exact", Engine: "kernel", Settings: model.Settings{Effort: limit}}
	p.Instances++
	var b bytes.Buffer
	z := must(gzip.NewWriterLevel(&b, gzip.BestSpeed))
	with := o
	with.Proof = &model.ProofWriter{Writer: z}
	var r model.Result
	prove, err := cpuSeconds(func() (err error) { r, err = gapwise.Solve(ctx, in, with); return errors.Join(err, z.Close()) })
	if errors.Is(err, model.ErrUnsupported) || errors.Is(err, gapwise.ErrUnknownAlgorithm) {
		p.Refused++
		return
	}
	defer within(in.ID())
	check(err)
	solve := must(cpuSeconds(func() error { _, err := gapwise.Solve(ctx, in, o); return err }))
	hash, size := must(model.Hash(in)), b.Len()
	var claim verify.Proved
	checked, wrong := cpuSeconds(func() (err error) { claim, err = verify.Proof(ctx, in, hash, &b); return err })
	p.Solve, p.Prove, p.Check = p.Solve+solve, p.Prove+prove, p.Check+checked
	p.Steps, p.Nogoods, p.Bytes = p.Steps+claim.Steps, p.Nogoods+claim.Nogoods, p.Bytes+size
	p.Largest, p.Slowest = max(p.Largest, float64(size)/1e6), max(p.Slowest, checked)
	switch close := model.Gap(r.Objective, claim.Bound) <= model.DefaultGap; {
	case wrong != nil, !close && model.SenseOf(in).Better(r.Objective, claim.Bound):
		p.Wrong++
	case close, r.Status == model.StatusInfeasible:
		p.Optimal++
	default:
		p.Open++
	}
}

// cpuSeconds returns the CPU seconds that a function takes, those of all threads.
func cpuSeconds(do func() error) (float64, error) {
	before := cpu.Time()
	err := do()
	return (cpu.Time() - before).Seconds(), err
}

// audit compares everything that gapwise claims, of about so many instances of each problem, and returns what was
// compared as Markdown.
func (r *runner) audit(seed string, instances map[string]any) string {
	all := audit.NewTally()
	for _, kind := range model.Kinds() {
		all.Add(r.audited(string(kind), codeOf(string(kind)), fmt.Sprint(instances[string(kind)]), seed))
	}
	return all.Trust()
}

// audited compares what is claimed of a problem, once for its code.
func (r *runner) audited(kind, code, instances, seed string) *audit.Tally {
	file := fmt.Sprintf("results/audit-%s-%s-%s-%s.json", kind, code, instances, seed)
	defer within(file)
	text := once(file, func() string {
		if _, err := output(r.gapwise, "audit", "--kind", kind, "--time", "0s", "--instances", instances, "--seed", seed, "--workers", r.workers,
			"--counts", file, "-o", "results/audit"); err != nil {
			os.Remove(file) // what disagrees isn't kept
			panic(fmt.Errorf("%w; what disagrees is in results/audit", err))
		}
		return string(must(os.ReadFile(file)))
	})
	var report audit.Report
	check(json.Unmarshal([]byte(text), &report))
	return report.Tally
}
