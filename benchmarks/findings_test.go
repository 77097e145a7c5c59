package benchmarks

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
)

// made are records of the seven policies at three loads, as the paper would
// have them, but for what change does to acceptance and slowdown.
func made(change func(policy string, load float64, accepted, slowdown *float64)) []Record {
	base := map[string][2]float64{"ff": {60, 1.1}, "pe-b": {58, 1.3}, "du-w": {59, 1.31}, "pe-w": {80, 1.5}, "du-b": {79, 1.5}, "pedu-b": {70, 1.6}, "pedu-w": {69, 1.35}}
	var all []Record
	for policy, v := range base {
		for _, load := range []float64{1, 2, 3} {
			for draw := range 2 {
				accepted, slowdown := v[0]-10*load+float64(draw), v[1]+0.1*load
				if change != nil {
					change(policy, load, &accepted, &slowdown)
				}
				all = append(all, Record{Plan: "p", Instance: fmt.Sprint(load, draw), Hash: fmt.Sprint("h", load, draw), Kind: model.KindReservation,
					Params: map[string]float64{"requests": 100, "arrival_factor": load, "draw": float64(draw)}, Algorithm: policy,
					Status: model.StatusFeasible, Objective: &accepted, Second: &slowdown, Metrics: map[string]float64{"acceptance %": accepted}, Verified: true})
			}
		}
	}
	return all
}

func TestFindings(t *testing.T) {
	tests := map[string]struct {
		change  func(policy string, load float64, accepted, slowdown *float64)
		wantNot []string // beginnings of what doesn't hold
	}{
		"as in the paper": {nil, nil},
		"another accepts more": {func(p string, load float64, a, _ *float64) {
			if p == "pedu-w" && load == 2 {
				*a += 11.6
			}
		}, []string{"PE_W accepts most", "PEDU_B and PEDU_W accept similar shares", "more load: all accept less"}},
		"another is faster": {func(p string, load float64, _, s *float64) {
			if p == "pe-b" && load == 3 {
				*s = 1
			}
		}, []string{"FF has the least", "the slowdowns of PEDU_B", "more load: all slow down"}},
		"apart": {func(p string, _ float64, a, _ *float64) {
			if p == "du-b" {
				*a -= 5
			}
		}, []string{"PE_W and DU_B accept similar shares"}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			all, err := FindingsOf(made(c.change), []string{"arrival_factor"})
			if err != nil {
				t.Fatal(err)
			}
			var not []string
			for _, f := range all {
				if f.Measured == "" {
					t.Errorf("%q has no figure", f.Text)
				}
				if !f.Held {
					not = append(not, f.Text)
				}
			}
			for i := range max(len(not), len(c.wantNot)) {
				if len(not) != len(c.wantNot) || !strings.HasPrefix(not[i], c.wantNot[i]) {
					t.Fatalf("not held: %q, want %q", not, c.wantNot)
				}
			}
			if len(all) != 10 {
				t.Errorf("%d findings, want 10", len(all))
			}
		})
	}
}

func TestFindingsRefuse(t *testing.T) {
	var one, some []Record
	for _, r := range made(nil) {
		if r.Params["arrival_factor"] == 1 {
			one = append(one, r)
		}
		if r.Algorithm != "du-w" {
			some = append(some, r)
		}
	}
	for name, c := range map[string]struct {
		records []Record
		x       []string
	}{
		"nothing":             {nil, []string{"umed"}},
		"one load":            {one, []string{"arrival_factor"}},
		"a policy is missing": {some, []string{"arrival_factor"}},
		"another parameter":   {made(nil), []string{"umed"}},
		"no parameter":        {made(nil), nil},
	} {
		if _, err := FindingsOf(c.records, c.x); !errors.Is(err, model.ErrInvalid) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff([]string{"arrival_factor"}, Varied(made(nil))); diff != "" {
		t.Errorf("varied (-want,+got)\n%s", diff)
	}
}
