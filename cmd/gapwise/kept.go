// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/report"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// kept finds the solutions that gapwise bench --solutions has kept, and the instances
// that they solve: among those given, by the path that is the instance's name, or by
// the plan.
type kept struct {
	reading instances.Options
	given   map[string]model.Instance // by hash
	plan    func() (map[string]func() (model.Instance, error), error)
}

func newKept(c *cli.Command, given map[string]model.Instance, plan string) *kept {
	return &kept{readingOptions(c), given, sync.OnceValues(func() (map[string]func() (model.Instance, error), error) {
		p, err := benchmarks.LoadPlan(plan)
		if err != nil {
			return nil, err
		}
		cases, err := p.Instances()
		all := map[string]func() (model.Instance, error){}
		for _, c := range cases {
			all[c.Name] = c.Load
		}
		return all, err
	})}
}

// load returns the function that loads instance and solution of a record, judged; nil
// for a record without a solution that was kept.
func (k *kept) load(r *runs.Record) func(context.Context) (model.Instance, model.Solution, error) {
	if r.SolutionFile == "" {
		return nil
	}
	file := filepath.FromSlash(r.SolutionFile)
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(r.File), file)
	}
	return func(ctx context.Context) (model.Instance, model.Solution, error) {
		data, err := instances.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		res, err := model.DecodeResult(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		in, err := k.instance(r)
		if err != nil {
			return nil, nil, err
		}
		hash, err := model.Hash(in)
		if err == nil && (hash != r.Hash || res.InstanceHash != r.Hash || res.Solution == nil) {
			err = fmt.Errorf("%w result: %s isn't that of %s in %s", model.ErrInvalid, file, r.Algorithm, r.File)
		}
		if err != nil {
			return nil, nil, err
		}
		judged, err := verify.Verify(ctx, in, res.Solution, verify.Options{Hash: hash})
		if err == nil {
			err = judged.Err()
		}
		return in, res.Solution, err
	}
}

// instance finds the instance of a record.
func (k *kept) instance(r *runs.Record) (model.Instance, error) {
	if in := k.given[r.Hash]; in != nil {
		return in, nil
	}
	if in, err := instances.Read(r.Instance, k.reading); err == nil {
		if hash, err := model.Hash(in); err == nil && hash == r.Hash {
			return in, nil
		}
	}
	all, err := k.plan()
	if err != nil {
		return nil, fmt.Errorf("%w; give --plan FILE or the instances", err)
	}
	load := all[r.Instance]
	if load == nil {
		return nil, fmt.Errorf("%w plan: it has no instance %s", model.ErrInvalid, r.Instance)
	}
	return load()
}

// keep gives each run the function that loads its solution.
func keep(c *cli.Command, runs []report.Run, given map[string]model.Instance) {
	byPlan := map[string]*kept{}
	for i := range runs {
		r := &runs[i]
		plan := r.Plan
		if c.IsSet("plan") {
			plan = c.String("plan")
		}
		if byPlan[plan] == nil {
			byPlan[plan] = newKept(c, given, plan)
		}
		r.Load = byPlan[plan].load(&r.Record)
	}
}
