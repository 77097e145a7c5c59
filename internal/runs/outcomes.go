// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// jobColumns are the columns of Batsim's file of jobs.
var jobColumns = []string{"job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
	"success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch",
	"allocated_resources", "consumed_energy", "metadata"}

// JobTable returns a row for each job of a solution, with the columns of Batsim's
// file of jobs, and intervals of resources as there: "0-3 7". The error wraps
// model.ErrUnsupported for a problem whose solutions run no jobs over time.
//
// The starting time is that of the first segment, and the execution time goes from
// there to the end: where a job is suspended, restarted or moved it holds the time
// that was lost, and the metadata count segments, restarts and migrations. The
// stretch is turnaround over execution time. Allocated resources are those of the
// last segment: processors, or the servers of a virtual cluster. A job that is
// killed at its estimate has no success. A rejected request has no times. The energy
// is unknown.
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

// decimal formats a number with six decimals at most.
func decimal(x float64) string { return strconv.FormatFloat(math.Round(1e6*x)/1e6, 'f', -1, 64) }
