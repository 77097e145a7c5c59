// SPDX-License-Identifier: MIT

package papers

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// made are records of the seven policies at three loads, as in the paper, except that change alters acceptance and
// slowdown.
func made(change func(policy string, load float64, accepted, slowdown *float64)) []runs.Record {
	base := map[string][2]float64{"ff": {60, 1.1}, "pe-b": {58, 1.3}, "du-w": {59, 1.31}, "pe-w": {80, 1.5}, "du-b": {79, 1.5}, "pedu-b": {70, 1.6}, "pedu-w": {69, 1.35}}
	var all []runs.Record
	for policy, v := range base {
		for _, load := range []float64{1, 2, 3} {
			for draw := range 2 {
				accepted, slowdown := v[0]-10*load+float64(draw), v[1]+0.1*load
				if change != nil {
					change(policy, load, &accepted, &slowdown)
				}
				all = append(all, runs.Record{Plan: "p", Instance: fmt.Sprint(load, draw), Hash: fmt.Sprint("h", load, draw), Kind: model.KindReservation,
					Params: map[string]float64{"requests": 100, "arrival_factor": load, "draw": float64(draw)}, Algorithm: policy,
					Status: model.StatusFeasible, Objective: &accepted, Second: &slowdown, Metrics: map[string]float64{"acceptance %": accepted}, Verified: true})
			}
		}
	}
	return all
}

func TestFindings(t *testing.T) {
	tests := map[string]struct {
		change        func(policy string, load float64, accepted, slowdown *float64)
		wantNot       []string // beginnings of findings that don't hold
		wantUndecided []string
	}{
		"as in the paper": {nil, nil, nil},
		"another accepts more": {func(p string, load float64, a, _ *float64) {
			if p == "pedu-w" && load == 2 {
				*a += 11.6
			}
		}, []string{"PE_W accepts most", "PE_W and DU_B accept more than the other", "PEDU_B and PEDU_W accept similar shares", "more load: all accept less"}, nil},
		"another is faster": {func(p string, load float64, _, s *float64) {
			if p == "pe-b" && load == 3 {
				*s = 1
			}
		}, []string{"FF has the least", "PE_B and DU_W slow down alike", "the slowdowns of PEDU_B", "more load: all slow down"}, nil},
		"apart": {func(p string, _ float64, a, _ *float64) {
			if p == "du-b" {
				*a -= 5
			}
		}, []string{"PE_W and DU_B accept similar shares"}, nil},
		// One draw shows it, the other doesn't: 60 and 62 against 61 and 61.
		"undecided": {func(p string, load float64, a, _ *float64) {
			if p == "du-b" && load == 2 {
				*a = 60 + 1.2*(*a-60) // the mean is 1 less, as before
				if *a > 59.5 {
					*a += 2.5
				}
			}
		}, nil, []string{"PE_W accepts most", "PE_W and DU_B accept more than the other", "PE_W and DU_B accept similar", "more load: all accept less"}},
		"alike": {func(p string, _ float64, a, _ *float64) {
			if p == "pe-b" || p == "du-w" {
				*a += 19
			}
		}, []string{"PE_B and DU_W don't accept more than FF", "PE_B and PE_W, and DU_B and DU_W, accept different"}, nil},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			all := require.Value(FindingsOf(made(c.change), []string{"arrival_factor"}))(t)
			verdicts(t, all, c.wantNot, c.wantUndecided)
			require.Same(t, "findings", 17, len(all))
		})
	}
}

// The findings on flexibility: PE_W, DU_B and PEDU_B rise on a line, the others
// have a dent at {4,4}, and PE_W leads DU_B by more and more.
func TestFindingsOnFlexibility(t *testing.T) {
	flexible := func(change func(policy string, x float64, accepted *float64)) []runs.Record {
		var all []runs.Record
		noise := []float64{0, 1, -1.5}
		for policy, v := range map[string][2]float64{"ff": {60, 1.1}, "pe-b": {58, 1.3}, "du-w": {59, 1.31}, "pe-w": {80, 1.5}, "du-b": {80, 1.49}, "pedu-b": {70, 1.6}, "pedu-w": {70, 1.35}} {
			for x := 1.0; x <= 5; x++ {
				for draw := range noise {
					accepted, slow := v[0]+2*x+noise[draw], v[1]+0.1*x
					switch {
					case policy == "pe-w":
						accepted += 0.1 * x
					case policy != "du-b" && policy != "pedu-b" && x == 4:
						accepted -= 1.4
					}
					if change != nil {
						change(policy, x, &accepted)
					}
					all = append(all, runs.Record{Plan: "p", Instance: fmt.Sprint(x, draw), Hash: fmt.Sprint("h", x, draw), Kind: model.KindReservation,
						Params: map[string]float64{"requests": 100, "artime": x, "deadline": x, "draw": float64(draw)}, Algorithm: policy,
						Status: model.StatusFeasible, Objective: &accepted, Second: &slow, Metrics: map[string]float64{"acceptance %": accepted}, Verified: true})
				}
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		change func(policy string, x float64, accepted *float64)
		not    []string
		tied   string
	}{
		"as in the paper": {nil, nil, ""},
		"a bend": {func(p string, x float64, a *float64) { *a += map[bool]float64{true: 1.8}[p == "pedu-b" && x == 3] },
			[]string{"more flexibility: PEDU_B accepts more almost linearly"}, ""},
		"a fall": {func(p string, x float64, a *float64) { *a -= map[bool]float64{true: 30}[p == "du-b" && x == 2] },
			[]string{"PE_W and DU_B accept more than the other", "PE_W and DU_B accept much more", "PE_W, DU_B, PEDU_B and PEDU_W accept more", "PE_W and DU_B accept similar", "neither PE-based", "neither best fit",
				"more flexibility: PE_W, DU_B and PEDU_B accept more", "more flexibility: DU_B accepts more almost", "more flexibility: PE_W leads DU_B by more"}, ""},
		"a line": {func(p string, x float64, a *float64) { *a += map[bool]float64{true: 1.4}[p == "ff" && x == 4] },
			[]string{"more flexibility: FF isn't stable"}, "FF, PE_B, DU_W and PEDU_W are furthest"},
		"another dent": {func(p string, x float64, a *float64) { *a -= map[bool]float64{true: 4}[p == "pe-b" && x == 2] },
			[]string{"PE_B and DU_W accept similar", "FF, PE_B, DU_W and PEDU_W are furthest"}, ""},
		"no lead": {func(p string, x float64, a *float64) { *a += map[bool]float64{true: -0.2 * x}[p == "pe-w"] },
			[]string{"PE_W accepts most", "more flexibility: PE_W leads DU_B by more"}, ""},
		"worse in the end": {func(p string, x float64, a *float64) { *a -= map[bool]float64{true: 20}[p == "ff" && x == 5] },
			[]string{"PE_B and DU_W don't accept more than FF", "FF, PE_B, DU_W and PEDU_W are furthest", "more flexibility: FF, PE_B, DU_W and PEDU_W accept more in the end"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := require.Value(FindingsOf(flexible(c.change), []string{"artime", "deadline"}))(t)
			var tied []string
			if c.tied != "" {
				tied = []string{c.tied}
			}
			verdicts(t, all, c.not, nil, tied...)
			require.Same(t, "findings", 28, len(all))
		})
	}
	if all, err := FindingsOf(flexible(nil), []string{"artime"}); err != nil || len(all) != 27 {
		t.Errorf("%d findings over artime alone, error %v, want 27", len(all), err) // that is no pair {4,4}
	}
}

// verdicts holds the findings that aren't held against the beginnings of their
// texts.
func verdicts(t *testing.T, all []Finding, not, undecided []string, tied ...string) {
	t.Helper()
	for verdict, want := range map[Verdict][]string{NotHeld: not, Undecided: undecided, Tied: tied} {
		var got []string
		for _, f := range all {
			if f.Verdict == verdict {
				got = append(got, f.Text)
			}
			if f.Measured == "" || strings.Contains(f.Measured, "NaN") {
				t.Errorf("%q is measured as %q", f.Text, f.Measured)
			}
		}
		for i := range max(len(got), len(want)) {
			if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
				t.Fatalf("%s: %q, want %q", verdict, got, want)
			}
		}
	}
}

// clustered are records of tvc algorithms over one parameter: three draws at each
// of its values, each with a noise that all algorithms share.
func clustered(log, parameter string, x []float64, goal string, metrics func(algorithm string, x, noise float64) map[string]float64, algorithms ...string) []runs.Record {
	var all []runs.Record
	for _, a := range algorithms {
		for _, v := range x {
			for k, noise := range []float64{-20, 0, 15} {
				m := metrics(a, v, noise)
				first, second := m["first"], m["second"]
				all = append(all, runs.Record{Plan: "p", Instance: fmt.Sprint(log, v, "-", k), Hash: fmt.Sprint("h", v, k), Kind: model.KindTVC, Variants: map[string]string{"goal": goal},
					Params: map[string]float64{"requests": 100, parameter: v, "draw": float64(k)}, Algorithm: a, Status: model.StatusFeasible,
					Objective: &first, Second: &second, Metrics: m, Verified: true})
			}
		}
	}
	return all
}

// Noise that is common to all algorithms decides nothing, as runs are compared in
// pairs.
func TestTVCFindings(t *testing.T) {
	base := map[string]float64{"adaba": 0, "best-fit": -1, "best-fit-local": 0, "greedy": -5, "oktopus": -4}
	accept := func(a string, x, noise float64) map[string]float64 {
		lead := base[a] * x / 200
		switch {
		case a == "greedy" && x == 700:
			lead -= 10
		case a == "best-fit-local" && noise > 0:
			lead++
		}
		return map[string]float64{"first": 80, acceptRate: 70 - x/20 + lead + noise}
	}
	bandwidths := []float64{50, 200, 700}
	embedders := []string{"adaba", "best-fit", "best-fit-local", "greedy", "oktopus"}
	all := require.Value(FindingsOf(clustered("tvc", "bandwidth", bandwidths, "requests", accept, embedders...), []string{"bandwidth"}))(t)
	verdicts(t, all,
		[]string{"AdaBa is up to 15 points ahead of greedy", "best-fit's accept rate falls like AdaBa's"},
		[]string{"AdaBa accepts more than best-fit-local", "AdaBa accepts up to 15 % more than oktopus", "AdaBa accepts up to 15 % more than greedy", "AdaBa accepts up to 15 % more than best-fit at", "AdaBa is up to 15 points ahead of best-fit-local",
			"AdaBa accepts up to 15 % more than best-fit-local"}, "AdaBa's accept rate falls by less than that of best-fit-local")
	all = require.Value(FindingsOf(clustered("tvc", "load", []float64{50, 200, 700}, "requests", accept, embedders...), []string{"load"}))(t)
	verdicts(t, all, []string{"AdaBa's lead over greedy is less than 15"}, []string{"AdaBa accepts more than best-fit-local"}, "AdaBa's lead over best-fit-local grows")

	queue := func(a string, x, noise float64) map[string]float64 {
		response := map[string]float64{"fcfs": 90000, "sbf": 95000, "sdf": 50000, "bgmbf": 45000, "bgmbf-sdf": 40000}[a]
		suspensions := map[string]float64{"bgmbf": 290, "bgmbf-sdf": 250}[a]
		if a == "bgmbf-sdf" && x == 0.6 {
			suspensions = 305
		}
		return map[string]float64{"first": x*response + noise, "second": x*response/50 + noise, "wait": x*response - 10 + noise, "preempted": suspensions + noise}
	}
	// As soon as SDF is no better than FCFS, it is far from BgMBF.
	far := func(a string, x, noise float64) map[string]float64 {
		m := queue(a, x, noise)
		if a == "sdf" {
			m["first"] *= 2
		}
		return m
	}
	schedulers := []string{"fcfs", "sbf", "sdf", "bgmbf", "bgmbf-sdf"}
	all = require.Value(FindingsOf(clustered("tvc", "load", []float64{0.4, 0.6, 0.8}, "response", far, schedulers...), []string{"load"}))(t)
	verdicts(t, all, []string{"SDF, BgMBF and BgMBFSDF differ less in response", "BgMBFSDF preempts less"}, nil)
	// Every other load is compared with 0.6, lower ones, too.
	early := func(a string, x, noise float64) map[string]float64 {
		m := queue(a, x, noise)
		if a == "bgmbf-sdf" && x == 0.4 {
			m["preempted"] = 300 + noise
		}
		return m
	}
	all = require.Value(FindingsOf(clustered("KTH", "load", []float64{0.4, 0.6, 0.8}, "response", early, schedulers...), []string{"load"}))(t)
	verdicts(t, all, []string{"BgMBFSDF preempts less than BgMBF at every other load"}, nil)
	for log, want := range map[string][2][]string{
		"KTH":  {nil, nil},
		"NASA": {{"SDF has less response", "SDF has less wait", "BgMBFSDF preempts less than BgMBF at every load"}, {"at most 200 preemptions"}},
		"tvc":  {{"BgMBFSDF preempts less than BgMBF at every load"}, nil},
	} {
		all := require.Value(FindingsOf(clustered(log, "load", []float64{0.4, 0.6, 0.8}, "response", queue, schedulers...), []string{"load"}))(t)
		verdicts(t, all, want[0], want[1])
	}
}

// Findings about both logs are checked on the runs of both: NASA-iPSC gains a tenth, KTH-SP2 a twentieth.
func TestTVCFindingsAcrossLogs(t *testing.T) {
	queue := func(gain, suspensions float64) func(a string, x, noise float64) map[string]float64 {
		return func(a string, x, noise float64) map[string]float64 {
			m := map[string]float64{"first": 1e4*x + noise, "second": 10, "wait": 1e4*x - 100 + noise, "preempted": suspensions + noise}
			if a == "bgmbf-sdf" {
				m["first"], m["wait"] = m["first"]*(1-gain), m["wait"]*(1-gain)
			}
			return m
		}
	}
	loads := []float64{0.4, 0.8}
	for name, c := range map[string]struct {
		kth, nasa func(a string, x, noise float64) map[string]float64
		not       []string
		undecided []string
		tied      []string
	}{
		"as in the paper": {queue(0.05, 100), queue(0.1, 200), nil, nil, nil},
		"the other way":   {queue(0.1, 200), queue(0.05, 100), []string{"BgMBFSDF shortens BgMBF's response", "BgMBFSDF shortens BgMBF's wait", "BgMBF preempts less"}, nil, nil},
		"about the same":  {queue(0.1, 100), queue(0.1, 110), nil, []string{"BgMBF preempts less"}, []string{"BgMBFSDF shortens BgMBF's response", "BgMBFSDF shortens BgMBF's wait"}},
	} {
		t.Run(name, func(t *testing.T) {
			records := append(clustered("KTH", "load", loads, "response", c.kth, "bgmbf", "bgmbf-sdf"), clustered("NASA", "load", loads, "response", c.nasa, "bgmbf", "bgmbf-sdf")...)
			for i := range records {
				records[i].Hash += records[i].Instance
			}
			verdicts(t, require.Value(FindingsOf(records, []string{"load"}))(t), c.not, c.undecided, c.tied...)
		})
	}
}

// batched are records of batch algorithms on both workloads: EASY on one tier and
// on two, where it is worse, the others on two. Values come from metrics, with a noise that all algorithms share.
func batched(algorithms []string, points []map[string]float64, metrics func(algorithm, workload string, p map[string]float64) map[string]float64) []runs.Record {
	var all []runs.Record
	for _, a := range algorithms {
		for tiers := 1.0; tiers <= 2; tiers++ {
			if tiers == 1 && a != "easy" {
				continue
			}
			for _, w := range batchWorkloads {
				for _, p := range points {
					for k, noise := range []float64{0.9, 1, 1.2} {
						m := metrics(a, w.prefix, p)
						first, second := noise*m["first"], noise*m["second"]
						if tiers == 2 && a == "easy" { // less than REASY in JWload
							first, second = 1.02*first, 1.02*second
						}
						params := map[string]float64{"jobs": 1000, "tiers": tiers, "draw": float64(k)}
						maps.Copy(params, p)
						if w.name == "JWload" {
							params["jobs"] = 500
						}
						name := fmt.Sprint(w.prefix, tiers, p, "-", k)
						all = append(all, runs.Record{Plan: "p", Instance: name, Hash: name, Kind: model.KindBatch, Params: params, Algorithm: a, Status: model.StatusFeasible,
							Objective: &first, Second: &second, Metrics: map[string]float64{migrations: m[migrations]}, Verified: true})
					}
				}
			}
		}
	}
	return all
}

// All findings of the paper hold for figures like its own; a figure that differs
// changes the findings about it alone.
func TestBatchFindings(t *testing.T) {
	four := []string{"easy", "keasy", "measy", "reasy"}
	var loads, costs []map[string]float64
	for _, load := range []float64{0.5, 0.7, 0.9} {
		loads = append(loads, map[string]float64{"load": load})
		for _, cost := range []float64{20, 480, 900, 1500} {
			costs = append(costs, map[string]float64{"load": load, "migration_s": cost})
		}
	}
	paper := func(a, workload string, p map[string]float64) map[string]float64 {
		first := map[string]float64{"easy": 1000, "keasy": 900, "measy": 858, "reasy": 950}[a]
		second := map[string]float64{"easy": 100, "keasy": 40, "measy": 37.4, "reasy": 60}[a]
		moved := 100 * p["load"]
		if strings.Contains(workload, "jann") {
			if a == "reasy" {
				first, second = 1100, 110
			}
			moved *= p["load"] / 1.4 // half of the jobs: as many per job at 0.7
		}
		if p["load"] == 0.9 && a == "measy" {
			first, second = 588, 17
		}
		return map[string]float64{"first": first, "second": second, migrations: moved}
	}
	costly := func(a, workload string, p map[string]float64) map[string]float64 {
		m := paper(a, "", map[string]float64{"load": 0.5})
		if a == "measy" {
			limit := 1500.0
			if strings.Contains(workload, "jann") {
				limit = 900
			}
			share := min(1.05, p["migration_s"]/limit)
			m["first"], m["second"] = 200+702*share, 5+35.1*share
		}
		return m
	}
	for name, c := range map[string]struct {
		algorithms           []string
		points               []map[string]float64
		metrics              func(a, workload string, p map[string]float64) map[string]float64
		x                    []string
		n                    int
		not, undecided, tied []string
	}{
		"Figures 6 to 8":   {four, loads, paper, []string{"load"}, 2*2*9 + 8 + 2, nil, nil, nil},
		"Figures 9 to 12":  {four[:3], loads, paper, []string{"load"}, 2 * 2 * 5, nil, nil, nil},
		"Figures 13 to 14": {four[1:3], costs, costly, []string{"load", "migration_s"}, 2 * 2 * 3, nil, nil, nil},
		"nothing gained": {four, loads, func(a, w string, p map[string]float64) map[string]float64 {
			m := paper(a, w, p)
			if a == "measy" {
				m["first"] = 990
			}
			return m
		}, []string{"load"}, 46, []string{"MEASY has less response than KEASY at every load (FW", "MEASY has less response than REASY at every load (FW",
			"MEASY has less response than KEASY at every load (JW", "MEASY's response is 23.1 %", "MEASY's response is up to 41.1 %",
			"MEASY's response is 23.1 %", "MEASY's response is up to 41.1 %"}, nil, nil},
		"few migrations": {four, loads, func(a, w string, p map[string]float64) map[string]float64 {
			m := paper(a, w, p)
			m[migrations] = 0
			return m
		}, []string{"load"}, 46, nil, nil, []string{"MEASY migrates more", "MEASY migrates less"}},
		"migrations cost nothing": {four[1:3], costs, paper, []string{"load", "migration_s"}, 12, []string{"MEASY has more response than KEASY at every load if a migration costs 1500 s",
			"MEASY has more bounded slowdown than KEASY at every load if a migration costs 1500 s", "MEASY has more response than KEASY at every load if a migration costs 900 s",
			"MEASY has more bounded slowdown than KEASY at every load if a migration costs 900 s"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			all := require.Value(FindingsOf(batched(c.algorithms, c.points, c.metrics), c.x))(t)
			verdicts(t, all, c.not, c.undecided, c.tied...)
			require.Same(t, "findings", c.n, len(all))
		})
	}
}

// daggen are records of HEFT and the network-aware HEFT on two graphs at each point of the paper's grid. Their figures
// are near the paper's, except for the changes of change.
func daggen(change func(p map[string]float64, planned, stretched, best, round *float64)) []runs.Record {
	var all []runs.Record
	for _, tasks := range []float64{10, 20, 50} {
		for _, fat := range []float64{0.1, 0.2, 0.8} {
			for _, density := range []float64{0.2, 0.8} {
				for _, regular := range []float64{0.2, 0.8} {
					for _, jump := range []float64{1, 2, 4} {
						for _, noise := range []float64{0.99, 1.01} {
							p := map[string]float64{"tasks": tasks, "fat": fat, "density": density, "regular": regular, "jump": jump, "draw": 0}
							more := map[float64]float64{10: 0.7, 20: 0.9, 50: 1.4}[tasks] * map[float64]float64{1: 0.9, 2: 1, 4: 1.1}[jump]
							planned := noise * map[float64]float64{0.1: 600, 0.2: 400, 0.8: 47.6}[fat]
							stretched := planned * (1 + map[float64]float64{0.1: 0.25, 0.2: 0.25, 0.8: 0.94}[fat]*map[float64]float64{1: 0.9, 2: 1, 4: 1.1}[jump])
							best, round := stretched*(1-0.18*more), 7.1*more*noise
							if change != nil {
								change(p, &planned, &stretched, &best, &round)
							}
							name := fmt.Sprintf("daggen-d%04d-m3-c50-b50-paper-fair-0", len(all)/2)
							for a, objective := range map[string]float64{"heft": stretched, "network-aware": best} {
								r := runs.Record{Plan: "p", Instance: name, Hash: name, Kind: model.KindDAG, Params: p, Algorithm: a,
									Status: model.StatusFeasible, Objective: &objective, Second: &objective, Verified: true, Metrics: map[string]float64{"planned": planned, "rounds": 1}}
								if a == "network-aware" {
									r.Metrics["rounds"] = round
								}
								all = append(all, r)
							}
						}
					}
				}
			}
		}
	}
	return all
}

// All findings of the paper hold for figures like its own; a figure that differs
// changes the findings about it alone.
func TestDAGFindings(t *testing.T) {
	for name, c := range map[string]struct {
		change         func(p map[string]float64, planned, stretched, best, round *float64)
		not, undecided []string
	}{
		"as in the paper": {nil, nil, nil},
		"dense graphs": {func(p map[string]float64, _, stretched, best, _ *float64) {
			if p["density"] == 0.8 {
				*stretched, *best = 1.05**stretched, 1.05**best
			}
		}, []string{"density hardly matters: the increase"}, nil},
		"few rounds": {func(_ map[string]float64, _, _, _, round *float64) { *round /= 2 }, []string{"the best schedule comes in round 7.1"}, nil},
		"long jumps gain nothing": {func(p map[string]float64, _, stretched, best, _ *float64) {
			if p["jump"] == 4 {
				*best = *stretched
			}
		}, []string{"the rounds shorten them by", "longer jumps: the rounds gain more"}, nil},
		"noise": {func(p map[string]float64, planned, stretched, best, _ *float64) {
			x := 1.0
			if *planned > 600 || *planned > 400 && *planned < 500 || *planned > 47.6 && *planned < 50 {
				x = 1.8
			}
			*stretched, *best = x**stretched, x**best
		}, []string{"contention lengthens them by", "contention lengthens the widest"}, []string{"regular hardly matters: the increase", "density hardly matters: the increase", "longer jumps: contention adds more"}},
	} {
		t.Run(name, func(t *testing.T) {
			verdicts(t, require.Value(FindingsOf(daggen(c.change), nil))(t), c.not, c.undecided)
		})
	}
}

// If graphs at grid points differ, only the variance within a grid point counts: 99 and 101, 199 and 201 have the mean
// 150 ± 1.96 / sqrt 2.
func TestStratified(t *testing.T) {
	var s dagGraphs
	for k, x := range []float64{99, 101, 199, 201} {
		s = append(s, &dagGraph{params: map[string]float64{"tasks": float64(k / 2)}, planned: x})
	}
	if got := s.figure("makespan"); got.mean != 150 || math.Abs(got.half-1.959964/math.Sqrt2) > 1e-9 {
		t.Errorf("%v, want 150 ± 1.39", got)
	}
}

func TestFindingsRefuse(t *testing.T) {
	var one, some, apart []runs.Record
	for _, r := range made(nil) {
		if r.Params["arrival_factor"] == 1 {
			one = append(one, r)
		}
		if r.Algorithm != "du-w" {
			some = append(some, r)
		}
		other := r
		other.Hash, other.Instance = r.Hash+"b", r.Instance+"b"
		apart = append(apart, r, other)
	}
	none := func(string, float64, float64) map[string]float64 { return nil }
	loss := clustered("tvc", "load", []float64{1, 2}, "requests", none, "adaba", "greedy")
	waits := func(string, float64, float64) map[string]float64 {
		return map[string]float64{"first": 2, "second": 2, "wait": 1, "preempted": 1}
	}
	logs := append(clustered("KTH", "load", []float64{1, 2}, "response", waits, "bgmbf", "bgmbf-sdf"),
		clustered("NASA", "load", []float64{3, 4}, "response", waits, "bgmbf", "bgmbf-sdf")...)
	twoLoads := []map[string]float64{{"load": 0.5}, {"load": 0.7}}
	nothing := func(string, string, map[string]float64) map[string]float64 { return nil }
	renamed := batched([]string{"easy", "keasy", "measy"}, twoLoads, nothing)
	for i := range renamed {
		renamed[i].Instance = "KTH" + renamed[i].Instance
	}
	uneven := daggen(nil)
	several := append(daggen(nil), daggen(nil)...)
	for i := range several[len(uneven):] {
		r := &several[len(uneven)+i]
		r.Instance = strings.Replace(r.Instance, "fair", "tcp", 1)
		r.Hash = r.Instance
	}
	for name, c := range map[string]struct {
		records []runs.Record
		x       []string
		want    string
	}{
		"dag over tasks":      {uneven, []string{"tasks"}, "own parameters"},
		"dag, one run less":   {uneven[1:], nil, "give as many"},
		"dag, no grid":        {uneven[:2], nil, "two values at least of tasks"},
		"dag, settings":       {several, nil, "paper-fair and"},
		"nothing":             {nil, []string{"umed"}, "none"},
		"one load":            {one, []string{"arrival_factor"}, "at two values of arrival_factor"},
		"a policy is missing": {some, []string{"arrival_factor"}, "du-w"},
		"another parameter":   {made(nil), []string{"umed"}, `"umed"`},
		"no parameter":        {one, nil, "no parameter"},
		"several settings":    {apart, []string{"arrival_factor"}, "the results of one setting"},
		"several kinds":       {append(made(nil), loss...), []string{"arrival_factor"}, "of reservation and of tvc"},
		"tvc over size":       {loss, []string{"size"}, "over bandwidth or load"},
		"no rival":            {clustered("tvc", "load", []float64{1, 2}, "requests", none, "adaba"), []string{"load"}, "oktopus"},
		"no value":            {loss, []string{"load"}, "runs of each of adaba, greedy"},
		"batch over size":     {batched([]string{"easy"}, twoLoads, nothing), []string{"jobs"}, "over load, or over load,migration_s"},
		"batch of a log":      {renamed, []string{"load"}, "runs of neither"},
		"two logs":            {logs, []string{"load"}, "at different loads"},
	} {
		require.Refused(t, name, require.Err(FindingsOf(c.records, c.x)), model.ErrInvalid, c.want)
	}
	require.Same(t, "varied", []string{"arrival_factor"}, Varied(made(nil)))
}

// Each printed figure states its place in the paper.
func TestPapers(t *testing.T) {
	for kind, p := range papers {
		for name, f := range p.Figures {
			if f.Where == "" || f.What == "" || f.Margin > 0 && f.Why == "" {
				t.Errorf("%s: %q lacks where it is printed, what it is, or the reason of its margin: %+v", kind, name, f)
			}
			if got, err := Printed(kind, name); err != nil || !cmp.Equal(got, *f) {
				t.Errorf("%s: %q is %v, %v", kind, name, got, err)
			}
		}
	}
	require.Refused(t, "no figure", require.Err(Printed(model.KindDAG, "none")), model.ErrInvalid, "")
	require.Refused(t, "no table", require.Err(Table(model.KindDAG, "none")), model.ErrInvalid, "")
}
