// SPDX-License-Identifier: MIT

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

func TestBenchLog(t *testing.T) {
	var b strings.Builder
	l := &benchLog{w: &b, name: "p", interval: 10 * time.Second}
	start := time.Unix(0, 0)
	l.started(20, 14, start)
	for _, s := range []int{2, 4, 11, 12, 13, 23} {
		l.ended(runs.Record{Instance: "i", Algorithm: "gr", Seed: 3, Status: model.StatusFeasible}, start.Add(time.Duration(s)*time.Second))
	}
	want := "p: 15 of 20 runs after 2s, 0.5 runs/s, about 10s left; last gr on i, seed 3: feasible\n" +
		"p: 18 of 20 runs after 12s, 0.333 runs/s, about 6s left; last gr on i, seed 3: feasible\n" +
		"p: 20 of 20 runs after 23s, 0.261 runs/s; last gr on i, seed 3: feasible\n"
	if b.String() != want {
		t.Errorf("lines are\n%swant\n%s", b.String(), want)
	}
}

// A line has 80 columns, however long a command and a file's name are.
func TestBenchLogIsNoWiderThanATerminal(t *testing.T) {
	var b strings.Builder
	l := &benchLog{w: &b, name: "bench-montage.json"}
	l.started(1, 0, time.Unix(0, 0))
	l.ended(runs.Record{Instance: "/data/wfinstances/montage-chameleon-2mass-01d-001.json.gz (platform uniform,machines=8)", Algorithm: "cmd:python3 scratch/one.py {in} {out}", Seed: 1, Status: model.StatusFeasible}, time.Unix(1, 0))
	if n := len([]rune(strings.TrimSuffix(b.String(), "\n"))); n > 80 || !strings.Contains(b.String(), "…") || !strings.HasSuffix(b.String(), ": feasible\n") {
		t.Errorf("%d columns: %s", n, b.String())
	}
}

// A silent solver has a line every ten seconds, with its last figures.
func TestHeartbeat(t *testing.T) {
	var b strings.Builder
	l := &solverLog{w: &b}
	l.tick(9 * time.Second)
	l.tick(10 * time.Second)
	l.progress(model.Progress{Incumbent: 0.8, Bound: 1, Nodes: 1, Elapsed: 12 * time.Second})
	l.tick(21 * time.Second)
	l.tick(22 * time.Second)
	l.beat(time.Now())()
	want := "         Nodes       BestBound        BestSol       Gap      Time\n" +
		"             0               -              -         -     10.0s\n" +
		"             1               1            0.8  25.0000%     12.0s\n" +
		"             1               1            0.8  25.0000%     22.0s\n"
	if b.String() != want {
		t.Errorf("log is\n%swant\n%s", b.String(), want)
	}
}
