// SPDX-License-Identifier: MIT

package tvc

import (
	"fmt"
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// wide returns requests for both servers of a data centre with one slot each: at
// most one of them runs at a time.
func wide(requests ...[2]float64) *model.TVC {
	in := &model.TVC{FatTree: model.FatTree{K: 2, Slots: 1, LinkMbps: 1}, Queue: true, Requests: []model.TVCRequest{}}
	for k, q := range requests {
		in.Requests = append(in.Requests, model.TVCRequest{ID: string(rune('A' + k)), ArrivalS: q[0], DurationS: q[1], VMs: 2, BandwidthMbps: 1})
	}
	return in
}

// If one request runs at a time, the bound by SRPT is the optimum, which the solution reaches: the bound is at most two
// steps of a float64 below it.
func TestResponseOptimum(t *testing.T) {
	in := wide([2]float64{0, 10}, [2]float64{2, 3}, [2]float64{4, 1}, [2]float64{20, 0.3})
	in.Requests = append(in.Requests, model.TVCRequest{ID: "never", ArrivalS: 21, DurationS: 5, VMs: 2, BandwidthMbps: 2})
	require.OK(t, in.Validate())
	place := model.Embedding{Switch: model.Switch{Layer: model.LayerCore}, Servers: []model.ServerVMs{{Server: 0, VMs: 1}, {Server: 1, VMs: 1}}}
	run := func(id string, times ...float64) model.Run[model.Embedding] {
		r := model.Run[model.Embedding]{ID: id}
		for k := 0; k < len(times); k += 2 {
			r.Segments = append(r.Segments, model.Segment[model.Embedding]{StartS: times[k], EndS: times[k+1], Place: place})
		}
		return r
	}
	o, err := in.Objective(&model.Embeddings{Runs: []model.Run[model.Embedding]{run("A", 0, 2, 6, 14), run("B", 2, 5), run("C", 5, 6), run("D", 20, 20.3)}})
	if err != nil || math.Abs(o.Value-19.3/4) > 1e-9 {
		t.Fatal(o, err)
	}
	// The shortest first, by the whole duration: A 0-2, B 2-4, C 4-5, B 5-6, A 6-14.
	// Means less arrivals: A 8.2, B 11.5/3 - 2, C 0.5, D 0.15. Then half the durations.
	busy := 8.2 + 11.5/3 - 2 + 0.5 + 0.15 + 14.3/2
	want := map[string]float64{"runtime": 14.3 / 4, "srpt": o.Value, "mean-busy-time": busy / 4, "squashed": o.Value}
	for _, b := range Response(t.Context(), view.OfTVC(in)) {
		if b.Value >= o.Value || math.Abs(b.Value-want[b.Name]) > 1e-6 || want[b.Name] == o.Value && b.Value < math.Nextafter(math.Nextafter(o.Value, 0), 0) {
			t.Errorf("%s: %v, want %v; the optimum is %v", b.Name, b.Value, want[b.Name], o.Value)
		}
		delete(want, b.Name)
	}
	if len(want) > 0 {
		t.Errorf("bounds are missing: %v", want)
	}
	for _, b := range Response(t.Context(), view.OfTVC(wide())) {
		require.Same(t, fmt.Sprintf("%s of no requests", b.Name), float64(0), b.Value)
	}
}
