// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/runs"
)

// head returns the abbreviated commit of the working tree, marked if files have
// changed since. The documents that parts are written to don't count, nor their
// pictures.
func head() (string, error) {
	commit, err := output("git", "rev-parse", "--short=10", "HEAD")
	if err != nil {
		return "", err
	}
	changes, err := output("git", "status", "--porcelain", "--", ".", ":!README.md", ":!docs/*.md", ":!docs/*.svg", ":!docs/*.png", ":!docs/*.csv")
	if err != nil || changes == "" {
		return commit, err
	}
	return commit + "+dirty", nil
}

// prepare finds the commit and builds the command, stamped with it, unless one was
// given. A document that names a commit is of just this commit: it refuses changes
// that aren't committed, and a command of another commit, unless both are allowed.
func (r *runner) prepare() (err error) {
	if r.commit, err = head(); err != nil {
		return err
	}
	if gapwise.Changed(r.commit) && !r.dirty {
		return fmt.Errorf("there are changes since %s, commit them, or give -dirty for a trial", r.commit)
	}
	if r.gapwise == "" {
		r.gapwise = "bin/gapwise"
		_, err = output("go", "build", "-ldflags", "-X github.com/gapwise/gapwise.commit="+r.commit, "-o", r.gapwise, "./cmd/gapwise")
		return err
	}
	built, err := output(r.gapwise, "version")
	if err == nil && !slices.Contains(strings.Split(built, "\n"), "commit "+r.commit) && !r.dirty {
		err = fmt.Errorf("%s isn't built from commit %s; leave -gapwise out to have it built, or give -dirty for a trial", r.gapwise, r.commit)
	}
	return err
}

// made says what a part comes from: commit and version of gapwise, the versions of
// its tools, and each plan that it has read results of, with draws and seeds.
func (r *runner) made() (string, error) {
	tools := list(strings.Split(gapwise.Built().Tools(), ", "))
	var plans list
	for _, p := range r.plans {
		text, err := r.source(p, &tools)
		if err != nil {
			return "", err
		}
		plans.add(text)
	}
	text := fmt.Sprintf("Commit %s, gapwise %s, %s", r.commit, gapwise.Version, strings.Join(tools, ", "))
	if len(plans) > 0 {
		text += "; plan " + strings.Join(plans, ", plan ")
	}
	return text, nil
}

// list is texts, each of them once.
type list []string

func (all *list) add(texts ...string) {
	for _, t := range texts {
		if t != "" && !slices.Contains(*all, t) {
			*all = append(*all, t)
		}
	}
}

// ran is a plan and its results files.
type ran struct {
	plan  string
	files list
}

// uses notes that the part reads a results file of a plan.
func (r *runner) uses(plan, file string) {
	k := slices.IndexFunc(r.plans, func(p ran) bool { return p.plan == plan })
	if k < 0 {
		k = len(r.plans)
		r.plans = append(r.plans, ran{plan: plan})
	}
	r.plans[k].files.add(file)
}

// source describes a plan and which commit its results are of, if it isn't the
// present one. It adds the versions of tools that they name.
func (r *runner) source(x ran, tools *list) (string, error) {
	p, err := benchmarks.LoadPlan(x.plan)
	if err != nil {
		return "", err
	}
	var of list
	for i := range p.Generators {
		g := &p.Generators[i]
		draws := fmt.Sprintf("%d draws", g.Count)
		if g.Count == 1 {
			draws = "one draw"
		}
		of.add(fmt.Sprintf("%s, seed %d", draws, g.Seed))
	}
	if !slices.Equal(p.Seeds, []uint64{1}) {
		of.add(fmt.Sprintf("algorithms with the seeds %v", p.Seeds))
	}
	for _, f := range x.files {
		records, _, err := runs.ReadRecords(f)
		if err != nil {
			return "", err
		}
		last := "none yet"
		for i := range records {
			tools.add(strings.Split(records[i].Tools, ", ")...)
			c := records[i].Commit
			if c == last {
				continue
			}
			last = c
			if err := r.landed(f, c); err != nil {
				return "", err
			}
			switch c {
			case r.commit:
			case "":
				of.add("results of a commit that they don't name")
			default:
				of.add("results of commit " + c)
			}
		}
	}
	return "`" + x.plan + "` (" + strings.Join(of, "; ") + ")", nil
}

// landed returns an error if results are of a commit that isn't among those that the
// present one comes from: nobody could run it again.
func (r *runner) landed(file, commit string) error {
	if commit == "" || r.dirty {
		return nil
	}
	if gapwise.Changed(commit) {
		return fmt.Errorf("%s holds runs of uncommitted changes to %s; move it away, and they are run anew", file, commit)
	}
	err := exec.Command("git", "merge-base", "--is-ancestor", commit, "HEAD").Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s holds runs of commit %s, which the present one doesn't come from; move it away, and they are run anew", file, commit)
	}
	return err
}

// stamped puts what a part comes from under its first title; a part without a title
// is returned as it is.
func stamped(text, made string) string {
	lines := strings.SplitAfter(text, "\n")
	for k, l := range lines {
		if strings.HasPrefix(l, "#") {
			return strings.Join(lines[:k], "") + strings.TrimRight(l, "\n") + "\n\n*" + made + ".*\n" + strings.Join(lines[k+1:], "")
		}
	}
	return text
}
