// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model"
)

// policies holds a policy to begin with in each language.
//
//go:embed policies
var policies embed.FS

// policyLanguages are those that there is a policy to begin with in.
var policyLanguages = []struct{ name, extension, file, run string }{
	{"python", ".py", "policy.py", "online:python3 policy.py"},
	{"go", ".go.tmpl", "policy.go", "online:./policy"},
	{"rust", ".rs", "policy.rs", "online:./policy"},
	{"c", ".c", "policy.c", "online:./policy"},
}

// policyKinds are the problems that there is a policy to begin with for, at least in the first language.
var policyKinds = []struct {
	kind         model.Kind
	does, solves string
}{
	{model.KindBatch, "first come, first served", "jobs.json"},
	{model.KindReservation, "first fit", "requests.json"},
	{model.KindTVC, "first fit in the smallest subtree; a queue is first come, first served", "clusters.json"},
}

// hasPolicies reports whether a policy of a problem may be another program.
func hasPolicies(kind model.Kind) bool {
	for _, k := range policyKinds {
		if k.kind == kind {
			return true
		}
	}
	return false
}

func (p *program) policy() *cli.Command {
	var names, kinds []string
	for _, l := range policyLanguages {
		names = append(names, l.name)
	}
	for _, k := range policyKinds {
		kinds = append(kinds, string(k.kind))
	}
	return &cli.Command{
		ArgsUsage: "init",
		Description: "gapwise policy init writes a small policy that works: first come, first\n" +
			"served, or first fit. It uses only the language's standard library. gapwise\n" +
			"solve runs it with -a online:COMMAND (docs/how-to/bring-your-own-policy.md).",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "language", Value: "python", Usage: names[0] + "; for batch also " + strings.Join(names[1:], ", ")},
			&cli.StringFlag{Name: "kind", Value: string(model.KindBatch), Usage: "problem: " + strings.Join(kinds, ", ")},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write, which must not exist yet; - is standard output", DefaultText: "policy.py, policy.go, ..."},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.NArg() != 1 || c.Args().First() != "init" {
				return usagef("policy: give init (gapwise policy init --language python)")
			}
			kind := slices.Index(kinds, c.String("kind"))
			if kind < 0 {
				return usagef("policy: --kind is %q, must be one of %s", c.String("kind"), strings.Join(kinds, ", "))
			}
			k := slices.Index(names, c.String("language"))
			if k < 0 {
				return usagef("policy: --language is %q, must be one of %s", c.String("language"), strings.Join(names, ", "))
			}
			what, l := policyKinds[kind], policyLanguages[k]
			text, err := policies.ReadFile("policies/" + string(what.kind) + l.extension)
			if errors.Is(err, fs.ErrNotExist) {
				return usagef("policy: --language is %q, for %s there is %s alone", l.name, what.kind, names[0])
			}
			if err != nil {
				return err
			}
			file := c.String("output")
			if file == "" {
				file = l.file
			}
			if _, err := os.Lstat(file); err == nil && !isStdout(file) {
				return fmt.Errorf("%w: %s is there already, give another file by -o", model.ErrInvalid, file)
			}
			if err := checkOutput(file, nil); err != nil {
				return err
			}
			if err := p.writeFile(file, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil || isStdout(file) {
				return err
			}
			run := strings.Replace(l.run, l.file, process.Quote(file), 1)
			fmt.Fprintf(p.out, "%s: %s; its first line says how to run it:\n  %s\n", file, what.does,
				process.Quote("gapwise", "solve", "-a", run, what.solves))
			return nil
		},
	}
}
