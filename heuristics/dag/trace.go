package dag

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// tracer tells the steps of a list scheduler; nil: nobody listens.
type tracer struct {
	d    *model.DAG
	emit func(model.Step)
}

func newTracer(d *model.DAG, set model.Settings) *tracer {
	if set.Trace == nil {
		return nil
	}
	return &tracer{d, set.Trace}
}

// ranks tells the rank of each task, in the order of the instance.
func (x *tracer) ranks(name string, rank []float64) {
	if x == nil {
		return
	}
	for t, v := range rank {
		id := x.d.Tasks[t].ID
		x.emit(model.Step{What: "rank", Of: id, Words: fmt.Sprintf("task %s: %s %.3f", id, name, v), Values: []model.StepValue{{Name: name, Value: v}}})
	}
}

// order tells the order in which tasks are placed, where it doesn't depend on
// their places.
func (x *tracer) order(tasks []int32) {
	if x == nil {
		return
	}
	ids := make([]string, len(tasks))
	for k, t := range tasks {
		ids[k] = x.d.Tasks[t].ID
	}
	x.emit(model.Step{What: "order", Words: "order: " + strings.Join(ids, ", ")})
}

// basis is what a choice goes by beside the finish by insertion; zero values: nothing.
type basis struct {
	finish func(machine int32) float64                 // in place of that by insertion
	value  func(machine int32, finish float64) float64 // another value of each machine
	name   string                                      // of the value
	why    string
}

// choose tells, before task t is placed on machine m at start, when it would finish on
// each machine.
func (x *tracer) choose(b *builder, t, m int32, start float64, by basis) {
	if x == nil {
		return
	}
	id := x.d.Tasks[t].ID
	s := model.Step{What: "place", Of: id}
	at := b.arrive(t)
	var words []string
	for k := range b.lines {
		length := b.cost(t, int32(k))
		finish := b.lines[k].find(at[k], length) + length
		if by.finish != nil {
			finish = by.finish(int32(k))
		}
		machine := x.d.Machines[k].ID
		text := fmt.Sprintf("%.6g on %s", finish, machine)
		s.Values = append(s.Values, model.StepValue{Name: "finish on " + machine, Value: finish})
		if by.value != nil {
			v := by.value(int32(k), finish)
			text += fmt.Sprintf(" (%s %.6g)", by.name, v)
			s.Values = append(s.Values, model.StepValue{Name: by.name + " on " + machine, Value: v})
		}
		words = append(words, text)
	}
	end := start + b.cost(t, m)
	s.Values = append(s.Values, model.StepValue{Name: "start", Value: start}, model.StepValue{Name: "finish", Value: end})
	s.Words = fmt.Sprintf("task %s: finishes at %s: %s, %.6g-%.6g", id, strings.Join(words, ", "), x.d.Machines[m].ID, start, end)
	if by.why != "" {
		s.Words += ", " + by.why
	}
	x.emit(s)
}
