// SPDX-License-Identifier: MIT

package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gapwise/gapwise/internal/app/ask"
)

// States of a job.
const (
	waiting   = "waiting"
	running   = "running"
	done      = "done"
	cancelled = "cancelled"
	failed    = "failed"
)

// Job is the state of a job.
type Job struct {
	ID       string          `json:"id"`
	State    string          `json:"state" about:"waiting, running, done, cancelled or failed"`
	Progress ask.Progress    `json:"progress"`
	Result   json.RawMessage `json:"result,omitempty" schema:"result" about:"of a job that is done or was cancelled while it ran"`
	Error    *Failure        `json:"error,omitempty" about:"of a job that failed"`
}

// job is a solve in the background.
type job struct {
	*ask.Solve
	cancel  context.CancelFunc
	stopped bool // by a client
	ended   time.Time
	awaited bool // the service waits for somebody to fetch it before it ends
	Job
}

// jobs keeps the jobs by their ids, those that have ended for some time.
type jobs struct {
	mu         sync.Mutex
	all        map[string]*job
	past       []*job // that have ended, oldest first
	most       int
	keep       time.Duration
	size, room int64 // of the results kept, in bytes
}

func newJobs(most int, keep time.Duration, room int64) *jobs {
	return &jobs{all: map[string]*job{}, most: most, keep: keep, room: room}
}

// add makes a job of a random id, which can't be guessed.
func (all *jobs) add(x *ask.Solve, cancel context.CancelFunc) *job {
	j := &job{Solve: x, cancel: cancel, Job: Job{ID: strings.ToLower(rand.Text()), State: waiting}}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all[j.ID] = j
	return j
}

// set changes the state of a job.
func (all *jobs) set(j *job, state string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	j.State = state
}

// end keeps how a job ended, and forgets jobs that are too old or too many.
func (all *jobs) end(j *job, result []byte, f *Failure) {
	all.mu.Lock()
	defer all.mu.Unlock()
	j.Result, j.Error, j.ended = result, f, time.Now()
	j.Progress = j.Look()
	switch {
	case j.stopped:
		j.State, j.Error = cancelled, nil
	case f != nil:
		j.State = failed
	default:
		j.State = done
	}
	all.past, all.size = append(all.past, j), all.size+int64(len(result))
	all.tidy()
}

// tidy forgets jobs that have ended: those that are too old, and the oldest while there are
// too many.
func (all *jobs) tidy() {
	for len(all.past) > 0 {
		if j := all.past[0]; all.all[j.ID] != nil {
			if len(all.past) <= all.most && all.size <= all.room && time.Since(j.ended) < all.keep {
				return
			}
			all.forget(j)
			continue
		}
		all.past = all.past[1:]
	}
}

// forget removes a job that has ended.
func (all *jobs) forget(j *job) {
	delete(all.all, j.ID)
	all.size -= int64(len(j.Result))
	for k := range all.past {
		if all.past[k] == j {
			all.past = append(all.past[:k:k], all.past[k+1:]...)
			return
		}
	}
}

// find returns the state of a job. If stop is set, it is cancelled, or forgotten if it has ended.
func (all *jobs) find(id string, stop bool) (Job, bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.tidy()
	j := all.all[id]
	if j == nil {
		return Job{}, false
	}
	if j.ended.IsZero() {
		if stop {
			j.stopped = true
			j.cancel()
		}
		now := j.Job
		now.Progress = j.Look()
		return now, true
	}
	j.awaited = false
	if stop {
		all.forget(j)
	}
	return j.Job, true
}

// expect has the service wait for the results of the jobs that haven't ended.
func (all *jobs) expect() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, j := range all.all {
		j.awaited = j.ended.IsZero()
	}
}

// expected reports whether a result waits to be fetched.
func (all *jobs) expected() bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, j := range all.all {
		if j.awaited {
			return true
		}
	}
	return false
}

// postJob answers POST /v1/jobs.
func (s *Server) postJob(w http.ResponseWriter, r *http.Request) {
	t, err := s.task(w, r)
	if err != nil {
		s.fail(w, failureOf(err, "body"))
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	j := s.jobs.add(t.Solve, cancel)
	first := j.Job
	go func() {
		defer t.leave()
		defer cancel()
		res, err := s.run(ctx, t, func() { s.jobs.set(j, running) })
		var text []byte
		if err == nil {
			text, err = s.text(res)
		}
		if err != nil {
			s.jobs.end(j, nil, failureOf(err, "instance"))
			return
		}
		s.jobs.end(j, text, nil)
	}()
	w.Header().Set("Location", "/v1/jobs/"+j.ID)
	s.write(w, http.StatusAccepted, first)
}

// getJob answers GET /v1/jobs/{id}.
func (s *Server) getJob(w http.ResponseWriter, r *http.Request) { s.tellJob(w, r, false) }

// deleteJob answers DELETE /v1/jobs/{id}.
func (s *Server) deleteJob(w http.ResponseWriter, r *http.Request) { s.tellJob(w, r, true) }

func (s *Server) tellJob(w http.ResponseWriter, r *http.Request, stop bool) {
	j, ok := s.jobs.find(r.PathValue("id"), stop)
	if !ok {
		s.fail(w, failuref(http.StatusNotFound, "path", "send it again with POST /v1/jobs", "there is no such job; jobs that have ended are kept for %v", s.Keep))
		return
	}
	s.write(w, http.StatusOK, j)
}
