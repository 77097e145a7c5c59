// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// firstRoom places each task on the first host with enough memory left, and moves none. A job that doesn't fit so is
// rejected.
type firstRoom struct {
	left   []float64 // memory of each host
	hosts  map[int32][]int
	answer []online.VCSchedDecision
}

func (p *firstRoom) Begin(platform online.VCSchedPlatform) error {
	p.hosts = map[int32][]int{}
	for h := range platform.Cluster.Hosts {
		p.left = append(p.left, platform.Cluster.Capacity(h).Memory)
	}
	return nil
}

func (p *firstRoom) Event(e online.VCSchedEvent) error {
	if e.Type == online.Ended {
		p.free(e)
		return nil
	}
	for h := 0; h < len(p.left) && len(p.hosts[e.Number]) < e.Job.Tasks; {
		if e.Job.Memory > p.left[h] {
			h++
			continue
		}
		p.left[h] -= e.Job.Memory
		p.hosts[e.Number] = append(p.hosts[e.Number], h)
	}
	if len(p.hosts[e.Number]) < e.Job.Tasks {
		p.free(e)
		p.answer = append(p.answer, online.VCSchedDecision{Type: online.Reject, Job: e.Number})
	}
	for task, h := range p.hosts[e.Number] {
		p.answer = append(p.answer, online.VCSchedDecision{Type: online.Start, Job: e.Number, Task: task, Host: h})
	}
	return nil
}

func (p *firstRoom) free(e online.VCSchedEvent) {
	for _, h := range p.hosts[e.Number] {
		p.left[h] += e.Job.Memory
	}
	delete(p.hosts, e.Number)
}

func (p *firstRoom) Decide() ([]online.VCSchedDecision, error) {
	defer func() { p.answer = nil }()
	return p.answer, nil
}

// Virtual machines come and go on two hosts. First fit puts the first two jobs on one, though
// both need most of a CPU.
func ExampleVCSched() {
	in := &model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{
		{ID: "web", Tasks: 1, CPU: 0.9, Memory: 0.3}, {ID: "db", Tasks: 1, CPU: 0.7, Memory: 0.5}, {ID: "batch", Tasks: 2, CPU: 0.5, Memory: 0.6}}}
	stays := []online.VCSchedStay{{ArrivalS: 0, DepartureS: 60}, {ArrivalS: 20, DepartureS: 100}, {ArrivalS: 40, DepartureS: 80}}
	run, err := online.VCSched(context.Background(), in, stays, &firstRoom{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range run.Steps {
		fmt.Printf("from %v s: %d jobs, minimum yield %v\n", s.AtS, s.Jobs, s.Yield)
	}
	fmt.Printf("rejected %v, on average %v, at least %v\n", run.Rejected, run.MeanYield, run.LeastYield)
	// Output:
	// from 0 s: 1 jobs, minimum yield 1
	// from 20 s: 2 jobs, minimum yield 0.625
	// from 40 s: 2 jobs, minimum yield 0.625
	// from 60 s: 1 jobs, minimum yield 1
	// from 100 s: 0 jobs, minimum yield 1
	// rejected [batch], on average 0.85, at least 0.625
}
