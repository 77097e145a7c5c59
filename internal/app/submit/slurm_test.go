// SPDX-License-Identifier: MIT

//go:build linux

package submit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/app/submit"
	"github.com/gapwise/gapwise/internal/test/require"
)

// slurmConf sets up one node with 8 processors, of 127.0.0.1 alone, without
// authentication, accounting or control groups. cred_expire is how long a requeued
// job waits before it starts again.
const slurmConf = `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
SlurmUser=%[4]d
SlurmdUser=%[4]d
StateSaveLocation=%[5]s/state
SlurmdSpoolDir=%[5]s/spool
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmdPidFile=%[5]s/slurmd.pid
SlurmctldLogFile=%[5]s/slurmctld.log
SlurmdLogFile=%[5]s/slurmd.log
MailProg=/bin/true
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=5,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MinJobAge=86400
NodeName=one NodeHostname=%[1]s NodeAddr=127.0.0.1 CPUs=8 RealMemory=1024 State=UNKNOWN
PartitionName=main Nodes=one Default=YES MaxTime=INFINITE State=UP
`

// patience bounds waits that end the test if nothing comes: not the measured times.
const patience = 90 * time.Second

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// command returns a program's output, "" if it fails.
func command(name string, arguments ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, arguments...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// startSlurm starts a Slurm of one node for the test, as the current user, in a new folder with a short name: it isn't
// t.TempDir since Slurm takes few characters.
func startSlurm(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for program, debian := range map[string]string{"slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "squeue": "slurm-client"} {
		require.Tool(t, program, debian)
	}
	dir := require.Value(os.MkdirTemp("", "slurm"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	host := require.Value(os.Hostname())(t)
	host, _, _ = strings.Cut(host, ".")
	conf := filepath.Join(dir, "slurm.conf")
	t.Setenv("SLURM_CONF", conf)
	require.OK(t, errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "state"), 0o755),
		os.Mkdir(filepath.Join(dir, "spool"), 0o755),
		os.WriteFile(filepath.Join(dir, "cgroup.conf"), nil, 0o644),
		os.WriteFile(conf, fmt.Appendf(nil, slurmConf, host, freePort(t), freePort(t), os.Geteuid(), dir), 0o644)))
	// Cleanups run from the last to the first: jobs, slurmd, slurmctld, the folder.
	daemon(t, dir, "slurmctld", "-D", "-i", "-f", conf)
	daemon(t, dir, "slurmd", "-D", "-N", "one", "-f", conf)
	t.Cleanup(func() { endJobs(conf) })
	until(t, "Slurm to start", func() bool { return command("sinfo", "-h", "-N", "-n", "one", "-o", "%T") == "idle" })
}

// freePort returns a port without a listener.
func freePort(t *testing.T) int {
	t.Helper()
	l := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// daemon starts a program that ends with the test, also if that is killed.
func daemon(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	log := require.Value(os.Create(filepath.Join(dir, program+".out")))(t)
	c := exec.Command(program, arguments...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	require.OK(t, c.Start())
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { c.Process.Kill() })
		c.Wait()
		kill.Stop()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s: %s", program, text[max(0, len(text)-2000):])
		}
	})
}

// endJobs ends the jobs that still run, which outlive slurmd: by Slurm, and then by the variable that distinguishes the
// test's jobs from all others.
func endJobs(conf string) {
	if command("squeue", "-h", "-o", "%i") == "" {
		return
	}
	command("scancel", "--state=PENDING", "--user="+strconv.Itoa(os.Geteuid()))
	command("scancel", "--user="+strconv.Itoa(os.Geteuid()))
	for end := time.Now().Add(8 * time.Second); command("squeue", "-h", "-o", "%i") != "" && time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		environment, err := os.ReadFile(f)
		mine := err == nil && bytes.Contains(environment, []byte("SLURM_CONF="+conf+"\x00")) && bytes.Contains(environment, []byte("SLURM_JOB_ID="))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && mine {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// A plan of 8 runs in an array of 4 tasks. Two tasks have a run done and one at work when one of them is killed and
// requeued, as by a failure of its node, and the other gets the signal that its time limit is near. Both go on where
// they were, the dependent job merges, and its table is the one of a local run.
func TestSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a Slurm and waits for its queue")
	}
	work := filepath.Join(t.TempDir(), "a folder")
	require.OK(t, os.Mkdir(work, 0o755))
	gapwise := filepath.Join(work, "gapwise")
	require.Run(t, exec.Command("go", "build", "-buildvcs=false", "-o", gapwise, "../../../cmd/gapwise"))

	// GLPK runs by a script that has the first two tasks wait at their second run, until they are started again.
	glpsol := require.Tool(t, "glpsol", "glpk-utils")
	folder := filepath.Join(work, "100 % mine")
	script := fmt.Sprintf(`#!/bin/sh
lines() { cat '%s'/parts/*."$SLURM_ARRAY_TASK_ID"-of-4.* 2>/dev/null | wc -l; }
if [ "${SLURM_ARRAY_TASK_ID:-9}" -le 2 ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ] && [ "$(lines)" -gt 0 ]; then
	while :; do sleep 0.1; done
fi
exec '%s' "$@"
`, folder, glpsol)
	bin := filepath.Join(work, "bin")
	plan := filepath.Join(work, "plan.yaml")
	require.OK(t, errors.Join(os.Mkdir(bin, 0o755),
		os.WriteFile(filepath.Join(bin, "glpsol"), []byte(script), 0o755), os.WriteFile(plan, []byte(`
name: p
generators: [{kind: vcsched, hosts: [2], jobs: [5, 6, 7, 8], slack: [0.4], count: 2, seed: 1}]
algorithms: [{name: exact, engine: glpsol}]
`), 0o644)))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	startSlurm(t)

	s := submit.Slurm{Work: work, Options: []string{"--partition=main", "--time=60"},
		Job: submit.Job{Name: "p", Shards: 4, Workers: 1, Program: gapwise, Arguments: []string{plan}, Plan: plan, Folder: folder}}
	jobs := require.Value(s.Submit(t.Context()))(t)
	parts := func() (all []runs.Record) {
		files, _ := filepath.Glob(filepath.Join(folder, "parts", "*.jsonl"))
		for _, f := range files {
			all = append(all, require.Value(runs.ReadRecords(f))(t)...)
		}
		return all
	}
	until(t, "6 of the runs", func() bool { return len(parts()) == 6 })
	running := func() []string { return strings.Fields(command("squeue", "-h", "-t", "running", "-r", "-o", "%i")) }
	until(t, "two tasks to be left", func() bool { return len(running()) == 2 })
	tasks := running()
	require.Run(t, exec.Command("scontrol", "requeue", tasks[0]))
	require.Run(t, exec.Command("scancel", "--batch", "--signal=USR1", tasks[1]))
	merged := filepath.Join(folder, "p.jsonl")
	until(t, "the job that merges", func() bool {
		_, err := os.Stat(merged)
		return err == nil || strings.Contains(command("squeue", "-h", "-t", "all", "-j", jobs.Merge, "-o", "%T"), "FAILED")
	})
	logs := ""
	files, _ := filepath.Glob(filepath.Join(folder, "logs", "*"))
	for _, f := range files {
		logs += string(require.Value(os.ReadFile(f))(t))
	}
	for text, times := range map[string]int{
		"p: all 8 runs are there":               1,
		"the time is over, requeued":            1,
		"2 runs, 0 of them done already":        4,
		"2 runs, 1 of them done already":        2,
		"2 runs done; see: gapwise bench merge": 4,
		"stopped; the same command goes on ":    1,
	} {
		// The killed task may have had the time to report that it stopped.
		if n := strings.Count(logs, text); n != times && !(times == 1 && n == 2 && strings.HasPrefix(text, "stopped")) {
			t.Errorf("%q stands %d times in the logs, want %d", text, n, times)
		}
	}

	local := filepath.Join(work, "local.jsonl")
	p := require.Value(benchmarks.LoadPlan(plan))(t)
	require.OK(t, benchmarks.Run(t.Context(), p, benchmarks.RunOptions{Results: local}))
	table := func(file string) runs.Table {
		records := require.Value(runs.ReadRecords(file))(t)
		require.Same(t, fmt.Sprintf("runs of %s", file), 8, len(records))
		for i := range records {
			if !records[i].Sealed || records[i].Run != i+1 || records[i].Host == "" {
				t.Errorf("%s:%d: sealed %v, run %d of %d on %q", file, i+1, records[i].Sealed, records[i].Run, records[i].Runs, records[i].Host)
			}
		}
		got := require.Value(runs.Tabulate(records, runs.TableOptions{Columns: []string{"runs", "verified", "failed", "objective", "second", "bound", "gap mean %", "nodes mean"}}))(t)
		return got.Table(runs.TableOptions{})
	}
	require.Same(t, "merged", table(local), table(merged))
	if t.Failed() {
		t.Log(logs)
	}
}
