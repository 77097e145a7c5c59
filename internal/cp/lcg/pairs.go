// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

// pairs enforces, for two activities such that a goes first if both run,
//
//	start b ≥ start a + length a       if a runs
//	start a ≤ start b - length a       if b runs
//	b goes first                       if both run and earliest start a + length a > latest start b
//	a goes before c                    if b goes before c, all run, and their lengths are short
//
// Without the last rule the bounds of activities in a cycle would rise by the sum of their lengths, round by round, to
// the end of time. It is for lengths that sum to more than 0 and less than a part in mostRounds of the time that there
// is. Others end soon without it, and for them it costs a third more time than it saves. On 12 task graphs with costs
// of 1 to 9 s and of 10^6 s and more, it halves the time.
//
// The bounds are of optional starts: they hold if the activity runs. An explanation is made of presences, the order,
// and bounds. The bounds behind the order are weakened by half of the excess each. A bound of an activity matters to
// others if it runs for sure; then each event takes O(1) for each activity on the machine.
type pairs struct {
	self       int32
	activities []activity
	arcs       []arc              // 2n and 2n+1 are the two directions of a pair
	owners     []int32            // constraint of each pair
	brief      int64              // lengths up to this may take more than mostRounds rounds
	orders     map[cp.Var][]int32 // the pairs with this order
}

// mostRounds bounds the rounds in which the bounds of a cycle may rise.
const mostRounds = 1000

// activity is one of a machine's.
type activity struct {
	cp.Start
	length int64
	arcs   []int32 // from it, to the others in their order
	number int32   // of it on its machine
}

// arc is two activities in an order.
type arc struct {
	from, to int32
	first    cp.Lit // from goes first, if both run
}

// post adds the pairs of a constraint.
func (p *pairs) post(k *Kernel, c *cp.NoOverlap) {
	base, first := int32(len(p.activities)), len(p.arcs)
	for i, s := range c.Starts {
		p.activities = append(p.activities, activity{Start: s, length: c.Lengths[i], number: int32(i)})
		k.watch(2*int32(s.At), p.self, base+int32(i))
		k.watch(2*int32(s.At)+1, p.self, base+int32(i))
		k.watch(s.If.SV, p.self, base+int32(i))
	}
	for _, s := range c.Starts {
		p.brief = max(p.brief, (-k.low[2*s.At+1]-k.low[2*s.At])/mostRounds)
	}
	for i := range c.Starts {
		for j := range i {
			x := int32(len(p.arcs))
			from, to, order := base+int32(i), base+int32(j), c.Before[i][j]
			p.arcs = append(p.arcs, arc{from, to, order}, arc{to, from, order.Not()})
			p.activities[from].arcs = append(p.activities[from].arcs, x)
			p.activities[to].arcs = append(p.activities[to].arcs, x+1)
			p.owners = append(p.owners, k.posted)
			k.watch(order.SV, p.self, ^(x / 2))
			if order.SV >= 0 {
				k.watch(order.Not().SV, p.self, ^(x / 2))
				v := order.Var()
				if p.orders[v] == nil {
					k.guards[v] = func() bool { return p.matters(k, v) }
					k.decisions.is[v] = true
				}
				p.orders[v] = append(p.orders[v], x/2)
			}
		}
	}
	// The consequences of each pair; events add more.
	for x := int32(first); x < int32(len(p.arcs)); x++ {
		if k.fails(p.activities[p.arcs[x].from].If) || k.fails(p.activities[p.arcs[x].to].If) {
			continue
		}
		if !p.follow(k, x) {
			return
		}
	}
}

// matters reports whether both activities of a pair with order v run.
func (p *pairs) matters(k *Kernel, v cp.Var) bool {
	for _, n := range p.orders[v] {
		if x := &p.arcs[2*n]; k.holds(p.activities[x.from].If) && k.holds(p.activities[x.to].If) {
			return true
		}
	}
	return false
}

func (p *pairs) cancel()           {}
func (p *pairs) propagate(*Kernel) {}

// Tags are an arc times 4 and one of these.
const (
	later   = iota // the second one starts later
	sooner         // the first one starts sooner
	exclude        // the order
)

// wake looks at all pairs of an activity after a change, or at the pair ^tag of an order.
func (p *pairs) wake(k *Kernel, sv, tag int32) {
	if tag < 0 {
		x := &p.arcs[2*^tag]
		if !k.fails(p.activities[x.from].If) && !k.fails(p.activities[x.to].If) && p.follow(k, 2*^tag) && p.follow(k, 2*^tag+1) && p.close(k, 2*^tag) {
			p.close(k, 2*^tag+1)
		}
		return
	}
	a := &p.activities[tag]
	if !k.holds(a.If) {
		return
	}
	k.work += 3 * int64(len(a.arcs))
	for _, x := range a.arcs {
		if k.fails(p.activities[p.arcs[x].to].If) {
			continue
		}
		if !p.follow(k, x) || !p.follow(k, x^1) {
			return
		}
	}
	if sv == a.If.SV {
		for _, x := range a.arcs {
			if !p.close(k, x) || !p.close(k, x^1) {
				return
			}
		}
	}
}

// close sets the consequences of an arc and another one, if all three activities run. It doesn't in a proof, since the
// checker doesn't know the rule.
func (p *pairs) close(k *Kernel, n int32) bool {
	x := &p.arcs[n]
	from, to := &p.activities[x.from], &p.activities[x.to]
	if k.proof != nil || !k.holds(x.first) || !k.holds(from.If) || !k.holds(to.If) {
		return true
	}
	return p.chain(k, from, to, true) && p.chain(k, to, from, false)
}

// chain sets that activity a goes before all running activities that b goes before or, if not forwards, after all that
// go before b.
func (p *pairs) chain(k *Kernel, a, b *activity, forwards bool) bool {
	side := int32(0)
	if !forwards {
		side = 1
	}
	for _, y := range b.arcs {
		c := &p.activities[p.arcs[y].to]
		if sum := a.length + b.length + c.length; c == a || sum == 0 || sum > p.brief || !k.holds(p.arcs[y^side].first) || !k.holds(c.If) {
			continue
		}
		goal := p.arcs[p.arc(a, c)^side].first
		if !k.holds(goal) {
			ab := p.arcs[p.arc(a, b)^side].first
			if !k.imply(goal, []cp.Lit{a.If, b.If, c.If, ab, p.arcs[y^side].first}) {
				return false
			}
		}
	}
	return true
}

// arc returns the arc from one activity to another of its machine.
func (p *pairs) arc(from, to *activity) int32 {
	if to.number < from.number {
		return from.arcs[to.number]
	}
	return from.arcs[to.number-1]
}

// follow sets the consequences of an arc of activities that may run, and reports whether nothing fails.
func (p *pairs) follow(k *Kernel, n int32) bool {
	x := &p.arcs[n]
	from, to := &p.activities[x.from], &p.activities[x.to]
	if k.fails(x.first) {
		return true
	}
	here, there := k.holds(from.If), k.holds(to.If)
	end := k.low[2*from.At] + from.length
	switch {
	case k.holds(x.first):
		return (!here || k.set(to.At.AtLeast(end), p.self, 4*n+later)) &&
			(!there || k.set(from.At.AtMost(-k.low[2*to.At+1]-from.length), p.self, 4*n+sooner))
	case !here || !there:
		return true
	case end > -k.low[2*to.At+1]:
		return k.set(x.first.Not(), p.self, 4*n+exclude)
	}
	k.decisions.undo(x.first.SV)
	return true
}

func (p *pairs) explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit {
	x := &p.arcs[tag/4]
	from, to := &p.activities[x.from], &p.activities[x.to]
	switch tag % 4 {
	case later:
		return append(out, x.first, from.If, from.At.AtLeast(l.B-from.length))
	case sooner:
		return append(out, x.first, to.If, to.At.AtMost(-l.B+from.length))
	}
	least := k.lowAt(2*int32(from.At), at)
	least -= (least + from.length - 1 + k.lowAt(2*int32(to.At)+1, at)) / 2
	return append(out, from.If, to.If, from.At.AtLeast(least), to.At.AtMost(least+from.length-1))
}

func (p *pairs) owner(tag int32) int32 { return p.owners[tag/8] }
