// SPDX-License-Identifier: MIT

package placement

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/run/meter"
)

// tabu is the number of steps of Repair for which a task doesn't go back to its former host.
const tabu = 12

// movePrice is Repair's charge for a task that leaves its home, as a share of the energy of the host at work: it
// decides between steps of about the same effect.
const movePrice = 0.02

// Repair looks for a placement with L ≤ limit (the yield 1 at least) that fits, by few steps from the current state.
// Each step takes the host that exceeds the limits most. It makes the move of one of its tasks, or the swap with a task
// elsewhere, that lowers the energy most, counting movePrice for each task that leaves its home ([task], -1 for none).
// A task that was moved doesn't go back for some steps (tabu search, Glover: Future paths for integer programming and
// links to artificial intelligence, 1986). It reports whether it found one, and keeps a placement that is better than
// the best in any case. It looks at most at so many moves and swaps, O(resources) each; a step looks at O(tasks on the
// host × tasks).
func (s *Improver) Repair(ctx context.Context, limit int64, home []int32, looks int) bool {
	s.setLimit(limit)
	until, from := make([]int, len(s.host)), make([]int32, len(s.host))
	leave := func(i, h int32, step int) {
		if i >= 0 {
			until[i], from[i] = step+tabu, s.host[i]
			s.relocate(i, h)
		}
	}
	for step := 1; len(s.over) > 0 && looks > 0; step++ {
		p, most := int32(-1), -1.0
		for _, h := range s.over {
			if e := s.hostEnergy(h, 0, -1, 0); e > most {
				p, most = h, e
			}
		}
		i, j, q, looked := s.bestStep(p, most, home, func(i, h int32) bool { return from[i] == h && until[i] >= step })
		if looks -= looked; i < 0 || meter.Stop(ctx, int64(looked/64)) {
			break
		}
		leave(i, q, step)
		leave(j, p, step)
		s.setOver(p)
		s.setOver(q)
	}
	s.record()
	return s.bestLoad <= limit
}

// bestStep returns the task i of host p, of the given energy, and the host q for it, in exchange for j unless j is -1.
// i is -1 if all are barred.
func (s *Improver) bestStep(p int32, energy float64, home []int32, barred func(i, h int32) bool) (i, j, q int32, looks int) {
	i, j, q = -1, -1, -1
	least := math.Inf(1)
	away := func(i, h int32) float64 {
		if home[i] < 0 || home[i] == h {
			return 0
		}
		return movePrice * energy
	}
	before := make([]float64, s.u.Hosts)
	for h := range before {
		if s.overAt[h] >= 0 {
			before[h] = s.hostEnergy(int32(h), 0, -1, 0)
		}
	}
	// The best possible step brings p within its limits, with nothing over them elsewhere.
	enough := 2*movePrice*energy - energy
	for _, a := range s.bucket[p] {
		if least <= enough {
			break
		}
		looks += s.u.Hosts + len(s.host)
		alone := s.hostEnergy(p, a, -1, -1) - energy - away(a, p)
		for h := range int32(s.u.Hosts) {
			if h == p || alone-before[h] >= least || barred(a, h) {
				continue
			}
			if e := alone + s.hostEnergy(h, a, -1, 1) - before[h] + away(a, h); e < least {
				least, i, j, q = e, a, -1, h
			}
		}
		for b := range int32(len(s.host)) {
			// A task that needs as much of everything doesn't help p.
			h := s.host[b]
			if h == p || s.u.CPU[b] >= s.u.CPU[a] && s.u.Memory[b] >= s.u.Memory[a] && len(s.u.Rigid) == 1 || barred(a, h) || barred(b, p) {
				continue
			}
			e := s.hostEnergy(p, a, b, -1) - energy - before[h] - away(a, p) + away(a, h) - away(b, h) + away(b, p)
			if e < least {
				if e += s.hostEnergy(h, a, b, 1); e < least {
					if least, i, j, q = e, a, b, h; e <= enough {
						break
					}
				}
			}
		}
	}
	return i, j, q, looks
}

// Return moves tasks back to their home, [task], -1 for none, as long as L ≤ limit and everything fits; it begins with
// the best placement, which must have such a load. A task goes home if there is room, or if a task there that isn't at
// home can make room: by going to the other's former host, to its own home, or to any host. It returns the hosts.
// O(tasks on a host × hosts) for each task and round; rounds go on as long as they bring something.
func (s *Improver) Return(ctx context.Context, limit int64, home []int32) []int32 {
	s.restore()
	s.setLimit(limit)
	hosts := slices.Clone(s.host)
	for again := true; again; {
		again = false
		for i, h := range home {
			if h < 0 || s.host[i] == h || !s.sendHome(int32(i), h, home) {
				continue
			}
			again = true
			if meter.Stop(ctx, 1) {
				break
			}
		}
		if !s.u.Fits(s.host) { // in units, and not exactly
			if s.u != s.strict {
				s.u = s.strict
				return s.Return(ctx, limit, home)
			}
			return hosts
		}
		copy(hosts, s.host)
		again = again && ctx.Err() == nil
	}
	return hosts
}

// sendHome moves task i to host h, its home, if that is possible.
func (s *Improver) sendHome(i, h int32, home []int32) bool {
	if s.fits(h, i, -1) {
		s.relocate(i, h)
		return true
	}
	p := s.host[i]
	for _, j := range s.bucket[h] {
		if home[j] == h || !s.fits(h, i, j) {
			continue
		}
		to := int32(-1)
		switch back := home[j]; {
		case back >= 0 && back != p && s.fits(back, j, -1):
			to = back
		case s.fits(p, j, i):
			to = p
		default:
			to = s.anyRoom(j, h, p)
		}
		if to >= 0 {
			s.relocate(j, to)
			s.relocate(i, h)
			return true
		}
	}
	return false
}

// anyRoom returns the first host with room for task j, except two; -1 if there is none.
func (s *Improver) anyRoom(j, but, nor int32) int32 {
	for q := range int32(s.u.Hosts) {
		if q != but && q != nor && s.fits(q, j, -1) {
			return q
		}
	}
	return -1
}

// fits reports whether host h is within its limits with task i instead of j, if there is a j.
func (s *Improver) fits(h, i, j int32) bool { return s.hostEnergy(h, i, j, 1) == 0 }
