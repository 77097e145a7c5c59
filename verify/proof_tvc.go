// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// tvcProof builds the objects in proofs of embeddings in loss mode. The data centre is a tree: level 0 are the servers;
// with the one-path fabric, level 1 the edge switches and 2 the pods. The root is all. A link up from a node is a lane.
// An edge switch has h, one to each aggregation switch; a pod has h², from aggregation switch a to core switch c of its
// group, number a·h + c. Only the servers' links bind with the non-blocking fabric, and the root is above the servers.
//
// A part is a request's share of a node: its VMs below, and the load of the link that it goes up by, in multiples of
// its bandwidth. A request that has all VMs below a node counts as without load there: its links are loaded no less,
// wherever its virtual switch is. Its route is a lane of a pod, which fixes the edge switches' lanes. A virtual switch
// at an aggregation switch is one of a route over it, and at an edge switch of any.
//
// All parts of a node are numbers of VMs that are sums of parts of its children, with a
// load that the link can carry by itself. So each part of each embedding is one of them. A request is never accepted if
// its parts below the root never sum to its VMs.
//
// Variables: "accept R", "route R LANE", "none R LEVEL NODE", "part R LEVEL NODE VMS LOAD
// LANE" (lane -1 with all VMs), "rejected", the weight of the requests that aren't
// accepted though they fit. See constraint.
type tvcProof struct {
	s        *proofState
	slots    int     // of a server
	fan      []int   // children of a node, by level
	lanes    []int   // of a node below the root
	rates    []int64 // of its links
	nodes    []int   // of a level below the root
	perPath  bool
	requests []tvcProofRequest
	called   map[[6]int]int32 // request, level, node, VMs, load, lane
	row      *proofLinear
	rejected int32
	total    int64
	unit     *big.Rat // objective of a weight of 1
	revenue  bool
	work     int // that is left for parts
}

type tvcProofRequest struct {
	arrival, end, bandwidth int64
	vms                     int
	fits                    bool
	accept                  int32
	route                   []int32
	at                      [][][]tvcProofPart // by level and node, that without VMs first
}

type tvcProofPart struct {
	is              int32
	vms, load, lane int
}

// Limits of the checker's objects.
const (
	mostTVCProofVariables = 1 << 18
	mostTVCProofWork      = 1 << 24
)

var errTVCProofSize = fmt.Errorf("the data centre or the requests have more parts than the checker takes: %d variables or %d sums", mostTVCProofVariables, mostTVCProofWork)

func newTVCProof(in model.Instance, s *proofState, unit string, upper int64) (proofKind, error) {
	v, ok := in.(*model.TVC)
	if !ok || v.Queue || unit != "1" {
		return nil, errors.New("there is no checker for queue mode or another unit than 1")
	}
	h := v.FatTree.K / 2
	k := &tvcProof{s: s, slots: v.FatTree.Slots, perPath: v.Hose == model.HosePerPath, revenue: v.Goal == model.GoalRevenue, called: map[[6]int]int32{}, work: mostTVCProofWork,
		fan: []int{0, h, h, 2 * h}, lanes: []int{1, h, h * h}, nodes: []int{2 * h * h * h, 2 * h * h, 2 * h}, row: &proofLinear{}}
	if v.FatTree.Fabric == model.FabricNonBlocking {
		k.fan, k.lanes, k.nodes = []int{0, k.nodes[0]}, k.lanes[:1], k.nodes[:1]
	}
	for _, rate := range layerRates(&v.FatTree) {
		bits, _ := micros(rate)
		k.rates = append(k.rates, bits)
	}
	if len(v.Requests)*k.nodes[0] > mostTVCProofVariables {
		return nil, errTVCProofSize
	}
	weights, common := make([]*big.Int, len(v.Requests)), new(big.Int)
	k.requests = make([]tvcProofRequest, len(v.Requests))
	for i := range v.Requests {
		q, r := &v.Requests[i], &k.requests[i]
		r.arrival, _ = micros(q.ArrivalS)
		length, _ := micros(q.DurationS)
		r.bandwidth, _ = micros(q.BandwidthMbps)
		r.end, r.vms = r.arrival+length, q.VMs
		if err := k.build(i); err != nil {
			return nil, err
		}
		if weights[i] = big.NewInt(1); k.revenue {
			weights[i].Mul(big.NewInt(int64(q.VMs)), big.NewInt(r.bandwidth)).Mul(weights[i], big.NewInt(length))
		}
		if r.fits {
			common.GCD(nil, nil, common, weights[i])
		}
	}
	for i := range k.requests {
		if r := &k.requests[i]; r.fits {
			w := weights[i].Quo(weights[i], common)
			if !w.IsInt64() || w.Int64() >= maxProofNumber-k.total {
				return nil, errProofWeights
			}
			k.total += w.Int64()
			k.row.terms = append(k.row.terms, proofTerm{-w.Int64(), r.accept})
		}
	}
	if k.unit = new(big.Rat).SetInt(common); k.revenue {
		k.unit.Quo(k.unit, big.NewRat(1e12, 1)) // of bit/s and µs
	}
	k.rejected = s.add(0, min(upper, k.total), always)
	k.row.terms = append(k.row.terms, proofTerm{-1, k.rejected})
	k.row.allow(-1, k.total)
	return k, nil
}

// build adds the variables of a request, if it fits.
func (k *tvcProof) build(i int) error {
	s, r := k.s, &k.requests[i]
	parts := make([][]tvcProofPart, len(k.lanes))
	for level := range k.lanes {
		if level == 0 {
			for m := 1; m <= min(r.vms, k.slots) && k.work > 0; m++ {
				k.work--
				parts[0] = append(parts[0], tvcProofPart{vms: m, load: min(m, r.vms-m)})
			}
		} else {
			parts[level] = k.sums(r, parts[level-1], k.fan[level])
		}
		kept := parts[level][:0]
		for _, p := range parts[level] {
			if int64(p.load) <= k.rates[level]/r.bandwidth {
				kept = append(kept, p)
			}
		}
		if parts[level] = kept; k.work <= 0 || len(s.present)+len(kept)*k.nodes[level] > mostTVCProofVariables {
			return errTVCProofSize
		}
	}
	for _, p := range k.sums(r, parts[len(parts)-1], k.fan[len(k.lanes)]) {
		r.fits = r.fits || p.vms == r.vms
	}
	if k.work <= 0 {
		return errTVCProofSize
	}
	if !r.fits {
		return nil
	}
	r.accept = s.add(0, 1, always)
	for range k.lanes[len(k.lanes)-1] {
		r.route = append(r.route, s.add(0, 1, always))
	}
	for level, lanes := range k.lanes {
		nodes := make([][]tvcProofPart, k.nodes[level])
		for v := range nodes {
			add := func(p tvcProofPart) {
				p.is = s.add(0, 1, always)
				nodes[v] = append(nodes[v], p)
				k.called[[6]int{i, level, v, p.vms, p.load, p.lane}] = p.is
			}
			if add(tvcProofPart{lane: -1}); len(s.present)+len(parts[level])*lanes > mostTVCProofVariables {
				return errTVCProofSize
			}
			for _, p := range parts[level] {
				if p.vms == r.vms {
					p.lane = -1
					add(p)
					continue
				}
				for p.lane = range lanes {
					add(p)
				}
			}
		}
		r.at = append(r.at, nodes)
	}
	return nil
}

// sums returns the parts that up to count parts sum to. The load without HosePerPath is the load of the sum of the VMs,
// and none for all VMs.
func (k *tvcProof) sums(r *tvcProofRequest, parts []tvcProofPart, count int) (all []tvcProofPart) {
	seen := map[tvcProofPart]bool{{}: true}
	for fresh := []tvcProofPart{{}}; count > 0 && len(fresh) > 0; count-- {
		var next []tvcProofPart
		for _, a := range fresh {
			for _, p := range parts {
				if k.work--; k.work <= 0 || k.s.spend(1) {
					return nil
				}
				sum := tvcProofPart{vms: a.vms + p.vms, load: a.load + p.load}
				if sum.vms == r.vms {
					sum.load = 0
				} else if !k.perPath {
					sum.load = min(sum.vms, r.vms-sum.vms)
				}
				if sum.vms <= r.vms && !seen[sum] {
					seen[sum] = true
					next = append(next, sum)
				}
			}
		}
		all, fresh = append(all, next...), next
	}
	return all
}

func (k *tvcProof) objective() string { return "rejected" }

func (k *tvcProof) claim(below int64) (string, float64) {
	r := new(big.Rat).SetInt64(k.total - min(max(below, 0), k.total))
	r.Mul(r, k.unit)
	x := -roundDown(r.Neg(r))
	if x == 0 {
		x = 0 // not -0
	}
	if k.revenue {
		return fmt.Sprintf("the accepted requests bring no more than %v VM Mbit", x), x
	}
	return fmt.Sprintf("no more than %v requests can be accepted", x), x
}

// numbers reads the numbers of a name, which count from 0, or from -1.
func (k *tvcProof) numbers(name []string) (word string, all [6]int, err error) {
	if len(name) > 7 {
		return "", all, errUnknownName
	}
	for i, text := range name[1:] {
		n, err := proofNumber([]byte(text))
		if err != nil || n < -1 {
			return "", all, errUnknownName
		}
		all[i] = int(n)
	}
	return fmt.Sprint(name[0], " ", len(name)-1), all, nil
}

// request returns a request that fits.
func (k *tvcProof) request(i int) (*tvcProofRequest, bool) {
	if i < 0 || i >= len(k.requests) || !k.requests[i].fits {
		return nil, false
	}
	return &k.requests[i], true
}

func (k *tvcProof) variable(name []string) (int32, error) {
	word, n, err := k.numbers(name)
	if word == "rejected 0" {
		return k.rejected, nil
	}
	r, ok := k.request(n[0])
	switch {
	case err != nil || !ok:
	case word == "accept 1":
		return r.accept, nil
	case word == "route 2" && n[1] >= 0 && n[1] < len(r.route):
		return r.route[n[1]], nil
	case word == "none 3" || word == "part 6" && n[3] > 0:
		if word == "none 3" {
			n[5] = -1
		}
		if v, ok := k.called[n]; ok {
			return v, nil
		}
	}
	return 0, errUnknownName
}
