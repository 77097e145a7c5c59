// SPDX-License-Identifier: MIT

package play

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// Move describes a move that a person has made by hand.
type Move struct {
	Item string  `json:"item"`
	Task int     `json:"task"` // as in Box
	Drop string  `json:"drop"` // of the row that it is moved to
	Lane int     `json:"lane"` // its first lane there
	At   float64 `json:"at"`   // when it starts, in seconds
}

// moved returns the solution with one thing elsewhere. All else stays as it is, so the result need not be feasible: the
// judge reports the violations.
func moved(ctx context.Context, in model.Instance, s model.Solution, m Move) (model.Solution, error) {
	what, where, _ := strings.Cut(m.Drop, ":")
	n, _ := strconv.Atoi(where)
	if math.IsNaN(m.At) || math.Abs(m.At) > 1e12 {
		return nil, fmt.Errorf("%w: it can't start at %v s", model.ErrInvalid, m.At)
	}
	m.At = math.Round(m.At*1e6) / 1e6
	if !slices.Contains(targets[in.Kind()], what) {
		return nil, fmt.Errorf("%w: %q can't be moved there", model.ErrInvalid, m.Item)
	}
	switch in := in.(type) {
	case *model.DAG:
		return moveTask(ctx, in, s.(*model.Schedule), m.Item, where, m.At)
	case *model.VCSched:
		return moveVM(ctx, in, s.(*model.Placement), m.Item, m.Task, n)
	case *model.Reservation:
		return moveBooking(in, s.(*model.Bookings), m, what == "pes")
	case *model.Batch:
		return moveJob(in, s.(*model.Execution), m, what == "background")
	case *model.TVC:
		return moveCluster(in, s.(*model.Embeddings), m, n)
	}
	return moveAssigned(in.(*model.Consolidation), s.(*model.Assignment), m, n, what == "out")
}

// targets lists the rows that take boxes, by the beginnings of their targets in scenes.
var targets = map[model.Kind][]string{model.KindDAG: {"machine"}, model.KindVCSched: {"host"}, model.KindReservation: {"pes", "declined"},
	model.KindBatch: {"foreground", "background"}, model.KindTVC: {"server"}, model.KindConsolidation: {"host", "out"}}

// moveTask puts a task on a machine at a time. Each transfer starts when its producer ends.
func moveTask(ctx context.Context, d *model.DAG, s *model.Schedule, id, machine string, at float64) (model.Solution, error) {
	tasks := slices.Clone(s.Tasks)
	k := slices.IndexFunc(tasks, func(t model.TaskStart) bool { return t.ID == id })
	if k < 0 {
		return nil, fmt.Errorf("%w: there is no task %q", model.ErrInvalid, id)
	}
	tasks[k].Machine, tasks[k].StartS = machine, max(0, at)
	text, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		return nil, err
	}
	return gapwise.CompleteSolution(ctx, d, text)
}

// moveVM puts a task of a job on a host. All CPU shares are computed again.
func moveVM(ctx context.Context, in *model.VCSched, p *model.Placement, id string, task, host int) (model.Solution, error) {
	hosts, at, found := p.TaskHosts(), 0, false
	for i := range p.Jobs {
		if p.Jobs[i].ID == id && task >= 0 && task < len(p.Jobs[i].Hosts) {
			hosts[at+task], found = int32(host), true
		}
		at += len(p.Jobs[i].Hosts)
	}
	if !found || host < 0 || host >= in.Hosts {
		return nil, fmt.Errorf("%w: there is no task %d of job %q, or no host %d", model.ErrInvalid, task+1, id, host)
	}
	plain := in.NewPlacement(hosts, in.Yield(hosts))
	text, err := json.Marshal(map[string]any{"jobs": withoutShares(plain)})
	if err != nil {
		return nil, err
	}
	if full, err := gapwise.CompleteSolution(ctx, in, text); err == nil {
		return full, nil
	}
	return plain, nil // the rigid resources don't suffice: the average isn't raised
}

// moveAssigned puts a task on a host, by its number, bought ones last, or leaves it out. A bought host
// without tasks isn't bought.
func moveAssigned(in *model.Consolidation, a *model.Assignment, m Move, host int, out bool) (model.Solution, error) {
	i := slices.IndexFunc(a.Jobs, func(q model.JobAssignment) bool { return q.ID == m.Item })
	if i < 0 || m.Task < 0 || m.Task >= len(a.Jobs[i].Hosts) || host < 0 || host >= len(in.Hosts)+len(a.Bought) {
		return nil, fmt.Errorf("%w: there is no task %d of job %q, or no host %d", model.ErrInvalid, m.Task+1, m.Item, host)
	}
	to := ""
	switch {
	case out:
	case host < len(in.Hosts):
		to = in.Hosts[host].ID
	default:
		to = a.Bought[host-len(in.Hosts)].ID
	}
	next := &model.Assignment{Jobs: slices.Clone(a.Jobs)}
	next.Jobs[i].Hosts = slices.Clone(a.Jobs[i].Hosts)
	next.Jobs[i].Hosts[m.Task] = to
	for _, b := range a.Bought {
		if slices.ContainsFunc(next.Jobs, func(q model.JobAssignment) bool { return slices.Contains(q.Hosts, b.ID) }) {
			next.Bought = append(next.Bought, b)
		}
	}
	return next, nil
}

// withoutShares returns the hosts of a placement.
func withoutShares(p *model.Placement) (jobs []map[string]any) {
	for i := range p.Jobs {
		jobs = append(jobs, map[string]any{"id": p.Jobs[i].ID, "hosts": p.Jobs[i].Hosts})
	}
	return jobs
}

// moveBooking books a request on PEs at a time, or declines it.
func moveBooking(in *model.Reservation, b *model.Bookings, m Move, book bool) (model.Solution, error) {
	q := slices.IndexFunc(in.Requests, func(q model.Request) bool { return q.ID == m.Item })
	if q < 0 {
		return nil, fmt.Errorf("%w: there is no request %q", model.ErrInvalid, m.Item)
	}
	next := *b
	next.Online = false // a person knows it all
	k := slices.IndexFunc(b.Bookings, func(x model.Booking) bool { return x.ID == m.Item })
	if !book {
		if next.Bookings = slices.Clone(b.Bookings); k >= 0 {
			next.Bookings = slices.Delete(next.Bookings, k, k+1)
		}
		return &next, nil
	}
	pes := in.Requests[q].PEs
	first := max(0, min(m.Lane, in.PEs-pes))
	x := model.Booking{ID: m.Item, StartS: m.At, PEs: model.PEList{{First: first, Last: first + pes - 1}}}
	if next.Bookings = slices.Clone(b.Bookings); k >= 0 {
		next.Bookings[k] = x
	} else {
		next.Bookings = append(next.Bookings, x)
	}
	return &next, nil
}

// moveJob has a job that runs through run at another time, or on other processors. It ends
// when its work is done if nothing but its own tier slows it down.
func moveJob(in *model.Batch, e *model.Execution, m Move, background bool) (model.Solution, error) {
	k := slices.IndexFunc(e.Runs, func(r model.Run[model.BatchPlace]) bool { return r.ID == m.Item })
	j := slices.IndexFunc(in.Jobs, func(j model.BatchJob) bool { return j.ID == m.Item })
	if k < 0 || j < 0 || len(e.Runs[k].Segments) != 1 {
		return nil, fmt.Errorf("%w: job %q doesn't run in one piece", model.ErrInvalid, m.Item)
	}
	x := e.Runs[k].Segments[0]
	t := view.OfBatch(in)
	work, rate := t.Jobs[j].Work(), int64(view.FullRate)
	x.Place.Tier = model.TierForeground
	if in.Tiers == 2 && background {
		x.Place.Tier = model.TierBackground
		for i := range in.Jobs[j].Processes {
			rate = min(rate, t.Jobs[j].BackgroundRate(t.Jobs[j].CPU(i), view.FullRate))
		}
	} else if in.Tiers == 2 {
		rate = t.Jobs[j].Foreground
	}
	if rate <= 0 {
		return nil, fmt.Errorf("%w: job %q makes no progress there", model.ErrInvalid, m.Item)
	}
	x.StartS = m.At
	x.EndS = math.Round(m.At*1e6+math.Ceil(float64(work)/float64(rate))) / 1e6
	n := in.Jobs[j].Processes
	first := max(0, min(m.Lane, in.Processors-n))
	x.Place.Processors = nil
	for p := range n {
		x.Place.Processors = append(x.Place.Processors, int32(first+p))
	}
	next := &model.Execution{Runs: slices.Clone(e.Runs)}
	next.Runs[k].Segments = []model.Segment[model.BatchPlace]{x}
	return next, nil
}

// moveCluster moves the VMs of a request from one server to another and, of a queue, the
// request to another time. The virtual switch is the lowest above all its servers.
func moveCluster(in *model.TVC, e *model.Embeddings, m Move, server int) (model.Solution, error) {
	k := slices.IndexFunc(e.Runs, func(r model.Run[model.Embedding]) bool { return r.ID == m.Item })
	if k < 0 || len(e.Runs[k].Segments) != 1 || server < 0 || server >= in.FatTree.Servers() {
		return nil, fmt.Errorf("%w: request %q doesn't run in one piece", model.ErrInvalid, m.Item)
	}
	s := e.Runs[k].Segments[0]
	vms := map[int]int{}
	for _, x := range s.Place.Servers {
		to := x.Server
		if to == m.Task {
			to = server
		}
		vms[to] += x.VMs
	}
	s.Place.Servers = nil
	for h, n := range vms {
		s.Place.Servers = append(s.Place.Servers, model.ServerVMs{Server: h, VMs: n})
	}
	slices.SortFunc(s.Place.Servers, func(a, b model.ServerVMs) int { return a.Server - b.Server })
	core := s.Place.Switch
	switch core.Layer {
	case model.LayerEdge:
		core = model.Switch{Layer: model.LayerCore}
	case model.LayerAggregation:
		core = model.Switch{Layer: model.LayerCore, Group: core.Index}
	}
	s.Place.Switch = fattree.New(view.OfTVC(in)).Lowest(core, s.Place.Servers)
	if in.Queue {
		s.EndS += m.At - s.StartS
		s.StartS = m.At
	}
	next := &model.Embeddings{Runs: slices.Clone(e.Runs)}
	next.Runs[k].Segments = []model.Segment[model.Embedding]{s}
	return next, nil
}
