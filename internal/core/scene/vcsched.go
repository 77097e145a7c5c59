// SPDX-License-Identifier: MIT

package scene

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/model"
)

// vcsched draws the use of each host's resources by its tasks. The CPU of a host is tight if none of its tasks could
// get more than the minimum yield without another getting less.
func vcsched(in *model.VCSched, p *model.Placement, o Options) (*Scene, error) {
	if err := in.CheckShape(p); err != nil {
		return nil, err
	}
	x := &Scene{Unit: "%", High: 100}
	resources := append([]string{"CPU", "memory"}, in.Resources...)
	least := math.Inf(1)
	need := make([]float64, in.Hosts) // of the CPU
	for i := range p.Jobs {
		j := &in.Jobs[i]
		for k, h := range p.Jobs[i].Hosts {
			if h < 0 || h >= in.Hosts {
				return nil, fmt.Errorf("%w placement: job %q is on host %d, there are 0 to %d", model.ErrInvalid, j.ID, h,
					in.Hosts-1)
			}
			need[h] += j.CPU
			if j.CPU > 0 {
				least = min(least, p.Jobs[i].CPU[k]/j.CPU)
			}
		}
	}
	const full = 1 - 1e-6
	for h := range in.Hosts {
		size := in.Capacity(h)
		name := fmt.Sprint("host ", h)
		group := name
		if len(in.HostSizes) > 1 {
			group += fmt.Sprintf(" (CPU %.4g)", size.CPU)
		}
		for r, resource := range resources {
			row := Row{Label: Clean(resource), Group: group, Lanes: 1, Drop: fmt.Sprint("host:", h), Name: name}
			if r == 0 && least < full && need[h]*least >= full*size.CPU {
				row.Role = Tight
			}
			x.row(row)
		}
	}
	taken := make([]float64, len(x.Rows))
	for i := range p.Jobs {
		j := &in.Jobs[i]
		for k, h := range p.Jobs[i].Hosts {
			given, size := p.Jobs[i].CPU[k], in.Capacity(h)
			b := Box{Item: j.ID, Task: k, Label: Clean(j.ID), Tint: i, Drag: "row", Number: i}
			if k < len(j.CurrentHosts) && j.CurrentHosts[k] != h {
				b.Role, b.From = Moved, fmt.Sprint(j.CurrentHosts[k])
			}
			b.facts = func() []string { return vmFacts(in, &b, h, given) }
			for r := range resources {
				amount, of := given, size.CPU
				if r > 0 {
					amount, of = j.Rigid(r-2), size.Rigid(r-2)
				}
				one := b
				if of > 0 && r == 0 {
					one.Need = 100 * max(0, j.CPU-given) / of
				}
				if of > 0 && (amount > 0 || one.Need > 0 && !o.Page) { // without any of it nobody needs any
					x.pile(taken, h*len(resources)+r, 100*amount/of, one)
				}
			}
		}
	}
	return x, nil
}

// vmFacts describe a task on a host, where it is given some of the CPU.
func vmFacts(in *model.VCSched, b *Box, h int, given float64) []string {
	j := &in.Jobs[b.Number]
	yield := "needs no CPU"
	if j.CPU > 0 {
		yield = fmt.Sprintf("gets %.4g of the CPU of a host, needs %.4g: yield %.4g", given, j.CPU, given/j.CPU)
	}
	facts := []string{"job " + taskName(j.ID, b.Task, j.Tasks) + fmt.Sprint(" on host ", h), yield,
		fmt.Sprintf("memory %.4g", j.Memory)}
	for r, resource := range in.Resources {
		facts = append(facts, fmt.Sprintf("%s %.4g", Clean(resource), j.Rigid(r)))
	}
	if b.From != "" {
		facts = append(facts, "moves here from host "+b.From)
	}
	return facts
}

// taskName returns the name of one of a job's tasks.
func taskName(job string, task, tasks int) string {
	if tasks > 1 {
		return fmt.Sprintf("%s (task %d of %d)", Clean(job), task+1, tasks)
	}
	return Clean(job)
}
