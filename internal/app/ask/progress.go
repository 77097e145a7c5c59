// SPDX-License-Identifier: MIT

package ask

import (
	"sync"
	"time"

	"github.com/gapwise/gapwise/model"
)

// Progress is the state of a solve: the solver's figures, of which the judge has seen nothing yet.
type Progress struct {
	Algorithm string   `json:"algorithm"`
	Objective *float64 `json:"objective" about:"of the best solution so far"`
	Bound     *float64 `json:"bound" about:"no solution is better"`
	Gap       *float64 `json:"gap"`
	Nodes     int64    `json:"nodes"`
	ElapsedS  float64  `json:"elapsed_s"`
}

// Solve keeps a solver's reports, and signals news.
type Solve struct {
	News chan struct{} // holds one value if there was a report since the last look

	mu      sync.Mutex
	sense   model.Sense
	started time.Time
	p       Progress
}

// Watch returns a Solve of an instance that starts now.
func Watch(in model.Instance) *Solve {
	return &Solve{News: make(chan struct{}, 1), sense: model.SenseOf(in), started: time.Now()}
}

// Hear takes a solver's report. It never waits for the reader.
func (x *Solve) Hear(p model.Progress) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if o := Number(p.Incumbent); o != nil && (x.p.Objective == nil || x.sense.Better(*o, *x.p.Objective)) {
		x.p.Objective = o
	}
	if b := Number(p.Bound); b != nil && (x.p.Bound == nil || x.sense.Better(*x.p.Bound, *b)) {
		x.p.Bound = b
	}
	if x.p.Objective != nil && x.p.Bound != nil {
		x.p.Gap = Number(model.Gap(*x.p.Objective, *x.p.Bound))
	}
	x.p.Algorithm, x.p.Nodes = p.Algorithm, p.Nodes
	select {
	case x.News <- struct{}{}:
	default:
	}
}

// Look returns the state of the solve.
func (x *Solve) Look() Progress {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.p
	p.ElapsedS = time.Since(x.started).Seconds()
	return p
}

// Tell calls say with news, at most once in a while, until the returned function is called, which reports the last
// ones.
func (x *Solve) Tell(while time.Duration, say func(Progress)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(while)
		defer tick.Stop()
		for open := true; open; {
			select {
			case <-tick.C:
			case <-done:
				open = false
			}
			select {
			case <-x.News:
				say(x.Look())
			default:
			}
		}
	}()
	return func() { close(done); <-ended }
}
