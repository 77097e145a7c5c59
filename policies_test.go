// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// sameStarts solves an instance by both algorithms, which must give the same solution. The
// judge must accept it.
func sameStarts(t *testing.T, in model.Instance, program, ours string, p ...model.Parameters) {
	t.Helper()
	var set model.Settings
	if len(p) > 0 {
		set.Parameters = p[0]
	}
	got, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: program})
	if err != nil || got.Solution == nil {
		t.Fatal(got.Reason, err)
	}
	want := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: ours, Settings: set}))(t)
	if !reflect.DeepEqual(got.Solution, want.Solution) {
		t.Errorf("%s: %s gives %v, %s %v", in.ID(), program, got.Objective, ours, want.Objective)
	}
	r, err := verify.Verify(t.Context(), in, got.Solution, verify.Options{})
	if err != nil || !r.Feasible() {
		t.Errorf("%s: %v %v", in.ID(), r, err)
	}
	require.Same(t, "the class of "+program, model.Online, gapwise.ClassOf(in.Kind(), program))
}

// The policies of examples/policies give the starts of ours, on small instances and on the jobs
// of a log; the judge accepts the schedule of the one for two tiers.
func TestPythonPolicies(t *testing.T) {
	t.Parallel()
	python := require.Tool(t, "python3", "python3")
	rng, background := rand.New(rand.NewPCG(27, 4)), 0
	for range 4 {
		in := testkit.RandomBatch(rng, 1, 6, 30)
		sameStarts(t, in, "online:"+python+" examples/policies/easy.py", "easy")
		sameStarts(t, in, "online:"+python+" cmd/gapwise/policies/batch.py", "fcfs")
		two := testkit.RandomBatch(rng, 2, 6, 30)
		sameStarts(t, two, "online:"+python+" cmd/gapwise/policies/batch.py", "fcfs")
		r, err := gapwise.Solve(t.Context(), two, gapwise.Options{Algorithm: "online:" + python + " examples/policies/tiers.py"})
		if err != nil || r.Solution == nil {
			t.Fatal(r.Reason, err)
		}
		if judged, err := verify.Verify(t.Context(), two, r.Solution, verify.Options{}); err != nil || !judged.Feasible() {
			t.Errorf("%v %v", judged, err)
		}
		for _, x := range r.Solution.(*model.Execution).Runs {
			background += len(x.Segments) - 1
		}
	}
	if background == 0 {
		t.Error("nothing has moved from the background")
	}
	if testing.Short() {
		return
	}
	log := require.Value(instances.LoadLog(require.Data(t, "swf", "KTH-SP2-1996-2.1-cln.swf.gz"), instances.LogOptions{}))(t)
	spec := instances.NewBatchSpec()
	spec.Tiers = 1
	in, _ := require.Pair(instances.FromSWF(&spec, "kth", log, instances.SWFJobs{Seed: 1}))(t)
	sameStarts(t, in.(*model.Batch), "online:"+python+" examples/policies/easy.py", "easy")
}

// The starter policies run, in each language with a compiler at hand, and give the starts of FCFS.
func TestPolicyTemplates(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compilers take seconds")
	}
	dir := t.TempDir()
	for _, c := range []struct{ language, file, compiler string }{
		{"python", "policy.py", "python3"}, {"go", "policy.go", "go"}, {"rust", "policy.rs", "rustc"}, {"c", "policy.c", "cc"}} {
		compiler, err := exec.LookPath(c.compiler)
		if err != nil {
			t.Logf("not run, for want of %s", c.compiler)
			continue
		}
		template := map[string]string{"go": "batch.go.tmpl"}[c.language]
		if template == "" {
			template = "batch" + filepath.Ext(c.file)
		}
		text := require.Value(os.ReadFile(filepath.Join("cmd/gapwise/policies", template)))(t)
		file, binary := filepath.Join(dir, c.file), filepath.Join(dir, c.language)
		require.OK(t, os.WriteFile(file, text, 0o600))
		run := binary
		var build *exec.Cmd
		switch c.language {
		case "python":
			run = compiler + " " + file
		case "go":
			build = exec.Command(compiler, "build", "-o", binary, file)
		case "rust":
			build = exec.Command(compiler, "-o", binary, file)
		default:
			build = exec.Command(compiler, "-Wall", "-Werror", "-o", binary, file)
		}
		if build != nil {
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", c.language, err, out)
				continue
			}
		}
		if lines := strings.Count(string(text), "\n"); lines > 50 {
			t.Errorf("%s has %d lines", template, lines)
		}
		rng := rand.New(rand.NewPCG(27, 5))
		for range 5 {
			in := testkit.RandomBatch(rng, 1, 6, 30)
			sameStarts(t, in, "online:"+run, "fcfs")
		}
	}
}

// The starter policies of reservation and tvc give the results of first fit: for any reservation, and for any tvc in
// which the servers' links alone bind. If other links bind, too, the program fills servers by a simpler rule, which may
// find no place in an empty data centre.
func TestRequestTemplates(t *testing.T) {
	t.Parallel()
	python := "online:" + require.Tool(t, "python3", "python3") + " cmd/gapwise/policies/"
	rng := rand.New(rand.NewPCG(27, 6))
	for range 4 {
		in := testkit.RandomReservation(rng, 20)
		if in.Goal == model.GoalAll {
			in.Goal = "" // it declines some
		}
		sameStarts(t, in, python+"reservation.py", "ff")
	}
	ours, set := map[bool]string{false: "first-fit-local", true: "fcfs"}, &model.TVCParameters{Embedder: "first-fit-local"}
	ran := map[string]int{}
	for i := range 12 {
		in := testkit.RandomTVC(rng, 2+2*rng.IntN(2), 20, i%2 == 1)
		if i%4 < 2 {
			in.FatTree.Fabric = model.FabricNonBlocking
			sameStarts(t, in, python+"tvc.py", ours[in.Queue], set)
			continue
		}
		r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: python + "tvc.py"})
		if err != nil || r.Solution == nil && !strings.Contains(r.Reason, "that fit haven't run to their ends") {
			t.Errorf("%v, %s", err, r.Reason)
		}
		if ran["programs"]++; r.Solution != nil {
			ran["solutions"]++
		}
	}
	if ran["solutions"]*4 < ran["programs"]*3 {
		t.Error(ran)
	}
}
