package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// readingFlags returns the flags of the commands that read instances: a
// platform for foreign graphs, and a flag for each variant of each problem.
func readingFlags() []cli.Flag {
	all := []cli.Flag{&cli.StringFlag{Name: "platform", Usage: "for foreign graphs (gapwise help convert)"}}
	for _, p := range gapwise.Problems() {
		for _, v := range p.Variants {
			all = append(all, &cli.StringFlag{Name: v.Flag, Usage: fmt.Sprintf("of %s: %s", p.Kind, strings.Join(v.Values, ", "))})
		}
	}
	return all
}

// load reads an instance as the flags say.
func load(c *cli.Command, path string) (model.Instance, error) {
	in, err := instances.LoadOn(path, c.String("platform"))
	if err != nil {
		return nil, err
	}
	return withVariants(c, path, in)
}

// withVariants returns the instance read as the flags say.
func withVariants(c *cli.Command, path string, in model.Instance) (model.Instance, error) {
	for _, p := range gapwise.Problems() {
		for _, v := range p.Variants {
			value := c.String(v.Flag)
			switch {
			case value == "":
			case !slices.Contains(v.Values, value):
				return nil, usagef("%s: --%s is %q, give one of %q", c.Name, v.Flag, value, v.Values)
			case p.Kind != in.Kind():
				return nil, usagef("%s: --%s goes with %s instances, %s is a %s", c.Name, v.Flag, p.Kind, instances.Label(path), in.Kind())
			case v.Get(in) != value:
				in = v.With(in, value)
			}
		}
	}
	return in, nil
}

// headline says in which variant an instance is read: " (goal: accepted)".
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

// asSolved returns the instance in the variant that the solution was made for,
// where the instance leaves it open and no flag says it.
func asSolved(c *cli.Command, in model.Instance, s model.Solution) model.Instance {
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil || s == nil || s.Kind() != in.Kind() {
		return in
	}
	for _, v := range p.Variants {
		if made := v.MadeFor(in, s); made != "" && c.String(v.Flag) == "" && made != v.Get(in) {
			in = v.With(in, made)
		}
	}
	return in
}
