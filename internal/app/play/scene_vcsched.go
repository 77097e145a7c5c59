// SPDX-License-Identifier: MIT

package play

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/model"
)

// vcschedScene draws the use of each host's resources by its tasks.
func vcschedScene(in *model.VCSched, p *model.Placement) (*Scene, error) {
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
				return nil, fmt.Errorf("%w placement: job %q is on host %d, there are 0 to %d", model.ErrInvalid, j.ID, h, in.Hosts-1)
			}
			need[h] += j.CPU
			if j.CPU > 0 && k < len(p.Jobs[i].CPU) {
				least = min(least, p.Jobs[i].CPU[k]/j.CPU)
			}
		}
	}
	const full = 1 - 1e-6
	for h := range in.Hosts {
		size := in.Capacity(h)
		group := fmt.Sprint("host ", h)
		if len(in.HostSizes) > 1 {
			group += fmt.Sprintf(" (CPU %.4g)", size.CPU)
		}
		for r, name := range resources {
			row := Row{Label: name, Group: group, Lanes: 1, Drop: fmt.Sprint("host:", h)}
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
			size := in.Capacity(h)
			name, role, from := clean(j.ID), Role(""), ""
			if j.Tasks > 1 {
				name = fmt.Sprintf("%s (task %d of %d)", clean(j.ID), k+1, j.Tasks)
			}
			if k < len(j.CurrentHosts) && j.CurrentHosts[k] != h {
				role, from = Moved, fmt.Sprintf("moves here from host %d", j.CurrentHosts[k])
			}
			given := 0.0
			if k < len(p.Jobs[i].CPU) {
				given = p.Jobs[i].CPU[k]
			}
			yield := "needs no CPU"
			if j.CPU > 0 {
				yield = fmt.Sprintf("gets %.4g of the CPU of a host, needs %.4g: yield %.4g", given, j.CPU, given/j.CPU)
			}
			facts := []string{"job " + name + fmt.Sprint(" on host ", h), yield, fmt.Sprintf("memory %.4g", j.Memory)}
			for r, resource := range in.Resources {
				facts = append(facts, fmt.Sprintf("%s %.4g", clean(resource), j.Rigid(r)))
			}
			if from != "" {
				facts = append(facts, from)
			}
			for r := range resources {
				amount, of := given, size.CPU
				if r > 0 {
					amount, of = j.Rigid(r-2), size.Rigid(r-2)
				}
				if of <= 0 || amount <= 0 {
					continue
				}
				x.pile(taken, h*len(resources)+r, 100*amount/of, Box{Item: j.ID, Task: k, Lanes: 1, Label: clean(j.ID), Role: role, Tint: i % tints, Facts: facts, Drag: "row"})
			}
		}
	}
	return x, nil
}
