// SPDX-License-Identifier: MIT

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gapwise/gapwise/instances"
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
