// SPDX-License-Identifier: MIT

package model

import "fmt"

// KindDAG is the problem of task graphs on machines with transfers that share links.
const KindDAG Kind = "dag"

var dagFormat = format{
	Kind:     KindDAG,
	Instance: func() Instance { return new(DAG) },
	Solution: func() Solution { return new(Schedule) },
	Details:  func() Details { return new(DAGDetails) },
	Keys:     &dagKeys,
	Decided:  &scheduleKeys,
}

// DAGParameters are the settings that only algorithms for DAG know.
type DAGParameters struct {
	// Rounds bounds the rounds of an algorithm that alternates plan and replay (see Round); 0 means its own default.
	Rounds int `key:"rounds" min:"1" shown:"50" usage:"rounds of network-aware"`
}

// Kind implements Parameters.
func (*DAGParameters) Kind() Kind { return KindDAG }

// DAGDetails holds the solvers' reports on a DAG's result.
type DAGDetails struct {
	// Trace holds the rounds of a solver that plans and replays: the makespan of a contention-free plan, and the one
	// that the transfers allow. It is empty for other solvers.
	Trace []Round `json:"trace,omitempty"`
}

// Round is one round of a solver that plans without contention and replays the
// plan by the instance's transfer model.
type Round struct {
	Round     int     `json:"round"`     // from 1
	Planned   float64 `json:"planned"`   // makespan that the plan promises, in seconds
	Realistic float64 `json:"realistic"` // makespan of the plan replayed, in seconds
	Kept      bool    `json:"kept"`      // better than every round before
}

// NewDAGDetails returns the details that hold a trace, nil for none.
func NewDAGDetails(trace []Round) Details {
	if len(trace) == 0 {
		return nil
	}
	return &DAGDetails{Trace: trace}
}

// Kind implements Details.
func (*DAGDetails) Kind() Kind { return KindDAG }

// Lines implements Details: it shows the cost of contention for the result's plan.
func (d *DAGDetails) Lines(r Result) []string {
	for _, x := range d.Trace {
		switch {
		case x.Realistic != r.Objective || x.Planned <= 0:
		case x.Realistic <= x.Planned*(1+1e-9):
			return []string{"contention costs this plan nothing"}
		default:
			return []string{fmt.Sprintf("without contention the same plan takes %.9g: transfers that share links make it %.1f%% longer",
				x.Planned, 100*(x.Realistic/x.Planned-1))}
		}
	}
	return nil
}

// Claims implements Details.
func (d *DAGDetails) Claims() []string {
	if len(d.Trace) == 0 {
		return nil
	}
	return []string{"the rounds of its trace"}
}

// Figures implements Details: "planned" is the makespan that the first plan
// promised, "rounds" the round of the best plan.
func (d *DAGDetails) Figures() map[string]float64 {
	if len(d.Trace) == 0 {
		return nil
	}
	figures := map[string]float64{"planned": d.Trace[0].Planned, "rounds": 0}
	for _, x := range d.Trace {
		if x.Kept {
			figures["rounds"] = float64(x.Round)
		}
	}
	return figures
}
