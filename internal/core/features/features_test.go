// SPDX-License-Identifier: MIT

package features

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The values are computed by hand.
func TestFeatures(t *testing.T) {
	budget := 0.5
	tests := map[string]struct {
		in   model.Instance
		want map[string]float64
	}{
		"vcsched": {&model.VCSched{Hosts: 2, MigrationBudget: &budget, Jobs: []model.VCSchedJob{
			{ID: "a", Tasks: 3, CPU: 0.2, Memory: 0.1, CurrentHosts: []int{0, 0, 1}}, {ID: "b", Tasks: 1, CPU: 0.6, Memory: 0.5}}},
			map[string]float64{"hosts": 2, "jobs": 2, "tasks": 4, "load": 0.6, "memory_load": 0.4, "rigid_load": 0.4, "resources": 0, "host_sizes": 1, "slack": 0.6, "mean_cpu": 0.3,
				// needs 0.2, 0.2, 0.2, 0.6: variance 0.03; memory 0.1, 0.1, 0.1, 0.5: mean 0.2, variance 0.03.
				"cov_cpu": math.Sqrt(0.03) / 0.3, "cov_memory": math.Sqrt(0.03) / 0.2, "max_tasks": 3, "running": 0.5, "budget": 0.5}},
		// CPU 1 of 2 + 6 · 0.5, memory 1.5 of 2 + 6, disk 3 of 1 + 6 · 0.5
		"hosts of two sizes": {&model.VCSched{Hosts: 7, Resources: []string{"disk"}, HostSizes: []model.HostSize{{Count: 1, CPU: 2, Memory: 2, Resources: []float64{1}}, {Count: 6, CPU: 0.5, Memory: 1, Resources: []float64{0.5}}}, Jobs: []model.VCSchedJob{
			{ID: "a", Tasks: 2, CPU: 0.5, Memory: 0.75, Resources: []float64{0.5}}, {ID: "b", Tasks: 4, Resources: []float64{0.5}}}},
			map[string]float64{"hosts": 7, "jobs": 2, "tasks": 6, "load": 0.2, "memory_load": 1.5 / 8, "rigid_load": 0.75, "resources": 1, "host_sizes": 2, "slack": 6.5 / 8, "mean_cpu": 1.0 / 6,
				"cov_cpu": math.Sqrt2, "cov_memory": math.Sqrt2, "max_tasks": 4, "running": 0}},
		// Costs (means): a 3, b 4, c 1 and d 2; a before b and c, b before d. Rates 1 and 4.
		"dag": {&model.DAG{Machines: []model.Machine{{ID: "P", StartupS: 1}, {ID: "Q"}}, Network: model.Network{PathCapacity: [][]float64{{0, 1}, {4, 0}}},
			Tasks: []model.DAGTask{{ID: "a", CostS: []float64{2, 4}}, {ID: "b", CostS: []float64{4, 4}}, {ID: "c", CostS: []float64{1, 1}}, {ID: "d", CostS: []float64{2, 2}}},
			Edges: []model.DAGEdge{{From: "a", To: "b", Data: 2}, {From: "a", To: "c", Data: 4}, {From: "b", To: "d"}}},
			map[string]float64{"tasks": 4, "machines": 2, "edges": 3, "height": 3, "width": 2, "parallelism": 10.0 / 9,
				// a mean start-up of 0.5, mean data 2 at a mean of 5/8 s each; a mean cost of 2.5
				"ccr": (0.5 + 2*0.625) / 2.5, "cov_cost": 1.0 / 3 / 4, "cov_rate": 1.5 / 2.5}},
		"dag without edges or costs": {&model.DAG{Machines: []model.Machine{{ID: "P"}}, Tasks: []model.DAGTask{{ID: "a", CostS: []float64{0}}}},
			map[string]float64{"tasks": 1, "machines": 1, "edges": 0, "height": 1, "width": 1, "ccr": 0}},
		"reservation": {&model.Reservation{PEs: 10, Requests: []model.Request{
			{ID: "a", ArrivalS: 5, ReadyS: 5, DurationS: 10, DeadlineS: 15, PEs: 4}, {ID: "b", ArrivalS: 25, ReadyS: 45, DurationS: 20, DeadlineS: 125, PEs: 8}}},
			map[string]float64{"requests": 2, "pes": 10, "load": 1, "mean_size": 6, "mean_duration": 15, "mean_lead": 0.5, "mean_slack": 1.5}},
		"tvc": {&model.TVC{FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 1000}, MigrationS: 3, Requests: []model.TVCRequest{
			{ID: "a", VMs: 4, BandwidthMbps: 100, DurationS: 10}, {ID: "b", ArrivalS: 4, VMs: 8, BandwidthMbps: 300, DurationS: 11}}},
			map[string]float64{"requests": 2, "k": 4, "slots": 2, "link_mbps": 1000, "load": 1, "size": 6, "bandwidth": 200, "migration_s": 3}},
		"batch": {&model.Batch{Processors: 8, Tiers: 2, MigrationS: 20, Jobs: []model.BatchJob{
			{ID: "a", RuntimeS: 30, Processes: 1}, {ID: "b", SubmitS: 10, RuntimeS: 10, Processes: 5}}},
			map[string]float64{"jobs": 2, "processors": 8, "tiers": 2, "load": 1, "serial": 0.5, "mean_size": 3, "mean_runtime": 20, "migration_s": 20, "threshold": 0.96}},
		"all at once":     {&model.Batch{Processors: 8, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 30, Processes: 1}}}, map[string]float64{"jobs": 1, "processors": 8, "tiers": 1, "serial": 1, "mean_size": 1, "mean_runtime": 30, "migration_s": 0, "threshold": 0.96}},
		"without a job":   {&model.Batch{Processors: 8, Tiers: 1}, map[string]float64{"jobs": 0, "processors": 8, "tiers": 1, "migration_s": 0, "threshold": 0.96}},
		"without a task":  {&model.DAG{Machines: []model.Machine{{ID: "P"}}}, map[string]float64{"tasks": 0, "machines": 1, "edges": 0, "height": 0, "width": 0, "ccr": 0}},
		"without memory":  {&model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 1}}}, map[string]float64{"hosts": 1, "jobs": 1, "tasks": 1, "load": 1, "memory_load": 0, "rigid_load": 0, "resources": 0, "host_sizes": 1, "slack": 1, "mean_cpu": 1, "cov_cpu": 0, "max_tasks": 1, "running": 0}},
		"without request": {&model.Reservation{PEs: 1}, map[string]float64{"requests": 0, "pes": 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			require.OK(t, tc.in.Validate())
			require.Same(t, "features", tc.want, values(of(tc.in)), cmpopts.EquateApprox(1e-12, 1e-7))
		})
	}
}

// Keys are described, are there once, and mean the same for all problems, judging by units; an empty instance has the
// list, too.
func TestFeatureLists(t *testing.T) {
	units := map[string]string{}
	for _, kind := range model.Kinds() {
		mine := map[string]bool{"draw": true}
		for _, f := range of(kind.New()) {
			if f.Key == "" || f.Usage == "" || mine[f.Key] {
				t.Errorf("%s: %+v is there twice or isn't described", kind, f)
			}
			mine[f.Key] = true
			if unit, ok := units[f.Key]; ok && unit != f.Unit {
				t.Errorf("%s: %s is in %q, elsewhere in %q", kind, f.Key, f.Unit, unit)
			}
			units[f.Key] = f.Unit
		}
		if len(mine) < 5 {
			t.Errorf("%s has the features %v", kind, mine)
		}
	}
}

// of returns the features of an instance of any problem.
func of(in model.Instance) []Feature {
	switch in := in.(type) {
	case *model.Batch:
		return Batch(in)
	case *model.Consolidation:
		return Consolidation(in)
	case *model.DAG:
		return DAG(in)
	case *model.Reservation:
		return Reservation(in)
	case *model.TVC:
		return TVC(in)
	}
	return VCSched(in.(*model.VCSched))
}

func values(all []Feature) map[string]float64 {
	values := map[string]float64{}
	for _, f := range all {
		if !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0) {
			values[f.Key] = f.Value
		}
	}
	return values
}
