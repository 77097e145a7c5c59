package bounds

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// ticksProfile is how many PEs are in use when: used[k] from times[k] until
// times[k+1], the last one for ever, nothing before times[0].
type ticksProfile struct {
	pes   int
	times []int64
	used  []int
}

// segment is the last k with times[k] <= t, -1 if there is none.
func (p *ticksProfile) segment(t int64) int {
	k, found := slices.BinarySearch(p.times, t)
	if !found {
		k--
	}
	return k
}

// earliest is the earliest start of a job at which it fits. O(n).
func (p *ticksProfile) earliest(j *ReservationJob) (int64, bool) {
	at := j.Ready
	if j.Length == 0 {
		return at, true
	}
	for k := max(0, p.segment(at)); k < len(p.times) && p.times[k] < at+j.Length; k++ {
		if p.used[k]+j.PEs > p.pes {
			if k == len(p.times)-1 {
				return 0, false // nothing is in use in the end, so it needs more than there are
			}
			at = p.times[k+1]
			if at > j.Latest() {
				return 0, false
			}
		}
	}
	return at, j.PEs <= p.pes
}

// cut makes t a boundary and is its segment.
func (p *ticksProfile) cut(t int64) int {
	k := p.segment(t)
	if k >= 0 && p.times[k] == t {
		return k
	}
	used := 0
	if k >= 0 {
		used = p.used[k]
	}
	p.times = slices.Insert(p.times, k+1, t)
	p.used = slices.Insert(p.used, k+1, used)
	return k + 1
}

// add puts a job at a start. O(n).
func (p *ticksProfile) add(j *ReservationJob, start int64) {
	if j.Length == 0 {
		return
	}
	from := p.cut(start)
	to := p.cut(start + j.Length)
	for k := from; k < to; k++ {
		p.used[k] += j.PEs
	}
}

// Serial places jobs in the given order, each as early as those before it
// allow (serial schedule generation), and declines those that have no place,
// or aren't in the order. It is the start of each job in ticks, -1 for
// declined. If the order is that of the starts of a solution, none of its jobs
// starts later than there. O(n²).
func (t *ReservationTicks) Serial(order []int) []int64 {
	starts := make([]int64, len(t.Jobs))
	for j := range starts {
		starts[j] = -1
	}
	p := &ticksProfile{pes: t.PEs}
	for _, j := range order {
		if s, ok := p.earliest(&t.Jobs[j]); ok && starts[j] < 0 {
			starts[j] = s
			p.add(&t.Jobs[j], s)
		}
	}
	return starts
}

// ShiftLeft is Serial in the order of the starts; it leaves out declined jobs.
func (t *ReservationTicks) ShiftLeft(starts []int64) []int64 {
	var order []int
	for j, s := range starts {
		if s >= 0 {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(starts[a], starts[b]) })
	return t.Serial(order)
}

// Check tells, as model.ErrInfeasible, what is wrong with starts by job, in
// ticks and negative for declined: a window or the number of PEs. O(n²).
func (t *ReservationTicks) Check(starts []int64) error {
	if len(starts) != len(t.Jobs) {
		return fmt.Errorf("%w starts: they are of %d jobs, there are %d", model.ErrInvalid, len(starts), len(t.Jobs))
	}
	p := &ticksProfile{pes: t.PEs}
	for j, s := range starts {
		x := &t.Jobs[j]
		switch {
		case s < 0 && t.Goal == model.GoalAll:
			return fmt.Errorf("%w: job %d is declined", model.ErrInfeasible, j)
		case s < 0:
			continue
		case s < x.Ready || s > x.Latest():
			return fmt.Errorf("%w: job %d starts at %d, its window is from %d to %d", model.ErrInfeasible, j, s, x.Ready, x.Latest())
		}
		p.add(x, s)
	}
	for k, used := range p.used {
		if used > p.pes {
			return fmt.Errorf("%w: %d PEs are in use at %d, there are %d", model.ErrInfeasible, used, p.times[k], p.pes)
		}
	}
	return nil
}

// settle makes a solution of decoded starts: moved to the left if they are
// one, placed anew where they aren't.
func (t *ReservationTicks) settle(starts []int64) ([]int64, error) {
	wrong := t.Check(starts)
	starts = t.ShiftLeft(starts)
	if err := t.Check(starts); err != nil {
		if wrong != nil {
			err = wrong
		}
		return nil, err
	}
	return starts, nil
}
