// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// vcschedNeeds are the needs in whole units, of which a host has scale. A need d counts as
// about d·scale; by how much that is above d·scale is added up: with the hosts' largest
// load L, some host's needs sum to L·scale + error at most in units, so from a load of
// at least l units follows L ≥ (l - error) / scale, and a yield of min(1, 1/L) at most.
type vcschedNeeds struct {
	hosts       int64
	scale       int64
	job         map[string]int
	tasks       []int64 // by job
	cpu, memory []int64
	cpuError    *big.Rat // in units, of all tasks together
	memoryError *big.Rat // likewise
	capacity    int64    // of memory: what fits sums to no more
	unit        int64    // divides every cpu
}

func newVCSchedNeeds(ctx context.Context, in *model.VCSched, scale int64) (*vcschedNeeds, error) {
	n := &vcschedNeeds{hosts: int64(in.Hosts), scale: scale, job: map[string]int{}, cpuError: new(big.Rat), memoryError: new(big.Rat)}
	s, all := new(big.Rat).SetInt64(scale), 0.0
	// units returns a need in units, and adds what it is too much.
	units := func(need float64, tasks int, over *big.Rat) int64 {
		product := need * float64(scale)
		x := int64(product)
		// What x is above need times scale, exactly: the product's rounding error is a
		// float64, and a product above 1 is close enough to x for an exact difference.
		if product < 1 || float64(x)-product > math.FMA(need, float64(scale), -product) {
			d := exact(need)
			d.Mul(d, s)
			if d.Sub(new(big.Rat).SetInt64(x), d); d.Sign() > 0 {
				over.Add(over, d.Mul(d, new(big.Rat).SetInt64(int64(tasks))))
			}
		}
		all += float64(x) * float64(tasks)
		return x
	}
	for i := range in.Jobs {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		j := &in.Jobs[i]
		n.job[j.ID] = i
		n.tasks = append(n.tasks, int64(j.Tasks))
		n.cpu = append(n.cpu, units(j.CPU, j.Tasks, n.cpuError))
		n.memory = append(n.memory, units(j.Memory, j.Tasks, n.memoryError))
		n.unit = gcd(n.unit, n.cpu[i])
	}
	if all > 1<<61 {
		return nil, tooMuch("tasks")
	}
	n.unit = max(1, n.unit)
	n.capacity = n.room(big.NewRat(1, 1)).Int64()
	return n, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// from returns what follows from a load that no placement stays below.
func (n *vcschedNeeds) from(load int64, how string, args ...any) Followed {
	if rest := load % n.unit; rest != 0 {
		load += n.unit - rest
	}
	f := Followed{Bound: big.NewRat(1, 1), How: fmt.Sprintf(how, args...)}
	least := new(big.Rat).SetInt64(load)
	if least.Sub(least, n.cpuError).Cmp(new(big.Rat).SetInt64(n.scale)) > 0 {
		f.Bound.Quo(new(big.Rat).SetInt64(n.scale), least)
	}
	return f
}

// impossible returns that there is no placement.
func impossible(how string, args ...any) Followed {
	return Followed{Infeasible: true, How: fmt.Sprintf(how, args...)}
}

// vcschedEvidence recomputes bounds on the minimum yield.
func vcschedEvidence(ctx context.Context, in *model.VCSched, e *model.Evidence) (Followed, error) {
	if e.Type == evidence.Misfit {
		return misfit(in, e)
	}
	// Further resources can only make a placement worse.
	n, err := newVCSchedNeeds(ctx, in, e.Scale)
	if err != nil {
		return Followed{}, err
	}
	if len(in.HostSizes) > 0 {
		s, err := newSizedHosts(in, n)
		if err != nil {
			return Followed{}, err
		}
		return s.evidence(ctx, in, e)
	}
	switch e.Type {
	case evidence.Sum:
		return n.sum(e)
	case evidence.Crowd:
		return n.crowd(e)
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
			return n.from(0, "%s", how), nil
		case big.NewInt(e.Load).Cmp(n.total()) >= 0:
			return impossible("%s", how), nil
		}
		return n.from(e.Load+1, "%s", how), nil
	}
	return n.patterns(ctx, e)
}

// misfit looks for the hosts that have the rigid resources for a task of a job: its relative load is no
// less than on that of the most CPU.
func misfit(in *model.VCSched, e *model.Evidence) (Followed, error) {
	k := slices.IndexFunc(in.Jobs, func(j model.VCSchedJob) bool { return j.ID == e.Elements[0] })
	if k < 0 {
		return Followed{}, fmt.Errorf("the instance has no job %q", e.Elements[0])
	}
	one, cpu := big.NewRat(1, 1), 0.0
	for _, s := range in.Sizes() {
		fits := true
		for r := -1; r < len(in.Resources); r++ {
			most := new(big.Rat).Add(one, exact(view.FitTolerance))
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

// sum compares the needs of a resource with what all hosts have.
func (n *vcschedNeeds) sum(e *model.Evidence) (Followed, error) {
	needs := n.cpu
	if e.Resource == "memory" {
		needs = n.memory
	}
	var total, room big.Int
	for i, d := range needs {
		total.Add(&total, new(big.Int).Mul(big.NewInt(d), big.NewInt(n.tasks[i])))
	}
	if e.Resource == "memory" {
		if room.Mul(big.NewInt(n.capacity), big.NewInt(n.hosts)).Cmp(&total) < 0 {
			return impossible("the sum of the memory needs"), nil
		}
		return n.from(0, "the sum of the memory needs"), nil
	}
	load := new(big.Int).Add(&total, big.NewInt(n.hosts-1))
	return n.from(load.Quo(load, big.NewInt(n.hosts)).Int64(), "the sum of the CPU needs"), nil
}

// crowd takes the k H + 1 largest CPU needs: k + 1 of these tasks share a host.
func (n *vcschedNeeds) crowd(e *model.Evidence) (Followed, error) {
	if (int64(e.Count)-1)%n.hosts != 0 {
		return Followed{}, fmt.Errorf("%d tasks are no whole number of tasks on each of %d hosts and one", e.Count, n.hosts)
	}
	least, ok := n.largest(int64(e.Count))
	if !ok {
		return Followed{}, fmt.Errorf("there are no %d tasks", e.Count)
	}
	s := "s"
	if e.Count == 1 {
		s = ""
	}
	return n.from(((int64(e.Count)-1)/n.hosts+1)*least, "the %d largest CPU need%s", e.Count, s), nil
}

// largest returns the least of so many of the largest CPU needs; false if there are fewer.
func (n *vcschedNeeds) largest(count int64) (least int64, ok bool) {
	order := make([]int, len(n.cpu))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(n.cpu[b], n.cpu[a]) })
	for _, i := range order {
		if count -= n.tasks[i]; count <= 0 {
			return n.cpu[i], true
		}
	}
	return 0, false
}

// named returns the jobs of evidence, and how many tasks of them it means.
func (n *vcschedNeeds) named(e *model.Evidence) (jobs []int, count int64, err error) {
	for k, id := range e.Elements {
		i, ok := n.job[id]
		if w := e.Weights[k]; !ok || w > float64(n.tasks[i]) {
			return nil, 0, fmt.Errorf("there is no job %q with %v tasks", id, w)
		}
		count += int64(e.Weights[k])
		jobs = append(jobs, i)
	}
	return jobs, count, nil
}

// clique takes tasks, so many of each job as its weight says, of which there are more than
// hosts, so that two share one. Two that don't fit in memory can't: the load is
// that of the least two that can.
func (n *vcschedNeeds) clique(ctx context.Context, e *model.Evidence) (Followed, error) {
	if len(e.Elements) > 2000 {
		return Followed{}, tooMuch("jobs of which no two fit on one host")
	}
	jobs, count, err := n.named(e)
	if err != nil {
		return Followed{}, err
	}
	least := int64(math.MaxInt64)
	for x, a := range jobs {
		if ctx.Err() != nil {
			return Followed{}, ctx.Err()
		}
		for y, b := range jobs[:x+1] {
			if x == y && e.Weights[x] == 1 {
				continue
			}
			if n.memory[a]+n.memory[b] <= n.capacity {
				least = min(least, n.cpu[a]+n.cpu[b])
			}
		}
	}
	how := fmt.Sprintf("%d tasks of which no two fit on one host", count)
	switch {
	case count <= n.hosts:
		return n.from(0, "%s", how), nil
	case least == math.MaxInt64:
		return impossible("%s", how), nil
	}
	return n.from(least, "%s", how), nil
}

// filling adds up the needs under a dual-feasible function f, Σ f(x) ≤ f(bin) over
// what fits on one host: more than H f(bin) don't fit on H hosts. For memory the load is a
// capacity, of which a host has no more; for CPU one that placements exceed.
func (n *vcschedNeeds) filling(e *model.Evidence) (Followed, error) {
	needs, capacity := n.cpu, e.Load
	if e.Resource == "memory" {
		if needs = n.memory; capacity < n.capacity {
			return Followed{}, fmt.Errorf("a host has %d units of memory, not %d", n.capacity, capacity)
		}
	}
	over, how, err := n.overfull(e, needs, capacity)
	switch {
	case err != nil:
		return Followed{}, err
	case !over:
		return n.from(0, "%s", how), nil
	case e.Resource == "memory":
		return impossible("%s", how), nil
	}
	return n.from(capacity+1, "%s", how), nil
}

// overfull reports whether needs don't fit on the hosts, each of a capacity, by the function of evidence.
func (n *vcschedNeeds) overfull(e *model.Evidence, needs []int64, capacity int64) (over bool, how string, err error) {
	f, bin, err := dualFunction(e.Function, capacity)
	if err != nil {
		return false, "", err
	}
	how = fmt.Sprintf("the %s needs", e.Resource)
	if e.Function != nil {
		how += " under the dual-feasible function " + e.Function.Name
	}
	total := new(big.Int)
	for i, d := range needs {
		over = over || d > capacity
		if d <= capacity {
			total.Add(total, bigProduct(f(d), n.tasks[i]))
		}
	}
	return over || total.Cmp(bigProduct(bin, n.hosts)) > 0, how, nil
}

// patterns weighs the jobs' tasks. If no set of tasks that fits on a host of the load
// weighs more than z, placements on H such hosts weigh H z at most; all tasks weigh more.
func (n *vcschedNeeds) patterns(ctx context.Context, e *model.Evidence) (Followed, error) {
	counts := map[patternSize]int64{}
	total := int64(0)
	for k, id := range e.Elements {
		i, ok := n.job[id]
		if !ok {
			return Followed{}, fmt.Errorf("there is no job %q", id)
		}
		if w := e.Weights[k]; w > 0 {
			counts[patternSize{n.cpu[i], n.memory[i], int64(w)}] += n.tasks[i]
			total += int64(w) * n.tasks[i] // at most 2^24 tasks
		}
	}
	how := fmt.Sprintf("the weights of %d jobs", len(e.Elements))
	if total == 0 {
		return n.from(0, "%s", how), nil
	}
	if len(counts) > maxEvidenceWork/100 { // grow calls itself for each
		return Followed{}, tooMuch("kinds of tasks")
	}
	k := newKnapsack(counts, e.Load, n.capacity)
	k.best = (total - 1) / n.hosts
	switch heavier, done := k.heavier(ctx); {
	case !done:
		return Followed{}, tooMuch("patterns")
	case heavier:
		return n.from(0, "%s", how), nil
	}
	if big.NewInt(e.Load).Cmp(n.total()) >= 0 {
		return impossible("%s", how), nil
	}
	return n.from(e.Load+1, "%s", how), nil
}

// total returns the sum of all CPU needs, which no load exceeds.
func (n *vcschedNeeds) total() *big.Int {
	var total big.Int
	for i, d := range n.cpu {
		total.Add(&total, new(big.Int).Mul(big.NewInt(d), big.NewInt(n.tasks[i])))
	}
	return &total
}

// patternSize are a task's needs and its weight.
type patternSize struct{ cpu, memory, weight int64 }

// knapsack searches a set of items that fits and weighs more than best; if all is set it goes on
// from each that it finds, whose weight is best, to the heaviest.
type knapsack struct {
	all      bool
	items    []knapsackItem
	capacity [3]int64
	best     int64
	densest  [3][]int32 // [resource][k]: of the items from k on
	left     int
}

type knapsackItem struct {
	size          [3]int64
	weight, count int64
}

// newKnapsack returns a search of tasks for a host of a load and of memory.
func newKnapsack(counts map[patternSize]int64, load, memory int64) knapsack {
	k := knapsack{capacity: [3]int64{load, memory}, left: maxEvidenceWork / 2}
	var need [2]float64
	for s, c := range counts {
		k.items = append(k.items, knapsackItem{[3]int64{s.cpu, s.memory}, s.weight, c})
		need[0] += float64(s.cpu) * float64(c) / float64(max(1, load))
		need[1] += float64(s.memory) * float64(c) / float64(max(1, memory))
	}
	// A third resource is a sum of both, by how scarce they are: whatever the shares,
	// what fits fits in the sum.
	share := int64(32)
	if both := need[0] + need[1]; both > 0 {
		share = int64(64 * need[0] / both)
	}
	join := func(a [3]int64) int64 { return share*a[0] + (64-share)*a[1] }
	k.capacity[2] = join(k.capacity)
	for i := range k.items {
		k.items[i].size[2] = join(k.items[i].size)
	}
	return k
}

// heavier reports whether there is such a set. done is false if it took too long.
func (k *knapsack) heavier(ctx context.Context) (yes, done bool) {
	denser := func(a, b *knapsackItem, r int) bool {
		return product(a.weight, b.size[r]).cmp(product(b.weight, a.size[r])) > 0
	}
	slices.SortFunc(k.items, func(a, b knapsackItem) int {
		switch {
		case denser(&a, &b, 2):
			return -1
		case denser(&b, &a, 2):
			return 1
		}
		return cmp.Or(slices.Compare(a.size[:], b.size[:]), cmp.Compare(a.weight, b.weight))
	})
	for r := range k.densest {
		k.densest[r] = make([]int32, len(k.items))
		best := len(k.items) - 1
		for i := best; i >= 0; i-- {
			if denser(&k.items[i], &k.items[best], r) {
				best = i
			}
			k.densest[r][i] = int32(best)
		}
	}
	yes = k.grow(ctx, 0, 0, k.capacity)
	return yes, yes || k.left > 0
}

func (k *knapsack) grow(ctx context.Context, i int, weight int64, left [3]int64) bool {
	if weight > k.best {
		if k.best = weight; !k.all {
			return true
		}
	}
	if k.left--; k.left <= 0 || k.left&0xffff == 0 && ctx.Err() != nil {
		k.left = 0
		return false
	}
	if i == len(k.items) {
		return false
	}
	for r := range left { // what the densest item could still weigh
		if x := &k.items[k.densest[r][i]]; x.size[r] > 0 && product(x.weight, left[r]).cmp(product(k.best-weight, x.size[r])) <= 0 {
			return false
		}
	}
	x := &k.items[i]
	most := x.count
	for r, s := range x.size[:2] {
		if s > 0 {
			most = min(most, left[r]/s)
		}
	}
	for c := most; c >= 0 && k.left > 0; c-- {
		rest := left
		for r := range rest {
			rest[r] -= c * x.size[r]
		}
		if k.grow(ctx, i+1, weight+c*x.weight, rest) {
			return true
		}
	}
	return false
}
