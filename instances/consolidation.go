// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/model"
)

// ConsolidationSpec specifies clusters with tasks that were placed one by one, each on the allowed host with most left,
// as kube-scheduler's LeastAllocated does. Some tasks have gone since. A field's zero value means its default, if one
// is named.
type ConsolidationSpec struct {
	Hosts int `key:"hosts" default:"20" small:"2,3" hard:"30" required:"yes" usage:"number of hosts"`
	// Load is the needed share of the hosts' capacity of the scarcest resource, before tasks go.
	Load float64 `key:"load" default:"0.7" small:"0.6" hard:"0.95" usage:"needed share of the scarcest resource, before tasks leave"`
	// Churn is the share of the tasks that have gone.
	Churn     float64 `key:"churn" default:"0.4" small:"0.3" hard:"0.2" usage:"share of the tasks that have left since they were placed"`
	Replicas  int     `key:"replicas" default:"6" small:"2" hard:"3" usage:"largest number of tasks of a job"`
	Resources int     `key:"resources" default:"2" small:"2" hard:"4" usage:"number of resources"`
	Sizes     int     `key:"sizes" default:"1" small:"2" usage:"number of host sizes: 1, 1/2, 1/4, ... of the largest, at a price in proportion"`
	Zones     int     `key:"zones" default:"3" small:"2" usage:"number of zones; hosts take turns"`
	// The shares of the jobs with a rule of each type, with pinned tasks, and of one pool of a
	// quarter of the hosts.
	Apart    float64 `key:"apart" default:"0.1" small:"0.3" usage:"share of the jobs whose tasks must be on different hosts"`
	Spread   float64 `key:"spread" default:"0.2" small:"0.3" usage:"share of the jobs spread over zones with a skew of at most 1"`
	Together float64 `key:"together" default:"0" small:"0.2" usage:"share of the jobs whose tasks must be in the zone of a task of the job before"`
	Pinned   float64 `key:"pinned" default:"0.05" small:"0.2" usage:"share of the jobs whose tasks can't move"`
	Pool     float64 `key:"pool" default:"0.1" small:"0.2" usage:"share of the jobs that may only be on a quarter of the hosts"`
	// Offers adds each size as an offer.
	Offers int `key:"offers" default:"0" small:"1" usage:"number of hosts of each size that can be bought"`
	// Limit, if not 0, asks for the fewest moves to this share of today's cost, rounded up.
	Limit float64 `key:"limit" default:"0" small:"0,0.9" hard:"0.8" usage:"the goal is the fewest moves that reach this share of today's cost; 0: the least cost"`
	Index int
	Seed  uint64
}

// NewConsolidationSpec returns the specification with its defaults.
func NewConsolidationSpec() ConsolidationSpec { return *params.SetDefaults(&ConsolidationSpec{}) }

// checkKeys implements Spec.
func (*ConsolidationSpec) checkKeys(map[string]bool) error { return nil }

// nth implements Spec.
func (s *ConsolidationSpec) nth(k, _ int, seed uint64) Planned {
	one := *s
	one.Index, one.Seed = k, seed
	return newPlanned(&one, one.name(), k, one.Generate)
}

// name names all parameters: H20-l70-c40-n6-r2-k1-z3-a10-s20-t0-p5-q10-o0-1, with a limit of 60 % -m60 before the
// number.
func (s ConsolidationSpec) name() string {
	if s.Limit > 0 {
		return fmt.Sprintf("%s-m%.6g-%d", s.drawName(), math.Round(s.Limit*1e8)/1e6, s.Index)
	}
	return fmt.Sprintf("%s-%d", s.drawName(), s.Index)
}

// drawName names what decides the random numbers, without Index.
func (s ConsolidationSpec) drawName() string {
	percent := func(x float64) string { return fmt.Sprintf("%.6g", math.Round(x*1e8)/1e6) }
	return fmt.Sprintf("H%d-l%s-c%s-n%d-r%d-k%d-z%d-a%s-s%s-t%s-p%s-q%s-o%d", s.Hosts, percent(s.Load), percent(s.Churn), s.Replicas, s.Resources, s.Sizes, s.Zones,
		percent(s.Apart), percent(s.Spread), percent(s.Together), percent(s.Pinned), percent(s.Pool), s.Offers)
}

func (s ConsolidationSpec) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w consolidation specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	for _, x := range []struct {
		name      string
		value     float64
		low, high float64
	}{
		{"hosts", float64(s.Hosts), 1, 100_000}, {"replicas", float64(s.Replicas), 1, 10_000}, {"resources", float64(s.Resources), 1, 64}, {"sizes", float64(s.Sizes), 1, 6},
		{"zones", float64(s.Zones), 1, 1000}, {"load", s.Load, 0.001, 1}, {"churn", s.Churn, 0, 0.999}, {"apart", s.Apart, 0, 1}, {"spread", s.Spread, 0, 1}, {"together", s.Together, 0, 1},
		{"pinned", s.Pinned, 0, 1}, {"pool", s.Pool, 0, 1}, {"offers", float64(s.Offers), 0, 100_000}, {"limit", s.Limit, 0, 1},
	} {
		if !(x.value >= x.low && x.value <= x.high) {
			return bad("%s is %v, must be from %v to %v", x.name, x.value, x.low, x.high)
		}
	}
	return nil
}

// hostSize is the largest host's capacity of each resource, in thousandths.
const hostSize = 8000

// Generate draws the cluster. The needs of a job's tasks are log-normal for each resource, with a median of a twentieth
// of the largest host and a standard deviation of 1 in the logarithm. They are at most half of the smallest host. Jobs
// come until the load is reached or one doesn't fit.
func (s ConsolidationSpec) Generate() (*model.Consolidation, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s-%d", s.drawName(), s.Index)
	rng := rand.New(rand.NewPCG(s.Seed, h.Sum64()))
	in := &model.Consolidation{Name: s.name(), PriceUnit: "hosts"}
	for r := range s.Resources {
		in.Resources = append(in.Resources, fmt.Sprintf("r%d", r+1))
	}
	if s.Sizes > 1 {
		in.PriceUnit = fmt.Sprintf("1/%d of the largest host", 1<<(s.Sizes-1))
	}
	size := func(k int) (capacity []int64, price int64) {
		for range s.Resources {
			capacity = append(capacity, hostSize>>k)
		}
		return capacity, int64(1) << (s.Sizes - 1 - k)
	}
	pool := model.HostSet{ID: "pool"}
	zones := min(s.Zones, s.Hosts)
	for k := range s.Hosts {
		x := model.ConsolidationHost{ID: fmt.Sprintf("h%d", k+1), Labels: map[string]string{"zone": fmt.Sprintf("z%d", k%zones+1)}}
		x.Capacity, x.Price = size(k * s.Sizes / s.Hosts)
		if in.Hosts = append(in.Hosts, x); k%4 == 0 {
			pool.Hosts = append(pool.Hosts, x.ID)
		}
	}
	for k := 0; s.Offers > 0 && k < s.Sizes; k++ {
		x := model.HostOffer{ID: fmt.Sprintf("o%d", k+1), Count: s.Offers, Labels: map[string]string{"zone": "z1"}}
		x.Capacity, x.Price = size(k)
		in.Offers = append(in.Offers, x)
	}
	if s.Pool > 0 {
		in.HostSets = []model.HostSet{pool}
	}
	(&cluster{ConsolidationSpec: s, in: in, rng: rng, zones: zones}).fill()
	if s.Limit > 0 {
		used, cost := map[string]bool{}, int64(0)
		for i := range in.Jobs {
			for _, h := range in.Jobs[i].CurrentHosts {
				used[h] = true
			}
		}
		for k := range in.Hosts {
			if used[in.Hosts[k].ID] {
				cost += in.Hosts[k].Price
			}
		}
		limit := int64(math.Ceil(s.Limit * float64(cost)))
		in.Goal, in.CostLimit = model.GoalMoves, &limit
	}
	return in, in.Validate()
}

// cluster is one that is being filled.
type cluster struct {
	ConsolidationSpec
	in   *model.Consolidation
	rng  *rand.Rand
	left [][]int64 // [host][resource]
	// zones is the number of zones, host by host in turns.
	zones int
	trees []hostTree // by size
}

// fill adds jobs and lets tasks go.
func (c *cluster) fill() {
	in := c.in
	c.empty()
	need, total := make([]int64, c.Resources), make([]int64, c.Resources)
	smallest := int64(hostSize)
	for k := range in.Hosts {
		for r, x := range in.Hosts[k].Capacity {
			total[r] += x
			smallest = min(smallest, x)
		}
	}
	fullest := func() (most float64) {
		for r := range need {
			most = max(most, float64(need[r])/float64(total[r]))
		}
		return most
	}
	for failed := 0; fullest() < c.Load && failed < 20; {
		j := model.ConsolidationJob{ID: fmt.Sprintf("j%d", len(in.Jobs)+1), Tasks: 1 + c.rng.IntN(c.Replicas)}
		for range c.Resources {
			j.Needs = append(j.Needs, int64(min(float64(smallest)/2, max(1, math.Round(hostSize/20*math.Exp(c.rng.NormFloat64()))))))
		}
		if c.rng.Float64() < c.Pool {
			j.Allowed = "pool"
		}
		apart := c.rng.Float64() < c.Apart
		spread := !apart && c.rng.Float64() < c.Spread
		var on []int
		for range j.Tasks {
			if h := c.host(&j, on, apart, spread); h >= 0 {
				on = append(on, h)
				j.CurrentHosts = append(j.CurrentHosts, in.Hosts[h].ID)
				c.take(h, j.Needs)
				for r, x := range j.Needs {
					need[r] += x
				}
			}
		}
		if j.Tasks = len(j.CurrentHosts); j.Tasks == 0 {
			failed++
			continue
		}
		together := !apart && !spread && len(in.Jobs) > 0 && c.rng.Float64() < c.Together
		for _, rule := range []struct {
			there bool
			is    model.PlacementRule
		}{
			{apart, model.PlacementRule{Type: model.RuleApart, Jobs: []string{j.ID}}},
			{spread, model.PlacementRule{Type: model.RuleSpread, Domain: "zone", Jobs: []string{j.ID}, MaxSkew: 1}},
			{together, model.PlacementRule{Type: model.RuleTogether, Domain: "zone", Jobs: []string{j.ID}, Others: []string{fmt.Sprintf("j%d", len(in.Jobs))}}},
		} {
			if rule.there {
				rule.is.ID = fmt.Sprintf("%s-%s", rule.is.Type, j.ID)
				in.Rules = append(in.Rules, rule.is)
			}
		}
		in.Jobs = append(in.Jobs, j)
	}
	if len(in.Jobs) == 0 { // no host has room for a task: one that needs little
		j := model.ConsolidationJob{ID: "j1", Tasks: 1, CurrentHosts: []string{in.Hosts[0].ID}}
		for range c.Resources {
			j.Needs = append(j.Needs, 1)
		}
		in.Jobs = append(in.Jobs, j)
	}
	for i := range in.Jobs { // each job keeps a task
		j := &in.Jobs[i]
		var kept []string
		for k, h := range j.CurrentHosts {
			if k == 0 || c.rng.Float64() >= c.Churn {
				kept = append(kept, h)
			}
		}
		j.CurrentHosts, j.Tasks = kept, len(kept)
		j.Pinned = c.rng.Float64() < c.Pinned
	}
}

// empty makes the hosts empty.
func (c *cluster) empty() {
	for k := range c.in.Hosts {
		c.left = append(c.left, slices.Clone(c.in.Hosts[k].Capacity))
	}
	for first, k := 0, 0; first < c.Hosts; k++ {
		count := 0
		for first+count < c.Hosts && (first+count)*c.Sizes/c.Hosts == k {
			count++
		}
		if count > 0 {
			c.trees = append(c.trees, newHostTree(first, count, k, c.left))
		}
		first += count
	}
}

// take takes a task's needs from what a host has left.
func (c *cluster) take(h int, needs []int64) {
	for r, x := range needs {
		c.left[h][r] -= x
	}
	c.treeOf(h).update(h, c.left)
}

// treeOf returns the tree of a host.
func (c *cluster) treeOf(h int) *hostTree {
	k := 0
	for h >= c.trees[k].first+c.trees[k].count {
		k++
	}
	return &c.trees[k]
}

// host returns the allowed host with most left for a task of a job, -1 if there is none; zones is the number of them.
// A search of the hosts' trees finds it. It costs O(log H) for each host that it looks at, and these are few: the rules
// of the job forbid a host, or a host with as much left on the whole has less of a resource than the task needs.
func (c *cluster) host(j *model.ConsolidationJob, on []int, apart, spread bool) int {
	least, counts := math.MaxInt, make([]int, c.zones)
	for _, h := range on {
		counts[h%c.zones]++
	}
	for _, n := range counts {
		least = min(least, n)
	}
	allowed := func(h int) bool {
		return (j.Allowed == "" || h%4 == 0) && !(apart && slices.Contains(on, h)) && !(spread && counts[h%c.zones] > least)
	}
	need := int64(0)
	for _, x := range j.Needs {
		need += x
	}
	best, most, left := -1, -1.0, int64(0)
	for k := range c.trees {
		t := &c.trees[k]
		t.search(1, func(at *mostLeft) bool {
			// Whole numbers order hosts as the sums of shares do, but for equal ones, which rounding orders.
			x := at.left - need<<t.shift
			if x < 0 || best >= 0 && x < left {
				return false
			}
			same := best >= 0 && x == left && at.alike && slices.Equal(c.left[at.host], c.left[best])
			return !same || at.host < best
		}, func(h int) {
			if !allowed(h) {
				return
			}
			free, fits := 0.0, true
			for r, need := range j.Needs {
				fits = fits && need <= c.left[h][r]
				free += float64(c.left[h][r]-need) / float64(c.in.Hosts[h].Capacity[r])
			}
			if fits && (free > most || free == most && h < best) {
				best, most, left = h, free, t.nodes[t.leaf(h)].left-need<<t.shift
			}
		})
	}
	return best
}

// hostTree holds the hosts of one size, which follow one another, as the leaves of a binary tree.
type hostTree struct {
	first, count int
	shift        int        // the hosts have hostSize >> shift
	nodes        []mostLeft // [1] is the root, [2k] and [2k+1] are below [k]
}

// mostLeft is the host with most left below a node, the first of equal ones.
type mostLeft struct {
	left  int64 // over the resources, in units of 1/hostSize of a host's capacity; -1 without a host
	host  int
	alike bool // each host with as much on the whole has as much of each resource
}

// leaf returns the node of a host.
func (t *hostTree) leaf(h int) int { return len(t.nodes)/2 + h - t.first }

// newHostTree returns the tree of the hosts first..first+count-1. O(count) without the updates.
func newHostTree(first, count, shift int, left [][]int64) hostTree {
	leaves := 1
	for leaves < count {
		leaves *= 2
	}
	t := hostTree{first: first, count: count, shift: shift, nodes: make([]mostLeft, 2*leaves)}
	for k := range t.nodes {
		t.nodes[k] = mostLeft{left: -1, host: math.MaxInt, alike: true}
	}
	for h := first; h < first+count; h++ {
		t.update(h, left)
	}
	return t
}

// update recomputes the nodes above a host. O(log count).
func (t *hostTree) update(h int, left [][]int64) {
	k, sum := t.leaf(h), int64(0)
	for _, x := range left[h] {
		sum += x << t.shift
	}
	t.nodes[k] = mostLeft{left: sum, host: h, alike: true}
	for k /= 2; k > 0; k /= 2 {
		a, b := t.nodes[2*k], t.nodes[2*k+1]
		switch {
		case b.left > a.left:
			a = b
		case b.left == a.left && b.left >= 0:
			a.alike = a.alike && b.alike && slices.Equal(left[a.host], left[b.host])
		}
		t.nodes[k] = a
	}
}

// search visits the hosts below a node that may be better, those with more left first.
func (t *hostTree) search(k int, better func(*mostLeft) bool, visit func(h int)) {
	switch n := &t.nodes[k]; {
	case n.left < 0 || !better(n):
	case 2*k >= len(t.nodes):
		visit(n.host)
	default:
		a, b := 2*k, 2*k+1
		if t.nodes[b].left > t.nodes[a].left {
			a, b = b, a
		}
		t.search(a, better, visit)
		t.search(b, better, visit)
	}
}
