// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
)

// dialect is the messages of a problem with platforms P, events E and decisions D.
type dialect[P, E, D any] interface {
	// begins returns the platform as data of SIMULATION_BEGINS.
	begins(P) any
	// report adds an event of the simulation to those of the session.
	report(E)
	// decision makes a decision of a type, about an item or with a time.
	decision(what online.DecisionType, item int32, at int64) D
	// more reads the rest of a decision about an item.
	more(*D, int32, *answerEvent) error
}

// offer is a type of events that an answer may hold, and the type of the decision; "": nothing depends on it.
type offer struct {
	what string
	is   online.DecisionType
}

// policy is a scheduler at the other end of a session. It implements online.Policy.
type policy[P, E, D any] struct {
	*session
	dialect[P, E, D]
	offers []offer
	busy   bool // it may take time to decide
	all    []D
}

// Begin implements online.Policy.
func (p *policy[P, E, D]) Begin(platform P) error { return p.begin(p.begins(platform)) }

// Event implements online.Policy.
func (p *policy[P, E, D]) Event(e E) error {
	p.report(e)
	return nil
}

// Decide implements online.Policy. If there is nothing to report it doesn't ask.
func (p *policy[P, E, D]) Decide() (all []D, err error) {
	if len(p.pending) == 0 {
		return nil, nil
	}
	until, events, err := p.ask(p.now)
	p.all = p.all[:0]
	for i := 0; i < len(events) && err == nil; i++ {
		err = p.read(&events[i])
	}
	switch {
	case err != nil || until <= p.now:
	case p.busy:
		p.all = append(p.all, p.decision(online.Busy, 0, until))
		p.now = until
	default:
		err = fmt.Errorf("now of its answer is %v s, after that of the request: it decides at once, and is asked again "+
			"when something happens or by %s", p.clock.seconds(until), callMeLater)
	}
	return p.all, p.fail(err)
}

// read adds what an event of an answer decides.
func (p *policy[P, E, D]) read(e *answerEvent) error {
	if e.Type == callMeLater {
		at, err := p.clock.call(e)
		p.all = append(p.all, p.decision(online.CallAt, 0, at-p.shift))
		return err
	}
	var types []string
	for _, o := range p.offers {
		switch {
		case o.what == e.Type && o.is == "":
			return nil
		case o.what == e.Type:
			return p.take(o, e)
		case o.is != "":
			types = append(types, o.what)
		}
	}
	return fmt.Errorf("%.60q isn't offered here; an answer may hold %s", e.Type, listed(append(types, callMeLater)))
}

// take adds a decision about an item, or about each of several.
func (p *policy[P, E, D]) take(o offer, e *answerEvent) error {
	d, err := read[struct {
		JobID     string   `json:"job_id"`
		RequestID string   `json:"request_id"`
		JobIDs    []string `json:"job_ids"`
	}](e)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Type, err)
	}
	names := d.JobIDs
	if e.Type != killJob {
		names = []string{d.JobID + d.RequestID}
	}
	for _, name := range names {
		k, ok := p.items[name]
		if !ok {
			return fmt.Errorf("%s of %.60q: no such %s has been submitted", e.Type, name, p.noun)
		}
		x := p.decision(o.is, k, 0)
		if err := p.more(&x, k, e); err != nil {
			return fmt.Errorf("%s of %.60q: %w", e.Type, name, err)
		}
		if o.is == online.Reject {
			p.over++
		}
		p.all = append(p.all, x)
	}
	return nil
}
