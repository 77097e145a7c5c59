// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// head returns the abbreviated commit of the working tree, marked if files have
// changed since. The documents that parts are written to don't count, nor their
// pictures.
func head() string {
	commit := must(output("git", "rev-parse", "--short=10", "HEAD"))
	if must(output("git", "status", "--porcelain", "--", ".", ":!README.md", ":!docs/*.md", ":!docs/*.svg", ":!docs/*.png", ":!docs/*.csv", ":!docs/*.json")) != "" {
		commit += "+dirty"
	}
	return commit
}

// prepare finds the commit and builds the command, stamped with it, unless one was
// given. A document that names a commit is of just this commit: it refuses changes
// that aren't committed, and a command of another commit, unless both are allowed.
func (r *runner) prepare() {
	r.commit = head()
	if gapwise.Changed(r.commit) && !r.dirty {
		panic(fmt.Errorf("there are changes since %s, commit them, or give -dirty for a trial", r.commit))
	}
	if r.gapwise == "" {
		r.gapwise = "bin/gapwise"
		must(output("go", "build", "-tags", "urfave_cli_no_template", "-ldflags", "-s -w -X github.com/gapwise/gapwise.commit="+r.commit, "-o", r.gapwise, "./cmd/gapwise"))
	} else if built := must(output(r.gapwise, "version")); !slices.Contains(strings.Split(built, "\n"), "commit "+r.commit) && !r.dirty {
		panic(fmt.Errorf("%s isn't built from commit %s; leave -gapwise out to have it built, or give -dirty for a trial", r.gapwise, r.commit))
	}
}

// made says what a part comes from: the digest of the code that it measures, the versions of gapwise and
// of its tools, and each plan that it has read results of, with draws and seeds.
func (r *runner) made() string {
	tools := list(strings.Split(gapwise.Built().Tools(), ", "))
	var plans list
	for _, p := range r.plans {
		plans.add(r.source(p, &tools))
	}
	if r.kinds == nil {
		panic(errors.New("the part has no plan, and doesn't say which problems it measures: {{measures KIND...}}, {{measures}} if none"))
	}
	text := fmt.Sprintf("gapwise %s, %s", gapwise.Version, strings.Join(tools, ", "))
	kinds := slices.Sorted(slices.Values(r.kinds))
	kinds = slices.DeleteFunc(kinds, func(kind string) bool {
		all, alone := strings.CutSuffix(kind, heuristics)
		return alone && slices.Contains(kinds, all)
	})
	if len(kinds) > 0 {
		code := codeOf(kinds...)
		text = fmt.Sprintf("code %s of %s, %s", code, strings.Join(kinds, " and "), text)
	}
	if len(plans) > 0 {
		text += "; plan " + strings.Join(plans, "; plan ")
	}
	return text
}

// measures notes which kinds of problems a part measures, "all" of them or none, or the portfolio: with none it quotes
// figures. It returns nothing to print.
func (r *runner) measures(kinds ...string) string {
	if r.kinds == nil {
		r.kinds = list{}
	}
	for _, kind := range kinds {
		switch known := model.Kinds(); {
		case kind == "all":
			for _, k := range known {
				r.kinds.add(string(k))
			}
		case kind == portfolio, slices.Contains(known, model.Kind(strings.TrimSuffix(kind, heuristics))):
			r.kinds.add(kind)
		default:
			panic(fmt.Errorf("there is no problem %q to be measured", kind))
		}
	}
	return ""
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

// source describes a plan. It adds the versions of tools that its results name, and the kinds of
// problems that they are of.
func (r *runner) source(x ran, tools *list) string {
	p := must(benchmarks.LoadPlan(x.plan))
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
		records := must(runs.ReadRecords(f))
		for i := range records {
			tools.add(strings.Split(records[i].Tools, ", ")...)
			r.measures(measuredBy(&records[i])...)
		}
	}
	return "`" + x.plan + "` (" + strings.Join(of, "; ") + ")"
}

// measuredBy returns what a run measures. An algorithm that isn't known by its name may be an engine.
func measuredBy(x *runs.Record) []string {
	kind := string(x.Kind)
	if x.Name() == portfolio || strings.HasPrefix(x.Name(), benchmarks.WithoutLabel(portfolio, "")) {
		return []string{kind, portfolio}
	}
	if a, err := gapwise.Find(x.Kind, x.Name()); err == nil && !a.Exact {
		kind += heuristics
	}
	return []string{kind}
}

// staleError says that a results file can't be used, and the commit of its runs.
type staleError struct {
	commit string
	error
}

// fresh moves a results file that isn't current out of the way, to results/old, so that its plan is run anew.
func (r *runner) fresh(file string) {
	err := r.current(file)
	var stale staleError
	if !errors.As(err, &stale) {
		check(err)
		return
	}
	old := filepath.Join(filepath.Dir(file), "old", cmp.Or(stale.commit, "unnamed")+"-"+filepath.Base(file))
	check(os.MkdirAll(filepath.Dir(old), 0o755))
	fmt.Fprintf(os.Stderr, "%v; it is %s now, and they are run anew\n", stale, old)
	check(os.Rename(file, old))
}

// current returns a staleError if a results file has runs that nobody could make again: of changes that
// aren't committed, of a commit that the present one doesn't come from, or of other code than there is now.
func (r *runner) current(file string) error {
	records, err := runs.ReadRecords(file)
	if err != nil || r.dirty {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	seen := map[[2]string]bool{}
	for i := range records {
		of := measuredBy(&records[i])
		commit, kind := records[i].Commit, strings.Join(of, " and ")
		if seen[[2]string{commit, kind}] || commit == r.commit {
			continue
		}
		seen[[2]string{commit, kind}] = true
		what := ""
		switch {
		case commit == "":
			what = "a commit that they don't name"
		case gapwise.Changed(commit):
			what = "uncommitted changes to " + commit
		case exec.Command("git", "merge-base", "--is-ancestor", commit, "HEAD").Run() != nil:
			what = "commit " + commit + ", which the present one doesn't come from"
		case codeAt(commit, of...) != codeAt("HEAD", of...):
			what = "commit " + commit + ", which solves " + kind + " by other code"
		default:
			continue
		}
		return staleError{commit, fmt.Errorf("%s holds runs of %s", file, what)}
	}
	return nil
}

// codeAt is codeOf at a commit, which its corpus tells; one without a corpus has a digest of its own.
func codeAt(commit string, measured ...string) string {
	code := commit
	_ = failure(func() { code = codeIn(must(output("git", "show", commit+":"+corpusFile)), measured...) })
	return code
}

// stamped puts what a part comes from under its first title; a part without a title
// is returned as it is.
func stamped(text, made string) string {
	lines := strings.SplitAfter(text, "\n")
	for k, l := range lines {
		if strings.HasPrefix(l, "#") {
			return strings.Join(lines[:k], "") + strings.TrimRight(l, "\n") + "\n\n*" + strings.ToUpper(made[:1]) + made[1:] + ".*\n" + strings.Join(lines[k+1:], "")
		}
	}
	return text
}
