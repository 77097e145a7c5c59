// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// plainHost is cluster.host by a look at every host.
func plainHost(c *cluster, j *model.ConsolidationJob, on []int, apart, spread bool) int {
	held, zones := map[int]int{}, map[int]int{}
	for h := range c.in.Hosts {
		zones[h%c.zones] += 0
	}
	for _, h := range on {
		held[h]++
		zones[h%c.zones]++
	}
	least := len(on)
	for _, n := range zones {
		least = min(least, n)
	}
	best, most := -1, -1.0
	for h := range c.in.Hosts {
		if j.Allowed != "" && h%4 != 0 || apart && held[h] > 0 || spread && zones[h%c.zones] > least {
			continue
		}
		free, fits := 0.0, true
		for r, need := range j.Needs {
			fits = fits && need <= c.left[h][r]
			free += float64(c.left[h][r]-need) / float64(c.in.Hosts[h].Capacity[r])
		}
		if fits && free > most {
			best, most = h, free
		}
	}
	return best
}

// emptyCluster returns empty hosts.
func emptyCluster(s ConsolidationSpec, rng *rand.Rand) *cluster {
	in := &model.Consolidation{}
	for h := range s.Hosts {
		var capacity []int64
		for range s.Resources {
			capacity = append(capacity, hostSize>>(h*s.Sizes/s.Hosts))
		}
		in.Hosts = append(in.Hosts, model.ConsolidationHost{ID: fmt.Sprint(h), Capacity: capacity})
	}
	c := &cluster{ConsolidationSpec: s, in: in, rng: rng, zones: min(s.Zones, s.Hosts)}
	c.empty()
	return c
}

// The trees find the host that a look at every host finds, for equal needs, which leave hosts with equal amounts, and
// for others, until no host has room.
func TestHostTrees(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	found, none := 0, 0
	for round := range 300 {
		s := ConsolidationSpec{Hosts: 1 + rng.IntN(40), Resources: 1 + rng.IntN(3), Sizes: 1 + rng.IntN(6), Zones: 1 + rng.IntN(5)}
		c := emptyCluster(s, rng)
		for full := 0; full < 5; {
			var j model.ConsolidationJob
			for range s.Resources {
				unit := int64(1 + rng.IntN(2)*rng.IntN(7))
				j.Needs = append(j.Needs, unit*int64(1+rng.IntN(4))*20)
			}
			if rng.IntN(4) == 0 {
				j.Allowed = "pool"
			}
			apart, spread := rng.IntN(3) == 0, rng.IntN(3) == 0
			var on []int
			for range 1 + rng.IntN(6) {
				h, want := c.host(&j, on, apart, spread), plainHost(c, &j, on, apart, spread)
				if h != want {
					t.Fatalf("round %d: host %d, by a look at every host %d", round, h, want)
				}
				if h < 0 {
					full, none = full+1, none+1
					break
				}
				found, on = found+1, append(on, h)
				c.take(h, j.Needs)
			}
		}
	}
	if found < 10_000 || none < 500 {
		t.Errorf("%d tasks had a host and %d none", found, none)
	}
}

func BenchmarkConsolidation(b *testing.B) {
	for _, hosts := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			s := NewConsolidationSpec()
			s.Hosts, s.Seed = hosts, 501
			for b.Loop() {
				if _, err := s.Generate(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
