// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"sort"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
)

// taskShare is a part of a task on a host, from 0 to 1.
type taskShare struct {
	host int32
	part float64
}

// evenly returns an optimal solution of the linear relaxation of Eq. 12-21 for equal hosts with memory alone (plain):
// the parts of each task by host. Like a vertex it has few, at most n + 2H in all.
//
// Let C and M be the sums of the CPU and memory needs. The yield is at most min(1, H/C), whatever the hosts hold, and M
// is at most their memory. If each host has needs of C/H and M/H, that yield is reached. To find such parts, put the
// tasks side by side by memory over CPU, each as wide as its CPU need. The memory of a window of the width C/H is
// continuous and doesn't fall from left to right, for the ratio doesn't. The first window has at most the mean M/H,
// since it has the smallest ratios, and the last one at least the mean. So one window between has exactly that: it is
// the first host's. The tasks left have the same order, and the same means for the H-1 other hosts.
//
// Sums are of floating-point numbers: parts are probabilities, and decide no claim. O(n log n + nH).
func evenly(ctx context.Context, u *view.VCSched) ([][]taskShare, error) {
	room, memory := u.Classes[0].Cap[0], 0.0
	for _, x := range u.Memory {
		memory += float64(x)
	}
	if memory > float64(room)*float64(u.Hosts) {
		return nil, errRelaxation
	}
	ratios := make([]float64, len(u.CPU))
	for i := range ratios {
		ratios[i] = float64(u.Memory[i]) / float64(u.CPU[i])
	}
	order := order.By(order.Of[int32](len(u.CPU)), ratios)
	left, shares := make([]float64, len(order)), make([][]taskShare, len(order))
	for i := range left {
		left[i] = 1
	}
	// Sums over the tasks before each in order, of what is left of them.
	cpus, memories := make([]float64, len(order)+1), make([]float64, len(order)+1)
	looks := watch{ctx: ctx}
	for h := 0; h < u.Hosts && len(order) > 0; h++ {
		if looks.over(4 * len(order)) {
			return nil, stopped(ctx)
		}
		n := len(order)
		for k, i := range order {
			cpus[k+1] = cpus[k] + left[i]*float64(u.CPU[i])
			memories[k+1] = memories[k] + left[i]*float64(u.Memory[i])
		}
		from, to := 0.0, cpus[n]
		if others := u.Hosts - h; others > 1 {
			width, mean := cpus[n]/float64(others), memories[n]/float64(others)
			before := func(at float64) float64 { // the memory to the left of a point
				k := min(max(sort.SearchFloat64s(cpus[:n+1], at), 1), n)
				return memories[k-1] + (memories[k]-memories[k-1])*min(1, (at-cpus[k-1])/(cpus[k]-cpus[k-1]))
			}
			for low, high := 0.0, cpus[n]-width; ; {
				from = (low + high) / 2
				if from <= low || from >= high {
					break
				}
				if before(from+width)-before(from) < mean {
					low = from
				} else {
					high = from
				}
			}
			to = from + width
		}
		keep := order[:0]
		for k, i := range order {
			// A sliver that is left by rounding goes with the rest.
			part := max(0, min(to, cpus[k+1])-max(from, cpus[k])) / float64(u.CPU[i])
			if part > left[i]-1e-9 || h == u.Hosts-1 {
				part = left[i]
			}
			if left[i] -= part; part > 0 {
				shares[i] = append(shares[i], taskShare{int32(h), part})
			}
			if left[i] > 0 {
				keep = append(keep, i)
			}
		}
		order = keep
	}
	return shares, nil
}
