// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"slices"
)

// Outcome is the outcome of one job or request.
type Outcome struct {
	ID      string
	SubmitS float64
	// EstimateS is the user's estimate of the runtime, WorkS the runtime that counts
	// for the bounded slowdown, both in seconds.
	EstimateS, WorkS float64
	Processes        int // processes or VMs
	// Ran is false for a rejected request; the fields below are then 0.
	Ran bool
	// Killed means that the job has done the work of its estimate and no more.
	Killed bool
	// StartS and EndS are the start of the first segment and the end of the last.
	StartS, EndS float64
	// Segments counts the segments, Restarts the segments with lost work, Migrations the segments on other resources
	// than the one before, its work kept.
	Segments, Restarts, Migrations int
	Resources                      []int32 // of the last segment, ascending
}

// Response returns the response time in seconds.
func (o *Outcome) Response() float64 { return o.EndS - o.SubmitS }

// Slowdown returns the bounded slowdown.
func (o *Outcome) Slowdown() float64 { return max(1, o.Response()/max(SlowdownFloor, o.WorkS)) }

// OutcomeTeller is implemented by an Instance with solutions that run jobs over time.
type OutcomeTeller interface {
	Instance
	// Outcomes returns the outcomes of all jobs, in the instance's order. The error
	// is ErrInvalid for solutions that Objective refuses.
	Outcomes(Solution) ([]Outcome, error)
}

// Outcomes implements OutcomeTeller.
func (b *Batch) Outcomes(s Solution) ([]Outcome, error) {
	e, ok := s.(*Execution)
	if !ok {
		return nil, fmt.Errorf("%w solution: a %T can't solve a batch instance", ErrInvalid, s)
	}
	index, err := b.Index(e)
	if err != nil {
		return nil, err
	}
	all := make([]Outcome, len(b.Jobs))
	for k := range b.Jobs {
		j := &b.Jobs[k]
		all[k] = Outcome{ID: j.ID, SubmitS: j.SubmitS, EstimateS: j.Estimate(), WorkS: b.Work(k), Processes: j.Processes, Killed: b.Work(k) < j.RuntimeS}
	}
	for i, k := range index {
		follow(&all[k], &e.Runs[i], func(a, b *BatchPlace) bool { return slices.Equal(a.Processors, b.Processors) })
		last := &e.Runs[i].Segments[all[k].Segments-1]
		all[k].Resources = []int32(last.Place.Processors)
		if !slices.IsSorted(all[k].Resources) {
			all[k].Resources = slices.Clone(all[k].Resources)
			slices.Sort(all[k].Resources)
		}
	}
	return all, nil
}

// Outcomes implements OutcomeTeller.
func (v *TVC) Outcomes(s Solution) ([]Outcome, error) {
	e, ok := s.(*Embeddings)
	if !ok {
		return nil, fmt.Errorf("%w solution: a %T can't solve a tvc instance", ErrInvalid, s)
	}
	index, err := v.Index(e)
	if err != nil {
		return nil, err
	}
	all := make([]Outcome, len(v.Requests))
	for k := range v.Requests {
		q := &v.Requests[k]
		all[k] = Outcome{ID: q.ID, SubmitS: q.ArrivalS, EstimateS: q.DurationS, WorkS: q.DurationS, Processes: q.VMs}
	}
	for i, k := range index {
		follow(&all[k], &e.Runs[i], (*Embedding).SameServers)
		for _, x := range e.Runs[i].Segments[all[k].Segments-1].Place.Servers {
			all[k].Resources = append(all[k].Resources, int32(x.Server))
		}
	}
	return all, nil
}

// follow fills in the figures of a run's segments, of which there is at least one.
func follow[P any](o *Outcome, r *Run[P], same func(a, b *P) bool) {
	s := r.Segments
	o.Ran, o.Segments, o.StartS, o.EndS = true, len(s), s[0].StartS, s[len(s)-1].EndS
	for i := range s {
		switch {
		case s[i].Lost:
			o.Restarts++
		case i+1 < len(s) && !same(&s[i].Place, &s[i+1].Place):
			o.Migrations++
		}
	}
}
