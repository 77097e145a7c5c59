// SPDX-License-Identifier: MIT

package benchmarks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// RunOptions configure Run.
type RunOptions struct {
	Results string // the file to append to; it is created if need be
	// Folder, in place of Results, is a folder of results files. The runs go to a new
	// file in it, and those that any file in it holds aren't repeated.
	Folder string
	Shard  Shard // the share of the plan's runs; the zero value is all
	// Instances, if not nil, restricts the runs to instances with a matching name.
	Instances *regexp.Regexp
	Workers   int // instances solved at the same time; 0: 1
	// Solutions, if not empty, is a folder for each run's result with its solution.
	Solutions string
	// Started, if not nil, is called once with the number of runs in the share and how many of them the results hold;
	// Done, if not nil, after each run. Calls don't overlap.
	Started func(total, done int)
	Done    func(runs.Record)
	// Ended, if not nil, is called once after the last run, also if ctx ended or a run
	// failed; not if the plan or the results were refused.
	Ended func(Summary)
	// Said, if not nil, is called once with each line of the reports on the instances' logs. Calls don't overlap.
	Said func(line string)
}

// Run solves the plan's instances and appends a line to the results file after each run. It doesn't repeat runs that
// the file holds, so a plan that was killed continues, unless it is of another version or commit (see goesOn). Only the
// runs at work then are lost. The file is locked while it runs. If ctx ends, the runs at work are dropped and the error
// is ctx.Err(). The first error of a run, such as a *gapwise.DefectError, ends the plan.
func Run(ctx context.Context, p *Plan, o RunOptions) error {
	began, cpu := time.Now(), cpuTime()
	e, err := prepare(p, o)
	if err != nil {
		return err
	}
	defer e.results.close()
	before := len(e.have)
	if o.Started != nil {
		o.Started(e.total, before)
	}
	err = e.run(ctx)
	if o.Ended != nil {
		s := Summary{Plan: p.Name, PlanDigest: e.listing.digest, Shard: o.Shard.String(), Runs: e.total, Ran: len(e.have) - before, Unread: e.unread, Began: began, Workers: max(1, o.Workers)}
		if now := cpuTime(); now != nil && cpu != nil {
			s.CPUS = runs.Optional(*now - *cpu)
		}
		s.summarize(e.algorithms, e.have, err)
		o.Ended(s)
	}
	return err
}

// execution is a plan that runs.
type execution struct {
	plan *Plan
	RunOptions
	algorithms []Algorithm // the plan's, which others may run, too
	options    map[string]string
	programs   map[string]string // digests of the users' programs, by label
	results    *results
	done       map[string]*runs.Record // by Record.Key
	hashes     map[string]string       // of the instances in the results
	listing    listing
	jobs       []job
	total      int           // runs of the share
	have       []runs.Record // of the share

	write, say sync.Mutex
	said       map[string]bool
	unread     int // files of folders
}

// job is an instance with the runs to do on it. One without any is made nevertheless: its results may be of another
// instance of this name.
type job struct {
	c    *instances.Planned
	runs []run
}

// prepare opens the results and lists the runs to do. It refuses what can be refused before anything runs.
func prepare(p *Plan, o RunOptions) (_ *execution, err error) {
	cases, err := p.Instances()
	if err != nil {
		return nil, err
	}
	if err := p.useful(cases); err != nil {
		return nil, err
	}
	e := &execution{plan: p, RunOptions: o, algorithms: slices.Clone(p.Algorithms), options: map[string]string{}, programs: map[string]string{}, said: map[string]bool{}}
	if err := e.choose(); err != nil {
		return nil, err
	}
	if o.Folder != "" {
		e.results, err = openFolder(o.Folder, o.Shard.Stem(p.Name))
	} else {
		e.results, err = openResults(o.Results, p.Name)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.results.close()
		}
	}()
	if err := e.goOn(); err != nil {
		return nil, err
	}
	besides, err := e.list(cases)
	if err != nil {
		return nil, err
	}
	if err := e.results.mend(); err != nil {
		return nil, err
	}
	if o.Solutions != "" {
		if err := replace.Folder(o.Solutions); err != nil {
			return nil, err
		}
	}
	if besides > 0 && o.Said != nil {
		o.Said(fmt.Sprintf("%s holds %s that the plan doesn't have now; gapwise bench table and gapwise report count them, too", cmp.Or(o.Folder, o.Results), words.Plural(besides, "run")))
	}
	return e, nil
}

// choose readies the algorithms.
func (e *execution) choose() error {
	for i := range e.algorithms {
		a := &e.algorithms[i]
		if a.Name == runs.GLPK {
			if err := glpkThere(); err != nil {
				return err
			}
		}
		e.options[a.Label] = a.settings()
		e.programs[a.Label], a.files = a.program()
	}
	return nil
}

// goOn takes the runs that the results hold, if they can be gone on with. Of one run by several states of a user's
// program the last one counts, as in runs.Current.
func (e *execution) goOn() error {
	changed := map[string]string{} // the runs by another state of a program: the labels, by Record.Key
	e.done, e.hashes = map[string]*runs.Record{}, map[string]string{}
	for i := range e.results.records {
		r := &e.results.records[i]
		if r.Plan != e.plan.Name {
			return fmt.Errorf("%w results: %s holds runs of the plan %q, not %q; give another file", model.ErrInvalid, r.File, r.Plan, e.plan.Name)
		}
		is, ours := e.options[r.Algorithm]
		switch {
		case !ours:
		case is != r.Options:
			return fmt.Errorf("%w results: %s holds runs of %q with the options %q, the plan says %q; give another file",
				model.ErrInvalid, r.File, r.Algorithm, r.Options, is)
		case r.Version != gapwise.Version:
			return fmt.Errorf("%w results: %s is of gapwise %s, this is %s, and one plan isn't run by two; give another file, or move this one away to run all of it anew",
				model.ErrInvalid, r.At(), r.Version, gapwise.Version)
		case !r.Sealed:
			return fmt.Errorf("%w results: %s, a run of %s, isn't as gapwise bench has written it; take the line out and it is run anew",
				model.ErrInvalid, r.At(), r.Algorithm)
		}
		e.hashes[r.Instance] = r.Hash
		if ours && r.Program != e.programs[r.Algorithm] {
			delete(e.done, r.Key())
			changed[r.Key()] = r.Algorithm
			continue
		}
		delete(changed, r.Key())
		e.done[r.Key()] = r
	}
	again := map[string]int{}
	for _, label := range changed {
		again[label]++
	}
	for _, a := range e.algorithms {
		if n := again[a.Label]; n > 0 && e.Said != nil {
			e.Said(fmt.Sprintf("%s: %s by another state of %s, and will run again", a.Label, words.Plural(n, "run"), cmp.Or(strings.Join(a.files, ", "), "its program")))
		}
	}
	return nil
}

// list lists the share's runs, done and to do, and counts the results that belong to no run of the plan.
func (e *execution) list(cases []instances.Planned) (besides int, err error) {
	besides = len(e.done)
	e.listing, err = e.plan.list(cases, e.algorithms, e.Shard.Of, func(l listed) error {
		r := e.done[l.key()]
		if r != nil {
			besides--
		}
		if l.shard != e.Shard.Index || e.Instances != nil && !e.Instances.MatchString(l.instance.Name) {
			return nil
		}
		e.total++
		if len(e.jobs) == 0 || e.jobs[len(e.jobs)-1].c != l.instance {
			e.jobs = append(e.jobs, job{c: l.instance})
		}
		if r != nil {
			e.have = append(e.have, *r)
			return nil
		}
		last := &e.jobs[len(e.jobs)-1]
		last.runs = append(last.runs, run{l.algorithm, l.seed, l.number})
		return nil
	})
	if err != nil {
		return 0, err
	}
	without := map[model.Kind][]string{}
	for i := range cases {
		if c := &cases[i]; c.Kind == "" {
			_, err := c.Load()
			e.leaveOut(err)
		} else if !slices.ContainsFunc(e.algorithms, func(a Algorithm) bool { return a.takes(c.Kind) }) {
			without[c.Kind] = append(without[c.Kind], c.Name)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(without)) {
		if names := without[kind]; e.Said != nil {
			e.Said(fmt.Sprintf("no run of %s of %s, which none of the algorithms takes (%s)", words.Plural(len(names), "instance"), kind, names[0]))
		}
	}
	if e.total == 0 && e.Instances != nil {
		return 0, fmt.Errorf("%w plan: the name of no instance matches %q; one is %s", model.ErrInvalid, e.Instances, cases[0].Name)
	}
	for i := range e.results.records {
		r := &e.results.records[i]
		if _, ours := e.options[r.Algorithm]; ours && len(e.have) < e.total {
			if err := goesOn(r, runs.Built().Commit); err != nil {
				return 0, err
			}
		}
	}
	return besides, nil
}

// run does the jobs, several at a time.
func (e *execution) run(ctx context.Context) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(max(1, e.Workers))
	for i := range e.jobs {
		if within.Err() != nil {
			break
		}
		group.Go(func() error { return panics.Call(func() error { return e.job(within, &e.jobs[i]) }) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// job runs algorithms on an instance.
func (e *execution) job(ctx context.Context, j *job) error {
	var c *gapwise.Case
	// A large file or a long log takes a while, which the end of the context doesn't wait for.
	loaded, err := panics.Within(ctx, func() time.Duration { return 0 }, func() (err error) { c, err = load(j.c, e.hashes); return err })
	if !loaded {
		err = ctx.Err()
	}
	if errors.As(err, new(unread)) {
		e.leaveOut(err)
		return nil
	}
	if err != nil || len(j.runs) == 0 {
		return err
	}
	e.say.Lock()
	lines := model.AccountOf(c.Instance).Lines()
	report := strings.Join(lines, "\n")
	if !e.said[report] && e.Said != nil {
		for _, line := range lines {
			e.Said(line)
		}
	}
	e.said[report] = true
	e.say.Unlock()
	features := runs.FeatureValues(c.Instance)
	for _, r := range j.runs {
		track := &runs.Tracker{Sense: model.SenseOf(c.Instance), Began: time.Now()}
		o, err := r.options(c.Instance.Kind(), track.Progress)
		if err != nil {
			return err
		}
		began := cpuTime()
		result, declined, err := c.Try(ctx, o)
		took := cpuTime()
		if ctx.Err() != nil {
			return ctx.Err() // the run was cut short: it doesn't count
		}
		if declined != nil {
			result, err = r.declined(c, result, declined)
		}
		if err != nil {
			return fmt.Errorf("%s by %s: %w", j.c.Name, r.a.Label, err)
		}
		rec, err := r.a.record(c.Instance, j.c.Params, features, result)
		if err != nil {
			return err
		}
		if e.Workers <= 1 && took != nil && began != nil {
			rec.CPUS = runs.Optional(*took - *began)
		}
		rec.Program = e.programs[r.a.Label]
		rec.Plan, rec.Instance, rec.Trajectory = e.plan.Name, j.c.Name, track.Trajectory(result)
		rec.Run, rec.Runs, rec.PlanDigest, rec.Shard = r.number, e.listing.runs, e.listing.digest, e.Shard.String()
		if rec.SolutionFile, err = keep(&rec, e.Solutions, cmp.Or(e.Folder, filepath.Dir(e.Results)), result); err != nil {
			return err
		}
		if err := e.ran(rec); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut reports a file that can't be read.
func (e *execution) leaveOut(why error) {
	e.say.Lock()
	defer e.say.Unlock()
	if e.unread++; e.Said != nil {
		e.Said("left out: " + why.Error())
	}
}

// ran writes a run.
func (e *execution) ran(rec runs.Record) error {
	line, err := rec.Encode()
	if err != nil {
		return err
	}
	e.write.Lock()
	defer e.write.Unlock()
	if err := e.results.append(line); err != nil {
		return err
	}
	rec.Sealed = true
	e.have = append(e.have, rec)
	if e.Done != nil {
		e.Done(rec)
	}
	return nil
}

// record returns the record of a result of the algorithm.
func (a *Algorithm) record(in model.Instance, params, features map[string]float64, res model.Result) (runs.Record, error) {
	rec, err := runs.New(in, params, features, res)
	rec.Algorithm, rec.Options, rec.Tools = a.Label, a.settings(), a.tools()
	return rec, err
}

// goesOn returns an error if a build of a commit may not add runs to the file of r. It may only if both are of the same
// code, if that is known. A complete file may be of any commit.
func goesOn(r *runs.Record, commit string) error {
	named := func(c string) string { return cmp.Or(c, "unknown") }
	switch {
	case r.Commit != commit:
		return fmt.Errorf("%w results: %s is of commit %s, this is commit %s, and one plan isn't run by two; give another file, or move this one away to run all of it anew",
			model.ErrInvalid, r.At(), named(r.Commit), named(commit))
	case gapwise.Changed(commit):
		return fmt.Errorf("%w results: %s is of uncommitted changes, which may be others now, and can't be gone on with; give another file, or commit and run all of it anew",
			model.ErrInvalid, r.At())
	}
	return nil
}

// load makes the instance. It returns an error if results hold another instance of
// the same name: its file has changed, or its generator.
func load(c *instances.Planned, hashes map[string]string) (*gapwise.Case, error) {
	in, err := c.Load()
	if err != nil {
		return nil, err
	}
	one := gapwise.NewCase(in)
	if want, ok := hashes[c.Name]; ok {
		hash, err := one.Hash()
		if err != nil {
			return nil, err
		}
		if hash != want {
			return nil, fmt.Errorf("%w results: the instance %s has changed since they were made, its file or its seed; give another file", model.ErrInvalid, c.Name)
		}
	}
	return one, nil
}

// run is one algorithm with one seed.
type run struct {
	a      *Algorithm
	seed   uint64
	number int // in the plan
}

// options returns the options of the run on an instance of a kind.
func (r run) options(kind model.Kind, progress func(model.Progress)) (gapwise.Options, error) {
	o, err := r.a.options(kind, r.seed)
	o.Progress = progress
	if s := r.a.solver(); s != nil {
		o.Algorithm, o.Formulation, o.Solver = "", "", s
	}
	return o, err
}

// declined returns the result of a run that a formulation doesn't support, or in which a user's program gave a wrong
// solution: neither ends the plan.
func (r run) declined(c *gapwise.Case, x model.Result, why error) (model.Result, error) {
	hash, err := c.Hash()
	res, in := model.NewResult(r.a.Name, r.seed), c.Instance
	res.Elapsed = x.Elapsed
	res.Instance, res.InstanceHash, res.Kind, res.Version, res.Reason = in.ID(), hash, in.Kind(), gapwise.Version, why.Error()
	return res, err
}
