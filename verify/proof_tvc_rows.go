// SPDX-License-Identifier: MIT

package verify

// constraint returns one of
//
//	rejected             Σ weight (1 - accept) ≤ rejected
//	route R              exactly one route
//	one R LEVEL NODE     exactly one part, or none
//	lane R LEVEL NODE    the route is over the part's lane
//	divide R LEVEL NODE  Σ VMs of the node's children = its VMs
//	whole R              Σ VMs of the root's children = VMs · accept
//	loads R LEVEL NODE   with HosePerPath: Σ loads of the children ≤ the node's, or the VMs if it has all
//	slots NODE Q, total Q      Σ VMs on a server, or Σ VMs · accept on all ≤ slots
//	link LEVEL NODE LANE Q     Σ load · bandwidth ≤ the link's rate
//
// The last three are of all requests that run when Q starts: from their arrival, since
// none may start later, for their duration at least.
func (k *tvcProof) constraint(name []string) (proofRule, error) {
	word, n, err := k.numbers(name)
	if err != nil {
		return nil, err
	}
	switch word {
	case "rejected 0":
		return k.row, nil
	case "slots 2", "link 4", "total 1":
		return k.capacity(word, n)
	}
	r, ok := k.request(n[0])
	if !ok {
		return nil, errUnknownName
	}
	switch word {
	case "route 1":
		var one proofOne
		for _, v := range r.route {
			one = append(one, atLeast(v, 1))
		}
		return one, nil
	case "whole 1":
		return equal(r.at[len(r.at)-1], proofTerm{-int64(r.vms), r.accept}, nil), nil
	}
	level, v := n[1], n[2]
	if len(name) != 4 || level < 0 || level >= len(r.at) || v < 0 || v >= len(r.at[level]) {
		return nil, errUnknownName
	}
	own := r.at[level][v]
	switch word {
	case "one 3":
		var one proofOne
		for _, p := range own {
			one = append(one, atLeast(p.is, 1))
		}
		return one, nil
	case "lane 3":
		var all proofAny
		size := len(r.route) / k.lanes[level]
		for _, p := range own {
			if p.lane >= 0 {
				other := proofNogood{atLeast(p.is, 1)}
				for _, y := range r.route[p.lane*size : (p.lane+1)*size] {
					other = append(other, atMost(y, 0))
				}
				all = append(all, other)
			}
		}
		return all, nil
	}
	if level == 0 {
		return nil, errUnknownName
	}
	children := r.at[level-1][v*k.fan[level] : (v+1)*k.fan[level]]
	switch {
	case word == "divide 3":
		return equal(children, proofTerm{}, own), nil
	case word == "loads 3" && k.perPath:
		row := &proofLinear{groups: [][]proofChoice{group(own, func(p tvcProofPart) int64 {
			if p.vms == r.vms {
				return -int64(r.vms)
			}
			return -int64(p.load)
		})}}
		for _, c := range children {
			row.groups = append(row.groups, group(c, func(p tvcProofPart) int64 { return int64(p.load) }))
		}
		return row, nil
	}
	return nil, errUnknownName
}

// capacity returns the constraint on the use of a server, of a link, or of all servers by the requests that run at
// one's start.
func (k *tvcProof) capacity(word string, n [6]int) (proofRule, error) {
	level, v, lane, at := 0, n[0], 0, n[1]
	row, most, times := &proofLinear{}, int64(k.slots), int64(1)
	of := func(_ *tvcProofRequest, p tvcProofPart) int64 { return int64(p.vms) }
	switch word {
	case "total 1":
		v, at = 0, n[0]
		times = int64(k.nodes[0])
	case "link 4":
		if level, v, lane, at = n[0], n[1], n[2], n[3]; level < 0 || level >= len(k.lanes) || lane < 0 || lane >= k.lanes[level] {
			return nil, errUnknownName
		}
		most = k.rates[level]
		of = func(r *tvcProofRequest, p tvcProofPart) int64 {
			if p.lane != lane {
				return 0
			}
			return int64(p.load) * r.bandwidth // at most the rate, see build
		}
	}
	if v < 0 || v >= k.nodes[level] || at < 0 || at >= len(k.requests) {
		return nil, errUnknownName
	}
	now := k.requests[at].arrival
	for i := range k.requests {
		r := &k.requests[i]
		switch {
		case !r.fits || r.arrival > now || r.end <= now:
		case word == "total 1":
			row.terms = append(row.terms, proofTerm{int64(r.vms), r.accept})
		default:
			row.groups = append(row.groups, group(r.at[level][v], func(p tvcProofPart) int64 { return of(r, p) }))
		}
	}
	row.allow(most, times)
	return row, nil
}

// group returns the parts with values.
func group(parts []tvcProofPart, of func(p tvcProofPart) int64) []proofChoice {
	all := make([]proofChoice, len(parts))
	for i, p := range parts {
		all[i] = proofChoice{atLeast(p.is, 1), of(p)}
	}
	return all
}

// equal states that Σ_nodes VMs + Σ term = the VMs of own; one of the last two may be empty.
func equal(nodes [][]tvcProofPart, term proofTerm, own []tvcProofPart) proofRule {
	var all proofAny
	for _, sign := range []int64{1, -1} {
		row := &proofLinear{}
		for _, parts := range nodes {
			row.groups = append(row.groups, group(parts, func(p tvcProofPart) int64 { return sign * int64(p.vms) }))
		}
		if own != nil {
			row.groups = append(row.groups, group(own, func(p tvcProofPart) int64 { return -sign * int64(p.vms) }))
		}
		if term.times != 0 {
			row.terms = []proofTerm{{sign * term.times, term.v}}
		}
		all = append(all, row)
	}
	return all
}
