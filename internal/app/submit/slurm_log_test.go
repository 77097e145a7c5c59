// SPDX-License-Identifier: MIT

//go:build linux

package submit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The jobs that a real Slurm runs are read from its squeue, as they ran, and replayed.
func TestSlurmLog(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for jobs of a real Slurm")
	}
	startSlurm(t)
	ids := map[string]bool{}
	for k := range 12 {
		id := command("sbatch", "--parsable", "-D", os.TempDir(), "-o", "/dev/null", "-n", fmt.Sprint(1+k*5%8), "-t", fmt.Sprint(1+k%3), "--mem=1", "--wrap", fmt.Sprint("sleep ", 1+k%2))
		if id == "" {
			t.Fatal("sbatch takes no job")
		}
		ids[id] = true
	}
	until(t, "the jobs to end", func() bool {
		return command("squeue", "--version") != "" && command("squeue", "-h", "-t", "pending,running,completing", "-o", "%i") == ""
	})
	folder := t.TempDir()
	files := map[string]string{
		"squeue.txt":  command("squeue", "-t", "all", "-o", "%i|%u|%a|%P|%q|%j|%V|%S|%e|%M|%l|%C|%D|%T"),
		"nodes.txt":   command("scontrol", "show", "node"),
		"sinfo.txt":   command("sinfo", "-N", "-o", "%N|%P|%c|%m|%G|%f|%T"),
		"squeue.json": command("squeue", "-t", "all", "--json"),
		"sinfo.json":  command("sinfo", "--json"),
	}
	for name, text := range files {
		require.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o644))
	}
	for _, c := range [][2]string{{"squeue.txt", "nodes.txt"}, {"squeue.txt", "sinfo.txt"}, {"squeue.json", "sinfo.json"}} {
		file := require.Value(instances.Open(filepath.Join(folder, c[0])))(t)
		in, ran := require.Pair(file.WithRan(instances.Options{Platform: filepath.Join(folder, c[1]), Log: instances.LogOptions{Partition: "main"},
			Jobs: instances.SWFJobs{Ran: true}}))(t)
		jobs := in.(*model.Batch)
		if jobs.Processors != 8 || len(jobs.Jobs) != len(ids) {
			t.Fatalf("%d processors, %d jobs, want 8 and %d\n%s", jobs.Processors, len(jobs.Jobs), len(ids), files["squeue.txt"])
		}
		for k := range jobs.Jobs {
			if j := &jobs.Jobs[k]; !ids[j.ID] || j.EstimateS < 60 || j.EstimateS > 180 || j.Log.Status != "completed" {
				t.Errorf("job %+v", j)
			}
		}
		if report, err := verify.Verify(context.Background(), in, ran, verify.Options{}); err != nil || report.Err() != nil {
			t.Fatal(err, report.Err())
		}
		own := require.Value(in.Objective(ran))(t)
		r := require.Value(gapwise.Solve(context.Background(), in, gapwise.Options{Algorithm: "easy"}))(t)
		t.Logf("mean response %.1f s under Slurm, %.1f s by EASY\n%s", own.Value, r.Objective, strings.Join(jobs.Account.Lines(), "\n"))
		if own.Value < r.Bound {
			t.Errorf("the mean response is %v s, below the bound %v s", own.Value, r.Bound)
		}
	}
}
