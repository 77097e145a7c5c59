// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// fromLog makes the instance of a log's jobs.
func (s BatchSpec) fromLog() (model.Instance, SWFReport, error) {
	if err := s.withDefaults().check(); err != nil {
		return nil, SWFReport{}, err
	}
	return fromLog(s, s.SWF, SWFJobs{First: s.Jobs, Seed: s.Seed})
}

// swfKeys implements swfSpec.
func (s *BatchSpec) swfKeys() []string {
	return []string{"processors", "tiers", "load", "user_estimates", "longest_h", "cpu", "cpu_min", "cpu_max", "efficiency", "efficiency_sd", "migration_s", "threshold", "kill"}
}

// fromSWF makes jobs of a log's jobs, named by their job numbers. A runtime of 0 becomes 1 s; the runtime replaces a
// missing estimate. Submissions are counted from the first job's. Unusable jobs, and jobs wider than the machine, are
// left out and counted.
func (s BatchSpec) fromSWF(name string, log *swf.Log, o SWFJobs) (model.Instance, SWFReport, error) {
	if s.SWF == "" { // the log is given, and not by name
		s.SWF = "log"
	}
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, SWFReport{}, err
	}
	if o.Estimate || o.Cancelled != 0 {
		return nil, SWFReport{}, fmt.Errorf("%w: reserved estimates and cancelled jobs go with --kind reservation and mean nothing to batch; its estimates are chosen by user_estimates", model.ErrInvalid)
	}
	processors, err := machine(log, s.Processors, "processors")
	if err != nil {
		return nil, SWFReport{}, err
	}
	o.Estimate = s.Estimates == estimatesLog
	taken, report, err := o.usable(log, processors, 0)
	if err != nil {
		return nil, report, err
	}
	if s.Kill == "no" {
		report.Longer, report.Cut = report.Cut, 0
	}
	in := s.empty(name, processors)
	in.Jobs = make([]model.BatchJob, len(taken))
	logs := jobLogs{names: log.Names, queues: queueNames(log.Header), known: map[model.JobLog]*model.JobLog{}}
	index, longest := streamSWF-1-uint64(s.Index), math.Floor(3600*s.Longest)
	for k, line := range taken {
		j := &log.Jobs[line]
		in.Jobs[k] = model.BatchJob{ID: swfID(log, line), SubmitS: float64(j.Submit - log.Jobs[taken[0]].Submit), RuntimeS: float64(max(1, j.Runtime)), Processes: int(j.Size()), Log: logs.logOf(j)}
		if o.Estimate && j.RequestedTime > 0 {
			in.Jobs[k].EstimateS = float64(j.RequestedTime)
		}
		longest = max(longest, in.Jobs[k].RuntimeS)
		s.Seed = o.Seed
		if s.Tiers == 2 {
			s.traits(&in.Jobs[k], index, uint64(line))
		}
	}
	report.Seed = o.Seed
	if s.Tiers == 2 {
		report.draws("CPU uses from %g to %g by %s", s.CPUMin, s.CPUMax, s.CPU)
		report.draws("losses in the foreground from %g to %g", leastLoss, largestLoss)
		report.draws("efficiencies in the background, %g ± %g", s.Efficiency, s.EfficiencySD)
	}
	if s.Estimates == estimatesTsafrir {
		report.draws("the users' estimates, by %s", estimatesTsafrir)
	}
	if s.Estimates == estimatesExact {
		report.sets("the estimates are the runtimes")
	}
	if s.Tiers == 2 {
		report.sets("a second tier, the background, on which a migration costs %g s", s.MigrationS)
	}
	if s.Load > 0 {
		report.sets("the times between submissions are scaled to the load %g", s.Load)
	}
	s.estimate(in, longest, index)
	s.scale(in)
	if err := validLog(in, log, taken); err != nil {
		return nil, report, err
	}
	if !o.Ran {
		return in, report, nil
	}
	if s.Tiers != 1 || s.Load > 0 {
		return nil, report, fmt.Errorf("%w: the log tells how its jobs ran on one tier, at its own load", model.ErrInvalid)
	}
	ran, moved, most, err := ranAsLogged(in, log, taken)
	if err != nil {
		return nil, report, err
	}
	if report.Ran = ran; moved > 0 {
		report.Notes = append(slices.Clone(report.Notes), fmt.Sprintf("as they ran: %d starts are moved, by %g s at most, for which the machine's processors don't suffice", moved, most))
	}
	return in, report, nil
}
