package audit

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fault is a mistake to plant: the text that it replaces occurs once in the file.
type fault struct{ name, file, right, wrong string }

// TestPlantedFaults tests the net itself. Each fault is built into a program of
// its own (go build -overlay: no file of the project changes), whose audit of
// 20 seconds must then end with a disagreement.
func TestPlantedFaults(t *testing.T) {
	if os.Getenv("GAPWISE_FAULTS") == "" {
		t.Skip("builds a program for each fault: make faults")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range plantedFaults {
		t.Run(f.name, func(t *testing.T) {
			program := buildWith(t, root, f)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, "audit", "--time", "20s", "--workers", "2", "--most", "1", "-o", t.TempDir())
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 7 {
				t.Fatalf("the net doesn't catch it: %v\n%s", err, out)
			}
			line, _, _ := strings.Cut(string(out), "\n")
			t.Log(line)
		})
	}
}

// buildWith builds the command with the fault in it.
func buildWith(t *testing.T, root string, f fault) string {
	dir := t.TempDir()
	file := filepath.Join(root, filepath.FromSlash(f.file))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), f.right); n != 1 {
		t.Fatalf("%q occurs %d times in %s, must occur once", f.right, n, f.file)
	}
	faulty := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(faulty, []byte(strings.Replace(string(text), f.right, f.wrong, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: faulty}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "gapwise")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", program, "./cmd/gapwise")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

var plantedFaults = []fault{
	{"DAG: no makespan in the dominance key", "exact/dag_expand.go", "	x.keys = append(x.keys, x.latest(done))\n", ""},
	{"DAG: no work is a bound", "exact/dag_heads.go", "if work += least; work == 0 {", "if work += least; work < 0 {"},
}
