// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) gantt() *cli.Command {
	return &cli.Command{
		ArgsUsage: "INSTANCE [SOLUTION]",
		Description: words.Wrap("Writes SVG, PNG or PDF; without -o it draws in characters, for a terminal. Without a SOLUTION the instance is solved first, by "+ganttDefaults()+
			". Of several results the best is drawn, or the one that --algorithm names.", 76, 0) + "\n\n" +
			"Batch: processors over time, with the background by itself. Below are the\n" +
			"processors in use and the waiting jobs. More than 20,000 rectangles are\n" +
			"merged into fields of some processors and some time, with their share in\n" +
			"use.\n" +
			"Dag: a row for each machine, with the links and their transfers below; tasks\n" +
			"that run at once on a machine are below each other. Bold marks the critical\n" +
			"path, which determines the makespan. Under contention, the plan without\n" +
			"contention is above it. With more than 500 tasks, the picture shows the\n" +
			"share of time in which each machine is busy. No schedule ends before the\n" +
			"dash-dotted line: the bound of the result, or the best of the bounds that\n" +
			"take no time.\n" +
			"Reservation: PEs over time. Below are the window of each request (of more\n" +
			"than 30, only those declined), the PEs in use and the waiting requests. With\n" +
			"goal all, if not all requests can be kept, the picture shows those that\n" +
			"conflict.\n" +
			"Tvc: slots and link loads at the moment of the highest load, or --at. Below\n" +
			"are the slots in use over time and, in queue mode, the waiting and the\n" +
			"suspended requests.\n" +
			"Vcsched: a row for each host, with the needs of its tasks; hosts that limit\n" +
			"the yield are marked. Consolidation is the same, with marks on hosts of\n" +
			"pinned tasks. More than 40 hosts become sorted bars.\n\n" +
			"Colours mean the same in all pictures: critical is red, tight orange, moved\n" +
			"green, declined purple, waiting yellow and the background olive. Blue has no\n" +
			"meaning; its tints distinguish neighbours.\n\n" +
			"TIME is in seconds, or like 90m, 36h or 3d12h. For an instance made from a\n" +
			"log that says when it starts, it may also be a date like 1996-10-03, or\n" +
			"1996-10-03T14:00 with a time.",
		Flags: slices.Concat([]cli.Flag{
			outputFlag(),
			&cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, OnlyOnce: true, Usage: "draw the solution by `NAME`"},
			&cli.StringFlag{Name: "from", Usage: "begin the time axis at `TIME`"},
			&cli.StringFlag{Name: "to", Usage: "end the time axis at `TIME`"},
			&cli.StringFlag{Name: "pes", Usage: "draw PEs, processors, machines or hosts `FIRST-LAST`, from 0"},
			&cli.BoolFlag{Name: "usage", Usage: "draw only use and waiting jobs over time"},
			&cli.StringFlag{Name: "only", Usage: "dag: draw only one schedule, realistic or planned"},
			&cli.BoolFlag{Name: "no-links", Usage: "dag: draw only machines"},
			&cli.FloatFlag{Name: "at", Usage: "tvc: moment to draw, in `SECONDS`", DefaultText: "highest load"},
		}, styleFlags(), readingFlags()),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths := c.Args().Slice()
			if len(paths) < 1 || len(paths) > 2 {
				return usagef("gantt: give an instance and perhaps a solution, there %s", arguments(len(paths)))
			}
			var style draw.Style
			if !inCharacters(c) {
				var err error
				if style, err = styleOf(c, paths); err != nil {
					return err
				}
			}
			var in model.Instance
			err := unlessStopped(ctx, func() (err error) { in, err = p.load(c, paths[0]); return err })
			if err != nil {
				return err
			}
			if inCharacters(c) {
				return p.terminalGantt(ctx, c, in, paths[1:])
			}
			o, err := viewOf(c, in)
			if err != nil {
				return err
			}
			o.Style = style
			defer p.afterAWhile("verifying and drawing ...")()
			d, err := p.solutionOf(ctx, c, in, paths[1:])
			if err != nil {
				return err
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { return drawGantt(ctx, w, c, o, d) })
		},
	}
}

// viewOf reads the part of a solution to draw.
func viewOf(c *cli.Command, in model.Instance) (o draw.Options, err error) {
	if only := c.String("only"); only != "" && only != gapwise.Realistic && only != gapwise.Planned {
		return o, usagef("gantt: --only is %q, give %s or %s", only, gapwise.Realistic, gapwise.Planned)
	}
	o.NoLinks, o.Usage = c.Bool("no-links"), c.Bool("usage")
	if c.IsSet("at") {
		x := c.Float("at")
		o.At = &x
	}
	for name, to := range map[string]**float64{"from": &o.From, "to": &o.To} {
		if !c.IsSet(name) {
			continue
		}
		x, err := timeOf(c.String(name), model.StartTime(in))
		if err != nil {
			return o, usagef("gantt: --%s %w", name, err)
		}
		*to = &x
	}
	if c.IsSet("pes") {
		first, last, found := strings.Cut(c.String("pes"), "-")
		if !found {
			last = first
		}
		from, err := strconv.Atoi(strings.TrimSpace(first))
		to, err2 := strconv.Atoi(strings.TrimSpace(last))
		if err != nil || err2 != nil || from < 0 || to < from {
			return o, usagef("gantt: --pes is %q, give numbers from 0 like 0-31", c.String("pes"))
		}
		o.Rows = &draw.Range{First: from, Last: to}
	}
	return o, nil
}

// timeOf reads a time in seconds since the start of an instance, which is at a
// date or not.
func timeOf(s string, start time.Time) (float64, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime, time.RFC3339} {
		at, err := time.ParseInLocation(layout, s, start.Location())
		switch {
		case err != nil:
		case start.IsZero():
			return 0, fmt.Errorf("is the date %q, but the instance doesn't say when it starts; give seconds, or a time like 36h", s)
		default:
			return at.Sub(start).Seconds(), nil
		}
	}
	if days, rest, found := strings.Cut(s, "d"); found {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 1e9 {
			d := time.Duration(0)
			if rest != "" {
				d, err = time.ParseDuration(rest)
			}
			if err == nil {
				return n*86_400 + d.Seconds(), nil
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d.Seconds(), nil
	}
	return 0, fmt.Errorf("is %q, give seconds, a time like 90m, 36h or 3d12h, or a date like 1996-10-03", s)
}

// ganttDefaults lists the algorithms that solve an instance without a solution.
func ganttDefaults() string {
	var all []string
	for _, p := range gapwise.Problems() {
		if len(p.Gantt) > 0 {
			all = append(all, strings.Join(p.Gantt, " or "))
		}
	}
	return strings.Join(all, ", ")
}

// drawing is the content of a picture.
type drawing struct {
	in    model.Instance
	s     model.Solution
	by    string   // algorithm, "" if that isn't known
	bound *float64 // nil if none is known
	// conflict holds, without a solution, the ids of elements that can't be kept together, and reason explains it.
	conflict []string
	reason   string
}

// drawGantt writes a picture.
func drawGantt(ctx context.Context, w io.Writer, c *cli.Command, o draw.Options, d drawing) error {
	o.By, o.Bound = d.by, d.bound
	if in, ok := d.in.(*model.Reservation); ok && d.s == nil {
		return interruptible(ctx, func(w io.Writer) error { return draw.Conflict(w, o, in, d.conflict, d.reason) })(w)
	}
	problem, err := gapwise.ProblemOf(d.in.Kind())
	if err != nil {
		return err
	}
	pictured, err := problem.Pictured(ctx, d.in, d.s)
	if err != nil {
		return err
	}
	var frames []draw.Frame
	for _, x := range pictured {
		frames = append(frames, draw.Frame{Instance: x.Instance, Solution: x.Solution, Arrived: x.Arrived, Label: x.Label})
	}
	if only := c.String("only"); only != "" {
		if frames = slices.DeleteFunc(frames, func(f draw.Frame) bool { return f.Label != only }); len(frames) == 0 {
			return usagef("gantt: --only goes with dag instances under contention (--transfers), where a plan and what becomes of it differ")
		}
		if only == gapwise.Planned {
			o.Bound = nil // it is one of the realistic schedules
		}
	}
	return interruptible(ctx, func(w io.Writer) error { return draw.Solution(w, o, frames) })(w)
}

// outputFlag returns the flag for a picture's file.
func outputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` that ends in .svg, .png or .pdf"}
}

// styleFlags returns the flags for the look of a picture.
func styleFlags() []cli.Flag {
	return []cli.Flag{
		&cli.FloatFlag{Name: "width", Usage: "width of the picture in `MM`; 170 fits a page of A4", DefaultText: "as needed"},
		&cli.FloatFlag{Name: "height", Usage: "height of the picture in `MM`", DefaultText: "as needed"},
		&cli.FloatFlag{Name: "font-size", Usage: "size of the labels in `PT`", DefaultText: "9"},
		&cli.FloatFlag{Name: "dpi", Usage: "resolution of a PNG in pixels per inch", DefaultText: "144"},
		&cli.BoolFlag{Name: "dark", Usage: "draw on a dark background; without it, an SVG follows the reader's system"},
	}
}

// styleOf returns how a picture is to look, its format by the output's name.
func styleOf(c *cli.Command, inputs []string) (draw.Style, error) {
	output := c.String("output")
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(output), "."))
	if !slices.Contains(draw.Formats, format) {
		return draw.Style{}, usagef("%s: give the picture with -o FILE.svg, FILE.png or FILE.pdf", c.Name)
	}
	style := draw.Style{Format: format, Width: c.Float("width") * draw.PointsPerMM, Height: c.Float("height") * draw.PointsPerMM,
		FontSize: c.Float("font-size"), DPI: c.Float("dpi"), Dark: c.Bool("dark")}
	for _, name := range []string{"width", "height", "font-size", "dpi"} {
		if c.IsSet(name) && !(c.Float(name) > 0) {
			return draw.Style{}, usagef("%s: --%s is %v, must be above 0", c.Name, name, c.Float(name))
		}
	}
	if c.IsSet("dpi") && format != "png" {
		return draw.Style{}, usagef("%s: --dpi goes with .png, a picture in .%s has no pixels", c.Name, format)
	}
	return style, checkOutput(output, inputs)
}

// solutionOf reads the solution file, if there is one, or solves; either way
// the judge looks at the solution. It returns the instance as that reads it,
// and the best bound that is known without solving again.
func (p *program) solutionOf(ctx context.Context, c *cli.Command, in model.Instance, solution []string) (drawing, error) {
	if len(solution) == 0 {
		names := []string{c.String("algorithm")}
		if problem, err := gapwise.ProblemOf(in.Kind()); err == nil && names[0] == "" {
			names = problem.Gantt
		}
		var r model.Result
		var err error
		for _, name := range names { // the first that takes the instance
			r, err = gapwise.Solve(ctx, in, gapwise.Options{Algorithm: name, Settings: model.Settings{Seed: 1}})
			if !errors.Is(err, model.ErrUnsupported) {
				break
			}
		}
		if err == nil && r.Solution == nil && c.String("algorithm") == "" && ctx.Err() == nil { // perhaps the reason is known
			limited, cancel := context.WithTimeout(ctx, explainLimit)
			r, err = gapwise.Solve(limited, in, gapwise.Options{Algorithm: "auto", Settings: model.Settings{Seed: 1}})
			cancel()
		}
		if err != nil {
			return drawing{}, err
		}
		d := drawing{in: in, s: r.Solution, by: r.Algorithm, bound: boundOf(ctx, in, r.Bound)}
		if r.Solution == nil {
			return p.withoutSolution(r, d, ctx.Err() != nil)
		}
		return d, nil
	}
	if d, ok := statedConflict(in, solution[0]); ok {
		return d, nil
	}
	found, err := readSolutionsOf(ctx, in, solution[0])
	if err != nil {
		return drawing{}, err
	}
	f, _, err := claimed(c, &in, []string{c.Args().First(), solution[0]}, found)
	if err != nil {
		return drawing{}, err
	}
	d := drawing{in: in, s: f.solution}
	stated := math.NaN()
	if f.result != nil {
		d.by, stated = f.result.Algorithm, f.result.Bound
	}
	d.bound = boundOf(ctx, in, stated)
	report, err := verify.Verify(ctx, in, d.s, verify.Options{})
	if err != nil {
		return drawing{}, err
	}
	if err := report.Err(); err != nil {
		return drawing{}, fmt.Errorf("%s: %w", instances.Label(solution[0]), err)
	}
	return d, nil
}

// boundOf returns the better of a result's bound, NaN without, and the quick ones.
func boundOf(ctx context.Context, in model.Instance, stated float64) *float64 {
	problem, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return nil
	}
	best := stated
	for _, b := range problem.Quick(ctx, in) {
		if minimise := in.Metrics()[0].Sense == model.Minimise; math.IsNaN(best) || minimise && b.Value > best || !minimise && b.Value < best {
			best = b.Value
		}
	}
	if math.IsNaN(best) || math.IsInf(best, 0) {
		return nil
	}
	return &best
}

// explainLimit is how long is looked for the reason why there is no solution.
const explainLimit = 10 * time.Second

// statedConflict reads a result of the instance that has no solution and names a
// conflict.
func statedConflict(in model.Instance, path string) (d drawing, ok bool) {
	if path == "-" {
		return d, false // it can be read once
	}
	data, err := instances.ReadFile(path)
	if err != nil {
		return d, false
	}
	f, err := decodeSolution(data)
	if err != nil || f.result == nil || f.solution != nil {
		return d, false
	}
	x, isConflict := f.result.Details.(*model.ReservationDetails)
	hash, err := model.Hash(in)
	if !isConflict || len(x.Conflict) == 0 || err != nil || f.result.InstanceHash != hash {
		return d, false
	}
	return drawing{in: in, by: f.result.Algorithm, conflict: x.Conflict, reason: f.result.Reason}, true
}

// withoutSolution returns the conflict of a result that has no solution, to be drawn in its place; without one the
// error states that there is nothing to draw.
func (p *program) withoutSolution(r model.Result, d drawing, stopped bool) (drawing, error) {
	if x, ok := r.Details.(*model.ReservationDetails); ok && len(x.Conflict) > 0 {
		d.conflict, d.reason = x.Conflict, r.Reason
		return d, nil
	}
	fmt.Fprintf(p.err, "gapwise: gantt: %s has no solution to draw: %s\n", r.Algorithm, cmp.Or(r.Reason, string(r.Status)))
	return d, codeError(codeOf(r, stopped, false))
}

// interruptible returns a writer that gives up when the context ends; its current output is then lost.
func interruptible(ctx context.Context, write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		var b bytes.Buffer
		err := unlessStopped(ctx, func() error { return write(&b) })
		if err == nil {
			_, err = w.Write(b.Bytes())
		}
		return err
	}
}

// unlessStopped does something, but doesn't wait for it when the context ends.
func unlessStopped(ctx context.Context, do func() error) error {
	if returned, err := panics.Within(ctx, func() time.Duration { return 0 }, do); returned {
		return err
	}
	return fmt.Errorf("stopped: %w", ctx.Err())
}
