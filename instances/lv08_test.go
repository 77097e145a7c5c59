// SPDX-License-Identifier: MIT

package instances

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// wide returns a graph on machines a, b and c: c is behind a long line.
func wide() *model.DAG {
	in := &model.DAG{Name: "wide", TransferModel: model.TransferFair,
		Machines: []model.Machine{{ID: "a"}, {ID: "b"}, {ID: "c", StartupS: 0.001}},
		Tasks:    []model.DAGTask{{ID: "x", CostS: []float64{1, 1, 1}}, {ID: "y", CostS: []float64{1, 1, 1}}},
		Edges:    []model.DAGEdge{{From: "x", To: "y", Data: 1e9}},
		Network: model.Network{Bandwidth: 1e9, Links: []model.Link{{ID: "lan", Capacity: 1e8}, {ID: "line"}},
			Routes: []model.Route{{From: "a", To: "b", Links: []string{"lan"}, LatencyS: 0.0001},
				{From: "a", To: "c", Links: []string{"lan", "line"}, LatencyS: 0.049}}}}
	return in
}

// read reads an instance by the options.
func readAs(t *testing.T, in model.Instance, o Options) (model.Instance, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.json")
	require.OK(t, os.WriteFile(path, require.Value(json.Marshal(in))(t), 0o666))
	return Read(path, o)
}

// The figures of LV08 by hand: rates, latencies, weights and windows.
func TestLV08(t *testing.T) {
	in := require.Value(readAs(t, wide(), Options{Network: "lv08"}))(t).(*model.DAG)
	net := &in.Network
	require.Is(t, 5, net.AcksPercent)
	require.Is(t, 0.97*1e8, net.Links[0].Capacity)
	require.Is(t, 0.97*1e9, net.Links[1].Capacity)
	require.Is(t, 3, len(net.Routes)) // c starts later than a, so the ways between them differ
	require.Is(t, 0.0001*13.01, net.Routes[0].LatencyS)
	require.Is(t, 0.001*13.01, in.Machines[2].StartupS)
	near := 0.0001 + 20537/1e8
	far := 0.049 + 20537/1e8 + 20537/1e9
	back := far + 0.001
	for r, p := range []float64{near, far, back} {
		if w := 1e6 * near / p; float64(net.Routes[r].Weight) < w-0.5 || float64(net.Routes[r].Weight) > w+0.5 {
			t.Errorf("route %d has the weight %d, want %v", r, net.Routes[r].Weight, w)
		}
	}
	require.Is(t, 0.97*4194304/(2*0.049), net.PathCapacity[0][2])
	require.Is(t, 0.97*1e9, net.PathCapacity[0][1]) // the window is wider
	require.Is(t, "the network of SimGrid's LV08: rates of 97 %, latencies times 13.01, acknowledgements of 5 %, weights by latency, a window of 4 MiB; data in bytes",
		in.Account.Assumed[0].Text)

	require.Refused(t, "twice", require.Err(readAs(t, in, Options{Network: "lv08"})), model.ErrInvalid, "already")
	tcp := wide()
	tcp.TransferModel = model.TransferTCP
	require.Refused(t, "TCP", require.Err(readAs(t, tcp, Options{Network: "lv08"})), model.ErrInvalid, "--transfers fair")
	require.Refused(t, "another name", require.Err(readAs(t, wide(), Options{Network: "cm02"})), model.ErrInvalid, "give lv08")
	require.Refused(t, "another kind", require.Err(readAs(t, &model.Reservation{Name: "r", PEs: 1, Requests: []model.Request{}}, Options{Network: "lv08"})), model.ErrInvalid, "task graphs")

	// Without latency a route's sum is 1 s.
	none := wide()
	none.Network.Routes[0].LatencyS = 0
	in = require.Value(readAs(t, none, Options{Network: "lv08"}))(t).(*model.DAG)
	require.Is(t, int64(math.Round(1e6*far)), in.Network.Routes[0].Weight)

	// Routes alike have no weights, and without windows paths have one bandwidth.
	alike := wide()
	alike.Machines[2].StartupS, alike.Network.Routes = 0, alike.Network.Routes[:1]
	in = require.Value(readAs(t, alike, Options{Network: "lv08"}))(t).(*model.DAG)
	if in.Network.Routes[0].Weight > 1 || in.Network.PathCapacity != nil || in.Network.Bandwidth != 0.97*1e9 {
		t.Errorf("%+v", in.Network)
	}
}
