// SPDX-License-Identifier: MIT

package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// dagHolds shows the realised critical path.
func dagHolds(ctx context.Context, d *model.DAG, s *model.Schedule) ([]Reason, error) {
	var arrived []float64
	if d.Transfers() != model.TransferIdeal || view.OfDAG(d).Files != nil { // a file may be there before an edge starts
		var err error
		if arrived, err = verify.Arrivals(ctx, d, s); err != nil {
			return nil, err
		}
	}
	path, err := view.Critical(d, s, arrived)
	if err != nil || len(path) == 0 {
		return nil, err
	}
	machine, err := d.MachineOf(s)
	if err != nil {
		return nil, err
	}
	r := Reason{Words: fmt.Sprintf("The critical path: the last task ends at %.9g s, and each waits for the one before it:", path[len(path)-1].EndS),
		Rows: [][]string{{"task", "machine", "starts", "ends", "waits for"}}}
	for k, x := range path {
		waits := "nothing"
		switch x.By {
		case view.HoldMachine:
			waits = fmt.Sprintf("%s, on the same machine", d.Tasks[path[k-1].Task].ID)
			if len(d.Resources) > 0 {
				waits = "the room of " + waits
			}
		case view.HoldData:
			waits = fmt.Sprintf("the data of %s, on the same machine", d.Tasks[path[k-1].Task].ID)
		case view.HoldTransfer:
			waits = fmt.Sprintf("the data of %s, which arrive at %.6g s", d.Tasks[path[k-1].Task].ID, x.ArrivedS)
		}
		if x.IdleS > 0 {
			waits += fmt.Sprintf(", and idles %.6g s", x.IdleS)
		}
		r.Elements = append(r.Elements, d.Tasks[x.Task].ID)
		r.Rows = append(r.Rows, []string{d.Tasks[x.Task].ID, d.Machines[machine[x.Task]].ID, seconds(x.StartS), seconds(x.EndS), waits})
	}
	return []Reason{r}, nil
}

// vcschedHolds shows the hosts with the largest load and the job of the least yield.
func vcschedHolds(_ context.Context, v *model.VCSched, p *model.Placement) ([]Reason, error) {
	if err := v.CheckShape(p); err != nil {
		return nil, err
	}
	load, memory := map[int]float64{}, map[int]float64{}
	on := map[int]map[string]int{}
	least, who := 0.0, ""
	for i := range p.Jobs {
		j := &v.Jobs[i]
		for k, h := range p.Jobs[i].Hosts {
			size := v.Capacity(h)
			load[h] += j.CPU / size.CPU
			if j.Memory > 0 {
				memory[h] += j.Memory / size.Memory
			}
			if on[h] == nil {
				on[h] = map[string]int{}
			}
			on[h][j.ID]++
			if j.CPU > 0 {
				if y := p.Jobs[i].CPU[k] / j.CPU; who == "" || y < least {
					least, who = y, j.ID
				}
			}
		}
	}
	var hosts []int
	for h := range load {
		hosts = append(hosts, h)
	}
	slices.SortFunc(hosts, func(a, b int) int { return cmp.Or(cmp.Compare(load[b], load[a]), cmp.Compare(a, b)) })
	if who == "" {
		return []Reason{{Words: "No job needs CPU: any placement that fits has the yield 1."}}, nil
	}
	r := Reason{Words: fmt.Sprintf("The job of the lowest yield is %s with %.6g. The hosts with the most CPU asked for (1 is a whole host):", who, least), Elements: []string{who},
		Rows: [][]string{{"host", "CPU needed", "memory", "jobs"}}}
	for _, h := range hosts[:min(5, len(hosts))] {
		var ids []string
		for i := range v.Jobs {
			if n := on[h][v.Jobs[i].ID]; n > 1 {
				ids = append(ids, fmt.Sprintf("%d of %s", n, v.Jobs[i].ID))
			} else if n == 1 {
				ids = append(ids, v.Jobs[i].ID)
			}
		}
		r.Rows = append(r.Rows, []string{fmt.Sprint(h), fmt.Sprintf("%.6g", load[h]), fmt.Sprintf("%.6g", memory[h]), words.Some(ids, 6)})
	}
	return []Reason{r}, nil
}

// reservationHolds shows the declined requests and the requests in their way.
func reservationHolds(_ context.Context, in *model.Reservation, b *model.Bookings) ([]Reason, error) {
	index, err := in.Index(b)
	if err != nil {
		return nil, err
	}
	type span struct {
		from, to float64
		pes      int
		id       string
	}
	var spans []span
	booked := make([]bool, len(in.Requests))
	for i, k := range index {
		booked[k] = true
		if q, at := &in.Requests[k], b.Bookings[i].StartS; q.Runs(at) {
			spans = append(spans, span{at, at + q.Runtime(), q.PEs, q.ID})
		}
	}
	r := Reason{Rows: [][]string{{"declined", "PEs", "window", "best free", "in the way then"}}}
	more := 0
	for k := range in.Requests {
		q := &in.Requests[k]
		if booked[k] {
			continue
		}
		r.Elements = append(r.Elements, q.ID)
		if len(r.Rows) > 12 || len(r.Rows)*len(spans)*len(spans) > 200_000_000 {
			more++
			continue
		}
		// The most PEs that are free throughout its runtime, at any start at which that may change, and the holder of
		// the others at the tightest moment.
		most, way := -1, ""
		starts := []float64{q.ReadyS, q.DeadlineS - q.DurationS}
		for _, s := range spans {
			if s.to > q.ReadyS && s.to <= q.DeadlineS-q.DurationS {
				starts = append(starts, s.to)
			}
		}
		slices.Sort(starts)
		for _, at := range starts[:min(200, len(starts))] {
			free, who := in.PEs, ""
			for _, s := range append([]span{{from: at}}, spans...) {
				if s.from < at || s.from >= at+q.Runtime() {
					continue
				}
				used := 0
				var ids []string
				for _, o := range spans {
					if o.from <= s.from && s.from < o.to {
						used += o.pes
						ids = append(ids, o.id)
					}
				}
				if in.PEs-used < free {
					free, who = in.PEs-used, words.Some(ids, 5)
				}
			}
			if free > most {
				most, way = free, fmt.Sprintf("%s (from %.6g s)", who, at)
			}
		}
		if most >= q.PEs {
			way = "it fits: it was declined before they were moved"
		}
		r.Rows = append(r.Rows, []string{q.ID, fmt.Sprint(q.PEs), fmt.Sprintf("%.6g-%.6g s", q.ReadyS, q.DeadlineS), fmt.Sprint(most), way})
	}
	if len(r.Elements) == 0 {
		return []Reason{{Words: "Nothing: every request is accepted."}}, nil
	}
	r.Words = fmt.Sprintf("%d requests are declined. Free is what no accepted request has for the whole of its runtime, at the best start in its window:", len(r.Elements))
	if len(r.Elements) == 1 {
		r.Words = strings.Replace(r.Words, "1 requests are", "One request is", 1)
	}
	if more > 0 {
		r.Words = strings.TrimSuffix(r.Words, ":") + fmt.Sprintf(" (the first %d of them):", len(r.Elements)-more)
	}
	return []Reason{r}, nil
}

// batchHolds shows the jobs with the largest weighted responses and the jobs at whose end they started.
func batchHolds(_ context.Context, b *model.Batch, s *model.Execution) ([]Reason, error) {
	all, err := b.Outcomes(s)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	order := make([]int, len(all))
	sum := 0.0
	share := func(k int) float64 { return all[k].Response() * float64(b.Jobs[k].EffectiveWeight()) }
	for k := range order {
		order[k] = k
		sum += share(k)
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(share(y), share(x)) })
	r := Reason{Words: "The jobs with the largest responses (times weight), and the jobs that ended when they started:",
		Rows: [][]string{{"job", "processes", "submitted", "waits", "runs", "share", "started when these ended"}}}
	for _, k := range order[:min(8, len(order))] {
		o := &all[k]
		var ids []string
		for i := range all {
			if i != k && all[i].Ran && all[i].EndS == o.StartS {
				ids = append(ids, all[i].ID)
			}
		}
		before := words.Some(ids, 4)
		if o.StartS <= o.SubmitS {
			before = "at once"
		}
		r.Elements = append(r.Elements, o.ID)
		r.Rows = append(r.Rows, []string{o.ID, fmt.Sprint(o.Processes), seconds(o.SubmitS), seconds(o.StartS - o.SubmitS), seconds(o.EndS - o.StartS),
			fmt.Sprintf("%.3g %%", 100*share(k)/sum), before})
	}
	return []Reason{r}, nil
}

// tvcHolds shows, in loss mode, the rejected requests and the free resources at their arrival; in queue mode, the
// requests that respond last.
func tvcHolds(_ context.Context, v *model.TVC, s *model.Embeddings) ([]Reason, error) {
	all, err := v.Outcomes(s)
	if err != nil {
		return nil, err
	}
	t := view.OfTVC(v)
	slots := t.Servers * t.Slots
	if v.Queue {
		order := make([]int, 0, len(all))
		for k := range all {
			if all[k].Ran {
				order = append(order, k)
			}
		}
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(all[y].Response(), all[x].Response()) })
		r := Reason{Words: "The requests with the largest responses:", Rows: [][]string{{"request", "VMs", "arrives", "waits", "ends"}}}
		for _, k := range order[:min(8, len(order))] {
			o := &all[k]
			r.Elements = append(r.Elements, o.ID)
			r.Rows = append(r.Rows, []string{o.ID, fmt.Sprint(o.Processes), seconds(o.SubmitS), seconds(o.StartS - o.SubmitS), seconds(o.EndS)})
		}
		return []Reason{r}, nil
	}
	r := Reason{Rows: [][]string{{"rejected", "VMs", "Mbps", "arrives", "free slots", "what was short", "running then"}}}
	n := 0
	for k := range all {
		if all[k].Ran {
			continue
		}
		n++
		q := &v.Requests[k]
		r.Elements = append(r.Elements, q.ID)
		if len(r.Rows) > 12 {
			continue
		}
		free := slots
		var ids []string
		for i := range all {
			if all[i].Ran && all[i].StartS <= q.ArrivalS && q.ArrivalS < all[i].EndS {
				free -= v.Requests[i].VMs
				ids = append(ids, all[i].ID)
			}
		}
		short := "bandwidth, or kept for others"
		switch {
		case !t.Requests[k].Fits:
			short = "it never fits"
		case free < q.VMs:
			short = "slots"
		case len(ids) == 0:
			short = "nothing: kept for others"
		}
		r.Rows = append(r.Rows, []string{q.ID, fmt.Sprint(q.VMs), fmt.Sprintf("%.6g", q.BandwidthMbps), seconds(q.ArrivalS), fmt.Sprint(free), short, words.Some(ids, 4)})
	}
	if n == 0 {
		return []Reason{{Words: "Nothing: every request is accepted."}}, nil
	}
	r.Words = fmt.Sprintf("%d of %d requests are rejected. At their arrivals, of %d slots:", n, len(all), slots)
	return []Reason{r}, nil
}

// seconds writes a time of a table, large ones in whole seconds.
func seconds(x float64) string {
	if math.Abs(x) >= 1e5 {
		return fmt.Sprintf("%.0f s", x)
	}
	return fmt.Sprintf("%.6g s", x)
}
