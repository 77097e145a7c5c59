// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"math"
)

// Metric describes one figure of a solution's quality.
type Metric struct {
	Key   string // short, as in a table's header: "slowdown"
	Name  string // in words: "makespan"
	Unit  string // empty for counts, shares and ratios
	Sense Sense
	Whole bool // its values are whole numbers
}

// Closed reports whether a bound proves an objective optimal up to a relative gap. For whole numbers DefaultGap asks
// for more: no number may be left between the two.
func (m Metric) Closed(objective, bound, gapLimit float64) bool {
	return Gap(objective, bound) <= gapLimit && !(m.Whole && gapLimit <= DefaultGap && math.Abs(objective-bound) >= 1)
}

// String returns the name with its unit, as on an axis: "makespan (s)".
func (m Metric) String() string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}

// Long returns a time of an hour and more in hours or days, for people: "7.51 d"; "" for others.
func (m Metric) Long(value float64) string {
	size := math.Abs(value)
	switch {
	case m.Unit != "s" || !(size >= 3600) || math.IsInf(value, 0):
		return ""
	case size < 48*3600:
		return fmt.Sprintf("%.3g h", value/3600)
	case size < 1000*24*3600:
		return fmt.Sprintf("%.3g d", value/86400)
	}
	return fmt.Sprintf("%.0f d", value/86400)
}

// SenseOf returns the sense of an instance's objective.
func SenseOf(in Instance) Sense { return in.Metrics()[0].Sense }
