// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// DecisionTable returns the decisions of a solution as a table for other programs: TimedJobTable where jobs run over
// time. Of dag it is each task's machine, start and end; of reservation each request's start, end and PEs, as intervals
// "0-3 7"; of vcsched and consolidation each task's host, with its share of the host's CPU. The error wraps
// model.ErrUnsupported for another solution, or names what it lacks. O(n) for n decisions.
func DecisionTable(in model.Instance, s model.Solution) (Table, error) {
	if _, over := in.(model.OutcomeTeller); over {
		return TimedJobTable(in, s)
	}
	switch in := in.(type) {
	case *model.DAG:
		return scheduled(in, s)
	case *model.Reservation:
		return booked(in, s)
	}
	switch s := s.(type) {
	case *model.Placement:
		t := Table{Header: []string{"job", "task", "host", "cpu"}}
		for i := range s.Jobs {
			for k, h := range s.Jobs[i].Hosts {
				t.Rows = append(t.Rows, []string{s.Jobs[i].ID, strconv.Itoa(k + 1), strconv.Itoa(h), full(s.Jobs[i].CPU[k])})
			}
		}
		return t, nil
	case *model.Assignment:
		t := Table{Header: []string{"job", "task", "host"}}
		for i := range s.Jobs {
			for k, h := range s.Jobs[i].Hosts {
				t.Rows = append(t.Rows, []string{s.Jobs[i].ID, strconv.Itoa(k + 1), h})
			}
		}
		return t, nil
	}
	return Table{}, fmt.Errorf("%w: there is no table of a solution of %s", model.ErrUnsupported, in.Kind())
}

// full returns a number so that reading it gives the same one.
func full(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func scheduled(in *model.DAG, s model.Solution) (Table, error) {
	t := Table{Header: []string{"task", "machine", "start_s", "end_s"}}
	schedule, ok := s.(*model.Schedule)
	if !ok {
		return t, fmt.Errorf("%w: the solution is of %s, the instance of %s", model.ErrInvalid, s.Kind(), in.Kind())
	}
	machines, err := in.MachineOf(schedule)
	if err != nil {
		return t, err
	}
	start := map[string]float64{}
	for _, x := range schedule.Tasks {
		start[x.ID] = x.StartS
	}
	for k := range in.Tasks {
		id := in.Tasks[k].ID
		t.Rows = append(t.Rows, []string{id, in.Machines[machines[k]].ID, full(start[id]), full(start[id] + in.Cost(k, int(machines[k])))})
	}
	return t, nil
}

func booked(in *model.Reservation, s model.Solution) (Table, error) {
	t := Table{Header: []string{"request", "accepted", "start_s", "end_s", "pes"}}
	bookings, ok := s.(*model.Bookings)
	if !ok {
		return t, fmt.Errorf("%w: the solution is of %s, the instance of %s", model.ErrInvalid, s.Kind(), in.Kind())
	}
	of := map[string]*model.Booking{}
	for i := range bookings.Bookings {
		of[bookings.Bookings[i].ID] = &bookings.Bookings[i]
	}
	for _, r := range in.Requests {
		row := []string{r.ID, "0", "", "", ""}
		if b := of[r.ID]; b != nil {
			row = []string{r.ID, "1", full(b.StartS), full(b.StartS + r.DurationS), strings.ReplaceAll(b.PEs.String(), ",", " ")}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
