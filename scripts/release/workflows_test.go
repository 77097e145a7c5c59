// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Workflows parse; what their steps run is there: scripts, and targets of the Makefile.
// Steps are given no more than they need, and each action has a version.
func TestWorkflows(t *testing.T) {
	t.Chdir("../..")
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	makefile := require.Value(os.ReadFile("Makefile"))(t)
	for _, file := range files {
		data := require.Value(os.ReadFile(file))(t)
		var w struct {
			On          any
			Permissions map[string]string
			Jobs        map[string]struct {
				RunsOn string `yaml:"runs-on"`
				Steps  []struct{ Uses, Run string }
			}
		}
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if w.On == nil || len(w.Jobs) == 0 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: on %v, %d jobs, permissions %v", file, w.On, len(w.Jobs), w.Permissions)
		}
		for name, job := range w.Jobs {
			if job.RunsOn == "" || len(job.Steps) == 0 {
				t.Errorf("%s, %s: runs on %q, %d steps", file, name, job.RunsOn, len(job.Steps))
			}
			for _, s := range job.Steps {
				if (s.Uses == "") == (s.Run == "") || s.Uses != "" && !strings.Contains(s.Uses, "@v") {
					t.Errorf("%s, %s: a step uses %q and runs %q", file, name, s.Uses, s.Run)
				}
				for _, m := range regexp.MustCompile(`make ([a-z-]+)`).FindAllStringSubmatch(s.Run, -1) {
					if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
						t.Errorf("%s, %s: the Makefile has no target %s", file, name, m[1])
					}
				}
				if script := strings.Fields(s.Run); len(script) > 0 && strings.Contains(script[0], "/") {
					if info, err := os.Stat(script[0]); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s, %s: %s can't be run: %v", file, name, script[0], err)
					}
				}
				if out, err := exec.Command("bash", "-n", "-c", s.Run).CombinedOutput(); s.Run != "" && err != nil {
					t.Errorf("%s, %s: %v\n%s", file, name, err, out)
				}
			}
		}
	}
}
