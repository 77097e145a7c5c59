package reservation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/profile"
	"github.com/gapwise/gapwise/model"
)

// Clairvoyant books offline: it sees all requests at once, how long they really
// run and which will be cancelled. It shows what knowing the future is worth; its
// bookings don't claim to be online.
//
// It books requests one after another at their first feasible start (serial
// schedule generation) in several orders, takes the best plan, or set.Start if
// that is better, and improves it (Offline.Improve). At last it moves jobs to
// earlier starts, for the second objective.
//
// The result depends on the seed alone: the number of steps is fixed (see
// ClairvoyantSteps), time and ctx only stop it. O(n) memory. A step costs
// O(w + k log n) for w requests whose windows may overlap the step's, and
// k ≤ 25 of them that are booked anew.
//
// The error is model.ErrInvalid for a start that isn't bookings of the instance,
// and model.ErrNoSolution if the goal is all and some request found no place.
func Clairvoyant(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	t := in.Ticks()
	var from []int64
	if b, ok := set.Start.(*model.Bookings); ok && b != nil {
		var err error
		if from, err = TicksOf(in, t, b); err != nil {
			return nil, fmt.Errorf("clairvoyant: start: %w", err)
		}
	}
	p := NewOffline(t, set.Seed)
	p.Construct(ctx, from)
	if set.Progress != nil {
		if b, err := BookTicks(in, t, p.Starts()); err == nil && (in.EffectiveGoal() != model.GoalAll || len(b.Bookings) == len(in.Requests)) {
			set.Progress(model.Progress{Algorithm: "clairvoyant", Incumbent: p.value + t.FreeWeight, Bound: math.NaN(), Solution: b})
		}
	}
	p.Improve(ctx, ClairvoyantSteps(len(t.Jobs)), math.Inf(1))
	p.ShiftLeft(ctx)
	b, err := BookTicks(in, t, p.Starts())
	if err != nil {
		return nil, fmt.Errorf("clairvoyant: %w", err)
	}
	if in.EffectiveGoal() == model.GoalAll && len(b.Bookings) < len(in.Requests) {
		return nil, fmt.Errorf("clairvoyant: %w: %d of %d requests could be booked together", model.ErrNoSolution, len(b.Bookings), len(in.Requests))
	}
	return b, nil
}

// First returns bookings in little time: one serial schedule of Clairvoyant, the requests
// of the least area for their weight first, as far as ctx allows. The error is
// model.ErrNoSolution if the goal is all and some request found no place.
func First(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	t := in.Ticks()
	p := NewOffline(t, set.Seed)
	starts, _ := p.serial(ctx, 0)
	b, err := BookTicks(in, t, starts)
	return declined(in, b, err)
}

// ClairvoyantSteps returns the number of steps that Clairvoyant takes for n jobs:
// about two seconds' worth for 10,000.
func ClairvoyantSteps(n int) int {
	if n < 2 {
		return 0
	}
	return min(50_000, 50*n*n) + 30*n
}

// TicksOf returns the starts of the ticks' jobs in bookings of the instance, by
// job, model.Declined for those that aren't booked. Where the bookings need too many
// PEs, in ticks, jobs are dropped in the order of starts. The error,
// model.ErrInvalid, is Index's.
func TicksOf(in *model.Reservation, t *model.ReservationTicks, b *model.Bookings) ([]int64, error) {
	index, err := in.Index(b)
	if err != nil {
		return nil, err
	}
	wanted := make([]float64, len(in.Requests))
	for k := range wanted {
		wanted[k] = math.NaN()
	}
	for i, k := range index {
		wanted[k] = b.Bookings[i].StartS
	}
	starts := make([]int64, len(t.Jobs))
	order := make([]int, 0, len(starts))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		starts[i] = model.Declined
		// One that is withdrawn before that start holds no PEs.
		if x := wanted[j.Request]; !math.IsNaN(x) && t.Requests[j.Request].Runs(t.Tick(x)) {
			starts[i] = min(max(t.Tick(x), j.Ready), j.Latest())
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(starts[a], starts[b]), cmp.Compare(a, b)) })
	c := profile.Profile{Capacity: t.PEs}
	for _, i := range order {
		j := &t.Jobs[i]
		// Rounding may ask for a tick or two more.
		s, ok := c.First(j.PEs, j.Length, starts[i], j.Latest())
		if !ok {
			s, ok = c.First(j.PEs, j.Length, j.Ready, j.Latest())
		}
		if starts[i] = model.Declined; ok {
			starts[i] = s
			c.Add(s, s+j.Length, j.PEs)
		}
	}
	return starts, nil
}

// BookTicks returns the bookings of jobs with the given starts, in ticks by job
// and negative for declined, and of the free requests, in the order of the
// requests. The error is model.ErrInfeasible if too many PEs are needed at a time.
func BookTicks(in *model.Reservation, t *model.ReservationTicks, starts []int64) (*model.Bookings, error) {
	b := &model.Bookings{Goal: in.Goal}
	var runs []Interval
	var requests []int
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if starts[i] < 0 {
			continue
		}
		requests = append(requests, j.Request)
		runs = append(runs, Interval{starts[i], starts[i] + j.Length, j.PEs})
		b.Bookings = append(b.Bookings, model.Booking{ID: in.Requests[j.Request].ID, StartS: t.Seconds(starts[i])})
	}
	for _, k := range t.Free {
		requests = append(requests, k)
		runs = append(runs, Interval{PEs: in.Requests[k].PEs}) // it holds no PEs
		b.Bookings = append(b.Bookings, model.Booking{ID: in.Requests[k].ID, StartS: t.Seconds(t.Requests[k].Latest())})
	}
	lists, err := Number(t.PEs, runs)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
		b.Bookings[i].PEs = lists[i]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(requests[a], requests[b]) })
	sorted := make([]model.Booking, len(order))
	for i, o := range order {
		sorted[i] = b.Bookings[o]
	}
	b.Bookings = sorted
	return b, nil
}

// Offline is a plan of a reservation's jobs that is built and improved.
type Offline struct {
	t       *model.ReservationTicks
	rng     *rand.Rand
	starts  []int64 // by job
	inUse   profile.Profile
	value   float64   // weight of the jobs booked
	byReady []int32   // the jobs by ready time
	longest int64     // window, in ticks
	key     []float64 // by job; the lowest is booked first
	// Scratch of step: the jobs taken out, their starts before, and others.
	out    []int32
	before []int64
	found  []int32
}

// NewOffline returns a plan with nothing booked.
func NewOffline(t *model.ReservationTicks, seed uint64) *Offline {
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

// Starts returns each job's start, or model.Declined; the slice belongs to p.
func (p *Offline) Starts() []int64 { return p.starts }

// Value returns the weight of the jobs booked.
func (p *Offline) Value() float64 { return p.value }

func (p *Offline) clear() {
	for i := range p.starts {
		p.starts[i] = model.Declined
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
	p.starts[i] = model.Declined
	p.value -= j.Weight
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

// Set makes the plan one of the given starts, by job, which must fit.
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
		if ctx.Err() != nil && !math.IsInf(best, -1) {
			break
		}
		if serial, value := p.serial(ctx, rule); value > best {
			best, starts = value, serial
		}
	}
	p.Set(slices.Clone(starts))
}

// serial returns the serial schedule in the order of a rule, and its weight.
func (p *Offline) serial(ctx context.Context, rule int) (starts []int64, value float64) {
	order := make([]int, len(p.key))
	for i := range p.key {
		p.key[i], order[i] = p.keyOf(int32(i), rule), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(p.key[a], p.key[b]), cmp.Compare(a, b)) })
	starts = p.t.Serial(ctx, order)
	for _, i := range order {
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
