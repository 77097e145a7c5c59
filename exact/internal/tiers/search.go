// SPDX-License-Identifier: MIT

package tiers

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// MostJobs is the largest number of jobs for a Search.
const MostJobs = 9

// Search looks for the best schedule of jobs on two tiers, by the order of events (node): first the starts and ends
// (plans), then places, migrations and changes of orientation. Between two points rates are constant, so for one order
// the lengths of the spans are the variables of a linear program (program). The beginnings with the least bounds are
// extended first; now and then the most promising ones are followed down (follow).
//
// Times are as fine as one likes, and changes of the order before the judge's follow one another within no time. This
// includes all schedules that the judge accepts. A job that holds its processors for a part of a tick after its work is
// done could as well leave sooner, and the other jobs only get faster. So its bounds hold for all schedules that the
// judge accepts, and schedules are played in whole ticks (player).
//
// No job is killed: without the segments that are lost, all others have at least the rates that they had, and may start
// where they did. Processors are alike, and so are processors with the same processes.
type Search struct {
	*problem
	ctx     context.Context
	in      *model.Batch
	upper   float64 // the least sum of responses, in the problem's units
	horizon float64 // no end of a better schedule is later
	Gap     float64 // relative: less improvement isn't looked for
	// AllOrders is without the rules that drop beginnings, Unordered without plans, Unsquashed without the machine's
	// rows. Unpaid is without the cost of migrations under way after the last point, Undecided without deciding whether
	// processors are a job's last ones, and Unbarred without the jobs that can't enter the background.
	AllOrders, Unordered, Unsquashed, Unpaid, Undecided, Unbarred bool

	Programs int64
	caution  float64                // of promise
	mixed    map[uint32][][]float64 // of mixes
	demand   map[uint32][]float64   // of demands
	known    map[string][][]float64 // of mixesAt
	bytes    []byte                 // likewise
	open     nodes
	most     int // of open
	room     room
	closed   float64 // the least bound of the nodes dropped for the gap
	rest     float64 // likewise, of the nodes dropped for their number
	Found    func(*model.Execution) (mean float64, err error)
	Told     func(bound float64)
	Full     bool // nothing but rest keeps Run from a better bound
}

// mostOpen bounds the open beginnings: some 10 kB each. If there are more, halve drops the ones with the largest
// bounds.
const mostOpen = 100_000

// beam is the number of beginnings of a depth that are followed down.
const beam = 6

// cautions holds the cautions of one descent after the other.
var cautions = []float64{2, 8, 32}

// New returns a search for schedules of a mean response time below one.
func New(ctx context.Context, in *model.Batch, mean float64) *Search {
	s := &Search{problem: newProblem(view.Shared(ctx, in, view.OfBatch)), ctx: ctx, in: in, mixed: map[uint32][][]float64{}, demand: map[uint32][]float64{}, known: map[string][][]float64{}, closed: math.Inf(1), rest: math.Inf(1), most: mostOpen}
	s.know(mean)
	return s
}

// know notes that there is a schedule of a mean response time.
func (s *Search) know(mean float64) {
	weights, least := 0.0, 0.0
	for k := range s.n {
		weights += float64(s.t.Jobs[k].Weight)
		least += s.weight[k] * s.least(k)
	}
	s.upper = s.sum(mean * weights * 1e6)
	s.horizon = 0
	for k := range s.n {
		s.horizon = max(s.horizon, s.submit[k]+s.least(k)+max(0, s.upper-least)/s.weight[k])
	}
	s.horizon *= 1 + 1e-9
}

// mean returns a sum of responses as the mean in seconds, rounded down.
func (s *Search) mean(sum float64) float64 {
	weights := 0.0
	for k := range s.n {
		weights += float64(s.t.Jobs[k].Weight)
	}
	return sum * s.heaviest * s.unit / 1e6 / weights * (1 - 1e-13)
}

// Run searches until nothing better is left, and returns the bound of the mean that has been proved.
func (s *Search) Run() (float64, error) {
	root := s.root()
	s.program(root)
	s.open = nodes{root}
	ordered, descents := 0, 0
	for turn := 0; len(s.open) > 0; turn++ {
		if len(s.open) > s.most {
			s.halve()
		}
		if s.open[0].bound >= s.rest || meter.Stop(s.ctx, 1) {
			break
		}
		if turn%64 == 0 {
			s.Told(s.lower())
		}
		n := heap.Pop(&s.open).(*node)
		if s.drop(n) {
			continue
		}
		width := 0
		often := func(count, each int) bool { return count%each == 0 || count&(count-1) == 0 }
		down := often(turn, 512)
		if s.planned(n) {
			ordered++
			down = down || often(ordered, 256)
		}
		if down {
			width, s.caution = beam, cautions[descents%len(cautions)]
			descents++
		}
		if err := s.follow(n, width); err != nil {
			return 0, err
		}
		if s.ctx.Err() != nil {
			break
		}
	}
	s.Full = s.rest < min(s.closed, s.upper)
	return s.lower(), nil
}

// halve keeps the half of the open beginnings with the least bounds: the proved bound is at most the least bound of the
// others.
func (s *Search) halve() {
	slices.SortFunc(s.open, sooner)
	half := len(s.open) / 2
	s.rest = min(s.rest, s.open[half].bound)
	clear(s.open[half:])
	s.open = s.open[:half] // in order, so it is a heap
}

// lower returns the bound of the mean for all nodes that are open or have been dropped.
func (s *Search) lower() float64 {
	low := min(s.closed, s.rest, s.upper)
	if len(s.open) > 0 {
		low = min(low, s.open[0].bound)
	}
	return s.mean(low)
}

// drop reports whether a node has nothing better than the best schedule.
func (s *Search) drop(n *node) bool {
	if n.bound < s.upper*(1-s.Gap) {
		return false
	}
	s.closed = min(s.closed, n.bound)
	return true
}

// follow extends a node, and then its most promising descendants, so many at each depth. If several have their jobs in
// the same places and the same plan, it extends one of them. All others are open, and so are descendants with more
// migrations than half of the jobs: if migrations cost little, a descent would hardly come to an end.
func (s *Search) follow(n *node, width int) error {
	for level := []*node{n}; len(level) > 0; {
		var next []*node
		for _, x := range level {
			if s.drop(x) {
				continue
			}
			children, err := s.extend(x)
			if err != nil {
				return err
			}
			next = append(next, children...)
		}
		order.Stable(next, func(a, b *node) int { return cmp.Compare(s.promise(a), s.promise(b)) })
		level = level[:0]
		seen := map[string]bool{}
		for _, x := range next {
			if len(level) < width && x.migrations() <= s.n/2 {
				key := fmt.Sprint(x.plan, x.phase, x.moving, s.key(x))
				if !seen[key] {
					seen[key] = true
					level = append(level, x)
					continue
				}
			}
			heap.Push(&s.open, x)
		}
	}
	return nil
}

// extend solves the programs of a node's children, and returns the children that may have something better.
func (s *Search) extend(n *node) (left []*node, err error) {
	children := s.children(n)
	for i, c := range children {
		c.bound = n.bound
		if meter.Stop(s.ctx, 50) { // about what a program takes
			for _, c := range children[i:] { // the rest keeps the node's bound
				c.bound = n.bound
				heap.Push(&s.open, c)
			}
			return left, nil
		}
		s.program(c)
		if s.drop(c) {
			continue
		}
		if s.complete(c) {
			if err := s.found(c); err != nil {
				return nil, err
			}
			s.closed = min(s.closed, c.bound)
			continue
		}
		c.value = nil
		left = append(left, c)
	}
	return left, nil
}

// promise is the value by which beginnings are followed down: the bound plus a charge for each migration on the way.
// The gain of a migration is known, its consequences aren't. At a tie, the one with more work in progress comes first.
func (s *Search) promise(n *node) float64 {
	sum := n.bound
	for i := range n.events {
		if e := &n.events[i]; e.what == moves {
			sum += s.caution * s.weight[e.job] * s.migration
		}
	}
	for k := range s.n {
		switch n.phase[k] {
		case runs:
			l := &n.lives[n.life[k]]
			at := slices.Index(l.jobs, int32(k))
			sum -= 1e-3 * s.weight[k] * max(l.rate[0][at], l.rate[1][at])
			if n.again>>k&1 == 1 {
				sum += s.caution * s.weight[k] * s.migration
			}
		case lifted, transit:
			sum += s.caution * s.weight[k] * s.migration
		}
	}
	return sum
}

func (s *Search) complete(n *node) bool {
	for _, x := range n.phase {
		if x != over {
			return false
		}
	}
	return true
}

// found plays a complete node.
func (s *Search) found(n *node) error {
	e := s.play(n)
	if e == nil {
		return nil
	}
	mean, err := s.Found(e)
	if err == nil {
		before := s.upper
		if s.know(mean); s.upper < before {
			s.open = slices.DeleteFunc(s.open, s.drop)
			heap.Init(&s.open)
		}
	}
	return err
}

// nodes is a heap by bound; nodes with most events come first at a tie.
type nodes []*node

// sooner compares nodes in the order of the heap.
func sooner(a, b *node) int {
	return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(len(b.events)+len(b.plan), len(a.events)+len(a.plan)))
}

func (h nodes) Len() int           { return len(h) }
func (h nodes) Less(a, b int) bool { return sooner(h[a], h[b]) < 0 }
func (h nodes) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *nodes) Push(x any)        { *h = append(*h, x.(*node)) }
func (h *nodes) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return x
}
