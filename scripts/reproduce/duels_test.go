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
	t.Parallel()
	head := strings.Join(duelColumns, ",") + "\n"
	row := func(instance, solver, status, objective, cpu, witness string) string {
		return strings.Join([]string{"DAG", instance, "minimise", "20", solver, "v", "2026-01-01", status, objective, "1", cpu, witness}, ",") + "\n"
	}
	both := row("a", "search", "optimal", "10", "0.1", "yes") + row("a", cpsat, "optimal", "10", "1", "yes")
	x, err := duelsOf(strings.NewReader(head + both +
		row("b", "search", "optimal", "9", "0.001", "yes") + row("b", cpsat, "optimal", "10", "0.001", "yes") + // refuted
		row("c", "search", "feasible", "12", "20", "yes") + row("c", cpsat, "feasible", "13", "20", "yes") +
		row("d", "search", "feasible", "13", "20", "yes") + row("d", cpsat, "feasible", "12", "60", "yes"))) // noticed the limit late
	if err != nil {
		t.Fatal(err)
	}
	d := x.Families[0]
	if d.Instances != 4 || d.Proved("search") != 2 || d.Proved(cpsat) != 1 || len(d.False) != 1 || len(d.Engines()) != 1 || d.Better != 1 || d.Worse != 1 || math.Abs(d.CPU(cpsat)-81.001) > 1e-9 {
		t.Errorf("%+v", d)
	}
	// The ratios are 0.1, and three times 1: both below 10 ms, or both at the limit.
	if want := math.Pow(0.1, 0.25); math.Abs(d.Ratio("search")-want) > 1e-9 {
		t.Errorf("ratio %v, want %v", d.Ratio("search"), want)
	}
	for name, text := range map[string]string{
		"another table":   "a,b\n",
		"without CP-SAT":  head + row("a", "search", "optimal", "10", "1", "yes"),
		"no witness":      head + row("a", "search", "optimal", "10", "1", "yes") + row("a", cpsat, "optimal", "10", "1", "no"),
		"we are refuted":  head + row("a", "search", "optimal", "11", "1", "yes") + row("a", cpsat, "feasible", "10", "1", "yes"),
		"twice":           head + both + row("a", "search", "optimal", "10", "0.1", "yes"),
		"without a time":  head + row("a", cpsat, "optimal", "10", "", "yes"),
		"two other limit": head + both + strings.Replace(row("b", cpsat, "optimal", "10", "1", "yes"), ",20,", ",30,", 1),
	} {
		if _, err := duelsOf(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
