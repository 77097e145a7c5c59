// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// ReservationSpec specifies random reservations as section 6.1 of the paper draws them. Sizes, runtimes and arrivals
// come from the Lublin-Feitelson model for LANL-CM5 or from a real log, and windows from two factors. A field's zero
// value means its default, if one is named.
//
// The jobs of one Seed and Index are the same whatever the factors are, so that the points of an experiment are paired.
// Every job draws from a random stream of its own, fewer Requests are a prefix, and a larger UMed makes no job smaller.
type ReservationSpec struct {
	Requests int `key:"requests" default:"10000" small:"4,8" hard:"100" min:"1" required:"yes" usage:"number of requests"`
	// UMed is the logarithm (base 2) of the size that separates the small jobs,
	// a share of 0.82, from the large ones: 4.5 to log2 PEs; default 7.
	UMed float64 `key:"umed" default:"7" small:"6" above:"0" usage:"log2 of the size that separates small and large"`
	// ArrivalFactor divides the times of arrival; default 1.
	ArrivalFactor float64 `key:"arrival_factor" default:"1" small:"20" hard:"20" above:"0" usage:"divisor of the times of arrival"`
	// ARTime and Deadline make the window, in multiples of the duration. The time from arrival to ready time is uniform
	// from 0 to ARTime, the slack from the earliest end to the deadline from 0 to Deadline.
	ARTime   float64 `key:"artime" default:"3" usage:"longest time from arrival to ready, in durations"`
	Deadline float64 `key:"deadline" default:"3" small:"1" usage:"largest slack, in durations"`
	// PEs is a power of two from 32, and the largest size of a job; default 1,024. If SWF is set, it may be any number,
	// and the default is the log's.
	PEs int `key:"pes" small:"128" min:"1" shown:"1024; with a log the log's" usage:"number of PEs"`
	// Parameters are the model's for runtimes and arrivals: "fit" (default),
	// lublinLANLFit, or "column-t", lublinColumnT.
	Parameters string `key:"parameters" shown:"fit" usage:"workload model: fit or column-t"`
	// SWF, if not empty, is a log with jobs to take instead (see LoadSWF): as many usable ones as Requests, from number
	// Index * Requests on. UMed and Parameters then don't matter.
	SWF string `key:"log" file:"yes" usage:"take the jobs of an SWF FILE"`
	// Goal is the instance's; empty is its default.
	Goal  model.Goal `key:"goal" small:",pe_seconds,all" usage:"accepted, pe_seconds, reserved_pe_seconds or all" shown:"accepted"`
	Index int
	Seed  uint64
}

// nth implements Spec.
func (s *ReservationSpec) nth(k, _ int, seed uint64) Planned {
	one := *s
	one.Index, one.Seed = k, seed
	c := newPlanned(&one, one.name(), k, one.Generate)
	if one.PEs == 0 {
		delete(c.Params, "pes")
	}
	if one.SWF != "" {
		delete(c.Params, "umed")
	}
	return c
}

// checkKeys implements Spec.
func (s *ReservationSpec) checkKeys(map[string]bool) error {
	if s.Goal != "" && !slices.Contains(model.Goals, s.Goal) {
		return fmt.Errorf("goal is %q, must be one of %q", s.Goal, model.Goals)
	}
	return nil
}

// The values of ReservationSpec.Parameters.
const (
	parametersFit     = "fit"
	parametersColumnT = "column-t"
)

// The paper's rules for sizes (section 6.1, model (2)): all are powers of two from 32.
const (
	reservationLow   = 4.5  // ULow; it rounds to 5, that is 32
	reservationShare = 0.82 // UProb
	reservationMin   = 32
	reservationPEs   = 1024
	maxFactor        = 1000
)

// reservationDurations are the durations of requests in seconds (section 6.1,
// model (3)).
var reservationDurations = []float64{60, 300, 900, 1800, 3600, 10800}

func (s ReservationSpec) withDefaults() ReservationSpec {
	if s.Requests == 0 {
		s.Requests = 10_000
	}
	if s.UMed == 0 {
		s.UMed = 7
	}
	if s.ArrivalFactor == 0 {
		s.ArrivalFactor = 1
	}
	if s.PEs == 0 && s.SWF == "" {
		s.PEs = reservationPEs
	}
	if s.Parameters == "" {
		s.Parameters = parametersFit
	}
	return s
}

// name names everything that makes the instance, except the seed: instance 3 with 10,000 requests, UMed 7, arrival
// factor 1 and both other factors 3 is res-n10000-um7-af1-ar3-dl3-3. The parts -column-t and -pe512 follow the factors
// where they apply. With a log it begins with the file's name: LANL-CM5-1994-4.1-cln-n10000-af1-ar3-dl3-3.
func (s ReservationSpec) name() string {
	s = s.withDefaults()
	factors := fmt.Sprintf("af%g-ar%g-dl%g", s.ArrivalFactor, s.ARTime, s.Deadline)
	if s.Goal != "" {
		factors += "-" + string(s.Goal)
	}
	if s.SWF != "" {
		if s.PEs != 0 {
			factors += fmt.Sprintf("-pe%d", s.PEs)
		}
		return fmt.Sprintf("%s-n%d-%s-%d", logName(s.SWF), s.Requests, factors, s.Index)
	}
	if s.Parameters != parametersFit {
		factors += "-" + s.Parameters
	}
	if s.PEs != reservationPEs {
		factors += fmt.Sprintf("-pe%d", s.PEs)
	}
	return fmt.Sprintf("res-n%d-um%g-%s-%d", s.Requests, s.UMed, factors, s.Index)
}

// logName returns a log's file name without folder and extensions.
func logName(path string) string {
	name := filepath.Base(path)
	for _, e := range []string{".gz", ".swf"} {
		if strings.EqualFold(filepath.Ext(name), e) {
			name = name[:len(name)-len(e)]
		}
	}
	return name
}

// check reports which value of the specification, with its defaults, is out of
// range.
func (s ReservationSpec) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w reservation specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	switch {
	case s.Requests < 1 || s.Requests > 1_000_000:
		return bad("requests is %d, must be from 1 to 1,000,000", s.Requests)
	case s.Index < 0 || s.Index > 1_000_000_000:
		return bad("index is %d, must be from 0 to 10^9", s.Index)
	}
	if reason := checkFactors(s.ArrivalFactor, s.ARTime, s.Deadline); reason != "" {
		return bad("%s", reason)
	}
	if s.SWF == "-" {
		return bad("swf is standard input, give a file")
	}
	if s.SWF != "" {
		if s.PEs < 0 || s.PEs > maxPEs {
			return bad("pes is %d, must be from 1 to %d, or 0 for the log's", s.PEs, maxPEs)
		}
		return nil
	}
	high := s.high()
	switch {
	case s.PEs < reservationMin || s.PEs > maxPEs || bits.OnesCount(uint(s.PEs)) != 1:
		return bad("pes is %d, must be a power of two from %d to %d", s.PEs, reservationMin, maxPEs)
	case !(s.UMed >= reservationLow && s.UMed <= high):
		return bad("umed is %v, must be from %v to %v, the logarithm of pes", s.UMed, reservationLow, high)
	case s.Parameters != parametersFit && s.Parameters != parametersColumnT:
		return bad("parameters is %q, must be %q or %q", s.Parameters, parametersFit, parametersColumnT)
	}
	return nil
}

// maxPEs bounds the PEs of generated instances.
const maxPEs = 1 << 20

// checkFactors says which factor is out of range; it is empty if none is.
func checkFactors(arrival, ready, deadline float64) string {
	switch {
	case !(arrival >= 1.0/maxFactor && arrival <= maxFactor):
		return fmt.Sprintf("the arrival factor is %v, must be from %v to %v", arrival, 1.0/maxFactor, maxFactor)
	case !(ready >= 0 && ready <= maxFactor):
		return fmt.Sprintf("the artime factor is %v, must be from 0 to %v", ready, maxFactor)
	case !(deadline >= 0 && deadline <= maxFactor):
		return fmt.Sprintf("the deadline factor is %v, must be from 0 to %v", deadline, maxFactor)
	}
	return ""
}

// high returns UHi, the logarithm (base 2) of the largest size, which is the
// machine's.
func (s ReservationSpec) high() float64 { return float64(bits.Len(uint(s.PEs)) - 1) }

// Generate draws the instance. All times are whole seconds. Errors about an unusable specification or log wrap
// model.ErrInvalid. O(requests).
//
// Our choices, as the paper leaves them open, are these. The runtime is the nearest of the six on a logarithmic scale,
// since the model gives the logarithm. Arrivals begin at midnight. Arrivals are rounded down. The times between arrival
// and ready time, and between ready time and latest start, are rounded to the nearest second. So the latest start is
// never before the ready time.
//
// The offered load is PE-seconds asked for over the available ones from the first arrival to the last. On average over
// 40 seeds at UMed 5, 6, 7, 8, 9 it is 0.56, 0.70, 0.95, 1.40, 2.30 with the fit. With column T it is 0.68, 0.88, 1.26,
// 1.87, 2.84.
func (s ReservationSpec) Generate() (*model.Reservation, error) {
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.SWF != "" {
		return generated[*model.Reservation](s.fromLog())
	}
	parameters := lublinLANLFit
	if s.Parameters == parametersColumnT {
		parameters = lublinColumnT
	}
	arrivals := newLublinArrivals(parameters, stream(s.Seed, uint64(s.Index), streamArrivals))
	in := &model.Reservation{Name: s.name(), Goal: s.Goal, PEs: s.PEs, Requests: make([]model.Request, s.Requests)}
	for k := range in.Requests {
		rng := stream(s.Seed, uint64(s.Index), uint64(k))
		w := drawWindow(rng)
		x := lublinLogSize(reservationLow, s.UMed, s.high(), reservationShare, rng.Float64(), rng.Float64())
		size := 1 << int(math.Floor(x+0.5))
		duration := nearestDuration(lublinRuntime(parameters, size, rng))
		in.Requests[k] = model.Request{ID: strconv.Itoa(k + 1), ArrivalS: math.Floor(arrivals.Next() / s.ArrivalFactor), DurationS: duration, PEs: size}
		w.set(&in.Requests[k], s.ARTime, s.Deadline)
	}
	return in, in.Validate()
}

// nearestDuration returns the one of reservationDurations with the smallest
// ratio to the runtime.
func nearestDuration(runtime float64) float64 {
	return slices.MinFunc(reservationDurations, func(a, b float64) int {
		x, y := math.Abs(math.Log(runtime/a)), math.Abs(math.Log(runtime/b))
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// window holds a request's random numbers for its window, uniform on [0, 1).
type window struct{ ready, deadline float64 }

func drawWindow(rng *rand.Rand) window { return window{rng.Float64(), rng.Float64()} }

// set gives a request its ready time and deadline, whole seconds.
func (w window) set(r *model.Request, ready, deadline float64) {
	r.ReadyS = r.ArrivalS + math.Round(ready*w.ready*r.DurationS)
	r.DeadlineS = r.ReadyS + r.DurationS + math.Round(deadline*w.deadline*r.DurationS)
}

// streamArrivals is the random stream of the arrivals; no request has this
// number.
const streamArrivals = math.MaxUint64

// stream returns the random numbers of one purpose, which its numbers identify.
func stream(seed, index, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(scramble(scramble(seed)+index), scramble(scramble(purpose)^seed)))
}

// scramble is SplitMix64's output function (Steele, Lea, Flood: Fast splittable
// pseudorandom number generators, OOPSLA 2014): neighbouring inputs give
// unrelated seeds.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
