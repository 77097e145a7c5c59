// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math/bits"

	"github.com/gapwise/gapwise/model"
)

// dualFunction returns a dual-feasible function on [0, capacity] and its value of the
// capacity, as package bounds defines and proves them; nil is x itself.
func dualFunction(d *model.DualFunction, capacity int64) (f func(x int64) int64, bin int64, err error) {
	if capacity < 1 || capacity > 1<<55 {
		return nil, 0, fmt.Errorf("the capacity %d is out of range", capacity)
	}
	if d == nil {
		return func(x int64) int64 { return x }, capacity, nil
	}
	e := d.Parameter
	switch d.Name {
	case "steps": // of 1/(k+1) of the capacity, in units of 1/(k(k+1))
		if e < 1 || e > 64 {
			return nil, 0, fmt.Errorf("steps of parameter %d", e)
		}
		return func(x int64) int64 {
			high, low := bits.Mul64(uint64(e+1), uint64(x))
			q, rest := bits.Div64(high, low, uint64(capacity))
			if rest == 0 {
				return int64(q) * e
			}
			return int64(q) * (e + 1)
		}, e * (e + 1), nil
	case "threshold":
		if e < 1 || e > capacity/2 {
			return nil, 0, fmt.Errorf("the threshold %d isn't up to half of %d", e, capacity)
		}
		return func(x int64) int64 {
			switch {
			case x > capacity-e:
				return capacity
			case x < e:
				return 0
			}
			return x
		}, capacity, nil
	case "pieces", "halves":
		if d.Name == "halves" {
			return func(x int64) int64 {
				switch {
				case x > capacity-x:
					return 2
				case x == capacity-x:
					return 1
				}
				return 0
			}, 2, nil
		}
		if e < 1 || e > capacity/2 {
			return nil, 0, fmt.Errorf("pieces of %d aren't up to half of %d", e, capacity)
		}
		all := capacity / e
		return func(x int64) int64 {
			switch {
			case x > capacity-x:
				return 2 * (all - (capacity-x)/e)
			case x == capacity-x:
				return all
			}
			return 2 * (x / e)
		}, 2 * all, nil
	}
	return nil, 0, fmt.Errorf("there is no dual-feasible function %q", d.Name)
}
