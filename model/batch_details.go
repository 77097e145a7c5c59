// SPDX-License-Identifier: MIT

package model

import "fmt"

// BatchParameters are the settings that only algorithms for Batch know.
type BatchParameters struct {
	// Order is the order of the events of one instant; empty: BatchOrderBatch.
	Order BatchOrder `key:"order" shown:"batch" usage:"order of simultaneous events: batch (ends, arrivals, one pass), event (ends, arrivals, a pass for each) or pyss (arrivals, ends, a pass for each)"`
	// Placement states which processors a job may hold on one tier; empty: BatchLowest.
	Placement BatchPlacement `key:"placement" shown:"lowest" usage:"processors of a job on one tier: lowest (any, the lowest free ones) or contiguous (only neighbours)"`
	// Prediction is the source of runtimes that policies of one tier use in place of the users' estimates; empty:
	// BatchPredictionNone.
	Prediction BatchPrediction `key:"prediction" shown:"none" usage:"runtimes that policies of one tier use: none (the users' estimates) or last-two (mean runtime of the user's last two jobs that have ended)"`
	// Uses states whether schedulers of two tiers know the share of a processor that each process uses; empty:
	// BatchUsesKnown.
	Uses BatchKnowledge `key:"uses" shown:"known" usage:"whether schedulers of two tiers know CPU uses: known or unknown"`
	// Devices are those that the heuristic peasy has beyond measy; empty:
	// BatchDevicesAll.
	Devices BatchDevices `key:"devices" shown:"all" usage:"devices of peasy: all, short (short jobs are backfilled first), lift (the background runs in the idle foreground) or none, which is measy"`
}

// BatchPrediction is a way to predict runtimes.
type BatchPrediction string

// The predictions.
const (
	BatchPredictionNone BatchPrediction = "none"
	// BatchPredictionLastTwo is the mean runtime of the last two jobs of the job's user that have ended before its
	// submission, at most its estimate. It is its estimate before there are two or if no log names the user (Tsafrir,
	// Etsion, Feitelson: Backfilling Using System-Generated Predictions Rather Than User Runtime Estimates, 2007).
	// If a job runs longer, easy and its kin extend the prediction as they do, by 1, 5, 15 and 30 minutes, 1, 2, 5, 10,
	// 20, 50 and 100 hours, up to the estimate. conservative has its own rule for jobs that run longer.
	BatchPredictionLastTwo BatchPrediction = "last-two"
)

// BatchDevices are devices of the heuristic peasy.
type BatchDevices string

// The devices of peasy: both, one alone, or none.
const (
	BatchDevicesAll   BatchDevices = "all"
	BatchDevicesShort BatchDevices = "short"
	BatchDevicesLift  BatchDevices = "lift"
	BatchDevicesNone  BatchDevices = "none"
)

// BatchDevicesOfPEASY lists the values of BatchParameters.Devices, the default
// first.
var BatchDevicesOfPEASY = []BatchDevices{BatchDevicesAll, BatchDevicesShort, BatchDevicesLift, BatchDevicesNone}

// BatchKnowledge is the knowledge of schedulers about the CPU uses of processes.
type BatchKnowledge string

// What schedulers know. Without the uses they put processes on processors by their numbers, idle other tiers first,
// instead of high use to low use (section 3.5.1). The threshold of the platform holds all the same.
const (
	BatchUsesKnown   BatchKnowledge = "known"
	BatchUsesUnknown BatchKnowledge = "unknown"
)

// BatchOrder is an order in which schedulers see the events of one instant.
type BatchOrder string

// The orders. All take submissions of one instant by the index of their jobs.
const (
	// BatchOrderBatch has all ends first, then all arrivals, then one pass of the
	// scheduler.
	BatchOrderBatch BatchOrder = "batch"
	// BatchOrderEvent has the events of BatchOrderBatch with a pass after each, as in
	// schedulers of Batsim that read one event of a message after the other. A job with an end later in the instant
	// still runs for an earlier pass.
	BatchOrderEvent BatchOrder = "event"
	// BatchOrderPyss has a pass after each event, arrivals before ends and these in the
	// order of the jobs' starts, as in the simulator pyss. Before the arrivals, processors count as free if their jobs
	// end at this instant and the estimated end has come.
	BatchOrderPyss BatchOrder = "pyss"
)

// BatchPlacement states which processors a job may hold on one tier.
type BatchPlacement string

// The placements.
const (
	// BatchLowest lets a job hold any processors; heuristics take the lowest that are free.
	BatchLowest BatchPlacement = "lowest"
	// BatchContiguous has each job hold neighbouring processors: p, p+1, ... Free
	// processors that aren't neighbours don't help a wide job, also in a shadow time.
	BatchContiguous BatchPlacement = "contiguous"
)

// Kind implements Parameters.
func (*BatchParameters) Kind() Kind { return KindBatch }

// BatchDetails holds the solvers' reports on a result of Batch.
type BatchDetails struct {
	// Partial holds the runs until a policy failed, without a solution: the jobs that had started, with running ones
	// continued to their ends.
	Partial []Run[BatchPlace] `json:"partial,omitempty"`
}

// Kind implements Details.
func (*BatchDetails) Kind() Kind { return KindBatch }

// Lines implements Details.
func (d *BatchDetails) Lines(Result) []string {
	if d.Partial == nil {
		return nil
	}
	return []string{fmt.Sprintf("%d jobs had started until then (the result's key partial)", len(d.Partial))}
}

// Claims implements Details.
func (*BatchDetails) Claims() []string { return nil }

// Figures implements Details.
func (*BatchDetails) Figures() map[string]float64 { return nil }
