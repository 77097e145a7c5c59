package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// Flags of the commands that read instances.
var (
	transfersFlag = &cli.StringFlag{Name: "transfers", Usage: "of dag, a `MODEL`: ideal, fair, tcp, tcp-all"}
	platformFlag  = &cli.StringFlag{Name: "platform", Usage: "for foreign graphs (gapwise help convert)"}
	goalFlag      = &cli.StringFlag{Name: "goal", Usage: "of reservation: accepted, pe_seconds or all"}
)

// load reads an instance as the flags say.
func load(c *cli.Context, path string) (model.Instance, error) {
	in, err := instances.LoadOn(path, c.String("platform"))
	if err != nil {
		return nil, err
	}
	return in, change(c, path, in)
}

// change makes the instance what the flags say of its problem.
func change(c *cli.Context, path string, in model.Instance) error {
	wrong := func(flag string, kind model.Kind) error {
		return usagef("%s: --%s goes with %s instances, %s is a %s", c.Command.Name, flag, kind, instances.Label(path), in.Kind())
	}
	if name := model.TransferModel(c.String("transfers")); name != "" {
		if !slices.Contains(model.TransferModels, name) {
			return usagef("%s: --transfers is %q, give one of %q", c.Command.Name, name, model.TransferModels)
		}
		d, ok := in.(*model.DAG)
		if !ok {
			return wrong("transfers", model.KindDAG)
		}
		if d.Transfers() != name {
			d.TransferModel = name
		}
	}
	if goal := model.Goal(c.String("goal")); goal != "" {
		if !slices.Contains(model.Goals, goal) {
			return usagef("%s: --goal is %q, give one of %q", c.Command.Name, goal, model.Goals)
		}
		r, ok := in.(*model.Reservation)
		if !ok {
			return wrong("goal", model.KindReservation)
		}
		if r.EffectiveGoal() != goal {
			r.Goal = goal
		}
	}
	return nil
}

// details tells in the words of a headline what of an instance a flag can change.
func details(in model.Instance) string {
	switch typed := in.(type) {
	case *model.DAG:
		return fmt.Sprintf(" (transfers: %s)", typed.Transfers())
	case *model.Reservation:
		return fmt.Sprintf(" (goal: %s)", typed.EffectiveGoal())
	}
	return ""
}

// adopt makes an instance that leaves open what a flag can say take what the
// solution says: that is what it was solved for.
func adopt(c *cli.Context, in model.Instance, s model.Solution) {
	switch typed := in.(type) {
	case *model.DAG:
		schedule, ok := s.(*model.Schedule)
		if ok && c.String("transfers") == "" && typed.TransferModel == "" && schedule.TransferModel != "" && schedule.TransferModel != typed.Transfers() {
			typed.TransferModel = schedule.TransferModel
		}
	case *model.Reservation:
		b, ok := s.(*model.Bookings)
		if ok && c.String("goal") == "" && typed.Goal == "" && b.Goal != "" && b.Goal != typed.EffectiveGoal() {
			typed.Goal = b.Goal
		}
	}
}
