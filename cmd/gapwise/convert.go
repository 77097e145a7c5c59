package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

func (p *program) convert() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a foreign file or an instance in the own format",
		ArgsUsage: "FILE",
		Description: "DOT (as daggen writes it), WfFormat 1.3 to 1.5 (WfCommons) and STG files are\n" +
			"read, gzipped or not. They need a platform: a preset with options, such as\n" +
			"star,machines=8,speed=1/2,bandwidth=1e8,startup=0.1 (paper,\n" +
			"paper-two-pools, uniform, bus or star), or a JSON file with the keys\n" +
			"machines and network. All other commands read such files, too.\n" +
			"SWF logs (.swf, .swf.gz) become requests for reservations, whose windows\n" +
			"are drawn; how many jobs could not be used is printed.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "pes", Usage: "SWF: PEs of the cluster", DefaultText: "the log's"},
			&cli.IntFlag{Name: "skip", Usage: "SWF: usable jobs to skip first"},
			&cli.IntFlag{Name: "first", Usage: "SWF: usable jobs to take", DefaultText: "all"},
			&cli.BoolFlag{Name: "estimates", Usage: "SWF: reserve the runtimes that users estimated"},
			&cli.Float64Flag{Name: "arrival-factor", Value: 1, Usage: "SWF: divisor of arrival times"},
			&cli.Float64Flag{Name: "artime", Value: 3, Usage: "SWF: most wait until ready, in durations"},
			&cli.Float64Flag{Name: "deadline", Value: 3, Usage: "SWF: most slack at the end, in durations"},
			&cli.Float64Flag{Name: "cancelled", Usage: "SWF: share of cancelled requests"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "SWF: seed of the random generator"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 1)
			if err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), paths); err != nil {
				return err
			}
			in, err := p.converted(c, paths[0])
			if err != nil {
				return err
			}
			line, err := jsonLine(in)
			if err != nil {
				return err
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { _, err := w.Write(line); return err })
		},
	}
}

// converted reads a file as an instance.
func (p *program) converted(c *cli.Command, path string) (model.Instance, error) {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	if !strings.HasSuffix(name, ".swf") {
		for _, f := range swfFlags {
			if c.IsSet(f) {
				return nil, usagef("convert: --%s goes with SWF logs, %s isn't one by its name", f, instances.Label(path))
			}
		}
		return load(c, path)
	}
	if c.IsSet("pes") && c.Int("pes") < 1 || c.IsSet("first") && c.Int("first") < 1 {
		return nil, usagef("convert: --pes and --first must be at least 1")
	}
	if c.Float64("arrival-factor") == 0 {
		return nil, usagef("convert: --arrival-factor is 0, must be above 0")
	}
	if c.String("platform") != "" {
		return nil, usagef("convert: --platform goes with task graphs, %s is an SWF log", instances.Label(path))
	}
	log, err := instances.LoadSWF(path)
	if err != nil {
		return nil, err
	}
	name = filepath.Base(path)
	name = name[:strings.LastIndex(strings.ToLower(name), ".swf")]
	if !utf8.ValidString(name) {
		return nil, fmt.Errorf("%w: the name of %q isn't UTF-8, and the instance would be called by it; rename it", model.ErrInvalid, path)
	}
	in, report, err := instances.ReservationFromSWF(name, log, instances.SWFOptions{PEs: c.Int("pes"), Skip: c.Int("skip"), First: c.Int("first"),
		Estimate: c.Bool("estimates"), ArrivalFactor: c.Float64("arrival-factor"), ARTime: c.Float64("artime"), Deadline: c.Float64("deadline"),
		Cancelled: c.Float64("cancelled"), Seed: c.Uint64("seed")})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", instances.Label(path), err)
	}
	fmt.Fprintf(p.err, "%s: %v\n", instances.Label(path), report)
	return withVariants(c, path, in)
}

// swfFlags are the flags that go with SWF logs alone.
var swfFlags = []string{"pes", "skip", "first", "estimates", "arrival-factor", "artime", "deadline", "cancelled", "seed"}
