// SPDX-License-Identifier: MIT

package main

import (
	"math"
	"strings"
	"testing"
)

// Duels are counted by what is proved with a witness; a claim that a verified
// solution refutes is an error, or is counted as CP-SAT's mistake.
func TestDuels(t *testing.T) {
	head := strings.Join(duelColumns, ",") + "\n"
	row := func(instance, solver, status, objective, cpu, witness string) string {
		bound := objective
		if status != "optimal" {
			bound = "1"
		}
		return strings.Join([]string{"DAG", instance, "minimise", "20", solver, "v", "2026-01-01", status, objective, bound, cpu, witness}, ",") + "\n"
	}
	both := row("a", ours, "optimal", "10", "0.1", "yes") + row("a", cpsat, "optimal", "10", "1", "yes")
	x := duelsOf(head + both +
		row("b", ours, "optimal", "9", "0.001", "yes") + row("b", cpsat, "optimal", "10", "0.001", "yes") + // refuted
		row("c", ours, "feasible", "12", "20", "yes") + row("c", cpsat, "feasible", "13", "20", "yes") +
		row("d", ours, "feasible", "13", "20", "yes") + row("d", cpsat, "feasible", "12", "60", "yes") + // noticed the limit late
		row("e", ours, "feasible", "13", "20", "yes") + row("e", cpsat, "unknown", "", "20", "no")) // the only solution
	d := x.Families[0]
	if d.Instances != 5 || d.Proved(ours) != 2 || d.Proved(cpsat) != 1 || len(d.False) != 1 || d.Better != 2 || d.Worse != 1 || math.Abs(d.CPU(cpsat)-101.001) > 1e-9 {
		t.Errorf("%+v", d)
	}
	// The ratios are 0.1, and four times 1: both below 10 ms, or both at the limit.
	if want := math.Pow(0.1, 0.2); math.Abs(d.Ratio()-want) > 1e-9 {
		t.Errorf("ratio %v, want %v", d.Ratio(), want)
	}
	if sum := x.Total(); sum.Instances != 5 || sum.Proved(ours) != 2 || sum.Better != 2 || sum.Worse != 1 || sum.Ratio() != d.Ratio() {
		t.Errorf("all families: %+v", sum)
	}
	for name, text := range map[string]string{
		"another table":   "a,b\n",
		"without CP-SAT":  head + row("a", ours, "optimal", "10", "1", "yes"),
		"no witness":      head + row("a", ours, "optimal", "10", "1", "yes") + row("a", cpsat, "optimal", "10", "1", "no"),
		"ours unverified": head + row("a", ours, "optimal", "10", "1", "no") + row("a", cpsat, "optimal", "10", "1", "yes"),
		"another engine":  head + both + row("a", "kernel", "optimal", "10", "0.1", "yes"),
		"our bound":       head + strings.Replace(row("a", ours, "feasible", "12", "1", "yes"), ",1,1,", ",11,1,", 1) + row("a", cpsat, "feasible", "10", "1", "yes"),
		"we are refuted":  head + row("a", ours, "optimal", "11", "1", "yes") + row("a", cpsat, "feasible", "10", "1", "yes"),
		"twice":           head + both + row("a", ours, "optimal", "10", "0.1", "yes"),
		"without a time":  head + row("a", cpsat, "optimal", "10", "", "yes"),
		"two other limit": head + both + strings.Replace(row("b", cpsat, "optimal", "10", "1", "yes"), ",20,", ",30,", 1),
	} {
		if failure(func() { duelsOf(text) }) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
