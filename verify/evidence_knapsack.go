// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"context"
	"math/big"
	"slices"
)

// weighed are tasks of a job with a weight.
type weighed struct {
	job    int
	weight int64
}

// knapsack searches a set of items that fits and weighs more than best. If all is set it goes on from each set found,
// with its weight as best, to the heaviest.
type knapsack struct {
	all     bool
	items   []knapsackItem
	free    []int64 // [resource]: the rest of the capacity
	best    int64
	densest [][]int32 // [resource][k]: of the items from k on
	left    int       // steps, in thirds for each resource
	steps   int
}

type knapsackItem struct {
	size          []int64 // [resource]
	weight, count int64
}

// newKnapsack returns a search of tasks, with so many of each, for a host of a size at a load. Tasks that don't fit on
// it alone are left out, and so are resources if it has enough for all.
func (n *vcschedNeeds) newKnapsack(tasks map[weighed]int64, host *vcschedHosts, load int64) (*knapsack, error) {
	capacity, cpu := slices.Clone(host.room), host.cpuAt(big.NewInt(load))
	if cpu.BitLen() > 56 {
		return nil, tooMuch("the load")
	}
	capacity[0] = cpu.Int64()
	total, fitting := make([]int64, len(capacity)), make(map[weighed]int64, len(tasks))
fits:
	for t, count := range tasks {
		for r, x := range capacity {
			if n.need[r][t.job] > x {
				continue fits
			}
		}
		fitting[t] = count
		for r := range total {
			total[r] += n.need[r][t.job] * count // all together are below 2^61
		}
	}
	var binding []int
	for r, x := range capacity {
		if r == 0 || total[r] > x {
			binding = append(binding, r)
		}
	}
	k := &knapsack{left: maxEvidenceWork / 2 * 3}
	for t, count := range fitting {
		x := knapsackItem{make([]int64, 0, len(binding)+1), t.weight, count}
		for _, r := range binding {
			x.size = append(x.size, n.need[r][t.job])
		}
		k.items = append(k.items, x)
	}
	for _, r := range binding {
		k.free = append(k.free, capacity[r])
	}
	k.merge()
	if len(k.items) > maxEvidenceWork/100 { // grow calls itself for each
		return nil, tooMuch("kinds of tasks")
	}
	k.join()
	return k, nil
}

// merge sorts the items and joins equal ones.
func (k *knapsack) merge() {
	slices.SortFunc(k.items, func(a, b knapsackItem) int {
		return cmp.Or(slices.Compare(a.size, b.size), cmp.Compare(a.weight, b.weight))
	})
	merged := k.items[:0]
	for _, x := range k.items {
		if m := len(merged) - 1; m >= 0 && merged[m].weight == x.weight && slices.Equal(merged[m].size, x.size) {
			merged[m].count += x.count
		} else {
			merged = append(merged, x)
		}
	}
	k.items = merged
}

// join adds a resource that is a sum of all, weighted by their scarcity: whatever the shares, a set that fits also fits
// in the sum.
func (k *knapsack) join() {
	if len(k.free) < 2 {
		return
	}
	need, all := make([]float64, len(k.free)), 0.0
	for i := range k.items {
		for r, x := range k.items[i].size {
			need[r] += float64(x) * float64(k.items[i].count) / float64(max(1, k.free[r]))
		}
	}
	for _, x := range need {
		all += x
	}
	share, rest := make([]int64, len(need)), int64(64)
	for r := range need[1:] {
		share[r] = 64 / int64(len(need))
		if all > 0 {
			share[r] = min(rest, int64(64*need[r]/all))
		}
		rest -= share[r]
	}
	share[len(share)-1] = rest
	sum := func(a []int64) (sum int64) {
		for r, x := range a {
			sum += share[r] * x // below 2^62
		}
		return sum
	}
	k.free = append(k.free, sum(k.free))
	for i := range k.items {
		k.items[i].size = append(k.items[i].size, sum(k.items[i].size))
	}
}

// heavier reports whether there is such a set. done is false if it took too long.
func (k *knapsack) heavier(ctx context.Context) (yes, done bool) {
	denser := func(a, b *knapsackItem, r int) bool {
		return product(a.weight, b.size[r]).cmp(product(b.weight, a.size[r])) > 0
	}
	last := len(k.free) - 1
	slices.SortFunc(k.items, func(a, b knapsackItem) int {
		switch {
		case denser(&a, &b, last):
			return -1
		case denser(&b, &a, last):
			return 1
		}
		return cmp.Or(slices.Compare(a.size, b.size), cmp.Compare(a.weight, b.weight))
	})
	k.densest = make([][]int32, len(k.free))
	for r := range k.densest {
		k.densest[r] = make([]int32, len(k.items))
		best := len(k.items) - 1
		for i := best; i >= 0; i-- {
			if denser(&k.items[i], &k.items[best], r) {
				best = i
			}
			k.densest[r][i] = int32(best)
		}
	}
	yes = k.grow(ctx, 0, 0)
	return yes, yes || k.left > 0
}

// grow adds items from i on to a set of a weight, and takes their needs from the free resources.
func (k *knapsack) grow(ctx context.Context, i int, weight int64) bool {
	if weight > k.best {
		if k.best = weight; !k.all {
			return true
		}
	}
	k.left -= max(3, len(k.free))
	if k.steps++; k.left <= 0 || k.steps&0xffff == 0 && ctx.Err() != nil {
		k.left = 0
		return false
	}
	if i == len(k.items) {
		return false
	}
	for r, free := range k.free { // the most that the densest item could still weigh
		if x := &k.items[k.densest[r][i]]; x.size[r] > 0 && product(x.weight, free).cmp(product(k.best-weight, x.size[r])) <= 0 {
			return false
		}
	}
	x := &k.items[i]
	c := x.count
	for r, s := range x.size {
		if s > 0 {
			c = min(c, k.free[r]/s)
		}
	}
	for r, s := range x.size {
		k.free[r] -= c * s
	}
	for ; c >= 0 && k.left > 0; c-- {
		if k.grow(ctx, i+1, weight+c*x.weight) {
			return true
		}
		for r, s := range x.size {
			if c > 0 {
				k.free[r] += s
			}
		}
	}
	return false
}
