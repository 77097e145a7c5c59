// SPDX-License-Identifier: MIT

// Corpus holds what every algorithm does on a corpus of instances against scripts/corpus/corpus.txt: a change that is to
// keep behaviour leaves the file as it is.
//
//	go run ./scripts/corpus              runs all, some minutes, and names each line that is another now
//	go run ./scripts/corpus -part 2/6    every sixth group, from the second on
//	go run ./scripts/corpus -update      writes the file anew
//	go run ./scripts/corpus -runs FILE   writes each run, to see by diff which are others
//
// The corpus is docs/examples and web/examples, the files that were handed in (GAPWISE_DATA/found, where they are), and 200
// drawn instances of each kind and variant, extremes included. Every algorithm has a counted effort and a fixed seed.
// A line tells a group and an algorithm, how many runs there are and how many are optimal, the sums of nodes and of
// effort, and a digest of each run's status, objective, bound, nodes, effort and solution.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

const (
	file  = "scripts/corpus/corpus.txt"
	draws = 200
	seed  = 48
	// effort is for each run, and deep for every seventh instance, by which most small ones are solved. Engines of
	// linear models have these alone: each takes HiGHS a hundred times as long.
	effort, deep, deepEvery = 10_000, 150_000, 7
	// largest is how many bytes a file that was handed in has at most.
	largest = 1 << 20
)

func main() {
	o := options{}
	flag.BoolVar(&o.update, "update", false, "write "+file+" anew")
	flag.StringVar(&o.runs, "runs", "", "`FILE` for each run")
	flag.StringVar(&o.part, "part", "1/1", "`K/N`: every N-th group from the K-th on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

type options struct {
	update     bool
	runs, part string
}

// group is some instances of one kind.
type group struct {
	name string // kind, and variant or source
	kind model.Kind
	all  []model.Instance
}

// line is what an algorithm did on a group.
type line struct {
	group, algorithm string
	runs, optimal    int
	nodes, effort    int64
	digest           string
}

func (l line) String() string {
	return fmt.Sprintf("%-28s %-22s %4d %4d %9d %11d %s", l.group, l.algorithm, l.runs, l.optimal, l.nodes, l.effort, l.digest)
}

// key is what a line is found by.
func (l line) key() string { return strings.Join(strings.Fields(l.group+" "+l.algorithm), " ") }

func run(ctx context.Context, o options) error {
	if !highs.Available() {
		return errors.New("HiGHS isn't there, and algorithms ask it: run scripts/highs")
	}
	groups, err := corpus()
	if err != nil {
		return err
	}
	part, err := benchmarks.ParseShard(o.part)
	if err != nil {
		return err
	}
	var some []group
	for g := range groups {
		if g%part.Of == part.Index-1 {
			some = append(some, groups[g])
		}
	}
	each := io.Discard
	if o.runs != "" {
		f, err := os.Create(o.runs)
		if err != nil {
			return err
		}
		defer f.Close()
		each = f
	}
	lines, err := measure(ctx, some, each)
	if err != nil {
		return err
	}
	if o.update {
		var text bytes.Buffer
		fmt.Fprintf(&text, "# gapwise's corpus, %s: group, algorithm, runs, optimal ones, nodes, effort, digest\n", runtime.GOARCH)
		for _, l := range lines {
			fmt.Fprintln(&text, l)
		}
		return os.WriteFile(file, text.Bytes(), 0o644)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return compare(string(text), lines, some)
}

// compare names the lines that are others than in the file, of the groups that were run.
func compare(text string, lines []line, groups []group) error {
	known, groupOf := map[string]string{}, map[string]string{} // by key
	for _, l := range strings.Split(text, "\n") {
		if l != "" && l[0] != '#' {
			f := strings.Fields(l)
			key := strings.Join(f[:len(f)-5], " ")
			known[key], groupOf[key] = strings.Join(f, " "), strings.Join(f[:len(f)-6], " ")
		}
	}
	var all []error
	for _, l := range lines {
		switch was, is := known[l.key()], strings.Join(strings.Fields(l.String()), " "); {
		case was == "":
			all = append(all, fmt.Errorf("new:  %s", is))
		case was != is:
			all = append(all, fmt.Errorf("was:  %s\n        is:   %s", was, is))
		}
		delete(known, l.key())
	}
	for key, was := range known {
		if slices.ContainsFunc(groups, func(g group) bool { return g.name == groupOf[key] }) {
			all = append(all, fmt.Errorf("gone: %s", was))
		}
	}
	if len(all) > 0 {
		all = append(all, errors.New("if that is meant, go run ./scripts/corpus -update, and results of these kinds are old"))
	}
	return errors.Join(all...)
}

// corpus returns the groups.
func corpus() (all []group, err error) {
	for _, p := range gapwise.Problems() {
		for _, variant := range append([]string{""}, audit.Variants()...) {
			if variant != "" && audit.KindOf(variant) != p.Kind {
				continue
			}
			g := group{name: strings.TrimSpace(string(p.Kind) + " " + variant), kind: p.Kind}
			for n := range int64(draws) {
				g.all = append(g.all, audit.Drawn(p.Kind, variant, seed, n))
			}
			all = append(all, g)
		}
	}
	for _, source := range []struct{ name, folder string }{{"examples", "docs/examples"}, {"examples", "web/examples"},
		{"found", filepath.Join(cmp.Or(instances.DataFolder(), "../shared/data"), "found")}} {
		if _, err := os.Stat(source.folder); err != nil && source.name == "found" {
			continue // its lines are left alone
		}
		err := filepath.WalkDir(source.folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
				return err
			}
			info, err := d.Info()
			if err != nil || info.Size() > largest {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			in, err := model.DecodeInstance(text)
			if err != nil {
				return nil // a solution, a cluster, or made to be refused
			}
			name := string(in.Kind()) + " " + source.name
			k := slices.IndexFunc(all, func(g group) bool { return g.name == name })
			if k < 0 {
				k, all = len(all), append(all, group{name: name, kind: in.Kind()})
			}
			all[k].all = append(all[k].all, in)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// measure runs every algorithm on every instance of its kind, at most as many at once as there are processors.
func measure(ctx context.Context, groups []group, each io.Writer) (lines []line, err error) {
	for _, g := range groups {
		p, err := gapwise.ProblemOf(g.kind)
		if err != nil {
			return nil, err
		}
		names := []string{"auto"}
		for _, a := range p.Algorithms {
			names = append(names, a.Name)
		}
		for _, name := range names {
			results := make([]outcome, len(g.all))
			var work errgroup.Group
			work.SetLimit(runtime.GOMAXPROCS(0))
			for k, in := range g.all {
				if strings.HasPrefix(name, "highs") && k%deepEvery != 0 {
					continue
				}
				work.Go(func() (err error) {
					if results[k], err = solve(ctx, in, name, k%deepEvery == 0); err != nil {
						return fmt.Errorf("%s of %s, number %d: %w", name, g.name, k, err)
					}
					return nil
				})
			}
			if err := work.Wait(); err != nil {
				return nil, err
			}
			l, digest := line{group: g.name, algorithm: name}, sha256.New()
			for k, x := range results {
				if !x.ran {
					continue
				}
				l.runs++
				if x.status == model.StatusOptimal {
					l.optimal++
				}
				l.nodes, l.effort = l.nodes+x.nodes, l.effort+x.effort
				fmt.Fprintf(io.MultiWriter(digest, each), "%s %d %s %s\n", g.name, k, name, x)
			}
			if l.runs > 0 {
				l.digest = fmt.Sprintf("%.6x", digest.Sum(nil))
				lines = append(lines, l)
			}
		}
	}
	return lines, nil
}

// outcome is what a run has found.
type outcome struct {
	ran              bool // it takes the instance
	status           model.Status
	objective, bound float64
	nodes, effort    int64
	solution         string // digest
}

func (x outcome) String() string {
	return fmt.Sprintf("%s %v %v %d %d %s", x.status, x.objective, x.bound, x.nodes, x.effort, x.solution)
}

// solve runs an algorithm on an instance.
func solve(ctx context.Context, in model.Instance, name string, deeply bool) (x outcome, err error) {
	limit := int64(effort)
	if deeply {
		limit = deep
	}
	var r model.Result
	x.effort, err = meter.Spend(ctx, math.MaxInt64, func(ctx context.Context) (err error) {
		r, err = gapwise.Solve(ctx, in, gapwise.Options{Algorithm: name, Settings: model.Settings{Seed: 1, Effort: limit, Threads: 1}})
		return err
	})
	switch {
	case errors.Is(err, model.ErrUnsupported):
		return x, nil
	case err != nil:
		return x, err
	}
	x.ran, x.status, x.objective, x.bound, x.nodes = true, r.Status, r.Objective, r.Bound, r.Nodes
	if r.Solution != nil {
		text, err := json.Marshal(r.Solution)
		if err != nil {
			return x, err
		}
		x.solution = fmt.Sprintf("%.6x", sha256.Sum256(text))
	}
	return x, ctx.Err()
}
