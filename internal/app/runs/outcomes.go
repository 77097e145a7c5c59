// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/model"
)

// jobColumns are the columns of Batsim's file of jobs.
var jobColumns = []string{"job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
	"success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch",
	"allocated_resources", "consumed_energy", "metadata"}

// JobTable returns a row for each job of a solution, with the columns of Batsim's
// file of jobs, and intervals of resources as there: "0-3 7". The error wraps model.ErrUnsupported for a problem
// without jobs that run over time.
//
// The starting time is the first segment's, and the execution time goes from there to the end. If a job is suspended,
// restarted or moved it includes the lost time, and the metadata count segments, restarts and migrations. The stretch
// is turnaround over execution time. Allocated resources are the last segment's: processors, or the servers of a
// virtual cluster. A job that is killed at its estimate has no success. A rejected request has no times. The energy is
// unknown.
func JobTable(in model.Instance, s model.Solution) (Table, error) {
	t := Table{Header: jobColumns}
	teller, ok := in.(model.OutcomeTeller)
	if !ok {
		return t, fmt.Errorf("%w: solutions of %s run no jobs over time", model.ErrUnsupported, in.Kind())
	}
	all, err := teller.Outcomes(s)
	if err != nil {
		return t, err
	}
	for i := range all {
		o := &all[i]
		row := []string{o.ID, in.ID(), o.ID, decimal(o.SubmitS), strconv.Itoa(o.Processes), decimal(o.EstimateS),
			"0", "REJECTED", "", "", "", "", "", "", "", "", ""}
		if o.Ran {
			state := []string{"1", "COMPLETED_SUCCESSFULLY"}
			if o.Killed {
				state = []string{"0", "COMPLETED_WALLTIME_REACHED"}
			}
			runs := o.EndS - o.StartS
			row = append(row[:6], state[0], state[1], decimal(o.StartS), decimal(runs), decimal(o.EndS), decimal(o.StartS-o.SubmitS), decimal(o.Response()),
				decimal(o.Response()/runs), strings.ReplaceAll(model.ProcessorList(o.Resources).String(), ",", " "), "", "")
			if o.Segments > 1 {
				row[16] = fmt.Sprintf("segments=%d restarts=%d migrations=%d", o.Segments, o.Restarts, o.Migrations)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// TimedJobTable is JobTable with a last column, starts_at: the time of day of each start, if the instance knows when its
// second 0 was.
func TimedJobTable(in model.Instance, s model.Solution) (Table, error) {
	t, err := JobTable(in, s)
	began := model.StartTime(in)
	if err != nil || began.IsZero() {
		return t, err
	}
	at := slices.Index(t.Header, "starting_time")
	t.Header = append(slices.Clone(t.Header), "starts_at")
	for k := range t.Rows {
		when := ""
		if seconds, err := strconv.ParseFloat(t.Rows[k][at], 64); err == nil {
			when = began.Add(time.Duration(seconds * float64(time.Second))).Format(time.RFC3339)
		}
		t.Rows[k] = append(t.Rows[k], when)
	}
	return t, nil
}

// ScheduleTable returns the one row that sums a solution of batch up, with the columns of
// Batsim's file of the schedule. Slowdowns are turnaround over execution times, and times of
// processors are from second 0 to the last end. Jobs that are killed at their estimates have
// no success. Unknown values are empty: energy, and the time of the simulation. The error is as for JobTable.
func ScheduleTable(in model.Instance, s model.Solution) (Table, error) {
	b, ok := in.(*model.Batch)
	if !ok {
		return Table{}, fmt.Errorf("%w: there is no table of a schedule for %s, but for batch", model.ErrUnsupported, in.Kind())
	}
	if len(b.Nodes) > 0 {
		return Table{}, fmt.Errorf("%w: Batsim's table of a schedule counts processors, the machine has nodes; take the table of jobs", model.ErrUnsupported)
	}
	all, err := b.Outcomes(s)
	if err != nil {
		return Table{}, err
	}
	var busy, last, slowdowns, turnarounds, waits, mostSlow, mostTurn, mostWait float64
	success := 0
	for i := range all {
		o := &all[i]
		wait, slow := o.StartS-o.SubmitS, o.Response()/(o.EndS-o.StartS)
		waits, turnarounds, slowdowns = waits+wait, turnarounds+o.Response(), slowdowns+slow
		mostWait, mostTurn, mostSlow = max(mostWait, wait), max(mostTurn, o.Response()), max(mostSlow, slow)
		if last = max(last, o.EndS); !o.Killed {
			success++
		}
	}
	for _, r := range s.(*model.Execution).Runs {
		for _, x := range r.Segments {
			busy += (x.EndS - x.StartS) * float64(len(x.Place.Processors))
		}
	}
	n, first := float64(len(all)), 0.0
	if len(all) > 0 {
		first = all[0].SubmitS
	}
	mean := func(sum float64) string { return decimal(sum / max(1, n)) }
	t := Table{Rows: make([][]string, 1)}
	for _, x := range [][2]string{{"batsim_version", ""}, {"consumed_joules", ""}, {"makespan", decimal(last - first)},
		{"max_slowdown", decimal(mostSlow)}, {"max_turnaround_time", decimal(mostTurn)}, {"max_waiting_time", decimal(mostWait)},
		{"mean_slowdown", mean(slowdowns)}, {"mean_turnaround_time", mean(turnarounds)}, {"mean_waiting_time", mean(waits)},
		{"nb_computing_machines", strconv.Itoa(b.Processors)}, {"nb_grouped_switches", "0"}, {"nb_jobs", strconv.Itoa(len(all))},
		{"nb_jobs_finished", strconv.Itoa(len(all))}, {"nb_jobs_killed", strconv.Itoa(len(all) - success)}, {"nb_jobs_rejected", "0"},
		{"nb_jobs_success", strconv.Itoa(success)}, {"nb_machine_switches", "0"}, {"scheduling_time", ""}, {"simulation_time", ""},
		{"success_rate", mean(float64(success))}, {"time_computing", decimal(busy)}, {"time_idle", decimal(float64(b.Processors)*last - busy)},
		{"time_sleeping", "0"}, {"time_switching_off", "0"}, {"time_switching_on", "0"}} {
		t.Header, t.Rows[0] = append(t.Header, x[0]), append(t.Rows[0], x[1])
	}
	return t, nil
}

// decimal formats a number with six decimals at most.
func decimal(x float64) string { return strconv.FormatFloat(math.Round(1e6*x)/1e6, 'f', -1, 64) }
