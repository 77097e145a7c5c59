// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"math/bits"

	"github.com/gapwise/gapwise/model"
)

// Constraints on runs in segments. Those of Reservation on unknown, repeated and
// declined requests and on early starts hold for them, too.
const (
	emptyRun       = "empty_run"       // a run without segments
	invalidTime    = "invalid_time"    // a start or an end that isn't a number from 0 to 8·10^9
	fractionalTime = "fractional_time" // a start or an end that isn't a whole microsecond
	segmentLength  = "segment_length"  // a segment that doesn't end after its start
	segmentOrder   = "segment_order"   // a segment that starts before the one before it has ended
	wrongWork      = "wrong_work"      // the segments' work isn't the request's duration, or not until the end
)

// latestTime bounds times in solutions, in seconds. Below 2^33 s each microsecond
// has a float64 of its own.
const latestTime = 8e9

// micros reads x, from 0 to latestTime, as the nearest whole number of millionths. whole means that x is the float64
// nearest to it.
//
// x·10^6 = product + rest exactly, for FMA rounds once and the rest of a product
// is a float64.
func micros(x float64) (n int64, whole bool) {
	product := x * 1e6
	rest := math.FMA(x, 1e6, -product)
	nearest := math.Round(product)
	nearest += math.Round(product - nearest + rest)
	return int64(nearest), nearest/1e6 == x
}

// segmentJudge checks the common rules of all problems with requests that run in segments. P is a place.
//
// Times are whole microseconds; nothing is tolerated. A run starts no earlier than
// its request's arrival. Its segments are in the order of time, don't overlap and
// aren't empty. A segment in another place than the one before it is a migration, unless that one is lost: then the
// request starts over. The work in a lost segment and before it doesn't count.
//
// If steady is set, a run's work is the length of its segments, less the migrations, and must be the duration of its
// request. After a migration no work is done until the request has run there for as many microseconds as the migration
// takes. If the segment ends before, the next one in this place goes on with the migration. Without steady, work
// depends on the other running jobs, and the problem counts it in replay.
type segmentJudge[P any] struct {
	ctx       context.Context
	report    *Report
	noun      string // the word for a request
	requests  int
	request   func(k int) (id string, arrival, duration int64)
	moved     func(from, to *P) bool // whether going on at another place is a migration
	steady    bool
	migration int64 // with steady: microseconds without work at the start of a migrated segment
}

// segment is a model.Segment of a known request, in microseconds.
type segment[P any] struct {
	request     int
	id          string
	start, end  int64
	place       *P
	lost        bool
	moved       bool // it migrates at its start
	sound, last bool // its run is in order, so its work can be counted; it is the run's last
	placed      bool // for the problem: it holds its place
}

// read checks each run by itself. It returns the segments by request, nil for a request that doesn't run. The result
// complete means that objectives can be computed: each run is the only one of its request and has segments, all with
// valid times.
//
// Amounts are times as shares of the request's duration.
func (j *segmentJudge[P]) read(runs []model.Run[P]) (segments [][]segment[P], complete bool) {
	r := j.report
	find := finder(j.ctx, j.requests, func(k int) string {
		id, _, _ := j.request(k)
		return id
	})
	total := 0
	for i := range runs {
		total += len(runs[i].Segments)
	}
	all := make([]segment[P], 0, total)
	segments, complete = make([][]segment[P], j.requests), true
	for i := range runs {
		if j.ctx.Err() != nil {
			return nil, false
		}
		run := &runs[i]
		k, ok := find(run.ID)
		switch {
		case !ok:
			r.add(unknownRequest, 0, "%s %q isn't in the instance", j.noun, run.ID)
			complete = false
			continue
		case segments[k] != nil:
			r.add(repeatedRequest, 0, "%s %q has two runs", j.noun, run.ID)
			complete = false
			continue
		}
		first := len(all)
		if len(run.Segments) == 0 {
			r.add(emptyRun, 0, "%s %q has a run without segments", j.noun, run.ID)
			complete = false
		}
		for s := range run.Segments {
			if stopped(j.ctx, s+1) {
				return nil, false
			}
			x := &run.Segments[s]
			if !(x.StartS >= 0 && x.StartS <= latestTime && x.EndS >= 0 && x.EndS <= latestTime) {
				r.add(invalidTime, 0, "%s %q runs from %v to %v, times must be from 0 to %g", j.noun, run.ID, x.StartS, x.EndS, latestTime)
				complete = false
				continue
			}
			start, wholeStart := micros(x.StartS)
			end, wholeEnd := micros(x.EndS)
			if !wholeStart || !wholeEnd {
				r.add(fractionalTime, 0, "%s %q runs from %v to %v, times must be whole microseconds", j.noun, run.ID, x.StartS, x.EndS)
			}
			all = append(all, segment[P]{request: k, id: run.ID, start: start, end: end, place: &x.Place, lost: x.Lost})
		}
		segments[k] = all[first:len(all):len(all)]
		if len(segments[k]) == len(run.Segments) && len(run.Segments) > 0 {
			j.inTime(segments[k])
		}
	}
	return segments, complete
}

// inTime checks the times of one run.
func (j *segmentJudge[P]) inTime(run []segment[P]) {
	r := j.report
	id, arrival, duration := j.request(run[0].request)
	if s := run[0].start; s < arrival {
		r.add(earlyStart, share(float64(arrival-s), duration), "%s %q starts at %v and arrives at %v", j.noun, id, inSeconds(s), inSeconds(arrival))
	}
	work, sound := int64(0), true
	owed := int64(0) // the rest of the last migration
	for i := range run {
		x := &run[i]
		length := x.end - x.start
		if length <= 0 {
			r.add(segmentLength, 0, "%s %q has a segment from %v to %v", j.noun, id, inSeconds(x.start), inSeconds(x.end))
			length, sound = 0, false
		}
		if i > 0 {
			if before := run[i-1].end; x.start < before {
				r.add(segmentOrder, share(float64(before-x.start), duration), "%s %q has a segment until %v and the next one from %v", j.noun, id, inSeconds(before), inSeconds(x.start))
				sound = false
			}
			if x.moved = !run[i-1].lost && j.moved(run[i-1].place, x.place); x.moved {
				owed = j.migration
			}
		}
		without := min(length, owed)
		owed -= without
		if work += length - without; x.lost {
			work, owed = 0, 0
		}
	}
	for i := range run {
		run[i].sound, run[i].last = sound, i == len(run)-1
	}
	if j.steady && work != duration {
		r.add(wrongWork, share(math.Abs(float64(work-duration)), duration), "%s %q works for %v s, its duration is %v s", j.noun, id, inSeconds(work), inSeconds(duration))
	}
}

// inSeconds returns a time in seconds, for messages.
func inSeconds(micros int64) float64 { return float64(micros) / 1e6 }

// replay calls start and end for each segment of a positive length in the order of
// time. At one instant all ends come before all starts, and starts are in the
// order of the requests; then it calls settled, if that isn't nil.
func (j *segmentJudge[P]) replay(segments [][]segment[P], start, end func(*segment[P]), settled func(now int64)) {
	total := 0
	for k := range segments {
		total += len(segments[k])
	}
	starts, ends := make([]*segment[P], 0, total), make([]*segment[P], 0, total)
	for k := range segments {
		if stopped(j.ctx, k) {
			return
		}
		for s := range segments[k] {
			if x := &segments[k][s]; x.start < x.end {
				starts, ends = append(starts, x), append(ends, x)
			}
		}
	}
	sortFunc(j.ctx, starts, func(a, b *segment[P]) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.request, b.request))
	})
	sortFunc(j.ctx, ends, func(a, b *segment[P]) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.request, b.request))
	})
	for len(ends) > 0 && j.ctx.Err() == nil {
		now := ends[0].end
		if len(starts) > 0 {
			now = min(now, starts[0].start)
		}
		for ; len(ends) > 0 && ends[0].end == now && j.ctx.Err() == nil; ends = ends[1:] {
			end(ends[0])
		}
		for ; len(starts) > 0 && starts[0].start == now && j.ctx.Err() == nil; starts = starts[1:] {
			start(starts[0])
		}
		if settled != nil && j.ctx.Err() == nil {
			settled(now)
		}
	}
}

// responses adds up weighted response times, exactly, and bounded slowdowns, each rounded once; their sum has 100 bits.
type responses struct {
	count     int64
	weights   int64
	high, low uint64 // the weighted sum of the responses in microseconds, in two's complement
	slowdowns double
}

// add takes a response time in microseconds, the base of the slowdown, and the weight of the response, from 1 to 2^30.
func (r *responses) add(spent, duration, weight int64) {
	const floor = 10e6 // τ, in microseconds
	high, low := bits.Mul64(uint64(spent), uint64(weight))
	high -= uint64(spent>>63) & uint64(weight) // spent below 0 was taken as 2^64 more
	var carry uint64
	r.low, carry = bits.Add64(r.low, low, 0)
	r.high, _ = bits.Add64(r.high, high, carry)
	r.weights += weight
	r.slowdowns = r.slowdowns.add(double{hi: max(1, float64(spent)/float64(max(floor, duration)))})
	r.count++
}

// means returns the weighted mean response time in seconds, 0 without any, and the
// mean bounded slowdown, 1 without any.
func (r *responses) means() (response, slowdown float64) {
	if r.count == 0 {
		return 0, 1
	}
	total := new(big.Int).Lsh(big.NewInt(int64(r.high)), 64)
	total.Add(total, new(big.Int).SetUint64(r.low))
	response, _ = new(big.Rat).SetFrac(total, new(big.Int).Mul(big.NewInt(r.weights), big.NewInt(1e6))).Float64()
	return response, r.slowdowns.div(double{hi: float64(r.count)}).hi
}
