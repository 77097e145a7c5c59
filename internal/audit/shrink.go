package audit

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/model"
)

// maxTries bounds how many smaller instances are tried.
const maxTries = 400

// shrink looks for a smaller instance on which the same check fails: it leaves
// out parts and rounds figures for as long as the check fails (delta debugging).
func shrink(ctx context.Context, d Disagreement) Disagreement {
	tries := 0
	for again := true; again; {
		again = false
		for smaller := range problems[d.Instance.Kind()].smaller(d.Instance) {
			if tries++; tries > maxTries || ctx.Err() != nil {
				return d
			}
			if smaller.Validate() != nil {
				continue
			}
			if found, ok := fails(ctx, smaller, d); ok {
				d, again = found, true
				break
			}
		}
	}
	return d
}

// fails reports whether the check of d fails on another instance, too.
func fails(ctx context.Context, in model.Instance, d Disagreement) (Disagreement, bool) {
	c := &trial{ctx: ctx, in: in, size: middle, seed: d.Seed, number: d.Number, tally: newTally(), answers: map[string]model.Result{}, only: d.Check}
	c.run()
	for _, f := range c.found {
		if f.Check == d.Check {
			return f, true
		}
	}
	return d, false
}

// parts yields the ranges of n elements to leave out: halves, quarters, ... one by one.
func parts(n int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for size := n / 2; size >= 1; size /= 2 {
			for from := 0; from+size <= n; from += size {
				if !yield(from, from+size) {
					return
				}
			}
		}
	}
}

// fewerDigits returns figures near x of fewer digits, the roundest first.
func fewerDigits(x float64) []float64 {
	var all []float64
	for _, y := range []float64{0, 1} {
		if x != y && !(y == 1 && x == 0) {
			all = append(all, y)
		}
	}
	for _, digits := range []int{1, 2, 4, 8} {
		if y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64); err == nil && y != x && !slices.Contains(all, y) {
			all = append(all, y)
		}
	}
	return all
}

// rounder yields copies of an instance in which one figure is rounder. figures
// lists where an instance's figures are, in an order of its own.
func rounder[I any](in I, clone func(I) I, figures func(I) []*float64, yield func(I) bool) bool {
	for k, p := range figures(in) {
		for _, y := range fewerDigits(*p) {
			c := clone(in)
			*figures(c)[k] = y
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

func smallerVCSched(v *model.VCSched, yield func(*model.VCSched) bool) {
	for from, to := range parts(len(v.Jobs)) {
		c := copyVCSched(v)
		c.Jobs = slices.Delete(c.Jobs, from, to)
		if !yield(c) {
			return
		}
	}
	changes := []func(*model.VCSched){
		func(c *model.VCSched) {
			c.Hosts--
			if k := len(c.HostSizes) - 1; k >= 0 {
				if c.HostSizes[k].Count--; c.HostSizes[k].Count == 0 {
					c.HostSizes = c.HostSizes[:k]
				}
			}
		},
		func(c *model.VCSched) { c.MigrationBudget = nil },
		func(c *model.VCSched) { c.HostSizes = nil },
	}
	for r := range v.Resources {
		changes = append(changes, func(c *model.VCSched) {
			c.Resources = slices.Delete(c.Resources, r, r+1)
			for i := range c.Jobs {
				c.Jobs[i].Resources = slices.Delete(c.Jobs[i].Resources, r, r+1)
			}
			for k := range c.HostSizes {
				c.HostSizes[k].Resources = slices.Delete(c.HostSizes[k].Resources, r, r+1)
			}
		})
	}
	for i := range v.Jobs {
		changes = append(changes,
			func(c *model.VCSched) {
				c.Jobs[i].Tasks, c.Jobs[i].CurrentHosts = 1, c.Jobs[i].CurrentHosts[:min(1, len(c.Jobs[i].CurrentHosts))]
			},
			func(c *model.VCSched) { c.Jobs[i].CurrentHosts = nil })
	}
	for _, change := range changes {
		c := copyVCSched(v)
		change(c)
		if !equal(c, v) && !yield(c) {
			return
		}
	}
	rounder(v, copyVCSched, func(v *model.VCSched) (all []*float64) {
		if v.MigrationBudget != nil {
			all = append(all, v.MigrationBudget)
		}
		for i := range v.Jobs {
			all = append(all, &v.Jobs[i].CPU, &v.Jobs[i].Memory)
			for r := range v.Resources {
				all = append(all, &v.Jobs[i].Resources[r])
			}
		}
		for k := range v.HostSizes {
			all = append(all, &v.HostSizes[k].CPU, &v.HostSizes[k].Memory)
			for r := range v.Resources {
				all = append(all, &v.HostSizes[k].Resources[r])
			}
		}
		return all
	}, yield)
}

func smallerDAG(d *model.DAG, yield func(*model.DAG) bool) {
	for from, to := range parts(len(d.Tasks)) {
		c := copyDAG(d)
		gone := map[string]bool{}
		for _, t := range c.Tasks[from:to] {
			gone[t.ID] = true
		}
		c.Tasks = slices.Delete(c.Tasks, from, to)
		c.Edges = slices.DeleteFunc(c.Edges, func(e model.DAGEdge) bool { return gone[e.From] || gone[e.To] })
		if !yield(c) {
			return
		}
	}
	for from, to := range parts(len(d.Edges)) {
		c := copyDAG(d)
		c.Edges = slices.Delete(c.Edges, from, to)
		if !yield(c) {
			return
		}
	}
	changes := []func(*model.DAG){
		func(c *model.DAG) { c.TransferModel = "" },
		func(c *model.DAG) { c.Network.Links, c.Network.Routes = nil, nil },
		func(c *model.DAG) { c.Network.PathCapacity = nil },
		func(c *model.DAG) { c.Network.Bandwidth = 1 },
	}
	for m := range d.Machines {
		changes = append(changes, func(c *model.DAG) {
			id := c.Machines[m].ID
			c.Machines = slices.Delete(c.Machines, m, m+1)
			for t := range c.Tasks {
				if len(c.Tasks[t].CostS) > 0 {
					c.Tasks[t].CostS = slices.Delete(c.Tasks[t].CostS, m, m+1)
				}
			}
			if s := c.Network.PathCapacity; s != nil {
				s = slices.Delete(s, m, m+1)
				for a := range s {
					s[a] = slices.Delete(s[a], m, m+1)
				}
				c.Network.PathCapacity = s
			}
			c.Network.Routes = slices.DeleteFunc(c.Network.Routes, func(r model.Route) bool { return r.From == id || r.To == id })
		})
	}
	for _, change := range changes {
		c := copyDAG(d)
		change(c)
		if !equal(c, d) && !yield(c) {
			return
		}
	}
	rounder(d, copyDAG, func(d *model.DAG) (all []*float64) {
		for m := range d.Machines {
			all = append(all, &d.Machines[m].StartupS)
		}
		for t := range d.Tasks {
			for m := range d.Tasks[t].CostS {
				all = append(all, &d.Tasks[t].CostS[m])
			}
		}
		for e := range d.Edges {
			all = append(all, &d.Edges[e].Data)
		}
		return all
	}, yield)
}

func smallerReservation(r *model.Reservation, yield func(*model.Reservation) bool) {
	for from, to := range parts(len(r.Requests)) {
		c := copyReservation(r)
		c.Requests = slices.Delete(c.Requests, from, to)
		if !yield(c) {
			return
		}
	}
	changes := []func(*model.Reservation){
		func(c *model.Reservation) { c.Goal = model.GoalAccepted },
		func(c *model.Reservation) { // earlier by what all have before them
			first := lastDeadline(c)
			for k := range c.Requests {
				first = min(first, c.Requests[k].ReadyS)
			}
			for k := range c.Requests {
				q := &c.Requests[k]
				q.ArrivalS, q.ReadyS, q.DeadlineS = 0, q.ReadyS-first, q.DeadlineS-first
				if q.CancelS != nil {
					*q.CancelS = max(0, *q.CancelS-first)
				}
			}
		},
		func(c *model.Reservation) {
			c.PEs--
			for k := range c.Requests {
				c.Requests[k].PEs = max(1, c.Requests[k].PEs-1)
			}
		},
		func(c *model.Reservation) { c.PEs-- },
	}
	for k := range r.Requests {
		changes = append(changes,
			func(c *model.Reservation) { c.Requests[k].RuntimeS = nil },
			func(c *model.Reservation) { c.Requests[k].CancelS = nil },
			func(c *model.Reservation) { c.Requests[k].ArrivalS = 0 },
			func(c *model.Reservation) { c.Requests[k].PEs = 1 })
	}
	for _, change := range changes {
		c := copyReservation(r)
		change(c)
		if !equal(c, r) && !yield(c) {
			return
		}
	}
	rounder(r, copyReservation, func(r *model.Reservation) (all []*float64) {
		for k := range r.Requests {
			q := &r.Requests[k]
			all = append(all, &q.ReadyS, &q.DurationS, &q.DeadlineS)
			for _, p := range []*float64{q.RuntimeS, q.CancelS} {
				if p != nil {
					all = append(all, p)
				}
			}
		}
		return all
	}, yield)
}

// equal reports whether two instances are the same.
func equal(a, b model.Instance) bool {
	x, errA := model.Hash(a)
	y, errB := model.Hash(b)
	return errA == nil && errB == nil && x == y
}

// said returns the name of a check as a part of a file name.
func said(check string) string {
	out := []rune{}
	for _, r := range check {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			out = append(out, r)
		} else if n := len(out); n > 0 && out[n-1] != '-' {
			out = append(out, '-')
		}
	}
	return fmt.Sprintf("%.60s", string(out))
}
