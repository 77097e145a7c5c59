// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// sizedHosts are hosts that differ. A relative load of at most l units means that the needs on a host of
// the CPU C sum to ⌊l C⌋ units at most. If that can't be for l - 1, the needs of some host are
// above (l - 1) C in units, and so its relative load is above (l - 1) - error / C: see vcschedNeeds.
type sizedHosts struct {
	*vcschedNeeds
	sizes []hostsOf
	least *big.Rat // CPU of a host
	most  *big.Rat
}

// hostsOf are hosts of one size.
type hostsOf struct {
	count  int64
	cpu    *big.Rat
	memory int64 // in units: what fits sums to no more
}

func newSizedHosts(in *model.VCSched, n *vcschedNeeds) (*sizedHosts, error) {
	s := &sizedHosts{vcschedNeeds: n}
	known := map[[2]float64]int{}
	for i := range in.HostSizes {
		h := &in.HostSizes[i]
		k, ok := known[[2]float64{h.CPU, h.Memory}]
		if !ok {
			k = len(s.sizes)
			known[[2]float64{h.CPU, h.Memory}] = k
			memory := n.room(exact(h.Memory))
			if !memory.IsInt64() {
				return nil, tooMuch("the memory of a host")
			}
			cpu := exact(h.CPU)
			s.sizes = append(s.sizes, hostsOf{cpu: cpu, memory: memory.Int64()})
			if s.least == nil || cpu.Cmp(s.least) < 0 {
				s.least = cpu
			}
			if s.most == nil || cpu.Cmp(s.most) > 0 {
				s.most = cpu
			}
		}
		s.sizes[k].count += int64(h.Count)
	}
	return s, nil
}

// room returns what the needs on a host of a size sum to at most at a load.
func (h *hostsOf) room(load *big.Int) *big.Int {
	x := new(big.Int).Mul(load, h.cpu.Num())
	return x.Quo(x, h.cpu.Denom())
}

// evidence recomputes bounds from evidence that the form allows.
func (s *sizedHosts) evidence(ctx context.Context, in *model.VCSched, e *model.Evidence) (Followed, error) {
	switch e.Type {
	case evidence.Sum:
		return s.sum(ctx, e)
	case evidence.Crowd:
		return s.crowd(ctx, e)
	case evidence.Clique:
		return s.clique(ctx, e)
	case evidence.Filling:
		return s.filling(e)
	case evidence.Moves:
		short, how, err := s.moves(ctx, in, e)
		switch {
		case err != nil:
			return Followed{}, err
		case !short:
			return s.from(new(big.Int), "%s", how), nil
		case (&hostsOf{cpu: s.least}).room(big.NewInt(e.Load)).Cmp(s.total()) >= 0:
			return impossible("%s", how), nil
		}
		return s.from(big.NewInt(e.Load+1), "%s", how), nil
	}
	return Followed{}, errors.New("patterns speak of equal hosts, and these have sizes")
}

// from returns what follows if no placement has a relative load below the given one.
func (s *sizedHosts) from(load *big.Int, how string, args ...any) Followed {
	f := Followed{Bound: big.NewRat(1, 1), How: fmt.Sprintf(how, args...)}
	least := new(big.Rat).SetInt(load)
	least.Sub(least, big.NewRat(1, 1)).Sub(least, new(big.Rat).Quo(s.cpuError, s.least))
	if scale := new(big.Rat).SetInt64(s.scale); least.Cmp(scale) > 0 {
		f.Bound.Quo(scale, least)
	}
	return f
}

// enough returns the least load of which holds is true, as it is from some load on, and of most.
func (s *sizedHosts) enough(ctx context.Context, most *big.Int, holds func(load *big.Int) bool) (*big.Int, error) {
	low, high := big.NewInt(-1), most // too little; enough
	for {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		middle := new(big.Int).Add(low, high)
		if middle.Rsh(middle, 1); middle.Cmp(low) == 0 {
			return high, nil
		}
		if holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
}

// alone returns the load of the largest host whose needs sum to x, rounded up.
func (s *sizedHosts) alone(x *big.Int, cpu *big.Rat) *big.Int {
	y := new(big.Int).Mul(x, cpu.Denom())
	y.Add(y, cpu.Num()).Sub(y, big.NewInt(1))
	return y.Quo(y, cpu.Num())
}

// sum compares the needs of a resource with what all hosts have.
func (s *sizedHosts) sum(ctx context.Context, e *model.Evidence) (Followed, error) {
	needs := s.cpu
	if e.Resource == "memory" {
		needs = s.memory
	}
	total, room := new(big.Int), new(big.Int)
	for i, d := range needs {
		total.Add(total, bigProduct(d, s.tasks[i]))
	}
	how := "the sum of the CPU needs and the hosts' sizes"
	if e.Resource == "memory" {
		how = "the sum of the memory needs and the hosts' sizes"
		for i := range s.sizes {
			room.Add(room, bigProduct(s.sizes[i].memory, s.sizes[i].count))
		}
		if room.Cmp(total) < 0 {
			return impossible("%s", how), nil
		}
		return s.from(new(big.Int), "%s", how), nil
	}
	load, err := s.enough(ctx, s.alone(total, s.most), func(load *big.Int) bool {
		room.SetInt64(0)
		for i := range s.sizes {
			x := s.sizes[i].room(load)
			room.Add(room, x.Mul(x, big.NewInt(s.sizes[i].count)))
		}
		return room.Cmp(total) >= 0
	})
	if err != nil {
		return Followed{}, err
	}
	return s.from(load, "%s", how), nil
}

// crowd takes so many tasks of the largest CPU needs, of which a host with room for x takes ⌊x /
// the least of them⌋ at most.
func (s *sizedHosts) crowd(ctx context.Context, e *model.Evidence) (Followed, error) {
	least, ok := s.largest(int64(e.Count))
	if !ok {
		return Followed{}, fmt.Errorf("there are no %d tasks", e.Count)
	}
	how := fmt.Sprintf("the %d largest CPU needs and the hosts' sizes", e.Count)
	if least == 0 {
		return s.from(new(big.Int), "%s", how), nil
	}
	count, need := big.NewInt(int64(e.Count)), big.NewInt(least)
	load, err := s.enough(ctx, s.alone(new(big.Int).Mul(count, need), s.most), func(load *big.Int) bool {
		taken := new(big.Int)
		for i := range s.sizes {
			x := s.sizes[i].room(load)
			taken.Add(taken, x.Quo(x, need).Mul(x, big.NewInt(s.sizes[i].count)))
		}
		return taken.Cmp(count) >= 0
	})
	if err != nil {
		return Followed{}, err
	}
	return s.from(load, "%s", how), nil
}

// clique takes more tasks than there are hosts, so that two share one: at a load at which some two
// fit on some host.
func (s *sizedHosts) clique(ctx context.Context, e *model.Evidence) (Followed, error) {
	jobs, count, err := s.named(e)
	if err != nil {
		return Followed{}, err
	}
	if len(jobs)*len(jobs) > maxEvidenceWork/len(s.sizes) {
		return Followed{}, tooMuch("jobs of which no two fit on one host")
	}
	var least *big.Int
	for x, a := range jobs {
		if ctx.Err() != nil {
			return Followed{}, ctx.Err()
		}
		for y, b := range jobs[:x+1] {
			if x == y && e.Weights[x] == 1 {
				continue
			}
			for i := range s.sizes {
				if s.memory[a]+s.memory[b] > s.sizes[i].memory {
					continue
				}
				if load := s.alone(big.NewInt(s.cpu[a]+s.cpu[b]), s.sizes[i].cpu); least == nil || load.Cmp(least) < 0 {
					least = load
				}
			}
		}
	}
	how := fmt.Sprintf("%d tasks of which no two fit on one host", count)
	switch {
	case count <= s.hosts:
		return s.from(new(big.Int), "%s", how), nil
	case least == nil:
		return impossible("%s", how), nil
	}
	return s.from(least, "%s", how), nil
}

// filling takes each host to be as large as the largest; see vcschedNeeds.filling. Of CPU the load
// is relative.
func (s *sizedHosts) filling(e *model.Evidence) (Followed, error) {
	needs, capacity := s.cpu, new(big.Int)
	for i := range s.sizes {
		x := big.NewInt(s.sizes[i].memory)
		if e.Resource == "cpu" {
			x = s.sizes[i].room(big.NewInt(e.Load))
		}
		capacity = maximum(capacity, x)
	}
	if e.Resource == "memory" {
		needs = s.memory
		if big.NewInt(e.Load).Cmp(capacity) < 0 {
			return Followed{}, fmt.Errorf("a host has %d units of memory, not %d", capacity, e.Load)
		}
		capacity.SetInt64(e.Load)
	}
	if !capacity.IsInt64() {
		return Followed{}, tooMuch("the load")
	}
	over, how, err := s.overfull(e, needs, capacity.Int64())
	switch {
	case err != nil:
		return Followed{}, err
	case !over:
		return s.from(new(big.Int), "%s", how), nil
	case e.Resource == "memory":
		return impossible("%s", how), nil
	}
	return s.from(new(big.Int).Add(big.NewInt(e.Load), big.NewInt(1)), "%s", how), nil
}

// room returns the units of memory that needs on a host of a size sum to at most.
func (n *vcschedNeeds) room(size *big.Rat) *big.Int {
	c := exact(view.FitTolerance)
	c.Add(c, big.NewRat(1, 1)).Mul(c, size).Mul(c, new(big.Rat).SetInt64(n.scale)).Add(c, n.memoryError)
	return new(big.Int).Quo(c.Num(), c.Denom())
}
