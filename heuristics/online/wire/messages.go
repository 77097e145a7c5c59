// SPDX-License-Identifier: MIT

package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Types of events of all problems, in the words of the protocol.
// docs/reference/policies.md describes them.
const (
	simulationBegins = "SIMULATION_BEGINS"
	simulationEnds   = "SIMULATION_ENDS"
	requestedCall    = "REQUESTED_CALL"
	callMeLater      = "CALL_ME_LATER"
)

// These types of events belong to problems with requests as items.
const (
	requestSubmitted = "REQUEST_SUBMITTED"
	requestCompleted = "REQUEST_COMPLETED"
	rejectRequest    = "REJECT_REQUEST"
)

// message is a request, or an answer. Times are in seconds.
type message struct {
	Now    float64 `json:"now"`
	Events []event `json:"events"`
}

type event struct {
	Timestamp float64 `json:"timestamp"`
	Type      string  `json:"type"`
	Data      any     `json:"data"`
}

// answer is a message from a scheduler. A missing field is nil.
type answer struct {
	Now    *float64      `json:"now"`
	Events []answerEvent `json:"events"`
}

type answerEvent struct {
	Timestamp *float64        `json:"timestamp"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	at        int64           // its timestamp, in ticks
}

// readAnswer reads the answer to a request of an instant, both in ticks. Times are rounded to
// ticks. The events must be in the order of time, from the request's instant to the answer's.
func (c clock) readAnswer(text []byte, asked int64) (now int64, events []answerEvent, err error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return 0, nil, fmt.Errorf("its answer isn't as the protocol has it: %s can't be a %s", wrong.Field, wrong.Value)
		}
		return 0, nil, fmt.Errorf("its answer is no JSON object: %.60q", text)
	}
	if a.Now == nil || a.Events == nil {
		return 0, nil, fmt.Errorf("its answer has no now or no events: %.60q", text)
	}
	now, err = c.ticks(*a.Now)
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("now of its answer %w", err)
	case now < asked:
		return 0, nil, fmt.Errorf("now of its answer is %v s, before that of the request", *a.Now)
	}
	last := asked
	for i := range a.Events {
		e := &a.Events[i]
		if e.Timestamp == nil || e.Type == "" {
			return 0, nil, fmt.Errorf("event %d of its answer has no timestamp or no type", i+1)
		}
		at, err := c.ticks(*e.Timestamp)
		switch {
		case err != nil:
			return 0, nil, fmt.Errorf("the timestamp of %s %w", e.Type, err)
		case at < asked:
			return 0, nil, fmt.Errorf("%s has the timestamp %v s, in the past", e.Type, *e.Timestamp)
		case at < last:
			return 0, nil, fmt.Errorf("%s has the timestamp %v s, before that of the event before it", e.Type, *e.Timestamp)
		case at > now:
			return 0, nil, fmt.Errorf("%s has the timestamp %v s, after the answer's now, %v s", e.Type, *e.Timestamp, *a.Now)
		}
		last, e.at = at, at
	}
	return now, a.Events, nil
}

// clock turns ticks into the seconds of messages.
type clock struct {
	perSecond float64 // ticks, a power of 10
	last      float64 // the last second that is read
}

// microseconds is the clock of the problems with ticks of a microsecond.
var microseconds = clock{1e6, 1e10}

// ticks returns seconds in ticks.
func (c clock) ticks(seconds float64) (int64, error) {
	if !(seconds >= 0 && seconds <= c.last) {
		return 0, fmt.Errorf("is %v s, must be from 0 to %.4g", seconds, c.last)
	}
	t := int64(math.Round(seconds * c.perSecond))
	for _, near := range [...]int64{t, t - 1, t + 1} { // the product of large numbers is rounded
		if c.seconds(near) == seconds {
			return near, nil
		}
	}
	return t, nil
}

// seconds returns ticks in seconds.
func (c clock) seconds(ticks int64) float64 { return float64(ticks) / c.perSecond }

// read reads the data of an event.
func read[T any](e *answerEvent) (T, error) {
	var data T
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return data, fmt.Errorf("its data aren't as the protocol has them: %.60q", e.Data)
	}
	return data, nil
}

// call reads when CALL_ME_LATER asks for a call.
func (c clock) call(e *answerEvent) (int64, error) {
	d, err := read[struct {
		Timestamp float64 `json:"timestamp"`
	}](e)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", e.Type, err)
	}
	at, err := c.ticks(d.Timestamp)
	if err != nil {
		return 0, fmt.Errorf("the timestamp of %s %w", e.Type, err)
	}
	return at, nil
}

// listed lists words: "a, b and c".
func listed[T ~string](all []T) (text string) {
	for i, x := range all {
		switch {
		case i > 0 && i == len(all)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += string(x)
	}
	return text
}

// requestName is the data of an event that names a request and no more.
type requestName struct {
	RequestID string `json:"request_id"`
}

func (d requestName) name() string { return fmt.Sprintf("%.60q", d.RequestID) }
