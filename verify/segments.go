package verify

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Constraints on runs in segments. Those of Reservation on unknown, repeated and
// declined requests and on early starts hold for them, too.
const (
	EmptyRun       = "empty_run"       // a run without segments
	InvalidTime    = "invalid_time"    // a start or an end that isn't a number from 0 to 8·10^9
	FractionalTime = "fractional_time" // a start or an end that isn't a whole microsecond
	SegmentLength  = "segment_length"  // a segment that doesn't end after its start
	SegmentOrder   = "segment_order"   // a segment that starts before the one before it has ended
	WrongWork      = "wrong_work"      // the segments' work isn't the request's duration
)

// latestTime bounds times in solutions, in seconds. Below 2^33 s each microsecond
// has a float64 of its own.
const latestTime = 8e9

// micros reads x, from 0 to latestTime, as the nearest whole number of millionths.
// whole says that x is the float64 nearest to it.
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

// segmentJudge checks what all problems have in common whose requests run in
// segments. P is a place.
//
// Times are whole microseconds; nothing is tolerated. A run starts no earlier than
// its request's arrival. Its segments are in the order of time, don't overlap and
// aren't empty. A segment in another place than the one before it is a migration:
// no work is done until the request has run there for as many microseconds as that
// takes. If the segment ends before, the next one in this place goes on with the
// migration. The work of a run is the duration of its request.
type segmentJudge[P any] struct {
	ctx       context.Context
	report    *Report
	requests  int
	request   func(k int) (id string, arrival, duration int64)
	migration int64
	moved     func(from, to *P) bool // whether going on at another place is a migration
}

// segment is a model.Segment of a known request, in microseconds.
type segment[P any] struct {
	request    int
	id         string
	start, end int64
	place      *P
}

// read checks each run by itself. It returns the segments by request, nil for a
// request that doesn't run. complete says that objectives can be computed: each
// run is the only one of its request and has segments, all with valid times.
//
// Amounts are times as shares of the request's duration.
func (j *segmentJudge[P]) read(runs []model.Run[P]) (segments [][]segment[P], complete bool) {
	r := j.report
	index := make(map[string]int, j.requests)
	for k := range j.requests {
		id, _, _ := j.request(k)
		index[id] = k
	}
	segments, complete = make([][]segment[P], j.requests), true
	for i := range runs {
		if j.ctx.Err() != nil {
			return nil, false
		}
		run := &runs[i]
		k, ok := index[run.ID]
		switch {
		case !ok:
			r.add(UnknownRequest, 0, "request %q isn't in the instance", run.ID)
			complete = false
			continue
		case segments[k] != nil:
			r.add(RepeatedRequest, 0, "request %q has two runs", run.ID)
			complete = false
			continue
		}
		segments[k] = make([]segment[P], 0, len(run.Segments))
		if len(run.Segments) == 0 {
			r.add(EmptyRun, 0, "request %q has a run without segments", run.ID)
			complete = false
		}
		for s := range run.Segments {
			x := &run.Segments[s]
			if !(x.StartS >= 0 && x.StartS <= latestTime && x.EndS >= 0 && x.EndS <= latestTime) {
				r.add(InvalidTime, 0, "request %q runs from %v to %v, times must be from 0 to %g", run.ID, x.StartS, x.EndS, latestTime)
				complete = false
				continue
			}
			start, wholeStart := micros(x.StartS)
			end, wholeEnd := micros(x.EndS)
			if !wholeStart || !wholeEnd {
				r.add(FractionalTime, 0, "request %q runs from %v to %v, times must be whole microseconds", run.ID, x.StartS, x.EndS)
			}
			segments[k] = append(segments[k], segment[P]{k, run.ID, start, end, &x.Place})
		}
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
		r.add(EarlyStart, share(float64(arrival-s), duration), "request %q starts at %v and arrives at %v", id, inSeconds(s), inSeconds(arrival))
	}
	work, owed := int64(0), int64(0) // owed is what is left of the last migration
	for i := range run {
		x := &run[i]
		length := x.end - x.start
		if length <= 0 {
			r.add(SegmentLength, 0, "request %q has a segment from %v to %v", id, inSeconds(x.start), inSeconds(x.end))
			length = 0
		}
		if i > 0 {
			if before := run[i-1].end; x.start < before {
				r.add(SegmentOrder, share(float64(before-x.start), duration), "request %q has a segment until %v and the next one from %v", id, inSeconds(before), inSeconds(x.start))
			}
			if j.moved(run[i-1].place, x.place) {
				owed = j.migration
			}
		}
		without := min(length, owed)
		owed -= without
		work += length - without
	}
	if work != duration {
		r.add(WrongWork, share(math.Abs(float64(work-duration)), duration), "request %q works for %v s, its duration is %v s", id, inSeconds(work), inSeconds(duration))
	}
}

// inSeconds returns a time in seconds, for messages.
func inSeconds(micros int64) float64 { return float64(micros) / 1e6 }

// replay calls start and end for each segment of a positive length in the order of
// time. At one instant all ends come before all starts, and starts are in the
// order of the requests.
func (j *segmentJudge[P]) replay(segments [][]segment[P], start, end func(*segment[P])) {
	type event struct {
		at      int64
		starts  bool
		segment *segment[P]
	}
	var events []event
	for k := range segments {
		for s := range segments[k] {
			if x := &segments[k][s]; x.start < x.end {
				events = append(events, event{x.start, true, x}, event{x.end, false, x})
			}
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		if c := cmp.Compare(a.at, b.at); c != 0 || a.starts == b.starts {
			return c
		}
		if a.starts {
			return 1
		}
		return -1
	})
	for _, e := range events {
		if j.ctx.Err() != nil {
			return
		}
		if e.starts {
			start(e.segment)
		} else {
			end(e.segment)
		}
	}
}
