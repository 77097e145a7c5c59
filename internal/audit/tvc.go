package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// inMillionths returns the nearest whole number of millionths, at least one.
func inMillionths(x float64) float64 { return max(1, math.Round(x*1e6)) / 1e6 }

// drawTVC draws requests of durations of one style. Slots are scarce or links are.
func drawTVC(s size, rng *rand.Rand) *model.TVC {
	n := s.count(rng, [6]int{1, 8, 12, 16, 17, 40})
	duration := pick(rng)
	k := []int{2, 2, 4, 4, 6}[rng.IntN(3+int(s))]
	v := &model.TVC{FatTree: model.FatTree{K: k, Slots: 1 + rng.IntN(4)}}
	f := &v.FatTree
	f.LinkMbps = []float64{1, 10, 100, 1000, inMillionths(pick(rng).draw(rng))}[rng.IntN(5)]
	if rng.IntN(3) == 0 {
		layer := func() float64 { return []float64{0, 0.5, 2, 5}[rng.IntN(4)] * f.LinkMbps }
		f.LayersMbps = &model.LayerRates{ServerMbps: layer(), EdgeMbps: layer(), AggregationMbps: layer()}
	}
	f.Fabric = []model.Fabric{"", model.FabricOnePath, model.FabricNonBlocking}[rng.IntN(3)]
	v.Hose = []model.Hose{"", model.HoseCut, model.HosePerPath}[rng.IntN(3)]
	if v.Queue = rng.IntN(8) == 0; v.Queue {
		v.MigrationS = []float64{0, 0, 1, 0.5}[rng.IntN(4)]
	} else {
		v.Goal = []model.TVCGoal{"", model.GoalRequests, model.GoalRevenue}[rng.IntN(3)]
	}
	v.Name = fmt.Sprintf("%v-%s-k%d-slots%d-%s-%s-%s", s, duration.name, k, f.Slots, v.EffectiveHose(), f.EffectiveFabric(), v.EffectiveGoal())
	if v.Queue {
		v.Name += "-queue"
	}
	// VMs fill a server, an edge switch or a pod.
	slots := f.Servers() * f.Slots
	most := min(slots, []int{f.Slots, 2 * f.Slots, 2*f.Slots + 2, k * f.Slots / 2, k * k * f.Slots / 4}[rng.IntN(5)])
	length := func() float64 { return inMillionths(min(duration.draw(rng), 1e7)) }
	// The load on the slots, from half to three times what they can do.
	mean := 0.0
	for range 20 {
		mean += length() / 20
	}
	horizon := mean * float64(n) * float64(1+most) / 2 / float64(slots) / (0.5 + 2.5*rng.Float64())
	grid := []float64{1, 1, 0.1, mean}[rng.IntN(4)]
	shares := []float64{1, 1, 2, 2, 3, 4, 8}
	for range n {
		q := model.TVCRequest{ArrivalS: math.Round(math.Floor(rng.Float64()*horizon/grid)*grid*1e6) / 1e6, VMs: 1 + rng.IntN(most), DurationS: length()}
		q.BandwidthMbps = inMillionths(f.LinkMbps / shares[rng.IntN(len(shares))])
		switch rng.IntN(20) {
		case 0:
			q.BandwidthMbps = []float64{1e-6, 1e6}[rng.IntN(2)]
		case 1:
			q.BandwidthMbps = inMillionths(q.BandwidthMbps + float64(rng.IntN(3)-1)*1e-6)
		case 2:
			q.BandwidthMbps = inMillionths(rng.Float64() * f.LinkMbps)
		}
		if len(v.Requests) > 0 && rng.IntN(4) == 0 { // equal to another, or in all but one figure
			other := v.Requests[rng.IntN(len(v.Requests))]
			switch rng.IntN(4) {
			case 0:
				other.ArrivalS = q.ArrivalS
			case 1:
				other.DurationS = q.DurationS
			case 2:
				other.VMs = q.VMs
			}
			q = other
		}
		v.Requests = append(v.Requests, q)
	}
	byArrival(v)
	for k := range v.Requests {
		v.Requests[k].ID = fmt.Sprintf("r%d", k+1)
	}
	return v
}

// byArrival sorts the requests by arrival.
func byArrival(v *model.TVC) {
	slices.SortStableFunc(v.Requests, func(a, b model.TVCRequest) int { return cmp.Compare(a.ArrivalS, b.ArrivalS) })
}

// copyTVC returns a copy that shares no memory with v.
func copyTVC(v *model.TVC) *model.TVC {
	c := *v
	c.Requests = slices.Clone(v.Requests)
	if l := v.FatTree.LayersMbps; l != nil {
		rates := *l
		c.FatTree.LayersMbps = &rates
	}
	return &c
}

// lastEnd returns the time by which all requests have ended that start at their
// arrival, rounded up to a whole second.
func lastEnd(v *model.TVC) float64 {
	last := 0.0
	for k := range v.Requests {
		last = max(last, v.Requests[k].ArrivalS+v.Requests[k].DurationS)
	}
	return math.Ceil(last)
}

// tvcRelations lists relations between instances in loss mode, the only ones with
// an exact engine.
func tvcRelations() []relation {
	add := func(name string, change func(c *model.TVC, rng *rand.Rand) bool, implies func(in, other model.Instance, c claim) claim) relation {
		return typed(name, func(v *model.TVC, rng *rand.Rand) (*model.TVC, bool) {
			c := copyTVC(v)
			return c, !v.Queue && change(c, rng) && c.Validate() == nil
		}, implies)
	}
	// weighed multiplies the optimum by a factor if the goal is revenue.
	weighed := func(factor func(in, other *model.TVC) float64) func(in, other model.Instance, c claim) claim {
		return func(in, other model.Instance, c claim) claim {
			if v := in.(*model.TVC); v.EffectiveGoal() == model.GoalRevenue {
				return times(factor(v, other.(*model.TVC)))(in, other, c)
			}
			return c
		}
	}
	return []relation{
		// The optimum doesn't depend on the order in which requests arrive at one
		// instant.
		add("renamed", func(c *model.TVC, rng *rand.Rand) bool {
			for k := range c.Requests {
				c.Requests[k].ID = fmt.Sprintf("x%d", k)
			}
			rng.Shuffle(len(c.Requests), func(a, b int) { c.Requests[a], c.Requests[b] = c.Requests[b], c.Requests[a] })
			byArrival(c)
			return true
		}, same),
		add("times multiplied by a power of two", func(c *model.TVC, rng *rand.Rand) bool {
			f := powers[rng.IntN(len(powers))]
			for k := range c.Requests {
				c.Requests[k].ArrivalS *= f
				c.Requests[k].DurationS *= f
			}
			return len(c.Requests) > 0
		}, weighed(func(in, other *model.TVC) float64 { return other.Requests[0].DurationS / in.Requests[0].DurationS })),
		add("all rates and bandwidths multiplied by a power of two", func(c *model.TVC, rng *rand.Rand) bool {
			f := powers[rng.IntN(len(powers))]
			c.FatTree.LinkMbps *= f
			if l := c.FatTree.LayersMbps; l != nil {
				l.ServerMbps, l.EdgeMbps, l.AggregationMbps = f*l.ServerMbps, f*l.EdgeMbps, f*l.AggregationMbps
			}
			for k := range c.Requests {
				c.Requests[k].BandwidthMbps *= f
			}
			return true
		}, weighed(func(in, other *model.TVC) float64 { return other.FatTree.LinkMbps / in.FatTree.LinkMbps })),
		// What runs together runs together when time runs backwards.
		add("time reversed", func(c *model.TVC, _ *rand.Rand) bool {
			last := lastEnd(c)
			for k := range c.Requests {
				q := &c.Requests[k]
				q.ArrivalS = math.Round((last-q.ArrivalS-q.DurationS)*1e6) / 1e6
			}
			slices.Reverse(c.Requests)
			byArrival(c)
			return true
		}, same),
		// The second half begins when the first is over.
		add("joined with itself in time", func(c *model.TVC, _ *rand.Rand) bool {
			last := lastEnd(c)
			for _, q := range slices.Clone(c.Requests) {
				q.ID = "again-" + q.ID
				q.ArrivalS = math.Round((q.ArrivalS+last)*1e6) / 1e6
				c.Requests = append(c.Requests, q)
			}
			return len(c.Requests) <= 50
		}, times(2)),
		// It comes when all others are over.
		add("a request that fits alone", func(c *model.TVC, rng *rand.Rand) bool {
			c.Requests = append(c.Requests, model.TVCRequest{ID: "alone", ArrivalS: lastEnd(c), VMs: 1 + rng.IntN(c.FatTree.Slots), BandwidthMbps: 1, DurationS: 1})
			return true
		}, func(in, other model.Instance, c claim) claim {
			v := other.(*model.TVC)
			if q := &v.Requests[len(v.Requests)-1]; v.EffectiveGoal() == model.GoalRevenue {
				return plus(float64(q.VMs))(in, other, c)
			}
			return plus(1)(in, other, c)
		}),
		// One of the two can be rejected.
		add("a request more", func(c *model.TVC, rng *rand.Rand) bool {
			if len(c.Requests) == 0 {
				return false
			}
			q := c.Requests[rng.IntN(len(c.Requests))]
			q.ID, q.VMs = "more", 1+rng.IntN(q.VMs)
			c.Requests = append(c.Requests, q)
			byArrival(c)
			return true
		}, noWorse),
		// Each half can be where the whole was.
		add("the first request cut in two", func(c *model.TVC, _ *rand.Rand) bool {
			if len(c.Requests) == 0 {
				return false
			}
			q := c.Requests[0]
			half := math.Floor(q.DurationS*5e5) / 1e6
			c.Requests[0].DurationS = half
			q.ID, q.ArrivalS, q.DurationS = "rest", math.Round((q.ArrivalS+half)*1e6)/1e6, math.Round((q.DurationS-half)*1e6)/1e6
			c.Requests = append(c.Requests, q)
			byArrival(c)
			return true
		}, noWorse),
		add("a slot more", func(c *model.TVC, _ *rand.Rand) bool { c.FatTree.Slots++; return true }, noWorse),
		// A pod of the larger fat-tree has a smaller one's pod in it.
		add("two pods more", func(c *model.TVC, _ *rand.Rand) bool { c.FatTree.K += 2; return c.FatTree.K <= 6 }, noWorse),
		add("faster links", func(c *model.TVC, rng *rand.Rand) bool {
			f := &c.FatTree
			server, edge, aggregation := f.Rates()
			f.LayersMbps = &model.LayerRates{ServerMbps: server, EdgeMbps: edge, AggregationMbps: aggregation}
			for _, rate := range []*float64{&f.LayersMbps.ServerMbps, &f.LayersMbps.EdgeMbps, &f.LayersMbps.AggregationMbps} {
				*rate = inMillionths(*rate * (1 + float64(rng.IntN(3))/2))
			}
			return true
		}, noWorse),
		add("links that don't block", func(c *model.TVC, _ *rand.Rand) bool {
			c.FatTree.Fabric = model.FabricNonBlocking
			return true
		}, noWorse),
		// No link is loaded more by the cut than by paths.
		add("the cut instead of paths", func(c *model.TVC, _ *rand.Rand) bool {
			paths := c.Hose == model.HosePerPath
			c.Hose = model.HoseCut
			return paths
		}, noWorse),
	}
}

func smallerTVC(v *model.TVC, yield func(*model.TVC) bool) {
	for from, to := range parts(len(v.Requests)) {
		c := copyTVC(v)
		c.Requests = slices.Delete(c.Requests, from, to)
		if !yield(c) {
			return
		}
	}
	changes := []func(*model.TVC){
		func(c *model.TVC) { c.FatTree.K -= 2 },
		func(c *model.TVC) { c.FatTree.Slots-- },
		func(c *model.TVC) { c.FatTree.LayersMbps = nil },
		func(c *model.TVC) { c.FatTree.Fabric = "" },
		func(c *model.TVC) { c.FatTree.Fabric = model.FabricNonBlocking },
		func(c *model.TVC) { c.Hose, c.Goal = "", "" },
		func(c *model.TVC) { c.Hose = "" },
		func(c *model.TVC) { c.Goal = "" },
		func(c *model.TVC) { c.MigrationS = 0 },
		func(c *model.TVC) { // earlier by what all have before them
			for k := len(c.Requests) - 1; k >= 0; k-- {
				c.Requests[k].ArrivalS = math.Round((c.Requests[k].ArrivalS-c.Requests[0].ArrivalS)*1e6) / 1e6
			}
		},
	}
	for k := range v.Requests {
		changes = append(changes,
			func(c *model.TVC) { c.Requests[k].VMs = 1 },
			func(c *model.TVC) { c.Requests[k].VMs-- },
			func(c *model.TVC) { // with the one before it
				if k > 0 {
					c.Requests[k].ArrivalS = c.Requests[k-1].ArrivalS
				}
			})
	}
	for _, change := range changes {
		c := copyTVC(v)
		change(c)
		if !equal(c, v) && !yield(c) {
			return
		}
	}
	rounder(v, copyTVC, func(v *model.TVC) (all []*float64) {
		all = append(all, &v.FatTree.LinkMbps)
		if l := v.FatTree.LayersMbps; l != nil {
			all = append(all, &l.ServerMbps, &l.EdgeMbps, &l.AggregationMbps)
		}
		for k := range v.Requests {
			q := &v.Requests[k]
			all = append(all, &q.ArrivalS, &q.DurationS, &q.BandwidthMbps)
		}
		return all
	}, yield)
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
