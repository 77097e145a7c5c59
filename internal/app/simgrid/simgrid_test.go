// SPDX-License-Identifier: MIT

package simgrid

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	heuristics "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/test/require"
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
	require.OK(t, Write(folder, in, s))
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
	require.Refused(t, "a line break", Write(folder, in, s), model.ErrUnsupported, "control character")
	in, s = two(model.TransferIdeal)
	in.Edges[0].Files = map[string]float64{"f": 10.5}
	require.Refused(t, "files", Write(folder, in, s), model.ErrUnsupported, "--files each")
}

// SimGrid says what gapwise says of plans under each model of transfers, and of one with weights and one with cores.
func TestReplay(t *testing.T) {
	compiler := require.Tool(t, "g++", "g++")
	if _, err := os.Stat("/usr/include/simgrid/s4u.hpp"); err != nil {
		t.Skip("SimGrid isn't there (Debian: libsimgrid-dev)")
	}
	program := filepath.Join(t.TempDir(), "replay")
	require.Run(t, exec.Command(compiler, "-std=c++17", "-O1", "driver/replay.cpp", "-lsimgrid", "-o", program))
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
		folder := t.TempDir()
		require.OK(t, Write(folder, in, s))
		out := require.Run(t, exec.Command(program, filepath.Join(folder, platformFile), filepath.Join(folder, planFile)))
		var ended, planned, later float64
		_, last, _ := strings.Cut(out, "makespan ")
		require.Value(fmt.Sscanf(last, "%f s, planned %f s; starts are later by %f s", &ended, &planned, &later))(t)
		if later > 1e-6 || ended > planned+1e-6 || planned == 0 {
			t.Errorf("%s: %s", name, last)
		}
	}
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
