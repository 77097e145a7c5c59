// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// curveFlags are the flags of the pictures of benchmarks.
var curveFlags = []string{"x", "y", "algorithms", "where", "instances", "minus", "log", "no-bound", "kind"}

func (p *program) plot() *cli.Command {
	help := "Draws the RESULTS of gapwise bench: a value against a parameter (gapwise\n" +
		"bench table --help lists the parameters), with one curve for each algorithm.\n" +
		"It is the mean of all runs at each x, with its 95 % confidence interval by\n" +
		"Student's t. If a parameter was computed and each point has one instance,\n" +
		"the points aren't joined.\n" +
		"A picture of the objective or the acceptance also has the mean of the best\n" +
		"proved bounds, which no algorithm can cross (--no-bound leaves it out). All\n" +
		"means at an x are then over the instances that every algorithm drawn there\n" +
		"has solved.\n\n" +
		"--kind box draws a box of the values of each algorithm's runs: quartiles,\n" +
		"median, whiskers to 1.5 times the box's height, and single runs beyond.\n" +
		"--kind profile draws Dolan and Moré's performance profile: the share of\n" +
		"problems on which an algorithm is at most τ times as bad as the best one of\n" +
		"its class, by -y objective, or by -y time, to the best solution.\n" +
		"--kind ecdf draws the share of the runs with at most a value of -y, for each\n" +
		"algorithm of a class, on the instances that all of them ran on. A run without\n" +
		"the value counts: its curve ends below 100 %.\n" +
		"--kind ranks draws Demšar's critical-difference diagram of each class: the\n" +
		"figures of gapwise bench compare --ranks --value, and bars that join the\n" +
		"algorithms that aren't told apart.\n\n" +
		"For a RESULT of gapwise solve --algorithm network-aware -o, it draws the\n" +
		"makespan of each round, as planned and as realised.\n\nValues:\n"
	for _, v := range runs.ValueNames() {
		help += fmt.Sprintf("  %-19s %s\n", v[0], words.Wrap(v[1], 53, 22))
	}
	return &cli.Command{
		ArgsUsage:   "RESULTS... | RESULT",
		Description: strings.TrimRight(help, "\n"),
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "kind", Value: "curves", Usage: "`KIND` of picture: " + strings.Join(plotKinds, ", ")},
			&cli.StringFlag{Name: "x", Usage: "`PARAM` on the x axis; or a pair, like artime,deadline"},
			&cli.StringFlag{Name: "y", Usage: "`VALUE` on the y axis; ecdf: on the x axis", DefaultText: "profile: time, else objective"},
			&cli.StringFlag{Name: "algorithms", Usage: "`LIST` of algorithms to draw, in this order"},
			&cli.StringFlag{Name: "where", Usage: "`LIST` of conditions on runs, like umed=7,pes=64"},
			&cli.StringFlag{Name: "minus", Usage: "draw paired differences from algorithm `NAME`"},
			instancesFlag(),
			&cli.StringFlag{Name: "log", Usage: "logarithmic `AXES`: x, y, xy or none", DefaultText: "that of -y time"},
			&cli.BoolFlag{Name: "no-bound", Usage: "leave out the curve of the bound"},
			&cli.StringFlag{Name: "title", Usage: "title of the picture", DefaultText: "made from the contents"},
			outputFlag(),
		}, styleFlags()),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			style, err := styleOf(c, paths)
			if err != nil {
				return err
			}
			if axes := c.String("log"); !slices.Contains([]string{"", "x", "y", "xy", "none"}, axes) {
				return usagef("plot: --log is %q, give x, y, xy or none", axes)
			}
			where, err := conditions(c)
			if err != nil {
				return err
			}
			data, err := readEach(paths)
			if err != nil {
				return err
			}
			of := slices.IndexFunc(data, func(d []byte) bool { return !isRecord(d) })
			if of < 0 {
				return p.plotCurves(c, style, paths, data, where)
			}
			if len(paths) > 1 {
				return fmt.Errorf("%s: %w results: these aren't runs of gapwise bench; give those, or one result of gapwise solve alone", instances.Label(paths[of]), model.ErrInvalid)
			}
			for _, f := range curveFlags {
				if c.IsSet(f) {
					if what := heldBy(data[0]); what != "" {
						return fmt.Errorf("%s: %w results: %s", instances.Label(paths[0]), model.ErrInvalid, what)
					}
					return fmt.Errorf("%s: %w results: these aren't runs of gapwise bench, which %s is for", instances.Label(paths[0]), model.ErrInvalid, dashed(f))
				}
			}
			return p.plotRounds(c, style, paths[0], data[0])
		},
	}
}

// conditions reads --where.
func conditions(c *cli.Command) (map[string]float64, error) {
	where := map[string]float64{}
	for _, s := range list(c, "where") {
		name, value, _ := strings.Cut(s, "=")
		name = strings.TrimSpace(name)
		x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		switch _, twice := where[name]; {
		case name == "" || err != nil || math.IsNaN(x) || math.IsInf(x, 0):
			return nil, usagef("plot: --where holds %q, must be a parameter and a number like umed=7", s)
		case twice:
			return nil, usagef("plot: --where holds %s twice", name)
		}
		where[name] = x
	}
	return where, nil
}

// readEach reads the files.
func readEach(paths []string) ([][]byte, error) {
	var all [][]byte
	for _, path := range paths {
		data, err := instances.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// isRecord reports whether the first value of a file is a benchmark's run.
func isRecord(data []byte) bool {
	var head struct {
		Plan *string `json:"plan"`
	}
	return json.NewDecoder(bytes.NewReader(data)).Decode(&head) == nil && head.Plan != nil
}

func (p *program) plotCurves(c *cli.Command, style draw.Style, paths []string, data [][]byte, where map[string]float64) error {
	x, y, kind := list(c, "x"), c.String("y"), c.String("kind")
	if !slices.Contains(plotKinds, kind) {
		return usagef("plot: --kind is %q, give one of %s", kind, strings.Join(plotKinds, ", "))
	}
	for _, f := range []string{"x", "minus", "no-bound"} {
		if kind != "curves" && c.IsSet(f) {
			return usagef("plot: %s goes with --kind curves", dashed(f))
		}
	}
	switch {
	case y == "" && kind == "profile":
		y = "time"
	case y == "" && kind != "curves":
		y = "objective"
	}
	switch {
	case kind == "ranks" && c.IsSet("log"):
		return usagef("plot: --kind ranks has an axis of ranks, without --log")
	case kind == "ecdf" && strings.Contains(c.String("log"), "y"):
		return usagef("plot: --kind ecdf has shares on the y axis: --log takes x")
	case kind == "profile" && (y != "objective" && y != "time" || c.IsSet("log")):
		return usagef("plot: --kind profile goes with -y objective or -y time, and without --log")
	case kind == "box" && strings.Contains(c.String("log"), "x"):
		return usagef("plot: --kind box has algorithms on the x axis: --log takes y")
	case kind == "curves" && (len(x) == 0 || y == ""):
		return usagef("plot: give -x, a parameter, and -y, a value; see gapwise bench plot --help")
	}
	var records []runs.Record
	for k, path := range paths {
		some, _, err := runs.DecodeRecords(bytes.NewReader(data[k]), instances.Label(path))
		if err != nil {
			return err
		}
		records = append(records, some...)
	}
	records, err := p.ofInstances(c, records)
	if err != nil {
		return err
	}
	o := runs.SeriesOptions{X: x, Y: y, Algorithms: list(c, "algorithms"), Where: where, Minus: c.String("minus"), Bound: !c.Bool("no-bound")}
	if len(o.Algorithms) == 0 { // in the plan's order
		for i := range records {
			if !slices.Contains(o.Algorithms, records[i].Algorithm) {
				o.Algorithms = append(o.Algorithms, records[i].Algorithm)
			}
		}
	}
	switch kind {
	case "box":
		return p.plotBoxes(c, style, records, o)
	case "profile":
		return p.plotProfiles(c, style, records, o)
	case "ecdf":
		return p.plotDistributions(c, style, records, o)
	case "ranks":
		return p.plotRanks(c, style, records, o)
	}
	lines, err := runs.Series(records, o)
	if err != nil {
		return err
	}
	curves, positive := curvesOf(lines)
	apart := runs.PointsApart(records, x, lines)
	for k := range curves {
		curves[k].Apart = apart
	}
	of := slices.IndexFunc(records, func(r runs.Record) bool { return r.Algorithm == lines[0].Algorithm })
	var titles []string
	for _, key := range x {
		titles = append(titles, runs.ParameterAxis(key, &records[of]))
	}
	xaxis, yaxis := draw.Axis{Label: strings.Join(titles, ", ")}, draw.Axis{}
	yaxis.Label, yaxis.NotNegative = runs.ValueAxis(y, records[of:])
	if len(x) > 1 {
		xaxis.Label = "{" + strings.Join(x, ", ") + "}"
	}
	title := titled(c, words.Upper(yaxis.Label)+" by "+strings.Join(x, ", "))
	if base := c.String("minus"); base != "" {
		yaxis.Label, yaxis.NotNegative = yaxis.Label+", minus that of "+base, false
	}
	axes := c.String("log")
	xaxis.Log = strings.Contains(axes, "x") && len(x) == 1
	yaxis.Log = axes == "y" || axes == "xy" || axes == "" && y == "time" && positive && c.String("minus") == ""
	yaxis.Label += ", " + sampled(lines)
	for _, a := range []*draw.Axis{&xaxis, &yaxis} {
		if a.Log {
			a.Label += ", log scale"
		}
	}
	return p.writeFile(c.String("output"), func(w io.Writer) error { return draw.Curves(w, style, title, xaxis, yaxis, curves) })
}

// plotKinds are the pictures of runs.
var plotKinds = []string{"curves", "box", "profile", "ecdf", "ranks"}

// titled returns the title that is given, or the one that is made from the contents.
func titled(c *cli.Command, made string) string {
	if where := c.String("where"); where != "" {
		made += " (" + where + ")"
	}
	if c.IsSet("title") {
		return c.String("title")
	}
	return made
}

// plotBoxes draws the values of each algorithm's runs as a box, those of a class side by side.
func (p *program) plotBoxes(c *cli.Command, style draw.Style, records []runs.Record, o runs.SeriesOptions) error {
	samples, err := runs.Samples(records, o)
	if err != nil {
		return err
	}
	var curves []draw.Curve
	var names []string
	for _, s := range samples {
		names = append(names, s.Algorithm)
	}
	labels := words.Apart(names)
	yaxis, positive, least, most := draw.Axis{}, true, math.MaxInt, 0
	for k, s := range samples {
		if k == 0 || samples[k-1].Class != s.Class {
			curves = append(curves, draw.Curve{Label: s.Class.Plural()})
		}
		last, label := &curves[len(curves)-1], labels[k]
		last.Points = append(last.Points, draw.Point{X: float64(k) + 0.5*float64(len(curves)), Y: s.Values[0], Values: s.Values, Label: label})
		least, most, positive = min(least, len(s.Values)), max(most, len(s.Values)), positive && slices.Min(s.Values) > 0
	}
	of := slices.IndexFunc(records, func(r runs.Record) bool { return r.Algorithm == samples[0].Algorithm })
	yaxis.Label, yaxis.NotNegative = runs.ValueAxis(o.Y, records[of:])
	title := titled(c, words.Upper(yaxis.Label)+" by algorithm")
	count := strconv.Itoa(most)
	if least < most {
		count = fmt.Sprintf("%d to %d", least, most)
	}
	yaxis.Label += ", " + count + " runs each"
	if axes := c.String("log"); axes == "y" || axes == "" && o.Y == "time" && positive {
		yaxis.Log, yaxis.Label = true, yaxis.Label+", log scale"
	}
	return p.writeFile(c.String("output"), func(w io.Writer) error {
		return draw.Curves(w, style, title, draw.Axis{Label: "algorithm"}, yaxis, curves)
	})
}

// plotProfiles draws the performance profiles of the algorithms of a class.
func (p *program) plotProfiles(c *cli.Command, style draw.Style, records []runs.Record, o runs.SeriesOptions) error {
	lines, n, err := runs.Profiles(records, o, o.Y == "time")
	if err != nil {
		return err
	}
	xaxis, title := draw.Axis{Label: "τ, times worse than the best solution, log scale", Log: true}, "Performance profile by quality"
	if o.Y == "time" {
		xaxis.Label, title = "τ, times the fastest algorithm's time, log scale", "Performance profile by time to the best"
	}
	return p.plotSteps(c, style, title, xaxis, fmt.Sprintf("share of problems ρ(τ) (%%), n = %d", n), lines)
}

// plotSteps draws step functions that are shares in percent.
func (p *program) plotSteps(c *cli.Command, style draw.Style, title string, xaxis draw.Axis, share string, lines []runs.Line) error {
	curves, _ := curvesOf(lines)
	for k := range curves {
		curves[k].Step = true
	}
	yaxis := draw.Axis{Label: share, NotNegative: true, Holds: []float64{0, 100}}
	return p.writeFile(c.String("output"), func(w io.Writer) error { return draw.Curves(w, style, titled(c, title), xaxis, yaxis, curves) })
}

// plotDistributions draws the empirical distributions of a value, of the algorithms of a class.
func (p *program) plotDistributions(c *cli.Command, style draw.Style, records []runs.Record, o runs.SeriesOptions) error {
	lines, n, err := runs.Distributions(records, o)
	if err != nil {
		return err
	}
	of := slices.IndexFunc(records, func(r runs.Record) bool { return r.Algorithm == lines[0].Algorithm })
	xaxis := draw.Axis{}
	xaxis.Label, _ = runs.ValueAxis(o.Y, records[of:])
	title := "Distribution of " + xaxis.Label
	if axes := c.String("log"); axes == "x" || axes == "" && o.Y == "time" && lines[0].Points[0].X > 0 {
		xaxis.Log, xaxis.Label = true, xaxis.Label+", log scale"
	}
	return p.plotSteps(c, style, title, xaxis, fmt.Sprintf("share of runs (%%), n = %d", n), lines)
}

// plotRanks draws the mean ranks of the algorithms of each class.
func (p *program) plotRanks(c *cli.Command, style draw.Style, records []runs.Record, o runs.SeriesOptions) error {
	found, err := runs.Rankings(records, runs.CompareOptions{Value: o.Y, Algorithms: o.Algorithms, Where: o.Where})
	if err != nil {
		return err
	}
	var all []draw.Ranking
	for _, r := range found {
		heading := fmt.Sprintf("%s, n = %d", r.Class.Plural(), r.Instances)
		if !math.IsNaN(r.P) {
			heading += ", Friedman's p = " + words.Probability(r.P, false)
		}
		all = append(all, draw.Ranking{Heading: strings.Replace(heading, "= <", "< ", 1), Names: words.Apart(r.Algorithms), Ranks: r.Ranks, Distance: r.Distance, Cliques: r.Cliques()})
	}
	label, _ := runs.ValueAxis(o.Y, records)
	return p.writeFile(c.String("output"), func(w io.Writer) error {
		return draw.Ranks(w, style, titled(c, "Mean ranks by "+label), "1: the best; bars: not told apart (Nemenyi)", all)
	})
}

// curvesOf returns the curves of lines, and whether all their means are above 0.
func curvesOf(lines []runs.Line) (curves []draw.Curve, positive bool) {
	positive = true
	var names []string
	for _, l := range lines {
		names = append(names, l.Algorithm)
	}
	labels := words.Apart(names)
	for k, l := range lines {
		curve := draw.Curve{Label: labels[k], Bound: l.Bound}
		for _, q := range l.Points {
			curve.Points = append(curve.Points, draw.Point{X: q.X, Y: q.Mean, Half: q.Half, Label: q.Label})
			positive = positive && q.Mean > 0
		}
		curves = append(curves, curve)
	}
	return curves, positive
}

// sampled states how many runs the points of lines are means of.
func sampled(lines []runs.Line) string {
	least, most, runs := math.MaxInt, 0, 0
	for _, l := range lines {
		for _, q := range l.Points {
			least, most, runs = min(least, q.Instances), max(most, q.Instances), max(runs, (q.Runs+q.Instances-1)/q.Instances)
		}
	}
	text := "mean of " + strconv.Itoa(most)
	if least < most {
		text = fmt.Sprintf("mean of %d to %d", least, most)
	}
	if text += " instances"; most == 1 {
		text = "one instance"
	}
	if runs > 1 {
		text += fmt.Sprintf(", %d runs each", runs)
	}
	return text
}

func (p *program) plotRounds(c *cli.Command, style draw.Style, path string, data []byte) error {
	// The first of several results that has rounds.
	r, err := model.Result{}, error(nil)
	for _, part := range splitJSON(data) {
		if r, err = model.DecodeResult(part.data); err != nil || len(trace(r)) > 0 {
			break
		}
	}
	if len(splitJSON(data)) == 0 {
		_, err = model.DecodeResult(data) // states the error
	}
	if err == nil && len(trace(r)) == 0 {
		err = fmt.Errorf("%w result: it has no trace of rounds, solve with --algorithm network-aware under contention", model.ErrInvalid)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", instances.Label(path), err)
	}
	title := fmt.Sprintf("%s, %s", r.Instance, r.Algorithm)
	if c.IsSet("title") {
		title = c.String("title")
	}
	return p.writeFile(c.String("output"), func(w io.Writer) error { return draw.Rounds(w, style, title, trace(r)) })
}

// trace returns the rounds of a result that has some.
func trace(r model.Result) []model.Round {
	if d, ok := r.Details.(*model.DAGDetails); ok {
		return d.Trace
	}
	return nil
}
