// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// swfSpec is implemented by a Spec that can make an instance of the jobs of a log
// in the Standard Workload Format.
type swfSpec interface {
	swfKeys() []string
	fromSWF(name string, log *swf.Log, o SWFJobs) (model.Instance, *model.Execution, error)
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

// FromSWF makes an instance of a log's jobs, with the account of the log. It also returns the schedule of the log's own
// scheduler, if SWFJobs.Ran asks for it. The error wraps model.ErrInvalid, and model.ErrUnsupported if the specification
// has no such instances.
func FromSWF(s Spec, name string, log *swf.Log, o SWFJobs) (model.Instance, *model.Execution, error) {
	l, ok := s.(swfSpec)
	if !ok {
		return nil, nil, fmt.Errorf("%w: there are no %T of logs", model.ErrUnsupported, s)
	}
	in, ran, err := l.fromSWF(name, log, o)
	if err != nil {
		return nil, nil, err
	}
	return in, ran, nil
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
	// Longer lets jobs run longer than the estimate.
	Longer bool
	// Ran asks for the schedule of the log's own scheduler (see FromSWF): of batch on one tier, with the log's times.
	Ran bool
}

// largerJobs says why jobs of logs and workloads are left out.
const largerJobs = "jobs larger than the machine"

// drawn notes facts of the instance that the log lacks and a random generator drew.
func drawn(a *model.Account, seed uint64, format string, args ...any) {
	a.Assumed.Say("drawn with seed %d: %s", seed, fmt.Sprintf(format, args...))
}

// maxSWFTime bounds times in seconds, so that they and their multiples by the
// factors stay below 2^53 and exact.
const maxSWFTime = 1e12

// isPart reports whether a line is of a part of a job.
func isPart(j *swf.Job) bool {
	return j.Status >= swf.StatusToContinue && j.Status <= swf.StatusLastFailed
}

// partsOf returns the lines that are parts of a job with a line for the whole.
func partsOf(log *swf.Log) (parts []bool) {
	whole := map[int64]bool{}
	for k := range log.Jobs {
		if j := &log.Jobs[k]; j.Number >= 0 && !isPart(j) {
			whole[j.Number] = true
		}
	}
	parts = make([]bool, len(log.Jobs))
	for k := range log.Jobs {
		parts[k] = isPart(&log.Jobs[k]) && whole[log.Jobs[k].Number]
	}
	return parts
}

// inLogAlone tells of what the jobs taken have and an instance lacks.
func inLogAlone(log *swf.Log, taken []int, a *model.Account) {
	partitions := map[int64]bool{}
	alone, after, memory := 0, 0, 0
	for _, k := range taken {
		j := &log.Jobs[k]
		if isPart(j) {
			alone++
		}
		if j.Partition >= 0 {
			partitions[j.Partition] = true
		}
		if j.Preceding > 0 {
			after++
		}
		if j.RequestedMemory > 0 {
			memory++
		}
	}
	a.NotModelled.Count(after, "jobs behind a preceding job and a think time")
	if log.Placed != nil { // it has both
		partitions, memory = nil, 0
	}
	if len(partitions) > 1 {
		a.NotModelled.Say("%d partitions: one machine for all; --unit resources with --platform FILE, their nodes, keeps them apart", len(partitions))
	}
	a.NotModelled.Count(memory, "jobs with a request for memory")
	a.Assumed.Count(alone, "lines of parts of jobs (status 2 to 4), without one of the whole, as jobs of their own")
}

// usable returns the indices of the jobs to take, by submit time, for a machine of that many PEs. Jobs without a submit
// time, processors or a runtime of at least shortest, and jobs larger than the machine, are left out and counted in the
// account, which is the log's own. The error wraps model.ErrInvalid if there are fewer jobs than asked for, or none, or
// the times of one are too long. So it does if a job is larger than the machine and that is to be refused. O(jobs), plus a
// sort if the log isn't in order.
func (o SWFJobs) usable(log *swf.Log, pes int, shortest float64) (taken []int, account *model.Account, err error) {
	fail := func(format string, args ...any) ([]int, *model.Account, error) {
		return nil, nil, fmt.Errorf("%w: "+format, append([]any{model.ErrInvalid}, args...)...)
	}
	if o.Skip < 0 || o.First < 0 {
		return fail("%d jobs after %d are asked for, both must be at least 0", o.First, o.Skip)
	}
	if account = log.Account.Clone(); account == nil {
		account = model.NewAccount("log", formatSWF)
	}
	var parts []bool
	if log.Names == nil { // an SWF log
		parts = partsOf(log)
	}
	last, unsorted, skipped, after := 0.0, 0, 0, 0
	left := &account.LeftOut
	for k := range log.Jobs {
		if o.First > 0 && len(taken) == o.First {
			after = len(log.Jobs) - k
			break
		}
		switch j := &log.Jobs[k]; {
		case parts != nil && parts[k]:
			left.Add(swfID(log, k), "lines of parts of jobs, beside one of the whole")
		case j.Submit < 0:
			left.Add(swfID(log, k), "jobs without a submit time")
		case j.Size() < 1:
			left.Add(swfID(log, k), "jobs without processors")
		case j.Runtime < shortest:
			left.Add(swfID(log, k), "jobs without a runtime")
		case j.Size() > int64(pes) && o.RefuseLarge:
			return nil, nil, &swf.Error{Line: log.Line(k), Reason: fmt.Sprintf("job %d needs %d processors, the machine has %d", j.Number, j.Size(), pes)}
		case j.Size() > int64(pes):
			left.Add(swfID(log, k), largerJobs)
		case skipped < o.Skip:
			skipped++
		default:
			if j.Submit < last {
				unsorted++
			}
			last = max(last, j.Submit)
			taken = append(taken, k)
		}
	}
	switch {
	case o.First > 0 && len(taken) < o.First:
		return fail("the log has %d usable jobs, %d after the first %d are asked for", skipped+len(taken), o.First, o.Skip)
	case len(taken) == 0:
		return fail("the log has no usable job of %d, left out: %v", len(log.Jobs), *left)
	}
	if parts != nil {
		inLogAlone(log, taken, account)
	}
	left.Count(skipped, "jobs before those asked for")
	left.Count(after, "jobs after those asked for")
	account.Took(float64(len(taken)), "jobs")
	if log.Names != nil && skipped+after > 0 { // the records' own account came before
		account.Remarks.Say("what isn't modelled, and waits, are told of all %s of the records", words.Plural(len(log.Jobs), "job"))
	}
	if startTimes(log.Header) {
		account.Remarks.Say("the log's submit times are really start times")
	}
	account.Remarks.Count(unsorted, "jobs submitted before an earlier one of the log, put in order")
	if unsorted > 0 {
		order.Stable(taken, func(a, b int) int { return cmp.Compare(log.Jobs[a].Submit, log.Jobs[b].Submit) })
	}
	begin := log.Jobs[taken[0]].Submit
	zero, cut, open, rounded := 0, 0, 0, 0
	for _, k := range taken {
		j := &log.Jobs[k]
		if j.Submit-begin > maxSWFTime || j.Runtime > maxSWFTime || j.RequestedTime > maxSWFTime {
			return nil, nil, &swf.Error{Line: log.Line(k), Reason: fmt.Sprintf("job %d: submit time %g, runtime %g or estimate %g is longer than %d s",
				j.Number, j.Submit, j.Runtime, j.RequestedTime, int64(maxSWFTime))}
		}
		for _, x := range [...]float64{j.Submit, j.Runtime, j.RequestedTime, j.Wait} {
			if micro(x) != x {
				rounded++
			}
		}
		if j.Runtime == 0 {
			zero++
		}
		if o.Estimate && j.RequestedTime <= 0 {
			open++
		} else if o.Estimate && j.Runtime > j.RequestedTime {
			cut++
		}
	}
	account.Assumed.Count(zero, "jobs with a runtime of 0, which becomes 1 s")
	if o.Longer {
		account.Remarks.Count(cut, "jobs longer than the estimate")
	} else {
		account.Assumed.Count(cut, "jobs cut at the estimate")
	}
	account.Assumed.Count(open, "jobs without an estimate, which is their runtime")
	account.Remarks.Count(rounded, "times rounded to microseconds")
	return taken, account, nil
}

// micro rounds a time to a microsecond.
func micro(x float64) float64 { return math.Round(x*1e6) / 1e6 }

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
// MaxNodes), or of the nodes. The key belongs to the parameter that sets it.
func machine(log *swf.Log, pes int, key string) (int, error) {
	if p := log.Placed; p != nil && pes == 0 {
		for g := range p.Nodes {
			pes += p.Nodes[g].Count
		}
	}
	if pes != 0 {
		return pes, nil
	}
	procs, err := log.Header.Procs()
	if log.Names != nil && procs < 1 {
		return 0, fmt.Errorf("%w: nothing tells the nodes: give them with --platform FILE, or their size with --%s N", model.ErrInvalid, key)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w; give the machine's size by gapwise convert --%s N (in a plan %s: N)", err, key, key)
	case procs < 1 || procs > math.MaxInt32:
		return 0, fmt.Errorf("%w: the log's header tells no usable number of processors (MaxProcs, MaxNodes); give the machine's size by gapwise convert --%s N (in a plan %s: N)", model.ErrInvalid, key, key)
	}
	if log.Assumed != "" {
		log.Account.Assumed.Say("%s", log.Assumed)
	}
	return int(procs), nil
}

// tookMachine records the size of the machine that a log tells.
func tookMachine(log *swf.Log, size int, account *model.Account) {
	account.Took(float64(size), unitOf(log))
}

// unitOf names the parts of a log's machine.
func unitOf(log *swf.Log) string {
	if log.Placed != nil {
		return "nodes"
	}
	return "processors"
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

// LoadLog returns the jobs of a log; see Open.
func LoadLog(path string, o LogOptions) (*swf.Log, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	if !f.IsLog() {
		return nil, fmt.Errorf("%s: %w: it is no log of jobs", f.label, model.ErrInvalid)
	}
	log, err := f.jobs(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.label, err)
	}
	return log, nil
}

// formatSWF is the name of the format in accounts.
const formatSWF = "Standard Workload Format"

// shownName returns the name of a file for its account.
func shownName(path string) string {
	if path == "-" {
		return "stdin"
	}
	return filepath.Base(path)
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

// fromLog makes the instance of a log's jobs for a checked specification.
func fromLog[S interface {
	name() string
	fromSWF(string, *swf.Log, SWFJobs) (model.Instance, *model.Execution, error)
}](s S, file string, o SWFJobs) (model.Instance, error) {
	log, err := cachedSWF(file)
	if err != nil {
		return nil, err
	}
	in, _, err := s.fromSWF(s.name(), log, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return in, nil
}

// generated returns the result of fromLog as an instance of its problem.
func generated[I model.Instance](in model.Instance, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return in.(I), nil
}

// cachedSWF is LoadLog for files alone, which are read once. It serves
// specifications.
func cachedSWF(path string) (*swf.Log, error) {
	file := findSWF(path)
	if _, err := os.Stat(file); err != nil {
		_, err := LoadLog(file, LogOptions{}) // whose error isn't to be kept: the file may come
		return nil, err
	}
	load, _ := logs.LoadOrStore(file, sync.OnceValues(func() (*swf.Log, error) { return LoadLog(file, LogOptions{}) }))
	return load.(func() (*swf.Log, error))()
}
