// SPDX-License-Identifier: MIT

package vcsched

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/steps"
	"github.com/gapwise/gapwise/model"
)

// tracer reports the steps of MCB8; nil: nobody listens.
type tracer struct {
	in    *model.VCSched
	u     *view.VCSched
	first []int32 // [job]: its first task
	steps.Teller
}

func newTracer(in *model.VCSched, u *view.VCSched, set model.Settings) *tracer {
	if set.Trace == nil {
		return nil
	}
	x := &tracer{in: in, u: u, first: make([]int32, len(in.Jobs)), Teller: set.Trace}
	for i := 1; i < len(in.Jobs); i++ {
		x.first[i] = x.first[i-1] + int32(in.Jobs[i-1].Tasks)
	}
	return x
}

// task returns the id of a task's job, and the task's name.
func (x *tracer) task(i int32) (id, name string) {
	job := x.u.Job[i]
	id = x.in.Jobs[job].ID
	if x.in.Jobs[job].Tasks > 1 {
		return id, fmt.Sprintf("job %s, task %d", id, i-x.first[job])
	}
	return id, "job " + id
}

// figures returns the number of a task within its job, and the host's number.
func (x *tracer) figures(i, host int32) []model.StepValue {
	return steps.Figures("task", float64(i-x.first[x.u.Job[i]]), "host", float64(host))
}

// yield reports the yield that is tried, and the lists of tasks, [resource, CPU first].
func (x *tracer) yield(yield float64, lists [][]int32) {
	if x == nil {
		return
	}
	var words []string
	for r, list := range lists {
		var tasks []string
		for _, i := range list {
			_, name := x.task(i)
			tasks = append(tasks, name)
		}
		if len(tasks) == 0 {
			tasks = []string{"nothing"}
		}
		words = append(words, fmt.Sprintf("the %s list has %s", x.resource(r), strings.Join(tasks, "; ")))
	}
	x.Tell("yield", "", steps.Figures("yield", yield), "yield %.6g is tried: %s", yield, strings.Join(words, ". And "))
}

// resource names resource r of a packer's.
func (x *tracer) resource(r int) string {
	if r == 0 {
		return "CPU"
	}
	return x.u.Names[r-1]
}

// left says which share a host has left of each resource, and returns it as values.
func (x *tracer) left(share []float64) (words string, values []model.StepValue) {
	var parts []string
	for r, v := range share {
		parts = append(parts, fmt.Sprintf("%.4g of its %s", v, x.resource(r)))
		values = append(values, steps.Figures(x.resource(r)+" left", v)...)
	}
	return strings.Join(parts, " and "), values
}

// pick reports that a host with the given shares left takes task i of a list. The host wanted a task of the list wanted
// first.
func (x *tracer) pick(host int32, share []float64, wanted, list int, i int32) {
	if x == nil {
		return
	}
	id, name := x.task(i)
	left, values := x.left(share)
	other := ""
	if wanted != list {
		other = fmt.Sprintf("nothing of the %s list fits; ", x.resource(wanted))
	}
	x.Tell("place", id, append(x.figures(i, host), values...),
		"host %d has %s left: %sthe first of the %s list that fits is %s", host, left, other, x.resource(list), name)
}

// shut reports that no task fits on a host any more.
func (x *tracer) shut(host int32, share []float64, tasks int) {
	if x == nil {
		return
	}
	left, values := x.left(share)
	why := "all tasks have a host"
	if tasks > 0 {
		why = fmt.Sprintf("it has %s left, and none of the %d tasks left fits", left, tasks)
	}
	values = append(steps.Figures("host", float64(host), "tasks left", float64(tasks)), values...)
	x.Tell("close", "", values, "host %d closes: %s", host, why)
}

// tried reports whether all was packed at a yield, and between which yields the largest is searched now.
func (x *tracer) tried(yield float64, packed bool, low, high float64) {
	if x == nil {
		return
	}
	what, words := "packed", "all tasks are packed"
	if !packed {
		what, words = "unpacked", "the hosts are full before all tasks are packed"
	}
	x.Tell(what, "", steps.Figures("yield", yield, "from", low, "to", high),
		"yield %.6g: %s; the largest yield is searched from %.6g to %.6g", yield, words, low, high)
}

// again reports that all is done again, with a little less of each resource.
func (x *tracer) again() {
	if x != nil {
		x.Tell("again", "", nil, "some host holds that but for the rounding of needs: again, with hosts smaller by it")
	}
}
