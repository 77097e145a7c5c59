package instances

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/instances/swf"
	"github.com/gapwise/gapwise/model"
)

// SWFOptions say how the jobs of a log become requests.
type SWFOptions struct {
	// PEs is the size of the machine; 0 means that of the log's header
	// (MaxProcs, or else MaxNodes).
	PEs int
	// First, if not 0, is how many usable jobs are taken, in the log's order,
	// after Skip of them; there must be as many.
	Skip, First int
	// Estimate reserves the time that the user estimated; the runtime, cut at
	// the estimate, is then runtime_s. A job without an estimate reserves its
	// runtime.
	Estimate bool
	// ArrivalFactor divides the times of arrival; 0 means 1.
	ArrivalFactor float64
	// ARTime and Deadline make the windows, see ReservationSpec.
	ARTime, Deadline float64
	// Cancelled is the probability that a request is withdrawn, at a time uniform
	// between its arrival and its latest start.
	Cancelled float64
	// Seed is the seed of the windows and the cancellations, which don't depend
	// on the other options.
	Seed uint64
}

// SWFReport counts what became of a log's jobs.
type SWFReport struct {
	Jobs     int // read, up to the last one taken
	Skipped  int // usable, before the first one taken
	Requests int // taken
	// Jobs left out, each for the first reason that holds.
	NoSubmit, NoSize, NoRuntime, TooLarge int
	// Requests whose runtime was longer than the estimate and is cut, and
	// those without an estimate, whose duration is the runtime; both only if
	// estimates were asked for.
	Cut, NoEstimate int
	// Unsorted counts jobs that were submitted before an earlier one of the log;
	// they are put in order.
	Unsorted int
}

// String returns the counts that aren't 0, on one line.
func (r SWFReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests of %d jobs", r.Requests, r.Jobs)
	for _, c := range []struct {
		n    int
		text string
	}{
		{r.Skipped, "skipped"}, {r.NoSubmit, "left out without a submit time"}, {r.NoSize, "left out without processors"},
		{r.NoRuntime, "left out without a runtime"}, {r.TooLarge, "left out, larger than the machine"},
		{r.Cut, "cut at their estimate"}, {r.NoEstimate, "without an estimate, reserve their runtime"}, {r.Unsorted, "out of order, sorted"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, "; %d %s", c.n, c.text)
		}
	}
	return b.String()
}

// ReservationFromSWF makes requests of a log's jobs, named by their job
// numbers. A job's PEs are the processors allocated, or those requested if the
// log doesn't know. Arrivals are counted from the first request's. Jobs without
// a submit time, processors or a runtime (unknown or 0), and jobs larger than
// the machine, are left out and counted. Times are whole seconds. Errors wrap
// model.ErrInvalid. O(jobs), plus a sort if the log isn't in order.
func ReservationFromSWF(name string, log *swf.Log, o SWFOptions) (*model.Reservation, SWFReport, error) {
	var report SWFReport
	fail := func(format string, args ...any) (*model.Reservation, SWFReport, error) {
		return nil, report, fmt.Errorf("%w: "+format, append([]any{model.ErrInvalid}, args...)...)
	}
	if o.ArrivalFactor == 0 {
		o.ArrivalFactor = 1
	}
	if reason := checkFactors(o.ArrivalFactor, o.ARTime, o.Deadline); reason != "" {
		return fail("%s", reason)
	}
	switch {
	case !(o.Cancelled >= 0 && o.Cancelled <= 1):
		return fail("the share of cancelled requests is %v, must be from 0 to 1", o.Cancelled)
	case o.Skip < 0 || o.First < 0:
		return fail("%d jobs after %d are asked for, both must be at least 0", o.First, o.Skip)
	case o.PEs < 0:
		return fail("pes is %d, must be at least 1, or 0 for the log's", o.PEs)
	case o.PEs == 0:
		procs, err := log.Header.Procs()
		if err != nil {
			return nil, report, fmt.Errorf("%w; give the number of PEs", err)
		}
		if procs < 1 || procs > math.MaxInt32 {
			return fail("the log's header tells no usable number of processors (MaxProcs, MaxNodes); give the number of PEs")
		}
		o.PEs = int(procs)
	}
	taken := o.choose(log, &report)
	report.Requests = len(taken)
	if o.First > 0 && len(taken) < o.First {
		return fail("the log has %d usable jobs, %d after the first %d are asked for", report.Skipped+len(taken), o.First, o.Skip)
	}
	if len(taken) == 0 {
		return fail("the log has no usable job: %v", report)
	}
	in := &model.Reservation{Name: name, PEs: o.PEs, Requests: make([]model.Request, len(taken))}
	begin := log.Jobs[taken[0]].Submit
	for k, line := range taken {
		j := &log.Jobs[line]
		if j.Submit-begin > maxSWFTime || j.Runtime > maxSWFTime || j.RequestedTime > maxSWFTime {
			return fail("job %d: submit time %d, runtime %d or estimate %d is longer than %d s", j.Number, j.Submit, j.Runtime, j.RequestedTime, int64(maxSWFTime))
		}
		in.Requests[k] = o.request(j, begin, line)
		o.countEstimate(j, &report)
	}
	return in, report, in.Validate()
}

// maxSWFTime bounds times in seconds, so that they and their multiples by the
// factors stay below 2^53 and exact.
const maxSWFTime = 1e12

// choose returns the indices of the jobs to take, by submit time.
func (o SWFOptions) choose(log *swf.Log, report *SWFReport) []int {
	var taken []int
	last := int64(0)
	for k := range log.Jobs {
		if o.First > 0 && len(taken) == o.First {
			break
		}
		report.Jobs++
		switch j := &log.Jobs[k]; {
		case j.Submit < 0:
			report.NoSubmit++
		case j.Size() < 1:
			report.NoSize++
		case j.Runtime < 1:
			report.NoRuntime++
		case j.Size() > int64(o.PEs):
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
	if report.Unsorted > 0 {
		slices.SortStableFunc(taken, func(a, b int) int { return cmp.Compare(log.Jobs[a].Submit, log.Jobs[b].Submit) })
	}
	return taken
}

// request makes a request of the job at the given index of the log, which is
// also the number of its random stream.
func (o SWFOptions) request(j *swf.Job, begin int64, index int) model.Request {
	rng := stream(o.Seed, streamSWF, uint64(index))
	w := drawWindow(rng)
	cancelled, when := rng.Float64(), rng.Float64()
	r := model.Request{ID: strconv.FormatInt(j.Number, 10), PEs: int(j.Size()), DurationS: float64(j.Runtime),
		ArrivalS: math.Floor(float64(j.Submit-begin) / o.ArrivalFactor)}
	if j.Number < 0 {
		r.ID = fmt.Sprintf("record-%d", index+1) // the log tells no number
	}
	if o.Estimate && j.RequestedTime > 0 {
		r.DurationS = float64(j.RequestedTime)
		if j.Runtime < j.RequestedTime {
			runtime := float64(j.Runtime)
			r.RuntimeS = &runtime
		}
	}
	w.set(&r, o.ARTime, o.Deadline)
	if cancelled < o.Cancelled {
		at := r.ArrivalS + math.Floor(when*(r.Latest()-r.ArrivalS+1))
		r.CancelS = &at
	}
	return r
}

func (o SWFOptions) countEstimate(j *swf.Job, report *SWFReport) {
	switch {
	case !o.Estimate:
	case j.RequestedTime <= 0:
		report.NoEstimate++
	case j.Runtime > j.RequestedTime:
		report.Cut++
	}
}

// streamSWF is the number of the random streams of logs; no ReservationSpec has
// this index.
const streamSWF = math.MaxUint64

// LoadSWF reads a log, gzipped or not, from a file, or from standard input if
// path is "-". A name without a folder that isn't in the working folder is
// looked for in the folder swf of the data sets (see DataFolder), too, also
// with .swf.gz appended. Errors name the file; those about its content wrap
// model.ErrInvalid.
func LoadSWF(path string) (*swf.Log, error) {
	f := os.Stdin
	if path != "-" {
		file := findSWF(path)
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w%s", unreadable(path, err), whereToGet("swf", path))
		case info.IsDir():
			return nil, unreadable(path, errors.New("it is a folder"))
		}
		if f, err = os.Open(file); err != nil {
			return nil, unreadable(path, err)
		}
		defer f.Close()
		path = file
	}
	log, err := swf.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Label(path), err)
	}
	return log, nil
}

func findSWF(path string) string {
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return cmp.Or(inDataSets("swf", path, "", ".swf.gz", ".swf"), path)
}

// logs keeps the logs that were read: an experiment asks for the same one many
// times.
var logs sync.Map // file to func() (*swf.Log, error)

// fromLog makes the instance of a log's jobs. It expects a checked
// specification.
func (s ReservationSpec) fromLog() (*model.Reservation, error) {
	if s.SWF == "-" {
		return nil, fmt.Errorf("%w reservation specification: swf is standard input, give a file", model.ErrInvalid)
	}
	file := findSWF(s.SWF)
	if _, err := os.Stat(file); err != nil {
		_, err := LoadSWF(file) // whose error isn't to be kept: the file may come
		return nil, err
	}
	load, _ := logs.LoadOrStore(file, sync.OnceValues(func() (*swf.Log, error) { return LoadSWF(file) }))
	log, err := load.(func() (*swf.Log, error))()
	if err != nil {
		return nil, err
	}
	in, _, err := ReservationFromSWF(s.Name(), log, SWFOptions{PEs: s.PEs, Skip: s.Index * s.Requests, First: s.Requests,
		ArrivalFactor: s.ArrivalFactor, ARTime: s.ARTime, Deadline: s.Deadline, Seed: s.Seed})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.SWF, err)
	}
	in.Goal = s.Goal
	return in, nil
}
