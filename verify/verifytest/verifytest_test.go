// SPDX-License-Identifier: MIT

package verifytest_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify/verifytest"
)

// failing notes how a test ends.
type failing struct {
	testing.TB
	message string
}

func (*failing) Helper() {}

func (f *failing) Fatal(args ...any) {
	f.message = fmt.Sprint(args...)
	runtime.Goexit()
}

// ends returns the message with which a test fails, "" if it passes.
func ends(t *testing.T, test func(t testing.TB)) string {
	f, done := &failing{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.message
}

// Partial solutions are completed. A failure names the constraint, the violating job, or the bound and its source.
func TestRequire(t *testing.T) {
	t.Parallel()
	hosts := &model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.8, Memory: 0.6}, {ID: "b", Tasks: 1, CPU: 0.8, Memory: 0.3}, {ID: "c", Tasks: 1, CPU: 0.2, Memory: 0.5}}}
	requests := &model.Reservation{PEs: 2, Requests: []model.Request{{ID: "r", DurationS: 2, DeadlineS: 2, PEs: 2}, {ID: "s", DurationS: 2, DeadlineS: 4, PEs: 1}}}
	clusters := &model.TVC{FatTree: model.FatTree{K: 2, Slots: 1, LinkMbps: 100}, Requests: []model.TVCRequest{{ID: "q", VMs: 2, BandwidthMbps: 60, DurationS: 5}}}
	jobs := &model.Batch{Processors: 2, Tiers: 1, Jobs: []model.BatchJob{{ID: "j", RuntimeS: 3, Processes: 2}, {ID: "k", RuntimeS: 1, Processes: 2}}}
	placed := func(a, b, c int) string {
		return fmt.Sprintf(`{"jobs": [{"id": "a", "hosts": [%d]}, {"id": "b", "hosts": [%d]}, {"id": "c", "hosts": [%d]}]}`, a, b, c)
	}
	for name, c := range map[string]struct {
		in       model.Instance
		solution any
		gap      float64 // -1: feasible is enough
		want     []string
	}{
		"a placement":            {hosts, placed(0, 1, 1), 0, nil},
		"typed, without shares":  {hosts, &model.Placement{Jobs: []model.JobPlacement{{ID: "a", Hosts: []int{0}}, {ID: "b", Hosts: []int{1}}, {ID: "c", Hosts: []int{1}}}}, 0, nil},
		"a full host":            {hosts, placed(0, 1, 0), -1, []string{"breaks 1 constraint", "host_memory", "host 0"}},
		"a slow placement":       {hosts, placed(0, 0, 1), 0.05, []string{"not shown to be within 5 %", "0.625", "found 1"}},
		"a slow one, but enough": {hosts, placed(0, 0, 1), 0.7, nil},
		"a plan without times":   {testkit.SixTasks(), []byte(`{"tasks": [{"id": "1", "machine": "P1"}, {"id": "2", "machine": "P1"}, {"id": "3", "machine": "P1"}, {"id": "4", "machine": "P1"}, {"id": "5", "machine": "P1"}, {"id": "6", "machine": "P1"}]}`), 0.2, []string{"objective 30", "auto found "}},
		"bookings without PEs":   {requests, `{"bookings": [{"id": "r", "start_s": 0}, {"id": "s", "start_s": 2}]}`, 0, nil},
		"too early":              {requests, `{"bookings": [{"id": "r", "start_s": 0, "pes": "0-1"}, {"id": "s", "start_s": 1, "pes": "0"}]}`, -1, []string{"pe_overlap", "r", "s"}},
		"a link":                 {clusters, `{"runs": [{"id": "q", "segments": [{"place": {"switch": "edge-0-0", "servers": [{"server": 0, "vms": 2}]}}]}]}`, -1, []string{"server_slots"}},
		"the longest first":      {jobs, `{"runs": [{"id": "j", "segments": [{"start_s": 0}]}, {"id": "k", "segments": [{"start_s": 3}]}]}`, 1e-6, []string{"objective 3.5", "found 2.5"}},
		"no JSON":                {jobs, `{"runs": `, -1, []string{"invalid"}},
		"jobs at once":           {jobs, `{"runs": [{"id": "j", "segments": [{"start_s": 0}]}, {"id": "k", "segments": [{"start_s": 0}]}]}`, -1, []string{"breaks 1 constraint", "foreground_overlap: job \"k\" starts at 0"}},
		"a gap of 1":             {hosts, placed(0, 1, 1), 1, []string{"the gap is 1, must be from 0 to below 1"}},
		"a gap of 500 %":         {hosts, placed(0, 0, 1), 5, []string{"the gap is 5, must be from 0 to below 1"}},
		"no gap":                 {hosts, placed(0, 0, 1), math.NaN(), []string{"the gap is NaN"}},
		"not optimal":            {hosts, placed(0, 0, 1), 0, []string{"within 0.0001 % of"}},
		"nil":                    {nil, placed(0, 0, 1), -1, []string{"invalid instance: it is nil"}},
		"a nil pointer":          {(*model.Batch)(nil), placed(0, 0, 1), 0, []string{"invalid instance: it is nil"}},
		"no solution":            {jobs, nil, -1, []string{"invalid JSON"}},
		"no instance":            {&model.Batch{}, `{"runs": []}`, -1, []string{"invalid batch instance"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ends(t, func(t testing.TB) {
				switch {
				case c.gap < 0:
					verifytest.Require(t, c.in, c.solution)
				case c.gap == 0:
					verifytest.RequireOptimal(t, c.in, c.solution)
				default:
					verifytest.RequireGap(t, c.in, c.solution, c.gap)
				}
			})
			require.Same(t, fmt.Sprintf("it goes on (ends with %q, want %q)", got, c.want), c.want == nil, got == "")
			require.Says(t, "the text", got, c.want...)
		})
	}
}

// The page's examples are tests of a module that isn't this one, built without cgo.
func TestPage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a module")
	}
	root := require.Value(filepath.Abs("../.."))(t)
	read := func(path string) string {
		return string(require.Value(os.ReadFile(filepath.Join(root, path)))(t))
	}
	folder := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(folder, path)
		require.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	const module = "module github.com/gapwise/gapwise\n"
	ours := read("go.mod")
	if !strings.HasPrefix(ours, module) {
		t.Fatalf("go.mod begins with %.60q", ours)
	}
	write("go.mod", "module example.org/scheduler\n"+ours[len(module):]+
		"\nrequire github.com/gapwise/gapwise v0.0.0\n\nreplace github.com/gapwise/gapwise => "+root+"\n")
	write("go.sum", read("go.sum"))
	examples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read("docs/how-to/check-your-scheduler.md"), -1)
	if len(examples) != 3 {
		t.Fatalf("the page has %d examples", len(examples))
	}
	for k, x := range examples {
		write(fmt.Sprintf("example%d/scheduler_test.go", k), x[1])
	}
	test := exec.CommandContext(t.Context(), "go", "test", "-mod=mod", "-count=1", "./...")
	test.Dir, test.Env = folder, append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	out, err := test.CombinedOutput()
	if err != nil && strings.Contains(string(out), "module lookup disabled by GOPROXY=off") {
		t.Skipf("the module cache lacks a module that gapwise needs:\n%s", out)
	}
	if err != nil || strings.Count(string(out), "ok ") != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}
