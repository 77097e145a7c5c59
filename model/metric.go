package model

// Metric is one figure that tells how good a solution is.
type Metric struct {
	Key   string // short, as in the columns of a table: "slowdown"
	Name  string // as in a sentence: "minimise the makespan"
	Unit  string // empty for counts, shares and ratios
	Sense Sense  // the direction in which it improves
}

// String returns the name with its unit, as on an axis: "makespan (s)".
func (m Metric) String() string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}

// SenseOf returns the direction in which an instance's objective improves.
func SenseOf(in Instance) Sense { return in.Metrics()[0].Sense }
