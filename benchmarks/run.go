package benchmarks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/caught"
	"github.com/gapwise/gapwise/model"
)

// RunOptions configure Run.
type RunOptions struct {
	Results string // the file to append to; it is created if need be
	// Folder, in place of Results, is a folder of results files. The runs go to a new
	// file in it, and those that any file in it holds aren't repeated.
	Folder string
	Shard  Shard // the share of the plan's runs; the zero value is all
	// Instances, if not nil, restricts the runs to instances whose name it matches.
	Instances *regexp.Regexp
	Workers   int // instances solved at the same time; 0: 1
	// Solutions, if not empty, is a folder for each run's result with its solution.
	Solutions string
	// Without names devices to switch off, of the native search (Problem.Devices) or
	// the kernel (Problem.KernelDevices).
	Without []string
	// Started, if not nil, is called once with the number of runs in the share
	// and the number of those that the results hold; Done, if not nil,
	// after each run. Calls don't overlap.
	Started func(total, done int)
	Done    func(Record)
	// Ended, if not nil, is called once after the last run, also if ctx ended or a run
	// failed; not if the plan or the results were refused.
	Ended func(Summary)
	// Said, if not nil, is called once with each line that there is to say of the
	// instances' logs. Calls don't overlap.
	Said func(line string)
}

// Run solves the plan's instances and appends a line to the results file after
// each run. It doesn't repeat runs that the file holds, so a plan that was killed
// continues, unless it is of another version or commit (see goesOn); only the runs at
// work then are lost. The file is locked meanwhile.
// If ctx ends, the runs at work are dropped and the error is ctx.Err(). The first
// error of a run, such as a *gapwise.DefectError, ends the plan.
func Run(ctx context.Context, p *Plan, o RunOptions) (err error) {
	began, cpu := time.Now(), cpuTime()
	cases, err := p.Instances()
	if err != nil {
		return err
	}
	if err := p.useful(cases); err != nil {
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
	algorithms := slices.Clone(p.Algorithms) // the plan may be run by others, too
	searches := 0
	for i := range algorithms {
		if algorithms[i].engine() != "" {
			algorithms[i].without = o.Without
			searches++
		}
	}
	if len(o.Without) > 0 && searches == 0 {
		return fmt.Errorf("%w plan: none of its algorithms is the native search or the kernel, whose devices could be switched off", model.ErrInvalid)
	}
	for i := range algorithms {
		options[algorithms[i].Label] = algorithms[i].settings()
	}
	var results *results
	if o.Folder != "" {
		results, err = openFolder(o.Folder, o.Shard.Stem(p.Name))
	} else {
		results, err = openResults(o.Results, p.Name)
	}
	if err != nil {
		return err
	}
	defer results.close()
	done := map[string]*Record{}
	hashes := map[string]string{} // of the instances in the results file
	for i := range results.records {
		r := &results.records[i]
		if r.Plan != p.Name {
			return fmt.Errorf("%w results: %s holds runs of the plan %q, not %q; give another file", model.ErrInvalid, r.File, r.Plan, p.Name)
		}
		is, ours := options[r.Algorithm]
		switch {
		case !ours:
		case is != r.Options:
			return fmt.Errorf("%w results: %s holds runs of %q with the options %q, the plan says %q; give another file",
				model.ErrInvalid, r.File, r.Algorithm, r.Options, is)
		case r.Version != gapwise.Version:
			return fmt.Errorf("%w results: %s is of gapwise %s, this is %s, and one plan isn't run by two; give another file, or move this one away to run all of it anew",
				model.ErrInvalid, r.at(), r.Version, gapwise.Version)
		case !r.Sealed:
			return fmt.Errorf("%w results: %s, a run of %s, isn't as gapwise bench has written it; take the line out and it is run anew",
				model.ErrInvalid, r.at(), r.Algorithm)
		}
		done[r.key()] = r
		hashes[r.Instance] = r.Hash
	}
	type job struct {
		c    *instances.Planned
		runs []run
	}
	var jobs []job
	total, besides := 0, len(done)
	var have []Record // of the share
	all, err := p.list(cases, algorithms, o.Shard.Of, func(l listed) error {
		if done[l.key()] != nil {
			besides--
		}
		if l.shard != o.Shard.Index || o.Instances != nil && !o.Instances.MatchString(l.instance.Name) {
			return nil
		}
		total++
		if r := done[l.key()]; r != nil {
			have = append(have, *r)
			return nil
		}
		if len(jobs) == 0 || jobs[len(jobs)-1].c != l.instance {
			jobs = append(jobs, job{c: l.instance})
		}
		last := &jobs[len(jobs)-1]
		last.runs = append(last.runs, run{l.algorithm, l.seed, l.number})
		return nil
	})
	if err != nil {
		return err
	}
	if total == 0 && o.Instances != nil {
		return fmt.Errorf("%w plan: the name of no instance matches %q; one is %s", model.ErrInvalid, o.Instances, cases[0].Name)
	}
	if len(jobs) > 0 {
		for i := range results.records {
			r := &results.records[i]
			if _, ours := options[r.Algorithm]; ours {
				if err := goesOn(r, built().Commit); err != nil {
					return err
				}
			}
		}
	}
	if err := results.mend(); err != nil {
		return err
	}
	if o.Solutions != "" {
		if err := os.MkdirAll(o.Solutions, 0o755); err != nil {
			return fmt.Errorf("%w solutions: %w", model.ErrInvalid, err)
		}
	}
	if besides > 0 && o.Said != nil {
		o.Said(fmt.Sprintf("%s holds %d runs more, which the plan doesn't have now; gapwise table and report count them, too", cmp.Or(o.Folder, o.Results), besides))
	}
	if o.Started != nil {
		o.Started(total, len(have))
	}
	before := len(have)
	defer func() {
		if o.Ended == nil {
			return
		}
		s := Summary{Plan: p.Name, PlanDigest: all.digest, Shard: o.Shard.String(), Runs: total, Ran: len(have) - before, Began: began, Workers: max(1, o.Workers)}
		if now := cpuTime(); now != nil && cpu != nil {
			s.CPUS = optional(*now - *cpu)
		}
		s.summarize(algorithms, have, err)
		o.Ended(s)
	}()
	var write, say sync.Mutex
	said := map[string]bool{}
	wrote := func(rec Record, line []byte) error {
		write.Lock()
		defer write.Unlock()
		if err := results.append(line); err != nil {
			return err
		}
		rec.Sealed = true
		have = append(have, rec)
		if o.Done != nil {
			o.Done(rec)
		}
		return nil
	}
	outer := ctx
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			return caught.Call(func() error {
				c, report, err := unlessDone(ctx, func() (*gapwise.Case, string, error) { return load(j.c, hashes) })
				if err != nil {
					return err
				}
				say.Lock()
				if report != "" && !said[report] && o.Said != nil {
					o.Said(report)
				}
				said[report] = true
				say.Unlock()
				features := model.Features(c.Instance)
				for _, r := range j.runs {
					track := &tracker{sense: model.SenseOf(c.Instance), began: time.Now()}
					res, err := r.solve(ctx, c, track.progress)
					if ctx.Err() != nil {
						return ctx.Err() // the run was cut short: it doesn't count
					}
					if err != nil {
						return fmt.Errorf("%s by %s: %w", j.c.Name, r.a.Label, err)
					}
					rec, err := newRecord(p.Name, j.c, c.Instance, features, r.a, res)
					if err != nil {
						return err
					}
					rec.Trajectory = track.trajectory(res)
					rec.Run, rec.Runs, rec.PlanDigest, rec.Shard = r.number, all.runs, all.digest, o.Shard.String()
					if err := rec.keep(o.Solutions, cmp.Or(o.Folder, filepath.Dir(o.Results)), res); err != nil {
						return err
					}
					line, err := rec.line()
					if err != nil {
						return err
					}
					if err := wrote(rec, line); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return outer.Err()
}

// goesOn returns an error if a build of a commit may not add runs to those that r is
// one of: it may only if both are of the same code, as far as that is known. A file
// whose runs are all there may be of any commit.
func goesOn(r *Record, commit string) error {
	named := func(c string) string { return cmp.Or(c, "unknown") }
	switch {
	case r.Commit != commit:
		return fmt.Errorf("%w results: %s is of commit %s, this is commit %s, and one plan isn't run by two; give another file, or move this one away to run all of it anew",
			model.ErrInvalid, r.at(), named(r.Commit), named(commit))
	case gapwise.Changed(commit):
		return fmt.Errorf("%w results: %s is of uncommitted changes, which may be others now, and can't be gone on with; give another file, or commit and run all of it anew",
			model.ErrInvalid, r.at())
	}
	return nil
}

// load makes the instance and returns what there is to say of its log. It returns an error if results hold another instance
// of the same name: its file has changed, or its generator.
func load(c *instances.Planned, hashes map[string]string) (*gapwise.Case, string, error) {
	in, report, err := c.LoadReported()
	if err != nil {
		return nil, "", err
	}
	one := gapwise.NewCase(in)
	if want, ok := hashes[c.Name]; ok {
		hash, err := one.Hash()
		if err != nil {
			return nil, "", err
		}
		if hash != want {
			return nil, "", fmt.Errorf("%w results: the instance %s has changed since they were made; give another file", model.ErrInvalid, c.Name)
		}
	}
	return one, report, nil
}

// unlessDone loads an instance, but doesn't wait for it when the context ends: a large
// file or a long log takes a while.
func unlessDone(ctx context.Context, load func() (*gapwise.Case, string, error)) (*gapwise.Case, string, error) {
	type loaded struct {
		c      *gapwise.Case
		report string
		err    error
	}
	done := make(chan loaded, 1)
	go func() {
		var l loaded
		l.err = caught.Call(func() (err error) { l.c, l.report, err = load(); return err })
		done <- l
	}()
	select {
	case l := <-done:
		return l.c, l.report, l.err
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
}

// run is one algorithm with one seed.
type run struct {
	a      *Algorithm
	seed   uint64
	number int // in the plan
}

func (r run) solve(ctx context.Context, c *gapwise.Case, progress func(model.Progress)) (model.Result, error) {
	o, err := r.a.options(c.Instance.Kind(), r.seed)
	if err != nil {
		return model.Result{}, err
	}
	o.Progress = progress
	if s := r.a.solver(); s != nil {
		o.Algorithm, o.Formulation = "", ""
		o.Solver = s
	}
	res, err := c.Solve(ctx, o)
	var refused *gapwise.RefusedError
	if !errors.Is(err, model.ErrUnsupported) && !errors.As(err, &refused) {
		return res, err
	}
	// An instance that a formulation doesn't support doesn't end the plan, nor does a
	// wrong solution of a user's program.
	in := c.Instance
	hash, hashErr := c.Hash()
	elapsed := res.Elapsed
	res = model.NewResult(r.a.Name, r.seed)
	res.Elapsed = elapsed
	res.Instance, res.InstanceHash, res.Kind, res.Version, res.Reason = in.ID(), hash, in.Kind(), gapwise.Version, err.Error()
	return res, hashErr
}
