// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/model"
)

// dagProof builds the objects in proofs of task graphs. Times are whole numbers of the unit, u seconds. A duration of d
// seconds counts as
//
//	⌊d (1 + ε) / u⌋, ε = 2^-50,
//
// or as far if that is above the makespan's upper bound, or has no end, which no schedule in question
// has room for. So each schedule that ends at R makes one in units that ends by R (1 + ε) / u: the same machines and
// orders, each task as early as it can be. Nothing in it takes longer than (1 + ε) of its time. If none in units ends
// before b, then R ≥ b u / (1 + ε), and R ≥ b u if no duration was rounded up. A duration that counts as far only needs
// to be upper + 1 units, since b is at most that. The factor 1 + ε makes room for the rounding of quotients and sums to
// float64s in the program that wrote the proof. Contention only delays.
type dagProof struct {
	s          *proofState
	in         *model.DAG
	n, m       int
	upper      int64
	unit       *big.Rat
	roundedUp  bool
	several    bool // machines run several tasks at once, see roomsOf
	at         map[int]int32
	task       map[string]int
	cost       []int64 // of task t on machine a at [t*m+a]
	edges      [][2]int
	pred, succ [][]int // edges into and out of a task
	length     func(e, a, b int) int64
	order      []int    // tasks in topological order
	path       [][]bool // from a task to a later one
	tail, head []int64  // see lengths
	lower      int64    // of the makespan, see load
	makespan   int32
	on         []bound // task t is on machine a at [t*m+a]
	start      []int32
	before     map[[2]int]int32
	pairs      [][2]int // the tasks of a variable that is an order
}

const (
	far          = 1 << 28
	maxProofTask = 1 << 12
)

// decimalNumber matches the spelling of a unit, among the numbers that ParseFloat reads.
var decimalNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$`)
})

var proofEpsilon = new(big.Rat).SetFloat64(1 + 1.0/(1<<50))

func newDAGProof(in model.Instance, s *proofState, unit string, upper int64) (proofKind, error) {
	d, ok := in.(*model.DAG)
	if !ok {
		return nil, errors.New("the instance is no task graph")
	}
	u, err := strconv.ParseFloat(unit, 64)
	if err != nil || !decimalNumber().MatchString(unit) || !(u > 0) {
		return nil, fmt.Errorf("the unit %q is no number above 0", unit)
	}
	if upper < 0 || upper >= far {
		return nil, fmt.Errorf("the upper bound must be from 0 to below %d", far)
	}
	k := &dagProof{s: s, in: d, n: len(d.Tasks), m: len(d.Machines), upper: upper, unit: exact(u), several: severalAtOnce(d), at: map[int]int32{}, task: map[string]int{}, before: map[[2]int]int32{}}
	if k.n > maxProofTask || k.n*k.m > 1<<20 || len(d.Edges)*k.m*k.m > 1<<24 {
		return nil, fmt.Errorf("%d tasks on %d machines are more than the checker takes: %d tasks, 2^20 times machines, edges 2^24 times machines squared", k.n, k.m, maxProofTask)
	}
	k.times()
	k.lengths()
	if s.stopped {
		return nil, errors.New("stopped")
	}
	k.makespan = s.add(0, upper, always)
	for t := range k.n {
		for a := range k.m {
			on := always
			if k.m > 1 {
				on = atLeast(s.add(0, 1, always), 1)
			}
			k.on = append(k.on, on)
			k.start = append(k.start, s.add(0, upper-k.cost[t*k.m+a]-k.tail[t*k.m+a], on))
		}
	}
	return k, nil
}

// ticks returns a duration in units.
func (k *dagProof) ticks(d *big.Rat) int64 {
	more := new(big.Rat).Mul(d, proofEpsilon)
	more.Quo(more, k.unit)
	whole, counts := new(big.Int).Quo(more.Num(), more.Denom()), k.upper+1
	if whole.IsInt64() {
		counts = min(counts, whole.Int64())
	}
	k.s.spend(16)
	k.roundedUp = k.roundedUp || more.SetInt64(counts).Mul(more, k.unit).Cmp(d) > 0
	if counts > k.upper {
		return far
	}
	return counts
}

// times reads the durations, and puts the tasks in an order.
func (k *dagProof) times() {
	k.pred, k.succ = make([][]int, k.n), make([][]int, k.n)
	for t := range k.n {
		k.task[k.in.Tasks[t].ID] = t
		for a := range k.m {
			cost := int64(far)
			if c := k.in.Cost(t, a); !math.IsInf(c, 1) {
				cost = k.ticks(exact(c))
			}
			k.cost = append(k.cost, cost)
		}
	}
	p := newPaths(k.in)
	var lengths []int64
	for e, x := range k.in.Edges {
		most := largest(&x)
		f, t := k.task[x.From], k.task[x.To]
		k.edges = append(k.edges, [2]int{f, t})
		k.succ[f], k.pred[t] = append(k.succ[f], e), append(k.pred[t], e)
		for a := range k.m {
			if k.s.stopped {
				return
			}
			for b := range k.m {
				d, rate := exact(most), exact(k.in.Machines[a].LocalRate)
				if a != b {
					if rate = p.alone(a, b); rate.Sign() == 0 {
						lengths = append(lengths, far)
						continue
					}
				}
				if most > 0 && rate.Sign() > 0 {
					d.Quo(d, rate)
				} else {
					d.SetInt64(0)
				}
				if a != b {
					d.Add(d, exact(p.startup(a, b)))
				}
				lengths = append(lengths, k.ticks(d))
			}
		}
	}
	k.length = func(e, a, b int) int64 { return lengths[(e*k.m+a)*k.m+b] }
	missing := make([]int, k.n)
	for t := range k.n {
		if missing[t] = len(k.pred[t]); missing[t] == 0 {
			k.order = append(k.order, t)
		}
	}
	for i := 0; i < len(k.order); i++ {
		for _, e := range k.succ[k.order[i]] {
			t := k.edges[e][1]
			if missing[t]--; missing[t] == 0 {
				k.order = append(k.order, t)
			}
		}
	}
}

// lengths computes, for task t on machine a,
//
//	head = max over edges (f, t) of min_b (head_fb + cost_fb + length from b to a)
//	tail = max over edges (t, f) of min_b (length from a to b + cost_fb + tail_fb)
//
// and which tasks have a path to which.
func (k *dagProof) lengths() {
	k.head, k.tail, k.path = make([]int64, k.n*k.m), make([]int64, k.n*k.m), make([][]bool, k.n)
	for i := range k.order {
		for a := range k.m {
			t := k.order[i]
			for _, e := range k.pred[t] {
				k.s.spend(k.m)
				least := int64(math.MaxInt64)
				for b := range k.m {
					f := k.edges[e][0]*k.m + b
					least = min(least, k.head[f]+k.cost[f]+k.length(e, b, a))
				}
				k.head[t*k.m+a] = max(k.head[t*k.m+a], least)
			}
			t = k.order[k.n-1-i]
			for _, e := range k.succ[t] {
				k.s.spend(k.m)
				least := int64(math.MaxInt64)
				for b := range k.m {
					f := k.edges[e][1]*k.m + b
					least = min(least, k.length(e, a, b)+k.cost[f]+k.tail[f])
				}
				k.tail[t*k.m+a] = max(k.tail[t*k.m+a], least)
			}
		}
	}
	for t := range k.n {
		through := int64(math.MaxInt64)
		for a := range k.m {
			through = min(through, k.head[t*k.m+a]+k.cost[t*k.m+a]+k.tail[t*k.m+a])
		}
		k.lower = max(k.lower, through)
	}
	for _, t := range slices.Backward(k.order) {
		k.path[t] = make([]bool, k.n)
		for _, e := range k.succ[t] {
			if k.s.spend(k.n) {
				return
			}
			to := k.edges[e][1]
			k.path[t][to] = true
			for u, is := range k.path[to] {
				k.path[t][u] = k.path[t][u] || is
			}
		}
	}
}

func (k *dagProof) objective() string { return "makespan" }

func (k *dagProof) claim(below int64) (string, float64) {
	r := new(big.Rat).SetInt64(below)
	if r.Mul(r, k.unit); k.roundedUp {
		r.Quo(r, proofEpsilon)
	}
	x := roundDown(r)
	return fmt.Sprintf("no schedule ends before %v", x), x
}

func (k *dagProof) variable(name []string) (int32, error) {
	switch {
	case len(name) == 1 && name[0] == "makespan":
		return k.makespan, nil
	case len(name) == 2 && name[0] == "at" && k.several:
		t, err := proofIndex(name[1], k.n)
		if err != nil {
			return 0, err
		}
		return k.startOf(t), nil
	case len(name) != 3:
		return 0, errUnknownName
	}
	first, err := proofIndex(name[1], k.n)
	if err != nil {
		return 0, err
	}
	limit := k.m
	if name[0] == "before" {
		limit = k.n
	}
	second, err := proofIndex(name[2], limit)
	switch {
	case err != nil:
		return 0, err
	case name[0] == "on" && k.m > 1:
		return k.on[first*k.m+second].sv / 2, nil
	case name[0] == "start":
		return k.start[first*k.m+second], nil
	case name[0] != "before" || k.several || first == second || k.path[first][second] || k.path[second][first]:
		return 0, errUnknownName
	}
	if _, ok := k.before[[2]int{second, first}]; ok {
		return 0, fmt.Errorf("the order of %d and %d has a name already", first, second)
	}
	v, ok := k.before[[2]int{first, second}]
	if !ok {
		v = k.s.add(0, 1, always)
		k.before[[2]int{first, second}] = v
		for len(k.pairs) <= int(v) {
			k.pairs = append(k.pairs, [2]int{-1, -1})
		}
		k.pairs[v] = [2]int{first, second}
	}
	return v, nil
}

// goesFirst returns that task t goes before task u where both are on one machine.
func (k *dagProof) goesFirst(t, u int) bound {
	switch {
	case k.path[t][u]:
		return always
	case k.path[u][t]:
		return never
	}
	if v, ok := k.before[[2]int{t, u}]; ok {
		return atLeast(v, 1)
	}
	if v, ok := k.before[[2]int{u, t}]; ok {
		return atMost(v, 0)
	}
	return unknown
}

func (k *dagProof) constraint(name []string) (proofRule, error) {
	if name[0] == "load" && !k.several {
		return k.load(name[1:])
	}
	if k.several && slices.Contains([]string{"area", "room", "till", "from", "together"}, name[0]) {
		return k.roomsOf(name)
	}
	at := make([]int, 0, 2)
	for _, word := range name[1:] {
		limit := k.n
		if name[0] == "machine" {
			limit = k.m
		}
		i, err := proofIndex(word, limit)
		if err != nil {
			return nil, err
		}
		at = append(at, i)
	}
	switch {
	case name[0] == "one" && len(at) == 1:
		return proofOne(k.on[at[0]*k.m:][:k.m]), nil
	case name[0] == "end" && len(at) == 1:
		by := func(a, _ int) int64 { return k.cost[at[0]*k.m+a] + k.tail[at[0]*k.m+a] }
		return &proofDelay{k.starts(at[0]), []proofStart{{always, k.makespan}}, by}, nil
	case name[0] == "delay" && len(at) == 2:
		for _, e := range k.succ[at[0]] {
			if k.edges[e][1] == at[1] {
				by := func(a, b int) int64 { return k.cost[at[0]*k.m+a] + k.length(e, a, b) }
				return &proofDelay{k.starts(at[0]), k.starts(at[1]), by}, nil
			}
		}
	case name[0] == "machine" && len(at) == 1 && !k.several:
		c := &proofMachine{before: k.goesFirst, about: k.about}
		for t := range k.n {
			c.starts, c.lengths = append(c.starts, k.starts(t)[at[0]]), append(c.lengths, k.cost[t*k.m+at[0]])
		}
		return c, nil
	}
	return nil, errUnknownName
}

// starts returns the starts of a task on the machines.
func (k *dagProof) starts(t int) []proofStart {
	out := make([]proofStart, k.m)
	for a := range out {
		out[a] = proofStart{k.on[t*k.m+a], k.start[t*k.m+a]}
	}
	return out
}

// about returns the tasks that a variable speaks of.
func (k *dagProof) about(v int32) []int {
	if int(v) < len(k.pairs) && k.pairs[v][0] >= 0 {
		return k.pairs[v][:]
	}
	if i := int(v) - 1; i >= 0 && i < k.n*k.m*2 && k.m > 1 {
		return []int{i / 2 / k.m}
	} else if i >= 0 && i < k.n && k.m == 1 {
		return []int{i}
	}
	return nil
}

// load returns the load of the machines with weights w and for tasks S,
//
//	Σ_{t in S} w_a cost_ta, a the machine of t, ≤ Σ_a w_a (makespan - min(head_a + tail_a, lower))
//
// with head_a the least head of S on a, tail_a the least tail, and lower a bound of
// the makespan, max_t min_a (head_ta + cost_ta + tail_ta). A machine with some of S
// is idle before the first starts, for its head or longer, and from the end of the
// last, for its tail or longer. One without is idle for the makespan, lower or more.
func (k *dagProof) load(words []string) (proofRule, error) {
	weights, tasks, err := k.weighted(words)
	if err != nil {
		return nil, err
	}
	total, row := int64(0), &proofLinear{}
	k.s.spend(len(tasks) * k.m)
	for a, w := range weights {
		total += w
		row.allow(-w, k.idle(tasks, a))
	}
	row.terms = []proofTerm{{-total, k.makespan}}
	for _, t := range tasks {
		g := make([]proofChoice, k.m)
		for a, w := range weights {
			g[a] = proofChoice{k.on[t*k.m+a], w * k.cost[t*k.m+a]} // below 2^31 · 2^29
		}
		row.groups = append(row.groups, g)
	}
	return row, nil
}

// weighted reads the weights of the machines, of less than 2^31 together, and some tasks.
func (k *dagProof) weighted(words []string) (weights []int64, tasks []int, err error) {
	last, total := false, int64(0)
	for i, word := range words {
		if i == 0 {
			word, last = strings.CutSuffix(word, ":")
			for _, w := range strings.Split(word, ",") {
				n, err := proofIndex(w, 1<<31)
				if err != nil {
					return nil, nil, err
				}
				weights = append(weights, int64(n))
				total += int64(n)
			}
			continue
		}
		t, err := proofIndex(word, k.n)
		if err != nil || slices.Contains(tasks, t) {
			return nil, nil, errUnknownName
		}
		tasks = append(tasks, t)
	}
	if len(weights) != k.m || !last || len(tasks) == 0 || total >= 1<<31 {
		return nil, nil, errUnknownName
	}
	return weights, tasks, nil
}

// idle returns how long a machine has none of some tasks at least, see load.
func (k *dagProof) idle(tasks []int, a int) int64 {
	head, tail := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, t := range tasks {
		head, tail = min(head, k.head[t*k.m+a]), min(tail, k.tail[t*k.m+a])
	}
	return min(head+tail, k.lower, k.upper)
}
