// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The service makes what the commands make, names no file, and makes nothing that is larger than asked for.
func TestMaker(t *testing.T) {
	m := newMaker()
	const dot = "digraph g { a [size=2]; b [size=3]; a -> b [size=1] }"
	in := require.Value(m.generate(map[string]string{"kind": "dag", "tasks": "4", "seed": "3"}, 1<<20))(t)
	file := filepath.Join(t.TempDir(), "dag.json")
	require.Is(t, 0, (&program{out: io.Discard, err: io.Discard}).run(t.Context(), []string{"gapwise", "generate", "--kind", "dag", "--tasks", "4", "--seed", "3", "-o", file}), "exit code")
	same := require.Value(instances.Load(file))(t)
	require.Same(t, "instance", require.Value(model.Hash(same))(t), require.Value(model.Hash(in))(t))
	in = require.Value(m.convert("g.dot", []byte(dot), map[string]string{"platform": "uniform,machines=2"}))(t)
	if d := in.(*model.DAG); len(d.Tasks) != 2 || len(d.Machines) != 2 || d.Account == nil {
		t.Errorf("%+v", d)
	}
	log := require.Value(os.ReadFile("../../docs/files/log.swf"))(t)
	in = require.Value(m.convert("log.swf", log, map[string]string{"first": "3", "kind": "reservation"}))(t)
	require.Is(t, 3, len(in.(*model.Reservation).Requests), "requests")
	for _, preset := range servedPlatforms {
		if _, err := m.convert("g.dot", []byte(dot), map[string]string{"platform": preset}); err != nil {
			t.Errorf("%s: %v", preset, err)
		}
	}
	// No file is opened, although each is there.
	secret := filepath.Join(t.TempDir(), "secret")
	require.OK(t, os.WriteFile(secret, log, 0o600))
	for _, key := range []string{"log", "daggen", "platform", "plan", "output", "o", "account", "ran", "x"} {
		for name, made := range map[string]error{
			"generate": require.Err(m.generate(map[string]string{"kind": "dag", key: secret}, 1<<20)),
			"convert":  require.Err(m.convert("g.dot", []byte(dot), map[string]string{key: secret})),
		} {
			require.Refused(t, name+" "+key, made, model.ErrInvalid, "options")
		}
	}
	require.Refused(t, "nodes of a log", require.Err(m.convert("log.swf", log, map[string]string{"platform": secret, "unit": "resources"})), model.ErrInvalid, "platform is")
	for name, options := range map[string]map[string]string{
		"a large table": {"kind": "dag", "tasks": "100000", "machines": "1000"},
		"many jobs":     {"kind": "batch", "jobs": "1000000", "processors": "1"},
		"a fat tree":    {"kind": "tvc", "k": "200"},
	} {
		require.Refused(t, name, require.Err(m.generate(options, 16<<20)), model.ErrInvalid, "would take more than")
	}
	require.Refused(t, "a flag's value", require.Err(m.generate(map[string]string{"tasks": "x"}, 1<<20)), model.ErrInvalid, "tasks")
	require.Refused(t, "another kind's", require.Err(m.generate(map[string]string{"kind": "dag", "hosts": "3"}, 1<<20)), model.ErrInvalid, "hosts")
	// Several at once.
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, first := m.generate(map[string]string{"kind": "dag", "tasks": "4"}, 1<<20)
			_, second := m.convert("log.swf", log, map[string]string{"first": "3"})
			if first != nil || second != nil {
				t.Error(first, second)
			}
		})
	}
	all.Wait()
	if text := require.Err(m.generate(map[string]string{"taks": "4"}, 1<<20)).Error(); !strings.Contains(text, "did you mean tasks?") {
		t.Error(text)
	}
}

// The service draws what gantt draws, and reads no file for it.
func TestMakerDraws(t *testing.T) {
	m, folder := newMaker(), t.TempDir()
	const instance = "../../docs/examples/six-tasks.json"
	in := require.Value(instances.Load(instance))(t)
	r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "heft", Settings: model.Settings{Seed: 1}}))(t)
	result := filepath.Join(folder, "result.json")
	require.OK(t, os.WriteFile(result, require.Value(json.Marshal(r))(t), 0o600))
	for format, flags := range map[string][]string{"svg": {"--no-links", "--dark"}, "png": {"--dpi=72"}, "pdf": {"--width=150"}} {
		file, options := filepath.Join(folder, "picture."+format), map[string]string{}
		for _, flag := range flags {
			name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			options[name] = cmp.Or(value, "true")
		}
		args := append([]string{"gapwise", "gantt", instance, result, "-o", file}, flags...)
		require.Is(t, 0, (&program{out: io.Discard, err: io.Discard}).run(t.Context(), args), "exit code")
		var b bytes.Buffer
		require.OK(t, m.draw(t.Context(), &b, in, r, format, 1<<20, options))
		if want := require.Value(os.ReadFile(file))(t); !bytes.Equal(want, b.Bytes()) {
			t.Errorf("%s: %d bytes, gantt writes %d others", format, b.Len(), len(want))
		}
	}
	bare := model.NewResult(ask.Bare, 0)
	require.OK(t, bare.SetSolution(in, r.Solution))
	var b bytes.Buffer
	require.OK(t, m.draw(t.Context(), &b, in, bare, "svg", 1<<20, nil))
	if strings.Contains(b.String(), ask.Bare) {
		t.Error("the picture of a bare solution names an algorithm")
	}
	for want, options := range map[string]map[string]string{
		"no option output": {"output": result}, "no option algorithm": {"algorithm": "heft"}, "no option platform": {"platform": result},
		"million pixels": {"dpi": "2000"}, "--only is": {"only": "x"}, "--width is": {"width": "-1"}, "not one moment": {"at": "3"},
	} {
		err := m.draw(t.Context(), io.Discard, in, r, "png", 1<<20, options)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, model.ErrInvalid) && !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%v: %v, want %s", options, err, want)
		}
	}
	none := model.NewResult("easy", 1)
	require.Refused(t, "no solution", m.draw(t.Context(), io.Discard, in, none, "svg", 1<<20, nil), model.ErrUnsupported, "no solution to draw")
}

// The service plans what kubernetes plan does, from texts alone: no option opens a file, and the service's limits hold.
func TestMakerPlans(t *testing.T) {
	folder := t.TempDir()
	const cluster = "../../docs/examples/cluster.json"
	prices := require.Value(os.ReadFile("../../docs/examples/node-prices.csv"))(t)
	found := require.Value(kubernetes.Read(map[string][]byte{"c": require.Value(os.ReadFile(cluster))(t)}))(t)
	plan := newMaker().plan(time.Minute, 2)
	file := filepath.Join(folder, "plan.json")
	args := []string{"gapwise", "kubernetes", "plan", cluster, "-o", file, "--price", "../../docs/examples/node-prices.csv", "--slack", "0.1", "--slack", "node", "--effort", "300000"}
	require.Is(t, 0, (&program{out: io.Discard, err: io.Discard}).run(t.Context(), args), "exit code")
	files := map[string]string{"prices": string(prices)}
	p := require.Value(plan(t.Context(), found, files, map[string]string{"price": "prices", "slack": "0.1,node", "effort": "300000"}))(t)
	require.Same(t, "the plan", string(require.Value(os.ReadFile(file))(t)), string(require.Value(json.MarshalIndent(p, "", "  "))(t))+"\n")
	for want, options := range map[string]map[string]string{
		"no option context": {"context": "prod"}, "no option in-cluster": {"in-cluster": "true"}, "no option output": {"output": file},
		"no option metrics": {"metrics": file}, "no option commands": {"commands": "true"}, "there is no \"" + file: {"price": file},
		"there is no \"/x": {"use": "cpu=/x"}, "there is no \"y": {"offers": "y"}, "time_limit is 2m0s": {"time-limit": "2m"},
		"time_limit is 0s": {"time-limit": "0"}, "threads is 3": {"threads": "3"}, "--budget is": {"budget": "-2"}, "--allow is": {"allow": "x"},
		"--survive is": {"survive": "x"}, "seed": {"seed": "x"},
	} {
		_, err := plan(t.Context(), found, files, options)
		require.Refused(t, want, err, model.ErrInvalid, want)
	}
}
