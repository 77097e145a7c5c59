// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// movedKind are the tasks of one job that are on one host now, -1: on none.
type movedKind struct{ job, host int }

// movesEvidence are tasks by where they are now, with weights, and the price of moving them.
type movesEvidence struct {
	*vcschedNeeds
	weight, count map[movedKind]int64
	price         []int64 // of moving a task, by job
	busy          map[int]bool
	right         *big.Int // the sum that the hosts must hold
	left          int      // of the searches
}

// moves reports whether it follows that no placement stays within a load and the migration
// budget. Let w ≥ 0 be a weight of each task, and p = ⌊λ memory⌋ the price of moving one. C_h are the tasks on host h
// now, C all of these, and β = ⌊λ budget⌋, tolerance included. A placement has tasks S_h on host h. What it moves has
// prices of λ budget at most, and they are whole, so
//
//	Σ_h (w(S_h) + p(S_h ∩ C_h)) = w(all) + p(what stays) ≥ w(all) + p(C) - β.
//
// There is none if Σ_h max_S (w(S) + p(S ∩ C_h)) is less, S over all that fits on h. Without a
// budget λ is 0. Each host's maximum is found by search in whole numbers.
func (n *vcschedNeeds) moves(ctx context.Context, in *model.VCSched, e *model.Evidence) (short bool, how string, err error) {
	m := &movesEvidence{vcschedNeeds: n, weight: map[movedKind]int64{}, count: map[movedKind]int64{}, price: make([]int64, len(in.Jobs)),
		busy: map[int]bool{}, right: new(big.Int), left: maxEvidenceWork / 2 * 3}
	for i := range e.Parts {
		p := &e.Parts[i]
		for k, id := range p.Elements {
			j, ok := n.job(id)
			if !ok {
				return false, "", fmt.Errorf("there is no job %q", id)
			}
			m.weight[movedKind{j, p.Count - 1}] = int64(p.Weights[k])
		}
	}
	how = "the weights of tasks by host"
	lambda := new(big.Rat)
	if len(e.Prices) > 0 {
		if in.MigrationBudget == nil {
			return false, "", errors.New("prices: there is no migration budget")
		}
		lambda, how = exact(e.Prices[0]), how+" and the price of moving"
	}
	sizes := in.Sizes()
	memory := exact(sizes[0].Memory)
	for i := range sizes {
		if x := exact(sizes[i].Memory); x.Cmp(memory) < 0 {
			memory = x
		}
	}
	if err := m.read(in, lambda, memory); err != nil {
		return false, "", err
	}
	sum, host := new(big.Int), 0
	idle := make([]int64, len(n.sizes))
	for i, k := range n.sizeOf {
		for end := host + sizes[i].Count; host < end && sum.Cmp(m.right) < 0; host++ {
			if !m.busy[host] {
				idle[k]++
				continue
			}
			most, err := m.most(ctx, host, &n.sizes[k], e.Load)
			if err != nil {
				return false, "", err
			}
			sum.Add(sum, big.NewInt(most))
		}
	}
	for k, hosts := range idle {
		// No more hosts than tasks have some.
		if hosts = min(hosts, n.all); hosts == 0 || sum.Cmp(m.right) >= 0 {
			continue
		}
		most, err := m.most(ctx, -1, &n.sizes[k], e.Load)
		if err != nil {
			return false, "", err
		}
		sum.Add(sum, bigProduct(most, hosts))
	}
	return sum.Cmp(m.right) < 0, how, nil
}

// read sets the values that depend on the instance: λ is the price of moving the memory of a host, and smallest the
// least of a host's.
func (m *movesEvidence) read(in *model.VCSched, lambda, smallest *big.Rat) error {
	for j := range in.Jobs {
		if in.MigrationBudget == nil || len(in.Jobs[j].CurrentHosts) == 0 {
			m.count[movedKind{j, -1}] = m.tasks[j]
			m.right.Add(m.right, bigProduct(m.weight[movedKind{j, -1}], m.tasks[j]))
			continue
		}
		p := exact(in.Jobs[j].Memory)
		worth := new(big.Int).Quo(p.Mul(p, lambda).Num(), p.Denom())
		if !worth.IsInt64() || worth.Int64() > 1<<60 {
			return tooMuch("prices")
		}
		m.price[j] = worth.Int64()
		for _, h := range in.Jobs[j].CurrentHosts {
			k := movedKind{j, h}
			m.count[k]++
			m.busy[h] = true
			m.right.Add(m.right, big.NewInt(m.weight[k]+m.price[j]))
		}
	}
	if m.right.BitLen() > 61 {
		return tooMuch("weights") // no sum is larger
	}
	if lambda.Sign() > 0 {
		beta := exact(Tolerance)
		beta.Mul(beta, smallest).Add(beta, exact(min(*in.MigrationBudget, math.MaxFloat64))).Mul(beta, lambda)
		m.right.Sub(m.right, new(big.Int).Quo(beta.Num(), beta.Denom()))
	}
	if len(m.busy)*len(m.count) > 8*maxEvidenceWork {
		return tooMuch("tasks by host")
	}
	return nil
}

// most returns the largest worth of tasks that fit on a host.
func (m *movesEvidence) most(ctx context.Context, host int, size *vcschedHosts, load int64) (int64, error) {
	counts := map[weighed]int64{}
	for k, c := range m.count {
		w := m.weight[k]
		if k.host == host && host >= 0 {
			w += m.price[k.job]
		}
		if w > 0 {
			counts[weighed{k.job, w}] += c
		}
	}
	k, err := m.newKnapsack(counts, size, load)
	if err != nil {
		return 0, err
	}
	k.all, k.left = true, m.left
	k.heavier(ctx)
	if m.left = k.left; m.left <= 0 {
		return 0, tooMuch("patterns")
	}
	return k.best, nil
}
