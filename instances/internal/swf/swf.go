// SPDX-License-Identifier: MIT

// Package swf reads the Standard Workload Format, version 2.2: the logs of the
// Parallel Workloads Archive (Chapin, Cirne, Feitelson et al.: Benchmarks and
// Standards for the Evaluation of Parallel Job Schedulers, JSSPP 1999).
//
// A log is a text file. Lines that begin with ; are comments; those before the
// first job are the header and hold fields such as "; MaxNodes: 128". Every
// other line is a job: 18 numbers separated by blanks, -1 for an unknown value.
package swf

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Unknown is the value of a field that a log doesn't know.
const Unknown = -1

// Job is one line of a log, its fields in order. Times are in seconds, with decimals where a log has them, memory
// in kilobytes. Every value is at least 0, or Unknown.
type Job struct {
	Number          int64
	Submit          float64 // since the log's beginning
	Wait            float64 // from submission to start
	Runtime         float64 // from start to end
	Procs           int64   // processors allocated
	CPU             float64 // time used, mean over the processors
	Memory          float64 // used, mean over the processors
	RequestedProcs  int64
	RequestedTime   float64 // the user's estimate of the runtime, or of CPU
	RequestedMemory float64 // per processor
	Status          int64   // one of the Status constants
	User            int64
	Group           int64
	Executable      int64
	Queue           int64
	Partition       int64
	Preceding       int64   // the number of the job that this one waits for
	Think           float64 // time from its end to this one's submission
}

// The values of Job.Status. A job that was checkpointed may have a line for each part of its run in addition to one for
// the whole.
const (
	StatusFailed     = 0
	StatusCompleted  = 1
	StatusToContinue = 2 // part of a run
	StatusLastPart   = 3 // the last part; the job completed
	StatusLastFailed = 4 // the last part; the job failed
	StatusCancelled  = 5 // by the user, or by the system before it started
)

// Size returns the number of processors allocated to the job, or the number
// requested if the first is unknown or 0; 0 or Unknown if neither is known.
func (j *Job) Size() int64 {
	if j.Procs > 0 || j.RequestedProcs <= 0 {
		return j.Procs
	}
	return j.RequestedProcs
}

const fieldCount = 18

// fields are the format's names of a job's fields, and whether they may have
// decimals.
var fields = [fieldCount]struct {
	name    string
	decimal bool
}{
	{"job number", false},
	{"submit time", true},
	{"wait time", true},
	{"run time", true},
	{"allocated processors", false},
	{"average CPU time", true},
	{"used memory", true},
	{"requested processors", false},
	{"requested time", true},
	{"requested memory", true},
	{"status", false},
	{"user", false},
	{"group", false},
	{"executable", false},
	{"queue", false},
	{"partition", false},
	{"preceding job", false},
	{"think time", true},
}

// Error reports a line of a log that can't be read. It wraps model.ErrInvalid.
type Error struct {
	Line   int    // from 1; 0 if it isn't known
	Field  int    // from 1; 0 if the whole line is wrong
	Reason string // with the field's name
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%v SWF: %s", model.ErrInvalid, e.Reason)
	}
	return fmt.Sprintf("%v SWF: line %d: %s", model.ErrInvalid, e.Line, e.Reason)
}

// Unwrap returns model.ErrInvalid.
func (*Error) Unwrap() error { return model.ErrInvalid }
