// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

// meets reports whether an assignment is within the bounds of its model and meets all
// constraints.
func meets(a cp.Assignment) bool {
	for v := range a.Model.Low {
		if !a.Is(cp.Var(v).AtLeast(a.Model.Low[v])) || !a.Is(cp.Var(v).AtMost(a.Model.High[v])) {
			return false
		}
	}
	for _, c := range a.Model.Constraints {
		if !holds(c, a) {
			return false
		}
	}
	return true
}

// holds is the meaning of the constraints, stated in the plainest way.
func holds(c cp.Constraint, a cp.Assignment) bool {
	switch c := c.(type) {
	case cp.Nogood:
		return nogoodHolds(c, a)
	case *cp.Linear:
		return linearHolds(c, a)
	case *cp.Delay:
		return delayHolds(c, a)
	case *cp.NoOverlap:
		return noOverlapHolds(c, a)
	case *cp.Cumulative:
		return cumulativeHolds(c, a)
	case *cp.Preemptive:
		return preemptiveHolds(c, a)
	case *cp.Charges:
		return chargesHolds(c, a)
	case *cp.Among:
		return amongHolds(c, a)
	case holding:
		return c.Holds(a)
	}
	panic("a constraint of an unknown type")
}

func nogoodHolds(c cp.Nogood, a cp.Assignment) bool {
	for _, l := range c {
		if !a.Is(l) {
			return true
		}
	}
	return false
}

func linearHolds(c *cp.Linear, a cp.Assignment) bool {
	sum := int64(0)
	for _, g := range c.Groups {
		for _, x := range g {
			if a.Is(x.If) {
				sum += x.Value
			}
		}
	}
	for _, t := range c.Terms {
		sum += t.Times * a.Values[t.Var]
	}
	return sum <= c.AtMost
}

func delayHolds(c *cp.Delay, a cp.Assignment) bool {
	for k, from := range c.From {
		for l, to := range c.To {
			if a.Is(from.If) && a.Is(to.If) && a.Values[to.At] < a.Values[from.At]+c.By[k][l] {
				return false
			}
		}
	}
	return true
}

func noOverlapHolds(c *cp.NoOverlap, a cp.Assignment) bool {
	for i, x := range c.Starts {
		for j, y := range c.Starts {
			if i != j && a.Is(x.If) && a.Is(y.If) && a.Is(c.Before[i][j]) && a.Values[y.At] < a.Values[x.At]+c.Lengths[i] {
				return false
			}
		}
	}
	return true
}

func cumulativeHolds(c *cp.Cumulative, a cp.Assignment) bool {
	for _, at := range c.Starts {
		if !a.Is(at.If) {
			continue
		}
		now, sum := a.Values[at.At], int64(0)
		for j, x := range c.Starts {
			if s := a.Values[x.At]; a.Is(x.If) && s <= now && now < s+c.Lengths[j] {
				sum += c.Demands[j]
			}
		}
		if sum > c.Capacity {
			return false
		}
	}
	return true
}

// preemptiveHolds runs, from one moment to the next, an activity of the earliest due date.
func preemptiveHolds(c *cp.Preemptive, a cp.Assignment) bool {
	type job struct{ from, to, left int64 }
	var jobs []job
	first, last := int64(1<<40), int64(0)
items:
	for _, x := range c.Items {
		for _, l := range x.If {
			if !a.Is(l) {
				continue items
			}
		}
		j := job{a.Values[x.From] + x.After, a.Values[x.To], x.Length}
		jobs = append(jobs, j)
		first, last = min(first, j.from), max(last, j.to)
	}
	for now := first; now < last; now++ {
		best := -1
		for i, j := range jobs {
			if j.from <= now && j.left > 0 && (best < 0 || j.to < jobs[best].to) {
				best = i
			}
		}
		if best >= 0 {
			if jobs[best].left--; jobs[best].to <= now {
				return false
			}
		}
	}
	for _, j := range jobs {
		if j.left > 0 {
			return false
		}
	}
	return true
}

func chargesHolds(c *cp.Charges, a cp.Assignment) bool {
	sum := int64(0)
	for i := range c.Items {
		if x := &c.Items[i]; a.Is(x.If) {
			sum += x.Cost(a.Values[x.At])
		} else {
			sum += x.Absent
		}
	}
	for _, t := range c.Terms {
		sum += t.Times * a.Values[t.Var]
	}
	return sum <= c.AtMost
}

func amongHolds(c *cp.Among, a cp.Assignment) bool {
	x := a.Values[c.X]
	found := x == c.At
	for i, v := range c.Of {
		found = found || x == a.Values[v]+c.By[i]
	}
	return found
}
