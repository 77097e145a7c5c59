// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// drawnProof is the result of proveForward on an instance, and its true figures.
type drawnProof struct {
	In    model.Instance
	Text  string
	Steps int // with new information
	Best  float64
	None  bool // there is no solution
}

// Whatever the checker accepts is held against enumeration: random steps, nogoods,
// windows and cuts on tiny instances of all kinds, with bounds and units of all sizes,
// never claim more than the optimum.
func TestProofForward(t *testing.T) {
	t.Parallel()
	for i, kind := range Provable() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(23, uint64(i)))
			steps, want, tries := 0, require.Rounds(10_000), 0
			for ; steps < want; tries++ {
				p := ProveForward(t, rng, kind)
				steps += p.Steps
				if t.Failed() {
					t.Fatalf("%+v\n%s", p.In, p.Text)
				}
				if hash, _ := model.Hash(p.In); tries%10 == 0 && p.Steps > 0 { // the lines alone prove the same
					if _, err := Proof(t.Context(), p.In, hash, strings.NewReader(p.Text)); err != nil {
						t.Fatalf("%v\n%s", err, p.Text)
					}
				}
			}
			t.Logf("%d steps in %d proofs", steps, tries)
		})
	}
}

// Provable returns the kinds that have proofs, in alphabetical order.
func Provable() []model.Kind {
	return slices.DeleteFunc(model.Kinds(), func(k model.Kind) bool { return proofKinds[k] == nil })
}

// prover derives all that it can, by trying.
type prover struct {
	*proofChecker
	t     testing.TB
	rng   *rand.Rand
	p     *drawnProof
	lines []string
	ids   []int64 // of variables, the objective first
	idOf  map[int32]int64
	cons  []string
	next  int64
	held  int64 // the largest claim that was held against the optimum
}

// ProveForward draws an instance of a kind and a proof that claims as much as was
// derived.
func ProveForward(t testing.TB, rng *rand.Rand, kind model.Kind) *drawnProof {
	t.Helper()
	p := &drawnProof{}
	unit, upper, names := drawWorld(t, rng, kind, p)
	hash, err := model.Hash(p.In)
	if err != nil || p.In.Validate() != nil {
		t.Fatal(err, p.In.Validate())
	}
	c := &prover{t: t, rng: rng, p: p, idOf: map[int32]int64{}, held: -1, proofChecker: &proofChecker{vars: map[int64]proofVar{}, rules: map[int64]proofCon{}, nogoods: map[int64]proofNogood{}, open: -1,
		limits: proofLimits{maxProofLines, maxProofMemory}}}
	for _, line := range []string{fmt.Sprint("gapwise-proof 1 ", kind), "instance " + hash, "unit " + unit, fmt.Sprint("upper ", upper)} {
		if err := c.feed(line); err != nil {
			if !strings.HasPrefix(line, "upper ") {
				t.Fatal(err)
			}
			p.Text = strings.Join(append(c.lines, line, "claim 0"), "\n") + "\n"
			return p // the kind has no checker for such a header
		}
	}
	vars, cons := names(c.kind)
	for id, name := range vars {
		if c.feed(fmt.Sprintf("var %d %s", id, name)) == nil {
			c.ids = append(c.ids, int64(id))
			c.idOf[c.vars[int64(id)].v] = int64(id)
		}
	}
	for id, name := range cons {
		if err := c.feed(fmt.Sprintf("con %d %s", id, name)); err != nil {
			t.Errorf("con %s: %v", name, err)
		}
		c.cons = append(c.cons, fmt.Sprint(id))
	}
	c.holds()
	for range 1 + rng.IntN(4) {
		c.sweep(100 + rng.IntN(300))
		switch rng.IntN(4) {
		case 0:
			if n := c.cut - 1 - int64(rng.IntN(3)); n > 0 && c.feed(fmt.Sprint("cut ", n)) == nil {
				c.holds()
			}
		default:
			c.nogood()
		}
	}
	n, _ := c.derived()
	if err := c.feed(fmt.Sprint("claim ", n)); err != nil {
		t.Error(err)
	}
	p.Text = strings.Join(c.lines, "\n") + "\n"
	return p
}

// feed gives the checker a line, and takes back the bounds that a refused one has set.
func (c *prover) feed(line string) error {
	mark, broken, open := len(c.trail), c.broken, c.open
	c.line++
	hash := strings.TrimPrefix(line, "instance ")
	err := c.readLine(c.p.In, hash, []byte(line))
	if err == nil {
		c.lines = append(c.lines, line)
	} else if c.line--; c.line >= 4 && !broken {
		c.undo(mark)
		c.open = open
	}
	return err
}

// claimable returns the largest claim.
func (c *prover) claimable() int64 {
	if c.refuted {
		return c.cut + 1
	}
	return c.least(c.target)
}

// derived returns the largest claim and the bound that it states.
func (c *prover) derived() (int64, float64) {
	n := c.claimable()
	words, bound := c.kind.claim(n)
	if strings.HasPrefix(words, "there is no ") && !c.p.None {
		c.t.Errorf("%s", words)
	}
	return min(n, maxProofNumber-1), bound
}

// holds fails if more is derived than the optimum.
func (c *prover) holds() {
	n := c.claimable()
	if n == c.held {
		return
	}
	c.held = n
	_, bound := c.derived()
	if x := c.p.Best; !c.p.None && model.SenseOf(c.p.In).Better(x, bound) && model.Gap(x, bound) > 1e-12 {
		c.t.Errorf("%v is derived (claim %d), the optimum is %v", bound, n, x)
		c.lines = append(c.lines, fmt.Sprint("claim ", n))
	}
}

// sweep tries steps from random constraints on random variables, the strongest first.
func (c *prover) sweep(tries int) {
	for range tries {
		if len(c.cons) == 0 || len(c.ids) == 0 || c.broken {
			return
		}
		con := c.cons[c.rng.IntN(len(c.cons))]
		v := c.related(con)
		x := c.vars[v].v
		window := ""
		if name, _, _ := strings.Cut(c.name(con), " "); slices.Contains([]string{"capacity", "processors", "pool", "room", "together"}, name) {
			at := c.vars[c.ids[c.rng.IntN(len(c.ids))]].v
			from := c.least(at) + int64(c.rng.IntN(5)) - 2
			window = fmt.Sprintf(" %d %d", max(-maxProofNumber+1, from), min(maxProofNumber-1, from+int64(c.rng.IntN(1+c.rng.IntN(6)))*max(1, c.most(at)-c.least(at)/2)))
		}
		low, high := c.least(x), c.most(x)
		if low > high {
			continue
		}
		bounds := []string{"!"}
		if c.rng.IntN(2) == 0 {
			for _, b := range []int64{high + 1, high, low + (high-low+1)/2, low + 1 + int64(c.rng.IntN(4)), low + 1} {
				if b > low && b < maxProofNumber {
					bounds = append(bounds, fmt.Sprintf("%d>=%d", v, b))
				}
			}
		} else {
			for _, b := range []int64{low - 1, low, low + (high-low)/2, high - 1 - int64(c.rng.IntN(4)), high - 1} {
				if b < high && b > -maxProofNumber {
					bounds = append(bounds, fmt.Sprintf("%d<=%d", v, b))
				}
			}
		}
		for _, b := range bounds {
			if c.feed(con+" "+b+window) == nil {
				c.p.Steps++
				break
			}
		}
		if c.open < 0 {
			c.holds()
		}
	}
}

// related returns a variable that a constraint speaks of, or now and then another.
func (c *prover) related(con string) int64 {
	rule, _ := c.rule([]byte(con))
	if all := variablesOf(rule); len(all) > 0 && c.rng.IntN(6) > 0 {
		if id, ok := c.idOf[all[c.rng.IntN(len(all))]]; ok {
			return id
		}
	}
	return c.ids[c.rng.IntN(len(c.ids))]
}

// variablesOf returns the variables of a rule.
func variablesOf(rule proofRule) (all []int32) {
	bounds := func(list ...bound) {
		for _, b := range list {
			if b.sv >= 0 {
				all = append(all, b.sv>>1)
			}
		}
	}
	starts := func(list []proofStart) {
		for _, x := range list {
			bounds(x.on)
			all = append(all, x.at)
		}
	}
	switch r := rule.(type) {
	case proofNogood:
		bounds(r...)
	case proofOne:
		bounds(r...)
	case proofAny:
		for _, one := range r {
			all = append(all, variablesOf(one)...)
		}
	case *proofLinear:
		for _, g := range r.groups {
			for _, x := range g {
				bounds(x.if_)
			}
		}
		for _, x := range r.terms {
			all = append(all, x.v)
		}
	case *proofDelay:
		starts(r.from)
		starts(r.to)
	case *proofMachine:
		starts(r.starts)
	case *proofCumulative:
		starts(r.starts)
	}
	return all
}

// name returns a constraint's, "" of a nogood.
func (c *prover) name(con string) string {
	if con[0] == 'n' {
		return ""
	}
	n, _ := proofID([]byte(con))
	return c.rules[n].name
}

// nogood tries to have random premises contradict.
func (c *prover) nogood() {
	if c.broken {
		return
	}
	line := fmt.Sprint("nogood ", c.next)
	for range c.rng.IntN(4) {
		v := c.ids[c.rng.IntN(len(c.ids))]
		if c.rng.IntN(3) == 0 {
			v = c.ids[0]
		}
		x := c.vars[v].v
		low, high := c.least(x), c.most(x)
		if low >= high {
			continue
		}
		if at := low + c.rng.Int64N(min(high-low, 1<<uint(1+c.rng.IntN(50)))); c.rng.IntN(2) == 0 {
			line += fmt.Sprintf(" %d<=%d", v, at)
		} else {
			line += fmt.Sprintf(" %d>=%d", v, min(maxProofNumber-1, high-(at-low)))
		}
	}
	kept := len(c.lines)
	mark, open := len(c.trail), c.open
	if err := c.feed(line); err != nil {
		c.t.Error(err)
	}
	for range 4 {
		if c.sweep(100); c.broken {
			break
		}
	}
	if err := c.feed("end"); err != nil { // as if it hadn't begun
		c.undo(mark)
		c.open, c.lines, c.line = open, c.lines[:kept], int64(kept)
		return
	}
	c.cons = append(c.cons, fmt.Sprint("n", c.next))
	c.next++
}

// nodesConstraints returns the constraints of a machine of nodes: all orders and pools, and the crowds of drawn pairs.
func nodesConstraints(rng *rand.Rand, in *model.Batch, kind proofKind) []string {
	n, possible := len(in.Jobs), []string{"responses"}
	var pairs []string
	for i := range n {
		for k := range n {
			if i != k {
				possible, pairs = append(possible, fmt.Sprint("order ", i, " ", k)), append(pairs, fmt.Sprint(" ", i, " ", k))
			}
		}
	}
	for r := range in.Resources {
		for e := range 4 {
			for set := range 1 << len(in.Nodes) {
				name := fmt.Sprint("pool ", r, " ", 1+e)
				for g := range in.Nodes {
					if set>>g&1 == 1 {
						name += fmt.Sprint(" ", g)
					}
				}
				possible = append(possible, name)
			}
		}
	}
	for range 10 {
		name := "crowd"
		for _, pair := range pairs {
			if rng.IntN(3) == 0 {
				name += pair
			}
		}
		possible = append(possible, name)
	}
	return slices.DeleteFunc(possible, func(name string) bool {
		_, err := kind.constraint(strings.Fields(name))
		return err != nil
	})
}

// near draws a number by a value: it, one near it, half or twice of it, or an extreme.
func near(rng *rand.Rand, x float64) int64 {
	at := int64(min(max(0, x), 1<<59))
	all := []int64{at, at, at, at - 1, at - 1, at + 1, at - 1 - int64(rng.IntN(4)), at + int64(rng.IntN(6)), at / 2, at * 2, 0, 1<<60 - 1, 1 << 56}
	return min(max(0, all[rng.IntN(len(all))]), 1<<60-1)
}

// drawWorld draws an instance and its optimum, a unit and an upper bound for a header. It also returns the meaning of
// the names of variables, the objective first, and of constraints.
func drawWorld(t testing.TB, rng *rand.Rand, kind model.Kind, p *drawnProof) (unit string, upper int64, names func(proofKind) (vars, cons []string)) {
	t.Helper()
	list := func(word string, limits ...int) (all []string) {
		all = []string{word}
		for _, n := range limits {
			var next []string
			for _, x := range all {
				for i := range n {
					next = append(next, fmt.Sprint(x, " ", i))
				}
			}
			all = next
		}
		return all
	}
	join := func(lists ...[]string) (all []string) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	switch kind {
	case model.KindDAG:
		in := testkit.RandomDAG(rng, 2+rng.IntN(4), 1+rng.IntN(3))
		if rng.IntN(3) == 0 {
			testkit.Restrict(rng, in)
		}
		if rng.IntN(2) == 0 {
			testkit.Roomy(rng, in)
		}
		if in.TransferModel = model.TransferModels[rng.IntN(len(model.TransferModels))]; rng.IntN(3) == 0 {
			testkit.Late(rng, in)
		}
		best, found := plain.Optimum(in.WithoutContention())
		p.In, p.Best, p.None = in, best, !found
		u := []float64{1, 1, 0.1, 0.5, 1.0 / 3, 0.7, best / 3, best, 1e-7, 1e9, 0x1p-1074, 1e300}[rng.IntN(12)]
		if u <= 0 {
			u = 1
		}
		n, m := len(in.Tasks), len(in.Machines)
		return fmt.Sprintf("%v", u), min(near(rng, best/u), far-1), func(k proofKind) (vars, cons []string) {
			d := k.(*dagProof)
			vars = join([]string{"makespan"}, list("on", n, m), list("start", n, m), list("before", n, n))
			cons = join(list("one", n), list("end", n))
			if d.several {
				vars = append(vars, list("at", n)...)
				cons = join(cons, list("room", m, len(in.Resources)), list("till", n), list("from", n))
				for r := range in.Resources { // some is needed by none
					if name := fmt.Sprint("together ", r); allowed(d, name) {
						cons = append(cons, name)
					}
				}
			} else {
				cons = append(cons, list("machine", m)...)
			}
			for _, e := range d.edges {
				cons = append(cons, fmt.Sprint("delay ", e[0], " ", e[1]))
			}
			for range 3 {
				weights, tasks := []string{}, ""
				for range m {
					weights = append(weights, fmt.Sprint([]int{0, 1, 1, 2, 7, 1<<31/m - 1}[rng.IntN(6)]))
				}
				for i, x := range rng.Perm(n) {
					if i == 0 || rng.IntN(2) == 0 {
						tasks += fmt.Sprint(" ", x)
					}
				}
				name := strings.Join(weights, ",") + ":" + tasks
				if !d.several {
					cons = append(cons, "load "+name)
					continue
				}
				for r := range in.Resources { // some needs are all 0, some weights times capacities too much
					if name := fmt.Sprint("area ", r, " ", name); allowed(d, name) {
						cons = append(cons, name)
					}
				}
			}
			return vars, cons
		}
	case model.KindVCSched:
		in := testkit.RandomVCSched(rng, rng.IntN(2) == 0)
		best, found := plain.Optimum(in)
		if n := in.Tasks(); n <= 3 && rng.IntN(2) == 0 { // as many hosts as one likes: no more than these are of use
			in.Hosts = 2 * n
			if in.MigrationBudget != nil {
				in.Hosts += 3
			}
			best, found = plain.Optimum(in)
			in.Hosts = []int{in.Hosts, 128, 129, 1000, 10_000_000}[rng.IntN(5)]
		}
		p.In, p.Best, p.None = in, best, !found
		scale := []int64{1, 4, 10, 1000, 1e13, 1e14, 1 + rng.Int64N(1000)}[rng.IntN(7)]
		n := in.Tasks()
		return fmt.Sprint(scale), near(rng, float64(scale)/max(best, 0.01)), func(k proofKind) (vars, cons []string) {
			vars, cons = append(list("on", n, min(in.Hosts, 20)), "load"), join([]string{"area"}, list("one", n))
			vars[0], vars[len(vars)-1] = vars[len(vars)-1], vars[0]
			for h := range 20 {
				if _, ok := k.(*vcschedProof).column[h]; !ok {
					continue
				}
				cons = append(cons, fmt.Sprint("memory ", h), fmt.Sprint("need ", h))
			}
			if in.MigrationBudget != nil {
				cons = append(cons, "budget")
			}
			return vars, cons
		}
	case model.KindBatch:
		n := 1 + rng.IntN(5)
		in := testkit.RandomBatch(rng, 1, 6, n)
		best, onNodes := 0.0, rng.IntN(2) == 0
		for n = min(n, 4); onNodes && (in.Nodes == nil || in.Processors > 4); {
			in = testkit.RandomNodes(rng, n)
		}
		if n = len(in.Jobs); onNodes {
			best = testkit.LeastOnNodes(in)
		} else {
			best, _ = plain.Optimum(in)
		}
		weights, time, weight := int64(0), int64(0), int64(0)
		for k := range in.Jobs {
			j := view.OfBatch(in).Jobs[k]
			weights += j.Weight
			time, weight = gcd(gcd(time, j.Length), j.Submit-view.OfBatch(in).Jobs[0].Submit), gcd(weight, j.Weight)
		}
		p.In, p.Best = in, best
		sum := math.Round(best * 1e6 * float64(weights))
		if rng.IntN(3) == 0 {
			time, weight = 1, 1
		}
		return fmt.Sprintf("%d,%d", time, weight), near(rng, sum/float64(time*weight)), func(kind proofKind) (vars, cons []string) {
			vars, cons = join([]string{"response"}, list("start", n)), []string{"processors", "responses"}
			if onNodes {
				cons = nodesConstraints(rng, in, kind)
				vars = append(vars, list("before", n, n)...)
			}
			return vars, cons
		}
	case model.KindReservation:
		in := testkit.RandomReservation(rng, 1+rng.IntN(5))
		for in.EffectiveGoal() == model.GoalAll {
			in = testkit.RandomReservation(rng, 1+rng.IntN(5))
		}
		best, found := plain.Optimum(in)
		p.In, p.Best, p.None = in, best, !found
		w := int64(1)
		if u := view.OfReservation(in).WeightUnit(); in.Goal.PESeconds() && u > 0 && rng.IntN(3) > 0 {
			w = u
		}
		n, lost := len(in.Requests), 0.0
		if k, err := newReservationProof(in, new(proofState), fmt.Sprint(w), 1); err == nil {
			_, all := k.claim(0)
			_, less := k.claim(1)
			lost = math.Round((all - best) / (all - less))
		}
		return fmt.Sprint(w), near(rng, lost), func(proofKind) (vars, cons []string) {
			return join([]string{"lost"}, list("in", n), list("start", n)), []string{"lost", "capacity"}
		}
	case model.KindTVC:
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(4), false)
		best, _ := plain.Optimum(in)
		p.In, p.Best = in, best
		n, lost := len(in.Requests), 0.0
		if k, err := newTVCProof(in, new(proofState), "1", 1); err == nil {
			_, all := k.claim(0)
			_, less := k.claim(1)
			lost = math.Round((all - best) / max(all-less, 1e-300))
		}
		return "1", near(rng, lost), func(kind proofKind) (vars, cons []string) {
			k := kind.(*tvcProof)
			levels := len(k.nodes)
			vars, cons = join([]string{"rejected"}, list("accept", n), list("route", n, k.lanes[levels-1])), join([]string{"rejected"}, list("total", n), list("slots", k.nodes[0], n))
			for r := range k.requests {
				if !k.requests[r].fits {
					continue
				}
				cons = append(cons, fmt.Sprint("route ", r), fmt.Sprint("whole ", r))
				for level, nodes := range k.requests[r].at {
					for v, parts := range nodes {
						at := fmt.Sprintf(" %d %d %d", r, level, v)
						for _, x := range parts {
							name := "none" + at
							if x.vms > 0 {
								name = fmt.Sprintf("part%s %d %d %d", at, x.vms, x.load, x.lane)
							}
							vars = append(vars, name)
						}
						if cons = append(cons, "one"+at, "lane"+at); level > 0 {
							if cons = append(cons, "divide"+at); k.perPath {
								cons = append(cons, "loads"+at)
							}
						}
					}
				}
			}
			for level := range k.nodes {
				for v := range k.nodes[level] {
					cons = append(cons, list(fmt.Sprintf("link %d %d", level, v), k.lanes[level], n)...)
				}
			}
			return vars, cons
		}
	case model.KindConsolidation:
		in := testkit.Consolidation(rng, 2+rng.IntN(3), 1+rng.IntN(3))
		if rng.IntN(2) == 0 {
			in = testkit.Loosen(rng, in)
		}
		best, found := plain.Optimum(in)
		p.In, p.Best, p.None = in, best, !found
		return "1", near(rng, best), func(kind proofKind) (vars, cons []string) {
			k := kind.(*consolidationProof)
			jobs, hosts := len(in.Jobs), len(k.use)
			vars = join([]string{"objective"}, list("use", hosts), list("leave", jobs), list("stay", jobs, hosts), list("anew", jobs, hosts))
			cons = join([]string{"objective"}, list("tasks", jobs), list("limit", len(in.Limits)))
			possible := join(list("has", len(in.Resources), hosts), list("stay", jobs, hosts), list("anew", jobs, hosts), list("order", hosts), list("filled", hosts), []string{"cost", "moves"})
			for q := range in.Rules {
				d := len(k.domainsOf(in.Rules[q].Domain).hosts)
				rule := func(words ...string) {
					for _, word := range words {
						head, tail, _ := strings.Cut(word, " ")
						for _, x := range list(fmt.Sprint(head, " ", q), d) {
							possible = append(possible, strings.TrimSpace(x+" "+tail))
						}
					}
				}
				rule("flag jobs", "flag others", "flag both", "flag bound", "flag free", "apart both both", "apart bound others", "apart others bound", "apart free both", "apart both free",
					"together bound", "together both", "crowd", "spread", "least", "open")
				vars = append(vars, possible[len(possible)-16*d:len(possible)-11*d]...)
				vars = append(vars, list("open "+fmt.Sprint(q), d)...)
				vars = append(vars, fmt.Sprint("alone ", q), fmt.Sprint("least ", q), fmt.Sprint("enough ", q))
				possible = join(possible, list(fmt.Sprint("offer ", q), d, hosts), []string{fmt.Sprint("alone ", q), fmt.Sprint("enough ", q), fmt.Sprint("domains ", q)})
			}
			for _, name := range possible {
				if _, err := k.constraint(strings.Fields(name)); err == nil {
					cons = append(cons, name)
				}
			}
			return vars, cons
		}
	}
	t.Fatal("there are no draws of ", kind)
	return "", 0, nil
}

// allowed reports whether a constraint has a meaning.
func allowed(k proofKind, name string) bool {
	_, err := k.constraint(strings.Fields(name))
	return err == nil
}
