// SPDX-License-Identifier: MIT

package online_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// wild decides at random what can be decided: starts on the lowest processors or on some,
// at once or later, kills, calls and pauses.
type wild struct {
	rng              *rand.Rand
	named, busy      bool
	now              int64
	free             []int32
	count            int32 // free processors
	waiting, running []*online.BatchJob
	starts           map[int32]int64
	kills, calls     int
}

func (p *wild) Begin(platform online.BatchPlatform) error {
	p.count, p.starts = int32(platform.Processors), map[int32]int64{}
	for i := range p.count {
		p.free = append(p.free, i)
	}
	return nil
}

func (p *wild) Event(e online.BatchEvent) error {
	p.now = max(p.now, e.At)
	switch e.Type {
	case online.Submitted:
		p.waiting = append(p.waiting, e.Job)
	case online.Ended, online.Killed:
		p.running = slices.DeleteFunc(p.running, func(j *online.BatchJob) bool { return j == e.Job })
		p.free, p.count = append(p.free, e.Processors...), p.count+e.Job.Processes
		if e.Type == online.Killed {
			p.waiting = append(p.waiting, e.Job)
		}
	}
	return nil
}

func (p *wild) Decide() (all []online.BatchDecision, err error) {
	p.calls++
	patient := p.calls < 100
	rest := p.waiting[:0]
	for _, j := range p.waiting {
		if j.Processes > p.count || patient && p.rng.IntN(3) == 0 {
			rest = append(rest, j)
			continue
		}
		d := online.BatchDecision{Type: online.Start, Job: j.Number}
		p.starts[j.Number] = p.now
		if p.rng.IntN(5) == 0 {
			d.At = p.now + p.rng.Int64N(5)*second
			p.starts[j.Number] = d.At
		}
		if p.count -= j.Processes; p.named {
			p.rng.Shuffle(len(p.free), func(a, b int) { p.free[a], p.free[b] = p.free[b], p.free[a] })
			d.Processors, p.free = slices.Clone(p.free[:j.Processes]), p.free[j.Processes:]
		}
		all, p.running = append(all, d), append(p.running, j)
	}
	p.waiting = rest
	if j := slices.IndexFunc(p.running, func(j *online.BatchJob) bool { return p.starts[j.Number] < p.now }); j >= 0 && p.kills < 3 && p.rng.IntN(4) == 0 {
		p.kills++
		all = append(all, online.BatchDecision{Type: online.Kill, Job: p.running[j].Number})
	}
	if p.busy && patient && p.rng.IntN(4) == 0 {
		p.now += 1 + p.rng.Int64N(6*second)
		return append(all, online.BatchDecision{Type: online.CallAt, At: p.now}, online.BatchDecision{Type: online.Busy, At: p.now}), nil
	}
	if len(p.waiting) > 0 && patient {
		all = append(all, online.BatchDecision{Type: online.CallAt, At: p.now + 1 + p.rng.Int64N(3*second)})
	}
	return all, nil
}

// The judge accepts the transcripts of random policies, and no transcript or solution with
// a planted fault.
func TestTranscript(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 2))
	f := newFaultTest(t, rng, "batch", "start", "kill")
	f.own = map[string]func(rng *rand.Rand, all []turn, s model.Solution) bool{
		"told with another time": func(rng *rand.Rand, all []turn, _ model.Solution) bool {
			k, i, ok := pick(rng, all, toldOf, func(k int, x map[string]any) bool { return all[k].AtS > 0 && x["at_s"] == nil })
			if ok {
				all[k].Told[i]["at_s"] = all[k].AtS / 2
			}
			return ok
		},
		"decided a turn earlier": func(rng *rand.Rand, all []turn, _ model.Solution) bool {
			k, i, ok := pick(rng, all, decidedOf, func(k int, x map[string]any) bool {
				return k > 0 && is(x, "start") && x["at_s"] == nil && all[k-1].AtS < all[k].AtS
			})
			if ok {
				all[k-1].Decided = append(all[k-1].Decided, all[k].Decided[i])
				all[k].Decided = slices.Delete(all[k].Decided, i, i+1)
			}
			return ok
		},
		"decided before it is told of, to start in time": func(rng *rand.Rand, all []turn, _ model.Solution) bool {
			k, i, ok := pick(rng, all, decidedOf, func(k int, x map[string]any) bool {
				return k > 0 && is(x, "start") && slices.ContainsFunc(all[k].Told, func(e map[string]any) bool { return is(e, "submitted") && e["job"] == x["job"] })
			})
			if ok {
				d := all[k].Decided[i]
				if d["at_s"] == nil {
					d["at_s"] = all[k].AtS
				}
				all[k-1].Decided = append(all[k-1].Decided, d)
				all[k].Decided = slices.Delete(all[k].Decided, i, i+1)
			}
			return ok
		},
		"on other processors": func(rng *rand.Rand, all []turn, _ model.Solution) bool {
			k, i, ok := pick(rng, all, decidedOf, func(_ int, x map[string]any) bool { return x["processors"] != nil })
			if ok {
				if x := all[k].Decided[i]; x["processors"] == "0" {
					x["processors"] = "1"
				} else {
					x["processors"] = "0"
				}
			}
			return ok
		},
		"another solution": func(rng *rand.Rand, _ []turn, s model.Solution) bool {
			e := s.(*model.Execution)
			x := e.Runs[rng.IntN(len(e.Runs))].Segments
			x[0].StartS += 0.5
			x[len(x)-1].EndS += 0.5
			return true
		},
	}
	for range need.Rounds(200) {
		in := testkit.RandomBatch(rng, 1+rng.IntN(2), 6, 1+rng.IntN(10))
		p := &wild{rng: rng, named: rng.IntN(2) == 0}
		o := online.BatchOptions{Order: []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderPyss}[rng.IntN(2)]}
		p.busy = o.Order == model.BatchOrderBatch && rng.IntN(2) == 0
		var text bytes.Buffer
		o.Transcript = &text
		e, err := online.Batch(t.Context(), in, p, o)
		if err != nil {
			t.Fatal(err)
		}
		f.check(t, in, e, text.String())
	}
	f.done(t)
	for _, name := range []string{"told_early", "told_late", "told_wrong", "untold", "impossible_decision", "undecided"} {
		if f.seen[name] == 0 {
			t.Errorf("no fault is %q: %v", name, f.seen)
		}
	}
}

// What can't be read as a transcript is one line, and one of another instance a violation.
func TestTranscriptRefused(t *testing.T) {
	t.Parallel()
	in := platform()
	var text bytes.Buffer
	e, err := online.Batch(t.Context(), in, &narrowest{}, online.BatchOptions{Transcript: &text})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"another instance": {"sha256:", "sha256:0", "wrong_instance"},
		"another kind":     {`"kind":"batch"`, `"kind":"dag"`, "line 1: it is no header"},
		"a runtime":        {`"submitted","job":"a"`, `"submitted","job":"a","runtime_s":10`, `line 2: json: unknown field "runtime_s"`},
		"no job":           {`"submitted","job":"a"`, `"submitted","job":"z"`, `line 2: there is no job "z"`},
		"no event":         {`"submitted"`, `"guessed"`, `line 2: an event is "guessed"`},
		"no decision":      {`"start"`, `"begin"`, `line 2: a decision is "begin"`},
		"back in time":     {`"at_s":20,`, `"at_s":2,`, "after one of"},
		"no time":          {`"at_s":20,`, `"at_s":-2,`, "must be from 0"},
		"cut off":          {`"ended","job":"c"}]}`, `"ended"`, "unexpected EOF"},
	} {
		forged := strings.Replace(text.String(), c.from, c.to, 1)
		if name == "cut off" {
			forged = strings.TrimSpace(forged)
		}
		r, err := verify.Verify(t.Context(), in, e, verify.Options{Transcript: strings.NewReader(forged)})
		if got := fmt.Sprint(err, r.Violations); !strings.Contains(got, c.want) || r.Online {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
