// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var ofMake = regexp.MustCompile(`\bmake ([a-z-]+)`)

// What the workflows run is there: scripts, packages and targets of make. Each job has
// only the rights that it asks for.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ci", "release", "pages"} {
		data, err := os.ReadFile("../../.github/workflows/" + name + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		var flow struct {
			Name        string
			On          any
			Permissions map[string]string
			Jobs        map[string]struct {
				Needs string
				Steps []struct{ Uses, Run string }
			}
		}
		if err := yaml.Unmarshal(data, &flow); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if flow.Name != name || flow.On == nil || len(flow.Permissions) != 1 || flow.Permissions["contents"] != "read" || len(flow.Jobs) == 0 {
			t.Errorf("%s: its name is %q, it has %d jobs and the rights %v", name, flow.Name, len(flow.Jobs), flow.Permissions)
		}
		for id, job := range flow.Jobs {
			if _, ok := flow.Jobs[job.Needs]; job.Needs != "" && !ok {
				t.Errorf("%s: %s needs %s, which isn't there", name, id, job.Needs)
			}
			for _, step := range job.Steps {
				for _, m := range ofMake.FindAllStringSubmatch(step.Run, -1) {
					if !strings.Contains(string(makefile), "\n"+m[1]+":") {
						t.Errorf("%s: there is no target %s", name, m[1])
					}
				}
				for _, word := range strings.Fields(step.Run) {
					if word = strings.TrimPrefix(word, "./"); strings.HasPrefix(word, "scripts/") || strings.HasPrefix(word, ".ci/") {
						if _, err := os.Stat(filepath.Join("../..", word)); err != nil {
							t.Errorf("%s: %v", name, err)
						}
					}
				}
			}
		}
	}
}
