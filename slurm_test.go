// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// recorded reads 200 jobs that a Slurm 22.05 of 16 nodes ran for real, and how it ran them.
func recorded(t *testing.T) (*model.Batch, *model.Execution) {
	t.Helper()
	const folder = "docs/files/"
	file := require.Value(instances.Open(folder + "sacct.txt"))(t)
	in, ran := require.Pair(file.WithRan(instances.Options{Platform: folder + "sinfo.txt", Jobs: instances.SWFJobs{Ran: true}}))(t)
	jobs := in.(*model.Batch)
	if len(jobs.Jobs) != 196 || ran == nil {
		t.Fatalf("%v, want 196 jobs and how they ran", jobs.Account.Lines())
	}
	return jobs, ran
}

// Slurm's run is a schedule for the judge, with its jobs at Slurm's start times.
func TestSlurmRan(t *testing.T) {
	in, ran := recorded(t)
	report, err := verify.Verify(context.Background(), in, ran, verify.Options{})
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	if in.Processors != 16 || in.Jobs[2].ID != "3" || ran.Runs[2].Segments[0].StartS != 118 {
		t.Errorf("%d processors, job %s from %v s on, want 16 and job 3 from 118 s on", in.Processors, in.Jobs[2].ID, ran.Runs[2].Segments[0].StartS)
	}
}

// Replays start the jobs of a real Slurm much as it did: EASY has nine pairs of ten in its order, FCFS fewer. With the
// 2 s more that its nodes took to be free again, EASY's mean wait is within a tenth of Slurm's.
func TestSlurmReplay(t *testing.T) {
	in, ran := recorded(t)
	starts := func(in *model.Batch, algorithm string) []float64 {
		r := require.Value(gapwise.Solve(context.Background(), in, gapwise.Options{Algorithm: algorithm}))(t)
		return startsOf(t, in, r.Solution.(*model.Execution))
	}
	slurm := startsOf(t, in, ran)
	easy, fcfs := starts(in, "easy"), starts(in, "fcfs")
	if a, b := sameOrder(slurm, easy), sameOrder(slurm, fcfs); a < 0.9 || b > a {
		t.Errorf("pairs in Slurm's order: EASY %v, FCFS %v", a, b)
	}
	longer := *in
	longer.Jobs = append([]model.BatchJob{}, in.Jobs...)
	for k := range longer.Jobs {
		longer.Jobs[k].RuntimeS += 2
	}
	mean := func(starts []float64) (sum float64) {
		for k, s := range starts {
			sum += (s - in.Jobs[k].SubmitS) / float64(len(starts))
		}
		return sum
	}
	if a, b := mean(slurm), mean(starts(&longer, "easy")); math.Abs(a-b) > 0.1*a {
		t.Errorf("mean wait %v s under Slurm, %v s by EASY with 2 s more", a, b)
	}
}

// The same of 200 jobs that a Slurm with two partitions ran on nodes of CPUs, memory and GPUs that jobs shared: its run is
// a schedule for the judge, node by node, and no better than the bound. EASY and conservative
// backfilling on nodes start nine pairs of ten in its order.
func TestSlurmOnNodes(t *testing.T) {
	const folder = "docs/files/"
	file := require.Value(instances.Open(folder + "site-sacct.txt"))(t)
	o := instances.Options{Platform: folder + "site-sinfo.txt", Log: instances.LogOptions{Placed: true}, Jobs: instances.SWFJobs{Ran: true}}
	made, ran := require.Pair(file.WithRan(o))(t)
	in := made.(*model.Batch)
	report := require.Value(verify.Verify(t.Context(), in, ran, verify.Options{}))(t)
	require.OK(t, report.Err())
	if len(in.Jobs) != 200 || len(in.Account.NotModelled) > 0 || in.Processors != 8 || len(in.Resources) != 3 {
		t.Errorf("%d jobs on %d nodes of %v: %v", len(in.Jobs), in.Processors, in.Resources, in.Account.Lines())
	}
	o.Log = instances.LogOptions{}
	apart := require.Value(instances.Read(folder+"site-sacct.txt", o))(t).(*model.Batch) // partitions that share no node
	require.Same(t, "nodes by default", in.Nodes, apart.Nodes)
	require.Same(t, "jobs by default", in.Jobs, apart.Jobs)
	o.Log.Merged = true
	merged := require.Value(instances.Read(folder+"site-sacct.txt", o))(t).(*model.Batch)
	require.Same(t, "merged nodes, processors", [2]int{0, 160}, [2]int{len(merged.Nodes), merged.Processors})
	slurm := startsOf(t, in, ran)
	for algorithm, least := range map[string]float64{"easy": 0.9, "conservative": 0.9, "fcfs": 0} {
		r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: algorithm}))(t)
		starts := startsOf(t, in, r.Solution.(*model.Execution))
		same := sameOrder(slurm, starts)
		t.Log(algorithm, same, r.Objective, r.Bound)
		if same < least || r.Bound > report.Objective {
			t.Errorf("%s: %v of the pairs in Slurm's order, bound %v, Slurm's response %v", algorithm, same, r.Bound, report.Objective)
		}
	}
}

// startsOf returns the start of each job.
func startsOf(t *testing.T, in *model.Batch, e *model.Execution) []float64 {
	t.Helper()
	index := require.Value(in.Index(e))(t)
	starts := make([]float64, len(in.Jobs))
	for i, k := range index {
		starts[k] = e.Runs[i].Segments[0].StartS
	}
	return starts
}

// sameOrder returns the share of the pairs that don't start together in a which start in the
// same order in b.
func sameOrder(a, b []float64) float64 {
	same, all := 0.0, 0.0
	for i := range a {
		for k := range i {
			if a[i] == a[k] {
				continue
			}
			all++
			if cmp.Compare(a[i], a[k]) == cmp.Compare(b[i], b[k]) {
				same++
			}
		}
	}
	return same / all
}

// The starts that a real Slurm's backfill expects of waiting jobs (squeue's START_TIME) are compared with the starts of
// policies on the instance that --pending makes of the same tables. The how-to states how many are within a minute,
// Slurm's resolution.
func TestSlurmPending(t *testing.T) {
	files, err := filepath.Glob("testdata/slurm/squeue-*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	jobs, first := 0, 0
	near, nearFirst := map[string]int{}, map[string]int{}
	for _, file := range files {
		in := queued(t, file, "testdata/slurm/sinfo.txt", "wide")
		expected := slurmExpects(t, file)
		for _, policy := range []string{"easy", "conservative"} {
			r := require.Value(gapwise.Solve(context.Background(), in, gapwise.Options{Algorithm: policy}))(t)
			starts := startsOf(t, in, r.Solution.(*model.Execution))
			n := 0
			for k := range in.Jobs {
				x, waits := expected[in.Jobs[k].ID]
				if !waits {
					continue
				}
				if policy == "easy" {
					jobs++
				}
				if n++; n <= 5 && policy == "easy" {
					first++
				}
				if math.Abs(starts[k]-x) <= 60 {
					near[policy]++
					if n <= 5 {
						nearFirst[policy]++
					}
				}
			}
		}
	}
	text := strings.Join(strings.Fields(string(require.Value(os.ReadFile("docs/how-to/slurm.md"))(t))), " ")
	require.Says(t, "docs/how-to/slurm.md", text, fmt.Sprintf("%d of %d waiting jobs", near["conservative"], jobs), fmt.Sprintf("Under EASY, %d do", near["easy"]), fmt.Sprintf("%d of the %d jobs that are among the first five", nearFirst["conservative"], first))
	if near["conservative"] <= near["easy"] || 2*near["conservative"] < jobs {
		t.Errorf("%d of %d starts within a minute by conservative, %d by EASY", near["conservative"], jobs, near["easy"])
	}
}

// queued returns the jobs of a partition that run and wait in a table of squeue.
func queued(t *testing.T, file, nodes, partition string) *model.Batch {
	t.Helper()
	in := require.Value(instances.Read(file, instances.Options{Platform: nodes, Log: instances.LogOptions{Partition: partition, Pending: true}}))(t)
	return in.(*model.Batch)
}

// On a real queue with a held job, dependencies, a begin time, an array, two partitions and a heterogeneous job, each job
// for which Slurm estimates a start (squeue --start) starts within a minute of it, the resolution of its backfill.
func TestSlurmQueue(t *testing.T) {
	folder := filepath.Dir(require.Data(t, "found", "0.10.0", "slurm-mps", "pending", "sinfo.txt"))
	in := queued(t, filepath.Join(folder, "squeue-reason.txt"), filepath.Join(folder, "sinfo.txt"), "small")
	begin := require.Value(time.Parse(time.RFC3339, in.StartTime))(t)
	want := map[string]time.Time{}
	for _, line := range strings.Split(string(require.Value(os.ReadFile(filepath.Join(folder, "squeue--start.txt")))(t)), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[5] == "N/A" || fields[5] == "START_TIME" {
			continue
		}
		at := require.Value(time.Parse("2006-01-02T15:04:05", fields[5]))(t)
		id, _, _ := strings.Cut(fields[0], "+") // the components begin together
		array, _, many := strings.Cut(id, "_[")
		for k := 1; many && k <= 6; k++ {
			want[fmt.Sprintf("%s_%d", array, k)] = at
		}
		if !many {
			want[id] = at
		}
	}
	for _, policy := range []string{"easy", "conservative"} {
		r := require.Value(gapwise.Solve(context.Background(), in, gapwise.Options{Algorithm: policy}))(t)
		planned := 0
		for k, start := range startsOf(t, in, r.Solution.(*model.Execution)) {
			at, waits := want[in.Jobs[k].ID]
			if !waits {
				continue
			}
			planned++
			if apart := begin.Add(time.Duration(start * 1e9)).Sub(at); apart.Abs() > time.Minute {
				t.Errorf("%s starts %s %v after Slurm", policy, in.Jobs[k].ID, apart)
			}
		}
		require.Same(t, "jobs that Slurm estimates", 12, planned)
	}
	require.Says(t, "the account", strings.Join(in.Account.Lines(), "\n"), "2 jobs with unmet dependencies (69, 70)", "1 job on hold (68)", "1 job submitted later")
}

// slurmExpects returns when Slurm expects the waiting jobs of a table of squeue to start, in seconds after the
// table was written.
func slurmExpects(t *testing.T, file string) map[string]float64 {
	t.Helper()
	r := csv.NewReader(strings.NewReader(string(require.Value(os.ReadFile(file))(t))))
	r.Comma = '|'
	lines := require.Value(r.ReadAll())(t)
	at, now := map[string]time.Time{}, time.Time{}
	for _, l := range lines[1:] {
		start, err := time.Parse("2006-01-02T15:04:05", l[6])
		if err != nil {
			continue // N/A: not planned in this pass
		}
		if l[12] == "PENDING" {
			at[l[0]] = start
			continue
		}
		var minutes, seconds int
		require.OK(t, require.Err(fmt.Sscanf(l[8], "%d:%d", &minutes, &seconds)))
		if run := start.Add(time.Duration(60*minutes+seconds) * time.Second); run.After(now) {
			now = run
		}
	}
	expected := map[string]float64{}
	for id, start := range at {
		expected[id] = start.Sub(now).Seconds()
	}
	return expected
}
