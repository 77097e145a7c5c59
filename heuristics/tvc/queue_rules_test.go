// SPDX-License-Identifier: MIT

package tvc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// two returns a data centre of two servers with a number of slots each and links
// of 100 Mbps. Requests are "arrival VMs duration" or "arrival VMs duration
// bandwidth", bandwidths are 1 Mbps if they aren't given.
func two(t *testing.T, slots int, migration float64, requests ...string) *model.TVC {
	t.Helper()
	in := &model.TVC{FatTree: model.FatTree{K: 2, Slots: slots, LinkMbps: 100}, Queue: true, MigrationS: migration}
	for k, text := range requests {
		q := model.TVCRequest{ID: string(rune('A' + k)), BandwidthMbps: 1}
		if n, _ := fmt.Sscan(text, &q.ArrivalS, &q.VMs, &q.DurationS, &q.BandwidthMbps); n < 3 {
			t.Fatal(text)
		}
		in.Requests = append(in.Requests, q)
	}
	require.OK(t, in.Validate())
	return in
}

// times writes the segments of a solution: "A 0-10, B 2-5 7-9".
func times(e *model.Embeddings) string {
	var all []string
	for _, r := range e.Runs {
		text := r.ID
		for _, s := range r.Segments {
			text += fmt.Sprintf(" %g-%g", s.StartS, s.EndS)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// on returns an embedding of n VMs on one server.
func on(server, n int) model.Embedding {
	return model.Embedding{Switch: model.Switch{Group: server}, Servers: []model.ServerVMs{{Server: server, VMs: n}}}
}

// Each rule, computed by hand. There are 4 slots.
func TestQueueRules(t *testing.T) {
	for name, c := range map[string]struct {
		scheduler, requests string
		migration           float64
		want                string
		suspended, migrated float64
	}{
		"departures come before arrivals":   {"fcfs", "0 4 10, 10 4 5", 0, "A 0-10, B 10-15", 0, 0},
		"fcfs: the first one blocks":        {"fcfs", "0 3 10, 1 2 5, 2 1 3", 0, "A 0-10, B 10-15, C 10-13", 0, 0},
		"fcfs: one that never fits doesn't": {"fcfs", "0 3 10, 1 3 5 200, 2 1 3", 0, "A 0-10, C 2-5", 0, 0},
		// At 3 the first one is D, of 1 second, and E is blocked; at 10 B is.
		"sdf: the shortest is first and blocks": {"sdf", "0 3 10, 1 2 5, 2 1 3, 3 2 1, 4 1 2", 0, "A 0-10, B 11-16, C 2-5, D 10-11, E 10-12", 0, 0},
		"sdf: ties by arrival":                  {"sdf", "0 4 10, 1 3 5, 2 3 5", 0, "A 0-10, B 10-15, C 15-20", 0, 0},
		"sbf: the smallest bandwidth is first":  {"sbf", "0 4 10, 1 2 5 3, 2 4 5 2, 3 1 1 4", 0, "A 0-10, B 15-20, C 10-15, D 15-16", 0, 0},
		// C arrived after B and starts before it. At 10 both have room.
		"bgmbf: no suspension without need": {"bgmbf", "0 3 10, 1 2 5, 2 1 20", 0, "A 0-10, B 10-15, C 2-22", 0, 0},
		// At 10 B needs C's slot. C has 12 of its 20 seconds left and goes on on the
		// first server, where A was when it started on the second.
		"bgmbf: the first one suspends":     {"bgmbf", "0 2 10, 1 4 5, 2 1 20", 0, "A 0-10, B 10-15, C 2-10 15-27", 1, 1},
		"bgmbf: a migration takes its time": {"bgmbf", "0 2 10, 1 4 5, 2 1 20", 3, "A 0-10, B 10-15, C 2-10 15-30", 1, 1},
		// At 10 B needs the slot of C or E. Both are suspended; C finds its slot free
		// after B has started, and goes on as if nothing had been.
		"bgmbf: all backfilled are suspended": {"bgmbf", "0 2 10, 1 3 5, 2 1 20, 3 1 4, 4 1 20", 0, "A 0-10, B 10-15, C 2-22, D 3-7, E 7-10 15-32", 1, 1},
		// C is backfilled while B waits. Then B runs, no request waits before C, and D, which arrived later, can't
		// suspend it.
		"bgmbf: not for one that arrived later": {"bgmbf", "0 3 10, 1 2 5, 2 1 20, 11 4 1", 0, "A 0-10, B 10-15, C 2-22, D 22-23", 0, 0},
		"bgmbf: in the order of arrival":        {"bgmbf", "0 3 10, 1 2 5, 1 1 4, 1 1 2", 0, "A 0-10, B 10-15, C 1-5, D 5-7", 0, 0},
		"bgmbf-sdf: the shortest first":         {"bgmbf-sdf", "0 3 10, 1 2 5, 1 1 4, 1 1 2", 0, "A 0-10, B 10-15, C 3-7, D 1-3", 0, 0},
		// At 10 C suspends E, which has 1 second left. At 15 D waits for A, and E comes
		// before F, which is shorter as a whole.
		"bgmbf-sdf: what is left counts":         {"bgmbf-sdf", "0 1 30, 0 2 10, 1 3 5, 1 4 3, 1 1 10, 12 3 2", 0, "A 0-30, B 0-10, C 10-15, D 30-33, E 1-10 15-16, F 16-18", 1, 0},
		"srpt: suspends what is larger":          {"srpt", "0 4 10, 2 1 1", 0, "A 0-2 3-11, B 2-3", 1, 0},
		"srpt: not if migration costs more":      {"srpt", "0 4 10, 2 1 1", 4, "A 0-10, B 10-11", 0, 0},
		"srpt: not what is twice as large":       {"srpt", "0 4 10, 2 4 4", 0, "A 0-10, B 10-14", 0, 0},
		"srpt: the least left is first":          {"srpt", "0 4 2, 1 2 10, 1 4 4, 1 1 17", 0, "A 0-2, B 6-16, C 2-6, D 6-23", 0, 0},
		"srpt: suspends the largest, one of two": {"srpt", "0 2 10, 0 1 20, 1 2 1", 0, "A 0-10, B 0-1 2-21, C 1-2", 1, 0},
		"repack: the least left is first":        {"repack", "0 4 10, 2 1 1, 3 2 2, 20 4 4, 21 4 2", 0, "A 0-2 5-13, B 2-3, C 3-5, D 20-21 23-26, E 21-23", 2, 0},
		"repack: not if migration costs more":    {"repack", "0 4 10, 2 1 17", 4, "A 0-10, B 10-27", 0, 0},
		// At 10 C and D are first, and take a slot of both servers.
		"repack: what has no room is suspended": {"repack", "0 2 30, 0 2 40, 10 2 1, 10 1 2", 0, "A 0-10 11-31, B 0-10 12-42, C 10-11, D 10-12", 2, 0},
		"srpt: what has room goes on":           {"srpt", "0 2 10, 0 1 20, 1 3 1", 0, "A 0-1 2-11, B 0-20, C 1-2", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in := two(t, 2, c.migration, strings.Split(c.requests, ", ")...)
			e := serve(t, c.scheduler, in, newAdaBa())
			if f := judged(t, in, e); times(e) != c.want || f["suspensions"] != c.suspended || f["migrations"] != c.migrated {
				t.Errorf("%s, %v suspensions, %v migrations; want %s, %v, %v", times(e), f["suspensions"], f["migrations"], c.want, c.suspended, c.migrated)
			}
		})
	}
}

// A request that goes on in its place at the instant of its suspension has one
// segment.
func TestQueueContinues(t *testing.T) {
	in := two(t, 2, 5, "0 2 10", "1 2 5", "2 1 20")
	e := serve(t, "bgmbf", in, embedderFunc(func(d *fattree.DataCentre, n int, _ int64) (model.Embedding, bool) {
		if n == 1 {
			return on(1, 1), d.Free[1] > 0
		}
		return on(0, 2), d.Free[0] == 2 && d.Free[1] == 2 // only without C
	}))
	if f := judged(t, in, e); times(e) != "A 0-10, B 10-15, C 2-22" || f["suspensions"] != 0 {
		t.Errorf("%s, %v", times(e), f)
	}
}

// A request that is suspended before its migration has ended has done no work, and
// goes on with the migration where it was last.
func TestQueueMigrationCut(t *testing.T) {
	// E starts on server 1 and does 8 seconds until C suspends it. It goes on on
	// server 0 at 15 until D suspends it, and there again.
	in := two(t, 2, 4, "0 1 17", "0 1 10", "1 3 5", "1 4 1", "2 1 20")
	adaba := newAdaBa()
	e := serve(t, "bgmbf", in, embedderFunc(func(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
		switch {
		case n > 1:
			return adaba.Embed(d, n, b)
		case d.Free[0] > 0:
			return on(0, 1), true
		}
		return on(1, 1), d.Free[1] > 0
	}))
	if f := judged(t, in, e); times(e) != "A 0-17, B 0-10, C 10-15, D 17-18, E 2-10 15-17 18-32" || f["suspensions"] != 2 || f["migrations"] != 1 {
		t.Errorf("%s, %v", times(e), f)
	}
}

// An embedder that finds nothing: each request waits until the data centre is
// empty.
func TestQueueFallback(t *testing.T) {
	nothing := embedderFunc(func(*fattree.DataCentre, int, int64) (model.Embedding, bool) { return model.Embedding{}, false })
	in := two(t, 2, 0, "0 1 10", "1 1 5", "2 3 2")
	for name, want := range map[string]string{"fcfs": "A 0-10, B 10-15, C 15-17", "sdf": "A 0-10, B 12-17, C 10-12", "bgmbf": "A 0-10, B 10-15, C 15-17"} {
		e := serve(t, name, in, nothing)
		if judged(t, in, e); times(e) != want {
			t.Errorf("%s: %s, want %s", name, times(e), want)
		}
	}
}
