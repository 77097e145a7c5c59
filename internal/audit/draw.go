package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// drawVCSched draws shares of a host by one style for CPU and one for memory.
func drawVCSched(s size, rng *rand.Rand) *model.VCSched {
	n := s.count(rng, [6]int{2, 8, 12, 16, 17, 60})
	hosts := 1 + rng.IntN(4)
	if s == large {
		hosts = max(2, n/(2+rng.IntN(3)))
	}
	shares := []func() float64{
		func() float64 { return float64(1+rng.IntN(10)) / 10 },
		func() float64 { return math.Round(1e3*(0.02+0.6*rng.Float64())) / 1e3 },
		func() float64 { return float64(float32(1) / float32(1+rng.IntN(5))) },
		func() float64 { return 1 / float64(1+rng.IntN(6)) },
		func() float64 { return 0.01 + 0.5*rng.Float64() },
		func() float64 { return []float64{0.5, 0.25, 0.3}[rng.IntN(3)] },
		func() float64 { return 0.5 + float64(rng.IntN(3)-1)*1e-6 },
		func() float64 { return min(1, math.Pow(10, -6*rng.Float64())) },
		func() float64 { return 0.3 },
		// Sums just above a host's memory, within and without the tolerance.
		func() float64 { return 1/float64(1+rng.IntN(5)) + float64(rng.IntN(4))*2e-10 },
	}
	cpu, memory := rng.IntN(len(shares)), rng.IntN(len(shares))
	v := &model.VCSched{Name: fmt.Sprintf("%v-cpu%d-memory%d", s, cpu, memory), Hosts: hosts}
	parallel, running := rng.IntN(4) == 0, rng.IntN(4) == 0
	total := 0.0
	for i := 0; i < n; {
		j := model.VCSchedJob{ID: fmt.Sprintf("j%d", len(v.Jobs)+1), Tasks: 1, CPU: shares[cpu](), Memory: shares[memory]()}
		if parallel {
			j.Tasks = min(n-i, 1+rng.IntN(3))
		}
		if rng.IntN(12) == 0 {
			j.Memory = 0
		}
		i += j.Tasks
		total += float64(j.Tasks) * j.Memory
		v.Jobs = append(v.Jobs, j)
	}
	// An instance whose memory needs are far too large tests little: mostly
	// they are scaled to what just fits.
	if room := float64(hosts) * (0.6 + 0.5*rng.Float64()); total > room && rng.IntN(3) > 0 {
		for i := range v.Jobs {
			v.Jobs[i].Memory = math.Round(v.Jobs[i].Memory*room/total*1e4) / 1e4
		}
	}
	if rng.IntN(4) == 0 {
		v.Name += "-vectors"
		drawVectors(v, shares, rng)
	}
	if running {
		v.Name += "-budget"
		budget := float64(rng.IntN(11)) / 10
		moves := 0.0
		for i := range v.Jobs {
			if j := &v.Jobs[i]; rng.IntN(3) > 0 {
				for range j.Tasks {
					j.CurrentHosts = append(j.CurrentHosts, rng.IntN(hosts))
				}
				if rng.IntN(3) == 0 {
					moves += j.Memory
				}
			}
		}
		if rng.IntN(3) == 0 {
			budget = max(0, moves-float64(rng.IntN(2))*1e-10) // just enough for some, or a little less
		}
		v.MigrationBudget = &budget
	}
	return v
}

// drawVectors adds further resources, of needs of some styles, and sizes of hosts, of
// which the first is large enough for everything.
func drawVectors(v *model.VCSched, shares []func() float64, rng *rand.Rand) {
	for r := range rng.IntN(4) {
		v.Resources = append(v.Resources, fmt.Sprint("r", r))
		style := rng.IntN(len(shares))
		for i := range v.Jobs {
			need := shares[style]()
			if rng.IntN(3) == 0 || need > 0.5 && v.Tasks() > 2*v.Hosts {
				need = 0
			}
			v.Jobs[i].Resources = append(v.Jobs[i].Resources, need)
		}
	}
	if rng.IntN(6) == 0 {
		for i := range v.Jobs {
			v.Jobs[i].CPU = 0
		}
	}
	if rng.IntN(2) == 0 {
		return
	}
	amount := func() float64 { return []float64{0.5, 1, 1, 1.5, 2, 0.7, 1.0 / 3}[rng.IntN(7)] }
	for left := v.Hosts; left > 0; {
		s := model.HostSize{Count: 1 + rng.IntN(left), CPU: amount(), Memory: amount()}
		for range v.Resources {
			s.Resources = append(s.Resources, amount())
		}
		if left == v.Hosts {
			s.CPU, s.Memory = 1, 1
			for r := range s.Resources {
				s.Resources[r] = 1
			}
		}
		left -= s.Count
		v.HostSizes = append(v.HostSizes, s)
	}
}

// drawDAG draws a graph of one shape with costs and data of one style each.
func drawDAG(s size, rng *rand.Rand) *model.DAG {
	n := s.count(rng, [6]int{2, 8, 12, 15, 17, 26})
	m := 1 + rng.IntN(4)
	if s == large {
		m = 2 + rng.IntN(3)
	}
	cost, data := pick(rng), pick(rng)
	shape := rng.IntN(6)
	d := &model.DAG{Name: fmt.Sprintf("%v-%s-%s-shape%d", s, cost.name, data.name, shape), Edges: []model.DAGEdge{}}
	platform := rng.IntN(5)                    // unrelated twice, related, twins, one machine for each task
	far := []float64{1, 1, 5, 30}[rng.IntN(4)] // how much dearer data are
	factor := make([]float64, m)
	for k := range m {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprintf("P%d", k+1)})
		factor[k] = float64(int(1) << rng.IntN(3))
		if platform == 3 && k > 0 && rng.IntN(4) > 0 {
			factor[k] = factor[k-1]
		}
		if rng.IntN(6) == 0 {
			d.Machines[k].StartupS = data.draw(rng)
		}
	}
	for t := range n {
		x := model.DAGTask{ID: fmt.Sprintf("t%d", t)}
		base, own := cost.draw(rng), rng.IntN(m)
		for k := range m {
			switch {
			case platform < 2:
				x.CostS = append(x.CostS, cost.draw(rng))
			case platform == 4 && k != own:
				x.CostS = append(x.CostS, 20*base+10)
			case platform == 4:
				x.CostS = append(x.CostS, base)
			default:
				x.CostS = append(x.CostS, base*factor[k])
			}
		}
		if rng.IntN(12) == 0 {
			clear(x.CostS)
		}
		d.Tasks = append(d.Tasks, x)
	}
	edge := func(a, b int) {
		y := far * data.draw(rng)
		if rng.IntN(8) == 0 {
			y = 0
		}
		d.Edges = append(d.Edges, model.DAGEdge{From: d.Tasks[a].ID, To: d.Tasks[b].ID, Data: y})
	}
	switch density := 0.1 + 0.4*rng.Float64(); shape {
	case 0, 1: // any
		for b := range n {
			for a := range b {
				if rng.Float64() < density {
					edge(a, b)
				}
			}
		}
	case 2: // out-tree
		for b := 1; b < n; b++ {
			edge(rng.IntN(b), b)
		}
	case 3: // in-tree
		for a := range n - 1 {
			edge(a, a+1+rng.IntN(n-1-a))
		}
	case 4: // levels
		width := 2 + rng.IntN(4)
		for b := width; b < n; b++ {
			first := (b/width - 1) * width
			for a := first; a < first+width; a++ {
				if rng.Float64() < 2*density {
					edge(a, b)
				}
			}
		}
	case 5: // fork, join, and what stands alone
		for t := 1; t < n-1; t++ {
			if rng.IntN(5) > 0 {
				edge(0, t)
			}
			if rng.IntN(5) > 0 {
				edge(t, n-1)
			}
		}
	}
	d.Network.Bandwidth = []float64{1, 1, 2, 0.5, 0.3, 10}[rng.IntN(6)]
	if rng.IntN(8) == 0 && m > 1 {
		s := make([][]float64, m)
		for a := range s {
			for range m {
				s[a] = append(s[a], 0.25*float64(1+rng.IntN(8)))
			}
		}
		d.Network.PathCapacity = s
	}
	if rng.IntN(6) == 0 {
		d.TransferModel = model.TransferModels[1+rng.IntN(3)]
		d.Name += "-" + string(d.TransferModel)
		if rng.IntN(3) == 0 { // nothing is shared
			return d
		}
		d.Network.Links = []model.Link{{ID: "b1"}, {ID: "b2", Capacity: 1 + float64(rng.IntN(3))}}
		for a := range m {
			for b := range a {
				if l := rng.IntN(3); l < 2 {
					d.Network.Routes = append(d.Network.Routes, model.Route{From: d.Machines[a].ID, To: d.Machines[b].ID, Links: []string{d.Network.Links[l].ID}})
				}
			}
		}
	}
	return d
}

// drawReservation draws windows of durations of one style.
func drawReservation(s size, rng *rand.Rand) *model.Reservation {
	n := s.count(rng, [6]int{1, 8, 12, 16, 17, 50})
	duration := pick(rng)
	r := &model.Reservation{PEs: 1 + rng.IntN(8), Goal: model.Goals[rng.IntN(5)%4]}
	if s == large {
		r.PEs = 1 + rng.IntN(64)
	}
	r.Name = fmt.Sprintf("%v-%s-%s-%dPEs", s, duration.name, r.Goal, r.PEs)
	// The load on the PEs, from half to three times what they can do.
	mean := 0.0
	for range 20 {
		mean += duration.draw(rng) / 20
	}
	horizon := mean * float64(n) / (0.5 + 2.5*rng.Float64()) * 0.6
	slack := []float64{0, 0.5, 2, 6}[rng.IntN(4)]
	grid := math.Pow(10, math.Floor(math.Log10(mean)))
	if rng.IntN(3) > 0 {
		grid = 1
	}
	offset := 0.0
	if rng.IntN(12) == 0 {
		offset = 1e12
		r.Name += "-late"
	}
	unit := rng.IntN(5) == 0 // requests of one PE
	for range n {
		d := max(duration.draw(rng), 1e-3)
		q := model.Request{DurationS: d, PEs: 1 + rng.IntN(r.PEs)}
		if unit {
			q.PEs = 1
		}
		q.ReadyS = offset + math.Floor(rng.Float64()*horizon/grid)*grid
		q.DeadlineS = q.ReadyS + d
		if x := math.Floor(rng.Float64() * slack * d); rng.IntN(4) > 0 {
			q.DeadlineS += x
		}
		if rng.IntN(4) > 0 { // as a person would write the sum
			q.DeadlineS = math.Round(q.DeadlineS*1e6) / 1e6
		}
		if rng.IntN(60) == 0 {
			q.DeadlineS = 1e12 // far beyond all others
		}
		if rng.IntN(60) == 0 {
			q.DurationS = 1e-3 // far below
		}
		if rng.IntN(10) == 0 {
			q.ArrivalS = math.Floor(q.ReadyS / 2)
		}
		switch rng.IntN(20) {
		case 0:
			early := d / 2
			q.RuntimeS = &early
		case 1:
			cancel := math.Floor((q.ReadyS + q.DeadlineS) / 2)
			q.CancelS = &cancel
		}
		if len(r.Requests) > 0 && rng.IntN(6) == 0 { // equal to another
			q = r.Requests[rng.IntN(len(r.Requests))]
		}
		r.Requests = append(r.Requests, q)
	}
	slices.SortStableFunc(r.Requests, func(a, b model.Request) int {
		switch {
		case a.ArrivalS < b.ArrivalS:
			return -1
		case a.ArrivalS > b.ArrivalS:
			return 1
		}
		return 0
	})
	for k := range r.Requests {
		r.Requests[k].ID = fmt.Sprintf("r%d", k+1)
		if c := r.Requests[k].CancelS; c != nil {
			*c = max(*c, r.Requests[k].ArrivalS)
		}
	}
	return r
}
