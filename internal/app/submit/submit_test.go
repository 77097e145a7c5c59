// SPDX-License-Identifier: MIT

package submit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/app/submit"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/model"
)

func slurm() submit.Slurm {
	return submit.Slurm{Work: "/home/me", Options: []string{"--partition=short", "--time=2:00:00"},
		Job: submit.Job{Name: "p", Shards: 8, AtOnce: 3, Workers: 2, Program: "/opt/gapwise", Arguments: []string{"p.yaml"}, Plan: "p.yaml", Folder: "/home/me/it's 5 %"}}
}

func kubernetes() submit.Kubernetes {
	return submit.Kubernetes{Image: "example.org/gapwise:1", Memory: "2Gi", Claim: "results",
		Job: submit.Job{Name: "p_1: q", Shards: 8, AtOnce: 3, Workers: 2, Program: "gapwise", Arguments: []string{"p.yaml"}, Plan: submit.PlanFile, Folder: submit.Mount + "/p"}}
}

// The shell reads both scripts, and every option of sbatch comes before the first command, where sbatch looks for it.
func TestScripts(t *testing.T) {
	s := slurm()
	array, merge := require.Pair(s.Scripts())(t)
	for text, want := range map[string][]string{
		string(array): {"#SBATCH --array=1-8%3\n", "#SBATCH --cpus-per-task=2\n", "#SBATCH --requeue\n", "#SBATCH --partition=short\n#SBATCH --time=2:00:00\n", `#SBATCH --output="/home/me/it's 5 %%/logs/%A_%a.log"`,
			"\n/opt/gapwise bench p.yaml --workers 2 --shard \"$shard/8\" -o \"/home/me/it's 5 %/parts\"/ &\n"},
		string(merge): {"#SBATCH --partition=short\n", "exec /opt/gapwise bench merge \"/home/me/it's 5 %/parts\" --plan p.yaml -o \"/home/me/it's 5 %/p.jsonl\"\n"},
	} {
		require.Says(t, "the text", text, want...)
		_, commands, _ := strings.Cut(text, "\ncd ")
		if strings.Contains(commands, "#SBATCH") {
			t.Errorf("options after the first command:\n%s", text)
		}
		if runtime.GOOS != "windows" {
			c := exec.Command("bash", "-n")
			c.Stdin = strings.NewReader(text)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s\n%s", err, out, text)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ change, want string }{
		"no shards":       {"Shards=0", "0 tasks"},
		"too many":        {"Shards=100001", "100001 tasks"},
		"no workers":      {"Workers=0", "0 workers"},
		"at once":         {"AtOnce=-1", "-1 tasks at once"},
		"a line break":    {"Arguments.0=a\nb", "line break"},
		"no option":       {"Options.0=short", `"short" is no option of sbatch`},
		"our option":      {"Options.0=--array=1-2", "--array of sbatch is taken"},
		"option's break":  {"Options.0=-p\nrm", "no option"},
		"quotation marks": {`Folder=/a"b`, "quotation mark"},
	} {
		s := slurm()
		require.Set(t, &s, c.change)
		_, _, err := s.Scripts()
		require.Refused(t, name, err, model.ErrInvalid, c.want)
	}
	for name, c := range map[string]struct{ change, want string }{
		"no image":     {"Image=", "the image is"},
		"no quantity":  {"Memory=much", `the memory is "much"`},
		"no claim":     {"Claim=My Claim", "must be the name of a PersistentVolumeClaim"},
		"a large plan": {"PlanText=" + strings.Repeat("#", 2<<20), "1 MiB"},
		"no shards":    {"Shards=0", "0 tasks"},
	} {
		k := kubernetes()
		require.Set(t, &k, c.change)
		require.Refused(t, name, require.Err(k.Manifest()), model.ErrInvalid, c.want)
	}
}

// Submit without sbatch, with one that refuses, and with one that takes both jobs.
func TestSubmit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+":/nowhere")
	s := slurm()
	s.Folder = filepath.Join(t.TempDir(), "results")
	require.Refused(t, "without Slurm", require.Err(s.Submit(t.Context())), model.ErrUnsupported, "no sbatch on PATH")
	sbatch := func(text string) {
		require.OK(t, os.WriteFile(filepath.Join(bin, "sbatch"), []byte("#!/bin/sh\n"+text), 0o755))
	}
	sbatch("echo 'sbatch: error: no such partition' >&2; exit 1\n")
	require.Refused(t, "refused by Slurm", require.Err(s.Submit(t.Context())), model.ErrInvalid, "no such partition")
	sbatch(`case "$*" in *depend*) exit 1;; *) echo 17;; esac` + "\n")
	if jobs, err := s.Submit(t.Context()); err == nil || jobs.Array != "17" || !strings.Contains(err.Error(), "the array job 17 is submitted, the job that merges isn't") {
		t.Errorf("%v, error %v", jobs, err)
	}
	sbatch(`case "$*" in "--parsable --dependency=afterany:17 "*/merge.sh) echo "18;here";; "--parsable "*/array.sh) echo "17;here";; *) exit 3;; esac` + "\n")
	if jobs, err := s.Submit(t.Context()); err != nil || jobs != (submit.Submitted{Array: "17", Merge: "18"}) {
		t.Errorf("%v, error %v", jobs, err)
	}
	for _, f := range []string{"array.sh", "merge.sh", "parts", "logs"} {
		if _, err := os.Stat(filepath.Join(s.Folder, f)); err != nil {
			t.Error(err)
		}
	}
}

// objects decodes a manifest.
func objects(t testing.TB, text []byte) (all []any) {
	t.Helper()
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%v\n%s", err, text)
		}
		data := require.Value(json.Marshal(v))(t)
		v = require.Value(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)
		all = append(all, v)
	}
}

func TestManifest(t *testing.T) {
	schema := require.Value(jsonschema.NewCompiler().Compile("testdata/job.schema.json"))(t)
	for _, text := range []string{"", "name: \"p\"\n# — it's a 'plan' ---\n---\n\ttab \\n {{.Name}}\x7f\n"} {
		k := kubernetes()
		k.PlanText = text
		manifest := require.Value(k.Manifest())(t)
		all := objects(t, manifest)
		if want := map[bool]int{true: 2, false: 3}[text == ""]; len(all) != want {
			t.Fatalf("%d objects, want %d\n%s", len(all), want, manifest)
		}
		for _, v := range all {
			if err := schema.Validate(v); err != nil {
				t.Errorf("%v\n%s", err, manifest)
			}
		}
		if text != "" {
			require.Same[any](t, "the plan", text, all[0].(map[string]any)["data"].(map[string]any)["plan.yaml"])
			if !bytes.Contains(manifest, []byte("{name: plan, mountPath: /plan, readOnly: true}")) {
				t.Errorf("the plan isn't mounted:\n%s", manifest)
			}
		}
		for _, want := range []string{"completions: 8\n", "parallelism: 3\n", `"exec gapwise bench p.yaml --workers 2 --shard $((JOB_COMPLETION_INDEX + 1))/8 -o /results/p/parts/"`,
			`"exec gapwise bench merge /results/p/parts --plan /plan/plan.yaml -o '/results/p/p_1: q.jsonl'"`, "name: gapwise-p-1-q\n", "name: gapwise-p-1-q-merge\n"} {
			if !bytes.Contains(manifest, []byte(want)) {
				t.Errorf("%q isn't in\n%s", want, manifest)
			}
		}
	}
}

// The schema refuses the same as Kubernetes.
func TestManifestSchema(t *testing.T) {
	schema := require.Value(jsonschema.NewCompiler().Compile("testdata/job.schema.json"))(t)
	k := kubernetes()
	manifest := require.Value(k.Manifest())(t)
	for old, replaced := range map[string]string{
		"completions: 8":            "completion: 8",
		"parallelism: 3":            "parallelism: many",
		"completionMode: Indexed":   "completionMode: indexed",
		"restartPolicy: Never":      "restartPolicy: Always",
		"kind: Job":                 "kind: job",
		"name: gapwise-p":           "name: Gapwise-p",
		`memory: "2Gi"`:             `memory: "2 GB"`,
		"values: [2, 3, 7]":         "values: [0, 3]",
		"mountPath: /results":       "mountPath: results",
		`status: "True"`:            "status: True",
		`image: "example.org`:       `images: "example.org`,
		"action: FailIndex":         "action: Fail",
		"suspend: true":             "suspend: soon",
		"persistentVolumeClaim: {c": "persistentVolumeClaims: {c",
	} {
		bad := bytes.Replace(manifest, []byte(old), []byte(replaced), 1)
		if bytes.Equal(bad, manifest) {
			t.Errorf("%q isn't in the manifest", old)
		}
		fails := false
		for _, v := range objects(t, bad) {
			fails = fails || schema.Validate(v) != nil
		}
		if !fails {
			t.Errorf("%q passes", replaced)
		}
	}
}

// Whatever a plan is called, the names of the objects are good.
func TestObjectNames(t *testing.T) {
	schema := require.Value(jsonschema.NewCompiler().Compile("testdata/job.schema.json"))(t)
	rapid.Check(t, func(rt *rapid.T) {
		k := kubernetes()
		k.Name = rapid.StringN(1, 80, -1).Draw(rt, "name")
		manifest, err := k.Manifest()
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) || visible.Text(k.Name, "") == k.Name {
				rt.Fatal(err)
			}
			return
		}
		for _, v := range objects(t, manifest) {
			if err := schema.Validate(v); err != nil {
				rt.Fatalf("%s: %v\n%s", strconv.Quote(k.Name), err, manifest)
			}
		}
	})
}
