// SPDX-License-Identifier: MIT

package online

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// never is later than all times.
const never = math.MaxInt64

// ticksPerSecond is the number of ticks in a second of a batch or a tvc: ticks are microseconds.
const ticksPerSecond = 1e6

// phase is the state of an item, a job or a request, as far as the policy knows.
type phase uint8

const (
	coming  phase = iota // it hasn't arrived
	waiting              // it may start, or is to be answered
	running              // it has a place, or the promise of one
	dying                // it is killed, and the policy isn't told yet
	over                 // it has ended, or is rejected
	placing              // it gets a place by the decisions of this call
)

// kind is a kind of occasions. Those of one instant come in this order.
type kind int32

const (
	kills kind = iota + 1
	ends
	takesPEs   // the start of a booking that has none
	withdraws  // a request
	callsFirst // what CallAt asked for, where calls come before arrivals
	arrives
	endsLate // in the order of model.BatchOrderPyss
	calls
	closes // the end of an instant, in the order of model.BatchOrderPyss
)

// occasion is something that happens to an item, or a call. Those of one instant come in the order of their ranks, and
// then of items.
type occasion struct {
	at   int64
	rank int32 // the kind, and the rank among others of the kind in the last rankBits bits
	item int32 // -1 for a call
}

const rankBits = 27

// kind returns the kind.
func (x occasion) kind() kind { return kind(x.rank >> rankBits) }

// first returns the first rank of a kind.
func (k kind) first() int32 { return int32(k) << rankBits }

func (x occasion) compare(y occasion) int {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.rank, y.rank), cmp.Compare(x.item, y.item))
}

// before is quicker than compare.
func (x occasion) before(y occasion) bool {
	return x.at < y.at || x.at == y.at && (x.rank < y.rank || x.rank == y.rank && x.item < y.item)
}

// problem is a problem's part of a simulation: its platform, the truth, and which decisions are possible.
type problem[D any] interface {
	// ends reports whether the simulation ends before the next occasion, at an instant (never: there is none).
	ends(next int64) (bool, error)
	// happen has an occasion happen, and reports it to the policy. It returns whether the policy is to be asked.
	happen(occasion) (told bool, err error)
	// id returns the name of an item.
	id(item int32) string
	// head returns a decision's type, and its item or its time.
	head(*D) (what DecisionType, item int32, at int64)
	// do carries a decision out that screen lets through. It returns why it can't be; "": it is done.
	do(*D) (reason string)
	// settle does what is left to do when all decisions of a call are carried out.
	settle([]D) error
}

// simulation goes from occasion to occasion: it tells a policy, asks it what to do, and has the decisions carried out.
// Each problem embeds one.
type simulation[P, E, D any] struct {
	problem problem[D]
	policy  Policy[P, E, D]
	// noun, come and gone are words of messages: a "job" that has "arrived", and "ended". Without gone, decisions on
	// items that are over are the problem's.
	noun, come, gone string
	offered          []DecisionType
	perSecond        float64
	call             kind // calls or callsFirst
	// effort is of an arrival. If it isn't 0, nothing arrives any more when ctx ends.
	effort int64
	// early reports whether the policy is asked after an occasion already, with another one to come at this instant.
	early func(x, next occasion) bool

	ctx       context.Context
	now       int64
	busy      int64 // the policy is until then
	instants  int
	turn      int     // calls of Decide
	arrivals  []int64 // of all items
	arrived   int     // items from here on are coming
	asked     int     // those from here up to arrived are new in this call of Decide
	phases    []phase
	due       []occasion // the next one of each item; rank 0: none is known
	occasions heap.Heap[occasion]
	stale     int // how many occasions are there that aren't due any more
}

// simulate makes a simulation of items that arrive at given instants, which ascend.
func simulate[P, E, D any](by problem[D], p Policy[P, E, D], noun, come, gone string, arrivals []int64,
	offered ...DecisionType) simulation[P, E, D] {
	n := len(arrivals)
	return simulation[P, E, D]{problem: by, policy: p, noun: noun, come: come, gone: gone, offered: offered,
		perSecond: ticksPerSecond, call: calls, arrivals: arrivals, phases: make([]phase, n), due: make([]occasion, n),
		occasions: heap.Heap[occasion]{Less: occasion.before}}
}

// run goes from instant to instant to the end.
func (s *simulation[P, E, D]) run(ctx context.Context, platform P) error {
	s.ctx = ctx
	if err := s.policy.Begin(platform); err != nil {
		return err
	}
	for ; ; s.instants++ {
		x := s.next()
		if end, err := s.problem.ends(x.at); end || err != nil {
			return err
		}
		s.now = max(x.at, s.busy)
		for told := false; x.at <= s.now; {
			asks, err := s.tell(x)
			if err != nil {
				return err
			}
			told = told || asks
			y := s.next()
			if told && (y.at > s.now || s.early != nil && s.early(x, y)) {
				if err := s.decide(); err != nil {
					return err
				}
				told, y = false, s.next()
			}
			x = y
		}
	}
}

// next returns what happens next, at never if nothing does. It drops what isn't due any more.
func (s *simulation[P, E, D]) next() occasion {
	for s.stale > 0 && s.occasions.Len() > 0 && !s.isDue(s.occasions.Items[0]) {
		s.occasions.Pop()
		s.stale--
	}
	x := occasion{at: never}
	if s.occasions.Len() > 0 {
		x = s.occasions.Items[0]
	}
	if s.arrived < len(s.arrivals) {
		if y := (occasion{s.arrivals[s.arrived], arrives.first(), int32(s.arrived)}); y.before(x) {
			return y
		}
	}
	return x
}

// isDue reports whether an occasion still happens.
func (s *simulation[P, E, D]) isDue(x occasion) bool { return x.item < 0 || s.due[x.item] == x }

// expect has something happen to an item at an instant, in place of what has been expected so far.
func (s *simulation[P, E, D]) expect(item int32, at int64, kind kind, rank int32) {
	s.cancel(item)
	s.due[item] = occasion{at, kind.first() + rank, item}
	s.occasions.Push(s.due[item])
}

// cancel has nothing happen to an item. At most half of the occasions, and some, aren't due: memory stays linear.
func (s *simulation[P, E, D]) cancel(item int32) {
	if s.due[item].rank == 0 {
		return
	}
	s.due[item].rank = 0
	if s.stale++; s.stale > 64 && s.stale > s.occasions.Len()/2 {
		due := slices.DeleteFunc(s.occasions.Items, func(x occasion) bool { return !s.isDue(x) })
		slices.SortFunc(due, occasion.compare) // one that was due before may be again, and stand there twice
		s.occasions.Items, s.stale = slices.Compact(due), 0
	}
}

// tell has the next occasion happen.
func (s *simulation[P, E, D]) tell(x occasion) (told bool, err error) {
	switch {
	case x.kind() != arrives:
		if s.occasions.Pop(); x.item >= 0 {
			s.due[x.item].rank = 0
		}
	case s.effort > 0 && meter.Stop(s.ctx, s.effort):
		s.arrivals = s.arrivals[:s.arrived]
		return false, nil
	default:
		s.phases[s.arrived] = waiting
		s.arrived++
	}
	return s.problem.happen(x)
}

// report reports an event of a type.
func (s *simulation[P, E, D]) report(what EventType, e E) error {
	if err := s.policy.Event(e); err != nil {
		return fmt.Errorf("at %.9g s, when told of what is %s: %w", s.seconds(s.now), what, err)
	}
	return nil
}

// decide asks the policy what to do, and has it done.
func (s *simulation[P, E, D]) decide() error {
	s.turn++
	all, err := s.policy.Decide()
	if err != nil {
		return fmt.Errorf("at %.9g s, when asked what to do: %w", s.seconds(s.now), err)
	}
	err = s.each(all, func(d *D) string {
		if reason, done := s.screen(s.problem.head(d)); reason != "" || done {
			return reason
		}
		return s.problem.do(d)
	})
	if err == nil {
		err = s.problem.settle(all)
	}
	s.asked = s.arrived
	return err
}

// each carries decisions out up to the first that can't be.
func (s *simulation[P, E, D]) each(all []D, do func(*D) string) error {
	for i := range all {
		if reason := do(&all[i]); reason != "" {
			return s.refuse(&all[i], reason)
		}
	}
	return nil
}

// screen returns why a decision can't be taken whatever the problem. It carries out what isn't the problem's: calls.
func (s *simulation[P, E, D]) screen(what DecisionType, item int32, at int64) (reason string, done bool) {
	timed := what == CallAt || what == Busy
	switch {
	case !slices.Contains(s.offered, what):
		words := strings.Split(strings.Trim(fmt.Sprintf("%q", s.offered), "[]"), " ")
		last := len(words) - 1
		list := strings.Join(words[:last], ", ") + " and " + words[last]
		return "there is no such decision, there are " + list, false
	case timed && at <= s.now:
		return "this isn't later than now", false
	case what == CallAt:
		s.occasions.Push(occasion{at, s.call.first(), -1})
		return "", true
	case timed:
	case item < 0 || int(item) >= s.arrived:
		return fmt.Sprintf("no such %s has %s, the policy knows numbers below %d", s.noun, s.come, s.arrived), false
	case s.phases[item] == over && s.gone != "":
		return fmt.Sprintf("it has %s, or is rejected", s.gone), false
	}
	return "", false
}

// refuse returns the error of a decision that can't be carried out.
func (s *simulation[P, E, D]) refuse(d *D, reason string) error {
	what, item, at := s.problem.head(d)
	switch {
	case what == CallAt || what == Busy:
		return s.error(fmt.Sprintf("%s at %.9g s", what, s.seconds(at)), reason)
	case item < 0 || int(item) >= s.arrived: // the policy doesn't know its name
		return s.error(fmt.Sprintf("%s of %s number %d", what, s.noun, item), reason)
	}
	return s.error(fmt.Sprintf("%s of %s %q", what, s.noun, s.problem.id(item)), reason)
}

// error returns the error of a decision, or of a lack of one.
func (s *simulation[P, E, D]) error(what, reason string) error {
	return &DecisionError{s.seconds(s.now), s.turn, what, reason}
}

// answered returns the error of the first new item that waits for an answer.
func (s *simulation[P, E, D]) answered(why string) error {
	if k := slices.Index(s.phases[s.asked:s.arrived], waiting); k >= 0 {
		return s.error(fmt.Sprintf("none on %s %q", s.noun, s.problem.id(int32(s.asked+k))), why)
	}
	return nil
}

// seconds returns a time in seconds.
func (s *simulation[P, E, D]) seconds(at int64) float64 { return float64(at) / s.perSecond }
