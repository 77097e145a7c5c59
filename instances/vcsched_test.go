// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func draw(t *testing.T, s VCSchedSpec) *model.VCSched {
	t.Helper()
	return require.Value(s.Generate())(t)
}

// Narrow distributions are hardly truncated: mean and coefficient of variation
// come out as asked for.
func TestMoments(t *testing.T) {
	in := draw(t, VCSchedSpec{Hosts: 4000, Jobs: 20_000, Slack: 0.2, CoVCPU: 0.25, CoVMemory: 0.25, Seed: 1})
	var cpu, mem []float64
	for _, j := range in.Jobs {
		cpu, mem = append(cpu, j.CPU), append(mem, j.Memory)
		for _, x := range []float64{j.CPU, j.Memory} {
			if r := math.Round(x*1e6) / 1e6; r != x || x <= 0 || x > 1 {
				t.Fatalf("the need %v isn't a decimal of six digits in (0, 1]", x)
			}
		}
	}
	for name, c := range map[string]struct {
		x    []float64
		mean float64
	}{"cpu": {cpu, 0.5}, "memory": {mem, 4000 * 0.8 / 20_000}} {
		mean, std := stat.MeanStdDev(c.x, nil)
		if math.Abs(mean/c.mean-1) > 0.01 || math.Abs(std/mean-0.25) > 0.01 {
			t.Errorf("%s: mean %v, coefficient of variation %v, want %v and 0.25", name, mean, std/mean, c.mean)
		}
	}
}

func TestDeterminism(t *testing.T) {
	s := VCSchedSpec{Hosts: 4, Jobs: 12, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.25, MaxTasks: 8, Seed: 5, Index: 3}
	require.Same(t, "result", draw(t, s), draw(t, s))
	for name, parameters := range map[string]string{
		"seed": "seed=6", "index": "index=4",
		"slack": "slack=0.4",
	} {
		other := s
		set(t, &other, parameters)
		if draw(t, s).Jobs[0].CPU == draw(t, other).Jobs[0].CPU {
			t.Errorf("another %s gives the same CPU need", name)
		}
	}
	if s.name() != "H4-J12-s30-ca75-cm25-t8-3" || (VCSchedSpec{Hosts: 4, Jobs: 6, Slack: 0.1}).name() != "H4-J6-s10-ca00-cm00-0" {
		t.Errorf("name %s", s.name())
	}
}

func TestSpecErrors(t *testing.T) {
	good := VCSchedSpec{Hosts: 4, Jobs: 12, Slack: 0.3}
	for name, parameters := range map[string]string{
		"hosts":            "hosts=0",
		"jobs":             "jobs=-1",
		"slack":            "slack=1",
		"nan":              "slack=NaN",
		"mean":             "mean_cpu=2",
		"cov":              "cov_cpu=-1",
		"too big":          "jobs=2",
		"running":          "running=2",
		"tasks":            "max_tasks=-2",
		"both":             "tasks=12",
		"no jobs":          "jobs=0",
		"fewer":            "jobs=0 tasks=-1",
		"reading":          "memory=clamped",
		"resources":        "resources=65",
		"cov of resources": "resources=2 cov_resources=NaN",
		"sizes":            "host_sizes=7",
		"spread":           "host_sizes=3 host_spread=1",
	} {
		s := good
		set(t, &s, parameters)
		require.Refused(t, name, require.Err(s.Generate()), model.ErrInvalid, "")
	}
}

// Needs that are left where they come out are the rescaled ones unless one is above a host.
// They add up to the hosts' memory without the slack all the same.
func TestLeftMemory(t *testing.T) {
	oversized := 0
	for k := range 300 {
		s := VCSchedSpec{Hosts: 4, Jobs: 5 + k%5, Slack: 0.1 * float64(1+k%4), CoVCPU: 0.25, CoVMemory: 0.75, Index: k, Memory: "rescaled"}
		if k%5 == 0 {
			s.Resources, s.CoVResources = 1, 0.75
		}
		rescaled := draw(t, s)
		s.Memory = "left"
		in := draw(t, s)
		sum, most := 0.0, 0.0
		for _, j := range in.Jobs {
			sum += j.Memory
			most = max(most, j.Memory)
			for _, x := range j.Resources {
				most = max(most, x)
			}
		}
		if want := 4 * (1 - s.Slack); math.Abs(sum-want) > 0.51e-6 {
			t.Errorf("%s: the needs add up to %.9f, want %.9f", in.Name, sum, want)
		}
		if in.Oversized != (most > 1) {
			t.Errorf("%s: oversized %v, and the largest need is %v", in.Name, in.Oversized, most)
		}
		if most > 1 {
			oversized++
			continue
		}
		in.Name = rescaled.Name
		require.Same(t, in.Name, rescaled, in)
	}
	if oversized < 30 || oversized > 200 {
		t.Errorf("%d of 300 instances have a need above a host", oversized)
	}
}

// Rescaled needs add up to the hosts' memory without the slack, equal the other reading's times one factor, and needs
// that would be above a host are 1.
func TestRescaledMemory(t *testing.T) {
	full := 0
	for k := range 300 {
		s := VCSchedSpec{Hosts: 4, Jobs: 6 + k%7, Slack: 0.1 * float64(1+k%9), CoVCPU: 0.25, CoVMemory: 0.75, Index: k}
		if k%3 == 0 {
			s.Hosts, s.MaxTasks = 16, 8
			s.Jobs, s.Tasks = 0, 60
		}
		drawn := draw(t, s)
		s.Memory = "rescaled"
		in := draw(t, s)
		var sum, below, before, last float64
		for i, j := range in.Jobs {
			last = float64(j.Tasks)
			sum += last * j.Memory
			if j.Memory < 1 {
				below += last * j.Memory
				before += last * drawn.Jobs[i].Memory
			}
		}
		if want := float64(s.Hosts) * (1 - s.Slack); math.Abs(sum-want) > last*0.51e-6 {
			t.Errorf("%s: the needs add up to %.9f, want %.9f", in.Name, sum, want)
		}
		factor := below / before
		for i, j := range in.Jobs {
			was := drawn.Jobs[i]
			if j.CPU != was.CPU || j.Tasks != was.Tasks || math.Abs(j.Memory-min(1, factor*was.Memory)) > 1e-4 {
				t.Errorf("%s: job %d is %+v, drawn as %+v with factor %v", in.Name, i, j, was, factor)
			}
			if j.Memory == 1 {
				full++
			}
		}
	}
	if full == 0 {
		t.Error("no need came out above a host: the case isn't tested")
	}
}

// The number of tasks is as asked for, with the sizes of the model except for the last job's.
func TestTasks(t *testing.T) {
	s := VCSchedSpec{Hosts: 64, Tasks: 500, Slack: 0.3, CoVCPU: 0.25, CoVMemory: 0.25, MaxTasks: 64}
	in := draw(t, s)
	if in.Tasks() != 500 || len(in.Jobs) < 20 || len(in.Jobs) > 200 {
		t.Errorf("%d tasks in %d jobs", in.Tasks(), len(in.Jobs))
	}
	require.Same(t, "name", "H64-T500-s30-ca25-cm25-t64-0", s.name())
	s.Memory = "rescaled"
	require.Same(t, "name", "H64-T500-s30-ca25-cm25-t64-rescaled-0", s.name())
}

// The current placement is feasible, so that a budget of 0 has a solution when
// nothing arrives.
func TestRunning(t *testing.T) {
	in := draw(t, VCSchedSpec{Hosts: 6, Jobs: 14, Slack: 0.4, CoVCPU: 0.5, CoVMemory: 0.5, Running: 0.5, Budget: 0.25, Seed: 2})
	if in.MigrationBudget == nil || *in.MigrationBudget != 0.25 {
		t.Fatalf("budget %v", in.MigrationBudget)
	}
	require.Same(t, "jobs that run", 7, running(t, in))
}

// running returns how many jobs run, and reports where they don't fit.
func running(t *testing.T, in *model.VCSched) int {
	t.Helper()
	now := *in
	now.Jobs = slices.DeleteFunc(slices.Clone(in.Jobs), func(j model.VCSchedJob) bool { return len(j.CurrentHosts) == 0 })
	var hosts []int32
	for _, j := range now.Jobs {
		for _, h := range j.CurrentHosts {
			hosts = append(hosts, int32(h))
		}
	}
	now.MigrationBudget = nil
	require.Feasible(verify.Verify(t.Context(), &now, now.NewPlacement(hosts, now.Yield(hosts)), verify.Options{}))(t)
	return len(now.Jobs)
}

// Instances that were drawn before there were further resources and host sizes stay the
// same: results are found by these hashes.
func TestDrawsStay(t *testing.T) {
	for want, s := range map[string]VCSchedSpec{
		"a724ec0f41675973d53514b4569693b70050605eebaf9d929b826de8a8ac325d": {Hosts: 4, Jobs: 12, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.25, Seed: 5, Index: 3},
		"7a06217119477a86dbe1ba90584cd7da4acae4022c679f8f32116b6be60aaf1e": {Hosts: 16, Tasks: 60, Slack: 0.2, CoVCPU: 0.25, CoVMemory: 0.75, MaxTasks: 8, Memory: "rescaled", Seed: 1},
		"d032cddde31b4e22d0a921755cbd3b213452cca70880719ed39433b25ffc9a97": {Hosts: 6, Jobs: 14, Slack: 0.4, CoVCPU: 0.5, CoVMemory: 0.5, Running: 0.5, Budget: 0.25, Seed: 2},
	} {
		if h, err := model.Hash(draw(t, s)); err != nil || h != "sha256:"+want {
			t.Errorf("%s: hash %s, %v, want %s", s.name(), h, err, want)
		}
	}
}

// Further resources have the moments asked for. They leave as much free as memory does of the total of hosts of several
// sizes.
func TestResourcesAndSizes(t *testing.T) {
	t.Parallel()
	s := VCSchedSpec{Hosts: 4001, Jobs: 20_000, Slack: 0.2, CoVCPU: 0.25, CoVMemory: 0.25, Resources: 2, CoVResources: 0.1, HostSizes: 3, HostSpread: 0.5, Seed: 1}
	in := draw(t, s)
	if s.name() != "H4001-J20000-s20-ca25-cm25-x2-cx10-k3-hs50-0" || !slices.Equal(in.Resources, []string{"r1", "r2"}) {
		t.Errorf("name %s, resources %q", s.name(), in.Resources)
	}
	want := []model.HostSize{{Count: 1333, CPU: 0.5, Memory: 0.5, Resources: []float64{0.5, 0.5}}, {Count: 1334, CPU: 1, Memory: 1, Resources: []float64{1, 1}},
		{Count: 1334, CPU: 1.5, Memory: 1.5, Resources: []float64{1.5, 1.5}}}
	require.Same(t, "host sizes", want, in.HostSizes)
	for r := range 2 {
		var needs []float64
		for i := range in.Jobs {
			needs = append(needs, in.Jobs[i].Resources[r])
		}
		mean, std := stat.MeanStdDev(needs, nil)
		if math.Abs(mean/(4001.5*0.8/20_000)-1) > 0.01 || math.Abs(std/mean-0.1) > 0.005 {
			t.Errorf("resource %d: mean %v, coefficient of variation %v", r, mean, std/mean)
		}
	}
	s.Hosts, s.Jobs, s.Memory = 6, 30, "rescaled"
	s.Running, s.Budget = 0.7, 0.5
	in = draw(t, s)
	for r := -1; r < 2; r++ {
		sum := 0.0
		for i := range in.Jobs {
			sum += in.Jobs[i].Rigid(r)
		}
		if math.Abs(sum-6*0.8) > 0.51e-6 {
			t.Errorf("the needs of resource %d add up to %v, want 4.8", r, sum)
		}
	}
	if n := running(t, in); n < 15 {
		t.Errorf("%d jobs run", n)
	}
	// A parameter that means nothing is left out.
	plain := VCSchedSpec{Hosts: 4, Jobs: 12, Slack: 0.3, HostSizes: 1, HostSpread: 0.5, CoVResources: 0.5}
	for _, key := range []string{"resources", "cov_resources", "host_sizes", "host_spread"} {
		if _, ok := (&plain).nth(0, 1, 1).Params[key]; ok {
			t.Errorf("%s is a parameter of reference hosts without further resources", key)
		}
		if _, ok := (&s).nth(0, 1, 1).Params[key]; !ok {
			t.Errorf("%s isn't a parameter of %s", key, s.name())
		}
	}
}
