// SPDX-License-Identifier: MIT

package online_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
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

// The judge accepts what random policies make of random instances, in either order and on any processors.
func TestBatchJudged(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 2))
	orders := []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderPyss}
	for range need.Rounds(200) {
		in := testkit.RandomBatch(rng, 1+rng.IntN(2), 6, 1+rng.IntN(10))
		p := &wild{rng: rng, named: rng.IntN(2) == 0}
		o := online.BatchOptions{Order: orders[rng.IntN(2)]}
		p.busy = o.Order == model.BatchOrderBatch && rng.IntN(2) == 0
		e, err := online.Batch(t.Context(), in, p, o)
		checkJudged(t, in, e, err)
	}
}
