package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// transfersFlag and platformFlag are those of the commands that read instances.
var (
	transfersFlag = &cli.StringFlag{Name: "transfers", Usage: "of dag, a `MODEL`: ideal, fair, tcp, tcp-all"}
	platformFlag  = &cli.StringFlag{Name: "platform", Usage: "for foreign graphs (gapwise help convert)"}
)

// load reads an instance as the flags say.
func load(c *cli.Context, path string) (model.Instance, error) {
	in, err := instances.LoadOn(path, c.String("platform"))
	if err != nil {
		return nil, err
	}
	name := model.TransferModel(c.String("transfers"))
	if name == "" {
		return in, nil
	}
	if !slices.Contains(model.TransferModels, name) {
		return nil, usagef("%s: --transfers is %q, give one of %q", c.Command.Name, name, model.TransferModels)
	}
	d, ok := in.(*model.DAG)
	if !ok {
		return nil, usagef("%s: --transfers goes with dag instances, %s is a %s", c.Command.Name, instances.Label(path), in.Kind())
	}
	if d.Transfers() != name {
		d.TransferModel = name
	}
	return d, nil
}

// transfersOf tells a DAG's transfer model, in the words of a headline.
func transfersOf(in model.Instance) string {
	if d, ok := in.(*model.DAG); ok {
		return fmt.Sprintf(" (transfers: %s)", d.Transfers())
	}
	return ""
}

// adopt makes an instance that names no transfer model take the schedule's:
// that is what it was solved under.
func adopt(in model.Instance, s model.Solution) {
	d, isDAG := in.(*model.DAG)
	schedule, ok := s.(*model.Schedule)
	if isDAG && ok && d.TransferModel == "" && schedule.TransferModel != "" && schedule.TransferModel != d.Transfers() {
		d.TransferModel = schedule.TransferModel
	}
}
