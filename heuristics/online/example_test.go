// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// narrowest starts the job with the fewest processes first, as long as that fits.
type narrowest struct {
	free      int32
	queue     []*online.BatchJob
	decisions []online.BatchDecision
}

func (p *narrowest) Begin(platform online.BatchPlatform) error {
	p.free = int32(platform.Processors)
	return nil
}

func (p *narrowest) Event(e online.BatchEvent) error {
	switch e.Type {
	case online.Submitted:
		at, _ := slices.BinarySearchFunc(p.queue, e.Job.Processes+1, func(j *online.BatchJob, w int32) int { return int(j.Processes - w) })
		p.queue = slices.Insert(p.queue, at, e.Job)
	case online.Ended:
		p.free += e.Job.Processes
	}
	return nil
}

func (p *narrowest) Decide() ([]online.BatchDecision, error) {
	p.decisions = p.decisions[:0]
	for len(p.queue) > 0 && p.queue[0].Processes <= p.free {
		p.decisions = append(p.decisions, online.BatchDecision{Type: online.Start, Job: p.queue[0].Number})
		p.free, p.queue = p.free-p.queue[0].Processes, p.queue[1:]
	}
	return p.decisions, nil
}

// A policy of one's own.
func ExampleBatch() {
	in := &model.Batch{Processors: 4, Tiers: 1, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, Processes: 3}, {ID: "b", SubmitS: 1, RuntimeS: 5, Processes: 4}, {ID: "c", SubmitS: 2, RuntimeS: 5, Processes: 1}}}
	e, err := online.Batch(context.Background(), in, &narrowest{}, online.BatchOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range e.Runs {
		fmt.Printf("%s starts at %v s on %v\n", r.ID, r.Segments[0].StartS, r.Segments[0].Place.Processors)
	}
	// Output:
	// a starts at 0 s on 0-2
	// b starts at 10 s on 0-3
	// c starts at 2 s on 3
}
