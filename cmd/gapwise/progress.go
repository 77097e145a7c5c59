// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/gapwise/gapwise/model"
)

// heartbeat is the longest time without a line of a solver's log.
const heartbeat = 10 * time.Second

// solverLog prints a solver's progress in the columns of HiGHS's log, a line
// for each news and otherwise one every few seconds.
type solverLog struct {
	w     io.Writer
	nodes string  // heads the column of the search's nodes; "": Nodes
	per   float64 // so many of an objective are one of the unit that is shown; 0: one
	mu    sync.Mutex
	last  model.Progress
	held  *model.Progress // news too soon after the last line
	shown time.Duration
	began bool
}

func (l *solverLog) progress(p model.Progress) {
	if p.Done { // the summary shows it
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	news := p.Incumbent != l.last.Incumbent && !(math.IsNaN(p.Incumbent) && math.IsNaN(l.last.Incumbent)) || p.Bound != l.last.Bound
	wait := 100 * time.Millisecond
	if !news {
		wait = 5 * time.Second
	}
	if l.began && p.Elapsed-l.shown < wait {
		if news {
			l.held = &p
		}
		return
	}
	l.line(p)
}

func (l *solverLog) line(p model.Progress) {
	if !l.began {
		fmt.Fprintf(l.w, "%14s  %14s %14s %9s %9s\n", cmp.Or(l.nodes, "Nodes"), "BestBound", "BestSol", "Gap", "Time")
	}
	l.began, l.last, l.shown, l.held = true, p, p.Elapsed, nil
	fmt.Fprintf(l.w, "%14d  %14s %14s %9s %8.1fs\n", p.Nodes, figure(p.Bound/cmp.Or(l.per, 1)), figure(p.Incumbent/cmp.Or(l.per, 1)), percent(model.Gap(p.Incumbent, p.Bound)), p.Elapsed.Seconds())
}

// beat prints news that came too soon after a line. It repeats the last line, with the time since the start, if the
// solver has been silent for so long. It ends when the returned function is called.
func (l *solverLog) beat(start time.Time) (stop func()) {
	ticks, done, ended := time.NewTicker(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case now := <-ticks.C:
				l.tick(now.Sub(start))
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticks.Stop()
		close(done)
		<-ended
	}
}

func (l *solverLog) tick(elapsed time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		l.line(*l.held)
		return
	}
	if elapsed-l.shown < heartbeat {
		return
	}
	p := l.last
	if !l.began {
		p = model.Progress{Incumbent: math.NaN(), Bound: math.NaN()}
	}
	p.Elapsed = elapsed
	l.line(p)
}

// afterAWhile prints on a terminal what takes so long, unless the returned function is called within a second.
func (p *program) afterAWhile(what string) func() {
	if !isTerminal(p.progress()) {
		return func() {}
	}
	t := time.AfterFunc(time.Second, func() { fmt.Fprintln(p.err, what) })
	return func() { t.Stop() }
}
