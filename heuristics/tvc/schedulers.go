package tvc

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// scheduler says in which order a queue is served.
type scheduler struct {
	name, paper, summary string
	// order is the key by which the queue is ordered, the least first, ties by
	// arrival. The top request waits until it can be embedded.
	order func(q *queue, k int) int64
	// backfill is the key by which the others are tried while the top request
	// waits; nil: they wait, too.
	backfill func(q *queue, k int) int64
	// suspend starts the top request, which can't be embedded beside those running,
	// in place of some of them, and reports whether it has; nil: none is suspended.
	suspend func(q *queue, k int) bool
}

func byArrival(*queue, int) int64       { return 0 }
func byDuration(q *queue, k int) int64  { return q.Requests[k].Duration }
func byBandwidth(q *queue, k int) int64 { return q.Requests[k].Bandwidth }

// byWork orders by the work that isn't done: a suspended request keeps its
// progress. For one that hasn't run it is the duration.
func byWork(q *queue, k int) int64 { return q.requests[k].left }

// queueSchedulers lists the schedulers of queue mode, weakest first.
//
// The paper's rivals of BgMBF are FCFS with another order of the queue: the first
// request of the order blocks the others. The paper finds that SBF can't improve
// on FCFS, and that SDF is behind BgMBF on KTH-SP2. Both hold with blocking and
// neither without: mean responses of the first 1,000 jobs of KTH-SP2 at load 1
// (non-blocking fabric, adaba) are 37,341 s for FCFS, 55,023 and 10,999 s for SBF
// and SDF, 10,929 and 7,094 s for SBF and SDF without blocking, 9,189 s for BgMBF.
var queueSchedulers = []scheduler{
	{"sbf", source + ", section 5.3.2", "smallest bandwidth first; the first one blocks the others", byBandwidth, nil, nil},
	{"fcfs", source + ", section 2.2", "first come first served; the first one blocks the others", byArrival, nil, nil},
	{"sdf", source + ", section 5.3.2", "shortest duration first; the first one blocks the others", byDuration, nil, nil},
	{"bgmbf", source + ", section 4.2", "backfilling in the order of arrival; backfilled requests are suspended for the first one", byArrival, byArrival, (*queue).suspendLater},
	{"bgmbf-sdf", source + ", section 4.2", "bgmbf that backfills the shortest request first", byArrival, byWork, (*queue).suspendLater},
	{"srpt", "gapwise", "least remaining work times VMs first; requests with more than twice as much are suspended for the first one", byArea, byArea, (*queue).suspendLarger},
}

// schedulers lists the algorithms for queue mode, weakest first.
func schedulers() []model.Algorithm {
	var all []model.Algorithm
	for _, s := range queueSchedulers {
		all = append(all, model.Algorithm{Name: s.name, Kind: model.KindTVC, Class: model.Online, Paper: s.paper, Complexity: "O(w) embeddings per arrival and departure, w requests waiting", Summary: s.summary,
			Solver: model.AdaptDetailed(s.name, func(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, model.Details, error) {
				name := ""
				if p, ok := set.Parameters.(*model.TVCParameters); ok {
					name = p.Embedder
				}
				e, err := FindEmbedder(name)
				if err != nil {
					return nil, nil, err
				}
				solution, preempted, err := s.serve(ctx, in, e)
				if err != nil {
					return nil, nil, err
				}
				return solution, &model.TVCDetails{NeverFit: len(in.Requests) - len(solution.Runs), Preempted: &preempted}, nil
			})})
	}
	return all
}
