package bounds

import "slices"

// Counts is how many PEs are in use over time, in ticks or in seconds: Used[k]
// from Times[k] to Times[k+1], the last for ever, and none before Times[0]. No two
// neighbours are equal. The PEs are numbered after (see reservation.Number).
type Counts[T int64 | float64] struct {
	PEs   int // that there are
	Times []T
	Used  []int
}

// Clone is a copy.
func (c *Counts[T]) Clone() *Counts[T] {
	return &Counts[T]{c.PEs, slices.Clone(c.Times), slices.Clone(c.Used)}
}

// At is the step that holds at t, -1 before the first one. O(log n).
func (c *Counts[T]) At(t T) int {
	k, found := slices.BinarySearch(c.Times, t)
	if !found {
		k--
	}
	return k
}

// Add takes PEs over [start, end), or gives them back if pes is negative.
// O(log n + steps passed), and the shift of two arrays.
func (c *Counts[T]) Add(start, end T, pes int) {
	if start >= end || pes == 0 {
		return
	}
	i := c.split(start)
	j := c.split(end)
	for k := i; k < j; k++ {
		c.Used[k] += pes
	}
	c.join(j)
	c.join(i)
}

// split makes a step begin at t.
func (c *Counts[T]) split(t T) int {
	k := c.At(t)
	used := 0
	if k >= 0 {
		if c.Times[k] == t {
			return k
		}
		used = c.Used[k]
	}
	c.Times = slices.Insert(c.Times, k+1, t)
	c.Used = slices.Insert(c.Used, k+1, used)
	return k + 1
}

// join removes a step that is like the one before.
func (c *Counts[T]) join(k int) {
	before := 0
	if k > 0 {
		before = c.Used[k-1]
	}
	if c.Used[k] == before {
		c.Times = slices.Delete(c.Times, k, k+1)
		c.Used = slices.Delete(c.Used, k, k+1)
	}
}

// First is the first start in [from, to] at which pes PEs are free for length.
// O(log n + steps passed).
func (c *Counts[T]) First(pes int, length, from, to T) (start T, ok bool) {
	if length > 0 {
		for k := max(0, c.At(from)); k < len(c.Times) && c.Times[k] < from+length; k++ {
			if c.Used[k]+pes <= c.PEs {
				continue
			}
			if k+1 == len(c.Times) || c.Times[k+1] > to {
				return 0, false
			}
			from = c.Times[k+1]
		}
	}
	return from, from <= to && pes <= c.PEs
}

// Last is the last such start. O(log n + steps passed).
func (c *Counts[T]) Last(pes int, length, from, to T) (start T, ok bool) {
	if length > 0 {
		k, _ := slices.BinarySearch(c.Times, to+length)
		for k--; k >= 0 && (c.Times[k] > to || k == c.At(to)); k-- {
			if c.Used[k]+pes > c.PEs {
				to = c.Times[k] - length
				if to < from {
					return 0, false
				}
			}
		}
	}
	return to, from <= to && pes <= c.PEs
}
