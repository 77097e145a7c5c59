// SPDX-License-Identifier: MIT

package audit

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// stream is a sequence of instances of one kind and size.
type stream struct {
	variant string // of Variants; "": all
	kind    model.Kind
	size    size
	quick   bool
	share   float64 // of the time
	part    float64 // of Options.Instances
	most    int64   // instances
	id      uint64
	drawn   int64
	spent   time.Duration
}

// shares divides each problem's time. Most of it is for small instances that
// the engines alone solve, since there can be many of them. Nearly all of a number of instances are small, as are
// nearly all drawn within some time.
var shares = []stream{
	{size: tiny, quick: true, share: 0.3, part: 0.9},
	{size: middle, quick: true, share: 0.3, part: 0.08},
	{size: tiny, share: 0.05, part: 0.01},
	{size: middle, share: 0.05, part: 0.003},
	{size: large, share: 0.1, part: 0.001},
	{size: large, quick: true, share: 0.2, part: 0.006},
}

// streams chooses the stream of the next instance: the one with the least time
// spent, relative to its share. Several goroutines may use it.
type streams struct {
	mu  sync.Mutex
	all []*stream
}

func newStreams(kinds []model.Kind, variant string, instances int64) *streams {
	q, all := &streams{}, Kinds()
	for i, s := range shares {
		for _, k := range kinds {
			one := s
			one.kind, one.variant = k, variant
			// The id is its place among all, so that the instances of a problem are the same whichever others are
			// audited.
			one.id = uint64(i*len(all) + slices.Index(all, k))
			one.most = math.MaxInt64
			if instances > 0 {
				one.most = int64(math.Ceil(one.part * float64(instances)))
			}
			q.all = append(q.all, &one)
		}
	}
	return q
}

// next returns the stream to draw from, and the number of its instance; nil if there are enough of all.
func (q *streams) next() (*stream, int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var best *stream
	for _, s := range q.all {
		if s.drawn < s.most && (best == nil || float64(s.spent)*best.share < float64(best.spent)*s.share) {
			best = s
		}
	}
	if best == nil {
		return nil, 0
	}
	best.spent++ // so that another worker, at the beginning, takes another
	best.drawn++
	return best, best.drawn - 1
}

// took adds to the time spent on a stream.
func (q *streams) took(s *stream, t time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.spent += t
}

// trial draws an instance of the stream, of all variants with extremes in every sixth.
func (s *stream) trial(ctx context.Context, seed uint64, number int64) *trial {
	in := s.draw(seed, number, number%6 == 5 && s.variant == "", number%5 == 3)
	return &trial{ctx: ctx, in: in, size: s.size, quick: s.quick, seed: seed, number: number, answers: map[string]model.Result{}}
}

// draw draws an instance of the stream, with extremes (testkit.Extreme) or without, and with what variants add or
// without, unless it is of that variant.
func (s *stream) draw(seed uint64, number int64, extreme, adds bool) model.Instance {
	rng := rand.New(rand.NewPCG(seed, s.id<<40|uint64(number)))
	in := problemOf(s.kind).draw(s.size, rng)
	for s.variant != "" && variants[s.variant].has != nil && !variants[s.variant].has(in) {
		in = problemOf(s.kind).draw(s.size, rng)
	}
	for _, name := range Variants() { // by figures of their own, likewise
		if v := variants[name]; v.add != nil && v.kind == s.kind && (s.variant == name || adds && s.variant == "") {
			v.add(rand.New(rand.NewPCG(seed, ^(s.id<<40|uint64(number)))), in)
		}
	}
	if extreme { // by figures of their own: other draws stay as they are
		in = testkit.Extreme(rand.New(rand.NewPCG(seed^s.id, uint64(number))), in)
	}
	return in
}

// variant is a problem for which the audit can draw only instances with a feature that few of the problem's have.
type variant struct {
	kind model.Kind
	// has reports whether a drawn instance has the feature; nil: none has it, and add gives it to them.
	has func(model.Instance) bool
	add func(*rand.Rand, model.Instance)
}

var variants = map[string]variant{
	"capacities": {kind: model.KindDAG, add: func(rng *rand.Rand, in model.Instance) { addCapacities(rng, in.(*model.DAG)) }},
	"contention": {kind: model.KindDAG, has: func(in model.Instance) bool { return in.(*model.DAG).Transfers() != model.TransferIdeal }},
	"queue":      {kind: model.KindTVC, has: func(in model.Instance) bool { return in.(*model.TVC).Queue }},
	"two-tiers":  {kind: model.KindBatch, has: func(in model.Instance) bool { return in.(*model.Batch).Tiers == 2 }},
}

// Variants returns the values of Options.Variant.
func Variants() []string { return slices.Sorted(maps.Keys(variants)) }

// Drawn returns the n-th of a sequence of instances of a kind, or of a variant if that isn't empty: a third each tiny,
// middle and large, every sixth with extremes. Only the variant has what it adds to the draws.
func Drawn(kind model.Kind, variant string, seed uint64, n int64) model.Instance {
	s := stream{kind: kind, variant: variant, size: size(n % 3), id: uint64(1000 + slices.Index(Kinds(), kind))}
	return s.draw(seed, n, n%6 == 5, false)
}

// KindOf returns the kind of a variant.
func KindOf(variant string) model.Kind { return variants[variant].kind }
