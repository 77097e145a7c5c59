// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/model"
)

// policies holds a policy to begin with in each language.
//
//go:embed policies
var policies embed.FS

// policyLanguages are those that there is a policy to begin with in.
var policyLanguages = []struct{ name, template, file, run string }{
	{"python", "batch.py", "policy.py", "'online:python3 policy.py'"},
	{"go", "batch.go.tmpl", "policy.go", "online:./policy"},
	{"rust", "batch.rs", "policy.rs", "online:./policy"},
	{"c", "batch.c", "policy.c", "online:./policy"},
}

func (p *program) policy() *cli.Command {
	var names []string
	for _, l := range policyLanguages {
		names = append(names, l.name)
	}
	return &cli.Command{
		Name:      "policy",
		Usage:     "begin an online policy of your own, in any language",
		ArgsUsage: "init",
		Description: "gapwise policy init writes a policy of some 20 lines that works, first come,\n" +
			"first served, with what the language brings along. gapwise solve runs it by\n" +
			"-a online:COMMAND (docs/how-to/bring-your-own-policy.md).",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "language", Value: "python", Usage: strings.Join(names, ", ")},
			&cli.StringFlag{Name: "kind", Value: string(model.KindBatch), Usage: "problem: " + string(model.KindBatch)},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write, which must not be there yet; - is standard output", DefaultText: "policy.py, policy.go, ..."},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.NArg() != 1 || c.Args().First() != "init" {
				return usagef("policy: give init (gapwise policy init --language python)")
			}
			if c.String("kind") != string(model.KindBatch) {
				return usagef("policy: --kind is %q, policies of other programs are there for %s", c.String("kind"), model.KindBatch)
			}
			k := slices.Index(names, c.String("language"))
			if k < 0 {
				return usagef("policy: --language is %q, must be one of %s", c.String("language"), strings.Join(names, ", "))
			}
			l := policyLanguages[k]
			text, err := policies.ReadFile("policies/" + l.template)
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
			fmt.Fprintf(p.out, "%s: first come, first served; its first line says how to run it:\n  gapwise solve -a %s jobs.json\n", file, strings.Replace(l.run, l.file, file, 1))
			return nil
		},
	}
}
