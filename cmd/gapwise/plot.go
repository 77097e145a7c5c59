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

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// curveFlags are those of the pictures of benchmarks.
var curveFlags = []string{"x", "y", "algorithms", "where", "instances", "minus"}

func (p *program) plot() *cli.Command {
	help := "From the RESULTS of gapwise bench: a value against a parameter\n" +
		"(gapwise table --help lists them), one curve for each algorithm: the mean of\n" +
		"all runs at each x, with its 95 % confidence interval by Student's t.\n" +
		"From a RESULT of gapwise solve --algorithm network-aware -o: the makespan of\n" +
		"each round, as planned and as realised.\n\nValues:\n"
	for _, v := range benchmarks.ValueNames() {
		help += fmt.Sprintf("  %-19s %s\n", v[0], wrap(v[1], 53, 22))
	}
	return &cli.Command{
		Name:        "plot",
		Usage:       "draw curves of a benchmark, or the rounds of network-aware",
		ArgsUsage:   "RESULTS... | RESULT",
		Description: strings.TrimRight(help, "\n"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "x", Usage: "`PARAM` on the x axis; artime,deadline for a pair"},
			&cli.StringFlag{Name: "y", Usage: "`VALUE` on the y axis"},
			&cli.StringFlag{Name: "algorithms", Usage: "`LIST` of algorithms to draw, in this order"},
			&cli.StringFlag{Name: "where", Usage: "`LIST` of conditions on runs, like umed=7,pes=64"},
			&cli.StringFlag{Name: "minus", Usage: "draw paired differences from algorithm `NAME`"},
			instancesFlag(),
			&cli.StringFlag{Name: "title", Usage: "title of the picture", DefaultText: "plan or instance"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` that ends in .svg or .png"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 0)
			if err != nil {
				return err
			}
			format, err := pictureFormat(c, paths)
			if err != nil {
				return err
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
				return p.plotCurves(c, format, paths, data, where)
			}
			if len(paths) > 1 {
				return fmt.Errorf("%s: %w results: these aren't runs of gapwise bench; give those, or one result of gapwise solve alone", instances.Label(paths[of]), model.ErrInvalid)
			}
			for _, f := range curveFlags {
				if c.IsSet(f) {
					return fmt.Errorf("%s: %w results: these aren't runs of gapwise bench, which %s is for", instances.Label(paths[0]), model.ErrInvalid, dashed(f))
				}
			}
			return p.plotRounds(c, format, paths[0], data[0])
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

func (p *program) plotCurves(c *cli.Command, format string, paths []string, data [][]byte, where map[string]float64) error {
	x, y := list(c, "x"), c.String("y")
	if len(x) == 0 || y == "" {
		return usagef("plot: give -x, a parameter, and -y, a value; see gapwise plot --help")
	}
	var records []benchmarks.Record
	var plans []string
	for k, path := range paths {
		some, _, err := benchmarks.DecodeRecords(bytes.NewReader(data[k]), instances.Label(path))
		if err != nil {
			return err
		}
		for i := range some {
			if !slices.Contains(plans, some[i].Plan) {
				plans = append(plans, some[i].Plan)
			}
		}
		records = append(records, some...)
	}
	records, err := p.ofInstances(c, records)
	if err != nil {
		return err
	}
	lines, err := benchmarks.Series(records, benchmarks.SeriesOptions{X: x, Y: y, Algorithms: list(c, "algorithms"), Where: where, Minus: c.String("minus")})
	if err != nil {
		return err
	}
	var curves []draw.Curve
	for _, l := range lines {
		curve := draw.Curve{Label: l.Algorithm}
		for _, q := range l.Points {
			curve.Points = append(curve.Points, draw.Point{X: q.X, Y: q.Mean, Half: q.Half, Label: q.Label})
		}
		curves = append(curves, curve)
	}
	xlabel := x[0]
	if len(x) > 1 {
		xlabel = "{" + strings.Join(x, ", ") + "}"
	}
	title := strings.Join(plans, ", ")
	if c.IsSet("title") {
		title = c.String("title")
	}
	of := slices.IndexFunc(records, func(r benchmarks.Record) bool { return r.Algorithm == lines[0].Algorithm })
	ylabel := benchmarks.ValueAxis(y, &records[of])
	if base := c.String("minus"); base != "" {
		ylabel += ", minus that of " + base
	}
	return p.writeFile(c.String("output"), func(w io.Writer) error { return draw.Curves(w, format, title, xlabel, ylabel, curves) })
}

func (p *program) plotRounds(c *cli.Command, format, path string, data []byte) error {
	// Of several results, the first with rounds.
	r, err := model.Result{}, error(nil)
	for _, part := range splitJSON(data) {
		if r, err = model.DecodeResult(part.data); err != nil || len(trace(r)) > 0 {
			break
		}
	}
	if len(splitJSON(data)) == 0 {
		_, err = model.DecodeResult(data) // says what is wrong
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
	return p.writeFile(c.String("output"), func(w io.Writer) error { return draw.Rounds(w, format, title, trace(r)) })
}

// trace returns the rounds of a result that has some.
func trace(r model.Result) []model.Round {
	if d, ok := r.Details.(*model.DAGDetails); ok {
		return d.Trace
	}
	return nil
}
