package main

import (
	"io"

	"github.com/urfave/cli/v2"
)

func (p *program) convert() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write an instance or a foreign task graph in the own format",
		ArgsUsage: "FILE",
		Description: "DOT (as daggen writes it), WfFormat 1.3 to 1.5 (WfCommons) and STG files are\n" +
			"read, gzipped or not. They need a platform: a preset with options, such as\n" +
			"star,machines=8,speed=1/2,bandwidth=1e8,startup=0.1 (paper,\n" +
			"paper-two-pools, uniform, bus or star), or a JSON file with the keys\n" +
			"machines and network. All other commands read such files, too.",
		Flags: []cli.Flag{
			transfersFlag, platformFlag,
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		},
		Action: func(c *cli.Context) error {
			paths, err := files(c, 1)
			if err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), paths); err != nil {
				return err
			}
			in, err := load(c, paths[0])
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
