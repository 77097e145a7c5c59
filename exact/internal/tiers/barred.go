// SPDX-License-Identifier: MIT

package tiers

// bar finds the jobs that can't enter the background as long as another one holds processors.
//
// Let a job k have h processes of uses from the threshold on, and another one, j, need more than all processors but h.
// When j enters the background, by its start, a migration or a turn, k is somewhere as well, since no job is suspended.
// It isn't in the background: both together need more than all processors. So it is in the foreground, and one of its h
// processes is above one of j, so the judge refuses j's start there. So j is in the background with k in the foreground
// only if it has been in the background since before k started, without a break.
func (p *problem) bar() {
	p.barred = make([]uint32, p.n)
	for k := range p.n {
		high := 0
		for _, g := range p.groups[k] {
			if g.use >= p.t.Threshold {
				high += len(g.processes)
			}
		}
		for j := range p.n {
			if j != k && high > 0 && high+p.t.Jobs[j].Processes > p.t.Processors {
				p.barred[k] |= 1 << j
			}
		}
	}
}

// under returns the jobs that hold processors but are never in the background with k in the foreground from a node's
// last point on: the jobs that k bars and that aren't there now.
//
// Together both need more than all processors, so if both have processors they share some, and are a group that isn't
// free: the stored orientation is the one that they are in. A job on its way has left its place in the background, and
// enters the background when it comes to another place. While k is on its way, j may have stayed where it was when k
// left.
func (s *Search) under(n *node, k int) (never uint32) {
	if s.Unbarred {
		return 0
	}
	for j := range s.n {
		if s.barred[k]>>j&1 == 0 || n.phase[j] == waits || n.phase[j] == over {
			continue
		}
		stays := n.phase[j] == runs && n.back[j]
		if n.phase[k] != runs {
			stays = n.phase[j] == runs && n.beneath[k]>>j&1 == 1
		}
		if !stays {
			never |= 1 << j
		}
	}
	return never
}

// comesAbove reports whether a job that has been on its way would come above one that has entered the background in
// that time and couldn't: it held processors all the time, which a node forgets (Search.parks).
func (s *Search) comesAbove(n *node, k int32, x *place) bool {
	if !x.over || n.phase[k] != transit {
		return false
	}
	never := s.under(n, int(k))
	for j := range int32(s.n) {
		if never>>j&1 == 1 && n.phase[j] == runs && touches(n.on[j], x.on) {
			return true
		}
	}
	return false
}
