// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func terminalOf(t *testing.T, columns int, instance, solution string) string {
	t.Helper()
	in := require.Value(model.DecodeInstance([]byte(instance)))(t)
	s := require.Value(model.DecodeSolution([]byte(solution)))(t)
	var b strings.Builder
	require.OK(t, Terminal(&b, columns, Frame{Instance: in, Solution: s}))
	return b.String()
}

func TestTerminal(t *testing.T) {
	for name, c := range map[string]struct{ instance, solution, want string }{
		"dag": {
			`{"kind":"dag","version":1,"name":"pair","machines":[{"id":"P1"},{"id":"P2"}],"tasks":[{"id":"a","cost_s":[3,5]},{"id":"b","cost_s":[4,9]},{"id":"c","cost_s":[2,3]}],"edges":[{"from":"a","to":"b","data":0}],"network":{"bandwidth":1}}`,
			`{"kind":"dag","version":1,"tasks":[{"id":"a","machine":"P1","start_s":0},{"id":"b","machine":"P2","start_s":3},{"id":"c","machine":"P1","start_s":3}],"transfers":[{"from":"a","to":"b","start_s":3}]}`,
			"P1 |[a======][c===]\n" +
				"P2 |         [b========================]\n" +
				"    0                               12 s\n"},
		"dag on cores": {
			`{"kind":"dag","version":1,"name":"three","resources":["cores"],"machines":[{"id":"P1","capacity":[2]},{"id":"P2","capacity":[1]}],"tasks":[{"id":"a","cost_s":[3,5],"needs":[1]},{"id":"b","cost_s":[12,9],"needs":[1]},{"id":"c","cost_s":[2,3],"needs":[1]}],"edges":[],"network":{"bandwidth":1}}`,
			`{"kind":"dag","version":1,"tasks":[{"id":"a","machine":"P1","start_s":0},{"id":"b","machine":"P1","start_s":0},{"id":"c","machine":"P1","start_s":3}],"transfers":[]}`,
			"P1 |[a======][c===]\n" +
				"   |[b=================================]\n" +
				"P2 |\n" +
				"    0                               12 s\n"},
		"names that differ at their ends": {
			`{"kind":"dag","version":1,"name":"pair","machines":[{"id":"a-machine-of-the-rack-1"},{"id":"a-machine-of-the-rack-2"}],"tasks":[{"id":"align:sample:of-the-run:00001","cost_s":[3,3]},{"id":"align:sample:of-the-run:00002","cost_s":[3,3]}],"edges":[],"network":{"bandwidth":1}}`,
			`{"kind":"dag","version":1,"tasks":[{"id":"align:sample:of-the-run:00001","machine":"a-machine-of-the-rack-1","start_s":0},{"id":"align:sample:of-the-run:00002","machine":"a-machine-of-the-rack-2","start_s":0}],"transfers":[]}`,
			"a-machi…e-rack-1 |[align:sam…-run:00001]\n" +
				"a-machi…e-rack-2 |[align:sam…-run:00002]\n" +
				"                  0                  3 s\n"},
		"reservation": {
			`{"kind":"reservation","version":1,"name":"two","pes":4,"requests":[{"id":"r1","arrival_s":0,"ready_s":0,"duration_s":50,"deadline_s":100,"pes":3},{"id":"r2","arrival_s":5,"ready_s":5,"duration_s":40,"deadline_s":100,"pes":2}]}`,
			`{"kind":"reservation","version":1,"bookings":[{"id":"r1","start_s":0,"pes":"0-1,3"},{"id":"r2","start_s":50,"pes":"2-3"}]}`,
			"PE 0 |[r1===============]\n" +
				"PE 1 |[r1===============]\n" +
				"PE 2 |                   [r2===========]\n" +
				"PE 3 |[r1===============][r2===========]\n" +
				"      0                             90 s\n"},
		"vcsched": {
			`{"kind":"vcsched","version":1,"name":"two","hosts":2,"jobs":[{"id":"web","tasks":2,"cpu":0.5,"memory":0.3},{"id":"db","tasks":1,"cpu":0.5,"memory":0.5}]}`,
			`{"kind":"vcsched","version":1,"jobs":[{"id":"web","hosts":[0,1],"cpu":[0.5,0.5]},{"id":"db","hosts":[1],"cpu":[0.5]}]}`,
			"host 0 |[web===========]\n" +
				"host 1 |[web===========][db============]\n" +
				"        0              1 of a host's CPU\n"},
		"consolidation": {
			`{"kind":"consolidation","version":1,"name":"two","resources":["cpu"],"hosts":[{"id":"n1","capacity":[4],"price":1},{"id":"n2","capacity":[4],"price":1}],"jobs":[{"id":"web","tasks":2,"needs":[2],"current_hosts":["n1","n2"]}]}`,
			`{"kind":"consolidation","version":1,"jobs":[{"id":"web","hosts":["n2","n2"]}]}`,
			"n1 |\n" +
				"n2 |[web*============][web=============]\n" +
				"    0                  1 of a host's cpu\n"},
		"tvc": {
			`{"kind":"tvc","version":1,"name":"one","fat_tree":{"k":2,"slots":4,"link_mbps":1000},"queue":false,"requests":[{"id":"r1","arrival_s":0,"vms":3,"bandwidth_mbps":10,"duration_s":100}]}`,
			`{"kind":"tvc","version":1,"runs":[{"id":"r1","segments":[{"start_s":0,"end_s":100,"place":{"switch":"edge-0-0","servers":[{"server":0,"vms":3}]}}]}]}`,
			"server 0 |▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆\n" +
				"server 1 |\n" +
				"          0                        100 s\n"},
		"batch": {
			`{"kind":"batch","version":1,"name":"one","processors":2,"tiers":1,"jobs":[{"id":"j1","submit_s":0,"runtime_s":100,"estimate_s":100,"processes":2,"cpu":[1],"fg_loss":0,"bg_efficiency":0.5}]}`,
			`{"kind":"batch","version":1,"runs":[{"id":"j1","segments":[{"start_s":0,"end_s":100,"place":{"processors":"0-1"}}]}]}`,
			"fg 0 |[j1==============================]\n" +
				"fg 1 |[j1==============================]\n" +
				"      0                            100 s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := terminalOf(t, 40, c.instance, c.solution); got != c.want {
				t.Errorf("it is\n%swant\n%s", got, c.want)
			}
			for _, columns := range []int{0, 80, 200} {
				for line := range strings.Lines(terminalOf(t, columns, c.instance, c.solution)) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > max(columns, 40) {
						t.Errorf("%d columns: %d: %q", columns, n, line)
					}
				}
			}
		})
	}
}

// Each line sums up several of many rows: half of 48 PEs are half of each line.
func TestTerminalOfManyRows(t *testing.T) {
	got := terminalOf(t, 40,
		`{"kind":"reservation","version":1,"name":"many","pes":48,"requests":[{"id":"r1","arrival_s":0,"ready_s":0,"duration_s":10,"deadline_s":10,"pes":24}]}`,
		`{"kind":"reservation","version":1,"bookings":[{"id":"r1","start_s":0,"pes":"0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46"}]}`)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != mostTerminalRows+1 || lines[0] != "  PE 0-1 |"+strings.Repeat("▄", 30) || !strings.HasPrefix(lines[23], "PE 46-47 |") {
		t.Errorf("%d lines:\n%s", len(lines), got)
	}
}

// Machines with more lanes than there are lines are summed up, as a share of their own lanes: all 39 of P1 are in use, then
// one of them, and the only one of P2.
func TestTerminalOfManyLanes(t *testing.T) {
	d := &model.DAG{Name: "many", Resources: []string{"cores"}, Machines: []model.Machine{{ID: "P1", Capacity: []int64{40}}, {ID: "P2", Capacity: []int64{40}}}}
	s := &model.Schedule{}
	for k := range 41 {
		id := fmt.Sprint(k)
		d.Tasks = append(d.Tasks, model.DAGTask{ID: id, CostS: []float64{5, 10}, Needs: []int64{1}})
		s.Tasks = append(s.Tasks, model.TaskStart{ID: id, Machine: "P1"})
	}
	s.Tasks[39].StartS, s.Tasks[40].Machine = 5, "P2"
	var b strings.Builder
	require.OK(t, Terminal(&b, 40, Frame{Instance: d, Solution: s}))
	want := "P1 |" + strings.Repeat("█", 18) + strings.Repeat("▁", 18) + "\nP2 |" + strings.Repeat("█", 36) + "\n    0" + strings.Repeat(" ", 31) + "10 s\n"
	if b.String() != want {
		t.Errorf("it is\n%swant\n%s", b.String(), want)
	}
}

func TestTerminalErrors(t *testing.T) {
	in := &model.DAG{}
	err := Terminal(new(strings.Builder), 80, Frame{Instance: in, Solution: &model.Bookings{}})
	require.Refused(t, "bookings of a dag", err, model.ErrInvalid, "")
}
