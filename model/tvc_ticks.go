package model

// TVCTicks is a TVC in whole numbers: times in microseconds, rates in bits per
// second. Nothing is rounded (see TVC.Validate). With m ≤ N/2 ≤ 5·10^5 VMs and
// B ≤ 10^13 bit/s a load m·B is less than 2^63.
type TVCTicks struct {
	K, Half, Slots                        int
	Servers                               int
	ServerRate, EdgeRate, AggregationRate int64 // rates of the links above servers, edge and aggregation switches
	NonBlocking                           bool  // only the servers' links bind
	PerPath                               bool  // see HosePerPath
	Queue                                 bool
	Goal                                  TVCGoal // never empty; means nothing in queue mode
	Migration                             int64
	Requests                              []TVCTicksRequest // as in the instance
}

// TVCTicksRequest is a request in whole numbers.
type TVCTicksRequest struct {
	Arrival, Duration int64
	VMs               int
	Bandwidth         int64
	Fits              bool    // it fits an empty data centre
	Revenue           float64 // VM Mbit
}

// Ticks returns the instance, which must be valid, in whole numbers.
func (v *TVC) Ticks() *TVCTicks { return viewOf(v, v.makeTicks) }

func (v *TVC) makeTicks() *TVCTicks {
	t := v.ticks()
	t.Requests = make([]TVCTicksRequest, len(v.Requests))
	fits := t.fitting()
	for k := range v.Requests {
		q := &v.Requests[k]
		t.Requests[k] = TVCTicksRequest{Arrival: micro(q.ArrivalS), Duration: micro(q.DurationS), VMs: q.VMs,
			Bandwidth: micro(q.BandwidthMbps), Revenue: q.Revenue()}
		t.Requests[k].Fits = fits(q.VMs, t.Requests[k].Bandwidth)
	}
	return t
}

// ticks returns Ticks without the requests.
func (v *TVC) ticks() *TVCTicks {
	f := &v.FatTree
	server, edge, aggregation := f.Rates()
	return &TVCTicks{K: f.K, Half: f.Half(), Slots: f.Slots, Servers: f.Servers(),
		ServerRate: micro(server), EdgeRate: micro(edge), AggregationRate: micro(aggregation),
		NonBlocking: f.EffectiveFabric() == FabricNonBlocking, PerPath: v.EffectiveHose() == HosePerPath,
		Queue: v.Queue, Goal: v.EffectiveGoal(), Migration: micro(v.MigrationS)}
}

// Seconds returns a time in ticks as seconds.
func (*TVCTicks) Seconds(ticks int64) float64 { return seconds(ticks) }
