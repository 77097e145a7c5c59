// SPDX-License-Identifier: MIT

package slurm

import (
	"math"
	"strconv"
	"strings"
	"time"
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

// moment reads a time: local without a zone, or seconds since 1970 (SLURM_TIME_FORMAT=%s).
func moment(into *int64, s string, zone *time.Location) bool {
	if nothing(s) {
		return true
	}
	if x, err := strconv.ParseInt(s, 10, 64); err == nil {
		*into = x
		return x >= 0 && x <= mostTime
	}
	t, err := time.ParseInLocation("2006-01-02T15:04:05", s, zone)
	if err != nil || t.Unix() < 0 {
		return false
	}
	*into = t.Unix()
	return true
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
	if *into != Unknown {
		return true
	}
	switch strings.ToLower(s) {
	case "unlimited", "partition_limit", "infinite":
		*into = NoLimit
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
func (j *Job) memory(s string) bool {
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

// perNode reads what a job asks for on each node, as squeue's %b has it (gres/gpu:2, gpu:a100:1).
func (j *Job) perNode(s string) bool {
	if n := gpus(strings.ReplaceAll(s, "gres/", "")); j.GPUs < 0 && n > 0 {
		j.GPUs = n * max(1, j.Nodes)
	}
	return true
}

// tres reads trackable resources (billing=4,cpu=4,gres/gpu=2,mem=8G,node=1). Known values stay.
func (j *Job) tres(s string) bool {
	if nothing(s) {
		return true
	}
	var typed int64
	gpus := int64(Unknown)
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
			x := int64(Unknown)
			ok = positive(&x, value)
			typed += max(0, x)
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

// state returns the state's name in full: CANCELLED of "CANCELLED by 1000", and of CA.
func state(s string) string {
	s, _, _ = strings.Cut(s, " ")
	s = strings.ToUpper(strings.TrimSuffix(s, "+"))
	if full := states[s]; full != "" {
		return full
	}
	return s
}

// states are squeue's abbreviations (%t).
var states = map[string]string{"PD": "PENDING", "R": "RUNNING", "CD": "COMPLETED", "CG": "COMPLETING", "CA": "CANCELLED", "F": "FAILED", "TO": "TIMEOUT",
	"NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PR": "PREEMPTED", "S": "SUSPENDED", "DL": "DEADLINE", "BF": "BOOT_FAIL", "CF": "CONFIGURING", "RQ": "REQUEUED",
	"RS": "RESIZING", "ST": "STOPPED", "SI": "SIGNALING", "SO": "STAGE_OUT", "SE": "SPECIAL_EXIT", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RD": "RESV_DEL_HOLD", "RV": "REVOKED"}
