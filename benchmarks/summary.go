// SPDX-License-Identifier: MIT

package benchmarks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// Summary reports, for other programs, what one start of a plan did and the runs that existed then. Its JSON is
// described by docs/reference/schema/bench-summary.json. Unknown figures are absent.
type Summary struct {
	Plan       string `json:"plan"`
	PlanDigest string `json:"plan_digest"` // as of runs.Record
	Shard      string `json:"shard,omitempty"`
	Runs       int    `json:"runs"` // of the shard, without one of the plan
	Done       int    `json:"done"` // of them, those of earlier starts included
	Ran        int    `json:"ran"`  // by this start
	// Unread counts the files of the plan's folders that can't be read, and were left out.
	Unread int `json:"unread,omitempty"`
	// Stopped says that a signal ended the start, Error what else did.
	Stopped bool   `json:"stopped"`
	Error   string `json:"error,omitempty"`
	// Statuses counts the runs that are done.
	Statuses map[model.Status]int `json:"statuses"`
	// Failed counts those without a solution, on instances that no run proves
	// infeasible.
	Failed     int             `json:"failed"`
	Algorithms []algorithmSums `json:"algorithms"` // in the plan's order
	Began      time.Time       `json:"began"`
	WallS      float64         `json:"wall_s"`          // of this start
	CPUS       *float64        `json:"cpu_s,omitempty"` // of this start's process and its children
	Workers    int             `json:"workers"`
	Host       string          `json:"host"`
	CPU        string          `json:"cpu"`
	Version    string          `json:"version"`
	Commit     string          `json:"commit,omitempty"`
	Tools      string          `json:"tools"`
	// Failures puts the failed runs in words, with the first reasons (runs.Failures).
	Failures []string `json:"-"`
}

// algorithmSums is the part of a Summary about one algorithm.
type algorithmSums struct {
	Algorithm string               `json:"algorithm"` // the label
	Class     model.Class          `json:"class"`     // online, offline or yardstick
	Options   string               `json:"options,omitempty"`
	Done      int                  `json:"done"`
	Statuses  map[model.Status]int `json:"statuses"`
	Failed    int                  `json:"failed"`
	// GapMean is the mean gap to the best bound that any run in the summary proves, of
	// the runs that have one: 0.01 is 1 %.
	GapMean  *float64 `json:"gap_mean,omitempty"`
	ElapsedS float64  `json:"elapsed_s"` // of all runs together
}

// namedReasons is how many reasons of failed runs are named.
const namedReasons = 3

// summarize completes a summary with the finished runs of its share, and with how the start ended.
func (s *Summary) summarize(algorithms []Algorithm, done []runs.Record, err error) {
	s.WallS = time.Since(s.Began).Seconds()
	done = slices.Clone(done) // in the plan's order, whichever worker was first
	slices.SortStableFunc(done, func(a, b runs.Record) int { return cmp.Compare(a.Run, b.Run) })
	s.Failures = runs.Failures(done, namedReasons)
	s.Done = len(done)
	s.Host, s.CPU = runs.Here().Host, runs.Here().CPU
	s.Version, s.Commit, s.Tools = runs.Built().Version, runs.Built().Commit, runs.Built().Tools()
	s.Stopped = errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if err != nil && !s.Stopped {
		s.Error = err.Error()
	}
	known := runs.Learn(done, nil)
	kinds := []model.Kind{}
	if len(done) == 0 {
		kinds = model.Kinds()
	}
	for i := range done {
		if !slices.Contains(kinds, done[i].Kind) {
			kinds = append(kinds, done[i].Kind)
		}
	}
	s.Statuses, s.Algorithms = map[model.Status]int{}, []algorithmSums{}
	for k := range algorithms {
		a := algorithmSums{Algorithm: algorithms[k].Label, Class: algorithms[k].class(kinds), Options: algorithms[k].settings(), Statuses: map[model.Status]int{}}
		var gaps []float64
		for i := range done {
			if done[i].Algorithm != a.Algorithm {
				continue
			}
			r := runs.Run{Record: &done[i], Known: known[done[i].Hash]}
			a.Done++
			a.Statuses[r.Status]++
			s.Statuses[r.Status]++
			a.ElapsedS += r.ElapsedS
			if r.Failed() {
				a.Failed++
				s.Failed++
			}
			if g := r.Gap(); runs.Optional(g) != nil {
				gaps = append(gaps, g)
			}
		}
		if len(gaps) > 0 {
			slices.Sort(gaps) // the order of the runs doesn't matter to the last digit
			a.GapMean = runs.Optional(stat.Mean(gaps, nil))
		}
		s.Algorithms = append(s.Algorithms, a)
	}
}
