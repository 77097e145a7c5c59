// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// JobLog is a log's data on a job other than its times and its size: the fields 11 to 18 of SWF. "" and 0 mean that the
// log doesn't state it. The objective doesn't depend on it.
type JobLog struct {
	User       string `json:"user,omitempty"`
	Group      string `json:"group,omitempty"`
	Executable string `json:"executable,omitempty"`
	Queue      string `json:"queue,omitempty"`
	Partition  string `json:"partition,omitempty"`
	// Preceding is the id of the job that this one's user waited for, which needn't be in
	// the instance, and ThinkS the time in seconds from its end to this one's submission.
	// No schedule is bound by them.
	Preceding string  `json:"preceding,omitempty"`
	ThinkS    float64 `json:"think_s,omitempty"`
	// Status is how the job ended in the log, one of JobStatuses. Policies don't see it.
	Status string `json:"status,omitempty"`
}

// JobStatuses lists the values of JobLog.Status, in the order of SWF's numbers: of parts
// of a job the continued aren't the last.
func JobStatuses() []string {
	return []string{"failed", "completed", "continued", "last part completed", "last part failed", "cancelled"}
}

// wrong describes the error in it, "" if there is none.
func (l *JobLog) wrong() string {
	switch {
	case !(l.ThinkS >= 0 && l.ThinkS <= mostSeconds):
		return fmt.Sprintf("think_s of the log is %v, must be from 0 to %g", l.ThinkS, mostSeconds)
	case l.Status != "" && !slices.Contains(JobStatuses(), l.Status):
		return fmt.Sprintf("status of the log is %q, must be one of %s", l.Status, strings.Join(JobStatuses(), ", "))
	}
	return ""
}

// decodeJobLog reads a *JobLog. Equal texts share one: of 122,060 jobs of LANL's log there
// are 7,677.
func decodeJobLog(d *decoder, v reflect.Value) error {
	begin := d.at
	text, err := d.skip()
	if err != nil {
		return err
	}
	l := d.logs[string(text)]
	if l == nil {
		end := d.at
		l, d.at = new(JobLog), begin
		if err := d.object(planOf(reflect.TypeFor[JobLog](), false), reflect.ValueOf(l).Elem()); err != nil {
			return err
		}
		d.at = end
		if d.logs == nil {
			d.logs = map[string]*JobLog{}
		}
		d.logs[string(text)] = l
	}
	v.Set(reflect.ValueOf(l))
	return nil
}
