// SPDX-License-Identifier: MIT

package bookings

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Offline is a plan of a reservation's jobs that is built and improved.
type Offline struct {
	t       *view.Reservation
	rng     *rand.Rand
	starts  []int64 // by job
	inUse   profile.Profile
	value   float64   // weight of the jobs booked
	byReady []int32   // the jobs by ready time
	longest int64     // window, in ticks
	key     []float64 // by job; the lowest is booked first
	heat    float64   // the loss that a step takes with a probability of 1/e
	// Scratch of step: the jobs taken out, their starts before, and others.
	out    []int32
	before []int64
	found  []int32
}

// NewOffline returns a plan with nothing booked.
func NewOffline(t *view.Reservation, seed uint64) *Offline {
	n := len(t.Jobs)
	p := &Offline{t: t, rng: rand.New(rand.NewPCG(seed, 0x5e7)), starts: make([]int64, n), key: make([]float64, n), byReady: make([]int32, n)}
	for i := range t.Jobs {
		p.byReady[i] = int32(i)
		p.longest = max(p.longest, t.Jobs[i].Due-t.Jobs[i].Ready)
	}
	slices.SortFunc(p.byReady, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Jobs[a].Ready, t.Jobs[b].Ready), cmp.Compare(a, b))
	})
	p.clear()
	return p
}

// Starts returns each job's start, or view.Declined; the slice belongs to p.
func (p *Offline) Starts() []int64 { return p.starts }

// Value returns the weight of the jobs booked.
func (p *Offline) Value() float64 { return p.value }

func (p *Offline) clear() {
	for i := range p.starts {
		p.starts[i] = view.Declined
	}
	p.inUse = profile.Profile{Capacity: p.t.PEs}
	p.value = 0
}

func (p *Offline) book(i int32, s int64) {
	j := &p.t.Jobs[i]
	p.starts[i] = s
	p.inUse.Add(s, s+j.Length, j.PEs)
	p.value += j.Weight
}

func (p *Offline) unbook(i int32) {
	j := &p.t.Jobs[i]
	p.inUse.Add(p.starts[i], p.starts[i]+j.Length, -j.PEs)
	p.starts[i] = view.Declined
	p.value -= j.Weight
}

// Fill books the jobs that aren't booked, in the order of their ready times, each at the
// first start at which it fits.
func (p *Offline) Fill() {
	for _, i := range p.byReady {
		if p.starts[i] == view.Declined {
			p.bookFirst(i, false)
		}
	}
}

// bookFirst books a job as early as possible, or as late, and reports whether it
// fits.
func (p *Offline) bookFirst(i int32, late bool) bool {
	j := &p.t.Jobs[i]
	fit := p.inUse.First
	if late {
		fit = p.inUse.Last
	}
	s, ok := fit(j.PEs, j.Length, j.Ready, j.Latest())
	if ok {
		p.book(i, s)
	}
	return ok
}

// Set makes the plan the one with the given starts, by job, which must fit.
func (p *Offline) Set(starts []int64) {
	p.clear()
	for i, s := range starts {
		if s >= 0 {
			p.book(int32(i), s)
		}
	}
}

// Construct makes the plan the best of serial schedules in several orders, or the
// given starts if these are no worse. O(n log n) searches of the profile.
func (p *Offline) Construct(ctx context.Context, from []int64) {
	best, starts := math.Inf(-1), p.starts
	if from != nil {
		p.Set(from)
		best, starts = p.value, from
	}
	for rule := range rules {
		if meter.Stop(ctx, int64(len(p.key))) && !math.IsInf(best, -1) {
			break
		}
		if serial, value := p.Serial(ctx, rule); value > best {
			best, starts = value, serial
		}
	}
	p.Set(slices.Clone(starts))
}

// Serial returns the serial schedule in the order of a rule, and its weight.
func (p *Offline) Serial(ctx context.Context, rule int) (starts []int64, value float64) {
	for i := range p.key {
		p.key[i] = p.keyOf(int32(i), rule)
	}
	jobs := order.By(order.Of[int](len(p.key)), p.key)
	starts = p.t.Serial(ctx, jobs)
	for _, i := range jobs {
		if starts[i] >= 0 {
			value += p.t.Jobs[i].Weight
		}
	}
	return starts, value
}

// rules is the number of orders that keyOf knows.
const rules = 6

// keyOf returns the key of a job by a rule; the lowest is booked first.
func (p *Offline) keyOf(i int32, rule int) float64 {
	j := &p.t.Jobs[i]
	switch rule {
	case 0:
		return j.Area() / j.Weight
	case 1:
		return float64(j.Latest())
	case 2:
		return float64(j.Due)
	case 3:
		return -j.Weight / float64(j.PEs)
	case 4:
		return -j.Area()
	}
	return float64(j.Ready)
}

// Steps returns the number of steps that the clairvoyant heuristic takes for n jobs:
// about two seconds' worth for 10,000.
func Steps(n int) int {
	if n < 2 {
		return 0
	}
	return min(50_000, 50*n*n) + 30*n
}
