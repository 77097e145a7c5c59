package tvc

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/model"
)

// packer decides whether a set of requests can be embedded together, each in one
// embedding from its arrival to its end.
//
// It works from the root of the tree down. First the VMs of every request are
// split among the pods, then those of every pod among its edge switches, and
// those of every edge switch among its servers. What a node can hold depends on
// its items alone (which request, how many VMs, which load on the links up), not
// on the other nodes: so each collection of items is decided once and noted
// (devMemo), for all nodes of a level, which are alike, and for all sets.
type packer struct {
	tree     *tvcbounds.Tree
	perPath  bool
	requests []request // hardest first, which is the order of items everywhere
	instants int
	off      deviceSet
	memo     []map[string]*held // by level, nil: it doesn't fit
	key      []byte

	ctx     context.Context
	nodes   int64 // items that were split
	limit   int64 // of nodes; beyond it the packer gives up
	stopped bool
	random  *rand.Rand // of the order of parts; nil: the largest first
}

// request is a request of one component.
type request struct {
	index     int // in the instance
	vms       int32
	bandwidth int64
	span      tvcbounds.Span
	parts     [][]tvcbounds.Part // by level
}

// item is what one node has of a request. Its route is the lane that the request
// uses on the links of the node's children, -1 if it is open: then all VMs are
// below the node.
type item struct {
	request int32
	part    tvcbounds.Part
	route   int32
}

// held is how a node holds its items: a lane for each, and a part at each child.
type held struct {
	routes []int32
	parts  [][]tvcbounds.Part // by item and child
}

// newPacker returns a packer for requests of t, in order of arrival, and the
// number that it gives to each of them.
func newPacker(ctx context.Context, t *model.TVCTicks, requests []int, off deviceSet) (p *packer, rank []int32) {
	p = &packer{tree: tvcbounds.NewTree(t), perPath: t.PerPath, off: off, ctx: ctx, limit: math.MaxInt64}
	spans, instants := tvcbounds.Instants(t, requests)
	p.instants = instants
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &t.Requests[requests[a]], &t.Requests[requests[b]]
		return cmp.Or(cmp.Compare(y.VMs, x.VMs), cmp.Compare(y.Bandwidth, x.Bandwidth))
	})
	rank = make([]int32, len(requests))
	for r, i := range order {
		q := &t.Requests[requests[i]]
		rank[i] = int32(r)
		p.requests = append(p.requests, request{index: requests[i], vms: int32(q.VMs), bandwidth: q.Bandwidth, span: spans[i],
			parts: p.tree.Parts(q.VMs, q.Bandwidth, t.PerPath)})
	}
	for range p.tree.Root() {
		p.memo = append(p.memo, map[string]*held{})
	}
	return p, rank
}

// rootItems returns the items of the root: whole requests, by ascending number.
func (p *packer) rootItems(requests []int32) []item {
	items := make([]item, len(requests))
	for i, r := range requests {
		items[i] = item{request: r, part: tvcbounds.Part{VMs: p.requests[r].vms}, route: p.open(p.tree.Root())}
	}
	return items
}

// open returns the route of an item whose VMs are all below a node of the level.
func (p *packer) open(level int) int32 {
	if level > 0 && p.tree.Lanes[level-1] > 1 {
		return -1
	}
	return 0
}

// below returns the item that a child of a node of the level gets: its part, and
// the lane that the route fixes on the links one level further down.
func (p *packer) below(level int, x item, part tvcbounds.Part, route int32) item {
	if part.VMs == p.requests[x.request].vms {
		return item{x.request, part, p.open(level - 1)}
	}
	if level >= 2 {
		return item{x.request, part, route * int32(p.tree.Lanes[level-2]) / int32(p.tree.Lanes[level-1])}
	}
	return item{x.request, part, 0}
}

// hold returns how a node of a level can hold the items, nil if it can't or the
// packer has stopped. Lanes are renamed in the order of their first use before the
// collection is looked up: the children of a node are joined to each of its
// switches alike, so any renaming of the lanes is an automorphism of the node.
func (p *packer) hold(level int, items []item) *held {
	lanes := p.tree.Lanes[level-1]
	var names [64]int32 // by lane, plus 1
	used := int32(0)
	own := make([]item, len(items))
	key := p.key[:0]
	for i, x := range items {
		if x.route >= 0 && lanes > 1 {
			if names[x.route] == 0 {
				used++
				names[x.route] = used
			}
			x.route = names[x.route] - 1
		}
		own[i] = x
		key = binary.AppendUvarint(key, uint64(x.request))
		key = binary.AppendUvarint(key, uint64(x.part.VMs))
		key = binary.AppendUvarint(key, uint64(x.part.Load))
		key = append(key, byte(x.route+1))
	}
	p.key = key
	h, ok := p.memo[level][string(key)]
	if !ok || p.off&devMemo != 0 {
		name := string(key)
		h = p.split(level, own, nil, own)
		if p.stopped {
			return nil
		}
		p.memo[level][name] = h
	}
	if h == nil || lanes == 1 {
		return h
	}
	// The lanes get their own names back; new ones take those that are free.
	var lane [64]int32
	free := int32(0)
	for name := range int32(lanes) {
		if name < used {
			continue
		}
		for names[free] != 0 {
			free++
		}
		lane[name] = free
		free++
	}
	for l, name := range names {
		if name > 0 {
			lane[name-1] = int32(l)
		}
	}
	back := &held{parts: h.parts, routes: make([]int32, len(h.routes))}
	for i, r := range h.routes {
		back.routes[i] = r
		if r >= 0 {
			back.routes[i] = lane[r]
		}
	}
	return back
}

// splitter is one search for a way to divide items among the children of a node.
type splitter struct {
	*packer
	level    int
	items    []item   // to be divided, in this order
	contents [][]item // by child
	slots    [][]int32
	loads    [][][]int64 // by child, lane and instant
	users    []int32     // by lane: items on it
	h        held        // by item in the order of items
	open     []int       // the items that aren't divided yet, ascending
}

// split returns how a node of a level can hold all items, nil if it can't or the
// packer has stopped. Those in before are where a split of theirs put them; items
// are the others. all are both, in order. The result follows all.
func (p *packer) split(level int, all []item, before *held, items []item) *held {
	fan, lanes := p.tree.Fan[level], p.tree.Lanes[level-1]
	s := &splitter{packer: p, level: level, items: items, contents: make([][]item, fan),
		slots: make([][]int32, fan), loads: make([][][]int64, fan), users: make([]int32, lanes)}
	flat := make([]int64, fan*lanes*p.instants)
	small := make([]int32, fan*p.instants)
	for c := range fan {
		s.slots[c], small = small[:p.instants:p.instants], small[p.instants:]
		s.loads[c] = make([][]int64, lanes)
		for l := range lanes {
			s.loads[c][l], flat = flat[:p.instants:p.instants], flat[p.instants:]
		}
	}
	s.h = held{make([]int32, len(items)), make([][]tvcbounds.Part, len(items))}
	for i := range items {
		s.open = append(s.open, i)
	}
	for _, x := range items {
		if x.route >= 0 {
			s.users[x.route]++
		}
	}
	if before != nil {
		k := 0
		for _, x := range all {
			if k >= len(before.routes) {
				break
			}
			if slices.ContainsFunc(items, func(y item) bool { return y.request == x.request }) {
				continue
			}
			for c, part := range before.parts[k] {
				if part.VMs > 0 {
					s.put(c, x, part, before.routes[k], 1)
				}
			}
			if r := before.routes[k]; r >= 0 {
				s.users[r]++
			}
			k++
		}
	}
	if !s.divide() {
		return nil
	}
	if before == nil {
		return &s.h
	}
	whole := &held{}
	i, k := 0, 0
	for _, x := range all {
		if i < len(items) && items[i].request == x.request {
			whole.routes, whole.parts = append(whole.routes, s.h.routes[i]), append(whole.parts, s.h.parts[i])
			i++
		} else {
			whole.routes, whole.parts = append(whole.routes, before.routes[k]), append(whole.parts, before.parts[k])
			k++
		}
	}
	return whole
}

// put adds an item's part to a child (sign 1), or takes it away (-1).
func (s *splitter) put(c int, x item, part tvcbounds.Part, route int32, sign int32) {
	q := &s.requests[x.request]
	slots := s.slots[c]
	for t := q.span.From; t <= q.span.To; t++ {
		slots[t] += sign * part.VMs
	}
	if part.Load > 0 {
		load := int64(sign) * int64(part.Load) * q.bandwidth
		lane := s.loads[c][route]
		for t := q.span.From; t <= q.span.To; t++ {
			lane[t] += load
		}
	}
	at, _ := find(s.contents[c], x.request)
	if sign > 0 {
		s.contents[c] = slices.Insert(s.contents[c], at, s.below(s.level, x, part, route))
	} else {
		s.contents[c] = slices.Delete(s.contents[c], at, at+1)
	}
}

// find returns where a request's item is, or would be, and whether it is there.
func find(items []item, request int32) (int, bool) {
	return slices.BinarySearchFunc(items, request, func(x item, r int32) int { return cmp.Compare(x.request, r) })
}

// room reports whether a child has the slots and its link the rate for a part.
func (s *splitter) room(c int, x item, part tvcbounds.Part, route int32) bool {
	q := &s.requests[x.request]
	most := int32(s.tree.Slots[s.level-1]) - part.VMs
	slots := s.slots[c]
	for t := q.span.From; t <= q.span.To; t++ {
		if slots[t] > most {
			return false
		}
	}
	if part.Load == 0 {
		return true
	}
	left := s.tree.Rate[s.level-1] - int64(part.Load)*q.bandwidth
	lane := s.loads[c][route]
	for t := q.span.From; t <= q.span.To; t++ {
		if lane[t] > left {
			return false
		}
	}
	return true
}

// divide divides the open items, the one with the least room first.
func (s *splitter) divide() bool {
	if len(s.open) == 0 {
		return true
	}
	if s.nodes++; s.nodes > s.limit || s.nodes%256 == 0 && s.ctx.Err() != nil {
		s.stopped = true
	}
	if s.stopped {
		return false
	}
	at := 0
	if s.off&devLook == 0 {
		if at = s.scarcest(); at < 0 {
			return false
		}
	}
	if s.tree.Root() == 1 && s.off&devProgram == 0 {
		most := tailWords
		if len(s.open) == len(s.items) && s.random == nil {
			most = tailWordsFirst
		}
		if fits, decided := s.tail(most); decided {
			return fits
		}
	}
	i := s.open[at]
	s.open = slices.Delete(slices.Clone(s.open), at, at+1)
	done := s.divideOne(i)
	s.open = slices.Insert(slices.Clone(s.open), at, i)
	return done
}

// scarcest returns the position of the open item whose parts have the least room
// beside what the children have now, beyond what it needs; -1 if some item has no
// parts that fit: what the children get later takes room and never gives any.
func (s *splitter) scarcest() int {
	best, least := -1, int32(math.MaxInt32)
	for at, i := range s.open {
		slack := int32(-1)
		if x := s.items[i]; x.route >= 0 {
			slack = s.slack(x, x.route)
		} else {
			for r := range s.users {
				slack = max(slack, s.slack(x, int32(r)))
			}
		}
		if slack < 0 {
			return -1
		}
		if slack < least {
			best, least = at, slack
		}
	}
	return best
}

// slack returns by how much the largest parts that the children have room for, with
// a lane, exceed the item; -1 if no parts with room sum to it.
func (s *splitter) slack(x item, route int32) int32 {
	parts := s.requests[x.request].parts[s.level-1]
	n := x.part.VMs
	reach := uint64(1) // bit m: m VMs can be placed, for n < 64
	sum := int32(0)
	for c := range s.contents {
		most := int32(0)
		next := reach
		for _, part := range parts {
			if part.VMs > n {
				break
			}
			if s.room(c, x, part, route) {
				most = part.VMs
				next |= reach << uint(part.VMs)
			}
		}
		reach = next
		sum += most
	}
	if sum < n || n < 64 && reach>>uint(n)&1 == 0 {
		return -1
	}
	return sum - n
}

// divideOne divides item i, and then the open ones.
func (s *splitter) divideOne(i int) bool {
	x := s.items[i]
	s.h.parts[i] = make([]tvcbounds.Part, len(s.contents))
	d := &division{splitter: s, i: i, x: x, twin: s.twins(x)}
	whole := x.part.VMs == s.requests[x.request].vms
	d.loads = s.perPath && !whole
	if x.route >= 0 {
		d.route = x.route
		return d.assign(0, x.part)
	}
	// All VMs at one child need no lane.
	d.route, d.single = -1, true
	if d.assign(0, x.part) {
		return true
	}
	d.single, d.multiple = false, true
	lanes, size := len(s.users), 1
	if s.level >= 2 {
		size = lanes / s.tree.Lanes[s.level-2]
	}
	// Lanes that nobody uses are alike, within a group of them (the links to the
	// core switches of a group) and so are groups that nobody uses: exchanging them
	// in all nodes is an automorphism of the tree that leaves everything so far
	// where it is. So the first of them stands for all.
	fresh := false
	for g := 0; g < lanes; g += size {
		unused := !slices.ContainsFunc(s.users[g:g+size], func(n int32) bool { return n > 0 })
		if unused && fresh && s.off&devSymmetry == 0 {
			continue
		}
		fresh = fresh || unused
		first := false
		for r := g; r < g+size; r++ {
			if s.users[r] == 0 && first && s.off&devSymmetry == 0 {
				continue
			}
			first = first || s.users[r] == 0
			d.route = int32(r)
			s.users[r]++
			if d.assign(0, x.part) {
				return true
			}
			s.users[r]--
		}
	}
	return false
}

// twins returns, for each child, the last one before it that is in the same
// state, -1 without. Of such children the first gets the largest part:
//
//   - Children with the same items are exchanged by an automorphism of the node
//     that leaves everything so far where it is.
//   - Servers need only have the same slots and rate left at all instants from the
//     first to the last that this item and the open ones use: what one of them gets of these
//     fits the other as well.
func (s *splitter) twins(x item) []int {
	twin := make([]int, len(s.contents))
	rest := s.requests[x.request].span
	for _, i := range s.open {
		y := s.requests[s.items[i].request].span
		rest = tvcbounds.Span{From: min(rest.From, y.From), To: max(rest.To, y.To)}
	}
	for c := range twin {
		twin[c] = -1
		if s.off&devSymmetry != 0 {
			continue
		}
		for b := c - 1; b >= 0; b-- {
			if s.level == 1 {
				if !slices.Equal(s.slots[c][rest.From:rest.To+1], s.slots[b][rest.From:rest.To+1]) ||
					!slices.Equal(s.loads[c][0][rest.From:rest.To+1], s.loads[b][0][rest.From:rest.To+1]) {
					continue
				}
			} else if !slices.Equal(s.contents[c], s.contents[b]) {
				continue
			}
			twin[c] = b
			break
		}
	}
	return twin
}

// shuffle returns 0 to n-1 in a random order, now and then near to ascending.
func (p *packer) shuffle(n int) []int {
	order := p.random.Perm(n)
	if p.random.IntN(2) == 0 {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return a - b + p.random.IntN(3) - 1 })
	return order
}

// division is the search for the parts of one item.
type division struct {
	*splitter
	i                int
	x                item
	route            int32
	single, multiple bool // all VMs at one child; at more than one
	loads            bool // the loads of the parts must sum to the item's
	twin             []int
}

// assign gives parts to the children from c on, left in all, and then divides the
// next items. The largest parts come first.
func (d *division) assign(c int, left tvcbounds.Part) bool {
	if left.VMs == 0 {
		if d.loads && left.Load != 0 {
			return false
		}
		d.h.routes[d.i] = d.route
		return d.divide()
	}
	parts := d.requests[d.x.request].parts[d.level-1]
	if len(parts) == 0 || int(left.VMs) > (len(d.contents)-c)*int(parts[len(parts)-1].VMs) {
		return false
	}
	chosen := d.h.parts[d.i]
	var order []int
	if d.random != nil {
		order = d.shuffle(len(parts) + 1)
	}
	for k := len(parts); k >= 0; k-- {
		at := k - 1
		if order != nil {
			at = order[k] - 1
		}
		if at < 0 {
			if d.assign(c+1, left) {
				return true
			}
			if d.stopped {
				return false
			}
			continue
		}
		part := parts[at]
		if part.VMs > left.VMs || d.loads && part.Load > left.Load {
			continue
		}
		if whole := part.VMs == d.requests[d.x.request].vms; d.single && !whole || d.multiple && whole {
			continue
		}
		if b := d.twin[c]; b >= 0 && part.Compare(chosen[b]) > 0 {
			continue
		}
		if !d.room(c, d.x, part, d.route) {
			continue
		}
		d.put(c, d.x, part, d.route, 1)
		chosen[c] = part
		if (d.level == 1 || d.hold(d.level-1, d.contents[c]) != nil) &&
			d.assign(c+1, tvcbounds.Part{VMs: left.VMs - part.VMs, Load: left.Load - part.Load}) {
			return true
		}
		d.put(c, d.x, part, d.route, -1)
		chosen[c] = tvcbounds.Part{}
		if d.stopped {
			return false
		}
	}
	return false
}

// placement is a set of requests, by ascending number, with a split at the root.
type placement struct {
	requests []int32
	*held
}

// only returns the placement of the requests that are kept.
func (a placement) only(keep func(request int32) bool) placement {
	b := placement{held: &held{}}
	for i, r := range a.requests {
		if keep(r) {
			b.requests = append(b.requests, r)
			b.routes, b.parts = append(b.routes, a.routes[i]), append(b.parts, a.parts[i])
		}
	}
	return b
}

// A search for a placement alternates between searches with the parts in random
// orders, restarted after some nodes, and one that runs with the largest parts
// first, each time with more nodes, until one of them has an answer (Gomes,
// Selman, Kautz: Boosting combinatorial search through randomization, 1998). A
// first choice that is wrong at the root is found out late otherwise.
const (
	restarts     = 16
	restartNodes = 1000
	wholeNodes   = 10_000
)

// extend returns a placement of the requests that leaves what is in before, which
// holds some of them, where it is at the root; false if there is none.
func (p *packer) extend(requests []int32, before placement) (placement, bool) {
	all := p.rootItems(requests)
	added := slices.DeleteFunc(slices.Clone(all), func(x item) bool { return slices.Contains(before.requests, x.request) })
	h := p.split(p.tree.Root(), all, before.held, added)
	return placement{requests, h}, h != nil
}

// place returns a placement of the requests, false if there is none or the packer
// has stopped.
func (p *packer) place(requests []int32) (placement, bool) {
	all := p.rootItems(requests)
	limit, seed := p.limit, uint64(0)
	// attempt runs one search and reports whether it says anything.
	attempt := func(nodes int64) (h *held, decided bool) {
		p.limit = min(limit, p.nodes+nodes)
		h = p.split(p.tree.Root(), all, nil, all)
		p.limit = limit
		if decided = h != nil || !p.stopped; !decided {
			p.stopped = p.nodes > limit || p.ctx.Err() != nil
		}
		return h, decided
	}
	whole := int64(wholeNodes)
	if p.off&devRestarts != 0 {
		whole = math.MaxInt64 / 2
	}
	for size := int64(restartNodes); !p.stopped; size, whole = 2*size, 4*whole {
		for range restarts {
			if p.off&devRestarts != 0 || p.stopped {
				break
			}
			seed++
			p.random = rand.New(rand.NewPCG(seed, 0))
			h, decided := attempt(size)
			p.random = nil
			if decided {
				return placement{requests, h}, h != nil
			}
		}
		if h, decided := attempt(whole); decided {
			return placement{requests, h}, h != nil
		}
	}
	return placement{}, false
}

// embeddings returns the embedding of each request of a placement.
func (p *packer) embeddings(a placement, half int) map[int32]*model.Embedding {
	all := map[int32]*model.Embedding{}
	for _, r := range a.requests {
		all[r] = &model.Embedding{}
	}
	ctx := p.ctx
	p.ctx, p.limit, p.stopped = context.Background(), math.MaxInt64, false
	defer func() { p.ctx = ctx }()
	p.descend(p.tree.Root(), 0, p.rootItems(a.requests), a.held, half, all)
	if p.tree.Root() == 1 { // no node but the root says where the VMs are
		for _, e := range all {
			first, last := e.Servers[0].Server, e.Servers[len(e.Servers)-1].Server
			switch h := half; {
			case first/h == last/h:
				e.Switch = model.Switch{Layer: model.LayerEdge, Group: first / (h * h), Index: first / h % h}
			case first/(h*h) == last/(h*h):
				e.Switch = model.Switch{Layer: model.LayerAggregation, Group: first / (h * h)}
			default:
				e.Switch = model.Switch{Layer: model.LayerCore}
			}
		}
	}
	return all
}

// descend adds to the embeddings what is below one node: of its level it is the
// number node.
func (p *packer) descend(level, node int, items []item, h *held, half int, all map[int32]*model.Embedding) {
	for i, x := range items {
		children := 0
		for _, part := range h.parts[i] {
			if part.VMs > 0 {
				children++
			}
		}
		if x.part.VMs < p.requests[x.request].vms {
			continue
		}
		// The lowest node that has all VMs below it hosts the virtual switch.
		e, r := all[x.request], int(h.routes[i])
		switch {
		case level == 1:
			e.Switch = model.Switch{Layer: model.LayerEdge, Group: node / half, Index: node % half}
		case children > 1 && level == 2:
			e.Switch = model.Switch{Layer: model.LayerAggregation, Group: node, Index: r}
		case children > 1:
			e.Switch = model.Switch{Layer: model.LayerCore, Group: r / half, Index: r % half}
		}
	}
	for c := range p.tree.Fan[level] {
		child := node*p.tree.Fan[level] + c
		var content []item
		for i, x := range items {
			part := h.parts[i][c]
			switch {
			case part.VMs == 0:
			case level == 1:
				e := all[x.request]
				e.Servers = append(e.Servers, model.ServerVMs{Server: child, VMs: int(part.VMs)})
			default:
				content = append(content, p.below(level, x, part, h.routes[i]))
			}
		}
		if content != nil {
			p.descend(level-1, child, content, p.hold(level-1, content), half, all)
		}
	}
}

// understand returns the placement that has the same split at the root as the
// embeddings, false if the packer finds none below it.
func (p *packer) understand(requests []int32, embedding map[int32]*model.Embedding, half int) (placement, bool) {
	root := p.tree.Root()
	below := p.tree.Servers(root - 1)
	h := &held{}
	for _, x := range p.rootItems(requests) {
		e, n := embedding[x.request], p.requests[x.request].vms
		parts, children := make([]tvcbounds.Part, p.tree.Fan[root]), 0
		for _, s := range e.Servers {
			if s.Server < 0 || s.Server >= below*len(parts) {
				return placement{}, false
			}
			part := &parts[s.Server/below]
			if part.VMs == 0 {
				children++
			}
			part.VMs += int32(s.VMs)
			part.Load += min(int32(s.VMs), n-int32(s.VMs))
		}
		for c := range parts {
			if m := parts[c].VMs; m == n {
				parts[c].Load = 0
			} else if !p.perPath {
				parts[c].Load = min(m, n-m)
			}
		}
		if children > 1 && root > 1 {
			x.route = int32(e.Switch.Group*half + e.Switch.Index)
			if e.Switch.Layer != model.LayerCore || int(x.route) >= p.tree.Lanes[root-1] {
				return placement{}, false
			}
		}
		h.parts, h.routes = append(h.parts, parts), append(h.routes, x.route)
	}
	a := placement{requests, h}
	if root > 1 {
		for _, content := range p.contents(a) {
			if len(content) > 0 && p.hold(root-1, content) == nil {
				return placement{}, false
			}
		}
	}
	return a, true
}

// contents returns what each child of the root has in a placement.
func (p *packer) contents(a placement) [][]item {
	root := p.tree.Root()
	all := make([][]item, p.tree.Fan[root])
	for i, x := range p.rootItems(a.requests) {
		for c, part := range a.parts[i] {
			if part.VMs > 0 {
				all[c] = append(all[c], p.below(root, x, part, a.routes[i]))
			}
		}
	}
	return all
}
