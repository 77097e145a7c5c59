// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// vcschedNeeds are the needs in whole units; a reference host has scale of them. A need d counts as about d·scale; by
// how much that is above d·scale is added up, by resource. Resources are numbered: CPU, memory, and the instance's own.
type vcschedNeeds struct {
	in     *model.VCSched
	names  []string // [resource]
	scale  int64
	jobs   map[string]int // for job; nil before
	tasks  []int64        // [job]
	all    int64          // tasks
	need   [][]int64      // [resource][job]
	over   []*big.Rat     // [resource]: in units, of all tasks together
	hosts  int64          // of each size at most one for each task: no more are used
	sizes  []vcschedHosts
	sizeOf []int  // of sizes, for each of model.VCSched.Sizes
	unit   int64  // divides every need of CPU
	by     string // the source of bounds other than the needs
}

// vcschedHosts are hosts of one size.
type vcschedHosts struct {
	count int64
	cpu   *big.Rat
	room  []int64 // [resource]: in units, tasks that fit sum to no more; of CPU 0
}

func newVCSchedNeeds(ctx context.Context, in *model.VCSched, scale int64) (*vcschedNeeds, error) {
	n := &vcschedNeeds{in: in, names: vcschedResources(in), scale: scale, tasks: make([]int64, len(in.Jobs))}
	n.need = make([][]int64, len(n.names))
	for r := range n.need {
		n.need[r] = make([]int64, len(in.Jobs))
	}
	over, total := make([]sum, len(n.names)), 0.0
	// units returns a need in units, and adds its excess.
	units := func(need, tasks float64, over *sum) int64 {
		product := need * float64(scale)
		x := int64(product)
		// The excess of x above need times scale, exactly: the product's rounding error is a float64, and a product
		// above 1 is close enough to x for an exact difference. Below, x is 0 and exceeds nothing.
		if above, rounded := float64(x)-product, math.FMA(need, float64(scale), -product); product >= 1 && above > rounded {
			over.addProduct(above, tasks)
			over.addProduct(-rounded, tasks)
		}
		total += product * tasks
		return x
	}
	for i := range in.Jobs {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		j := &in.Jobs[i]
		n.tasks[i] = int64(j.Tasks)
		n.all += n.tasks[i]
		n.need[0][i] = units(j.CPU, float64(j.Tasks), &over[0])
		for r := 1; r < len(n.names); r++ {
			n.need[r][i] = units(j.Rigid(r-2), float64(j.Tasks), &over[r])
		}
		n.unit = gcd(n.unit, n.need[0][i])
	}
	for r := range over {
		n.over = append(n.over, over[r].rat())
	}
	if total > 1<<60 {
		return nil, tooMuch("tasks")
	}
	n.unit = max(1, n.unit)
	if len(in.HostSizes) > 0 {
		n.by = " and the hosts' sizes"
	}
	return n, n.readHosts(in)
}

// vcschedResources returns the names of CPU, memory and an instance's further resources.
func vcschedResources(in *model.VCSched) []string {
	return append([]string{"cpu", "memory"}, in.Resources...)
}

// readHosts sets the hosts by size.
func (n *vcschedNeeds) readHosts(in *model.VCSched) error {
	known := map[string]int{}
	for _, h := range in.Sizes() {
		key := fmt.Sprint(h.CPU, h.Memory, h.Resources)
		k, ok := known[key]
		if !ok {
			k = len(n.sizes)
			known[key] = k
			s := vcschedHosts{cpu: exact(h.CPU), room: make([]int64, len(n.names))}
			for r := 1; r < len(n.names); r++ {
				room := n.roomOf(r, exact(h.Rigid(r-2)))
				if room.BitLen() > 54 { // so that sums of some resources are below 2^62
					return tooMuch("the size of a host")
				}
				s.room[r] = room.Int64()
			}
			n.sizes = append(n.sizes, s)
		}
		n.sizeOf = append(n.sizeOf, k)
		n.sizes[k].count += int64(h.Count)
	}
	for k := range n.sizes {
		s := &n.sizes[k]
		s.count = min(s.count, n.all)
		n.hosts += s.count
	}
	return nil
}

// roomOf returns the largest sum, in units, of the needs of a rigid resource on a host that has so much of it.
func (n *vcschedNeeds) roomOf(resource int, size *big.Rat) *big.Int {
	c := exact(Tolerance)
	c.Add(c, big.NewRat(1, 1)).Mul(c, size).Mul(c, new(big.Rat).SetInt64(n.scale)).Add(c, n.over[resource])
	return new(big.Int).Quo(c.Num(), c.Denom())
}

// cpuAt returns the largest sum of the CPU needs on a host of a size at a relative load: ⌊load C⌋.
func (h *vcschedHosts) cpuAt(load *big.Int) *big.Int {
	x := new(big.Int).Mul(load, h.cpu.Num())
	return x.Quo(x, h.cpu.Denom())
}

// load returns the relative load of a host with CPU needs that sum to x, rounded up.
func (h *vcschedHosts) load(x *big.Int) *big.Int {
	y := new(big.Int).Mul(x, h.cpu.Denom())
	y.Add(y, h.cpu.Num()).Sub(y, big.NewInt(1))
	return y.Quo(y, h.cpu.Num())
}

// extremes returns the hosts of the least and of the most CPU.
func (n *vcschedNeeds) extremes() (least, most *vcschedHosts) {
	least, most = &n.sizes[0], &n.sizes[0]
	for k := range n.sizes {
		if s := &n.sizes[k]; s.cpu.Cmp(least.cpu) < 0 {
			least = s
		} else if s.cpu.Cmp(most.cpu) > 0 {
			most = s
		}
	}
	return least, most
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// from returns the conclusion if no placement stays within a relative load of l - 1. On some host, of the CPU C, the
// needs sum to ⌊(l - 1) C⌋ + 1 at least, and to a multiple of the unit, say x. They exceed the true needs by at most
// the rounding of all together, so the load is (x - over) / C at least.
func (n *vcschedNeeds) from(l *big.Int, how string, args ...any) Followed {
	f := Followed{Bound: big.NewRat(1, 1), How: fmt.Sprintf(how, args...)}
	if l.Sign() <= 0 {
		return f
	}
	one, unit := big.NewInt(1), big.NewInt(n.unit)
	below := new(big.Int).Sub(l, one)
	var least *big.Rat
	for k := range n.sizes {
		x := n.sizes[k].cpuAt(below) // and 1, up to a multiple of the unit
		x.Quo(x, unit).Add(x, one).Mul(x, unit)
		load := new(big.Rat).SetInt(x)
		load.Sub(load, n.over[0]).Quo(load, n.sizes[k].cpu)
		if least == nil || load.Cmp(least) < 0 {
			least = load
		}
	}
	if scale := new(big.Rat).SetInt64(n.scale); least.Cmp(scale) > 0 {
		f.Bound.Quo(scale, least)
	}
	return f
}

// nothing returns that nothing follows.
func (n *vcschedNeeds) nothing(how string, args ...any) Followed {
	return n.from(new(big.Int), how, args...)
}

// impossible returns that there is no placement.
func impossible(how string, args ...any) Followed {
	return Followed{Infeasible: true, How: fmt.Sprintf(how, args...)}
}

// beyond returns the conclusion if no placement stays within a relative load. There is none at all if that much takes
// all tasks on any host.
func (n *vcschedNeeds) beyond(load int64, how string) Followed {
	l := big.NewInt(load)
	if least, _ := n.extremes(); least.cpuAt(l).Cmp(n.total(0)) >= 0 {
		return impossible("%s", how)
	}
	return n.from(l.Add(l, big.NewInt(1)), "%s", how)
}

// vcschedEvidence recomputes bounds on the minimum yield.
func vcschedEvidence(ctx context.Context, in *model.VCSched, e *model.Evidence) (Followed, error) {
	if e.Type == evidence.Misfit {
		return misfit(in, e)
	}
	n, err := newVCSchedNeeds(ctx, in, e.Scale)
	if err != nil {
		return Followed{}, err
	}
	switch e.Type {
	case evidence.Sum:
		return n.sum(ctx, e)
	case evidence.Crowd:
		return n.crowd(ctx, e)
	case evidence.Clique:
		return n.clique(ctx, e)
	case evidence.Filling:
		return n.filling(e)
	case evidence.Moves:
		short, how, err := n.moves(ctx, in, e)
		switch {
		case err != nil:
			return Followed{}, err
		case !short:
			return n.nothing("%s", how), nil
		}
		return n.beyond(e.Load, how), nil
	}
	return n.patterns(ctx, e)
}

// misfit looks for the hosts that have the rigid resources for a task of a job: its relative load is no less than on
// the one with the most CPU.
func misfit(in *model.VCSched, e *model.Evidence) (Followed, error) {
	k := slices.IndexFunc(in.Jobs, func(j model.VCSchedJob) bool { return j.ID == e.Elements[0] })
	if k < 0 {
		return Followed{}, fmt.Errorf("the instance has no job %q", e.Elements[0])
	}
	one, cpu := big.NewRat(1, 1), 0.0
	for _, s := range in.Sizes() {
		fits := true
		for r := -1; r < len(in.Resources); r++ {
			most := new(big.Rat).Add(one, exact(Tolerance))
			most.Mul(most, exact(s.Rigid(r)))
			fits = fits && exact(in.Jobs[k].Rigid(r)).Cmp(most) <= 0
		}
		if fits {
			cpu = max(cpu, s.CPU)
		}
	}
	if cpu == 0 {
		return impossible("a task of job %s fits on no host", e.Elements[0]), nil
	}
	f := Followed{Bound: one, How: fmt.Sprintf("the hosts on which a task of job %s fits", e.Elements[0])}
	if need := in.Jobs[k].CPU; need > cpu {
		f.Bound.Quo(exact(cpu), exact(need))
	}
	return f, nil
}

// total returns the sum of the needs of a resource.
func (n *vcschedNeeds) total(resource int) *big.Int {
	var total wideSum
	for i, d := range n.need[resource] {
		total.add(d, n.tasks[i])
	}
	return total.integer()
}

// job returns the number of a job; false if there is none of that name.
func (n *vcschedNeeds) job(id string) (int, bool) {
	if n.jobs == nil {
		n.jobs = make(map[string]int, len(n.in.Jobs))
		for i := range n.in.Jobs {
			n.jobs[n.in.Jobs[i].ID] = i
		}
	}
	i, ok := n.jobs[id]
	return i, ok
}

// resource returns the number of a resource, as the form has it; "" is CPU.
func (n *vcschedNeeds) resource(name string) int { return max(0, slices.Index(n.names, name)) }

// called returns a resource's name as used in a sentence.
func (n *vcschedNeeds) called(resource int) string {
	if resource == 0 {
		return "CPU"
	}
	return n.names[resource]
}

// enough returns the least load for which holds is true. It is true from some load on, and for most.
func (n *vcschedNeeds) enough(ctx context.Context, most *big.Int, holds func(load *big.Int) bool) (*big.Int, error) {
	low, high := big.NewInt(-1), most // too little; enough
	for {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		middle := new(big.Int).Add(low, high)
		if middle.Rsh(middle, 1); middle.Cmp(low) == 0 {
			return high, nil
		}
		if holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
}

// sum compares the needs of a resource with the total of all hosts.
func (n *vcschedNeeds) sum(ctx context.Context, e *model.Evidence) (Followed, error) {
	r := n.resource(e.Resource)
	total, room := n.total(r), new(big.Int)
	how := fmt.Sprintf("the sum of the %s needs%s", n.called(r), n.by)
	if r > 0 {
		for i := range n.sizes {
			room.Add(room, bigProduct(n.sizes[i].room[r], n.sizes[i].count))
		}
		if room.Cmp(total) < 0 {
			return impossible("%s", how), nil
		}
		return n.nothing("%s", how), nil
	}
	_, most := n.extremes()
	load, err := n.enough(ctx, most.load(total), func(load *big.Int) bool {
		room.SetInt64(0)
		for i := range n.sizes {
			x := n.sizes[i].cpuAt(load)
			room.Add(room, x.Mul(x, big.NewInt(n.sizes[i].count)))
		}
		return room.Cmp(total) >= 0
	})
	if err != nil {
		return Followed{}, err
	}
	return n.from(load, "%s", how), nil
}

// crowd takes so many tasks of the largest needs of a resource. A host with room for x takes ⌊x / the least of them⌋ at
// most.
func (n *vcschedNeeds) crowd(ctx context.Context, e *model.Evidence) (Followed, error) {
	r := n.resource(e.Resource)
	least, ok := n.largest(r, int64(e.Count))
	if !ok {
		return Followed{}, fmt.Errorf("there are no %d tasks", e.Count)
	}
	s := "s"
	if e.Count == 1 {
		s = ""
	}
	how := fmt.Sprintf("the %d largest %s need%s%s", e.Count, n.called(r), s, n.by)
	if least == 0 {
		return n.nothing("%s", how), nil
	}
	count, need := big.NewInt(int64(e.Count)), big.NewInt(least)
	taken := func(room func(h *vcschedHosts) *big.Int) bool {
		sum := new(big.Int)
		for i := range n.sizes {
			x := room(&n.sizes[i])
			sum.Add(sum, x.Quo(x, need).Mul(x, big.NewInt(n.sizes[i].count)))
		}
		return sum.Cmp(count) >= 0
	}
	if r > 0 {
		if taken(func(h *vcschedHosts) *big.Int { return big.NewInt(h.room[r]) }) {
			return n.nothing("%s", how), nil
		}
		return impossible("%s", how), nil
	}
	_, most := n.extremes()
	load, err := n.enough(ctx, most.load(new(big.Int).Mul(count, need)), func(load *big.Int) bool {
		return taken(func(h *vcschedHosts) *big.Int { return h.cpuAt(load) })
	})
	if err != nil {
		return Followed{}, err
	}
	return n.from(load, "%s", how), nil
}

// largest returns the least of so many of the largest needs of a resource; false if there are fewer.
func (n *vcschedNeeds) largest(resource int, count int64) (least int64, ok bool) {
	needs := n.need[resource]
	order := make([]int, len(needs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(needs[b], needs[a]) })
	for _, i := range order {
		if count -= n.tasks[i]; count <= 0 {
			return needs[i], true
		}
	}
	return 0, false
}

// named returns the jobs of evidence, and how many tasks of them it means.
func (n *vcschedNeeds) named(e *model.Evidence) (jobs []int, count int64, err error) {
	for k, id := range e.Elements {
		i, ok := n.job(id)
		if w := e.Weights[k]; !ok || w > float64(n.tasks[i]) {
			return nil, 0, fmt.Errorf("there is no job %q with %v tasks", id, w)
		}
		count += int64(e.Weights[k])
		jobs = append(jobs, i)
	}
	return jobs, count, nil
}

// clique takes tasks, as many of each job as its weight states. They are more than there are hosts, so that two share
// one. Two that don't fit by a rigid resource can't: the load is the least that two can have together on some host.
func (n *vcschedNeeds) clique(ctx context.Context, e *model.Evidence) (Followed, error) {
	jobs, count, err := n.named(e)
	if err != nil {
		return Followed{}, err
	}
	how := fmt.Sprintf("%d tasks of which no two fit on one host", count)
	if count <= n.hosts {
		return n.nothing("%s", how), nil
	}
	sizes := n.undominated()
	if float64(len(jobs))*float64(len(jobs))*float64(len(sizes))*float64(len(n.names)) > 100*maxEvidenceWork {
		return Followed{}, tooMuch("jobs of which no two fit on one host")
	}
	least := slices.Repeat([]int64{math.MaxInt64}, len(sizes)) // CPU needs of two that fit
	for x, a := range jobs {
		if ctx.Err() != nil {
			return Followed{}, ctx.Err()
		}
		for y, b := range jobs[:x+1] {
			if x == y && e.Weights[x] == 1 {
				continue
			}
			cpu := n.need[0][a] + n.need[0][b]
			for k, s := range sizes {
				if cpu < least[k] && n.fit(a, b, s) {
					least[k] = cpu
				}
			}
		}
	}
	var load *big.Int
	for k, s := range sizes {
		if least[k] == math.MaxInt64 {
			continue
		}
		if l := s.load(big.NewInt(least[k])); load == nil || l.Cmp(load) < 0 {
			load = l
		}
	}
	if load == nil {
		return impossible("%s", how), nil
	}
	return n.from(load, "%s", how), nil
}

// fit reports whether a host of a size has the rigid resources for a task of each of two jobs.
func (n *vcschedNeeds) fit(a, b int, s *vcschedHosts) bool {
	for r := 1; r < len(n.names); r++ {
		if n.need[r][a]+n.need[r][b] > s.room[r] {
			return false
		}
	}
	return true
}

// undominated returns the sizes of hosts without those that another one matches in everything.
func (n *vcschedNeeds) undominated() (sizes []*vcschedHosts) {
	for k := range n.sizes {
		s := &n.sizes[k]
		// Earlier sizes have been looked at; they leave if s dominates them.
		if slices.ContainsFunc(sizes, func(o *vcschedHosts) bool { return o.hasAll(s) }) {
			continue
		}
		sizes = append(slices.DeleteFunc(sizes, s.hasAll), s)
	}
	return sizes
}

// hasAll reports whether a host has as much of everything as another.
func (h *vcschedHosts) hasAll(o *vcschedHosts) bool {
	for r, x := range o.room {
		if h.room[r] < x {
			return false
		}
	}
	return h.cpu.Cmp(o.cpu) >= 0
}

// filling adds up the needs under a dual-feasible function f, Σ f(x) ≤ f(bin) over the tasks on one host. More than H
// f(bin) don't fit on H hosts, each taken to be as large as the largest. For CPU the load is one that placements
// exceed. For another resource, or the sum of some (elements), it is a capacity that no host exceeds.
func (n *vcschedNeeds) filling(e *model.Evidence) (Followed, error) {
	names := e.Elements
	if len(names) == 0 {
		names = []string{e.Resource}
	}
	what, needs, capacity, load := []string{}, make([]int64, len(n.tasks)), new(big.Int), big.NewInt(e.Load)
	room := make([]int64, len(n.sizes))
	for _, name := range names {
		r := n.resource(name)
		what = append(what, n.called(r))
		for i, d := range n.need[r] {
			needs[i] += d // all together are below 2^61
		}
		for k := range n.sizes {
			room[k] += n.sizes[k].room[r]
		}
	}
	cpu := e.Resource == "cpu"
	for k := range n.sizes {
		x := big.NewInt(room[k])
		if cpu {
			x = n.sizes[k].cpuAt(load)
		}
		capacity = maximum(capacity, x)
	}
	if !cpu {
		if load.Cmp(capacity) < 0 {
			return Followed{}, fmt.Errorf("a host has %d units of %s, not %d", capacity, strings.Join(what, " and "), e.Load)
		}
		capacity = load
	}
	how := fmt.Sprintf("the %s needs", strings.Join(what, " and "))
	if e.Function != nil {
		how += " under the dual-feasible function " + e.Function.Name
	}
	if !capacity.IsInt64() {
		return Followed{}, tooMuch("the load")
	}
	over, err := n.overfull(e.Function, needs, capacity.Int64())
	switch {
	case err != nil:
		return Followed{}, err
	case !over:
		return n.nothing("%s", how), nil
	case !cpu:
		return impossible("%s", how), nil
	}
	return n.from(new(big.Int).Add(load, big.NewInt(1)), "%s", how), nil
}

// overfull reports whether needs don't fit on the hosts, each of a capacity, by a dual-feasible function.
func (n *vcschedNeeds) overfull(function *model.DualFunction, needs []int64, capacity int64) (over bool, err error) {
	f, bin, err := dualFunction(function, capacity)
	if err != nil {
		return false, err
	}
	var total wideSum
	for i, d := range needs {
		over = over || d > capacity
		if d <= capacity {
			total.add(f(d), n.tasks[i])
		}
	}
	return over || total.integer().Cmp(bigProduct(bin, n.hosts)) > 0, nil
}

// patterns weighs the jobs' tasks, for hosts of one size. If no set of tasks that fits on a host of the load
// weighs more than z, placements on H such hosts weigh H z at most; all tasks weigh more.
func (n *vcschedNeeds) patterns(ctx context.Context, e *model.Evidence) (Followed, error) {
	if len(n.sizes) > 1 {
		return Followed{}, errors.New("patterns speak of equal hosts, and these have sizes")
	}
	weights := make(map[weighed]int64)
	total := int64(0)
	for k, id := range e.Elements {
		i, ok := n.job(id)
		if !ok {
			return Followed{}, fmt.Errorf("there is no job %q", id)
		}
		if w := e.Weights[k]; w > 0 {
			weights[weighed{i, int64(w)}] = n.tasks[i]
			total += int64(w) * n.tasks[i] // at most 2^24 tasks
		}
	}
	how := fmt.Sprintf("the weights of %d jobs%s", len(e.Elements), n.by)
	if total == 0 {
		return n.nothing("%s", how), nil
	}
	k, err := n.newKnapsack(weights, &n.sizes[0], e.Load)
	if err != nil {
		return Followed{}, err
	}
	k.best = (total - 1) / n.hosts
	switch heavier, done := k.heavier(ctx); {
	case !done:
		return Followed{}, tooMuch("patterns")
	case heavier:
		return n.nothing("%s", how), nil
	}
	return n.beyond(e.Load, how), nil
}
