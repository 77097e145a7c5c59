// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// TVCSpec specifies random requests for virtual clusters as section 5 of the
// paper has them: drawn, or the jobs of a real log with drawn bandwidths.
//
// The offered load is sum N·d / (slots · span). N is the VMs and d the duration of each request, slots the data
// centre's, span the time from the first arrival to the last. The times between arrivals are multiplied by one ratio
// that gives the load asked for.
//
// Draws are paired. Request k of one Seed and Index has the same random numbers for any other parameters, each request
// from a stream of its own. So load, bandwidth and fabric change no size and no duration, and another mean bandwidth
// multiplies all bandwidths.
type TVCSpec struct {
	// Requests is the number of requests. With a log it counts usable jobs, from the first on; 0: all.
	Requests int     `key:"requests" default:"1000" small:"5" hard:"300" min:"0" required:"yes" usage:"number of requests; 0 takes all jobs of a log"`
	K        int     `key:"k" default:"6" small:"2,4" usage:"number of pods of the fat-tree, even"`
	Slots    int     `key:"slots" default:"8" small:"2" min:"1" usage:"number of slots of a server"`
	LinkMbps float64 `key:"link_mbps" default:"1000" above:"0" usage:"rate of every link, in Mbps"`
	// Fabric, Hose and Goal are the instance's; empty is its default.
	Fabric model.Fabric `key:"fabric" small:",non-blocking" usage:"one-path or non-blocking" shown:"one-path"`
	Hose   model.Hose   `key:"hose" usage:"reserved bandwidth: cut or per-path" shown:"cut"`
	// Queue is "yes" for queue mode.
	Queue      string        `key:"queue" default:"no" small:"no,yes" usage:"yes: requests wait; no: they are embedded at their arrival or rejected"`
	Goal       model.TVCGoal `key:"goal" small:",revenue" usage:"without a queue: requests or revenue" shown:"requests"`
	MigrationS float64       `key:"migration_s" min:"0" shown:"0" usage:"cost of a migration, in seconds"`
	// Bandwidth is AvgB, in Mbps. See Reading.
	Bandwidth float64 `key:"bandwidth" default:"250" small:"600" hard:"500" above:"0" usage:"mean bandwidth of a VM, in Mbps"`
	// Reading is the reading of bandwidths; one of TVCReadings.
	Reading string `key:"bandwidth_reading" default:"mean" usage:"mean (--bandwidth), per-request, largest-request or printed"`
	// Sizes is the distribution of the numbers of VMs, one of TVCSizes, and Size
	// its mean; a log has its own.
	Sizes string  `key:"sizes" default:"uniform" usage:"distribution of the number of VMs: uniform or log (log-uniform)"`
	Size  float64 `key:"size" default:"8" small:"2" min:"1" usage:"mean number of VMs"`
	// Load is the offered load. 0 leaves a log's arrivals as they are.
	Load float64 `key:"load" default:"0.5" small:"1.5" hard:"1.5" min:"0" usage:"offered load; 0: the log's"`
	// SWF, if not empty, is a log (see LoadSWF): its first usable jobs are taken. Another Index draws other bandwidths
	// for the same jobs. The submit times of NASA-iPSC-1993 are really start times: its jobs have waited already.
	SWF   string `key:"log" file:"yes" usage:"take the jobs of an SWF FILE"`
	Index int
	Seed  uint64
}

// NewTVCSpec returns the specification with the paper's defaults: 1,000 requests
// of 8 VMs and 250 Mbps at load 0.5, k = 6, 8 slots, 1 Gbps, loss mode.
func NewTVCSpec() TVCSpec { return *params.SetDefaults(&TVCSpec{}) }

// The readings of the paper's bandwidths (section 5.2). All but the first have a
// MaxB, and with it MinB = MaxB/10 and AvgB = (MinB + MaxB)/2. Bandwidths are
// normal with mean AvgB and standard deviation 0.2 AvgB, clipped to [MinB, MaxB].
const (
	// readingMean takes Bandwidth for AvgB, and MinB and MaxB from it: 2/11 and
	// 20/11 of AvgB, 4.1 standard deviations away. Table 1 says 251 and 247 Mbps.
	readingMean = "mean"
	// readingPerRequest has MaxB = rate · servers / N for a request of N VMs, at most the rate of a link. The mean is
	// 545 Mbps for the first 1,000 jobs of KTH-SP2 and 534 for NASA-iPSC's.
	readingPerRequest = "per-request"
	// readingLargest has the MaxB of the largest request, or of the log's largest
	// job, for all: AvgB is 297 Mbps for KTH-SP2 and 232 for NASA-iPSC.
	readingLargest = "largest-request"
	// readingPrinted is max(min(MinB, x), MaxB), as the clip is printed: always MaxB, as in readingPerRequest.
	readingPrinted = "printed"
)

// TVCReadings lists the readings, the default first.
var TVCReadings = []string{readingMean, readingPerRequest, readingLargest, readingPrinted}

// The values of TVCSpec.Sizes.
const (
	sizesUniform = "uniform" // 1, 2, ..., 2·mean - 1
	// sizesLog rounds e^x to the nearest number, x uniform from 0. Its end is such
	// that the mean is as asked for.
	sizesLog = "log"
)

// TVCSizes lists the distributions of sizes, the default first.
var TVCSizes = []string{sizesUniform, sizesLog}

// tvcMeanDuration is the mean of the durations drawn, in seconds. They are exponential, the times between arrivals too.
// The paper doesn't say. The unit of time matters only to values in seconds (migration_s, the floor of the bounded
// slowdown).
const tvcMeanDuration = 3600

// nth implements Spec.
func (s *TVCSpec) nth(k, _ int, seed uint64) Planned {
	one := *s
	one.Index, one.Seed = k, seed
	c := newPlanned(&one, one.name(), k, one.Generate)
	if one.SWF != "" {
		delete(c.Params, "size")
		for _, key := range []string{"requests", "load"} { // 0: the log's
			if c.Params[key] == 0 {
				delete(c.Params, key)
			}
		}
	}
	if one.Reading != readingMean {
		delete(c.Params, "bandwidth")
	}
	return c
}

// checkKeys implements Spec.
func (s *TVCSpec) checkKeys(given map[string]bool) error {
	oneOf := func(key string, value string, values []string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("%s is %q, must be one of %q", key, value, values)
		}
		return nil
	}
	for _, err := range []error{
		oneOf("fabric", string(s.Fabric), withEmpty(model.Fabrics)), oneOf("hose", string(s.Hose), withEmpty(model.Hoses)),
		oneOf("queue", s.Queue, []string{"no", "yes"}), oneOf("goal", string(s.Goal), withEmpty(model.TVCGoals)),
		oneOf("bandwidth_reading", s.Reading, TVCReadings), oneOf("sizes", s.Sizes, TVCSizes),
	} {
		if err != nil {
			return err
		}
	}
	for _, key := range []string{"sizes", "size"} {
		if given[key] && given["log"] {
			return fmt.Errorf("%s goes with drawn requests, those of a log have their own sizes", key)
		}
	}
	return nil
}

// withEmpty returns the values of a string type as strings, and "", the default.
func withEmpty[T ~string](values []T) []string {
	all := []string{""}
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// name names all parameters and the index: instance 3 with the defaults is tvc-k6-l8-n1000-uniform8-b250-load0.5-3. The
// link's rate, fabric, hose, queue, goal, and cost of migrations follow the load where they apply. With a log it begins
// with the file's name: KTH-SP2-1996-2.1-cln-k6-l8-n1000-b250-load0.5-3.
func (s TVCSpec) name() string {
	parts := []string{"tvc"}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s.SWF != "" {
		parts[0] = logName(s.SWF)
	}
	add("k%d-l%d-n%d", s.K, s.Slots, s.Requests)
	if s.SWF == "" {
		add("%s%g", s.Sizes, s.Size)
	}
	if s.Reading == readingMean {
		add("b%g", s.Bandwidth)
	} else {
		add("%s", s.Reading)
	}
	add("load%g", s.Load)
	if s.LinkMbps != 1000 {
		add("link%g", s.LinkMbps)
	}
	for _, x := range []string{string(s.Fabric), string(s.Hose), string(s.Goal)} {
		if x != "" {
			add("%s", x)
		}
	}
	if s.Queue == "yes" {
		add("queue")
	}
	if s.MigrationS != 0 {
		add("migration%g", s.MigrationS)
	}
	return fmt.Sprintf("%s-%d", strings.Join(parts, "-"), s.Index)
}

// check reports values out of range, and errors of the instance's Validate, when it has no requests yet.
func (s TVCSpec) check(in *model.TVC) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w tvc specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	if err := s.checkKeys(nil); err != nil {
		return bad("%v", err)
	}
	switch {
	case s.SWF == "-":
		return bad("log is standard input, give a file")
	case s.Requests < 0 || s.Requests > 1_000_000:
		return bad("requests is %d, must be from 0 to 1,000,000", s.Requests)
	case !(s.Bandwidth >= 0.01 && s.Bandwidth <= 1e6):
		return bad("bandwidth is %v, must be from 0.01 to 1,000,000", s.Bandwidth)
	case !(s.Load >= 0 && s.Load <= 1000):
		return bad("load is %v, must be from 0 to 1000", s.Load)
	case s.Load > 0 && s.Load < 0.001:
		return bad("load is %v, must be at least 0.001", s.Load)
	case s.Index < 0 || s.Index > 1_000_000_000:
		return bad("index is %d, must be from 0 to 10^9", s.Index)
	}
	return in.Validate()
}

// empty returns the instance without its requests.
func (s TVCSpec) empty(name string) (*model.TVC, error) {
	in := &model.TVC{Name: name, FatTree: model.FatTree{K: s.K, Slots: s.Slots, LinkMbps: s.LinkMbps, Fabric: s.Fabric},
		Hose: s.Hose, Queue: s.Queue == "yes", Goal: s.Goal, MigrationS: s.MigrationS}
	return in, s.check(in)
}

// Generate draws the instance. Durations are whole seconds, arrivals whole milliseconds, bandwidths whole kbit/s.
// Errors about an unusable specification or log wrap model.ErrInvalid. O(requests).
func (s TVCSpec) Generate() (*model.TVC, error) {
	if s.SWF != "" {
		return generated[*model.TVC](s.fromLog())
	}
	in, err := s.empty(s.name())
	if err != nil {
		return nil, err
	}
	if s.Requests == 0 || s.Load == 0 {
		return nil, fmt.Errorf("%w tvc specification: requests is %d and load %v, must be above 0 without a log", model.ErrInvalid, s.Requests, s.Load)
	}
	size, most, err := s.sizes()
	if slots := in.FatTree.Servers() * s.Slots; err == nil && most > slots {
		err = fmt.Errorf("%w tvc specification: mean size %v makes requests of up to %d VMs, the data centre has %d slots; make size smaller, or k or slots larger",
			model.ErrInvalid, s.Size, most, slots)
	}
	if err != nil {
		return nil, err
	}
	in.Requests = make([]model.TVCRequest, s.Requests)
	normal, arrival := make([]float64, s.Requests), 0.0
	for k := range in.Requests {
		rng := stream(s.Seed, uint64(s.Index), uint64(k))
		gap, duration := rng.ExpFloat64(), max(1, math.Round(tvcMeanDuration*rng.ExpFloat64()))
		in.Requests[k] = model.TVCRequest{ID: strconv.Itoa(k + 1), ArrivalS: arrival, DurationS: duration, VMs: size(rng)}
		arrival += gap
		normal[k] = rng.NormFloat64()
	}
	largest := 0
	for k := range in.Requests {
		largest = max(largest, in.Requests[k].VMs)
	}
	s.finish(in, largest, normal)
	return in, in.Validate()
}

// sizes returns a function that draws a number of VMs from one random number,
// and the largest there is.
func (s TVCSpec) sizes() (draw func(*rand.Rand) int, most int, err error) {
	switch {
	case !(s.Size >= 1 && s.Size <= model.MostSlots):
		return nil, 0, fmt.Errorf("%w tvc specification: size is %v, must be from 1 to %d", model.ErrInvalid, s.Size, model.MostSlots)
	case s.Sizes == sizesLog:
		end := logEnd(s.Size)
		draw = func(rng *rand.Rand) int { return int(math.Round(math.Exp(rng.Float64() * math.Log(end)))) }
		return draw, int(math.Round(end)), nil
	case 2*s.Size != math.Round(2*s.Size):
		return nil, 0, fmt.Errorf("%w tvc specification: the mean size of uniform sizes is %v, must be a multiple of 0.5", model.ErrInvalid, s.Size)
	}
	most = int(2*s.Size) - 1
	return func(rng *rand.Rand) int { return 1 + int(rng.Float64()*float64(most)) }, most, nil
}

// logEnd returns the end x of the log-uniform distribution on [1, x] that has
// the mean when it is rounded, by bisection: the mean grows with x.
func logEnd(mean float64) float64 {
	rounded := func(x float64) float64 {
		sum, all := 0.0, math.Log(x)
		for n := 1.0; n-0.5 < x; n++ {
			sum += n * (math.Log(min(n+0.5, x)) - math.Log(max(n-0.5, 1))) / all
		}
		return sum
	}
	if mean == 1 {
		return 1
	}
	low, high := 1.0, 2.0
	for rounded(high) < mean {
		low, high = high, 2*high
	}
	for range 50 {
		if x := (low + high) / 2; rounded(x) < mean {
			low = x
		} else {
			high = x
		}
	}
	return high
}

// finish gives the requests their bandwidths, by a standard normal number for each, and scales their arrivals to the
// load. The argument largest is the largest number of VMs for readingLargest.
func (s TVCSpec) finish(in *model.TVC, largest int, normal []float64) {
	work, servers := 0.0, float64(in.FatTree.Servers())
	for k := range in.Requests {
		q := &in.Requests[k]
		work += float64(q.VMs) * q.DurationS
		most := 20.0 / 11 * s.Bandwidth
		switch s.Reading {
		case readingLargest:
			most = s.LinkMbps * min(1, servers/float64(largest))
		case readingPerRequest, readingPrinted:
			most = s.LinkMbps * min(1, servers/float64(q.VMs))
		}
		least, mean := most/10, 0.55*most
		b := most
		if s.Reading != readingPrinted {
			b = min(max(least, mean+0.2*mean*normal[k]), most)
		}
		q.BandwidthMbps = max(0.001, math.Round(b*1000)/1000)
	}
	first, last := in.Requests[0].ArrivalS, in.Requests[len(in.Requests)-1].ArrivalS
	ratio := 1.0
	if s.Load > 0 && last > first {
		ratio = work / (servers * float64(s.Slots) * s.Load) / (last - first)
	}
	for k := range in.Requests {
		q := &in.Requests[k]
		q.ArrivalS = math.Round(1000*ratio*(q.ArrivalS-first)) / 1000
	}
}

// fromLog makes the instance of a log's jobs.
func (s TVCSpec) fromLog() (model.Instance, error) {
	if _, err := s.empty(""); err != nil {
		return nil, err
	}
	return fromLog(s, s.SWF, SWFJobs{First: s.Requests, Seed: s.Seed})
}

// swfKeys implements swfSpec.
func (s *TVCSpec) swfKeys() []string {
	return []string{"k", "slots", "link_mbps", "fabric", "hose", "queue", "goal", "migration_s", "bandwidth", "bandwidth_reading", "load"}
}

// fromSWF makes requests of a log's jobs, named by their job numbers. A job's VMs are its processors, its duration the
// runtime; its bandwidth is drawn. Arrivals are counted from the first request's. Unusable jobs, and jobs with more
// processors than the data centre has slots, are left out and counted.
func (s TVCSpec) fromSWF(name string, log *swf.Log, o SWFJobs) (model.Instance, *model.Execution, error) {
	in, err := s.empty(name)
	switch {
	case err != nil:
		return nil, nil, err
	case o.Estimate || o.Cancelled != 0:
		return nil, nil, fmt.Errorf("%w: estimates and cancelled jobs go with --kind reservation and mean nothing to tvc, whose requests take their runtimes", model.ErrInvalid)
	}
	slots := in.FatTree.Servers() * s.Slots
	taken, account, err := o.usable(log, slots, 1)
	if err != nil {
		return nil, nil, err
	}
	in.Account = account
	if s.Load == 0 {
		model.SetStartTime(in, log.Header.Time(log.Jobs[taken[0]].Submit))
	}
	in.Requests = make([]model.TVCRequest, len(taken))
	normal := make([]float64, len(taken))
	for k, line := range taken {
		j := &log.Jobs[line]
		in.Requests[k] = model.TVCRequest{ID: swfID(log, line), ArrivalS: micro(j.Submit - log.Jobs[taken[0]].Submit), DurationS: micro(j.Runtime), VMs: int(j.Size())}
		normal[k] = stream(o.Seed, streamSWF-1-uint64(s.Index), uint64(line)).NormFloat64()
	}
	switch s.Reading {
	case readingPrinted:
		account.Assumed.Say("chosen: bandwidths by the reading %s", s.Reading)
	case readingMean:
		drawn(account, o.Seed, "bandwidths of the VMs, mean %g Mbps", s.Bandwidth)
	default:
		drawn(account, o.Seed, "bandwidths of the VMs, by the reading %s", s.Reading)
	}
	account.Assumed.Say("chosen: the data centre, a fat-tree of k = %d with %d slots a server, %s in all, and links of %g Mbps", s.K, s.Slots, words.Thousands(int64(slots)), s.LinkMbps)
	if s.Load > 0 {
		account.Assumed.Say("chosen: the times between arrivals are scaled to the load %g", s.Load)
	}
	largest := 0
	for k := range log.Jobs {
		if n := int(log.Jobs[k].Size()); n <= slots {
			largest = max(largest, n)
		}
	}
	s.finish(in, largest, normal)
	if err := validLog(in, log, taken); err != nil {
		return nil, nil, err
	}
	return in, nil, nil
}
