// SPDX-License-Identifier: MIT

package audit

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// forge tests the judge with solutions that are too good: tasks start earlier or
// get more CPU, or a request is booked in addition. The judge must refuse such a solution, or the solution must not
// beat the search's proof.
func (c *trial) forge() {
	if c.skips("forged") {
		return
	}
	r, ok := c.answer(c.own())
	if !ok || r.Solution == nil {
		return
	}
	claim := claimOf(model.SenseOf(c.in), r)
	rng := c.rng()
	for range 4 {
		s := problemOf(c.in.Kind()).forged(c.in, r.Solution, rng)
		if s == nil {
			return
		}
		report, err := verify.Verify(c.ctx, c.in, s, verify.Options{})
		if err != nil {
			if c.ctx.Err() == nil {
				c.disagree("forged", "the judge can't judge: %v", err)
			}
			return
		}
		if report.Feasible() && !claim.agrees(unknown().withSolution(model.SenseOf(c.in), report.Objective)) {
			text, _ := json.Marshal(s) // a copy of one that could be written
			c.disagree("forged", "the judge accepts %.12g where %s says %v: %s", report.Objective, c.own(), claim, text)
			return
		}
		c.tally.add(judged, c.in)
	}
}

// forgedPlacement gives all tasks more CPU.
func forgedPlacement(_ *model.VCSched, s *model.Placement, rng *rand.Rand) *model.Placement {
	p := &model.Placement{}
	lift := []float64{1 + 1e-6, 1.01, 1.3}[rng.IntN(3)]
	for _, j := range s.Jobs {
		j.Hosts = append([]int{}, j.Hosts...)
		shares := j.CPU
		j.CPU = nil
		for _, x := range shares {
			j.CPU = append(j.CPU, x*lift)
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// forgedAssignment empties a host into another one, or has tasks stay or be left out.
func forgedAssignment(in *model.Consolidation, s *model.Assignment, rng *rand.Rand) *model.Assignment {
	a := &model.Assignment{Bought: slices.Clone(s.Bought)}
	var used []string
	for _, j := range s.Jobs {
		j.Hosts = slices.Clone(j.Hosts)
		a.Jobs = append(a.Jobs, j)
		used = append(used, j.Hosts...)
	}
	from, to, kind := used[rng.IntN(len(used))], used[rng.IntN(len(used))], rng.IntN(3)
	if kind == 0 { // the bought host is given back
		a.Bought = slices.DeleteFunc(a.Bought, func(b model.BoughtHost) bool { return b.ID == from })
	}
	for i := range a.Jobs {
		for k, h := range a.Jobs[i].Hosts {
			now := in.Jobs[i].Current(k)
			switch {
			case kind < 2 && h == from:
				a.Jobs[i].Hosts[k] = to
			case kind == 2 && now != "" && rng.IntN(3) == 0:
				a.Jobs[i].Hosts[k] = now
			}
		}
	}
	return a
}

// forgedSchedule starts tasks and transfers earlier. Of machines with capacities half of them have more tasks run at a
// time instead.
func forgedSchedule(d *model.DAG, s *model.Schedule, rng *rand.Rand) *model.Schedule {
	if len(d.Resources) > 0 && rng.IntN(2) == 0 {
		return crowdedSchedule(d, s, rng)
	}
	p := &model.Schedule{TransferModel: s.TransferModel}
	if len(s.Tasks) == 0 {
		return nil
	}
	// All earlier, or all from some task's start on.
	from, factor := 0.0, []float64{0.5, 0.9, 0.999}[rng.IntN(3)]
	if rng.IntN(2) == 0 {
		from = s.Tasks[rng.IntN(len(s.Tasks))].StartS
	}
	earlier := func(t float64) float64 {
		if t < from {
			return t
		}
		return from*factor + (t - from)
	}
	if from == 0 {
		earlier = func(t float64) float64 { return t * factor }
	}
	for _, t := range s.Tasks {
		t.StartS = earlier(t.StartS)
		p.Tasks = append(p.Tasks, t)
	}
	for _, t := range s.Transfers {
		t.StartS = earlier(t.StartS)
		p.Transfers = append(p.Transfers, t)
	}
	return p
}

// crowdedSchedule moves a task to some machine, and replays the schedule as if that had more room; nil if it then waits
// for itself or for data without a path.
func crowdedSchedule(d *model.DAG, s *model.Schedule, rng *rand.Rand) *model.Schedule {
	if len(s.Tasks) != len(d.Tasks) || len(d.Tasks) == 0 {
		return nil
	}
	roomier, to := clone(d), rng.IntN(len(d.Machines))
	for r := range d.Resources {
		x, least := &roomier.Machines[to].Capacity[r], int64(math.MaxInt64)
		for t := range d.Tasks {
			if need := d.Needs(t, to)[r]; need > 0 {
				least = min(least, need)
			}
		}
		*x = min(1e12, *x+[]int64{1, min(least, *x), *x}[rng.IntN(3)])
	}
	g := view.OfDAG(roomier)
	start := map[string]float64{}
	p := dagplay.Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	for _, x := range s.Tasks {
		start[x.ID] = x.StartS
		t := slices.IndexFunc(d.Tasks, func(y model.DAGTask) bool { return y.ID == x.ID })
		p.Machine[t] = int32(slices.IndexFunc(d.Machines, func(y model.Machine) bool { return y.ID == x.Machine }))
	}
	if t := rng.IntN(g.Tasks); !math.IsInf(d.Cost(t, to), 1) && rng.IntN(4) > 0 {
		p.Machine[t] = int32(to)
	}
	order := slices.Clone(g.Order)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(start[d.Tasks[a].ID], start[d.Tasks[b].ID]) })
	for _, t := range order {
		p.Order[p.Machine[t]] = append(p.Order[p.Machine[t]], t)
	}
	r := dagplay.NewReplay(g)
	if math.IsInf(r.Run(p, nil), 1) {
		return nil
	}
	return d.Schedule(p.Machine, r.Start, r.Sent)
}

// forgedBookings books a request in addition.
func forgedBookings(r *model.Reservation, s *model.Bookings, rng *rand.Rand) *model.Bookings {
	booked := map[string]bool{}
	for _, b := range s.Bookings {
		booked[b.ID] = true
	}
	p := &model.Bookings{Goal: s.Goal, Bookings: append([]model.Booking{}, s.Bookings...)}
	for _, k := range rng.Perm(len(r.Requests)) {
		if q := &r.Requests[k]; !booked[q.ID] {
			start := q.ReadyS
			switch rng.IntN(3) {
			case 0:
				start = q.Latest()
			case 1: // as if another had just ended
				if len(s.Bookings) > 0 {
					b := s.Bookings[rng.IntN(len(s.Bookings))]
					start = b.StartS
				}
			}
			first := rng.IntN(r.PEs - q.PEs + 1)
			p.Bookings = append(p.Bookings, model.Booking{ID: q.ID, StartS: start, PEs: model.PEList{{First: first, Last: first + q.PEs - 1}}})
			return p
		}
	}
	return nil
}

// forgedExecution starts a job earlier, or ends one earlier, on its processors or
// others.
func forgedExecution(b *model.Batch, e *model.Execution, rng *rand.Rand) *model.Execution {
	if len(e.Runs) == 0 {
		return nil
	}
	f := &model.Execution{Runs: slices.Clone(e.Runs)}
	run := &f.Runs[rng.IntN(len(f.Runs))]
	run.Segments = slices.Clone(run.Segments)
	s := &run.Segments[len(run.Segments)-1]
	first := 0.0
	for k := range b.Jobs {
		if b.Jobs[k].ID == run.ID {
			first = b.Jobs[k].SubmitS
		}
	}
	earlier := []float64{1e-6, s.StartS - first, math.Floor((s.StartS-first)*rng.Float64()*1e6) / 1e6}[rng.IntN(3)]
	if rng.IntN(4) > 0 {
		s.StartS = later(s.StartS, -earlier)
	}
	s.EndS = later(s.EndS, -earlier)
	if rng.IntN(2) == 0 {
		s.Place.Processors = slices.Clone(s.Place.Processors)
		for i, p := range rng.Perm(b.Processors)[:len(s.Place.Processors)] {
			s.Place.Processors[i] = int32(p)
		}
	}
	return f
}

// forgedEmbeddings accepts a request in addition, with VMs on servers below some
// switch.
func forgedEmbeddings(v *model.TVC, s *model.Embeddings, rng *rand.Rand) *model.Embeddings {
	runs := map[string]bool{}
	for i := range s.Runs {
		runs[s.Runs[i].ID] = true
	}
	h := v.FatTree.Half()
	for _, k := range rng.Perm(len(v.Requests)) {
		q := &v.Requests[k]
		if runs[q.ID] {
			continue
		}
		e := model.Embedding{Switch: model.Switch{Layer: model.LayerCore, Group: rng.IntN(h), Index: rng.IntN(h)}}
		from, to := 0, v.FatTree.Servers()
		switch pod := rng.IntN(2 * h); rng.IntN(3) {
		case 0:
			e.Switch = model.Switch{Layer: model.LayerAggregation, Group: pod, Index: rng.IntN(h)}
			from, to = pod*h*h, (pod+1)*h*h
		case 1:
			e.Switch = model.Switch{Layer: model.LayerEdge, Group: pod, Index: rng.IntN(h)}
			from = (pod*h + e.Switch.Index) * h
			to = from + h
		}
		vms, left := make([]int, to-from), q.VMs
		for _, i := range rng.Perm(len(vms)) {
			vms[i] = min(left, v.FatTree.Slots)
			left -= vms[i]
		}
		for i, m := range vms {
			if m > 0 {
				e.Servers = append(e.Servers, model.ServerVMs{Server: from + i, VMs: m})
			}
		}
		end := math.Round((q.ArrivalS+q.DurationS)*1e6) / 1e6
		run := model.Run[model.Embedding]{ID: q.ID, Segments: []model.Segment[model.Embedding]{{StartS: q.ArrivalS, EndS: end, Place: e}}}
		return &model.Embeddings{Runs: append(slices.Clone(s.Runs), run)}
	}
	return nil
}
