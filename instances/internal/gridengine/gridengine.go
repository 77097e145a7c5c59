// SPDX-License-Identifier: MIT

// Package gridengine reads what Grid Engine writes: the accounting file, the records of qacct -j, and the jobs and
// queues of qstat. It follows Son of Grid Engine 8.1.9 (accounting(5), qacct(1), qstat(1)).
package gridengine

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Records are the jobs of a file.
type Records struct {
	Format string // "accounting", "qacct -j", "qstat", "qstat -xml"
	Jobs   []jobs.Job
	Nodes  []jobs.Node // queue instances of qstat -f
	booked int64       // slots of them that reservations hold
	local  bool        // its times are local, without a zone
}

// Begins reports whether a text begins as one of Grid Engine's files does.
func Begins(text []byte) bool { return reader(text) != nil }

// Advice names the commands with output that is read.
const Advice = "give the accounting file, qacct -j, or qstat -r -u '*' (with -xml or without)"

// reader returns the reader of a text, nil if it is none of Grid Engine's.
func reader(text []byte) func(*Records, string, *time.Location) error {
	text = bytes.TrimSpace(text)
	head := text[:min(len(text), 4096)]
	line, rest, _ := strings.Cut(string(head), "\n")
	switch {
	case strings.HasPrefix(line, "<") && bytes.Contains(head, []byte("<job_info")):
		return (*Records).readXML
	case strings.HasPrefix(line, "job-ID "), strings.HasPrefix(line, "queuename "):
		return (*Records).readQstat
	case strings.HasPrefix(line, "====") && strings.HasPrefix(rest, "qname "):
		return (*Records).readQacct
	}
	for len(text) > 0 && text[0] == '#' {
		_, text, _ = bytes.Cut(text, []byte("\n"))
		text = bytes.TrimLeft(text, "\r\n")
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if f := bytes.Split(first, []byte(":")); len(f) >= leastFields && isNumber(string(f[5])) && isNumber(string(f[8])) {
		return (*Records).readAccounting
	}
	return nil
}

// Read reads a file. Times without a zone are local to the zone given. Errors wrap model.ErrInvalid and name the line.
func Read(text []byte, zone *time.Location) (*Records, error) {
	read := reader(text)
	if read == nil {
		return nil, invalid(0, "it doesn't begin as one; %s", Advice)
	}
	r := &Records{}
	return r, read(r, string(text), zone)
}

// Log makes a log of the jobs; see jobs.Take.
func (r *Records) Log(o *jobs.Options, a *model.Account) (*swf.Log, error) {
	a.Files[0].Format = "Grid Engine, " + r.Format
	if o.ByNodes {
		return nil, invalid(0, "it doesn't tell the nodes of a job; leave --unit out, or give --unit resources with the queues of qstat -f")
	}
	if !o.Pending {
		order.Stable(r.Jobs, jobs.BySubmission)
	}
	log, err := jobs.Take("Grid Engine", r.Jobs, r.Nodes, o, a)
	if err != nil {
		return nil, err
	}
	if o.Placed {
		a.Assumed.Say("the slots of each queue on a host are a node; each job is on as few of them as its slots allow")
	}
	open, again, stopped := false, 0, 0
	for k := range r.Jobs {
		if j := &r.Jobs[k]; j.Left == "" {
			open = open || j.Limit == jobs.NoLimit
			switch {
			case j.State == requeued:
				again++
			case j.State == overrun && j.Limit == jobs.NoLimit:
				stopped++
			}
		}
	}
	if open {
		a.NotModelled.Say("the limits of queues (h_rt), which hold for jobs that ask for none and ended %s of them: no record tells them", words.Thousands(int64(stopped)))
	}
	if o.Pending {
		if r.booked > 0 {
			a.NotModelled.Say("%s slots that reservations hold", words.Thousands(int64(r.booked)))
		}
	} else {
		a.Assumed.Count(again, "runs ended by a re-queue, each a job of its own")
		a.Assumed.Say("no record tells dependencies, begin times, holds and suspensions: the first three are part of a wait, the last of a run")
		a.Remarks.Say("jobs that were deleted while they waited have no record")
	}
	a.Remarks.Say("Grid Engine serves by shares and urgency, in passes, and plans 60 s more for each limit: a replay is another policy")
	if r.local && o.Zone == nil {
		a.Assumed.Say("times, which Grid Engine writes local without a zone, are UTC; --tz NAME tells the zone")
	}
	return log, nil
}

// The states of runs, as jobs.Job.State.
const (
	ended    = "ended"
	requeued = "re-queued"
	overrun  = "killed at its limit"
	deleted  = "deleted or killed"
	failed   = "failed to start or to end"
)

// outcome sets the state by the fields failed and exit_status: 25 is a re-queue, 37 the limit, 100 a signal.
func outcome(j *jobs.Job, failedCode, exit int64) {
	j.Status = swf.StatusFailed
	switch failedCode {
	case 0:
		if j.State = ended; exit == 0 {
			j.Status = swf.StatusCompleted
		}
	case 25:
		j.State = requeued
	case 37:
		j.State = overrun
	case 100:
		if j.State = deleted; exit == 128+9 {
			j.Status = swf.StatusCancelled
		}
	default:
		j.State = failed
	}
}

// named returns the name of a job or, if it isn't 0, of a task of an array.
func named(number, task int64) string {
	if task > 0 {
		return fmt.Sprintf("%d.%d", number, task)
	}
	return strconv.FormatInt(number, 10)
}

// demands reads what a job asks for, as the category has it: -l h_rt=60,mem_free=1M -q all.q -pe smp 2-5 -soft -l
// h_rt=9. Only hard requests are limits.
func demands(j *jobs.Job, category string) bool {
	j.Limit = jobs.NoLimit
	words := strings.Fields(category)
	soft := false
	for k, word := range words {
		if k+1 == len(words) {
			break
		}
		switch value := words[k+1]; word {
		case "-soft":
			soft = true
		case "-hard":
			soft = false
		case "-l":
			if soft {
				j.Ask("jobs with soft requests")
				continue
			}
			for _, pair := range strings.Split(value, ",") {
				if name, amount, _ := strings.Cut(pair, "="); !resource(j, name, amount) {
					return false
				}
			}
		case "-q", "-masterq":
			j.Ask("jobs asking for certain queues or hosts")
		case "-ar":
			j.Ask("jobs in an advance reservation, which may hold its slots for longer")
		}
	}
	return true
}

// resource reads a hard request.
func resource(j *jobs.Job, name, amount string) bool {
	switch name {
	case "h_rt":
		return duration(&j.Limit, amount)
	case "s_rt":
		j.Ask("jobs with a soft limit (s_rt)")
	default:
		j.Ask("jobs asking for further resources (memory, licences, kinds of hosts)")
	}
	return true
}

// duration reads seconds, or [hours:]minutes:seconds.
func duration(into *int64, s string) bool {
	if strings.EqualFold(s, "INFINITY") {
		return true
	}
	parts := strings.Split(s, ":")
	sum := int64(0)
	for _, p := range parts {
		var x int64
		if p != "" && !whole(&x, p) || sum > most/60 {
			return false
		}
		sum = 60*sum + x
	}
	*into = sum
	return len(parts) <= 3 && sum > 0
}

// most bounds numbers and times, so that their sums don't overflow. It is beyond milliseconds of this century, which
// other Grid Engines write.
const most = 1 << 38

func whole(into *int64, s string) bool {
	x, err := strconv.ParseInt(s, 10, 64)
	*into = x
	return err == nil && x >= 0 && x <= most
}

func isNumber(s string) bool {
	var x int64
	return whole(&x, s)
}

func invalid(line int, format string, args ...any) error {
	return jobs.Invalid("file of Grid Engine", line, format, args...)
}
