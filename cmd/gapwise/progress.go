package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/gapwise/gapwise/model"
)

// solverLog prints a solver's progress in the columns of HiGHS's log, a line
// for each news and otherwise one every few seconds.
type solverLog struct {
	w     io.Writer
	mu    sync.Mutex
	last  model.Progress
	shown time.Duration
	began bool
}

func (l *solverLog) progress(p model.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	news := p.Incumbent != l.last.Incumbent && !(math.IsNaN(p.Incumbent) && math.IsNaN(l.last.Incumbent)) || p.Bound != l.last.Bound
	wait := 100 * time.Millisecond
	if !news {
		wait = 5 * time.Second
	}
	if l.began && p.Elapsed-l.shown < wait {
		return
	}
	if !l.began {
		fmt.Fprintf(l.w, "%14s  %14s %14s %9s %9s\n", "Nodes", "BestBound", "BestSol", "Gap", "Time")
	}
	l.began, l.last, l.shown = true, p, p.Elapsed
	fmt.Fprintf(l.w, "%14d  %14s %14s %9s %8.1fs\n", p.Nodes, figure(p.Bound), figure(p.Incumbent), percent(model.Gap(p.Incumbent, p.Bound)), p.Elapsed.Seconds())
}

// afterAWhile says on a terminal what takes so long, unless the function that
// it returns is called before a second is over.
func (p *program) afterAWhile(what string) func() {
	if !isTerminal(p.err) {
		return func() {}
	}
	t := time.AfterFunc(time.Second, func() { fmt.Fprintln(p.err, what) })
	return func() { t.Stop() }
}
