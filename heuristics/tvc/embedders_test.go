// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// randomCentre draws a data centre and fills it with clusters of random embeddings; some of them have left again.
func randomCentre(rng *rand.Rand) *fattree.DataCentre {
	in := &model.TVC{FatTree: model.FatTree{K: 2 + 2*rng.IntN(3), Slots: 1 + rng.IntN(8), LinkMbps: float64(100 * (1 + rng.IntN(10)))}}
	if rng.IntN(3) == 0 {
		in.FatTree.LayersMbps = &model.LayerRates{ServerMbps: float64(100 * rng.IntN(10)), EdgeMbps: float64(100 * rng.IntN(20)), AggregationMbps: float64(100 * rng.IntN(40))}
	}
	if rng.IntN(4) == 0 {
		in.FatTree.Fabric = model.FabricNonBlocking
	}
	if rng.IntN(3) == 0 {
		in.Hose = model.HosePerPath
	}
	d := fattree.New(view.OfTVC(in))
	type cluster struct {
		e model.Embedding
		n int
		b int64
	}
	var running []cluster
	for range rng.IntN(3 * len(d.Free)) {
		if len(running) > 0 && rng.IntN(3) == 0 {
			k := rng.IntN(len(running))
			d.Remove(&running[k].e, running[k].n, running[k].b)
			running = slices.Delete(running, k, k+1)
			continue
		}
		n, b := randomRequest(rng, d)
		d.Arrive(b)
		// Random servers below a random switch.
		host := model.Switch{Layer: model.Layer(rng.IntN(3)), Group: rng.IntN(d.Half), Index: rng.IntN(d.Half)}
		counts, left := make([]int, len(d.Free)), n
		for _, s := range rng.Perm(len(d.Free)) {
			if plainBelow(d, s, host) && left > 0 {
				counts[s] = rng.IntN(min(left, int(d.Free[s])) + 1)
				left -= counts[s]
			}
		}
		if left == n {
			continue
		}
		if e := plainEmbedding(d, host, counts); d.Room(&e, n-left, b) {
			d.Add(&e, n-left, b)
			running = append(running, cluster{e, n - left, b})
		}
	}
	if rng.IntN(2) == 0 { // links may have less left, as if by other tenants
		for _, links := range [][]int64{d.Server, d.Edge, d.Aggregation} {
			for l := range links {
				if rng.IntN(3) > 0 {
					links[l] = rng.Int64N(links[l] + 1)
				}
			}
		}
	}
	return d
}

// randomRequest draws VMs and a bandwidth.
func randomRequest(rng *rand.Rand, d *fattree.DataCentre) (n int, b int64) {
	most := []int{2, d.Slots, d.Slots * d.Half, d.Slots * len(d.Free)}[rng.IntN(4)]
	return 1 + rng.IntN(most), 1_000_000 * int64(1+rng.IntN([]int{20, 200, 900}[rng.IntN(3)]))
}

// Every embedder returns embeddings for which there is room, in normal form.
func TestEmbeddersRoom(t *testing.T) {
	t.Parallel()
	found, rounds := make(map[string]int), require.Rounds(3000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 11))
		d := randomCentre(rng)
		n, b := randomRequest(rng, d)
		d.Arrive(b)
		for _, named := range embedders {
			e, ok := named.New().Embed(d, n, b)
			if !ok {
				continue
			}
			found[named.Name]++
			if !d.Room(&e, n, b) {
				t.Fatalf("seed %d, %s: no room for %d VMs at %d bit/s as %v", seed, named.Name, n, b, e)
			}
			for k, x := range e.Servers {
				if x.VMs < 1 || k > 0 && x.Server <= e.Servers[k-1].Server || !plainBelow(d, x.Server, e.Switch) {
					t.Fatalf("seed %d, %s: servers are %v below %v", seed, named.Name, e.Servers, e.Switch)
				}
			}
			if low := d.Lowest(e.Switch, e.Servers); low != e.Switch {
				t.Fatalf("seed %d, %s: %v hosts, %v is lower", seed, named.Name, e.Switch, low)
			}
		}
	}
	t.Log(found)
	for _, named := range embedders {
		if found[named.Name] < rounds/3 {
			t.Errorf("%s: embedded only %d of %d", named.Name, found[named.Name], rounds)
		}
	}
}

func TestFindEmbedder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"adaba", "first-fit"} {
		if e, err := findEmbedder(name); err != nil || e == nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := findEmbedder("worst-fit")
	if want := `unsupported embedder "worst-fit", must be one of first-fit, `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Subtrees finds a host if and only if an embedding exists (HoseCut), or at least
// if one exists (HosePerPath).
func TestSubtreesExact(t *testing.T) {
	t.Parallel()
	var program program
	var trees subtrees
	yes, no, loose, rounds := 0, 0, 0, require.Rounds(6000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 13))
		d := randomCentre(rng)
		n, b := randomRequest(rng, d)
		want := program.Embeddable(d, n, b)
		_, got := trees.find(d, n, b, model.LayerEdge, func(model.Switch) (model.Embedding, bool) { return model.Embedding{}, true })
		switch {
		case got == want && got:
			yes++
		case got == want:
			no++
		case got && d.PerPath:
			loose++
		default:
			t.Fatalf("seed %d, %d VMs at %d bit/s: a host %v, embeddable %v", seed, n, b, got, want)
		}
	}
	if t.Log(yes, no, loose); yes < rounds/2 || no < rounds/10 {
		t.Errorf("%d embeddable, %d not", yes, no)
	}
}

// The algorithms count the requests that never fit, and if asked those that were
// rejected though an embedding existed.
func TestEmbeddableCounted(t *testing.T) {
	t.Parallel()
	total := make(map[string]int)
	for seed := range uint64(max(25, require.Rounds(60))) {
		in := testkit.RandomTVC(rand.New(rand.NewPCG(seed, 15)), 4, 30, false)
		never, fits := 0, in.Fits()
		for k := range in.Requests {
			if !fits(k) {
				never++
			}
		}
		for _, a := range Algorithms()[:len(embedders)] {
			r := require.Value(a.Solver.Solve(context.Background(), in, model.Settings{Parameters: &model.TVCParameters{Embeddable: "yes"}}))(t)
			details := r.Details.(*model.TVCDetails)
			require.Is(t, never, details.NeverFit, "seed", seed, a.Name, "never fit")
			// Count by looking at the state at each rejection.
			d, count := newLoss(view.OfTVC(in)), 0
			runs := make(map[string]*model.Embedding)
			for k := range r.Solution.(*model.Embeddings).Runs {
				run := &r.Solution.(*model.Embeddings).Runs[k]
				runs[run.ID] = &run.Segments[0].Place
			}
			var program program
			for k, q := range d.Requests {
				d.until(q.Arrival)
				if e := runs[in.Requests[k].ID]; e != nil {
					d.admit(k, *e)
				} else if _, ok := program.Best(d.DataCentre, q.VMs, q.Bandwidth, costReserved); ok {
					count++
				}
			}
			if *details.Embeddable != count {
				t.Fatalf("seed %d, %s: %d embeddable, counted %d", seed, a.Name, *details.Embeddable, count)
			}
			total[a.Name] += count
		}
	}
	t.Log(total)
	for _, name := range []string{"first-fit", "greedy"} {
		if total[name] == 0 {
			t.Errorf("%s rejected nothing that could be embedded", name)
		}
	}
	for _, name := range []string{"oktopus", "greedy-minmax", "program-reserved"} {
		if total[name] > 0 {
			t.Errorf("%s rejected %d that could be embedded", name, total[name])
		}
	}
	a := Algorithms()[0]
	_, err := a.Solver.Solve(context.Background(), &model.TVC{}, model.Settings{Parameters: &model.TVCParameters{Embeddable: "maybe"}})
	if want := `first-fit: unsupported parameter embeddable="maybe", must be yes or no`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
