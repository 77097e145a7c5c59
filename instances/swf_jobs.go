// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gapwise/gapwise/instances/internal/slurm"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// swfSpec is implemented by a Spec that can make an instance of the jobs of a log
// in the Standard Workload Format.
type swfSpec interface {
	swfKeys() []string
	fromSWF(name string, log *swf.Log, o SWFJobs) (model.Instance, SWFReport, error)
}

// SWFKeys returns the keys of the parameters that matter to instances of logs; ok is
// false if a specification has no such instances.
func SWFKeys(s Spec) (keys []string, ok bool) {
	l, ok := s.(swfSpec)
	if !ok {
		return nil, false
	}
	return l.swfKeys(), true
}

// FromSWF makes an instance of a log's jobs. The error wraps model.ErrInvalid, and
// model.ErrUnsupported if the specification has no such instances.
func FromSWF(s Spec, name string, log *swf.Log, o SWFJobs) (model.Instance, SWFReport, error) {
	l, ok := s.(swfSpec)
	if !ok {
		return nil, SWFReport{}, fmt.Errorf("%w: there are no %T of logs", model.ErrUnsupported, s)
	}
	return l.fromSWF(name, log, o)
}

// SWFJobs says which jobs of a log become requests, and which of their fields are used.
type SWFJobs struct {
	// First, if not 0, is how many usable jobs are taken, in the log's order,
	// after Skip of them; there must be as many.
	Skip, First int
	// Estimate reserves the time that the user estimated; the runtime, cut at
	// the estimate, is then what the job really takes. A job without an estimate
	// reserves its runtime.
	Estimate bool
	// RefuseLarge makes a job that is larger than the machine an error; else such
	// jobs are left out.
	RefuseLarge bool
	// Cancelled is the probability that a request is withdrawn before it starts.
	Cancelled float64
	// Seed is the seed of all random values of the jobs.
	Seed uint64
	// Ran asks for the schedule of the log's own scheduler (SWFReport.Ran): of batch on one tier, with the log's times.
	Ran bool
}

// SWFReport counts the jobs of a log by their fate.
type SWFReport struct {
	Jobs     int // of the log
	Skipped  int // usable, before the first one taken
	Requests int // taken
	After    int // after the last one taken
	// Jobs left out, each for the first reason that holds.
	NoSubmit, NoSize, NoRuntime, TooLarge int
	// ZeroRuntime counts taken jobs with a runtime of 0, which becomes 1 s.
	ZeroRuntime int
	// Cut, Longer and NoEstimate count taken jobs: with a runtime above the estimate, cut to it or left, and without an
	// estimate, which the runtime replaces. All are 0 unless estimates were asked for.
	Cut, Longer, NoEstimate int
	// Unsorted counts jobs that were submitted before an earlier one of the log;
	// they are put in order.
	Unsorted int
	// Started says that a note in the log's header calls its submit times start
	// times: its jobs have waited already.
	Started bool
	// Drawn lists, in words and with the parameters, the facts that the log lacks and a random generator with this Seed
	// drew; Set lists the chosen ones.
	Drawn []string
	Seed  uint64
	Set   []string
	// Ran is the schedule of the log's own scheduler, if it was asked for.
	Ran *model.Execution
	// Notes list the facts of a log in another format (Slurm) that its jobs lack.
	Notes []string
	// Start is when the first job taken was submitted, by the log's UnixStartTime and in its TimeZone. It is zero if
	// the log doesn't say, or if the instance's times aren't the log's.
	Start time.Time
}

// draws notes something that was drawn.
func (r *SWFReport) draws(format string, args ...any) {
	r.Drawn = append(r.Drawn, fmt.Sprintf(format, args...))
}

// sets notes something that was chosen.
func (r *SWFReport) sets(format string, args ...any) {
	r.Set = append(r.Set, fmt.Sprintf(format, args...))
}

// Invented names the facts of the instance that don't come from the log, with their parameters and seed; "" if there
// are none.
func (r SWFReport) Invented() string {
	var all []string
	if len(r.Drawn) > 0 {
		all = append(all, fmt.Sprintf("drawn with seed %d, not told by the log: %s", r.Seed, strings.Join(r.Drawn, "; ")))
	}
	if len(r.Set) > 0 {
		all = append(all, "chosen, not told by the log: "+strings.Join(r.Set, "; "))
	}
	return strings.Join(all, "; ")
}

// String returns the counts that aren't 0, and Invented, on one line.
func (r SWFReport) String() string {
	if invented := r.Invented(); invented != "" {
		return r.Counts() + ". " + strings.ToUpper(invented[:1]) + invented[1:]
	}
	return r.Counts()
}

// Counts returns the counts that aren't 0, on one line.
func (r SWFReport) Counts() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d jobs taken", r.Requests, r.Jobs)
	for _, c := range []struct {
		n    int
		text string
	}{
		{r.Skipped, "skipped"}, {r.After, "after them"}, {r.NoSubmit, "left out without a submit time"}, {r.NoSize, "left out without processors"},
		{r.NoRuntime, "left out without a runtime"}, {r.TooLarge, "left out, larger than the machine"},
		{r.ZeroRuntime, "with a runtime of 0, which becomes 1 s"}, {r.Cut, "cut at their estimate"}, {r.Longer, "longer than their estimate"},
		{r.NoEstimate, "without an estimate, which is then the runtime"}, {r.Unsorted, "out of order, sorted"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, "; %d %s", c.n, c.text)
		}
	}
	if r.Started {
		b.WriteString("; the log's submit times are really start times")
	}
	return b.String()
}

// maxSWFTime bounds times in seconds, so that they and their multiples by the
// factors stay below 2^53 and exact.
const maxSWFTime = 1e12

// usable returns the indices of the jobs to take, by submit time, for a machine of that many PEs. Jobs without a submit
// time, processors or a runtime of at least shortest, and jobs larger than the machine, are left out and counted. The
// error wraps model.ErrInvalid if there are fewer jobs than asked for, or none, or the times of one are too long. So it
// does if a job is larger than the machine and that is to be refused. O(jobs), plus a sort if the log isn't in order.
func (o SWFJobs) usable(log *swf.Log, pes int, shortest int64) (taken []int, report SWFReport, err error) {
	fail := func(format string, args ...any) ([]int, SWFReport, error) {
		return nil, report, fmt.Errorf("%w: "+format, append([]any{model.ErrInvalid}, args...)...)
	}
	if o.Skip < 0 || o.First < 0 {
		return fail("%d jobs after %d are asked for, both must be at least 0", o.First, o.Skip)
	}
	report.Started, report.Notes = startTimes(log.Header), log.Notes
	report.Jobs = len(log.Jobs)
	last := int64(0)
	for k := range log.Jobs {
		if o.First > 0 && len(taken) == o.First {
			report.After = len(log.Jobs) - k
			break
		}
		switch j := &log.Jobs[k]; {
		case j.Submit < 0:
			report.NoSubmit++
		case j.Size() < 1:
			report.NoSize++
		case j.Runtime < shortest:
			report.NoRuntime++
		case j.Size() > int64(pes) && o.RefuseLarge:
			return nil, report, &swf.Error{Line: log.Line(k), Reason: fmt.Sprintf("job %d needs %d processors, the machine has %d", j.Number, j.Size(), pes)}
		case j.Size() > int64(pes):
			report.TooLarge++
		case report.Skipped < o.Skip:
			report.Skipped++
		default:
			if j.Submit < last {
				report.Unsorted++
			}
			last = max(last, j.Submit)
			taken = append(taken, k)
		}
	}
	report.Requests = len(taken)
	switch {
	case o.First > 0 && len(taken) < o.First:
		return fail("the log has %d usable jobs, %d after the first %d are asked for", report.Skipped+len(taken), o.First, o.Skip)
	case len(taken) == 0:
		return fail("the log has no usable job: %v", report)
	}
	if report.Unsorted > 0 {
		slices.SortStableFunc(taken, func(a, b int) int { return cmp.Compare(log.Jobs[a].Submit, log.Jobs[b].Submit) })
	}
	begin := log.Jobs[taken[0]].Submit
	report.Start = log.Header.Time(begin)
	for _, k := range taken {
		j := &log.Jobs[k]
		if j.Submit-begin > maxSWFTime || j.Runtime > maxSWFTime || j.RequestedTime > maxSWFTime {
			return nil, report, &swf.Error{Line: log.Line(k), Reason: fmt.Sprintf("job %d: submit time %d, runtime %d or estimate %d is longer than %d s",
				j.Number, j.Submit, j.Runtime, j.RequestedTime, int64(maxSWFTime))}
		}
		if j.Runtime == 0 {
			report.ZeroRuntime++
		}
		if o.Estimate && j.RequestedTime <= 0 {
			report.NoEstimate++
		} else if o.Estimate && j.Runtime > j.RequestedTime {
			report.Cut++
		}
	}
	return taken, report, nil
}

// validLog returns the error of the instance's Validate, with the line of the job.
func validLog(in model.Instance, log *swf.Log, taken []int) error {
	err := in.Validate()
	var e *model.ElementError
	if !errors.As(err, &e) || e.Index < 0 || e.Index >= len(taken) || log.Line(taken[e.Index]) == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", log.Line(taken[e.Index]), err)
}

// startTimes reports whether a note of the header says that the submit times are start times, as NASA-iPSC's does.
func startTimes(h swf.Header) bool {
	return slices.ContainsFunc(h, func(f swf.HeaderField) bool {
		return strings.EqualFold(f.Key, "Note") && strings.Contains(strings.Join(strings.Fields(f.Value), " "), "submit times are actually start times")
	})
}

// machine returns the size of the machine: pes or, if that is 0, the number in the log's header (MaxProcs, or else
// MaxNodes). The key belongs to the parameter that sets it.
func machine(log *swf.Log, pes int, key string) (int, error) {
	if pes != 0 {
		return pes, nil
	}
	procs, err := log.Header.Procs()
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w; give the machine's size by --%s N (in a plan %s: N)", err, key, key)
	case procs < 1 || procs > math.MaxInt32:
		return 0, fmt.Errorf("%w: the log's header tells no usable number of processors (MaxProcs, MaxNodes); give the machine's size by --%s N (in a plan %s: N)", model.ErrInvalid, key, key)
	}
	return int(procs), nil
}

// swfID names the request of the job at the given index of a log by its number.
func swfID(log *swf.Log, index int) string {
	if log.Names != nil {
		return log.Names.Jobs[index]
	}
	if n := log.Jobs[index].Number; n >= 0 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("record-%d", index+1) // the log tells no number
}

// streamSWF is the number of the random streams of logs; no specification has
// this index.
const streamSWF = math.MaxUint64

// LoadSWF reads a log, gzipped or not, from a file, or from standard input if
// path is "-". A name without a folder that isn't in the working folder is
// looked for in the folder swf of the data sets (see DataFolder), too, also
// with .swf.gz appended. Errors name the file; those about its content wrap
// model.ErrInvalid.
func LoadSWF(path string) (*swf.Log, error) { return LoadLog(path, SlurmOptions{}) }

// LoadLog is LoadSWF, with options for a table of Slurm (IsSlurm).
func LoadLog(path string, o SlurmOptions) (*swf.Log, error) {
	if path != "-" {
		file := findSWF(path)
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w%s", unreadable(path, err), whereToGet("swf", path))
		case info.IsDir():
			return nil, unreadable(path, errors.New("it is a folder"))
		}
		path = file
	}
	if IsSlurm(path) {
		return loadSlurm(path, o)
	}
	var in io.Reader = stdin()
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, unreadable(path, err)
		}
		defer f.Close()
		in = f
	}
	log, err := swf.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Label(path), err)
	}
	return log, nil
}

// IsSWF reports whether a file is a log, by its name (.swf). For standard input ("-") the beginning counts, and isn't
// used up: a comment (;) or a line of 18 fields. A table of Slurm (IsSlurm) is a log, too.
func IsSWF(path string) bool {
	if path == "-" {
		begins, _ := stdin().Peek(peeked)
		return beginsSWF(unfolded(begins)) || IsSlurm(path)
	}
	_, extension := nameOf(path)
	return extension == ".swf" || IsSlurm(path)
}

// DecodeSWF reads a log, gzipped or not, from the data of a file of this name. It returns nil without an error for
// other files, as IsSWF reports of standard input.
func DecodeSWF(name string, data []byte) (*swf.Log, error) {
	begins := unfolded(data[:min(len(data), peeked)])
	_, extension := nameOf(name)
	var log *swf.Log
	var err error
	switch {
	case slurm.Begins(begins):
		log, err = decodeSlurm(data, SlurmOptions{})
	case beginsSWF(begins) || name != "-" && extension == ".swf":
		log, err = swf.ReadAll(bytes.NewReader(data))
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return log, nil
}

// unfolded returns the beginning of a text from one that may be gzipped.
func unfolded(begins []byte) []byte {
	if z, err := gzip.NewReader(bytes.NewReader(begins)); err == nil {
		begins, _ = io.ReadAll(io.LimitReader(z, peeked)) // as far as it goes
	}
	return bytes.TrimPrefix(begins, byteOrderMark)
}

// beginsSWF reports whether a text begins as a log does.
func beginsSWF(begins []byte) bool {
	begins = bytes.TrimLeft(begins, " \t\r\n")
	line, _, _ := bytes.Cut(begins, []byte("\n"))
	return bytes.HasPrefix(begins, []byte(";")) || len(bytes.Fields(line)) == swfFields
}

// swfFields is the number of fields of a line of an SWF log.
const swfFields = 18

func findSWF(path string) string {
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return cmp.Or(inDataSets("swf", path, "", ".swf.gz", ".swf"), path)
}

// logs keeps the logs that were read: an experiment asks for the same one many
// times.
var logs sync.Map // file to func() (*swf.Log, error)

// fromLog makes the instance of a log's jobs for a checked specification.
func fromLog[S interface {
	name() string
	fromSWF(string, *swf.Log, SWFJobs) (model.Instance, SWFReport, error)
}](s S, file string, o SWFJobs) (model.Instance, SWFReport, error) {
	log, err := cachedSWF(file)
	if err != nil {
		return nil, SWFReport{}, err
	}
	in, report, err := s.fromSWF(s.name(), log, o)
	if err != nil {
		return nil, report, fmt.Errorf("%s: %w", file, err)
	}
	return in, report, nil
}

// generated returns the result of fromLog as an instance of its problem.
func generated[I model.Instance](in model.Instance, _ SWFReport, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return in.(I), nil
}

// cachedSWF is LoadSWF for files alone, which are read once. It serves
// specifications.
func cachedSWF(path string) (*swf.Log, error) {
	file := findSWF(path)
	if _, err := os.Stat(file); err != nil {
		_, err := LoadSWF(file) // whose error isn't to be kept: the file may come
		return nil, err
	}
	load, _ := logs.LoadOrStore(file, sync.OnceValues(func() (*swf.Log, error) { return LoadSWF(file) }))
	return load.(func() (*swf.Log, error))()
}
