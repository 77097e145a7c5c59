// SPDX-License-Identifier: MIT

package online_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

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

// line is a line of a transcript as the tests change it.
type line struct {
	AtS     float64 `json:"at_s"`
	Told    []entry `json:"told,omitempty"`
	Decided []entry `json:"decided,omitempty"`
}

type entry struct {
	Type       string   `json:"type"`
	Job        string   `json:"job,omitempty"`
	AtS        *float64 `json:"at_s,omitempty"`
	Processors string   `json:"processors,omitempty"`
}

// faults plant something in a transcript that a policy can't have been told, or can't have
// decided. Each reports whether it found a place for it.
var faults = map[string]func(rng *rand.Rand, all []line, e *model.Execution) bool{
	"told a turn earlier": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(k int, t *line) bool {
			return k > 0 && len(t.Told) > 0 && t.Told[0].Type != "called" && all[k-1].AtS < t.AtS
		})
		if k < 0 {
			return false
		}
		all[k-1].Told, all[k].Told = append(all[k-1].Told, all[k].Told[0]), all[k].Told[1:]
		return true
	},
	"told a turn later": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(k int, t *line) bool { return k+1 < len(all) && len(t.Told) > 0 && all[k+1].AtS > t.AtS })
		if k < 0 {
			return false
		}
		all[k+1].Told, all[k].Told = append([]entry{all[k].Told[0]}, all[k+1].Told...), all[k].Told[1:]
		return true
	},
	"told with another time": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(_ int, t *line) bool { return len(t.Told) > 0 && t.AtS > 0 && t.Told[0].AtS == nil })
		if k < 0 {
			return false
		}
		at := all[k].AtS / 2
		all[k].Told[0].AtS = &at
		return true
	},
	"not told": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(_ int, t *line) bool { return len(t.Told) > 0 && t.Told[0].Type != "called" })
		if k < 0 {
			return false
		}
		all[k].Told = all[k].Told[1:]
		return true
	},
	"told twice": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(_ int, t *line) bool { return len(t.Told) > 0 })
		if k < 0 {
			return false
		}
		all[k].Told = append(all[k].Told, all[k].Told[0])
		return true
	},
	"decided a turn earlier": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(k int, t *line) bool {
			return k > 0 && len(t.Decided) > 0 && t.Decided[0].Type == "start" && t.Decided[0].AtS == nil && all[k-1].AtS < t.AtS
		})
		if k < 0 {
			return false
		}
		all[k-1].Decided, all[k].Decided = append(all[k-1].Decided, all[k].Decided[0]), all[k].Decided[1:]
		return true
	},
	"decided before it is told of": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(k int, t *line) bool {
			return k > 0 && slices.ContainsFunc(t.Decided, func(d entry) bool {
				return d.Type == "start" && slices.ContainsFunc(t.Told, func(e entry) bool { return e.Type == "submitted" && e.Job == d.Job })
			})
		})
		if k < 0 {
			return false
		}
		at := slices.IndexFunc(all[k].Decided, func(d entry) bool {
			return d.Type == "start" && slices.ContainsFunc(all[k].Told, func(e entry) bool { return e.Type == "submitted" && e.Job == d.Job })
		})
		d := all[k].Decided[at]
		when := all[k].AtS
		if d.AtS == nil {
			d.AtS = &when // it starts when it did, and is decided on before
		}
		all[k].Decided = slices.Delete(all[k].Decided, at, at+1)
		all[k-1].Decided = append(all[k-1].Decided, d)
		return true
	},
	"not decided": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(_ int, t *line) bool {
			return len(t.Decided) > 0 && (t.Decided[0].Type == "start" || t.Decided[0].Type == "kill")
		})
		if k < 0 {
			return false
		}
		all[k].Decided = all[k].Decided[1:]
		return true
	},
	"on other processors": func(rng *rand.Rand, all []line, _ *model.Execution) bool {
		k := turnWith(rng, all, func(_ int, t *line) bool { return len(t.Decided) > 0 && t.Decided[0].Processors != "" })
		if k < 0 {
			return false
		}
		d := &all[k].Decided[0]
		if d.Processors == "0" {
			d.Processors = "1"
		} else {
			d.Processors = "0"
		}
		return true
	},
	"another solution": func(rng *rand.Rand, _ []line, e *model.Execution) bool {
		s := e.Runs[rng.IntN(len(e.Runs))].Segments
		s[0].StartS += 0.5
		s[len(s)-1].EndS += 0.5
		return true
	},
}

// turnWith returns a random turn of a sort; -1: there is none.
func turnWith(rng *rand.Rand, all []line, is func(int, *line) bool) int {
	var found []int
	for k := range all {
		if is(k, &all[k]) {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return -1
	}
	return found[rng.IntN(len(found))]
}

// The judge accepts the transcripts of random policies, and no transcript or solution with
// a planted fault.
func TestTranscript(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("../../docs/reference/schema/batch-transcript.json")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(27, 2))
	planted, seen := map[string]int{}, map[string]int{}
	for round := range need.Rounds(400) {
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
		r, err := verify.Verify(t.Context(), in, e, verify.Options{Transcript: bytes.NewReader(text.Bytes())})
		if err != nil || !r.Feasible() || !r.Online {
			t.Fatalf("round %d: %v, %v\n%s\n%+v", round, err, r, text.String(), in)
		}
		lines := strings.SplitAfter(strings.TrimSpace(text.String()), "\n")
		for _, l := range lines {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(l))
			if err == nil && round < 50 {
				err = schema.Validate(doc)
			}
			if err != nil {
				t.Fatalf("%v: %s", err, l)
			}
		}
		for name, plant := range faults {
			var all []line
			for _, l := range lines[1:] {
				var turn line
				if err := json.Unmarshal([]byte(l), &turn); err != nil {
					t.Fatal(err)
				}
				all = append(all, turn)
			}
			other := *e
			other.Runs = slices.Clone(e.Runs)
			for k := range other.Runs {
				other.Runs[k].Segments = slices.Clone(e.Runs[k].Segments)
			}
			if !plant(rng, all, &other) {
				continue
			}
			planted[name]++
			forged := bytes.NewBufferString(lines[0])
			for k := range all {
				if err := json.NewEncoder(forged).Encode(all[k]); err != nil {
					t.Fatal(err)
				}
			}
			r, err := verify.Verify(t.Context(), in, &other, verify.Options{Transcript: bytes.NewReader(forged.Bytes())})
			if err != nil || r.Online || r.Feasible() {
				t.Fatalf("%s, round %d: %v, %v\n%s\ninstead of\n%s\n%+v", name, round, err, r, forged, text.String(), in)
			}
			for _, v := range r.Violations {
				seen[v.Constraint]++
			}
		}
	}
	for name := range faults {
		if planted[name] == 0 {
			t.Errorf("no place was found for %q", name)
		}
	}
	for _, name := range []string{"told_early", "told_late", "told_wrong", "untold", "impossible_decision", "undecided"} {
		if seen[name] == 0 {
			t.Errorf("no fault is %q: %v", name, seen)
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
