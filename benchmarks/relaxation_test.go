package benchmarks

import (
	"errors"
	"math"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// The relaxation's yield is min(1, H / sum of CPU needs) if the memory is enough in
// all, and it finds no solution.
func TestRelaxation(t *testing.T) {
	s := instances.VCSchedSpec{Hosts: 4, Jobs: 12, Slack: 0.1, CoVCPU: 0.25, CoVMemory: 0.75, Memory: instances.MemoryRescaled, Seed: 3}
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, j := range in.Jobs {
		sum += j.CPU
	}
	r, err := relaxation{}.Solve(t.Context(), in, model.Settings{})
	if err != nil || math.Abs(r.Bound-4/sum) > 1e-9 || r.Solution != nil || r.Status != model.StatusUnknown {
		t.Errorf("%+v, %v, want the bound %v", r, err, 4/sum)
	}
	in.Jobs[0].Memory, in.Jobs[1].Memory = 1, 1
	if r, err := (relaxation{}).Solve(t.Context(), in, model.Settings{}); err != nil || r.Status != model.StatusInfeasible {
		t.Errorf("%+v, %v, want infeasible: the needs are above the hosts' memory", r, err)
	}
	if _, err := (relaxation{}).Solve(t.Context(), &model.DAG{}, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("a dag gives %v", err)
	}
}

// A run without a solution degrades by 100 % "over all instances"; an instance that
// no algorithm of the table solves isn't counted.
func TestDegradationOfAll(t *testing.T) {
	solved := func(algorithm, instance string, yield float64) Record {
		r := Record{Plan: "p", Instance: instance, Hash: instance, Kind: model.KindVCSched, Algorithm: algorithm, Status: model.StatusUnknown}
		if yield > 0 {
			r.Objective, r.Status, r.Verified = &yield, model.StatusFeasible, true
		}
		return r
	}
	records := []Record{
		solved("a", "1", 0.8), solved("b", "1", 0.76), solved("a", "2", 0.5), solved("b", "2", 0), solved("a", "3", 0), solved("b", "3", 0),
		solved("a", "4", 0.4), solved("b", "4", 0.34), solved("other", "3", 0.9),
	}
	table, err := Tabulate(records, TableOptions{Algorithms: []string{"a", "b"}, Columns: []string{"deg. mean %", "deg. all %", "deg. > 3 %", "deg. > 10 %", "unsolved %"}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"a", "0.000", "0.000", "0", "0", "25.000"}, {"b", "10.000", "40.000", "2", "1", "50.000"}}
	for i, row := range want {
		for k, cell := range row {
			if table.Rows[i][k] != cell {
				t.Errorf("%s of %s is %s, want %s", table.Header[k], row[0], table.Rows[i][k], cell)
			}
		}
	}
	lines, err := Series(withParameter(records), SeriesOptions{X: []string{"slack"}, Y: "deg. all %", Algorithms: []string{"a", "b"}})
	if err != nil || len(lines) != 2 || math.Abs(lines[1].Points[0].Mean-40) > 1e-9 || lines[1].Points[0].Runs != 3 {
		t.Errorf("%+v, %v", lines, err)
	}
}

// withParameter gives all records one slack.
func withParameter(records []Record) []Record {
	for i := range records {
		records[i].Params = map[string]float64{"slack": 0.5}
	}
	return records
}
