// SPDX-License-Identifier: MIT

package plain

import (
	"slices"

	"github.com/gapwise/gapwise/model"
)

// tvcState is the free part of the data centre when a request arrives.
type tvcState struct {
	slots  []int    // by server
	left   []int64  // bit/s by link
	runs   [][]int  // by server, pairs of a request and its VMs there
	loaded [][]bool // by a: whether running requests load links to aggregation switches a, to core switches of group a
	twins  [3][]int // the twin before each server, edge switch, pod; -1: none
}

// state returns the free resources at the arrival of request k; -1: all.
func (s *tvcSearch) state(k int) *tvcState {
	h := s.h
	now := &tvcState{slots: slices.Repeat([]int{s.in.FatTree.Slots}, s.servers), left: slices.Clone(s.rate), runs: make([][]int, s.servers), loaded: make([][]bool, h)}
	for a := range now.loaded {
		now.loaded[a] = make([]bool, 1+h)
	}
	for r := range max(k, 0) {
		p := s.places[r]
		if p == nil || s.requests[r].end <= s.requests[k].arrival {
			continue
		}
		for server, m := range p.vms {
			if now.slots[server] -= m; m > 0 {
				now.runs[server] = append(now.runs[server], r, m)
			}
		}
		for link, load := range p.load {
			now.left[link] -= load
			switch x := link - s.servers; {
			case load == 0 || x < 0:
			case x < s.servers:
				now.loaded[x%h][0] = true
			default:
				now.loaded[x/h%h][1+x%h] = true
			}
		}
	}
	for layer, size := range []int{1, h, h * h} { // servers in each
		for i := range s.servers / size {
			twin := -1
			for j := i - 1; j >= 0 && (layer == 2 || j/h == i/h) && twin < 0; j-- { // below one switch
				if slices.EqualFunc(now.runs[i*size:(i+1)*size], now.runs[j*size:(j+1)*size], slices.Equal) {
					twin = j
				}
			}
			now.twins[layer] = append(now.twins[layer], twin)
		}
	}
	return now
}

// each calls f with embeddings of request k that have room, until f returns false.
//
// Two rules leave out embeddings that are equivalent to others.
//   - The virtual switch is in the lowest layer that is above all VMs. A switch
//     further up loads the same links and others. With non-blocking links above
//     the edge switches any core switch will do.
//   - Among embeddings that are equal up to exchanges of twins, one is tried. Two servers of an edge switch are twins
//     if the same requests run on both with as many VMs on each. Two edge switches of a pod are twins if their servers
//     are twins one by one; so are two pods. The aggregation switches of one number are twins of the ones of another if
//     no running request loads a link to them in any pod; so are two core switches of a group. Running requests load
//     the links of twins alike: for a request on two of them has its virtual switch above both. So exchanging them in
//     all later decisions changes neither the room nor the value. The search tries the exchange that makes the list of
//     VMs by server lexicographically greatest and the switch's numbers least. VMs don't increase from a server to its
//     later twin, nor do the lists of edge switches and of pods, and the first of the unloaded switches is taken.
func (s *tvcSearch) each(k int, now *tvcState, f func(*tvcPlace) bool) {
	q, h, vms, rest := &s.requests[k], s.h, make([]int, s.servers), make([]int, s.servers+1) // slots of the servers to come
	for server := s.servers - 1; server >= 0; server-- {
		rest[server] = rest[server+1] + now.slots[server]
	}
	var put func(server, left int) bool
	put = func(server, left int) bool {
		if s.stop() {
			return false
		}
		if left > rest[server] {
			return true
		}
		for layer, size := range []int{1, h, h * h} {
			if server == 0 || server%size != 0 {
				continue
			}
			if i := server/size - 1; now.twins[layer][i] >= 0 {
				j := now.twins[layer][i]
				if slices.Compare(vms[i*size:(i+1)*size], vms[j*size:(j+1)*size]) > 0 {
					return true
				}
			}
		}
		if server == s.servers {
			return s.switches(q, now, vms, f)
		}
		for m := min(left, now.slots[server]); m >= 0; m-- {
			if vms[server] = m; int64(min(m, q.vms-m)) <= now.left[server]/q.bandwidth && !put(server+1, left-m) {
				return false
			}
		}
		return true
	}
	put(0, q.vms)
}

// switches calls f with every place that has the VMs on the servers.
func (s *tvcSearch) switches(q *tvcRequest, now *tvcState, vms []int, f func(*tvcPlace) bool) bool {
	h := s.h
	first, last := 0, len(vms)-1
	for ; vms[first] == 0; first++ {
	}
	for ; vms[last] == 0; last-- {
	}
	var all []model.Switch
	switch {
	case s.oneTree:
		all = []model.Switch{{Layer: model.LayerCore}}
	case first/h == last/h:
		all = []model.Switch{{Layer: model.LayerEdge, Group: first / h / h, Index: first / h % h}}
	default:
		fresh := false // a twin among aggregation switches is in the list
		for a := range h {
			if !now.loaded[a][0] {
				if fresh {
					continue
				}
				fresh = true
			}
			if pod := first / h / h; pod == last/h/h {
				all = append(all, model.Switch{Layer: model.LayerAggregation, Group: pod, Index: a})
				continue
			}
			fresh := false
			for c := range h {
				if !now.loaded[a][1+c] {
					if fresh {
						continue
					}
					fresh = true
				}
				all = append(all, model.Switch{Layer: model.LayerCore, Group: a, Index: c})
			}
		}
	}
	for _, at := range all {
		p, room := &tvcPlace{slices.Clone(vms), at, s.load(q, vms, at)}, true
		for link, load := range p.load {
			room = room && load <= now.left[link]
		}
		if room && !f(p) {
			return false
		}
	}
	return true
}

// Embeddings returns all embeddings of a request in addition to the given ones, by request number: every switch, also
// one that is higher than need be, with every number of VMs on each server below it.
func Embeddings(in *model.TVC, request int, there map[int]model.Embedding) (all []model.Embedding) {
	f := readTVC(in)
	left, slots, vms := slices.Clone(f.rate), slices.Repeat([]int{in.FatTree.Slots}, f.servers), make([]int, f.servers)
	for k, e := range there {
		clear(vms)
		for _, x := range e.Servers {
			vms[x.Server] = x.VMs
			slots[x.Server] -= x.VMs
		}
		for link, load := range f.load(&f.requests[k], vms, e.Switch) {
			left[link] -= load
		}
	}
	clear(vms)
	q := &f.requests[request]
	var put func(at model.Switch, server, to, rest int)
	put = func(at model.Switch, server, to, rest int) {
		if server < to {
			for vms[server] = 0; vms[server] <= min(rest, slots[server]); vms[server]++ {
				put(at, server+1, to, rest-vms[server])
			}
			vms[server] = 0
			return
		}
		if rest > 0 {
			return
		}
		for link, load := range f.load(q, vms, at) {
			if load > left[link] {
				return
			}
		}
		all = append(all, f.embedding(&tvcPlace{vms: vms, at: at}))
	}
	h := f.h
	for group := range in.FatTree.K {
		for index := range h {
			edge := (group*h + index) * h
			put(model.Switch{Layer: model.LayerEdge, Group: group, Index: index}, edge, edge+h, q.vms)
			put(model.Switch{Layer: model.LayerAggregation, Group: group, Index: index}, group*h*h, (group+1)*h*h, q.vms)
			if group < h {
				put(model.Switch{Layer: model.LayerCore, Group: group, Index: index}, 0, f.servers, q.vms)
			}
		}
	}
	return all
}
