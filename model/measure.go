package model

// Measure is what an objective measures.
type Measure struct {
	Name  string // as it stands in a sentence: "minimise the makespan"
	Unit  string // empty for counts, shares and ratios
	Sense Sense  // the direction in which it improves
}

// String is the name with its unit, as on an axis: "makespan (s)".
func (m Measure) String() string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}

// Objectives tells what the objective and the second objective of an instance
// measure. The names belong to the instance, not to its kind: what a
// Reservation counts depends on its goal.
func Objectives(in Instance) (first, second Measure) {
	switch typed := in.(type) {
	case *VCSched:
		return Measure{"minimum yield", "", Maximise}, Measure{"average yield", "", Maximise}
	case *DAG:
		return Measure{"makespan", "s", Minimise}, Measure{"mean finish time", "s", Minimise}
	case *Reservation:
		second = Measure{"mean slowdown", "", Minimise}
		if typed.EffectiveGoal() == GoalPESeconds {
			return Measure{"accepted PE-seconds", "", Maximise}, second
		}
		return Measure{"accepted requests", "", Maximise}, second
	}
	return Measure{Name: "objective", Sense: in.Sense()}, Measure{Name: "second objective", Sense: in.Sense()}
}
