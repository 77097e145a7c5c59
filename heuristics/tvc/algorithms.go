// SPDX-License-Identifier: MIT

// Package tvc holds the heuristics for time-aware virtual clusters: embedders,
// which embed one request at a time, and schedulers of a queue. All are functions of one
// signature; Algorithms lists them with variants that have none.
//
// An embedder runs in loss mode alone: every request is embedded at its arrival, for its whole duration, or rejected.
// When ctx ends, the requests from there on are rejected. The error is model.ErrUnsupported in queue mode. It takes
// memory for the data centre and the requests that run at one time, on top of the solution. Schedulers need a queue,
// and embed by AdaBa unless model.TVCParameters names another embedder.
package tvc

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

const source = "Li et al.: Bandwidth-Guaranteed Resource Allocation and Scheduling for Parallel Jobs in Cloud Data Center"

// namedEmbedder is an embedder with its entry in a list of algorithms.
type namedEmbedder struct {
	Name       string
	New        func() embedder // each serves one run at a time
	Paper      string
	Complexity string // of one decision
	Summary    string
}

// perServer is the complexity of sequence, S the servers, except for requests for which the first host has no room.
const perServer = "O(S) per request"

// programSteps is the complexity of program, N the VMs of the request.
const programSteps = "O(k³ N (L + N)) per request"

// embedders lists the embedders, weakest first.
var embedders = []namedEmbedder{
	{"first-fit", newFirstFit, source + ", section 4.1", perServer, "servers by index"},
	{"first-fit-local", newFirstFitLocal, "gapwise", perServer, "servers by index in the smallest subtree"},
	{"best-fit", newBestFit, source + ", section 4.1", perServer, "servers by ascending free slots"},
	{"best-fit-local", newBestFitLocal, source + ", section 5.3.1", perServer, "servers by ascending free slots in the smallest subtree"},
	{"greedy", newGreedy, source + ", section 5.3.1", "O(S + N k) per request and core switch", "VM by VM, each where the largest link utilisation is least"},
	{"greedy-minmax", newGreedyMinMax, "Yu et al.: Towards Bandwidth Guarantee for Virtual Clusters under Demand Uncertainty in Multi-Tenant Clouds", "30 times that of program-reserved", "least largest link utilisation over whole embeddings in the smallest subtree"},
	{"oktopus", newOktopus, "Ballani et al.: Towards Predictable Datacenter Networks, section 4.2", "O(S + k N) per request", "as many VMs as possible in each subtree, in the smallest subtree"},
	{"adaba-printed", newAdaBaPrinted, source + ", Algorithm 1", perServer, "adaba that checks links while it fills servers, as its listing may be read"},
	{adaBa, newAdaBa, source + ", section 4.1", perServer, "adaptive bandwidth-aware: servers whose free slots match the bandwidth, in the smallest subtree"},
	{"program-servers", newProgram(costServers), "gapwise", programSteps, "least servers opened, then bandwidth reserved, over all embeddings"},
	{"program-utilisation", newProgram(costUtilisation), "gapwise", "30 times that of program-reserved", "least largest link utilisation, then bandwidth reserved, over all embeddings"},
	{"program-reserved", newProgram(costReserved), "gapwise", programSteps, "least bandwidth reserved, then servers opened, over all embeddings"},
	{"bid-price", newBidPrice, "gapwise", "12 times that of program-reserved", "program-reserved or adaba; without a queue, requests that take too much for too long are rejected, at prices learnt online"},
}

// findEmbedder returns a new embedder by its name. The error wraps model.ErrUnsupported
// and lists the names.
func findEmbedder(name string) (embedder, error) {
	names := make([]string, len(embedders))
	for k, e := range embedders {
		if e.Name == name {
			return e.New(), nil
		}
		names[k] = e.Name
	}
	return nil, fmt.Errorf("%w embedder %q, must be one of %s", model.ErrUnsupported, name, strings.Join(names, ", "))
}

// Algorithms lists the heuristics for TVC, weakest first, the ones that see the whole instance last.
func Algorithms() []model.Algorithm {
	var all []model.Algorithm
	add := func(name, paper, complexity, summary string) {
		all = append(all, model.Algorithm{Name: name, Kind: model.KindTVC, Class: model.Online, Paper: paper, Complexity: complexity, Summary: summary, Traced: name == adaBa,
			Solver: run.Heuristic(name, func(r *run.Run, in *model.TVC) (s *model.Embeddings, err error) {
				s, r.Details, err = solveDetailed(r.Ctx, in, r.Set, name)
				return s, err
			})})
	}
	for _, e := range embedders {
		add(e.Name, e.Paper, e.Complexity, e.Summary)
	}
	for _, s := range queueSchedulers {
		add(s.name, s.paper, "O(w) embeddings per arrival and departure, w requests waiting", s.summary)
	}
	return append(all, model.Algorithm{Name: "improve", Kind: model.KindTVC, Class: model.Offline,
		Paper:      "Ruiz, Stützle: A simple and effective iterated greedy algorithm for the permutation flowshop scheduling problem, 2007; gapwise",
		Complexity: "O(requests that run at one time) per step; a simulation in queue mode",
		Summary:    "local search from bid-price's or repack's solution: ejects requests and embeds them again; changes the order of a queue",
		Seeded:     true, Solver: run.Heuristic("improve", improve)})
}

// solve runs the algorithm of that name.
func solve(ctx context.Context, in *model.TVC, set model.Settings, name string) (*model.Embeddings, error) {
	s, _, err := solveDetailed(ctx, in, set, name)
	return s, err
}

func solveDetailed(ctx context.Context, in *model.TVC, set model.Settings, name string) (*model.Embeddings, model.Details, error) {
	p, _ := set.Parameters.(*model.TVCParameters)
	if p == nil {
		p = new(model.TVCParameters)
	}
	if k := slices.IndexFunc(queueSchedulers, func(s scheduler) bool { return s.name == name }); k >= 0 {
		e, err := findEmbedder(cmp.Or(p.Embedder, adaBa))
		if err != nil {
			return nil, nil, err
		}
		s, preempted, err := queueSchedulers[k].serve(ctx, in, e)
		if err != nil {
			return nil, nil, err
		}
		return s, &model.TVCDetails{NeverFit: len(in.Requests) - len(s.Runs), Preempted: &preempted}, nil
	}
	e, err := findEmbedder(name)
	if err != nil {
		return nil, nil, err
	}
	t, details := view.Shared(ctx, in, view.OfTVC), new(model.TVCDetails)
	for k := range t.Requests {
		if !t.Requests[k].Fits {
			details.NeverFit++
		}
	}
	var x *tracer
	if name == adaBa {
		x = newTracer(e.(*sequence), set)
	}
	switch p.Embeddable {
	case "", "no":
	case "yes":
		c := &counting{embedder: e}
		e, details.Embeddable = c, &c.embeddable
	default:
		return nil, nil, fmt.Errorf("%w parameter embeddable=%q, must be yes or no", model.ErrUnsupported, p.Embeddable)
	}
	s, err := runLoss(ctx, in, e, x)
	return s, details, err
}
