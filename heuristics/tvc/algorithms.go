package tvc

import (
	"context"
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/model"
)

const source = "Li et al.: Bandwidth-Guaranteed Resource Allocation and Scheduling for Parallel Jobs in Cloud Data Center"

// NamedEmbedder is an embedder with what a list of algorithms tells of it.
type NamedEmbedder struct {
	Name       string
	New        func() Embedder // each serves one run at a time
	Paper      string
	Complexity string // of one decision
	Summary    string
}

// perServer is the complexity of sequence, S the servers, but for requests for which
// the first host has no room.
const perServer = "O(S) per request"

// programSteps is the complexity of Program, N the VMs of the request.
const programSteps = "O(k³ N (L + N)) per request"

// Embedders lists the embedders, weakest first.
var Embedders = []NamedEmbedder{
	{"first-fit", NewFirstFit, source + ", section 4.1", perServer, "servers by index"},
	{"first-fit-local", NewFirstFitLocal, "gapwise", perServer, "servers by index in the smallest subtree"},
	{"best-fit", NewBestFit, source + ", section 4.1", perServer, "servers by ascending free slots"},
	{"best-fit-local", NewBestFitLocal, source + ", section 5.3.1", perServer, "servers by ascending free slots in the smallest subtree"},
	{"greedy", NewGreedy, source + ", section 5.3.1", "O(S + N k) per request and core switch", "VM by VM, each where the largest link utilisation is least"},
	{"greedy-minmax", NewGreedyMinMax, "Yu et al.: Towards Bandwidth Guarantee for Virtual Clusters under Demand Uncertainty in Multi-Tenant Clouds", "30 times that of program-reserved", "least largest link utilisation over whole embeddings in the smallest subtree"},
	{"oktopus", NewOktopus, "Ballani et al.: Towards Predictable Datacenter Networks, section 4.2", "O(S + k N) per request", "as many VMs as possible in each subtree, in the smallest subtree"},
	{"adaba-printed", NewAdaBaPrinted, source + ", Algorithm 1", perServer, "adaba that checks links while it fills servers, as its listing may be read"},
	{"adaba", NewAdaBa, source + ", section 4.1", perServer, "adaptive bandwidth-aware: servers whose free slots match the bandwidth, in the smallest subtree"},
	{"program-servers", newProgram(CostServers), "gapwise", programSteps, "least servers opened, then bandwidth reserved, over all embeddings"},
	{"program-utilisation", newProgram(CostUtilisation), "gapwise", "30 times that of program-reserved", "least largest link utilisation, then bandwidth reserved, over all embeddings"},
	{"program-reserved", newProgram(CostReserved), "gapwise", programSteps, "least bandwidth reserved, then servers opened, over all embeddings"},
	{"bid-price", NewBidPrice, "gapwise", "12 times that of program-reserved", "program-reserved or adaba; without a queue, requests that take too much for too long are rejected, at prices learnt online"},
}

// FindEmbedder returns a new embedder by its name; "" means adaba. The error wraps
// model.ErrUnsupported and lists the names.
func FindEmbedder(name string) (Embedder, error) {
	if name == "" {
		name = "adaba"
	}
	names := make([]string, len(Embedders))
	for k, e := range Embedders {
		if e.Name == name {
			return e.New(), nil
		}
		names[k] = e.Name
	}
	return nil, fmt.Errorf("%w embedder %q, must be one of %s", model.ErrUnsupported, name, strings.Join(names, ", "))
}

// Algorithms lists the heuristics for TVC, weakest first.
func Algorithms() []model.Algorithm {
	var all []model.Algorithm
	for _, e := range Embedders {
		_, traced := e.New().(*sequence)
		all = append(all, model.Algorithm{Name: e.Name, Kind: model.KindTVC, Class: model.Online, Paper: e.Paper, Complexity: e.Complexity, Summary: e.Summary, Traced: traced,
			Solver: model.AdaptDetailed(e.Name, func(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, model.Details, error) {
				return e.solve(ctx, in, set)
			})})
	}
	return append(all, schedulers()...)
}

// solve runs loss mode with a new embedder.
func (e *NamedEmbedder) solve(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, model.Details, error) {
	count := false
	if p, ok := set.Parameters.(*model.TVCParameters); ok {
		switch p.Embeddable {
		case "", "no":
		case "yes":
			count = true
		default:
			return nil, nil, fmt.Errorf("%w parameter embeddable=%q, must be yes or no", model.ErrUnsupported, p.Embeddable)
		}
	}
	t, details := in.Ticks(), new(model.TVCDetails)
	for k := range t.Requests {
		if !t.Requests[k].Fits {
			details.NeverFit++
		}
	}
	embedder := e.New()
	x := newTracer(in, embedder, set)
	if !count {
		s, err := decide(ctx, in, t, embedder, x)
		return s, details, err
	}
	c := &counting{Embedder: embedder}
	s, err := decide(ctx, in, t, c, x)
	details.Embeddable = &c.embeddable
	return s, details, err
}
