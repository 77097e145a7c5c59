// SPDX-License-Identifier: MIT

package view

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/model"
)

// Declined is the start of a job that isn't booked, as is any negative one.
const Declined = -1

// Serial places jobs in the given order, each as early as those before it allow
// (serial schedule generation). It returns the start of each job in ticks, by
// job; Declined for those that have no place or aren't in the order. If a solution's starts have this order, none of
// its jobs starts later than there. By induction the jobs before j occupy no more than in the solution from j's start
// on. When ctx ends, the jobs that are left have no place. O(n²).
func (t *Reservation) Serial(ctx context.Context, order []int) []int64 {
	starts := make([]int64, len(t.Jobs))
	for j := range starts {
		starts[j] = Declined
	}
	c := profile.Profile{Capacity: t.PEs}
	for k, j := range order {
		if k&0xfff == 0xfff && ctx.Err() != nil {
			break
		}
		x := &t.Jobs[j]
		if s, ok := c.First(x.PEs, x.Length, x.Ready, x.Latest()); ok && starts[j] < 0 {
			starts[j] = s
			c.Add(s, s+x.Length, x.PEs)
		}
	}
	return starts
}

// ShiftLeft returns Serial's starts in the order of the given starts, by job;
// declined jobs stay out.
func (t *Reservation) ShiftLeft(starts []int64) []int64 {
	var order []int
	for j, s := range starts {
		if s >= 0 {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(starts[a], starts[b]) })
	return t.Serial(context.Background(), order)
}

// Check returns an ErrInfeasible that names the error in starts, in ticks by job and negative for declined: a window,
// or the number of PEs in use. It is an ErrInvalid if starts have another length than Jobs. O(n²).
func (t *Reservation) Check(starts []int64) error {
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
