// SPDX-License-Identifier: MIT

package serve

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gapwise/gapwise/model"
)

// plainText is a text.
type plainText struct{}

// steps are the upper ends of the classes of the times of solves, in seconds.
var steps = []float64{0.01, 0.1, 1, 10, 60}

// figures are the figures of GET /metrics. The text format is written here: it is a name, labels and a number a line,
// and prometheus/client_golang brings eight modules for it.
type figures struct {
	running atomic.Int64

	mu       sync.Mutex
	requests map[[2]string]int64 // by pattern and code
	solves   map[[2]string]int64 // by kind and status
	times    []int64             // by class, the last is beyond all
	total    float64             // in seconds
}

func newFigures() *figures {
	return &figures{requests: map[[2]string]int64{}, solves: map[[2]string]int64{}, times: make([]int64, len(steps)+1)}
}

// request counts a response. Patterns are few, whatever is asked for.
func (f *figures) request(pattern string, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[[2]string{pattern, fmt.Sprint(code)}]++
}

// solved counts a solve.
func (f *figures) solved(kind model.Kind, status model.Status, err error, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		status = "error"
	}
	f.solves[[2]string{string(kind), string(status)}]++
	f.total += took.Seconds()
	k, _ := slices.BinarySearch(steps, took.Seconds())
	f.times[k]++
}

// metrics answers GET /metrics.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", []byte(s.figures.text(s.gate)))
}

// text returns the figures in Prometheus' text format.
func (f *figures) text(g *gate) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	head := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	counters := func(name, help string, labels [2]string, all map[[2]string]int64) {
		head(name, "counter", help)
		for _, key := range slices.SortedFunc(maps.Keys(all), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) }) {
			fmt.Fprintf(&b, "%s{%s=%q,%s=%q} %d\n", name, labels[0], key[0], labels[1], key[1], all[key])
		}
	}
	gauge := func(name, help string, value int64) {
		head(name, "gauge", help)
		fmt.Fprintf(&b, "%s %d\n", name, value)
	}
	counters("gapwise_requests_total", "Responses by route and status code.", [2]string{"route", "code"}, f.requests)
	counters("gapwise_solves_total", "Solves that have ended, by kind and status.", [2]string{"kind", "status"}, f.solves)
	head("gapwise_solve_seconds", "histogram", "Times of solves, waiting aside.")
	sum := int64(0)
	for k, n := range f.times {
		sum += n
		if k < len(steps) {
			fmt.Fprintf(&b, "gapwise_solve_seconds_bucket{le=\"%g\"} %d\n", steps[k], sum)
		}
	}
	fmt.Fprintf(&b, "gapwise_solve_seconds_bucket{le=\"+Inf\"} %d\ngapwise_solve_seconds_sum %g\ngapwise_solve_seconds_count %d\n", sum, f.total, sum)
	gauge("gapwise_running", "Requests at work.", f.running.Load())
	gauge("gapwise_inside", "Requests at work or waiting.", g.inside.Load())
	gauge("gapwise_held_bytes", "Bodies and items of the requests inside.", g.weight.Load())
	gauge("gapwise_live_bytes", "Bytes alive when the heap was collected last.", sample(liveBytes))
	gauge("gapwise_memory_bytes", "Bytes that the Go runtime has from the system.", sample("/memory/classes/total:bytes"))
	gauge("gapwise_goroutines", "Goroutines.", int64(runtime.NumGoroutine()))
	return b.String()
}

// health answers GET /healthz.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	status, text := http.StatusOK, "ok\n"
	if s.draining.Load() {
		status, text = http.StatusServiceUnavailable, "ending\n"
	}
	writeText(w, status, "text/plain; charset=utf-8", []byte(text))
}
