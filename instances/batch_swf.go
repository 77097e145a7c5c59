// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// fromLog makes the instance of a log's jobs.
func (s BatchSpec) fromLog() (model.Instance, error) {
	if err := s.withDefaults().check(); err != nil {
		return nil, err
	}
	return fromLog(s, s.SWF, SWFJobs{First: s.Jobs, Seed: s.Seed})
}

// swfKeys implements swfSpec.
func (s *BatchSpec) swfKeys() []string {
	return []string{"processors", "tiers", "load", "user_estimates", "longest_h", "cpu", "cpu_min", "cpu_max", "efficiency", "efficiency_sd", "migration_s", "threshold", "kill"}
}

// onNodes reports whether instances of logs may have nodes: they have one tier, and their own machine.
func (s BatchSpec) onNodes() bool {
	s.SWF = "log"
	s = s.withDefaults()
	return s.Tiers == 1 && s.Processors == 0
}

// fromSWF makes jobs of a log's jobs, named by their job numbers. A runtime of 0 becomes 1 s; the runtime replaces a
// missing estimate. Submissions are counted from the first job's. Unusable jobs, and jobs wider than the machine, are
// left out and counted.
func (s BatchSpec) fromSWF(name string, log *swf.Log, o SWFJobs) (model.Instance, *model.Execution, error) {
	if s.SWF == "" { // the log is given, and not by name
		s.SWF = "log"
	}
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	if o.Estimate || o.Cancelled != 0 {
		return nil, nil, fmt.Errorf("%w: reserved estimates and cancelled jobs go with --kind reservation and mean nothing to batch; its estimates are chosen by user_estimates", model.ErrInvalid)
	}
	processors, err := machine(log, s.Processors, "processors")
	if err != nil {
		return nil, nil, err
	}
	o.Estimate = s.Estimates == estimatesLog
	o.Longer = s.Kill == "no"
	taken, account, err := o.usable(log, processors, 0)
	if err != nil {
		return nil, nil, err
	}
	tookMachine(log, processors, account)
	in := s.empty(name, processors)
	in.Jobs = make([]model.BatchJob, len(taken))
	logs := jobLogs{names: log.Names, queues: namesOf(log.Header, "Queue"), known: map[model.JobLog]*model.JobLog{}}
	index, longest := streamSWF-1-uint64(s.Index), math.Floor(3600*s.Longest)
	for k, line := range taken {
		j := &log.Jobs[line]
		in.Jobs[k] = model.BatchJob{ID: swfID(log, line), SubmitS: micro(j.Submit - log.Jobs[taken[0]].Submit), RuntimeS: atLeastASecond(j.Runtime), Processes: int(j.Size()), Log: logs.logOf(j)}
		if o.Estimate && j.RequestedTime > 0 {
			in.Jobs[k].EstimateS = micro(j.RequestedTime)
		}
		longest = max(longest, in.Jobs[k].RuntimeS)
		s.Seed = o.Seed
		if s.Tiers == 2 {
			s.traits(&in.Jobs[k], index, uint64(line))
		}
	}
	in.Account = account
	if p := log.Placed; p != nil {
		if !s.onNodes() {
			return nil, nil, fmt.Errorf("%w: a log on nodes (--unit resources) has one tier and its own machine; leave --tiers and --processors out", model.ErrInvalid)
		}
		in.Resources, in.Nodes = p.Resources, p.Nodes
		for k, line := range taken {
			in.Jobs[k].Needs = p.Needs[line]
		}
	}
	if s.Load == 0 {
		model.SetStartTime(in, log.Header.Time(log.Jobs[taken[0]].Submit))
	}
	if s.Tiers == 2 {
		drawn(account, o.Seed, "CPU uses from %g to %g by %s", s.CPUMin, s.CPUMax, s.CPU)
		drawn(account, o.Seed, "losses in the foreground from %g to %g", leastLoss, largestLoss)
		drawn(account, o.Seed, "efficiencies in the background, %g ± %g", s.Efficiency, s.EfficiencySD)
	}
	if s.Estimates == estimatesTsafrir {
		drawn(account, o.Seed, "the users' estimates, by %s", estimatesTsafrir)
	}
	if s.Estimates == estimatesExact {
		account.Assumed.Say("chosen: the estimates are the runtimes")
	}
	if s.Tiers == 2 {
		account.Assumed.Say("chosen: a second tier, the background, on which a migration costs %g s", s.MigrationS)
	}
	if s.Load > 0 {
		account.Assumed.Say("chosen: the times between submissions are scaled to the load %g", s.Load)
	}
	s.estimate(in, longest, index)
	s.scale(in)
	if err := validLog(in, log, taken); err != nil {
		return nil, nil, err
	}
	if !o.Ran {
		return in, nil, nil
	}
	if s.Tiers != 1 || s.Load > 0 {
		return nil, nil, fmt.Errorf("%w: the log tells how its jobs ran on one tier, at its own load", model.ErrInvalid)
	}
	ran, moved, err := ranAsLogged(in, log, taken)
	if err != nil {
		return nil, nil, err
	}
	account.Remarks.Count(moved.starts, "starts moved, by %g s at most and %.3g s a job, for which the machine's %s don't suffice", moved.most, moved.mean, unitOf(log))
	return in, ran, nil
}

// atLeastASecond returns a runtime, 1 s for none.
func atLeastASecond(runtime float64) float64 {
	if runtime == 0 {
		return 1
	}
	return max(1e-6, micro(runtime))
}
