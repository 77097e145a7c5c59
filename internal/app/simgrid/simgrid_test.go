// SPDX-License-Identifier: MIT

package simgrid

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	heuristics "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// two returns a graph of two tasks on machines with names that XML must quote, and its plan.
func two(transfers model.TransferModel) (*model.DAG, *model.Schedule) {
	in := &model.DAG{Name: "two", TransferModel: transfers,
		Machines: []model.Machine{{ID: `a "<&>'`, StartupS: 0.5}, {ID: "gapwise", LocalRate: 2}},
		Tasks:    []model.DAGTask{{ID: "first task", CostS: []float64{3, 9}}, {ID: "<second>", CostS: []float64{9, 4}}},
		Edges:    []model.DAGEdge{{From: "first task", To: "<second>", Data: 10.5}},
		Network: model.Network{Bandwidth: 2, Links: []model.Link{{ID: "l&", Capacity: 4}},
			Routes: []model.Route{{From: `a "<&>'`, To: "gapwise", Links: []string{"l&"}, LatencyS: 1}}}}
	return in, in.Schedule([]int32{0, 1}, []float64{0, 9.75}, []float64{3})
}

func TestWrite(t *testing.T) {
	in, s := two(model.TransferFair)
	require.OK(t, in.Validate())
	folder := filepath.Join(t.TempDir(), "new", "folder")
	require.OK(t, Write(folder, in, s, false))
	text := string(require.Value(os.ReadFile(filepath.Join(folder, platformFile)))(t))
	names := map[string]string{} // by kind of element
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		require.OK(t, err)
		if x, ok := token.(xml.StartElement); ok {
			for _, a := range x.Attr {
				names[x.Name.Local] += a.Name.Local + "=" + a.Value + ";"
			}
		}
	}
	// 10.5 units are 10.5 * 2^46 bytes.
	const scale = 1 << 46
	require.Is(t, `id=a "<&>';speed=1000000000f;core=1;id=gapwise;speed=1000000000f;core=1;`, names["host"])
	require.Is(t, fmt.Sprintf("id=l&;bandwidth=%dBps;latency=0s;id=path 0-1;bandwidth=%dBps;latency=1s;sharing_policy=FATPIPE;id=path 1-0;bandwidth=%[2]dBps;latency=1s;sharing_policy=FATPIPE;",
		4*scale, 2*scale), names["link"])
	require.Is(t, "id=l&;id=path 0-1;id=l&;id=path 1-0;", names["link_ctn"])
	require.Is(t, "id=gapwise';routing=Full;", names["zone"])
	plan := strings.Split(string(require.Value(os.ReadFile(filepath.Join(folder, planFile)))(t)), "\n")
	require.Same(t, "plan", []string{fmt.Sprintf("transfers fair %d 0", scale), `machine 0.5 0 a "<&>'`, "machine 0 2 gapwise",
		"task 0 3 0 1 first task", "task 1 4 9.75 1 <second>", "edge 0 1 10.5 3 1 0", ""}, plan[3:])
	in.Tasks[0].ID, s.Tasks[0].ID = "a\nb", "a\nb"
	require.Refused(t, "a line break", Write(folder, in, s, false), model.ErrUnsupported, "control character")
	in, s = two(model.TransferIdeal)
	in.Edges[0].Files = map[string]float64{"f": 10.5}
	require.Refused(t, "files", Write(folder, in, s, false), model.ErrUnsupported, "--files each")
}

// replayer returns the program that replays plans, built; without SimGrid the test is skipped.
func replayer(t *testing.T) string {
	t.Helper()
	compiler := require.Tool(t, "g++", "g++")
	if _, err := os.Stat("/usr/include/simgrid/s4u.hpp"); err != nil {
		if os.Getenv("GAPWISE_REQUIRE_TOOLS") == "1" {
			t.Fatal("SimGrid isn't there: run scripts/tools")
		}
		t.Skip("SimGrid isn't there: scripts/tools installs it (Debian: libsimgrid-dev)")
	}
	program := filepath.Join(t.TempDir(), "replay")
	require.Run(t, exec.Command(compiler, "-std=c++17", "-O1", "driver/replay.cpp", "-lsimgrid", "-o", program))
	return program
}

// SimGrid says what gapwise says of plans under each model of transfers, and of one with weights and one with cores.
func TestReplay(t *testing.T) {
	program := replayer(t)
	for name, change := range map[string]func(d *model.DAG){
		"ideal": func(d *model.DAG) { d.TransferModel = model.TransferIdeal }, "fair": func(*model.DAG) {},
		"tcp":     func(d *model.DAG) { d.TransferModel = model.TransferTCP },
		"tcp-all": func(d *model.DAG) { d.TransferModel = model.TransferTCPAll },
		"weights": func(d *model.DAG) { d.Network.Routes[0].Weight = 3 },
		"cores": func(d *model.DAG) {
			d.Resources = []string{"cores"}
			for m := range d.Machines {
				d.Machines[m].Capacity = []int64{int64(2 + m)}
			}
			for k := range d.Tasks {
				d.Tasks[k].Needs = []int64{int64(1 + k%2)}
			}
		},
	} {
		in := drawn()
		change(in)
		require.OK(t, in.Validate(), name)
		s := require.Value(heuristics.HEFT(t.Context(), in, model.Settings{Seed: 1}))(t)
		if ended, planned, later := replayed(t, program, in, s); later > 1e-6 || ended > planned+1e-6 || planned == 0 {
			t.Errorf("%s: it ends at %v, planned %v; later by %v", name, ended, planned, later)
		}
	}
	// The same of drawn plans, with transfers held back and without.
	plans := 10
	switch {
	case require.Night():
		plans = 200
	case !testing.Short():
		plans = 50
	}
	rng, coarse := rand.New(rand.NewPCG(54, 3)), 0
	for _, transfers := range model.TransferModels {
		for k := range plans {
			in := testkit.ContendedDAG(rng, 20, 5)
			in.TransferModel = transfers
			solve := []func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error){heuristics.HEFT, heuristics.SinnenSousa, heuristics.Improve}[k%3]
			s := require.Value(solve(t.Context(), in, model.Settings{Seed: 1, Effort: 50_000}))(t)
			if err := Write(t.TempDir(), in, s, false); errors.Is(err, model.ErrUnsupported) { // figures of any size
				coarse++
				continue
			}
			if ended, planned, later := replayed(t, program, in, s); later > 1e-6*max(1, planned) || ended > planned+1e-6*max(1, planned) {
				t.Errorf("%s %d: it ends at %v, planned %v; later by %v", transfers, k, ended, planned, later)
			}
		}
	}
	if coarse > plans {
		t.Errorf("%d of %d plans are too coarse", coarse, len(model.TransferModels)*plans)
	}
	witnessLV08(t, rng, program, max(2, plans/10))
}

// witnessLV08 replays plans in SimGrid's default model of networks: plans made for it end when they say, and sooner than
// plans made without it.
func witnessLV08(t *testing.T, rng *rand.Rand, program string, plans int) {
	for _, class := range []struct {
		name      string
		lan, line float64 // latencies, s
	}{{"a local network", 5e-5, 0}, {"two sites", 5e-5, 5e-3}, {"a wide network", 1e-2, 1e-2}} {
		least, most, gain := math.Inf(1), 0.0, 0.0
		for range plans {
			in := twoSites(rng, 20+rng.IntN(60), class.lan, class.line)
			set := model.Settings{Seed: 1, Effort: 300_000}
			ended, planned, _ := replayed(t, program, in, require.Value(heuristics.Improve(t.Context(), forLV08(t, in), set))(t), "simgrid")
			without, _, _ := replayed(t, program, in, require.Value(heuristics.Improve(t.Context(), in, set))(t), "simgrid")
			least, most, gain = min(least, ended/planned), max(most, ended/planned), gain+math.Log(ended/without)
		}
		gain = math.Exp(gain / float64(plans))
		t.Logf("%s: SimGrid ends after %.5f to %.5f of the time planned, %.3f of that without --network lv08 (geometric mean of %d)",
			class.name, least, most, gain, plans)
		if least < 0.999 || most > 1.001 || gain > 1 { // weights are rounded by a part in 2000
			t.Errorf("%s: SimGrid and LV08 differ, or plans are no better by it", class.name)
		}
	}
}

// replayed returns when SimGrid ends a plan and by how much a task starts later than planned at most, in seconds.
func replayed(t *testing.T, program string, in *model.DAG, s *model.Schedule, how ...string) (ended, planned, later float64) {
	t.Helper()
	folder := t.TempDir()
	require.OK(t, Write(folder, in, s, len(how) > 0))
	ended, planned, later, err := replayedOn(program, filepath.Join(folder, platformFile), folder, how...)
	require.OK(t, err)
	return ended, planned, later
}

// replayedOn replays the plan of a folder on another platform with hosts of the same names.
func replayedOn(program, platform, folder string, how ...string) (ended, planned, later float64, err error) {
	run := exec.Command(program, append([]string{platform, filepath.Join(folder, planFile)}, how...)...)
	run.Dir = folder // for traces that a platform asks for
	out, err := run.CombinedOutput()
	if err != nil {
		return 0, 0, 0, fmt.Errorf("%w: %s", err, out)
	}
	_, last, _ := strings.Cut(string(out), "makespan ")
	_, err = fmt.Sscanf(last, "%f s, planned %f s; starts are later by %f s", &ended, &planned, &later)
	return ended, planned, later, err
}

// twoSites draws a graph with data in bytes on two sites of machines with a link up and one down each, joined by a line.
// Latencies are of a site's routes, and of the line; without the latter it is one site.
func twoSites(rng *rand.Rand, tasks int, lan, line float64) *model.DAG {
	const rate = 1.25e8
	in := &model.DAG{Name: "sites", TransferModel: model.TransferFair, Network: model.Network{Bandwidth: 1.25e9, Links: []model.Link{{ID: "line", Capacity: rate}}}}
	for m := range 6 {
		id := fmt.Sprint("P", m)
		in.Machines = append(in.Machines, model.Machine{ID: id})
		in.Network.Links = append(in.Network.Links, model.Link{ID: id + ".up", Capacity: rate}, model.Link{ID: id + ".down", Capacity: rate})
	}
	for a := range 6 {
		for b := range 6 {
			r := model.Route{From: fmt.Sprint("P", a), To: fmt.Sprint("P", b), LatencyS: lan, OneWay: true}
			if r.Links = []string{r.From + ".up", r.To + ".down"}; a/3 != b/3 && line > 0 {
				r.LatencyS, r.Links = lan+line, append(r.Links, "line")
			}
			if a != b {
				in.Network.Routes = append(in.Network.Routes, r)
			}
		}
	}
	for k := range tasks {
		t := model.DAGTask{ID: fmt.Sprint("t", k)}
		for range 6 {
			t.CostS = append(t.CostS, 1+10*rng.Float64())
		}
		in.Tasks = append(in.Tasks, t)
		for from := max(0, k-10); from < k; from++ {
			if rng.IntN(4) == 0 {
				in.Edges = append(in.Edges, model.DAGEdge{From: fmt.Sprint("t", from), To: t.ID, Data: float64(rng.IntN(1e9))})
			}
		}
	}
	return in
}

// drawn returns a graph of which transfers share links: three machines, each task sends to two later ones.
func drawn() *model.DAG {
	in := &model.DAG{Name: "drawn", TransferModel: model.TransferFair, Network: model.Network{Bandwidth: 3, Links: []model.Link{{ID: "in", Capacity: 2}, {ID: "out"}}}}
	for m := range 3 {
		in.Machines = append(in.Machines, model.Machine{ID: fmt.Sprint("P", m), StartupS: float64(m) / 8, LocalRate: 50})
	}
	for a := range 3 {
		for b := range 3 {
			if a != b {
				in.Network.Routes = append(in.Network.Routes, model.Route{From: fmt.Sprint("P", a), To: fmt.Sprint("P", b), LatencyS: float64(a+b) / 16,
					Links: []string{"in", "out"}[a*b%2 : 1+a*b%2], OneWay: true})
			}
		}
	}
	for k := range 24 {
		in.Tasks = append(in.Tasks, model.DAGTask{ID: fmt.Sprint("t", k), CostS: []float64{float64(1 + k*7%5), float64(2 + k*3%4), float64(1 + k*5%7)}})
		for _, to := range []int{k + 3, k + 5} {
			if to < 24 {
				in.Edges = append(in.Edges, model.DAGEdge{From: fmt.Sprint("t", k), To: fmt.Sprint("t", to), Data: 0.5 + float64(k*to%9)})
			}
		}
	}
	return in
}
