// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// swfOptions say how the jobs of a log become requests. Cancelled requests are
// withdrawn at a time uniform between arrival and latest start. Windows and
// cancellations depend on the seed alone.
type swfOptions struct {
	SWFJobs
	// PEs is the size of the machine; 0 means the size in the log's header (MaxProcs, or else MaxNodes).
	PEs int
	// ArrivalFactor divides the times of arrival; 0 means 1.
	ArrivalFactor float64
	// ARTime and Deadline make the windows, see ReservationSpec.
	ARTime, Deadline float64
}

// reservationFromSWF makes requests of a log's jobs, named by their job
// numbers. A job's PEs are the processors allocated, or those requested if the
// log doesn't know. Arrivals are counted from the first request's. Jobs without
// a submit time, processors or a runtime (unknown or 0), and jobs larger than
// the machine, are left out and counted. Times are whole seconds. Errors wrap
// model.ErrInvalid. O(jobs), plus a sort if the log isn't in order.
func reservationFromSWF(name string, log *swf.Log, o swfOptions) (*model.Reservation, error) {
	fail := func(format string, args ...any) (*model.Reservation, error) {
		return nil, fmt.Errorf("%w: "+format, append([]any{model.ErrInvalid}, args...)...)
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
	case o.PEs < 0:
		return fail("pes is %d, must be at least 1, or 0 for the log's", o.PEs)
	}
	if log.Placed != nil {
		return fail("reservations know no nodes; leave --unit resources out")
	}
	pes, err := machine(log, o.PEs, "pes")
	if err != nil {
		return nil, err
	}
	taken, account, err := o.usable(log, pes, 1)
	if err != nil {
		return nil, err
	}
	tookMachine(log, pes, account)
	if o.ARTime > 0 {
		drawn(account, o.Seed, "lead times, from 0 to %g durations (artime)", o.ARTime)
	}
	if o.Deadline > 0 {
		drawn(account, o.Seed, "windows, with a slack from 0 to %g durations (deadline)", o.Deadline)
	}
	if o.Cancelled > 0 {
		drawn(account, o.Seed, "withdrawals, of a share of %g (cancelled)", o.Cancelled)
	}
	if o.ArrivalFactor != 1 {
		account.Assumed.Say("chosen: the times of arrival are divided by %g", o.ArrivalFactor)
	}
	in := &model.Reservation{Name: name, Account: account, PEs: pes, Requests: make([]model.Request, len(taken))}
	begin := log.Jobs[taken[0]].Submit
	for k, line := range taken {
		in.Requests[k] = o.request(log, begin, line)
	}
	if o.ArrivalFactor == 1 {
		model.SetStartTime(in, log.Header.Time(begin))
	}
	return in, validLog(in, log, taken)
}

// request makes a request of the job at the given index of the log, which is
// also the number of its random stream.
func (o swfOptions) request(log *swf.Log, begin float64, index int) model.Request {
	j := &log.Jobs[index]
	rng := stream(o.Seed, streamSWF, uint64(index))
	w := drawWindow(rng)
	cancelled, when := rng.Float64(), rng.Float64()
	r := model.Request{ID: swfID(log, index), PEs: int(j.Size()), DurationS: micro(j.Runtime),
		ArrivalS: math.Floor((j.Submit - begin) / o.ArrivalFactor)}
	if o.Estimate && j.RequestedTime > 0 {
		r.DurationS = micro(j.RequestedTime)
		if j.Runtime < j.RequestedTime {
			runtime := micro(j.Runtime)
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

// swfKeys implements swfSpec.
func (s *ReservationSpec) swfKeys() []string {
	return []string{"arrival_factor", "artime", "deadline", "pes"}
}

// fromSWF implements swfSpec by reservationFromSWF.
func (s *ReservationSpec) fromSWF(name string, log *swf.Log, o SWFJobs) (model.Instance, *model.Execution, error) {
	in, err := reservationFromSWF(name, log, swfOptions{SWFJobs: o, PEs: s.PEs,
		ArrivalFactor: s.ArrivalFactor, ARTime: s.ARTime, Deadline: s.Deadline})
	if err != nil {
		return nil, nil, err
	}
	in.Goal = s.Goal
	return in, nil, nil
}

// fromLog makes the instance of a log's jobs.
func (s ReservationSpec) fromLog() (model.Instance, error) {
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	return fromLog(&s, s.SWF, SWFJobs{Skip: s.Index * s.Requests, First: s.Requests, Seed: s.Seed})
}
