// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// ablation is what each device of a problem's native engine brings on the plan
// ablation-KIND. It stands in docs/results/ablation/KIND.json, for the document and for the
// test that holds devices to it.
type ablation struct {
	Code    string `json:"code"`              // when it ran, see codeOf
	Changed bool   `json:"changed,omitempty"` // the code has changed since: to be run again
	// Rows are the search as it is and then without each device.
	Rows []ablationRow `json:"rows"`
}

// ablationRow is the search without a device, "" without none.
type ablationRow struct {
	Name    string `json:"device"`
	Summary string `json:"-"`
	Proved  int    `json:"proved"`
	Runs    int    `json:"runs"`
	// Gap is the mean, as a share, to the best bound of any run on the instance; 0 where
	// there is none.
	Gap float64 `json:"gap"`
	// Nodes and Time are of the instances that both this and the whole search prove, as
	// multiples of the whole search's.
	Nodes float64 `json:"nodes"`
	Time  float64 `json:"time"`
}

// shows reports whether a row says that its device brings something: without it less
// is proved, gaps are wider, there are more nodes by a hundredth, or it takes more time by
// a fifth, which the mean of some dozens of instances hardly does by chance.
func (x *ablationRow) shows(whole *ablationRow) bool {
	return x.Proved < whole.Proved || x.Gap > 1.01*whole.Gap+1e-9 || x.Nodes > 1.01 || x.Time > 1.2
}

func ablationFile(kind string) string {
	return filepath.Join("docs", "results", "ablation", kind+".json")
}

// native returns the engine that a problem's table of devices is of, with these devices: its native search, else the
// learning kernel without the devices of all kernels, which dag's table has.
func native(p *gapwise.Problem) (engine exact.Switchable, devices []exact.Device) {
	if p.Search != nil {
		return p.Search, p.Search.Devices()
	}
	dag := must(gapwise.ProblemOf(model.KindDAG)).Search.Devices()
	return p.Kernel, slices.DeleteFunc(p.Kernel.Devices(), func(d exact.Device) bool {
		return slices.ContainsFunc(dag, func(x exact.Device) bool { return x.Summary == d.Summary })
	})
}

// ablation runs the plan ablation-KIND as it is and without each device, and keeps what
// that says.
func (r *runner) ablation(kind string) *ablation {
	p := must(gapwise.ProblemOf(model.Kind(kind)))
	records := r.records(r.bench("ablation-"+kind, "--without", benchmarks.Each))
	a, known := &ablation{Code: codeOf(kind)}, runs.Learn(records, nil)
	of := func(label string) map[string]runs.Run {
		all := map[string]runs.Run{}
		for k := range records {
			if x := &records[k]; x.Algorithm == label {
				all[x.Instance] = runs.Run{Record: x, Known: known[x.Hash]}
			}
		}
		return all
	}
	engine, devices := native(p)
	whole := of(engine.Name())
	for _, d := range append([]exact.Device{{}}, devices...) {
		label := engine.Name()
		if d.Name != "" {
			label = benchmarks.WithoutLabel(label, d.Name)
		}
		a.Rows = append(a.Rows, ablate(d, of(label), whole))
	}
	check(os.WriteFile(ablationFile(kind), append(must(json.MarshalIndent(a, "", "  ")), '\n'), 0o644))
	return a
}

// ablate compares the runs without a device, by instance, with those of the whole
// search.
func ablate(d exact.Device, without, whole map[string]runs.Run) ablationRow {
	x := ablationRow{Name: d.Name, Summary: d.Summary, Runs: len(without)}
	proved := func(r runs.Run) bool {
		return r.Status == model.StatusOptimal || r.Status == model.StatusInfeasible
	}
	var nodes, time [2]float64
	for _, name := range slices.Sorted(maps.Keys(without)) { // so that sums come out the same
		r := without[name]
		if gap := r.Gap(); !math.IsNaN(gap) {
			x.Gap += gap / float64(len(without))
		}
		if !proved(r) {
			continue
		}
		x.Proved++
		if all, ok := whole[name]; ok && proved(all) {
			nodes[0], nodes[1] = nodes[0]+float64(r.Nodes), nodes[1]+float64(all.Nodes)
			spent := func(r *runs.Record) float64 { return r.ElapsedS }
			if r.CPUS != nil && all.CPUS != nil { // both had the process to themselves
				spent = func(r *runs.Record) float64 { return *r.CPUS }
			}
			time[0], time[1] = time[0]+spent(r.Record), time[1]+spent(all.Record)
		}
	}
	x.Nodes, x.Time = nodes[0]/max(1, nodes[1]), time[0]/max(1e-9, time[1])
	return x
}
