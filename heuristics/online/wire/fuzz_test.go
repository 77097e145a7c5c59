// SPDX-License-Identifier: MIT

package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// No answer makes our side panic, or decide what isn't in it.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"now":1,"events":[{"timestamp":1,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"0-2 5"}}]}`))
	f.Add([]byte(`{"now":2.5,"events":[{"timestamp":1.5,"type":"KILL_JOB","data":{"job_ids":["w0!1"]}},{"timestamp":2,"type":"CALL_ME_LATER","data":{"timestamp":7}}]}`))
	f.Add([]byte(`{"now":1,"events":[{"timestamp":1,"type":"REJECT_JOB","data":{"job_id":"w0!2"}},{"timestamp":1,"type":"NOTIFY","data":{}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		x := &session{clock: microseconds, noun: "job", items: map[string]int32{jobName(0): 0, jobName(1): 1}}
		p := &policy[online.BatchPlatform, online.BatchEvent, online.BatchDecision]{session: x,
			dialect: &batchDialect{session: x, processors: 6, jobs: make([]jobState, 2)},
			offers:  []offer{{executeJob, online.Start}, {rejectJob, online.Reject}, {killJob, online.Kill}, {notify, ""}}}
		now, events, err := microseconds.readAnswer(text, 1e6)
		if err == nil && now < 1e6 {
			t.Errorf("now is %d", now)
		}
		for i := range events {
			p.all = nil
			if err = p.read(&events[i]); err != nil {
				break
			}
			for _, d := range p.all {
				if d.Type != online.CallAt && (d.Job < 0 || d.Job > 1) {
					t.Errorf("%+v", d)
				}
				for _, x := range d.Processors {
					if x < 0 || x > 5 {
						t.Errorf("%+v", d)
					}
				}
			}
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q", err)
		}
	})
}

// No answers of a policy of requests or of two tiers make our side panic. The judge accepts all their decisions, or
// there is no solution.
func FuzzRequestAnswers(f *testing.F) {
	for _, c := range sessions {
		f.Add(strings.Join(c.answers, "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, in := range []model.Instance{window(), clusters(false), clusters(true), tiers()} {
			s := &solver{name: "online:player", open: func(context.Context, model.Settings, time.Duration) (line, error) {
				return byHeart(strings.Split(text, "\n")...), nil
			}}
			r, err := s.Solve(t.Context(), in, model.Settings{})
			if errors.Is(err, model.ErrUnsupported) { // it asks for a time that is too late
				continue
			}
			if err != nil || strings.Contains(r.Reason, "\n") {
				t.Fatalf("%q, %v", r.Reason, err)
			}
			if r.Solution == nil {
				continue
			}
			require.Feasible(verify.Verify(t.Context(), in, r.Solution, verify.Options{}))(t)
		}
	})
}

// No bytes of a peer make it panic, or take more room than they do.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(rep + frames(empty)))
	f.Add([]byte("\x02\x00\x00\x00\x00\x03\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &socket{in: bufio.NewReader(bytes.NewReader(text))}
		for {
			_, body, err := s.frame()
			if err != nil {
				return
			}
			if len(body) > len(text) {
				t.Errorf("%d bytes of %d", len(body), len(text))
			}
			property(body, "Socket-Type")
		}
	})
}
