// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/text/nearest"
	"github.com/gapwise/gapwise/model"
)

// maker makes instances for the service, as the commands generate and convert do, by their flags. No flag that names a
// file, or what could be one, is taken.
type maker struct{ p program } // without output

func newMaker() *maker { return &maker{p: program{out: io.Discard, err: io.Discard}} }

// given returns a command with the flags that the options give.
func (m *maker) given(name string, options map[string]string) (c *cli.Command, err error) {
	command := command{name: name, build: m.p.generate}
	if name == "convert" {
		command.build = m.p.convert
	}
	made := command.made()
	files := map[string]bool{"output": true, "o": true, "plan": true, "account": true, "ran": true, "count": true}
	for _, p := range gapwise.Problems() {
		for _, x := range p.Generator.Parameters() {
			files[x.Flag()] = files[x.Flag()] || x.File
		}
	}
	known := map[string]bool{}
	for _, f := range made.Flags {
		if n := f.Names()[0]; !files[n] {
			known[n] = true
		}
	}
	args := []string{name}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		value := options[key]
		if !known[key] {
			return nil, fmt.Errorf("%w options: the service has no option %s for %s%s", model.ErrInvalid, key, name, nearest.Hint("; did you mean %s?", key, slices.Sorted(maps.Keys(known))))
		}
		if preset, _, _ := strings.Cut(value, ","); key == "platform" && !slices.Contains(servedPlatforms, preset) && !strings.HasPrefix(value, "hosts=") {
			return nil, fmt.Errorf("%w options: platform is %q, the service takes %s with their settings, or hosts=N", model.ErrInvalid, value, strings.Join(servedPlatforms, ", "))
		}
		args = append(args, "--"+key+"="+value)
	}
	made.Action = func(_ context.Context, parsed *cli.Command) error { c = parsed; return nil }
	made.Writer, made.ErrWriter, made.OnUsageError = io.Discard, io.Discard, onUsageError
	made.ExitErrHandler = func(context.Context, *cli.Command, error) {}
	return c, asOptions(made.Run(context.Background(), args))
}

// servedPlatforms are the presets of platforms. Others than these could be files.
var servedPlatforms = []string{"paper", "paper-two-pools", "uniform", "bus", "star"}

// asOptions returns a usage error as one of the input.
func asOptions(err error) error {
	var usage usageError
	if errors.As(err, &usage) {
		return fmt.Errorf("%w options: %w", model.ErrInvalid, err)
	}
	return err
}

// perCell is the least size of a combination of things that an instance has data of, such as the cost of a task on a
// machine, and perThing that of a thing itself, in bytes.
const perCell, perThing = 8, 64

// countedParameters are the parameters of generators that are numbers of things.
var countedParameters = []string{"tasks", "machines", "jobs", "hosts", "resources", "replicas", "offers", "requests", "processors", "pes", "slots", "arrays"}

// generate draws an instance of at most some bytes.
func (m *maker) generate(options map[string]string, most int64) (model.Instance, error) {
	c, err := m.given("generate", options)
	if err != nil {
		return nil, err
	}
	cases, err := drawn(c)
	if err != nil {
		return nil, asOptions(err)
	}
	cells, things := 1.0, 0.0
	for _, key := range countedParameters {
		n := cases[0].Params[key]
		cells, things = cells*max(1, n), things+n
	}
	if k := cases[0].Params["k"]; k > 0 { // a fat tree has k³/4 servers
		cells *= max(1, k*k*k/4)
	}
	if max(perCell*cells, perThing*things) > float64(most) {
		return nil, fmt.Errorf("%w options: the instance would take more than %d bytes; make it smaller, or start the service with a larger --body", model.ErrInvalid, most)
	}
	return cases[0].Load()
}

// convert makes an instance of a file's data.
func (m *maker) convert(name string, data []byte, options map[string]string) (model.Instance, error) {
	c, err := m.given("convert", options)
	if err != nil {
		return nil, err
	}
	f, err := instances.OpenData(name, data)
	if err != nil {
		return nil, err
	}
	in, _, err := m.p.converted(c, name, f)
	return in, asOptions(err)
}
