// SPDX-License-Identifier: MIT

package submit

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/model"
)

// Slurm is a Job for Slurm.
type Slurm struct {
	Job
	Work    string   // the folder that the tasks work in
	Options []string // of sbatch, for both jobs: --partition=short, --time=2:00:00
}

//go:embed array.sh.tmpl
var arrayText string

//go:embed merge.sh.tmpl
var mergeText string

// Scripts returns the scripts of the array job and of the job that merges.
func (s *Slurm) Scripts() (array, merge []byte, err error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	if strings.ContainsAny(s.Folder+s.Name, `"\`) {
		return nil, nil, fmt.Errorf("%w job: sbatch can't take the folder %s or the plan's name %s: a quotation mark or a backslash is in it", model.ErrInvalid, s.Folder, s.Name)
	}
	for _, o := range s.Options {
		name, _, _ := strings.Cut(o, "=")
		switch {
		case !strings.HasPrefix(o, "-") || strings.ContainsAny(o, "\n\r"):
			return nil, nil, fmt.Errorf("%w job: %q is no option of sbatch, give one like --partition=short", model.ErrInvalid, o)
		case name == "--array" || strings.HasPrefix(o, "-a") || name == "--wrap":
			return nil, nil, fmt.Errorf("%w job: the option %s of sbatch is taken: the shards are the array", model.ErrInvalid, name)
		}
	}
	var options strings.Builder
	for _, o := range s.Options {
		options.WriteString("\n#SBATCH " + o)
	}
	tasks := fmt.Sprintf("1-%d", s.Shards)
	if s.AtOnce > 0 {
		tasks += fmt.Sprintf("%%%d", s.AtOnce)
	}
	bench, merging := append([]string{s.Program, "bench"}, s.Arguments...), []string{s.Program, "bench", "merge", filepath.Join(s.Folder, "parts")}
	if s.Plan != "" {
		merging = append(merging, "--plan", s.Plan)
	}
	merging = append(merging, "-o", filepath.Join(s.Folder, s.Name+".jsonl"))
	values := []string{"name", s.Name, "options", options.String(), "work", process.Quote(s.Work),
		"logs", strings.ReplaceAll(filepath.Join(s.Folder, "logs"), "%", "%%"), // in options sbatch expands %
		"array", tasks, "shards", strconv.Itoa(s.Shards), "workers", strconv.Itoa(s.Workers), "parts", process.Quote(filepath.Join(s.Folder, "parts")),
		"bench", process.Quote(bench...), "merge", process.Quote(merging...)}
	return fill(arrayText, values...), fill(mergeText, values...), nil
}

// Submitted names the jobs of a plan that was submitted.
type Submitted struct{ Array, Merge string }

// Submit writes the scripts to the folder, array.sh and merge.sh, and submits both
// jobs. If the second fails the first one's number is returned with the error.
func (s *Slurm) Submit(ctx context.Context) (Submitted, error) {
	array, merge, err := s.Scripts()
	if err != nil {
		return Submitted{}, err
	}
	for _, folder := range []string{"parts", "logs"} {
		if err := replace.Folder(filepath.Join(s.Folder, folder)); err != nil {
			return Submitted{}, err
		}
	}
	files := []string{filepath.Join(s.Folder, "array.sh"), filepath.Join(s.Folder, "merge.sh")}
	for k, text := range [][]byte{array, merge} {
		if err := replace.Unwritten(files[k], os.WriteFile(files[k], text, 0o755)); err != nil {
			return Submitted{}, err
		}
	}
	var jobs Submitted
	if jobs.Array, err = sbatch(ctx, files[0]); err != nil {
		return jobs, err
	}
	// Not afterok: one task that fails makes it wait for ever, even if it is requeued and succeeds. gapwise bench merge
	// itself reports missing runs.
	if jobs.Merge, err = sbatch(ctx, "--dependency=afterany:"+jobs.Array, files[1]); err != nil {
		return jobs, fmt.Errorf("the array job %s is submitted, the job that merges isn't; after it run %s: %w", jobs.Array, process.Quote(files[1]), err)
	}
	return jobs, nil
}

// sbatch submits a script and returns the job's number.
func sbatch(ctx context.Context, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, "sbatch", append([]string{"--parsable"}, arguments...)...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w job: there is no sbatch on PATH; submit on a node of the cluster, or look at the scripts with --dry-run", model.ErrUnsupported)
	}
	if err != nil {
		return "", fmt.Errorf("%w job: sbatch refuses it: %w: %s", model.ErrInvalid, err, strings.Join(strings.Fields(said.String()), " "))
	}
	id, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";") // a cluster's name may follow
	if id == "" {
		return "", fmt.Errorf("sbatch names no job: %q", out)
	}
	return id, nil
}
