// SPDX-License-Identifier: MIT

package runs_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The table has the solution's decisions: the latest end of a task is the makespan, as many requests are accepted as
// the objective says, each task has a host, and the shares of CPU are the solution's own.
func TestDecisionTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	number := func(text string) float64 { return require.Value(strconv.ParseFloat(text, 64))(t) }
	for range require.Rounds(100) {
		for _, in := range []model.Instance{testkit.RandomDAG(rng, 1+rng.IntN(6), 1+rng.IntN(3)), testkit.RandomReservation(rng, 1+rng.IntN(6)),
			testkit.Consolidation(rng, 1+rng.IntN(6), 1+rng.IntN(4))} {
			r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Settings: model.Settings{Effort: 20_000}}))(t)
			if r.Solution == nil {
				continue
			}
			table := require.Value(runs.DecisionTable(in, r.Solution))(t)
			switch in := in.(type) {
			case *model.DAG:
				last := 0.0
				for _, row := range table.Rows {
					last = max(last, number(row[3]))
				}
				if len(table.Rows) != len(in.Tasks) || last > r.Objective*(1+1e-9) || last < r.Objective*(1-1e-9) {
					t.Errorf("%v ends at %v, the makespan is %v", table.Rows, last, r.Objective)
				}
			case *model.Reservation:
				accepted := 0
				for _, row := range table.Rows {
					accepted += int(number(row[1]))
				}
				if want := len(r.Solution.(*model.Bookings).Bookings); len(table.Rows) != len(in.Requests) || accepted != want {
					t.Errorf("%v accepts %d of %d, want %d", table.Rows, accepted, len(in.Requests), want)
				}
			case *model.Consolidation:
				tasks := 0
				for i := range in.Jobs {
					tasks += in.Jobs[i].Tasks
				}
				if len(table.Rows) != tasks {
					t.Errorf("%d rows, %d tasks", len(table.Rows), tasks)
				}
			}
		}
	}
	var vms model.VCSched
	require.OK(t, json.Unmarshal([]byte(`{"kind":"vcsched","version":1,"name":"two","hosts":1,"jobs":[{"id":"a","tasks":2,"cpu":0.5,"memory":0.1}]}`), &vms))
	got := require.Value(runs.DecisionTable(&vms, &model.Placement{Jobs: []model.JobPlacement{{ID: "a", Hosts: []int{0, 0}, CPU: []float64{0.25, 0.5}}}}))(t)
	require.Same(t, "rows", [][]string{{"a", "1", "0", "0.25"}, {"a", "2", "0", "0.5"}}, got.Rows)
}
