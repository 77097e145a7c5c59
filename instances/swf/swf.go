// Package swf reads and writes the Standard Workload Format, version 2.2: the
// logs of the Parallel Workloads Archive (Chapin, Cirne, Feitelson et al.:
// Benchmarks and Standards for the Evaluation of Parallel Job Schedulers, JSSPP
// 1999).
//
// A log is a text file. Lines that begin with ; are comments; those before the
// first job are the header, and tell fields such as "; MaxNodes: 128". Every
// other line is a job: 18 numbers between blanks, -1 for what isn't known.
//
// Nothing is lost: what is read and written again reads the same, comments and
// decimals included. Columns are written as wide as the archive's, so that its logs
// come out byte for byte.
package swf

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Unknown is what a log says of a field that isn't known.
const Unknown = -1

// Job is one line of a log, its fields in order. Times are in seconds, memory in
// kilobytes. Whole numbers are from 0, or Unknown.
type Job struct {
	Number          int64
	Submit          int64   // after the log's beginning
	Wait            int64   // from submission to start
	Runtime         int64   // from start to end
	Procs           int64   // processors allocated
	CPU             Decimal // time used, mean over the processors
	Memory          Decimal // used, mean over the processors
	RequestedProcs  int64
	RequestedTime   int64   // the user's estimate of the runtime, or of CPU
	RequestedMemory Decimal // per processor
	Status          int64   // one of the Status constants
	User            int64
	Group           int64
	Executable      int64
	Queue           int64
	Partition       int64
	Preceding       int64 // the number of the job that this one waits for
	Think           int64 // time from its end to this one's submission
}

// The values of Job.Status. A job that was checkpointed may have a line for each
// part of its run besides one for the whole.
const (
	StatusFailed      = 0
	StatusCompleted   = 1
	StatusToContinue  = 2 // part of a run
	StatusLastPart    = 3 // the last part; the job completed
	StatusLastFailed  = 4 // the last part; the job failed
	StatusCancelled   = 5 // by the user, or by the system before it started
	fieldCount        = 18
	fieldCPU          = 5
	fieldMemory       = 6
	fieldRequestedMem = 9
)

// Size is how many processors the job used: those allocated, or those requested
// if that isn't known or 0. It is 0 or Unknown if neither is known.
func (j *Job) Size() int64 {
	if j.Procs > 0 || j.RequestedProcs <= 0 {
		return j.Procs
	}
	return j.RequestedProcs
}

// fields are the format's names of a job's fields.
var fields = [fieldCount]struct {
	name    string
	decimal bool
	width   int // that of the archive's columns
}{
	{"job number", false, 5},
	{"submit time", false, 8},
	{"wait time", false, 6},
	{"run time", false, 6},
	{"allocated processors", false, 4},
	{"average CPU time", true, 6},
	{"used memory", true, 5},
	{"requested processors", false, 4},
	{"requested time", false, 6},
	{"requested memory", true, 5},
	{"status", false, 2},
	{"user", false, 3},
	{"group", false, 3},
	{"executable", false, 3},
	{"queue", false, 2},
	{"partition", false, 2},
	{"preceding job", false, 2},
	{"think time", false, 2},
}

// decimals is a job's fields in order.
func (j *Job) decimals() [fieldCount]Decimal {
	whole := func(x int64) Decimal { return Decimal{Units: x} }
	return [fieldCount]Decimal{
		whole(j.Number), whole(j.Submit), whole(j.Wait), whole(j.Runtime), whole(j.Procs), j.CPU, j.Memory,
		whole(j.RequestedProcs), whole(j.RequestedTime), j.RequestedMemory, whole(j.Status), whole(j.User), whole(j.Group),
		whole(j.Executable), whole(j.Queue), whole(j.Partition), whole(j.Preceding), whole(j.Think),
	}
}

// Error is a line of a log that can't be read. It wraps model.ErrInvalid.
type Error struct {
	Line   int    // from 1
	Field  int    // from 1; 0 if it is about the line
	Reason string // with the field's name
}

func (e *Error) Error() string {
	return fmt.Sprintf("%v SWF: line %d: %s", model.ErrInvalid, e.Line, e.Reason)
}

// Unwrap is model.ErrInvalid.
func (*Error) Unwrap() error { return model.ErrInvalid }
