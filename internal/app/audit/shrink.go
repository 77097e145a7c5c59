// SPDX-License-Identifier: MIT

package audit

import (
	"context"
	"fmt"
	"iter"
	"reflect"
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
		for s := range smaller(d.Instance) {
			if s.Validate() != nil {
				continue
			}
			if tries++; tries > maxTries || ctx.Err() != nil {
				return d
			}
			if found, ok := fails(ctx, s, d); ok {
				d, again = found, true
				break
			}
		}
	}
	return d
}

// fails reports whether the check of d fails on another instance, too.
func fails(ctx context.Context, in model.Instance, d Disagreement) (Disagreement, bool) {
	c := &trial{ctx: ctx, in: in, size: middle, seed: d.Seed, number: d.Number, tally: NewTally(), answers: map[string]model.Result{}, only: d.Check}
	c.run()
	for _, f := range c.found {
		if f.Check == d.Check {
			return f, true
		}
	}
	return d, false
}

// clone returns a copy that shares no memory with x.
func clone[T any](x T) T {
	c := reflect.New(reflect.TypeFor[T]()).Elem()
	c.Set(reflect.ValueOf(x))
	unshare(c)
	return c.Interface().(T)
}

// unshare gives v copies of the values that it points to.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			old := v.Elem()
			for old.Kind() == reflect.Pointer {
				old = old.Elem()
			}
			c := reflect.New(old.Type())
			c.Elem().Set(old)
			unshare(c.Elem())
			v.Set(c)
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			for k := range c.Len() {
				unshare(c.Index(k))
			}
			v.Set(c)
		}
	case reflect.Map:
		if !v.IsNil() {
			c := reflect.MakeMapWithSize(v.Type(), v.Len())
			for _, key := range v.MapKeys() {
				x := reflect.New(v.Type().Elem()).Elem()
				x.Set(v.MapIndex(key))
				unshare(x)
				c.SetMapIndex(key, x)
			}
			v.Set(c)
		}
	case reflect.Struct:
		for k := range v.NumField() {
			if v.Type().Field(k).IsExported() {
				unshare(v.Field(k))
			}
		}
	}
}

// smaller yields instances that lack a part or have a rounder figure, larger parts
// first. They need not be valid.
func smaller(in model.Instance) iter.Seq[model.Instance] {
	p := problemOf(in.Kind())
	return func(yield func(model.Instance) bool) {
		fields := reflect.ValueOf(in).Elem()
		for k := range fields.NumField() {
			if fields.Field(k).Kind() != reflect.Slice {
				continue
			}
			for from, to := range parts(fields.Field(k).Len()) {
				c := clone(in)
				list := reflect.ValueOf(c).Elem().Field(k)
				list.Set(reflect.AppendSlice(list.Slice(0, from), list.Slice(to, list.Len())))
				p.tidy(in, c, fields.Type().Field(k).Name, from, to)
				if !yield(c) {
					return
				}
			}
		}
		for _, change := range p.simpler {
			c := clone(in)
			if change(c); !equal(c, in) && !yield(c) {
				return
			}
		}
		for _, figures := range []bool{false, true} {
			for k, old := range leaves(in) {
				if isFigure := old.Kind() == reflect.Float64; isFigure != figures {
					continue
				}
				for _, x := range rounder(old) {
					c := clone(in)
					leaves(c)[k].Set(x)
					if !yield(c) {
						return
					}
				}
			}
		}
	}
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

// leaves returns the parts of an instance, always in the same order: flags, choices, numbers, optional parts and lists;
// names not.
func leaves(in model.Instance) (all []reflect.Value) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
			all = append(all, v)
		case reflect.String:
			if v.Type() != reflect.TypeFor[string]() {
				all = append(all, v)
			}
		case reflect.Pointer:
			if all = append(all, v); !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			if all = append(all, v); v.Type().Elem().Kind() != reflect.String {
				for k := range v.Len() {
					walk(v.Index(k))
				}
			}
		case reflect.Struct:
			for k := range v.NumField() {
				walk(v.Field(k))
			}
		}
	}
	walk(reflect.ValueOf(in).Elem())
	return all
}

// rounder returns simpler values than the given one, the simplest first.
func rounder(old reflect.Value) (all []reflect.Value) {
	add := func(x any) {
		if v := reflect.ValueOf(x).Convert(old.Type()); !v.Equal(old) {
			all = append(all, v)
		}
	}
	switch old.Kind() {
	case reflect.Int, reflect.Int64:
		x := old.Int()
		for _, y := range slices.Compact([]int64{0, 1, x / 2, x - 1}) {
			add(y)
		}
	case reflect.Float64:
		add(0.0)
		add(1.0)
		for _, digits := range []int{1, 2, 4, 8} {
			if y, err := strconv.ParseFloat(strconv.FormatFloat(old.Float(), 'e', digits-1, 64), 64); err == nil {
				add(y)
			}
		}
	case reflect.Slice:
		if old.Len() > 0 {
			all = append(all, reflect.MakeSlice(old.Type(), 0, 0))
		}
	default:
		if !old.IsZero() {
			all = append(all, reflect.Zero(old.Type()))
		}
	}
	return all
}

// equal reports whether two instances are the same.
func equal(a, b model.Instance) bool {
	x, errA := model.Hash(a)
	y, errB := model.Hash(b)
	return errA == nil && errB == nil && x == y
}

// tidyDAG drops the edges of tasks that are left out, the costs, needs, paths and routes of
// machines, and the amounts of resources.
func tidyDAG(d, c *model.DAG, list string, from, to int) {
	switch list {
	case "Tasks":
		gone := map[string]bool{}
		for _, t := range d.Tasks[from:to] {
			gone[t.ID] = true
		}
		c.Edges = slices.DeleteFunc(c.Edges, func(e model.DAGEdge) bool { return gone[e.From] || gone[e.To] })
	case "Machines":
		for t := range c.Tasks {
			if len(c.Tasks[t].CostS) > 0 {
				c.Tasks[t].CostS = slices.Delete(c.Tasks[t].CostS, from, to)
			}
		}
		if s := c.Network.PathCapacity; s != nil {
			c.Network.PathCapacity = slices.Delete(s, from, to)
			for a, row := range c.Network.PathCapacity {
				c.Network.PathCapacity[a] = slices.Delete(row, from, to)
			}
		}
		for _, m := range d.Machines[from:to] {
			c.Network.Routes = slices.DeleteFunc(c.Network.Routes, func(r model.Route) bool { return r.From == m.ID || r.To == m.ID })
			for t := range c.Tasks {
				delete(c.Tasks[t].NeedsOn, m.ID)
			}
		}
	case "Resources":
		for m := range c.Machines {
			c.Machines[m].Capacity = slices.Delete(c.Machines[m].Capacity, from, to)
		}
		for t := range c.Tasks {
			x := &c.Tasks[t]
			x.Needs = slices.Delete(x.Needs, from, to)
			for id, own := range x.NeedsOn {
				x.NeedsOn[id] = slices.Delete(own, from, to)
			}
		}
	}
}

// oneTaskAtATime has machines run one task at a time.
func oneTaskAtATime(d *model.DAG) {
	all := len(d.Resources)
	if d.Resources = nil; all > 0 {
		tidyDAG(d, d, "Resources", 0, all)
		oneNeedEach(d)
	}
}

// oneNeedEach has tasks need as much on each machine.
func oneNeedEach(d *model.DAG) {
	for t := range d.Tasks {
		d.Tasks[t].NeedsOn = nil
	}
}

// tidyConsolidation drops references to the hosts, offers, sets, jobs and resources that are left out.
func tidyConsolidation(in, c *model.Consolidation, list string, from, to int) {
	gone := map[string]bool{}
	without := func(ids []string) []string { return slices.DeleteFunc(ids, func(id string) bool { return gone[id] }) }
	counts := func(gone func(model.HostCount) bool) {
		for k := range c.Rules {
			c.Rules[k].Standing = slices.DeleteFunc(c.Rules[k].Standing, gone)
		}
		for k := range c.Limits {
			c.Limits[k].Counts = slices.DeleteFunc(c.Limits[k].Counts, gone)
		}
	}
	switch list {
	case "Resources":
		for k := range c.Hosts {
			c.Hosts[k].Capacity = slices.Delete(c.Hosts[k].Capacity, from, to)
		}
		for k := range c.Offers {
			c.Offers[k].Capacity = slices.Delete(c.Offers[k].Capacity, from, to)
		}
		for k := range c.Jobs {
			c.Jobs[k].Needs = slices.Delete(c.Jobs[k].Needs, from, to)
		}
	case "Hosts":
		for _, h := range in.Hosts[from:to] {
			gone[h.ID] = true
		}
		for k := range c.HostSets {
			c.HostSets[k].Hosts = without(c.HostSets[k].Hosts)
		}
		counts(func(s model.HostCount) bool { return gone[s.Host] })
		for i := range c.Jobs {
			j := &c.Jobs[i]
			for k, id := range j.CurrentHosts {
				if gone[id] {
					j.CurrentHosts[k], j.Pinned = "", false
				}
			}
		}
	case "Offers":
		for _, o := range in.Offers[from:to] {
			gone[o.ID] = true
		}
		for k := range c.HostSets {
			c.HostSets[k].Offers = without(c.HostSets[k].Offers)
		}
		counts(func(s model.HostCount) bool { return gone[s.Offer] })
	case "HostSets":
		for _, s := range in.HostSets[from:to] {
			gone[s.ID] = true
		}
		for k := range c.Jobs {
			if gone[c.Jobs[k].Allowed] {
				c.Jobs[k].Allowed = ""
			}
		}
		for k := range c.Rules {
			if gone[c.Rules[k].Among] {
				c.Rules[k].Among = ""
			}
		}
	case "Jobs":
		for _, j := range in.Jobs[from:to] {
			gone[j.ID] = true
		}
		c.Rules = slices.DeleteFunc(c.Rules, func(r model.PlacementRule) bool {
			return !slices.ContainsFunc(r.Jobs, func(id string) bool { return !gone[id] })
		})
		for k := range c.Rules {
			c.Rules[k].Jobs, c.Rules[k].Others = without(c.Rules[k].Jobs), without(c.Rules[k].Others)
		}
	}
}

// oneTaskOfEach leaves each job one task.
func oneTaskOfEach(c *model.Consolidation) {
	for i := range c.Jobs {
		c.Jobs[i].Tasks, c.Jobs[i].CurrentHosts = 1, c.Jobs[i].CurrentHosts[:min(1, len(c.Jobs[i].CurrentHosts))]
	}
}

// withoutLabels puts no host in a domain but its own.
func withoutLabels(c *model.Consolidation) {
	for k := range c.Hosts {
		c.Hosts[k].Labels = nil
	}
	for k := range c.Rules {
		c.Rules[k].Domain = ""
	}
}

// tidyVCSched drops the amounts of resources that are left out, and hosts of sizes.
func tidyVCSched(v, c *model.VCSched, list string, from, to int) {
	switch list {
	case "Resources":
		for i := range c.Jobs {
			c.Jobs[i].Resources = slices.Delete(c.Jobs[i].Resources, from, to)
		}
		for k := range c.HostSizes {
			c.HostSizes[k].Resources = slices.Delete(c.HostSizes[k].Resources, from, to)
		}
	case "HostSizes":
		for _, s := range v.HostSizes[from:to] {
			c.Hosts -= s.Count
		}
	}
}

func noTidying[I model.Instance](_, _ I, _ string, _, _ int) {}

// oneHostLess takes a host of the last size away.
func oneHostLess(c *model.VCSched) {
	c.Hosts--
	if k := len(c.HostSizes) - 1; k >= 0 {
		c.HostSizes[k].Count--
	}
}

// oneTaskEach leaves each job one task.
func oneTaskEach(c *model.VCSched) {
	for i := range c.Jobs {
		c.Jobs[i].Tasks, c.Jobs[i].CurrentHosts = 1, c.Jobs[i].CurrentHosts[:min(1, len(c.Jobs[i].CurrentHosts))]
	}
}

// reservationFromZero has the first request ready at 0, and all known by then.
func reservationFromZero(c *model.Reservation) {
	first := lastDeadline(c)
	for k := range c.Requests {
		first = min(first, c.Requests[k].ReadyS)
	}
	known(c)
	for k := range c.Requests {
		q := &c.Requests[k]
		q.ReadyS, q.DeadlineS = q.ReadyS-first, q.DeadlineS-first
		if q.CancelS != nil {
			*q.CancelS = max(0, *q.CancelS-first)
		}
	}
}

// narrowerReservation takes a PE away from all.
func narrowerReservation(c *model.Reservation) {
	c.PEs--
	for k := range c.Requests {
		c.Requests[k].PEs = max(1, c.Requests[k].PEs-1)
	}
}

// narrowerBatch takes a processor away from all.
func narrowerBatch(c *model.Batch) {
	c.Processors--
	for k := range c.Jobs {
		c.Jobs[k].Processes, c.Jobs[k].CPU = max(1, c.Jobs[k].Processes-1), nil
	}
}

// plainBatch drops estimates, uses and losses.
func plainBatch(c *model.Batch) {
	for k := range c.Jobs {
		c.Jobs[k].EstimateS, c.Jobs[k].CPU, c.Jobs[k].FgLoss = 0, nil, 0
	}
}

// batchFromZero has the first job submitted at 0.
func batchFromZero(c *model.Batch) {
	for k := len(c.Jobs) - 1; k >= 0; k-- {
		c.Jobs[k].SubmitS = later(c.Jobs[k].SubmitS, -c.Jobs[0].SubmitS)
	}
}

// tvcFromZero has the first request arrive at 0.
func tvcFromZero(c *model.TVC) {
	for k := len(c.Requests) - 1; k >= 0; k-- {
		c.Requests[k].ArrivalS = later(c.Requests[k].ArrivalS, -c.Requests[0].ArrivalS)
	}
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
