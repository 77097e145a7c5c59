// SPDX-License-Identifier: MIT

package verify

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Solutions that the judge accepts, with virtual switches anywhere above the VMs, meet
// all variables and constraints that the checker of proofs knows.
func TestProofTVCHolds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 8))
	accepted, spread, high := 0, 0, 0
	for n := range require.Rounds(200) {
		k := 2 + 2*(n%2)
		in := testkit.RandomTVC(rng, k, 1+rng.IntN(6), false)
		if _, err := newTVCProof(in, new(proofState), "1", 0); err != nil {
			in.Goal = model.GoalRequests // the revenues have too many digits
		}
		s := &model.Embeddings{}
		there := make([]*model.Embedding, len(in.Requests))
		for i := range in.Requests {
			q := &in.Requests[i]
			if q.VMs > 5-n%2*2 || rng.IntN(6) == 0 {
				continue
			}
			beside := map[int]model.Embedding{}
			now, _ := micros(q.ArrivalS)
			for j := range i {
				start, _ := micros(in.Requests[j].ArrivalS)
				length, _ := micros(in.Requests[j].DurationS)
				if there[j] != nil && start+length > now {
					beside[j] = *there[j]
				}
			}
			all := plain.Embeddings(in, i, beside)
			if len(all) == 0 {
				continue
			}
			there[i] = &all[rng.IntN(len(all))]
			start, _ := micros(q.ArrivalS)
			length, _ := micros(q.DurationS)
			s.Runs = append(s.Runs, model.Run[model.Embedding]{ID: q.ID, Segments: []model.Segment[model.Embedding]{
				{StartS: q.ArrivalS, EndS: inSeconds(start + length), Place: *there[i]}}})
			if len(there[i].Servers) > 1 {
				spread++
			} else if there[i].Switch.Layer > model.LayerEdge {
				high++
			}
		}
		if r, err := Verify(t.Context(), in, s, Options{}); err != nil || !r.Feasible() {
			t.Fatalf("%v, %v", err, r.Violations)
		}
		accepted += len(s.Runs)
		meetsTVCProof(t, in, there)
	}
	if t.Logf("%d accepted, %d on more than one server, %d below a higher switch than need be", accepted, spread, high); spread < require.Rounds(50) || high < require.Rounds(50) {
		t.Errorf("too few embeddings on more than one server, %d, or below a high switch, %d", spread, high)
	}
}

// meetsTVCProof fails if the embeddings contradict the checker's knowledge.
func meetsTVCProof(t *testing.T, in *model.TVC, there []*model.Embedding) {
	t.Helper()
	var s proofState
	k := require.Value(newTVCProof(in, &s, "1", 1<<59))(t).(*tvcProof)
	h := in.FatTree.K / 2
	fix := func(v int32, value int64) { s.set(atLeast(v, value)); s.set(atMost(v, value)) }
	var names []string
	for i := range k.requests {
		at := strconv.Itoa(i)
		names = append(names, "total "+at)
		for v := range k.nodes[0] {
			names = append(names, "slots "+strconv.Itoa(v)+" "+at)
		}
		for level := range k.nodes {
			for v := range k.nodes[level] {
				for lane := range k.lanes[level] {
					names = append(names, "link "+strings.Join([]string{strconv.Itoa(level), strconv.Itoa(v), strconv.Itoa(lane), at}, " "))
				}
			}
		}
		r := &k.requests[i]
		if !r.fits {
			if there[i] != nil {
				t.Fatalf("request %d runs, the checker says that it never fits", i)
			}
			continue
		}
		lane := 0
		vms := make([][]int, len(k.nodes)) // by level and node
		loads := make([][]int, len(k.nodes))
		for level := range vms {
			vms[level], loads[level] = make([]int, k.nodes[level]), make([]int, k.nodes[level])
		}
		if e := there[i]; e != nil {
			switch e.Switch.Layer {
			case model.LayerCore:
				lane = e.Switch.Group*h + e.Switch.Index
			case model.LayerAggregation:
				lane = e.Switch.Index*h + h - 1
			}
			if len(k.nodes) == 1 {
				lane = 0
			}
			for _, x := range e.Servers {
				for level, below := range []int{1, h, h * h}[:len(k.nodes)] {
					vms[level][x.Server/below] += x.VMs
					loads[level][x.Server/below] += min(x.VMs, r.vms-x.VMs)
				}
			}
			fix(r.accept, 1)
		} else {
			fix(r.accept, 0)
		}
		for l, v := range r.route {
			is := int64(0)
			if l == lane {
				is = 1
			}
			fix(v, is)
		}
		names = append(names, "route "+at, "whole "+at)
		for level := range k.nodes {
			for v, m := range vms[level] {
				want := tvcProofPart{vms: m, load: min(m, r.vms-m), lane: lane / (len(r.route) / k.lanes[level])}
				if k.perPath {
					want.load = loads[level][v]
				}
				if m == 0 || m == r.vms {
					want.load, want.lane = 0, -1
				}
				found := false
				for _, p := range r.at[level][v] {
					want.is = p.is
					is := int64(0)
					if p == want {
						is, found = 1, true
					}
					fix(p.is, is)
				}
				if !found {
					t.Fatalf("request %d has %+v at node %d of level %d, which the checker doesn't know", i, want, v, level)
				}
				of := strings.Join([]string{at, strconv.Itoa(level), strconv.Itoa(v)}, " ")
				names = append(names, "one "+of, "lane "+of)
				if level > 0 {
					if names = append(names, "divide "+of); k.perPath {
						names = append(names, "loads "+of)
					}
				}
			}
		}
	}
	lost := k.total
	for _, x := range k.row.terms {
		if x.v != k.rejected && s.least(x.v) == 1 {
			lost += x.times
		}
	}
	fix(k.rejected, lost)
	for _, name := range append(names, "rejected") {
		rule, err := k.constraint(strings.Fields(name))
		require.OK(t, err, name)
		if s.broken || rule.violated(&s, never, [2]int64{}) {
			t.Fatalf("the embeddings don't meet %q: %+v", name, there)
		}
	}
}

// Requests that the checker has no rules for are refused, as are names of nothing.
func TestProofTVCRefuses(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 9))
	small := &model.TVC{FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 10}, Requests: []model.TVCRequest{
		{ID: "a", VMs: 3, BandwidthMbps: 1, DurationS: 1}, {ID: "never", VMs: 3, BandwidthMbps: 100, DurationS: 1}}}
	wide := *small
	wide.FatTree.K, wide.Requests = 128, []model.TVCRequest{{ID: "a", VMs: 3, BandwidthMbps: 1, DurationS: 1}}
	deep := *small
	deep.FatTree.Slots, deep.Requests = 50_000, []model.TVCRequest{{ID: "a", VMs: 600_000, BandwidthMbps: 1e-6, DurationS: 1}}
	long := *small
	long.Hose, long.FatTree.Slots, long.Requests = model.HosePerPath, 400, []model.TVCRequest{{ID: "a", VMs: 500, BandwidthMbps: 1e-6, DurationS: 1}}
	for name, x := range map[string]struct {
		in   *model.TVC
		unit string
	}{
		"a queue": {testkit.RandomTVC(rng, 2, 3, true), "1"}, "another unit": {small, "2"},
		"many servers": {&wide, "1"}, "many parts": {&deep, "1"}, "many sums": {&long, "1"},
	} {
		if _, err := newTVCProof(x.in, new(proofState), x.unit, 9); err == nil {
			t.Errorf("%s isn't refused", name)
		}
	}
	k := require.Value(newTVCProof(small, new(proofState), "1", 9))(t)
	for _, name := range []string{"accept 0", "route 0 3", "none 0 2 3", "part 0 0 15 2 1 0", "part 0 1 7 3 0 -1", "rejected"} {
		if _, err := k.variable(strings.Fields(name)); err != nil {
			t.Errorf("variable %s: %v", name, err)
		}
	}
	for _, name := range []string{"accept 1", "accept 2", "accept -1", "accept", "route 0 4", "route 0 -1", "none 0 3 0", "none 0 0 16",
		"part 0 0 0 3 0 -1", "part 0 0 0 2 1 1", "part 0 0 0 2 1 0 0", "accept x"} {
		if _, err := k.variable(strings.Fields(name)); err == nil {
			t.Errorf("there is a variable %s", name)
		}
	}
	for _, name := range []string{"route 1", "whole 1", "one 0 3 0", "one 0 0 16", "one 0 -1 0", "one 0 0 -1", "divide 0 0 0", "loads 0 1 0", "slots 16 0",
		"slots -1 0", "slots 0 2", "slots 0 -1", "total 2", "total -1", "link 3 0 0 0", "link 0 0 1 0", "link 1 0 -1 0", "link 2 4 0 0", "link -1 0 0 0", "lane 0 1", "rejected 0"} {
		if _, err := k.constraint(strings.Fields(name)); err == nil {
			t.Errorf("there is a constraint %s", name)
		}
	}
}
