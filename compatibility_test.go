// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Files of 0.3.0, 0.6.0 and 0.9.0 are read as docs/reference/compatibility.md promises: instances keep their hashes,
// results pass the judge again, proofs are replayed. Their optima, each of an instance of ten tasks at most, are
// today's.
func TestCompatibility(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]struct{ instances, results, proofs int }{"0.3.0": {5, 8, 0}, "0.6.0": {7, 11, 0}, "0.9.0": {9, 14, 3}} {
		folder := filepath.Join("testdata", "compatibility", version)
		files, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err != nil || len(files) != want.instances {
			t.Fatalf("%s has %d instances, want %d: %v", folder, len(files), want.instances, err)
		}
		results, proofs := 0, 0
		for _, file := range files {
			in, hash := readOld(t, file)
			base := strings.TrimSuffix(file, ".json")
			lines := require.Value(os.ReadFile(base + ".results.jsonl"))(t)
			for line := range bytes.Lines(lines) {
				results++
				judgeOld(t, file, version, in, hash, line)
			}
			if proof, err := os.Open(base + ".proof.txt"); err == nil {
				proofs++
				if proved, err := verify.Proof(t.Context(), in, hash, proof); err != nil || proved.Steps == 0 {
					t.Errorf("%s.proof.txt: %v, %d steps", base, err, proved.Steps)
				}
				_ = proof.Close()
			}
		}
		if results != want.results || proofs != want.proofs {
			t.Errorf("%s has %d results and %d proofs, want %d and %d", folder, results, proofs, want.results, want.proofs)
		}
		records, err := runs.ReadRecords(filepath.Join(folder, "runs.jsonl"))
		if err != nil || len(records) != 2 || records[0].Algorithm != "heft" || records[1].Status != model.StatusOptimal || *records[1].Objective != 101 {
			t.Errorf("%s/runs.jsonl: %d records, %v", folder, len(records), err)
		}
	}
}

// readOld reads an instance and returns it with its hash.
func readOld(t *testing.T, file string) (model.Instance, string) {
	t.Helper()
	in, err := model.DecodeInstance(require.Value(os.ReadFile(file))(t))
	require.OK(t, err, file)
	return in, require.Value(model.Hash(in))(t)
}

// judgeOld reads a result and has it judged; an instance with an optimal result is solved again.
func judgeOld(t *testing.T, file, version string, in model.Instance, hash string, line []byte) {
	t.Helper()
	r, err := model.DecodeResult(line)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	if r.Version != version || r.InstanceHash != hash {
		t.Errorf("%s, %s: of version %s and hash %s, want %s and %s", file, r.Algorithm, r.Version, r.InstanceHash, version, hash)
	}
	report, err := verify.Result(t.Context(), in, r, verify.Options{Hash: hash})
	if err != nil || !report.Feasible() || report.Objective != r.Objective {
		t.Errorf("%s, %s: objective %v, read %v: %v %v", file, r.Algorithm, report.Objective, r.Objective, report, err)
	}
	if r.Status != model.StatusOptimal {
		return
	}
	now, err := gapwise.Solve(t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 5_000_000}})
	if err != nil || now.Status != model.StatusOptimal || model.Gap(now.Objective, r.Objective) > model.DefaultGap {
		t.Errorf("%s, %s: the optimum was %v, now it is %v, %s: %v", file, r.Algorithm, r.Objective, now.Objective, now.Status, err)
	}
}

// A plan of 0.3.0 is one still.
func TestOldPlan(t *testing.T) {
	t.Parallel()
	plan, err := benchmarks.LoadPlan("testdata/compatibility/plan.yaml")
	if err != nil || len(plan.Algorithms) != 2 || len(plan.Generators) != 1 {
		t.Errorf("%+v, %v", plan, err)
	}
}

// A release refuses unknown input, in one line that names it: a later version of a file, and keys that came later. A
// result may be of any version of the program.
func TestLaterFiles(t *testing.T) {
	t.Parallel()
	data := require.Value(os.ReadFile("docs/examples/six-tasks.json"))(t)
	for _, c := range []struct{ old, new, names string }{
		{`"version":1`, `"version":2`, "version"},
		{`"version":1`, `"version":1,"later":true`, "later"},
	} {
		later := strings.Replace(string(data), c.old, c.new, 1)
		_, err := model.DecodeInstance([]byte(later))
		require.Refused(t, c.new, err, model.ErrInvalid, c.names)
	}
	in := require.Value(model.DecodeInstance(data))(t)
	r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "heft"}))(t)
	r.Version = "99.0.0"
	line := require.Value(json.Marshal(r))(t)
	if back, err := model.DecodeResult(line); err != nil || back.Version != "99.0.0" {
		t.Errorf("a result of 99.0.0: %v", err)
	}
}
