// SPDX-License-Identifier: MIT

package instances

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func draw(t *testing.T, s VCSchedSpec) *model.VCSched {
	t.Helper()
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return in
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
	if d := cmp.Diff(draw(t, s), draw(t, s)); d != "" {
		t.Error(d)
	}
	for name, edit := range map[string]func(*VCSchedSpec){
		"seed": func(s *VCSchedSpec) { s.Seed++ }, "index": func(s *VCSchedSpec) { s.Index++ },
		"slack": func(s *VCSchedSpec) { s.Slack = 0.4 },
	} {
		other := s
		edit(&other)
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
	for name, edit := range map[string]func(*VCSchedSpec){
		"hosts":   func(s *VCSchedSpec) { s.Hosts = 0 },
		"jobs":    func(s *VCSchedSpec) { s.Jobs = -1 },
		"slack":   func(s *VCSchedSpec) { s.Slack = 1 },
		"nan":     func(s *VCSchedSpec) { s.Slack = math.NaN() },
		"mean":    func(s *VCSchedSpec) { s.MeanCPU = 2 },
		"cov":     func(s *VCSchedSpec) { s.CoVCPU = -1 },
		"too big": func(s *VCSchedSpec) { s.Jobs = 2 },
		"running": func(s *VCSchedSpec) { s.Running = 2 },
		"tasks":   func(s *VCSchedSpec) { s.MaxTasks = -2 },
		"both":    func(s *VCSchedSpec) { s.Tasks = 12 },
		"no jobs": func(s *VCSchedSpec) { s.Jobs = 0 },
		"fewer":   func(s *VCSchedSpec) { s.Jobs, s.Tasks = 0, -1 },
		"reading": func(s *VCSchedSpec) { s.Memory = "clamped" },
	} {
		s := good
		edit(&s)
		if _, err := s.Generate(); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
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
		if diff := cmp.Diff(rescaled, in); diff != "" {
			t.Errorf("%s (-rescaled,+left): %s", in.Name, diff)
		}
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
	if s.name() != "H64-T500-s30-ca25-cm25-t64-0" {
		t.Errorf("name %s", s.name())
	}
	s.Memory = "rescaled"
	if s.name() != "H64-T500-s30-ca25-cm25-t64-rescaled-0" {
		t.Errorf("name %s", s.name())
	}
}

// The model's probabilities: serial jobs, powers of two, sizes within the machine.
func TestLublinTasks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 100_000
	var serial, power float64
	for range n {
		k := lublinTasks(rng, 64)
		if k < 1 || k > 64 {
			t.Fatalf("%d tasks", k)
		}
		if k == 1 {
			serial++
		} else if k&(k-1) == 0 {
			power++
		}
	}
	// No x outside the serial share rounds to a single task (low end 0.8).
	if math.Abs(serial/n-0.244) > 0.005 {
		t.Errorf("serial share %v, want 0.244", serial/n)
	}
	// Fractional sizes may be powers of two, too.
	if power/n < 0.57 || power/n > 0.66 {
		t.Errorf("share of powers of two %v, want 0.576 and a few per cent", power/n)
	}
	if k := lublinTasks(rng, 1); k != 1 {
		t.Errorf("%d tasks on a machine of one", k)
	}
}

// The current placement is feasible, so that a budget of 0 has a solution when
// nothing arrives.
func TestRunning(t *testing.T) {
	in := draw(t, VCSchedSpec{Hosts: 6, Jobs: 14, Slack: 0.4, CoVCPU: 0.5, CoVMemory: 0.5, Running: 0.5, Budget: 0.25, Seed: 2})
	if in.MigrationBudget == nil || *in.MigrationBudget != 0.25 {
		t.Fatalf("budget %v", in.MigrationBudget)
	}
	now := &model.VCSched{Name: "now", Hosts: in.Hosts}
	var hosts []int32
	for _, j := range in.Jobs {
		if len(j.CurrentHosts) > 0 {
			now.Jobs = append(now.Jobs, j)
			for _, h := range j.CurrentHosts {
				hosts = append(hosts, int32(h))
			}
		}
	}
	if len(now.Jobs) != 7 {
		t.Fatalf("%d jobs run, want 7", len(now.Jobs))
	}
	r, err := verify.Verify(t.Context(), now, now.NewPlacement(hosts, now.Yield(hosts)), verify.Options{})
	if err != nil || !r.Feasible() {
		t.Error(r, err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	in := draw(t, VCSchedSpec{Hosts: 2, Jobs: 4, Slack: 0.5, Seed: 1})
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		f := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, data, 0o644)); err != nil {
			t.Fatal(err)
		}
		return f
	}
	b, a := write("b.json", data), write("a/a.json", data)
	write("readme.txt", nil)
	got, err := Load(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(model.Instance(in), got); d != "" {
		t.Error(d)
	}
	if files, err := Folder(dir); err != nil || !slices.Equal(files, []string{a, b}) {
		t.Errorf("%v, %v", files, err)
	}
	for name, path := range map[string]string{"missing": filepath.Join(dir, "none"), "folder": dir, "not JSON": write("c.txt", []byte("x"))} {
		if _, err := Load(path); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	if _, err := Folder(filepath.Join(dir, "none")); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("a folder that isn't there gives %v", err)
	}
}

// Instances that were drawn before there were further resources and host sizes stay the
// same: results are found by these hashes.
func TestDrawsStay(t *testing.T) {
	t.Parallel()
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
	if d := cmp.Diff(want, in.HostSizes); d != "" {
		t.Error(d)
	}
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
	// What runs fits.
	now := &model.VCSched{Name: "now", Hosts: in.Hosts, Resources: in.Resources, HostSizes: in.HostSizes}
	var hosts []int32
	for _, j := range in.Jobs {
		for _, h := range j.CurrentHosts {
			hosts = append(hosts, int32(h))
		}
		if len(j.CurrentHosts) > 0 {
			now.Jobs = append(now.Jobs, j)
		}
	}
	r, err := verify.Verify(t.Context(), now, now.NewPlacement(hosts, now.Yield(hosts)), verify.Options{})
	if err != nil || !r.Feasible() || len(now.Jobs) < 15 {
		t.Errorf("%d jobs run: %v, %v", len(now.Jobs), r, err)
	}
	// A parameter that means nothing is left out, and one out of range refused.
	plain := VCSchedSpec{Hosts: 4, Jobs: 12, Slack: 0.3, HostSizes: 1, HostSpread: 0.5, CoVResources: 0.5}
	for _, key := range []string{"resources", "cov_resources", "host_sizes", "host_spread"} {
		if _, ok := (&plain).nth(0, 1, 1).Params[key]; ok {
			t.Errorf("%s is a parameter of reference hosts without further resources", key)
		}
		if _, ok := (&s).nth(0, 1, 1).Params[key]; !ok {
			t.Errorf("%s isn't a parameter of %s", key, s.name())
		}
	}
	for name, edit := range map[string]func(*VCSchedSpec){
		"resources": func(s *VCSchedSpec) { s.Resources = 65 }, "cov": func(s *VCSchedSpec) { s.CoVResources = math.NaN() },
		"sizes": func(s *VCSchedSpec) { s.HostSizes = 7 }, "spread": func(s *VCSchedSpec) { s.HostSpread = 1 },
	} {
		bad := s
		edit(&bad)
		if _, err := bad.Generate(); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
}
