// SPDX-License-Identifier: MIT

package draw

// For tests of the charts by themselves.
type (
	Arrow = ganttArrow
	Bar   = ganttBar
	Mark  = ganttMark
	Panel = ganttPanel
	Row   = ganttRow
)

var (
	Gantt, Bookings, Execution, Schedule, Clusters = drawGantt, drawBookings, drawExecution, drawSchedule, drawClusters

	ErrFormat = errFormat
)

const (
	MaxRectangles  = maxRectangles
	MaxCurves      = maxCurves
	OtherTransfers = otherTransfers
)
