// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
)

// benchLog prints a plan's progress if there is no terminal to draw a bar on: a line after the first run, one after
// each interval in which runs ended, and one after the last.
type benchLog struct {
	w           io.Writer
	name        string
	interval    time.Duration
	total, done int
	ran         int // of done, since the start
	start       time.Time
	shown       time.Time
}

func (l *benchLog) started(total, done int, now time.Time) {
	l.total, l.done, l.start = total, done, now
}

func (l *benchLog) ended(r runs.Record, now time.Time) {
	l.done++
	if l.ran++; l.ran > 1 && l.done < l.total && now.Sub(l.shown) < l.interval {
		return
	}
	l.shown = now
	passed := now.Sub(l.start)
	left := ""
	if rest := l.total - l.done; rest > 0 {
		left = fmt.Sprintf(", about %v left", (passed / time.Duration(l.ran) * time.Duration(rest)).Round(time.Second))
	}
	size := func(s string) int { return len([]rune(s)) }
	middle := fmt.Sprintf(": %d of %d runs after %v, %.3g runs/s%s; last ", l.done, l.total, passed.Round(time.Second), float64(l.ran)/max(passed.Seconds(), 1e-3), left)
	end := fmt.Sprintf(": %s", r.Status)
	if r.Seed != 1 {
		end = fmt.Sprintf(", seed %d%s", r.Seed, end)
	}
	// All fits into 80 columns: the plan, then the last runs, each with some letters.
	room := 80 - size(middle) - size(end) - size(" on ")
	name := words.Shorten(l.name, max(6, room-20))
	room = max(10, room-size(name))
	algorithm := words.Shorten(r.Algorithm, max(room/2, room-size(r.Instance)))
	fmt.Fprintf(l.w, "%s%s%s on %s%s\n", name, middle, algorithm, words.Shorten(r.Instance, room-size(algorithm)), end)
}
