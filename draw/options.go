// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/model"
)

// Options select the parts of a solution to draw, and how. Their zero value is right except for the format: everything.
type Options struct {
	Style
	// By is the algorithm that found the solution, "" if that isn't known.
	By string
	// Bound is a value that no solution of the instance beats, in its objective; nil if none is known.
	Bound *float64
	// From and To are the ends of the time axis in seconds; nil: the solution's.
	From, To *float64
	// Rows are the processors, machines or hosts that are drawn, by number; nil:
	// all.
	Rows *Range
	// At is the moment, in seconds, that the picture of a TVC shows in detail; nil:
	// it chooses one. Other problems' pictures show no moment.
	At *float64
	// NoLinks leaves the links of the network out of the picture of a DAG.
	NoLinks bool
	// Usage draws only how much is in use and how much waits over time.
	Usage bool
}

// Range holds the numbers from First to Last.
type Range struct{ First, Last int }

func (o *Options) check() error {
	if err := o.Style.check(); err != nil {
		return err
	}
	for _, t := range []*float64{o.From, o.To} {
		if t != nil && !(math.Abs(*t) <= scene.MaxTime) {
			return fmt.Errorf("draw: %w time: %v, must be from -%g to %g", model.ErrInvalid, *t, scene.MaxTime, scene.MaxTime)
		}
	}
	if o.From != nil && o.To != nil && !(*o.From < *o.To) {
		return fmt.Errorf("draw: %w times: from %v to %v, must be ascending", model.ErrInvalid, *o.From, *o.To)
	}
	if r := o.Rows; r != nil && (r.First < 0 || r.Last < r.First) {
		return fmt.Errorf("draw: %w numbers: from %d to %d, must be ascending from 0", model.ErrInvalid, r.First, r.Last)
	}
	return nil
}

// rows returns the first and the last of n things to be drawn.
func (o *Options) rows(n int, what string) (first, last int, err error) {
	if o.Rows == nil {
		return 0, n - 1, nil
	}
	if o.Rows.Last >= n {
		return 0, 0, fmt.Errorf("draw: %w numbers: %ss %d to %d are asked for, there are 0 to %d", model.ErrInvalid, what,
			o.Rows.First, o.Rows.Last, n-1)
	}
	return o.Rows.First, o.Rows.Last, nil
}

// span sets the ends of an axis for bars that begin at low and end at ends, or to the ends that are asked for. It
// begins at 0 unless the first begins much later. If nine tenths of many end in its first half, it ends soon after
// those.
func (o *Options) span(a *timeAxis, low float64, ends []float64, many bool) error {
	if len(ends) == 0 {
		low, ends = 0, []float64{0}
	}
	a.low, a.high = low, slices.Max(ends)
	if low > 0 && low < (a.high-low)/2 {
		a.low = 0
	}
	if many && o.From == nil && o.To == nil {
		a.high = outliers(a.low, ends)
	}
	a.widen()
	return o.cut(a)
}

// cut sets the ends of an axis that are given. The error says that nothing lies
// between them.
func (o *Options) cut(a *timeAxis) error {
	low, high := a.low, a.high
	if o.From == nil && o.To == nil {
		return nil
	}
	if o.From != nil {
		a.low = *o.From
	}
	if o.To != nil {
		a.high = *o.To
	}
	if a.low >= high || a.high <= low {
		return fmt.Errorf("draw: %w times: from %.10g to %.10g s there is nothing, the solution is from %.10g to %.10g s",
			model.ErrInvalid, a.low, a.high, low, high)
	}
	a.widen()
	return nil
}

// shows reports whether something lies in the span of the axis, an end or, if it
// has no length, itself.
func (a *timeAxis) shows(from, to float64) bool {
	return from < a.high && to > a.low || from == to && from >= a.low && from <= a.high
}

// clip returns the part of a span that the axis shows.
func (a *timeAxis) clip(from, to float64) (float64, float64) {
	return min(max(from, a.low), a.high), min(max(to, a.low), a.high)
}
