// SPDX-License-Identifier: MIT

package verify

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// flight is a transfer under the transfer model: of an edge, or of a file to a machine for all edges to tasks there.
type flight struct {
	from, to int32   // machines
	data, at float64 // at: its start, s
}

// file names a file of an edge by the task that writes it.
type file struct{ from, name string }

// hasFiles reports whether some edge has files.
func hasFiles(in *model.DAG) bool {
	return slices.ContainsFunc(in.Edges, func(x model.DAGEdge) bool { return len(x.Files) > 0 })
}

// filesOf returns the names of an edge's files, ascending.
func filesOf(x *model.DAGEdge) []string { return slices.Sorted(maps.Keys(x.Files)) }

// largest returns the data of an edge that decide how long it takes at least: without contention its files are there
// when the largest one is.
func largest(x *model.DAGEdge) float64 {
	if len(x.Files) == 0 {
		return x.Data
	}
	return slices.Max(slices.Collect(maps.Values(x.Files)))
}

// loadsOf returns, by edge, data that must pass the links between its tasks' machines, from its producer's end and the
// start-up to its consumer's start, apart from those of all other edges: its files that no edge before it has.
func loadsOf(in *model.DAG) []*big.Rat {
	loads, known := make([]*big.Rat, len(in.Edges)), map[file]bool{}
	for e := range in.Edges {
		x := &in.Edges[e]
		if len(x.Files) == 0 {
			loads[e] = exact(x.Data)
			continue
		}
		loads[e] = new(big.Rat)
		for _, name := range filesOf(x) {
			if f := (file{x.From, name}); !known[f] {
				known[f] = true
				loads[e].Add(loads[e], exact(x.Files[name]))
			}
		}
	}
	return loads
}

// launch finds the flights of edges with files: each file flies to a machine when the first edge that has it starts.
// Without files each edge is its own flight. If transfers are missing, other files may be there before: then there are
// no flights, and data have arrived when they are sent.
func (j *dagJudge) launch() {
	if !hasFiles(j.in) {
		return
	}
	type target struct {
		file
		machine int32
	}
	j.carries = make([][]int32, len(j.sent))
	known := map[target]int32{}
	for e, at := range j.sent {
		m, n := j.on[j.from[e]], j.on[j.to[e]]
		if j.incomplete || math.IsNaN(at) || m == n || stopped(j.ctx, e) {
			continue
		}
		x := &j.in.Edges[e]
		if len(x.Files) == 0 {
			j.carries[e] = []int32{int32(len(j.flights))}
			j.flights = append(j.flights, flight{m, n, x.Data, at})
		}
		for _, name := range filesOf(x) {
			to := target{file{x.From, name}, n}
			k, ok := known[to]
			if !ok {
				k = int32(len(j.flights))
				known[to], j.flights = k, append(j.flights, flight{m, n, x.Files[name], at})
			}
			j.flights[k].at = min(j.flights[k].at, at)
			j.carries[e] = append(j.carries[e], k)
		}
	}
}

// flying returns the number of flights, some of which, without files, never start.
func (j *dagJudge) flying() int {
	if j.carries == nil {
		return len(j.sent)
	}
	return len(j.flights)
}

// flight returns a flight by number; its start is NaN for an edge that isn't sent.
func (j *dagJudge) flight(k int) flight {
	if j.carries == nil {
		return flight{j.on[j.from[k]], j.on[j.to[k]], j.in.Edges[k].Data, j.sent[k]}
	}
	return j.flights[k]
}
