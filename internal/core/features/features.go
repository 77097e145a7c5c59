// SPDX-License-Identifier: MIT

// Package features computes figures of instances, by which results are grouped.
package features

import "math"

// Feature is one figure of an instance, computed from the instance alone: results
// are grouped, selected and drawn by it.
//
// A key that the problem's generator has, too, has the generator's meaning; if two problems have one key, its unit is
// the same.
type Feature struct {
	Key   string // short, as in a table's header: "tasks"
	Unit  string // empty for counts, shares and ratios
	Usage string // its meaning, on one line
	Value float64
}

// moments sums weighted values.
type moments struct{ n, sum, squares float64 }

// add counts a value weight times.
func (m *moments) add(x, weight float64) {
	m.n += weight
	m.sum += weight * x
	m.squares += weight * x * x
}

// mean is NaN without values.
func (m *moments) mean() float64 { return m.sum / m.n }

// cov returns the coefficient of variation: the standard deviation of the values
// themselves, not of a sample, over their mean. It is NaN without values and where
// all are 0.
func (m *moments) cov() float64 {
	mean := m.mean()
	return math.Sqrt(max(0, m.squares/m.n-mean*mean)) / mean
}

// offered returns the offered load: work, in machine-seconds, over the machines' capacity from the first arrival to the
// last. It is NaN if all arrive at once.
func offered(work, machines, first, last float64) float64 {
	if !(last > first) {
		return math.NaN()
	}
	return work / (machines * (last - first))
}
