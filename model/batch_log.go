// SPDX-License-Identifier: MIT

package model

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

var jobLogKeys = object{keys: []key{
	{name: "preceding", about: "id of the job that its user waited for, in the instance or not"},
	{name: "think_s", most: mostSeconds, about: "from the end of that job to this one's submission"},
	{name: "status", texts: JobStatuses(), about: "how the job ended in the log"},
}}

var jobLogThink, jobLogStatus = jobLogKeys.key("think_s"), jobLogKeys.key("status")

// fit reports whether its keys are allowed.
func (l *JobLog) fit() bool {
	return l == nil || jobLogThink.holds(l.ThinkS) && jobLogStatus.says(l.Status)
}
