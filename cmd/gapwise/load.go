// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// variantFlag is a flag that chooses a variant, with the problems that have one
// of this name.
type variantFlag struct {
	name   string
	kinds  []string
	usage  string
	number bool // its values are numbers
}

func variantFlags() (all []variantFlag) {
	for _, p := range gapwise.Problems() {
		for _, v := range p.Variants {
			k := slices.IndexFunc(all, func(f variantFlag) bool { return f.name == v.Flag })
			if k < 0 {
				_, err := strconv.Atoi(v.Values[0])
				k, all = len(all), append(all, variantFlag{name: v.Flag, number: err == nil})
			} else {
				all[k].usage += "; "
			}
			all[k].kinds = append(all[k].kinds, string(p.Kind))
			all[k].usage += fmt.Sprintf("%s: %s", p.Kind, strings.Join(v.Values, ", "))
		}
	}
	return all
}

// readingFlags returns the flags of the commands that read instances: a
// platform for foreign graphs, and the variants of each problem.
func readingFlags() []cli.Flag {
	all := []cli.Flag{&cli.StringFlag{Name: "platform", Usage: "platform of foreign files (gapwise help convert)"},
		&cli.StringFlag{Name: "dot", Usage: "DOT: `NAMES` of the attributes, size=WORK,data=DATA", DefaultText: "size for both"},
		&cli.StringFlag{Name: "files", Usage: "workflow files: sent to a machine once (kept), or to each reader (each)"},
		&cli.StringFlag{Name: "network", Usage: "dag: lv08, so that plans last as in SimGrid's default network model"},
		&cli.StringFlag{Name: "work-unit", Usage: "`UNIT` of a graph's works: seconds, seconds=1Gf or work", DefaultText: "by its format"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse files with facts that the model can't express"}}
	for _, f := range variantFlags() {
		numberFlags.Store(f.name, f.number)
		all = append(all, &cli.StringFlag{Name: f.name, Usage: f.usage})
	}
	return all
}

// load reads an instance by the flags, and prints on standard error the account of the reading.
func (p *program) load(c *cli.Command, path string) (model.Instance, error) {
	in, err := read(c, path)
	if err == nil {
		p.account(in)
	}
	return in, err
}

// account prints on standard error the account of an instance's files, if there is one.
func (p *program) account(in model.Instance) {
	for _, line := range model.AccountOf(in).Lines() {
		fmt.Fprintln(p.err, words.Wrap(line, 78, 2))
	}
}

// read is load, and leaves the account to the caller.
func read(c *cli.Command, path string) (model.Instance, error) {
	beFrugal(path)
	f, err := instances.Open(path)
	if err != nil {
		return nil, err
	}
	return ofFile(c, path, f, readingOptions(c))
}

// ofFile is read for a file that is open.
func ofFile(c *cli.Command, path string, f *instances.File, o instances.Options) (model.Instance, error) {
	if o.Platform == "" && o.Kind == "" && c.Name == "solve" && f.IsPacking() && runs.CountBins(algorithmNames(c)) {
		o.Platform, o.IfNeeded = "bins", true
	}
	in, err := f.Instance(o)
	if err != nil {
		return nil, err
	}
	return withVariants(c, path, in)
}

// readingOptions returns the options that the reading flags set.
func readingOptions(c *cli.Command) instances.Options {
	return instances.Options{Platform: c.String("platform"), DOT: c.String("dot"), Files: c.String("files"), Network: c.String("network"), WorkUnit: c.String("work-unit"), Strict: c.Bool("strict")}
}

// withVariants returns the instance read according to the flags.
func withVariants(c *cli.Command, path string, in model.Instance) (model.Instance, error) {
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return nil, err
	}
	for _, f := range variantFlags() {
		value := c.String(f.name)
		if value == "" || f.name == "goal" && c.Name == "report" && in.Kind() == model.KindBatch { // orders the page
			continue
		}
		k := slices.IndexFunc(p.Variants, func(v gapwise.Variant) bool { return v.Flag == f.name })
		if k < 0 {
			return nil, usagef("%s: --%s goes with %s instances, %s is a %s", c.Name, f.name, strings.Join(f.kinds, " and "), instances.Label(path), in.Kind())
		}
		v := p.Variants[k]
		if !slices.Contains(v.Values, value) {
			return nil, usagef("%s: --%s is %q, give one of %q", c.Name, f.name, value, v.Values)
		}
		if v.Get(in) != value {
			in = v.With(in, value)
		}
	}
	return in, nil
}

// headline names the variant in which an instance is read: " (goal: accepted)".
func headline(in model.Instance) string {
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil || len(p.Variants) == 0 {
		return ""
	}
	var all []string
	for _, v := range p.Variants {
		all = append(all, v.Flag+": "+v.Get(in))
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// asSolved returns the instance in the solution's variant, if the instance leaves it open and no flag sets it.
func asSolved(c *cli.Command, in model.Instance, s model.Solution) model.Instance {
	return ask.AsSolved(in, s, func(flag string) bool { return c.String(flag) != "" })
}
