package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// RunOptions of a plan's run.
type RunOptions struct {
	Results string // the file to append to; its folder is made if need be
	Workers int    // instances solved side by side; 0 means 1
	// Started, if not nil, is called once with the number of runs in the
	// plan and how many of them the results file holds already; Done after
	// each run. Calls don't overlap.
	Started func(total, done int)
	Done    func(Record)
}

// Run solves the plan's instances, appending one line for each run as it ends.
// Runs that the results file holds already are not repeated, so a plan that was
// killed goes on where it was, less the runs in flight. When ctx ends, runs in
// flight are dropped, and the error is ctx's. A defect ends the run.
func Run(ctx context.Context, p *Plan, o RunOptions) error {
	cases, err := p.Cases()
	if err != nil {
		return err
	}
	for i := range p.Algorithms {
		if p.Algorithms[i].Name == glpkName {
			if err := glpkThere(); err != nil {
				return err
			}
		}
	}
	options := map[string]string{}
	for i := range p.Algorithms {
		options[p.Algorithms[i].Label] = p.Algorithms[i].settings()
	}
	done := map[string]bool{}
	hashes := map[string]string{} // of the instances in the results file
	records, whole, err := ReadRecords(o.Results)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	}
	for i := range records {
		if records[i].Plan != p.Name {
			return fmt.Errorf("%w results: %s holds runs of the plan %q, not %q; give another file", model.ErrInvalid, o.Results, records[i].Plan, p.Name)
		}
		if is, ok := options[records[i].Algorithm]; ok && is != records[i].Options {
			return fmt.Errorf("%w results: %s holds runs of %q with the options %q, the plan says %q; give another file",
				model.ErrInvalid, o.Results, records[i].Algorithm, records[i].Options, is)
		}
		done[records[i].key()] = true
		hashes[records[i].Instance] = records[i].Hash
	}
	if err := os.MkdirAll(filepath.Dir(o.Results), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(o.Results, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	// A torn last line goes.
	if err := errors.Join(file.Truncate(whole), seekEnd(file)); err != nil {
		return err
	}
	type job struct {
		c    *Case
		runs []run
	}
	var jobs []job
	total, have := 0, 0
	for i := range cases {
		j := job{c: &cases[i]}
		for k := range p.Algorithms {
			if !p.Algorithms[k].runs(j.c) {
				continue
			}
			for _, seed := range p.Seeds {
				total++
				r := Record{Instance: j.c.Name, Algorithm: p.Algorithms[k].Label, Seed: seed}
				if done[r.key()] {
					have++
				} else {
					j.runs = append(j.runs, run{&p.Algorithms[k], seed})
				}
			}
		}
		if len(j.runs) > 0 {
			jobs = append(jobs, j)
		}
	}
	if o.Started != nil {
		o.Started(total, have)
	}
	var write sync.Mutex
	outer := ctx
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			in, err := j.c.load(hashes)
			if err != nil {
				return err
			}
			for _, r := range j.runs {
				res, err := r.solve(ctx, in)
				if ctx.Err() != nil {
					return ctx.Err() // the run was cut short: it doesn't count
				}
				if err != nil {
					return fmt.Errorf("%s by %s: %w", j.c.Name, r.a.Label, err)
				}
				rec := newRecord(p.Name, j.c, r.a, res)
				line, err := json.Marshal(rec)
				if err != nil {
					return err
				}
				write.Lock()
				_, err = file.Write(append(line, '\n'))
				if err == nil && o.Done != nil {
					o.Done(rec)
				}
				write.Unlock()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return outer.Err()
}

// load makes the instance and holds it against the results there are: a file
// that changed or another generator would mix two instances under one name.
func (c *Case) load(hashes map[string]string) (model.Instance, error) {
	in, err := c.Load()
	if err != nil {
		return nil, err
	}
	if want, ok := hashes[c.Name]; ok {
		hash, err := model.Hash(in)
		if err != nil {
			return nil, err
		}
		if hash != want {
			return nil, fmt.Errorf("%w results: the instance %s has changed since they were made; give another file", model.ErrInvalid, c.Name)
		}
	}
	return in, nil
}

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, 2)
	return err
}

// run is one algorithm with one seed.
type run struct {
	a    *Algorithm
	seed uint64
}

func (r run) solve(ctx context.Context, in model.Instance) (model.Result, error) {
	o := r.a.options(r.seed)
	if r.a.Name == glpkName {
		o.Algorithm, o.Formulation = "", ""
		o.Solver = glpk{r.a.Formulation}
	}
	return gapwise.Solve(ctx, in, o)
}
