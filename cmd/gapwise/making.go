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
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/text/nearest"
	"github.com/gapwise/gapwise/model"
)

// maker does for the service as the commands generate, convert, gantt and kubernetes plan do, by their flags. No flag
// that names a file, or what could be one, is taken.
type maker struct{ p program } // without output

func newMaker() *maker { return &maker{p: program{out: io.Discard, err: io.Discard}} }

// planFlags are the flags of kubernetes plan that neither read from the system nor write.
var planFlags = []string{"price", "price-unit", "use", "by", "headroom", "floor", "offers", "slack", "max-nodes", "survive", "hold", "strict",
	"keep", "schedulers", "packs", "without", "time-limit", "effort", "seed", "threads", "budget", "mend", "allow"}

// given returns a command with the flags that the options give, and more. Only some flags are taken, if they are listed.
func (m *maker) given(command command, taken []string, options map[string]string, more ...string) (c *cli.Command, err error) {
	name, made := command.name, command.made()
	files := map[string]bool{"output": true, "o": true, "plan": true, "account": true, "ran": true, "count": true}
	for _, p := range gapwise.Problems() {
		for _, x := range p.Generator.Parameters() {
			files[x.Flag()] = files[x.Flag()] || x.File
		}
	}
	known := map[string]bool{}
	for _, f := range made.Flags {
		if n := f.Names()[0]; taken == nil && !files[n] || slices.Contains(taken, n) {
			known[n] = true
		}
	}
	args := append([]string{name}, more...)
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
	c, err := m.given(command{name: "generate", build: m.p.generate}, nil, options)
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
	c, err := m.given(command{name: "convert", build: m.p.convert}, nil, options)
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

// draw writes a picture of a result that the judge has accepted. A PNG has at most some pixels.
func (m *maker) draw(ctx context.Context, w io.Writer, in model.Instance, r model.Result, format string, pixels int64, options map[string]string) error {
	c, err := m.given(command{name: "gantt", build: m.p.gantt}, append([]string{"dark"}, ganttFileFlags...), options, "--output=picture."+format)
	if err != nil {
		return err
	}
	o, err := viewOf(c, in)
	if err == nil {
		o.Style, err = styleOf(c, nil)
	}
	if err != nil {
		return asOptions(err)
	}
	o.MostPixels = float64(pixels)
	d := drawing{in: in, s: r.Solution, by: r.Algorithm, bound: boundOf(ctx, in, r.Bound)}
	if r.Algorithm == ask.Bare {
		d.by = ""
	}
	if r.Solution == nil {
		x, ok := r.Details.(*model.ReservationDetails)
		if !ok || len(x.Conflict) == 0 {
			return fmt.Errorf("%w: there is no solution to draw", model.ErrUnsupported)
		}
		d.conflict, d.reason = x.Conflict, r.Reason
	}
	return asOptions(drawGantt(ctx, w, c, o, d))
}

// plan makes a plan for a cluster. The time limit is at most limit, and the workers at most threads.
func (m *maker) plan(limit time.Duration, threads int) func(ctx context.Context, found *kubernetes.Cluster, files, options map[string]string) (*kubernetes.Plan, error) {
	return func(ctx context.Context, found *kubernetes.Cluster, files, options map[string]string) (*kubernetes.Plan, error) {
		c, err := m.given(command{name: "plan", build: func() *cli.Command { return m.p.kubernetesPlans().Commands[0] }}, planFlags, options)
		if err != nil {
			return nil, err
		}
		o, err := solvingOptions(c)
		if !c.IsSet("time-limit") {
			o.TimeLimit = min(o.TimeLimit, limit)
		}
		switch {
		case err != nil:
			return nil, asOptions(err)
		case o.TimeLimit <= 0 || o.TimeLimit > limit:
			return nil, fmt.Errorf("%w options: time_limit is %v, must be above 0 and at most %v", model.ErrInvalid, o.TimeLimit, limit)
		case o.Threads > threads:
			return nil, fmt.Errorf("%w options: threads is %d, must be from 1 to %d", model.ErrInvalid, o.Threads, threads)
		}
		if _, err = allowed(c); err != nil {
			return nil, asOptions(err)
		}
		read, err := clusterOptions(c, func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, fmt.Errorf("%w files: there is no %q; send its text in files", model.ErrInvalid, name)
		})
		if err != nil {
			return nil, asOptions(err)
		}
		ctx, cancel := context.WithTimeout(ctx, o.TimeLimit+limit/10+time.Second)
		defer cancel()
		_, plan, err := m.p.planned(ctx, c, found, read, o)
		return plan, asOptions(err)
	}
}
