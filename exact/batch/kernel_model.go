// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
)

// kernelModel is the constraint model of the offline problem on one tier: a start for
// each job, the processors or the pooled resources of nodes, and the weighted sum of the responses, in units.
type kernelModel struct {
	cp.Model
	starts []cp.Var
}

// newKernelModel returns the model of the schedules with a sum of at most most. Some optimum is among them if its sum
// is at most most: jobs run through (batchbounds.Serial).
//
// Devices that leave an optimum, all at once:
//
//   - active: each job starts at its submission or at another's end. This holds in every optimum: a job k that starts
//     later than both also fits one unit earlier, because every other job that runs then also runs at k's start,
//     on the same nodes.
//   - identical: of jobs as long and as wide, i with r_i ≤ r_k and ω_i ≥ ω_k starts no
//     later than k, see tree.expand: a swap of their starts makes no optimum worse. On nodes their needs are equal, and
//     they swap their nodes, too.
func newKernelModel(ctx context.Context, j *jobs, most int64, off deviceSet) *kernelModel {
	n := len(j.release)
	m := &kernelModel{}
	end, last, constant := int64(0), int64(0), int64(0)
	for k := range n {
		end += j.length[k]
		last = max(last, j.release[k])
		constant += j.weight[k] * (j.length[k] - j.release[k])
	}
	m.Objective = m.Int(0, most)
	m.Call(m.Objective, "response")
	var starts []cp.Start
	sum := &cp.Linear{AtMost: -constant, Terms: []cp.Term{{Times: -1, Var: m.Objective}}}
	for k := range n {
		// The others run one after the other at worst from the last submission on.
		high := last + end - j.length[k]
		if response := most / j.weight[k]; response < high+j.length[k]-j.release[k] {
			high = j.release[k] - j.length[k] + response
		}
		s := m.Int(j.release[k], high)
		m.Call(s, fmt.Sprint("start ", k))
		m.starts = append(m.starts, s)
		starts = append(starts, cp.Start{If: cp.True, At: s})
		sum.Terms = append(sum.Terms, cp.Term{Times: j.weight[k], Var: s})
	}
	if j.t.Nodes == nil {
		m.AddAs("processors", &cp.Cumulative{Capacity: j.processors, Starts: starts, Lengths: j.length, Demands: j.width})
	}
	m.AddAs("responses", sum)
	switch {
	case j.t.Nodes != nil:
		m.pool(ctx, j, starts, most, constant, off)
	case off&devPrices == 0 && n > 0:
		m.charge(j, batchbounds.NewPriced(ctx, j.t, float64(most)*float64(j.units.Time), priceSteps(n)), starts, nil, 1, constant)
	}
	for k := range n {
		if off&devActive == 0 {
			a := &cp.Among{X: m.starts[k], At: j.release[k]}
			for i := range n {
				if i != k {
					a.Of, a.By = append(a.Of, m.starts[i]), append(a.By, j.length[i])
				}
			}
			m.Add(a)
		}
		for i := range n {
			if off&devIdentical == 0 && j.before(i, k) {
				m.Add(&cp.Delay{From: starts[i : i+1], To: starts[k : k+1], By: [][]int64{{0}}})
			}
		}
	}
	m.Integers = slices.Clone(m.starts)
	density := func(v cp.Var) float64 {
		k := slices.Index(m.starts, v)
		return float64(j.weight[k]) / float64(j.length[k]) / float64(j.width[k])
	}
	order.Stable(m.Integers, func(a, b cp.Var) int { return cmp.Compare(density(b), density(a)) })
	return m
}

// mostCharged exceeds the sum of all figures in the row of charges, as a float64.
const mostCharged = 1 << 58

// charge adds the Lagrangian bound of prices (batchbounds.Priced) in whole numbers. Job k pays λ_k(t) ≥ 0 for each unit
// of time in which it runs, in whole multiples of 1/scale. The integral is Λ_k. The jobs that run at the time t pay
// K(t) together at most. So
//
//	Σ_k scale ω_k s_k + scale (Λ_k(s_k+p_k) - Λ_k(s_k)) ≤ scale (responses - constant) + scale ∫ K(t) dt,
//
// for the responses are Σ_k ω_k s_k + constant. Prices are rounded down and K up. Any prices are valid; good ones make
// the row tight. It is a global constraint for the sum of weighted starts (Kovács, Beck 2008) with the multipliers of
// the root. Job k is of[k] of the priced jobs, or pays nothing if that is negative; nil: job k is k.
// Prices are in so many times the unit of weight.
func (m *kernelModel) charge(j *jobs, priced *batchbounds.Priced, starts []cp.Start, of []int, times float64, constant int64) {
	at, _ := priced.Prices(0)
	for i := range at {
		at[i] = (at[i] - j.first) / j.units.Time
	}
	// The largest of both sides; each job may pay for all the time.
	size, paid := 2*float64(m.High[m.Objective])+math.Abs(float64(constant)), 0.0
	room := priced.Room()
	for c, x := range room {
		paid += x * times * float64(at[c+1]-at[c])
	}
	for k, s := range m.starts {
		size += float64(j.weight[k])*float64(m.High[s]) + paid
	}
	_, bits := math.Frexp((size + paid) / mostCharged)
	if bits > 0 {
		return
	}
	scale := int64(1) << min(-bits, 12)
	row := &cp.Charges{Terms: []cp.Term{{Times: -scale, Var: m.Objective}}, AtMost: -scale * constant}
	for c, x := range room {
		if at[c+1] > at[c] {
			row.AtMost += (int64(x*times*float64(scale)*(1+0x1p-40)) + 1) * (at[c+1] - at[c])
		}
	}
	for k := range m.starts {
		item := cp.Charged{Start: starts[k], Length: j.length[k], Slope: scale * j.weight[k]}
		var price []float64
		switch {
		case of == nil:
			_, price = priced.Prices(k)
		case of[k] >= 0:
			_, price = priced.Prices(of[k])
		}
		r := &item.Rate
		r.Times, r.Paid = []int64{at[0]}, []int64{0}
		for c := range room {
			x := 0.0
			if price != nil {
				x = price[c] * times
			}
			if length := at[c+1] - at[c]; length > 0 {
				r.Times = append(r.Times, at[c+1])
				r.Paid = append(r.Paid, r.Paid[len(r.Paid)-1]+int64(x*float64(scale))*length)
			}
		}
		row.Items = append(row.Items, item)
	}
	m.AddAs("charges", row)
}

// before reports whether an identical job i goes before k, see tree.expand.
func (j *jobs) before(i, k int) bool {
	return j.length[i] == j.length[k] && j.width[i] == j.width[k] && j.t.Jobs[i].Needs == j.t.Jobs[k].Needs && j.release[i] <= j.release[k] && j.weight[i] >= j.weight[k] &&
		(j.release[i] < j.release[k] || j.weight[i] > j.weight[k] || i < k)
}
