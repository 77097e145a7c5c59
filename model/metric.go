package model

// Metric describes one figure of a solution's quality.
type Metric struct {
	Key   string // short, as in a table's header: "slowdown"
	Name  string // in words: "makespan"
	Unit  string // empty for counts, shares and ratios
	Sense Sense
}

// String returns the name with its unit, as on an axis: "makespan (s)".
func (m Metric) String() string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}

// SenseOf returns the sense of an instance's objective.
func SenseOf(in Instance) Sense { return in.Metrics()[0].Sense }
