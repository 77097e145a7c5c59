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

// firstFit accepts a request at the first whole second at which PEs are left over.
type firstFit struct {
	pes      int
	second   int64 // in ticks
	accepted map[*online.ReservationRequest]int64
	answer   []online.ReservationDecision
}

func (p *firstFit) Begin(platform online.ReservationPlatform) error {
	p.pes, p.second, p.accepted = platform.PEs, int64(platform.TicksPerSecond), map[*online.ReservationRequest]int64{}
	return nil
}

func (p *firstFit) Event(e online.ReservationEvent) error {
	if e.Type != online.Submitted { // it has ended early, or is withdrawn
		delete(p.accepted, e.Request)
		return nil
	}
	d := online.ReservationDecision{Type: online.Reject, Request: e.Request.Number}
	for at := e.Request.Ready; at <= e.Request.Deadline-e.Request.Duration && d.Type == online.Reject; at += p.second {
		used := 0 // by all that overlap it: at no instant it is more
		for q, start := range p.accepted {
			if start < at+e.Request.Duration && at < start+q.Duration {
				used += q.PEs
			}
		}
		if used+e.Request.PEs <= p.pes {
			d.Type, d.At, p.accepted[e.Request] = online.Accept, at, at
		}
	}
	p.answer = []online.ReservationDecision{d}
	return nil
}

func (p *firstFit) Decide() ([]online.ReservationDecision, error) {
	defer func() { p.answer = nil }()
	return p.answer, nil
}

// A policy that books no PEs gets the lowest ones when a request starts.
func ExampleReservation() {
	half := 5.0
	in := &model.Reservation{PEs: 4, Requests: []model.Request{
		{ID: "a", DurationS: 10, DeadlineS: 10, PEs: 3, RuntimeS: &half}, {ID: "b", ArrivalS: 1, ReadyS: 1, DurationS: 4, DeadlineS: 9, PEs: 2},
		{ID: "c", ArrivalS: 6, ReadyS: 6, DurationS: 4, DeadlineS: 10, PEs: 4}}}
	b, err := online.Reservation(context.Background(), in, &firstFit{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range b.Bookings { // b couldn't know that a would end early
		fmt.Printf("%s starts at %v s on %v\n", x.ID, x.StartS, x.PEs)
	}
	// Output:
	// a starts at 0 s on 0-2
	// c starts at 6 s on 0-3
}

// roomiest embeds a request on the server with the most free slots, if it has room there.
type roomiest struct {
	free   []int
	answer []online.TVCDecision
}

func (p *roomiest) Begin(platform online.TVCPlatform) error {
	for range platform.FatTree.Servers() {
		p.free = append(p.free, platform.FatTree.Slots)
	}
	return nil
}

func (p *roomiest) Event(e online.TVCEvent) error {
	if e.Type == online.Ended {
		p.free[e.Place.Servers[0].Server] += e.Request.VMs
		return nil
	}
	server := slices.Index(p.free, slices.Max(p.free))
	d := online.TVCDecision{Type: online.Reject, Request: e.Request.Number}
	if e.Request.VMs <= p.free[server] {
		p.free[server] -= e.Request.VMs
		d.Type, d.Place = online.Start, model.Embedding{Switch: model.Switch{Layer: model.LayerCore}, Servers: []model.ServerVMs{{Server: server, VMs: e.Request.VMs}}}
	}
	p.answer = append(p.answer, d)
	return nil
}

func (p *roomiest) Decide() ([]online.TVCDecision, error) {
	defer func() { p.answer = nil }()
	return p.answer, nil
}

// On one server, VMs need no links.
func ExampleTVC() {
	in := &model.TVC{FatTree: model.FatTree{K: 2, Slots: 4, LinkMbps: 100}, Requests: []model.TVCRequest{{ID: "a", VMs: 3, BandwidthMbps: 50, DurationS: 10},
		{ID: "b", ArrivalS: 1, VMs: 2, BandwidthMbps: 50, DurationS: 10}, {ID: "c", ArrivalS: 2, VMs: 3, BandwidthMbps: 50, DurationS: 10}}}
	e, err := online.TVC(context.Background(), in, &roomiest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range e.Runs {
		fmt.Printf("%s runs from %v s on %v\n", r.ID, r.Segments[0].StartS, r.Segments[0].Place.Servers)
	}
	// Output:
	// a runs from 0 s on [{0 3}]
	// b runs from 1 s on [{1 2}]
}

// background starts a job in the background where the foreground of its processor is
// taken, and moves it up when that is idle. Jobs have one process.
type background struct {
	fore, back []*online.TwoTierJob
	queue      []*online.TwoTierJob
	decisions  []online.TwoTierDecision
}

func (p *background) Begin(platform online.TwoTierPlatform) error {
	p.fore, p.back = make([]*online.TwoTierJob, platform.Processors), make([]*online.TwoTierJob, platform.Processors)
	return nil
}

func (p *background) Event(e online.TwoTierEvent) error {
	if e.Type == online.Submitted {
		p.queue = append(p.queue, e.Job)
		return nil
	}
	for _, tier := range [][]*online.TwoTierJob{p.fore, p.back} {
		if x := slices.Index(tier, e.Job); x >= 0 {
			tier[x] = nil
		}
	}
	return nil
}

func (p *background) Decide() ([]online.TwoTierDecision, error) {
	p.decisions = p.decisions[:0]
	decide := func(what online.DecisionType, j *online.TwoTierJob, tier model.Tier, x int) {
		p.decisions = append(p.decisions, online.TwoTierDecision{Type: what, Job: j.Number, Tier: tier, Processors: []int32{int32(x)}})
	}
	for x, j := range p.back {
		if j != nil && p.fore[x] == nil {
			p.fore[x], p.back[x] = j, nil
			decide(online.Move, j, model.TierForeground, x)
		}
	}
	for len(p.queue) > 0 {
		j := p.queue[0]
		if x := slices.Index(p.fore, nil); x >= 0 {
			p.fore[x] = j
			decide(online.Start, j, model.TierForeground, x)
		} else if x := slices.Index(p.back, nil); x >= 0 {
			p.back[x] = j
			decide(online.Start, j, model.TierBackground, x)
		} else {
			break
		}
		p.queue = p.queue[1:]
	}
	return p.decisions, nil
}

// Below a job that uses half of the processor, another one makes progress, too.
func ExampleTwoTier() {
	in := &model.Batch{Processors: 1, Tiers: 2, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, Processes: 1, CPU: []float64{0.5}}, {ID: "b", SubmitS: 2, RuntimeS: 10, Processes: 1, CPU: []float64{1}, BgEfficiency: 1}}}
	e, err := online.TwoTier(context.Background(), in, &background{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range e.Runs {
		for _, s := range r.Segments {
			fmt.Printf("%s runs from %v s to %v s, in the background: %v\n", r.ID, s.StartS, s.EndS, s.Place.Tier == model.TierBackground)
		}
	}
	// Output:
	// a runs from 0 s to 10 s, in the background: false
	// b runs from 2 s to 10 s, in the background: true
	// b runs from 10 s to 16 s, in the background: false
}
