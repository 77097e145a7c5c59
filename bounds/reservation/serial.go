package reservation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/profile"
	"github.com/gapwise/gapwise/model"
)

// Serial places jobs in the given order, each as early as those before it
// allow (serial schedule generation), and declines those that have no place,
// or aren't in the order. It is the start of each job in ticks, -1 for
// declined. If the order is that of the starts of a solution, none of its jobs
// starts later than there. O(n²).
func (t *Ticks) Serial(order []int) []int64 {
	starts := make([]int64, len(t.Jobs))
	for j := range starts {
		starts[j] = -1
	}
	c := profile.Profile{Capacity: t.PEs}
	for _, j := range order {
		x := &t.Jobs[j]
		if s, ok := c.First(x.PEs, x.Length, x.Ready, x.Latest()); ok && starts[j] < 0 {
			starts[j] = s
			c.Add(s, s+x.Length, x.PEs)
		}
	}
	return starts
}

// ShiftLeft is Serial in the order of the starts; it leaves out declined jobs.
func (t *Ticks) ShiftLeft(starts []int64) []int64 {
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
func (t *Ticks) Check(starts []int64) error {
	if len(starts) != len(t.Jobs) {
		return fmt.Errorf("%w starts: they are of %d jobs, there are %d", model.ErrInvalid, len(starts), len(t.Jobs))
	}
	c := profile.Profile{Capacity: t.PEs}
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
		c.Add(s, s+x.Length, x.PEs)
	}
	if at, used := c.Peak(math.MinInt64, math.MaxInt64); used > t.PEs {
		return fmt.Errorf("%w: %d PEs are in use at %d, there are %d", model.ErrInfeasible, used, at, t.PEs)
	}
	return nil
}

// settle makes a solution of decoded starts: moved to the left if they are
// one, placed anew where they aren't.
func (t *Ticks) settle(starts []int64) ([]int64, error) {
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
