// SPDX-License-Identifier: MIT

package kubernetes

import (
	"math"
	"slices"
)

// The score plugins of kube-scheduler 1.37 by default (its pkg/scheduler/apis/config/v1/default_plugins.go).
const (
	most           = 100 // a plugin's highest score
	weightTaints   = 3
	weightNodes    = 2 // preferred node affinity
	weightSpread   = 2
	weightPods     = 2 // preferred pod affinity
	hardPods       = 1 // the weight of an existing pod's required affinity
	smallestImages = 23 << 20
	largestImages  = 1000 << 20 // a container
)

// scores returns the scores of the feasible nodes for a pod of job i, each plugin's by its weight.
func (x *Scheduler) scores(i int, nodes []int) []int64 {
	f := x.preferencesOf(i)
	x.scored += len(nodes)
	scores := make([]int64, len(nodes))
	taints, preferred := make([]int64, len(nodes)), make([]int64, len(nodes))
	for n, h := range nodes {
		taints[n] = f.taints[h]
		if f.nodes != nil {
			preferred[n] = f.nodes[h]
		}
		scores[n] = x.fit(f, h) + f.images[h]
		if !f.packs {
			scores[n] += x.balance(f, h)
		}
	}
	scale(taints, true)
	scale(preferred, false)
	for n := range nodes {
		scores[n] += weightTaints*taints[n] + weightNodes*preferred[n]
	}
	x.addSpread(f, nodes, scores)
	x.addTerms(f, nodes, scores)
	return scores
}

// fit is the score of NodeResourcesFit: the mean share that is left of CPU and memory, or is taken.
func (x *Scheduler) fit(f *preferences, h int) int64 {
	sum, kinds := int64(0), int64(0)
	for _, r := range [][3]int64{{x.room[h].cpu, x.used[h].assumedCPU, f.needs.assumedCPU}, {x.room[h].memory, x.used[h].assumedMemory, f.needs.assumedMemory}} {
		room, requested := r[0], r[1]+r[2]
		if room == 0 {
			continue
		}
		kinds++
		switch {
		case f.packs:
			sum += min(requested, room) * most / room
		case requested <= room:
			sum += (room - requested) * most / room
		}
	}
	if kinds == 0 {
		return 0
	}
	return sum / kinds
}

// balance is the score of NodeResourcesBalancedAllocation: how much the pod evens the shares of CPU and memory.
func (x *Scheduler) balance(f *preferences, h int) int64 {
	if f.needs.cpu == 0 && f.needs.memory == 0 {
		return 0
	}
	even := func(u usage) int64 {
		room, deviation := x.room[h], 0.0
		if room.cpu > 0 && room.memory > 0 {
			deviation = math.Abs((min(1, float64(u.cpu)/float64(room.cpu)) - min(1, float64(u.memory)/float64(room.memory))) / 2)
		}
		return int64((1 - deviation) * most)
	}
	with := x.used[h]
	with.add(f.needs, 1)
	return most/2 + (most/2+even(with)-even(x.used[h]))/2
}

// scale brings counts to at most the highest score, the highest count to 0 if fewer are better.
func scale(counts []int64, fewer bool) {
	if len(counts) == 0 {
		return
	}
	highest := slices.Max(counts)
	for n := range counts {
		if highest > 0 {
			counts[n] = most * counts[n] / highest
		}
		if fewer {
			counts[n] = most - counts[n]
		}
	}
}

// addSpread adds the scores of PodTopologySpread.
func (x *Scheduler) addSpread(f *preferences, nodes []int, scores []int64) {
	if len(f.spread) == 0 {
		return
	}
	lacks := func(h int) bool {
		return f.strict && slices.ContainsFunc(f.spread, func(q softSpread) bool { return q.of[h] == q.missing })
	}
	sums, out := make([]float64, len(nodes)), make([]bool, len(nodes))
	scored := 0
	for n, h := range nodes {
		if out[n] = lacks(h); !out[n] {
			scored++
		}
	}
	for k := range f.spread {
		q := &f.spread[k]
		counts := slices.Clone(q.rest)
		if counts == nil {
			counts = make([]int64, len(x.used))
		}
		for _, j := range q.others {
			for _, h := range x.State.Plan[j] {
				if h >= 0 && int(h) < len(counts) {
					counts[h]++
				}
			}
		}
		there, values := make([]bool, q.missing+1), 0
		for n, h := range nodes {
			if v := q.of[h]; !out[n] && !there[v] {
				there[v] = true
				values++
			}
		}
		if q.hosts {
			values = scored
		}
		sum := make([]int64, q.missing+1)
		for h := range counts {
			if v := q.of[h]; q.counted[h] && there[v] && !lacks(h) {
				sum[v] += counts[h]
			}
		}
		weight := math.Log(float64(values + 2))
		for n, h := range nodes {
			if out[n] || q.of[h] == q.missing {
				continue
			}
			count := sum[q.of[h]]
			if q.hosts {
				count = counts[h]
			}
			sums[n] += float64(count)*weight + float64(q.skew-1)
		}
	}
	least, highest := int64(math.MaxInt64), int64(0)
	for n := range sums {
		if !out[n] {
			least, highest = min(least, int64(math.Round(sums[n]))), max(highest, int64(math.Round(sums[n])))
		}
	}
	for n := range sums {
		switch {
		case out[n]:
		case highest == 0:
			scores[n] += weightSpread * most
		default:
			scores[n] += weightSpread * (most * (highest + least - int64(math.Round(sums[n]))) / highest)
		}
	}
}

// addTerms adds the scores of InterPodAffinity.
func (x *Scheduler) addTerms(f *preferences, nodes []int, scores []int64) {
	if len(f.terms) == 0 {
		return
	}
	raw := make([]int64, len(nodes))
	for k := range f.terms {
		t := &f.terms[k]
		sum := make([]int64, t.missing+1)
		for h, n := range t.rest {
			sum[t.of[h]] += n
		}
		if t.job >= 0 {
			for _, h := range x.State.Plan[t.job] {
				if h >= 0 && int(h) < len(t.of) {
					sum[t.of[h]]++
				}
			}
		}
		for n, h := range nodes {
			if v := t.of[h]; v != t.missing {
				raw[n] += t.weight * sum[v]
			}
		}
	}
	if len(raw) == 0 {
		return
	}
	least, highest := slices.Min(raw), slices.Max(raw)
	for n := range raw {
		if highest > least {
			scores[n] += weightPods * int64(most*(float64(raw[n]-least)/float64(highest-least)))
		}
	}
}
