// SPDX-License-Identifier: MIT

package reservation_test

import (
	"context"
	"fmt"
	"log"

	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
)

// An instance made in code, and two policies on it: the earliest start, and the start
// with the most free PEs, which here leaves no room for the last request.
func Example() {
	in := &model.Reservation{Name: "three", PEs: 64, Requests: []model.Request{
		{ID: "a", ArrivalS: 0, ReadyS: 0, DurationS: 60, DeadlineS: 60, PEs: 32},
		{ID: "b", ArrivalS: 10, ReadyS: 30, DurationS: 30, DeadlineS: 180, PEs: 16},
		{ID: "c", ArrivalS: 20, ReadyS: 60, DurationS: 30, DeadlineS: 95, PEs: 64},
	}}
	if err := in.Validate(); err != nil {
		log.Fatal(err)
	}
	for k, book := range []func(context.Context, *model.Reservation, model.Settings) (*model.Bookings, error){resheur.FF, resheur.PEW} {
		b, err := book(context.Background(), in, model.Settings{})
		if err != nil {
			log.Fatal(err)
		}
		o, err := in.Objective(b)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s accepts %g, mean slowdown %.3g\n", []string{"FF", "PE_W"}[k], o.Value, o.Second)
		for _, x := range b.Bookings {
			fmt.Printf("  %s from %g s on PEs %s\n", x.ID, x.StartS, x.PEs)
		}
	}
	// Output:
	// FF accepts 3, mean slowdown 1
	//   a from 0 s on PEs 0-31
	//   b from 30 s on PEs 32-47
	//   c from 60 s on PEs 0-63
	// PE_W accepts 2, mean slowdown 1.5
	//   a from 0 s on PEs 0-31
	//   b from 60 s on PEs 0-15
}

// The clairvoyant sees all requests at once.
func ExampleClairvoyant() {
	in := &model.Reservation{PEs: 4, Goal: model.GoalPESeconds, Requests: []model.Request{
		{ID: "small", DurationS: 10, DeadlineS: 10, PEs: 1},
		{ID: "large", ArrivalS: 1, ReadyS: 1, DurationS: 9, DeadlineS: 10, PEs: 4},
	}}
	b, err := resheur.Clairvoyant(context.Background(), in, model.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Bookings)
	// Output: [{large 1 0-3}]
}
