// SPDX-License-Identifier: MIT

// Package submit has clusters run plans in shards: by Slurm, as an array job and a
// job that merges after it, or by Kubernetes, as an Indexed Job.
//
// A task is gapwise bench --shard i/n with a folder for its results: each start of a
// task appends to a file of its own there, and goes on from all that are there. So a task may be killed and started
// again at any time, even while its first start runs on.
package submit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/model"
)

// Job is a plan to be run in shards.
type Job struct {
	Name      string   // of the plan
	Shards    int      // tasks; each runs one shard
	AtOnce    int      // tasks that run at the same time at most; 0: all
	Workers   int      // processors of a task
	Program   string   // gapwise, as a task calls it
	Arguments []string // of gapwise bench in a task, other than the shard and the results
	Plan      string   // of gapwise bench merge --plan; "": none
	Folder    string   // of all results: parts, logs, and the merged files
}

// MaxShards is the largest number of shards; Slurm's own limit (MaxArraySize) may be
// lower.
const MaxShards = 100_000

func (j *Job) check() error {
	switch {
	case j.Shards < 1 || j.Shards > MaxShards:
		return fmt.Errorf("%w job: %d tasks, must be 1 to %d", model.ErrInvalid, j.Shards, MaxShards)
	case j.AtOnce < 0:
		return fmt.Errorf("%w job: %d tasks at once, must not be negative", model.ErrInvalid, j.AtOnce)
	case j.Workers < 1:
		return fmt.Errorf("%w job: %d workers, must be at least 1", model.ErrInvalid, j.Workers)
	}
	for _, s := range append([]string{j.Name, j.Program, j.Plan, j.Folder}, j.Arguments...) {
		if visible.Text(s, "") != s {
			return fmt.Errorf("%w job: %q holds a line break or another control character", model.ErrInvalid, s)
		}
	}
	return nil
}

// fill replaces names in double braces in a text by the values after them.
func fill(text string, values ...string) []byte {
	values = slices.Clone(values)
	for k := 0; k < len(values); k += 2 {
		values[k] = "{{" + values[k] + "}}"
	}
	return []byte(strings.NewReplacer(values...).Replace(text))
}
