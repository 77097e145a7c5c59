// SPDX-License-Identifier: MIT

package placement

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
)

// FirstFitDecreasing places the tasks on equal hosts of the instance's first class, as many as needed, whatever their
// CPU needs. It takes tasks in the order of decreasing size and puts each on the first host that has the rigid
// resources for it. The size is Σ_r weight_r need_r, or the largest of its terms. It returns the hosts, [task],
// numbered from 0. When ctx ends, each task left gets a host of its own.
//
// The hosts are in a segment tree with the most free amount of each resource below each node. It may happen that no
// host of a node has all of it; then the node is entered in vain. A task takes O(log n) in the good case and O(n) in
// the worst, plus sorting.
func FirstFitDecreasing(ctx context.Context, u *view.VCSched, weight []float64, largest bool) []int32 {
	n := len(u.CPU)
	size := make([]float64, n)
	for i := range size {
		for r, needs := range u.Rigid {
			if x := weight[r] * float64(needs[i]); largest {
				size[i] = max(size[i], x)
			} else {
				size[i] += x
			}
		}
	}
	tasks := order.Falling(order.Of[int32](n), size)
	t := newRooms(n, u.Classes[0].Cap)
	hosts, used := make([]int32, n), int32(0)
	needs := make([]int64, len(u.Rigid))
	for k, i := range tasks {
		if k&0xff == 0 && ctx.Err() != nil {
			for _, i := range tasks[k:] {
				hosts[i] = used
				used++
			}
			break
		}
		for r := range needs {
			needs[r] = u.Rigid[r][i]
		}
		hosts[i] = t.placeFirst(needs)
		used = max(used, hosts[i]+1)
	}
	return hosts
}

// Weights returns weights of the rigid resources for FirstFitDecreasing. The capacity of a host counts the same for
// each (even), or as much as the resource is in demand: Σ need / capacity.
func Weights(u *view.VCSched) (even, demand []float64) {
	for r, needs := range u.Rigid {
		sum, has := 0.0, float64(max(1, u.Classes[0].Cap[r]))
		for _, x := range needs {
			sum += float64(x) / has
		}
		even, demand = append(even, 1/has), append(demand, sum/has)
	}
	return even, demand
}

// rooms is a segment tree of hosts with the free amount of each resource.
type rooms struct {
	d    int     // resources
	leaf int     // index of the first leaf, a power of two
	most []int64 // [node*d + resource], the root at 1
}

func newRooms(hosts int, has []int64) *rooms {
	t := &rooms{d: len(has), leaf: 1}
	for t.leaf < hosts {
		t.leaf *= 2
	}
	t.most = make([]int64, 0, 2*t.leaf*t.d)
	for range 2 * t.leaf {
		t.most = append(t.most, has...)
	}
	return t
}

// placeFirst takes the needs from the first host that has them, which it returns. There must be
// one.
func (t *rooms) placeFirst(needs []int64) int32 {
	k := 1
	for {
		fits := true
		for r, has := range t.most[k*t.d : (k+1)*t.d] {
			fits = fits && needs[r] <= has
		}
		switch {
		case !fits: // go to the next subtree to the right
			for k&1 == 1 {
				k /= 2
			}
			k++
			continue
		case k < t.leaf:
			k *= 2
			continue
		}
		break
	}
	for r, x := range needs {
		t.most[k*t.d+r] -= x
	}
	host := int32(k - t.leaf)
	for k /= 2; k > 0; k /= 2 {
		a, b := t.most[2*k*t.d:], t.most[(2*k+1)*t.d:]
		for r := range t.d {
			t.most[k*t.d+r] = max(a[r], b[r])
		}
	}
	return host
}

// Clear returns a placement on one host less than hosts, which uses the given number, in the same class. The tasks of
// the host with the least share used go to the hosts with the most room for their largest need, so they may not fit.
// O(n + tasks moved × hosts).
func Clear(u *view.VCSched, hosts []int32, used int) []int32 {
	even, _ := Weights(u)
	use, share := make([]int64, used*len(even)), make([]float64, used)
	for i, h := range hosts {
		for r, needs := range u.Rigid {
			use[int(h)*len(even)+r] += needs[i]
			share[h] += even[r] * float64(needs[i])
		}
	}
	least, last := 0, int32(used-1)
	for h := range share {
		if share[h] < share[least] {
			least = h
		}
	}
	cleared := slices.Clone(hosts)
	for i, h := range hosts {
		if h == last { // it takes the number of the one that is cleared
			cleared[i] = int32(least)
		}
		if h != int32(least) {
			continue
		}
		best, most := int32(0), 0.0
		for to := range last {
			at := to
			if to == int32(least) {
				at = last
			}
			over := 0.0
			for r, needs := range u.Rigid {
				over = max(over, even[r]*float64(use[int(at)*len(even)+r]+needs[i]))
			}
			if to == 0 || over < most {
				best, most = to, over
			}
		}
		cleared[i] = best
		at := best
		if best == int32(least) {
			at = last
		}
		for r, needs := range u.Rigid {
			use[int(at)*len(even)+r] += needs[i]
		}
	}
	return cleared
}
