// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// tiers are the decisions of a policy, one call after the other.
func tiers(turns [][]online.TwoTierDecision) *script[online.TwoTierPlatform, online.TwoTierEvent, online.TwoTierDecision] {
	return &script[online.TwoTierPlatform, online.TwoTierEvent, online.TwoTierDecision]{turns: turns, name: func(e online.TwoTierEvent) string {
		id := ""
		if e.Job != nil {
			id = " " + e.Job.ID
		}
		return fmt.Sprintf("%g %s%s", float64(e.At)/second, e.Type, id)
	}}
}

// tiered has two processors of two tiers. The jobs are a of 10 s, and b of 4 s, which does half as much in the
// background where nothing runs above.
func tiered() *model.Batch {
	return &model.Batch{Processors: 2, Tiers: 2, MigrationS: 1, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, Processes: 1, CPU: []float64{0.97}}, {ID: "b", SubmitS: 2, RuntimeS: 4, Processes: 1, BgEfficiency: 0.5, CPU: []float64{0.5}}}}
}

func up(k int32, on ...int32) online.TwoTierDecision {
	return online.TwoTierDecision{Type: online.Start, Job: k, Processors: on}
}

func down(k int32, on ...int32) online.TwoTierDecision {
	return online.TwoTierDecision{Type: online.Start, Job: k, Tier: model.TierBackground, Processors: on}
}

// moving makes a move of a start.
func moving(d online.TwoTierDecision) online.TwoTierDecision {
	d.Type = online.Move
	return d
}

// Impossible decisions are refused in a line, and the runs until then are kept.
func TestTwoTierRefused(t *testing.T) {
	t.Parallel()
	type turns = [][]online.TwoTierDecision
	of := func(k int32, what online.DecisionType) online.TwoTierDecision {
		return online.TwoTierDecision{Type: what, Job: k}
	}
	for name, c := range map[string]struct {
		turns turns
		want  string
	}{
		"not submitted":     {turns{{up(1, 0)}}, `invalid decision at 0 s (call 1): start of job number 1: no such job has been submitted, the policy knows numbers below 1`},
		"twice at once":     {turns{{up(0, 0), up(0, 1)}}, `start of job "a": it gets a place already`},
		"running":           {turns{{up(0, 0)}, {up(0, 1)}}, `start of job "a": it is running, here since 0 s`},
		"moved, waits":      {turns{{moving(up(0, 1))}}, `move of job "a": it isn't running`},
		"ended":             {turns{{up(0, 0)}, {up(1, 1)}, {}, {up(1, 0)}}, `it has ended, or is rejected`},
		"wrong number":      {turns{{up(0, 0, 1)}}, `it has 1 processes, on 2 processors`},
		"no processor":      {turns{{up(0, 2)}}, `there is no processor 2, there are 0 to 1`},
		"busy foreground":   {turns{{up(0, 0)}, {up(1, 0)}}, `start of job "b": the foreground of processor 0 isn't idle`},
		"busy background":   {turns{{down(0, 0)}, {down(1, 0)}}, `start of job "b": the background of processor 0 isn't idle`},
		"too much use":      {turns{{up(0, 0)}, {down(1, 0)}}, `start of job "b": the foreground use of processor 0 is 0.97, must be below 0.96`},
		"no tier":           {turns{{{Type: online.Start, Tier: "cellar", Processors: []int32{0}}}}, `there is no tier "cellar"`},
		"called before":     {turns{{of(0, online.CallAt)}}, `call at 0 s: this isn't later than now`},
		"there is no such":  {turns{{of(0, online.Suspend)}}, `suspend of job "a": there is no such decision`},
		"rejected, running": {turns{{up(0, 0)}, {of(0, online.Reject)}}, `reject of job "a": it is running`},
	} {
		e, err := online.TwoTier(context.Background(), tiered(), tiers(c.turns))
		checkRefused(t, name, err, c.want)
		if e == nil {
			t.Errorf("%s: what ran until then is lost", name)
		}
	}
	in := tiered()
	in.Tiers = 1
	if _, err := online.TwoTier(context.Background(), in, tiers(nil)); !errors.Is(err, model.ErrUnsupported) {
		t.Error(err)
	}
}

// Events come in time, with moves, a migration, a kill, and two jobs that change places.
func TestTwoTierTold(t *testing.T) {
	t.Parallel()
	type turns = [][]online.TwoTierDecision
	call := func(at int64) online.TwoTierDecision {
		return online.TwoTierDecision{Type: online.CallAt, At: at * second}
	}
	for name, c := range map[string]struct {
		turns turns
		told  string
		runs  string
		err   string
	}{
		"in the background": {turns: turns{{up(0, 0)}, {down(1, 1)}}, told: "0 submitted a, ?, 2 submitted b, ?, 10 ended a, 10 ended b, ?", runs: "a 0-10, b 2-10"},
		"changes tier":      {turns: turns{{up(0, 0)}, {down(1, 1), call(4)}, {moving(up(1, 1))}}, told: "0 submitted a, ?, 2 submitted b, ?, 4 called, ?, 7 ended b, ?, 10 ended a, ?", runs: "a 0-10, b 2-4 4-7"},
		"migrates": {turns: turns{{up(0, 0), call(1)}, {moving(up(0, 1))}, {up(1, 0)}}, told: "0 submitted a, ?, 1 called, ?, 2 submitted b, ?, 6 ended b, ?, 11 ended a, ?",
			runs: "a 0-1 1-11, b 2-6"},
		"killed": {turns: turns{{up(0, 0)}, {down(1, 1), call(5)}, {{Type: online.Kill, Job: 1}, up(1, 1)}}, told: "0 submitted a, ?, 2 submitted b, ?, 5 called, ?, 9 ended b, ?, 10 ended a, ?",
			runs: "a 0-10, b 2-5 lost 5-9"},
		"changing places": {turns: turns{{up(0, 0)}, {up(1, 1), call(3)}, {moving(up(0, 1)), moving(up(1, 0))}}, told: "0 submitted a, ?, 2 submitted b, ?, 3 called, ?, 7 ended b, ?, 11 ended a, ?",
			runs: "a 0-3 3-11, b 2-3 3-7"},
		"left waiting": {turns: turns{{up(0, 0)}}, told: "0 submitted a, ?, 2 submitted b, ?, 10 ended a, ?", runs: "a 0-10", err: `after 10 s nothing happens any more, and 1 jobs haven't ended`},
	} {
		p, in := tiers(c.turns), tiered()
		e, err := online.TwoTier(context.Background(), in, p)
		checkError(t, name, err, c.err)
		p.checkTold(t, name, c.told)
		checkRuns(t, name, e.Runs, nowhere, c.runs)
		if c.err == "" {
			if r, err := verify.Verify(t.Context(), in, e, verify.Options{}); err != nil || !r.Feasible() {
				t.Errorf("%s: %v %v", name, err, r)
			}
		}
	}
}

// lift is a policy that starts jobs at random in either tier, moves and kills them. After
// some calls it is content to bring all to the foreground.
type lift struct {
	rng              *rand.Rand
	now, threshold   int64
	fore, back       []*online.TwoTierJob
	waiting, running []*online.TwoTierJob
	on               map[*online.TwoTierJob][]int32
	tier             map[*online.TwoTierJob]model.Tier
	since            map[*online.TwoTierJob]int64
	calls            int
}

func (p *lift) Begin(platform online.TwoTierPlatform) error {
	p.fore, p.back, p.threshold = make([]*online.TwoTierJob, platform.Processors), make([]*online.TwoTierJob, platform.Processors), platform.Threshold
	p.on, p.tier, p.since = map[*online.TwoTierJob][]int32{}, map[*online.TwoTierJob]model.Tier{}, map[*online.TwoTierJob]int64{}
	return nil
}

func (p *lift) Event(e online.TwoTierEvent) error {
	p.now = e.At
	switch e.Type {
	case online.Submitted:
		p.waiting = append(p.waiting, e.Job)
	case online.Ended:
		p.leave(e.Job)
	}
	return nil
}

func (p *lift) leave(j *online.TwoTierJob) {
	for _, x := range p.on[j] {
		if p.tier[j] == model.TierBackground {
			p.back[x] = nil
		} else {
			p.fore[x] = nil
		}
	}
	p.running = slices.DeleteFunc(p.running, func(x *online.TwoTierJob) bool { return x == j })
}

// use returns the foreground use of a processor.
func (p *lift) use(x int32) int64 {
	j := p.fore[x]
	if j == nil {
		return 0
	}
	if len(j.Use) == 1 {
		return j.Use[0]
	}
	return j.Use[slices.Index(p.on[j], x)]
}

// place looks for processors of a tier at random; nil: there are too few.
func (p *lift) place(j *online.TwoTierJob, tier model.Tier) []int32 {
	var free []int32
	for x := range p.fore {
		if x := int32(x); tier == model.TierForeground && p.fore[x] == nil || tier == model.TierBackground && p.back[x] == nil && p.use(x) < p.threshold {
			free = append(free, x)
		}
	}
	if len(free) < int(j.Processes) {
		return nil
	}
	p.rng.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
	return free[:j.Processes]
}

func (p *lift) Decide() (all []online.TwoTierDecision, err error) {
	p.calls++
	patient := p.calls < 40
	kinds := map[*online.TwoTierJob]online.DecisionType{}
	for _, j := range p.waiting {
		kinds[j] = online.Start
	}
	for _, j := range slices.Clone(p.running) {
		if p.since[j] == p.now || patient && p.rng.IntN(4) > 0 || !patient && p.tier[j] == model.TierForeground {
			continue
		}
		old := p.on[j]
		if kill := patient && p.rng.IntN(3) == 0; kill {
			p.leave(j)
			all = append(all, online.TwoTierDecision{Type: online.Kill, Job: j.Number})
			p.waiting, kinds[j] = append(p.waiting, j), online.Start
			continue
		}
		idle := !slices.ContainsFunc(old, func(x int32) bool { return p.fore[x] != nil })
		if p.tier[j] == model.TierBackground && idle { // in its place
			p.leave(j)
			p.put(j, model.TierForeground, old)
			all = append(all, online.TwoTierDecision{Type: online.Move, Job: j.Number, Processors: old})
		} else if list := p.place(j, model.TierForeground); list != nil {
			p.leave(j)
			p.put(j, model.TierForeground, list)
			all = append(all, online.TwoTierDecision{Type: online.Move, Job: j.Number, Processors: list})
		}
	}
	for _, tier := range []model.Tier{model.TierForeground, model.TierBackground} {
		rest := p.waiting[:0]
		for _, j := range p.waiting {
			list := p.place(j, tier)
			if list == nil || patient && p.rng.IntN(2) == 0 || !patient && tier == model.TierBackground {
				rest = append(rest, j)
				continue
			}
			p.put(j, tier, list)
			all = append(all, online.TwoTierDecision{Type: kinds[j], Job: j.Number, Tier: tier, Processors: list})
		}
		p.waiting = rest
	}
	if patient && len(p.waiting)+len(p.running) > 0 {
		all = append(all, online.TwoTierDecision{Type: online.CallAt, At: p.now + 1 + p.rng.Int64N(5*second)})
	}
	return all, nil
}

func (p *lift) put(j *online.TwoTierJob, tier model.Tier, list []int32) {
	p.on[j], p.tier[j], p.since[j], p.running = list, tier, p.now, append(p.running, j)
	for _, x := range list {
		if tier == model.TierBackground {
			p.back[x] = j
		} else {
			p.fore[x] = j
		}
	}
}

// The judge accepts what random policies make of random instances.
func TestTwoTierJudged(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 8))
	for range need.Rounds(300) {
		in := testkit.RandomBatch(rng, 2, 6, 1+rng.IntN(8))
		e, err := online.TwoTier(t.Context(), in, &lift{rng: rng})
		checkJudged(t, in, e, err)
	}
}
