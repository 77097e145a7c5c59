// SPDX-License-Identifier: MIT

package slurm

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
)

// nothing reports whether a field means a value that isn't known.
func nothing(s string) bool {
	switch strings.ToLower(s) {
	case "", "unknown", "none", "n/a", "invalid", "(null)", "not_set":
		return true
	}
	return false
}

// mostTime bounds times and lengths, so that their sums don't overflow.
const mostTime = 1 << 40

// clock reads times: local ones, or with an offset, or seconds since 1970 (SLURM_TIME_FORMAT=%s).
type clock struct {
	zone   *time.Location
	local  bool             // there are times without an offset
	second map[*int64]int64 // of times of a record that are two, since the clocks go back: the second
}

// moment reads a time; of two it takes the first.
func (c *clock) moment(into *int64, s string) bool {
	if nothing(s) || s == "0" { // JSON
		return true
	}
	if digits(into, s) {
		return *into <= mostTime
	}
	const local = "2006-01-02T15:04:05"
	s = strings.Replace(s, " ", "T", 1)
	if len(s) > len(local) {
		t, err := time.Parse(local+"Z0700", s)
		if err != nil {
			t, err = time.Parse(local+"Z07:00", s)
		}
		*into = t.Unix()
		return err == nil && *into >= 0
	}
	t, err := time.Parse(local, s)
	if err != nil || t.Unix() < 0 {
		return false
	}
	c.local = true
	first, second := c.at(t.Unix(), -1), c.at(t.Unix(), 1)
	if *into = first; second != first {
		c.second[into] = second
	}
	return true
}

// at returns the time at which the zone's clocks show what UTC's show at a time, by the offset that counts a day before
// (-1) or after (1) if both are right, or else by the one that is.
func (c *clock) at(shown int64, side int64) int64 {
	at := func(side int64) (int64, bool) {
		_, offset := time.Unix(shown+side*86400, 0).In(c.zone).Zone()
		x := shown - int64(offset)
		_, there := time.Unix(x, 0).In(c.zone).Zone()
		return x, there == offset
	}
	if x, ok := at(side); ok {
		return x
	}
	x, _ := at(-side)
	return max(0, x)
}

// settle chooses among the times that are two: what is between start and end is Elapsed and suspensions, and no job starts
// before its submission. It reports whether both may be, and then leaves the first.
func (c *clock) settle(j *jobs.Job) (open bool) {
	if len(c.second) == 0 {
		return false
	}
	both := func(t *int64) []int64 {
		if second, ok := c.second[t]; ok {
			return []int64{*t, second}
		}
		return []int64{*t}
	}
	fit := 0
	starts, ends := both(&j.Start), both(&j.End)
	for _, start := range starts {
		for _, end := range ends {
			if start < j.Submit || j.End >= 0 && j.Elapsed >= 0 && end-start != j.Elapsed+max(0, j.Suspended) {
				continue
			}
			if fit++; fit == 1 {
				j.Start, j.End = start, end
			}
		}
	}
	return fit > 1
}

// length reads a length: [[days-]hours:]minutes:seconds, the seconds with decimals or
// without. One that is known already stays.
func length(into *int64, s string) bool {
	if nothing(s) || *into >= 0 {
		return true
	}
	days, rest, dayed := strings.Cut(s, "-")
	if !dayed {
		days, rest = "0", s
	}
	rest, _, _ = strings.Cut(rest, ".")
	parts := strings.Split(rest, ":")
	if len(parts) > 3 || len(parts) < 2 || dayed && len(parts) < 3 {
		return false
	}
	var d, sum int64
	if !digits(&d, days) || d > 1e6 {
		return false
	}
	for _, p := range parts {
		var x int64
		if !digits(&x, p) || x > 1e9 {
			return false
		}
		sum = 60*sum + x
	}
	*into = 86400*d + sum
	return true
}

// limit reads a time limit: a length, or minutes.
func limit(into *int64, s string) bool {
	if *into != jobs.Unknown {
		return true
	}
	switch strings.ToLower(s) {
	case "unlimited", "partition_limit", "infinite":
		*into = jobs.NoLimit
		return true
	}
	var minutes int64
	if digits(&minutes, s) {
		*into = 60 * minutes
		return minutes <= mostTime/60
	}
	return length(into, s)
}

// digits reads a number of at most 18 digits.
func digits(into *int64, s string) bool {
	if s == "" || len(s) > 18 || strings.Trim(s, "0123456789") != "" {
		return false
	}
	x, err := strconv.ParseInt(s, 10, 64)
	*into = x
	return err == nil
}

// number reads seconds.
func number(into *int64, s string) bool { return nothing(s) || digits(into, s) && *into <= mostTime }

// positive reads a number, also of thousands (squeue: 1K), which stays unknown at 0 and
// isn't read if it is known already.
func positive(into *int64, s string) bool {
	if nothing(s) || *into > 0 {
		return true
	}
	s, _, _ = strings.Cut(s, "-") // squeue: 2-4 nodes of a pending job
	var x int64
	times := int64(1)
	if t := strings.TrimSuffix(s, "K"); t != s {
		s, times = t, 1000
	}
	if !digits(&x, s) || x > math.MaxInt32 {
		return false
	}
	if x > 0 {
		*into = times * x
	}
	return true
}

// megabytes reads a size of memory: a number of megabytes, or one with K, M, G, T or P.
func megabytes(s string) (float64, bool) {
	scale := 1.0
	if n := len(s); n > 0 {
		if k := strings.IndexByte("KMGTP", s[n-1]); k >= 0 {
			scale, s = math.Pow(1024, float64(k-1)), s[:n-1]
		}
	}
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x * scale, err == nil && x*scale <= mostTime
}

// memory reads ReqMem, per node (4Gn), per CPU (4Gc) or in all (4G), if no resources have given it. It comes after the
// numbers of CPUs and nodes.
func memory(j *jobs.Job, s string) bool {
	if nothing(s) || j.MemoryMB >= 0 {
		return true
	}
	times := int64(1)
	if t := strings.TrimSuffix(s, "n"); t != s {
		s, times = t, j.Nodes
	} else if t := strings.TrimSuffix(s, "c"); t != s {
		s, times = t, j.CPUs
	}
	s = strings.TrimSuffix(s, "?")
	x, ok := megabytes(s)
	if ok && x > 0 {
		j.MemoryMB = int64(math.Ceil(x * float64(max(1, times))))
	}
	return ok
}

// perNode reads what a job asks for on each node, as squeue's %b has it (gres:gpu:2, gres/gpu:a100:1).
func perNode(j *jobs.Job, s string) bool {
	if n := gpus(strings.NewReplacer("gres/", "", "gres:", "", "=", ":").Replace(s)); j.GPUs < 0 && n > 0 {
		j.GPUs = n * max(1, j.Nodes)
	}
	return true
}

// named reads a name.
func named(into *string, s string) bool {
	if *into = s; s == "(null)" {
		*into = ""
	}
	return true
}

// asks notes a demand, if a field has one.
func asks(j *jobs.Job, s, text string) bool {
	if !nothing(s) && s != "0" {
		j.Ask(text)
	}
	return true
}

const (
	asksLicences = "jobs with a need for licences"
	asksFeatures = "jobs with a need for features of nodes"
	asksNodes    = "jobs that name nodes, or ask for neighbours"
)

// no reports whether a text says no.
func no(s string) bool { return slices.Contains([]string{"0", "no", "false"}, strings.ToLower(s)) }

// listed reads the names of a list, nil for none.
func listed(s string) []string {
	if nothing(s) {
		return nil
	}
	return strings.Split(s, ",")
}

// priority reads a priority, as a whole number or a share.
func priority(j *jobs.Job, s string) bool {
	if nothing(s) {
		return true
	}
	x, err := strconv.ParseFloat(s, 64)
	j.Priority = x
	return err == nil && x >= 0
}

// tasks returns the names of the tasks of an array that waits as one line, 67_[1-3,5-9:2%2], and reports whether few may
// run at once. Any other name stands for itself.
func tasks(id string) (all []string, few, ok bool) {
	base, list, many := strings.Cut(id, "_[")
	if !many {
		return []string{id}, false, true
	}
	list, _, few = strings.Cut(strings.TrimSuffix(list, "]"), "%")
	numbers, ok := jobs.Tasks(list, mostTasks)
	for _, k := range numbers {
		all = append(all, base+"_"+strconv.FormatInt(k, 10))
	}
	return all, few, ok
}

// tres reads trackable resources (billing=4,cpu=4,gres/gpu=2,mem=8G,node=1). Known values stay.
func tres(j *jobs.Job, s string) bool {
	if nothing(s) {
		return true
	}
	var typed int64
	gpus := int64(jobs.Unknown)
	for _, pair := range strings.Split(s, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return false
		}
		switch {
		case key == "cpu":
			ok = positive(&j.CPUs, value)
		case key == "node":
			ok = positive(&j.Nodes, value)
		case key == "gres/gpu":
			ok = positive(&gpus, value)
		case strings.HasPrefix(key, "gres/gpu:"):
			x := int64(jobs.Unknown)
			ok = positive(&x, value)
			typed += max(0, x)
		case strings.HasPrefix(key, "license/"):
			asks(j, value, asksLicences)
		case key == "mem" && j.MemoryMB < 0:
			var x float64
			if x, ok = megabytes(value); ok && x > 0 {
				j.MemoryMB = int64(math.Ceil(x))
			}
		}
		if !ok {
			return false
		}
	}
	j.GPUs = max(j.GPUs, gpus, typed)
	return true
}

// state returns the state's name in full: CANCELLED of "CANCELLED by 1000", and of CA. Of several (JSON) it is the last
// known one, as in a table: flags stand behind.
func state(s string) (name string) {
	for _, word := range strings.Split(strings.ToUpper(s), ",") {
		word, _, _ = strings.Cut(word, " ")
		word = strings.TrimSuffix(word, "+")
		full := cmp.Or(states[word], word)
		if name == "" || isState(full) {
			name = full
		}
	}
	return name
}

func isState(name string) bool {
	for _, full := range states {
		if full == name {
			return true
		}
	}
	return false
}

// states are squeue's abbreviations (%t).
var states = map[string]string{"PD": "PENDING", "R": "RUNNING", "CD": "COMPLETED", "CG": "COMPLETING", "CA": "CANCELLED", "F": "FAILED", "TO": "TIMEOUT",
	"NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PR": "PREEMPTED", "S": "SUSPENDED", "DL": "DEADLINE", "BF": "BOOT_FAIL", "CF": "CONFIGURING", "RQ": "REQUEUED",
	"RS": "RESIZING", "ST": "STOPPED", "SI": "SIGNALING", "SO": "STAGE_OUT", "SE": "SPECIAL_EXIT", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RD": "RESV_DEL_HOLD", "RV": "REVOKED"}
