// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/submit"
	"github.com/gapwise/gapwise/model"
)

const clusterCategory = "on a cluster"

// submitFlags are the flags of bench for clusters.
func submitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Category: clusterCategory, Name: "slurm", DefaultText: "none", Usage: "submit the plan to Slurm in `N` shards, and a job that merges them; -o is then a folder"},
		&cli.StringFlag{Category: clusterCategory, Name: "sbatch", Usage: "with --slurm: `OPTIONS` for sbatch, such as '--partition=short --time=2:00:00'"},
		&cli.BoolFlag{Category: clusterCategory, Name: "dry-run", Usage: "with --slurm: print the scripts, submit nothing"},
		&cli.IntFlag{Category: clusterCategory, Name: "kubernetes", DefaultText: "none", Usage: "print a manifest that runs the plan in `N` shards; -o is its file"},
		&cli.StringFlag{Category: clusterCategory, Name: "image", Usage: "with --kubernetes: container `IMAGE` with gapwise and sh"},
		&cli.StringFlag{Category: clusterCategory, Name: "memory", Value: "2Gi", Usage: "with --kubernetes: memory of a task"},
		&cli.StringFlag{Category: clusterCategory, Name: "claim", Value: "gapwise-results", Usage: "with --kubernetes: PersistentVolumeClaim for results"},
		&cli.IntFlag{Category: clusterCategory, Name: "at-once", Usage: "largest number of shards at the same time", DefaultText: "all"},
	}
}

// submitted reports whether a bench is for a cluster. It refuses flags that don't go
// together.
func submitted(c *cli.Command) (bool, error) {
	slurm, kubernetes := c.IsSet("slurm"), c.IsSet("kubernetes")
	for flag, goes := range map[string]bool{"sbatch": slurm, "dry-run": slurm, "image": kubernetes, "memory": kubernetes, "claim": kubernetes, "at-once": slurm || kubernetes} {
		if c.IsSet(flag) && !goes {
			return false, usagef("bench: --%s goes with --slurm or --kubernetes, see gapwise bench --help", flag)
		}
	}
	switch {
	case !slurm && !kubernetes:
		return false, nil
	case slurm && kubernetes:
		return false, usagef("bench: give --slurm or --kubernetes, not both")
	case c.IsSet("shard") || c.IsSet("summary"):
		return false, usagef("bench: --shard and --summary don't go with --slurm and --kubernetes, whose tasks are the shards")
	case slices.Contains(c.Args().Slice(), "-"):
		return false, usagef("bench: the tasks can't read standard input, give the plan as a file")
	}
	return true, nil
}

// submit hands a plan to a cluster.
func (p *program) submit(ctx context.Context, c *cli.Command, plan *benchmarks.Plan) error {
	job := submit.Job{Name: plan.Name, AtOnce: c.Int("at-once"), Workers: c.Int("workers")}
	if c.NArg() == 1 && !c.IsSet("algorithm") {
		job.Plan = c.Args().First()
	}
	if c.IsSet("kubernetes") {
		job.Shards = c.Int("kubernetes")
		return p.kubernetes(c, plan, job)
	}
	job.Shards = c.Int("slurm")
	return p.slurm(ctx, c, job)
}

func (p *program) slurm(ctx context.Context, c *cli.Command, job submit.Job) error {
	var errs [3]error
	s := submit.Slurm{Job: job, Options: strings.Fields(c.String("sbatch"))}
	s.Arguments = append(passed(c), c.Args().Slice()...)
	s.Program, errs[0] = os.Executable()
	s.Work, errs[1] = os.Getwd()
	s.Folder, errs[2] = filepath.Abs(cmp.Or(c.String("output"), filepath.Join("results", job.Name)))
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		array, merge, err := s.Scripts()
		if err == nil {
			_, err = fmt.Fprintf(p.out, "%s\n# ---- then, with --dependency=afterany:JOB of the array ----\n%s", array, merge)
		}
		return err
	}
	jobs, err := s.Submit(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "array job %s: %d shards of %s, logs in %s\njob %s: merges them after it, in %s\n", jobs.Array, s.Shards, s.Name, filepath.Join(s.Folder, "logs"),
		jobs.Merge, filepath.Join(s.Folder, s.Name+".jsonl"))
	return nil
}

func (p *program) kubernetes(c *cli.Command, plan *benchmarks.Plan, job submit.Job) error {
	k := submit.Kubernetes{Job: job, Image: c.String("image"), Memory: c.String("memory"), Claim: c.String("claim")}
	k.Program, k.Folder = "gapwise", path.Join(submit.Mount, job.Name)
	if !c.IsSet("image") {
		return usagef("bench: --kubernetes needs --image, a container image with gapwise and sh")
	}
	for _, file := range plan.Paths() {
		if !filepath.IsAbs(file) {
			return fmt.Errorf("%w plan: %s is a relative path, which the pods don't find; give a path in the image or below %s", model.ErrInvalid, file, submit.Mount)
		}
	}
	if k.Plan != "" && !slices.Contains(benchmarks.Names(), k.Plan) {
		text, err := instances.ReadFile(k.Plan)
		if err != nil {
			return err
		}
		k.PlanText, k.Plan = string(text), submit.PlanFile
	}
	k.Arguments = passed(c)
	if k.Plan != "" {
		k.Arguments = append(k.Arguments, k.Plan)
	} else {
		k.Arguments = append(k.Arguments, c.Args().Slice()...)
	}
	if err := checkOutput(c.String("output"), c.Args().Slice()); err != nil {
		return err
	}
	text, err := k.Manifest()
	if err != nil {
		return err
	}
	return p.writeFile(c.String("output"), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// passed returns the flags that a task is given as they were given here.
func passed(c *cli.Command) (all []string) {
	own := []string{"output", "shard", "summary", "workers"}
	for _, f := range submitFlags() {
		own = append(own, f.Names()[0])
	}
	for _, f := range c.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(own, name) {
			continue
		}
		switch value := c.Value(name).(type) {
		case []string:
			for _, v := range value {
				all = append(all, "--"+name+"="+v)
			}
		case time.Duration:
			all = append(all, "--"+name+"="+value.String())
		default:
			all = append(all, fmt.Sprintf("--%s=%v", name, value))
		}
	}
	return all
}
