// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/model"
)

// ConsolidationSpec specifies clusters with tasks that were placed one by one, each on the allowed host with most left,
// as kube-scheduler's LeastAllocated does. Some tasks have gone since. A field's zero value means its default, if one
// is named.
type ConsolidationSpec struct {
	Hosts int `key:"hosts" default:"20" small:"2,3" hard:"30" required:"yes" usage:"number of hosts"`
	// Load is the needed share of the hosts' capacity of the scarcest resource, before tasks go.
	Load float64 `key:"load" default:"0.7" small:"0.6" hard:"0.95" usage:"share of the scarcest resource that is needed, before tasks go"`
	// Churn is the share of the tasks that have gone.
	Churn     float64 `key:"churn" default:"0.4" small:"0.3" hard:"0.2" usage:"share of the tasks that have gone since they were placed"`
	Replicas  int     `key:"replicas" default:"6" small:"2" hard:"3" usage:"most tasks of a job"`
	Resources int     `key:"resources" default:"2" small:"2" hard:"4" usage:"number of resources"`
	Sizes     int     `key:"sizes" default:"1" small:"2" usage:"number of host sizes: 1, 1/2, 1/4, ... of the largest, at a price in proportion"`
	Zones     int     `key:"zones" default:"3" small:"2" usage:"number of zones, host by host in turns"`
	// The shares of the jobs with a rule of each type, with pinned tasks, and of one pool of a
	// quarter of the hosts.
	Apart    float64 `key:"apart" default:"0.1" small:"0.3" usage:"share of the jobs whose tasks keep apart by host"`
	Spread   float64 `key:"spread" default:"0.2" small:"0.3" usage:"share of the jobs spread over zones with a skew of at most 1"`
	Together float64 `key:"together" default:"0" small:"0.2" usage:"share of the jobs whose tasks are in the zone of a task of the job before"`
	Pinned   float64 `key:"pinned" default:"0.05" small:"0.2" usage:"share of the jobs whose tasks can't move"`
	Pool     float64 `key:"pool" default:"0.1" small:"0.2" usage:"share of the jobs that may be on a quarter of the hosts alone"`
	// Offers adds each size as an offer.
	Offers int `key:"offers" default:"0" small:"1" usage:"hosts of each size that can be bought"`
	// Limit, if not 0, asks for the fewest moves to this share of today's cost, rounded up.
	Limit float64 `key:"limit" default:"0" small:"0,0.9" hard:"0.8" usage:"the goal is the fewest moves to this share of today's cost; 0: the least cost"`
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
	(&cluster{ConsolidationSpec: s, in: in, rng: rng}).fill()
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
}

// fill adds jobs and lets tasks go.
func (c *cluster) fill() {
	in := c.in
	need, total := make([]int64, c.Resources), make([]int64, c.Resources)
	smallest := int64(hostSize)
	for k := range in.Hosts {
		c.left = append(c.left, append([]int64(nil), in.Hosts[k].Capacity...))
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
		for range j.Tasks {
			if h := c.host(&j, apart, spread); h >= 0 {
				j.CurrentHosts = append(j.CurrentHosts, in.Hosts[h].ID)
				for r, x := range j.Needs {
					c.left[h][r] -= x
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

// host returns the allowed host with most left for a task of a job, -1 if there is none.
func (c *cluster) host(j *model.ConsolidationJob, apart, spread bool) int {
	on, zones := map[string]int{}, map[string]int{}
	for k := range c.in.Hosts {
		zones[c.in.Hosts[k].Labels["zone"]] += 0
	}
	labels := map[string]string{}
	for k := range c.in.Hosts {
		labels[c.in.Hosts[k].ID] = c.in.Hosts[k].Labels["zone"]
	}
	for _, id := range j.CurrentHosts {
		on[id]++
		zones[labels[id]]++
	}
	least := math.MaxInt
	for _, n := range zones {
		least = min(least, n)
	}
	best, most := -1, -1.0
	for h := range c.in.Hosts {
		x := &c.in.Hosts[h]
		if j.Allowed != "" && h%4 != 0 || apart && on[x.ID] > 0 || spread && zones[x.Labels["zone"]] > least {
			continue
		}
		free, fits := 0.0, true
		for r, need := range j.Needs {
			fits = fits && need <= c.left[h][r]
			free += float64(c.left[h][r]-need) / float64(x.Capacity[r])
		}
		if fits && free > most {
			best, most = h, free
		}
	}
	return best
}
