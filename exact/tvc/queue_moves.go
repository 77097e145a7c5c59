// SPDX-License-Identifier: MIT

package tvc

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// queueDecided holds the decisions about the schedules of a node if migrations cost something.
//
// A schedule that is looked for has some moves by each request. Its program makes each request longer by those that are
// decided. If a point of it is whole, its sets may have places without more moves by any request: then it is a
// schedule. If not, some of its sets have none, however ordered within their states (a conflict). Then each schedule
// has more moves by one of the conflict's requests, or doesn't run some set of the conflict, nor any set that contains
// it. These are the nodes below: one request more often, those before it no more often; or all no more often, and a set
// less. Without moves by these requests a set has the same places in all states, so it runs in none; with some, in its
// own.
type queueDecided struct {
	moves  []int        // at least
	capped uint32       // requests that move no more often
	bars   []queueState // sets that don't run; with interval -1 in any state
}

// barred returns the sets that don't run in a state.
func (d *queueDecided) barred(l, k int) (all []uint32) {
	for _, b := range d.bars {
		if b.interval < 0 || b.interval == l && b.ended == k {
			all = append(all, b.set)
		}
	}
	return all
}

// queueUse is a set that runs in a state, for a time.
type queueUse struct {
	queueState
	time float64
}

// queueLife is a part of a request's run in one place: the instants at which it is there.
type queueLife struct {
	request int
	at      []int
}

// answer is the answer of a limited search.
type answer int

const (
	unknown answer = iota
	no
	yes
)

// Limits of one search for places: nodes of the packer, and orders of sets and moves.
const (
	placeNodes = 20_000
	mostOrders = 2000
)

// together returns embeddings of lives, each of which stays where it is. A no only covers slots and the links of
// servers if the fabric has several lanes: a request may change lanes without a migration.
func (q *queuePart) together(lives []queueLife, instants int) (places []*model.Embedding, fits answer) {
	t := *q.t
	t.Requests = make([]view.TVCRequest, len(lives))
	all := make([]int, len(lives))
	for i, l := range lives {
		t.Requests[i] = q.t.Requests[q.requests[l.request]]
		t.Requests[i].Arrival, t.Requests[i].Duration = 0, 1
		all[i] = i
	}
	for relaxed := false; ; relaxed = true {
		p, rank := newPacker(q.Ctx, &t, all, q.off)
		p.limit, p.instants = placeNodes, instants
		ranks := make([]int32, len(lives))
		for i, l := range lives {
			r := &p.requests[rank[i]]
			r.at, r.span.From, r.span.To = l.at, 0, instants-1
			ranks[i] = int32(i)
		}
		a, ok := p.place(ranks)
		switch {
		case ok && !relaxed:
			of := p.embeddings(a)
			for i := range lives {
				places = append(places, of[rank[i]])
			}
			return places, yes
		case ok || p.stopped:
			return nil, unknown
		case relaxed || p.tree.Lanes[p.tree.Root()-1] == 1:
			return nil, no
		}
		t.NonBlocking = true
	}
}

// uses returns the sets that a whole point runs, in the order of states. Each has the requests that are under way and
// have work in it.
func (p *queueProgram) uses(x []float64) (all []queueUse) {
	idle := map[[2]int]float64{} // by request and number of ended ones: for how long it is in sets without work
	for j := range p.n {
		for k := range p.n {
			idle[[2]int{j, k}] = -x[p.work[j][k]]
		}
	}
	for i, s := range p.states {
		for r := s.set; r != 0; r &= r - 1 {
			idle[[2]int{bits.TrailingZeros32(r), s.ended}] += x[i]
		}
	}
	for i, s := range p.states {
		if x[i] <= leastTime {
			continue
		}
		for r := s.set; r != 0; r &= r - 1 {
			j := bits.TrailingZeros32(r)
			if at := [2]int{j, s.ended}; idle[at] > x[i]-leastTime {
				idle[at] -= x[i]
				s.set &^= 1 << j
			}
		}
		all = append(all, queueUse{s, x[i]})
	}
	return all
}

// leastTime is less than any time in a program that isn't a rounding error.
const leastTime = 1e-9

// realised is an order of sets and places for them.
type realised struct {
	uses   []queueUse
	life   [][]int // by request and use, -1: it doesn't run
	places [][]*model.Embedding
}

// realise looks for an order of sets within their states, and for lives of the requests, at most one more than they
// move, that have places. It tries all.
func (q *queuePart) realise(d *queueDecided, uses []queueUse) (*realised, answer) {
	left, certain := mostOrders, true
	var found *realised
	// lives chooses the lives of request j and those after it in an order of uses.
	var lives func(order []queueUse, life [][]int, j int)
	lives = func(order []queueUse, life [][]int, j int) {
		if found != nil || left < 0 {
			return
		}
		if j == q.n {
			if left--; left < 0 {
				return
			}
			r, fits := q.placed(order, life)
			found, certain = r, certain && fits != unknown
			return
		}
		var in []int
		for i, u := range order {
			if u.set>>j&1 != 0 {
				in = append(in, i)
			}
		}
		mine := slices.Repeat([]int{-1}, len(order))
		var cut func(at, now int)
		cut = func(at, now int) {
			if at == len(in) {
				lives(order, append(slices.Clone(life), slices.Clone(mine)), j+1)
				return
			}
			mine[in[at]] = now
			cut(at+1, now)
			if at > 0 && now < d.moves[j] {
				mine[in[at]] = now + 1
				cut(at+1, now+1)
			}
		}
		cut(0, 0)
	}
	moves := slices.Max(d.moves) > 0
	var permute func(order []queueUse, rest []queueUse)
	permute = func(order, rest []queueUse) {
		if len(rest) == 0 {
			lives(order, nil, 0)
			return
		}
		for i, u := range rest {
			if u.interval != rest[0].interval || u.ended != rest[0].ended || found != nil || left < 0 || i > 0 && !moves {
				break
			}
			permute(append(slices.Clone(order), u), slices.Delete(slices.Clone(rest), i, i+1))
		}
	}
	permute(nil, uses)
	switch {
	case found != nil:
		return found, yes
	case left < 0 || !certain || q.Ctx.Err() != nil:
		return nil, unknown
	}
	return nil, no
}

// placed looks for places of lives in an order of uses.
func (q *queuePart) placed(order []queueUse, life [][]int) (*realised, answer) {
	var all []queueLife
	r := &realised{uses: order, life: life, places: make([][]*model.Embedding, q.n)}
	for j := range q.n {
		for i, now := range life[j] {
			if now < 0 {
				continue
			}
			if len(all) == 0 || all[len(all)-1].request != j || len(r.places[j]) <= now {
				all = append(all, queueLife{request: j})
				r.places[j] = append(r.places[j], nil)
			}
			all[len(all)-1].at = append(all[len(all)-1].at, i)
		}
	}
	places, fits := q.together(all, len(order))
	if fits != yes {
		return nil, fits
	}
	for i, at := 0, 0; i < len(all); i, at = i+1, at+1 {
		if i > 0 && all[i].request != all[i-1].request {
			at = 0
		}
		r.places[all[i].request][at] = places[i]
	}
	return r, yes
}

// moves keeps the schedule of a node's whole point if there is one, or returns the nodes below.
func (q *queuePart) moves(n *queueNode) (all []*queueNode, searched bool) {
	p, d := n.program, n.program.decided
	uses := p.uses(n.x)
	r, fits := q.realise(d, uses)
	if fits == yes {
		q.keep(p, r)
		return nil, false // its bound is the bound of the nodes searched
	}
	if fits == unknown {
		q.why = "places in which nobody moves were neither found nor refuted"
		return nil, false
	}
	uses = q.conflict(d, uses)
	in, moved := uint32(0), false
	for _, u := range uses {
		in |= u.set
	}
	below := *d
	add := func(d queueDecided) bool {
		p := newQueueProgram(q, &d)
		if p != nil {
			all = append(all, p.node(n.fixed, n.bound))
		}
		return p != nil
	}
	for rest := in; rest != 0; rest &= rest - 1 {
		j := bits.TrailingZeros32(rest)
		if moved = moved || d.moves[j] > 0; d.capped>>j&1 != 0 {
			continue
		}
		more := below
		more.moves = slices.Clone(d.moves)
		more.moves[j]++
		if !add(more) {
			return nil, false
		}
		below.capped |= 1 << j
	}
	for _, u := range uses {
		less := below
		bar := u.queueState
		if !moved {
			bar.interval = -1
		}
		less.bars = append(slices.Clone(d.bars), bar)
		if !add(less) {
			return nil, false
		}
	}
	return all, true
}

// conflict returns as small a part as possible of uses, which have no places, that has none either.
func (q *queuePart) conflict(d *queueDecided, uses []queueUse) []queueUse {
	refuted := func(less []queueUse) bool {
		_, fits := q.realise(d, less)
		return fits == no
	}
	for i := 0; i < len(uses); {
		if less := slices.Delete(slices.Clone(uses), i, i+1); refuted(less) {
			uses = less
		} else {
			i++
		}
	}
	for i := range uses {
		for rest := uses[i].set; rest != 0; rest &= rest - 1 {
			less := slices.Clone(uses)
			if less[i].set &^= rest & -rest; refuted(less) {
				uses = less
			}
		}
	}
	return uses
}

// keep takes the schedule of places in an order, if it is the best so far. Ends are rounded to ticks; any request that
// isn't done then, for the rounding, goes on alone.
func (q *queuePart) keep(p *queueProgram, r *realised) {
	runs, left := make([][]queueStay, q.n), slices.Clone(p.length)
	now := int64(0)
	run := func(set uint32, place func(j int) *model.Embedding, end int64) {
		for now < end {
			next, here := end, uint32(0)
			for rest := set; rest != 0; rest &= rest - 1 {
				switch j := bits.TrailingZeros32(rest); {
				case left[j] == 0:
				case q.arrival[j] > now:
					next = min(next, q.arrival[j])
				default:
					here |= 1 << j
					next = min(next, now+left[j])
				}
			}
			for ; here != 0; here &= here - 1 {
				j := bits.TrailingZeros32(here)
				left[j] -= next - now
				runs[j] = append(runs[j], queueStay{now, next, place(j)})
			}
			now = next
		}
	}
	at := 0.0
	for i, u := range r.uses {
		if i == 0 || r.uses[i-1].interval != u.interval {
			at = float64(q.begins[u.interval])
			run(0, nil, q.begins[u.interval])
		}
		at += u.time * p.scale
		end := int64(math.Round(at))
		if u.interval+1 < len(q.begins) {
			end = min(end, q.begins[u.interval+1])
		}
		run(u.set, func(j int) *model.Embedding { return r.places[j][r.life[j][i]] }, end)
		for j := range left { // those that end now
			if left[j] > 0 && left[j] < mostRounding && len(r.places[j]) > 0 && !slices.ContainsFunc(r.uses[i+1:], func(u queueUse) bool { return u.set>>j&1 != 0 }) {
				run(1<<j, func(int) *model.Embedding { return r.places[j][len(r.places[j])-1] }, now+left[j])
			}
		}
	}
	value := int64(0)
	for j := range runs {
		if !q.finish(j, &runs[j]) {
			return
		}
		value += runs[j][len(runs[j])-1].to - q.arrival[j]
	}
	if value < q.value {
		q.best, q.value = runs, value
	}
}

// finish cuts off the time that a request runs after its work is done, and reports whether its work is done. After each
// move the request works again once it has run for a migration's time, in one piece or several.
func (q *queuePart) finish(j int, run *[]queueStay) bool {
	work, owed := q.length[j], int64(0)
	for i := range *run {
		x := &(*run)[i]
		if i > 0 && !x.place.SameServers((*run)[i-1].place) {
			owed = q.t.Migration
		}
		idle := min(owed, x.to-x.from)
		owed -= idle
		if work -= x.to - x.from - idle; work <= 0 {
			x.to += work
			*run = (*run)[:i+1]
			return true
		}
	}
	return false
}
