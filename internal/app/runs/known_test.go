// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// policies are runs on a batch instance: two policies, a program that saw everything and
// an exact engine.
func policies() []Record {
	num := func(x float64) *float64 { return &x }
	run := func(algorithm, options string, objective, bound float64) Record {
		return Record{Plan: "p", Instance: "b", Hash: "sha256:b", Kind: model.KindBatch, Algorithm: algorithm, Options: options, Status: model.StatusFeasible,
			Objective: num(objective), Second: num(1), Bound: num(bound), Verified: true, Sealed: true}
	}
	return []Record{run("search", "", 50, 50), run("mine", "algorithm=cmd:mine {in}", 60, 40), run("fcfs", "", 150, 40), run("easy", "", 100, 40), run("queue", "algorithm=easy uses=unknown", 120, 40)}
}

// Online policies are ranked among themselves, and aren't measured by the results of a program or an engine that sees
// the instance whole.
func TestGroupsAreNotRankedAgainstEachOther(t *testing.T) {
	got := require.Value(tabulate(policies(), TableOptions{Columns: []string{"deg. mean %", "best", "gap mean %"}}))(t)
	want := [][]string{{"easy", "0.000", "1", "50.000"}, {"fcfs", "50.000", "0", "66.667"}, {"queue", "20.000", "0", "58.333"}, {"mine", "0.000", "1", "16.667"}, {"search", "0.000", "1", "0.000"}}
	for k, row := range want {
		require.Same(t, fmt.Sprintf("row %d", k), strings.Join(got.Rows[k], " "),
			strings.Join(row, " "))
	}
	groups := []string{}
	for _, g := range got.Groups {
		name, _, _ := strings.Cut(g, ":")
		groups = append(groups, name)
	}
	require.Same(t, "groups", "online policies, online policies, online policies, offline heuristics, yardsticks",
		strings.Join(groups, ", "))
	pairs := require.Value(Compare(policies(), CompareOptions{}))(t)
	for k, row := range pairs.Rows {
		class := func(a string) string {
			switch a {
			case "mine":
				return "offline"
			case "search":
				return "yardstick"
			}
			return "online"
		}
		want := map[string]string{"online online": "online policies", "online offline": "online against offline", "offline online": "online against offline",
			"online yardstick": "online against yardstick", "yardstick online": "online against yardstick", "offline yardstick": "offline against yardstick",
			"yardstick offline": "offline against yardstick"}[class(row[0])+" "+class(row[1])]
		if !strings.HasPrefix(pairs.Groups[k], want) {
			t.Errorf("%v stands in %q, want %q", row[:2], pairs.Groups[k], want)
		}
	}
	if one, err := tabulate(policies()[2:4], TableOptions{}); err != nil || len(one.Groups) != 2 {
		t.Errorf("one group alone, where there are others: %v, %v", one.Groups, err)
	}
}

// A bound that a file only states counts where nothing is proved and no solution beats
// it; it makes nothing optimal.
func TestLearnStated(t *testing.T) {
	num := func(x float64) *float64 { return &x }
	r := policies()[:1]
	r[0].Sealed = false
	k := Learn(r, nil)["sha256:b"]
	if !k.Stated || k.Bound != 50 || k.BoundBy != "search" || k.Optimal(50) || k.Gap(100) != 0.5 {
		t.Errorf("stated: %+v", k)
	}
	table, err := tabulate(r, TableOptions{Columns: []string{"optimal", "gap mean %"}})
	if err != nil || strings.Join(table.Rows[0], " ") != "search 0 0.000" {
		t.Errorf("%v, %v", table.Rows, err)
	}
	beaten := append(r, Record{Plan: "p", Instance: "b", Hash: "sha256:b", Kind: model.KindBatch, Algorithm: "easy", Status: model.StatusFeasible, Objective: num(30), Sealed: true})
	if k := Learn(beaten, nil)["sha256:b"]; !math.IsNaN(k.Bound) || k.Stated {
		t.Errorf("beaten: %+v", k)
	}
	proved := append(policies(), r[0])
	proved[len(proved)-1].Bound = num(90)
	if k := Learn(proved, nil)["sha256:b"]; k.Stated || k.Bound != 50 || !k.Optimal(50) || k.Optimal(60) {
		t.Errorf("proved: %+v", k)
	}
}

// A stated optimum closes no gap.
func TestStatedClosesNoGap(t *testing.T) {
	records := sample()[3:4] // greedy on i1: 0.4, bound 0.9
	other := sample()[0]
	other.Sealed, other.Algorithm = false, "mine"
	table, err := tabulate(append(records, other), TableOptions{Algorithms: []string{"greedy"}, Columns: []string{"gap max %"}})
	if err != nil || table.Rows[0][1] != "125.000" {
		t.Errorf("rows %v, error %v: want the gap to the proved bound 0.9", table.Rows, err)
	}
}
