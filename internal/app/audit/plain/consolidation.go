// SPDX-License-Identifier: MIT

package plain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// consTask is one task; now is the number of its host, -1 without.
type consTask struct{ job, number, now int }

// consPlace is a host of the instance or one that may be bought.
type consPlace struct {
	id, offer string
	capacity  []int64
	price     int64
	labels    map[string]string
	closed    bool // to newly placed tasks
	kept      bool
	over      bool  // its tasks of now need more than it has
	anew      []int // newly placed tasks that need each resource
}

// consSearch gives one task after another a host, the largest first. A host of an offer is bought only after the ones
// before it. Among tasks of one job with the same host now (twins), a later one is on no earlier host: exchanging them
// changes nothing. Limits on amounts that only grow cut off at once: needs, cost, moves, and tasks that keep apart. The
// other rules are checked at the end.
type consSearch struct {
	*counter
	in     *model.Consolidation
	places []consPlace
	may    []map[int]bool // of each job: the places where its tasks may be newly placed
	homes  []map[int]bool // of each job: the places where its tasks may stay if today's plan is to be mended
	tasks  []consTask
	rest   [][]int64 // [task][resource]: the needs of this and later tasks
	at     []int     // of tasks[:i], -1: left out
	used   [][]int64
	on     []int // tasks on each place
	cost   int64
	moves  int64
	limit  float64 // the objective to stay below
	best   *model.Assignment
	simple bool // no host is overfull: the bound by volume holds
}

func solveConsolidation(in *model.Consolidation, beat float64, c *counter) (*model.Assignment, error) {
	if n := in.Tasks(); n > 200 || len(in.Hosts) > 200 {
		return nil, fmt.Errorf("%w: the plain engine takes 200 tasks and hosts at most", model.ErrUnsupported)
	}
	for i := range in.Jobs {
		for _, x := range in.Jobs[i].Needs {
			if x > 1<<40 { // sums are below 2^53
				return nil, fmt.Errorf("%w: the plain engine takes needs of up to 2^40", model.ErrUnsupported)
			}
		}
	}
	s := &consSearch{counter: c, in: in, limit: c.threshold(model.Minimise, beat, true), simple: true}
	number := map[string]int{}
	for _, h := range in.Hosts {
		number[h.ID] = len(s.places)
		s.places = append(s.places, consPlace{id: h.ID, capacity: h.Capacity, price: h.Price, labels: h.Labels, closed: h.Closed})
		if h.Kept {
			s.cost += h.Price
			p := &s.places[len(s.places)-1]
			p.price, p.kept = 0, true // it is paid
		}
	}
	for _, o := range in.Offers {
		for k := range min(o.Count, in.Tasks()) {
			id := fmt.Sprintf("%s#%d", o.ID, k+1)
			for number[id] > 0 || slices.ContainsFunc(in.Hosts, func(h model.ConsolidationHost) bool { return h.ID == id }) {
				id += "#"
			}
			number[id] = len(s.places)
			s.places = append(s.places, consPlace{id: id, offer: o.ID, capacity: o.Capacity, price: o.Price, labels: o.Labels})
		}
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		for k := range j.Tasks {
			t := consTask{i, k, -1}
			if id := j.Current(k); id != "" {
				t.now = number[id]
			}
			s.tasks = append(s.tasks, t)
		}
	}
	for h := range s.places {
		p := &s.places[h]
		for r, has := range p.capacity {
			need := int64(0)
			for _, t := range s.tasks {
				if t.now == h {
					need += in.Jobs[t.job].Needs[r]
				}
			}
			p.over = p.over || need > has
		}
		s.simple = s.simple && !p.over
		p.anew = make([]int, len(in.Resources))
	}
	for i := range in.Jobs {
		may, homes := map[int]bool{}, map[int]bool{}
		set := slices.IndexFunc(in.HostSets, func(x model.HostSet) bool { return x.ID == in.Jobs[i].Allowed })
		for h, p := range s.places {
			homes[h] = set < 0 || slices.Contains(in.HostSets[set].Hosts, p.id)
			may[h] = !p.closed && (set < 0 || slices.Contains(in.HostSets[set].Offers, p.offer) || p.offer == "" && slices.Contains(in.HostSets[set].Hosts, p.id))
		}
		s.may, s.homes = append(s.may, may), append(s.homes, homes)
	}
	size := func(t consTask) (sum float64) {
		for r, x := range in.Jobs[t.job].Needs {
			most := int64(1)
			for _, p := range s.places {
				most = max(most, p.capacity[r])
			}
			sum += float64(x) / float64(most)
		}
		return sum
	}
	slices.SortStableFunc(s.tasks, func(a, b consTask) int {
		return cmp.Or(-cmp.Compare(size(a), size(b)), cmp.Compare(a.job, b.job), cmp.Compare(a.now, b.now))
	})
	n := len(s.tasks)
	s.at, s.on, s.used, s.rest = make([]int, n), make([]int, len(s.places)), make([][]int64, len(s.places)), make([][]int64, n+1)
	for h := range s.used {
		s.used[h] = make([]int64, len(in.Resources))
	}
	s.rest[n] = make([]int64, len(in.Resources))
	for i := n - 1; i >= 0; i-- {
		s.rest[i] = slices.Clone(s.rest[i+1])
		for r, x := range in.Jobs[s.tasks[i].job].Needs {
			s.rest[i][r] += x
		}
	}
	s.place(0)
	return s.best, nil
}

// hopeless reports whether cost and moves are too many already, with the least that the tasks that are left
// cost by their volume.
func (s *consSearch) hopeless(i int) bool {
	least := s.cost
	if s.simple {
		for r, need := range s.rest[i] {
			ratio := math.Inf(1)
			for h, p := range s.places {
				switch {
				case s.on[h] > 0 || p.price == 0:
					need -= p.capacity[r] - s.used[h][r]
				case p.capacity[r] > 0:
					ratio = min(ratio, float64(p.price)/float64(p.capacity[r]))
				}
			}
			for _, t := range s.tasks[i:] {
				if j := &s.in.Jobs[t.job]; j.LeaveOutCost != nil && j.Needs[r] > 0 {
					ratio = min(ratio, float64(*j.LeaveOutCost)/float64(j.Needs[r]))
				}
			}
			if need > 0 {
				if math.IsInf(ratio, 1) {
					return true
				}
				least = max(least, s.cost+int64(math.Ceil(float64(need)*ratio*(1-1e-9)-1e-6)))
			}
		}
	}
	value := least
	if s.in.Goal == model.GoalMoves {
		value = s.moves
	}
	for k := range s.in.Limits { // hosts in use stay so
		l, sum := &s.in.Limits[k], int64(0)
		for h, p := range s.places {
			if s.on[h] == 0 && !p.kept {
				continue
			}
			if len(l.Counts) == 0 {
				sum++
			}
			for _, x := range l.Counts {
				if p.offer == "" && x.Host == p.id || p.offer != "" && x.Offer == p.offer {
					sum += x.Count
				}
			}
		}
		if sum > l.Most {
			return true
		}
	}
	return float64(value) >= s.limit || s.in.CostLimit != nil && least > *s.in.CostLimit || s.in.MoveBudget != nil && s.moves > *s.in.MoveBudget
}

// place gives tasks[i:] hosts.
func (s *consSearch) place(i int) {
	if s.hopeless(i) || s.stop() {
		return
	}
	if i == len(s.tasks) {
		if s.keeps() {
			s.keepBest()
		}
		return
	}
	t := s.tasks[i]
	j := &s.in.Jobs[t.job]
	first := -1
	if i > 0 && s.tasks[i-1].job == t.job && s.tasks[i-1].now == t.now {
		first = s.at[i-1]
	}
	moving := j.MoveCost
	if moving == 0 {
		moving = 1
	}
	cost, moves := s.cost, s.moves
	for h := first; h < len(s.places); h++ {
		stays := h >= 0 && h == t.now
		if j.Pinned && !stays || h >= 0 && !stays && !s.may[t.job][h] || h >= 0 && stays && s.in.Mend && !s.homes[t.job][h] || h < 0 && j.LeaveOutCost == nil {
			continue
		}
		if h > 0 && s.places[h].offer != "" && s.on[h] == 0 && s.places[h-1].offer == s.places[h].offer && s.on[h-1] == 0 {
			continue
		}
		s.at[i] = h
		if !stays && t.now >= 0 {
			s.moves += moving
		}
		if h < 0 {
			s.cost += *j.LeaveOutCost
		} else {
			if s.on[h]++; s.on[h] == 1 {
				s.cost += s.places[h].price
			}
			s.need(h, j, 1, stays && !s.in.Mend)
		}
		if h < 0 || s.fits(h) && s.apart(i) {
			s.place(i + 1)
		}
		if h >= 0 {
			s.on[h]--
			s.need(h, j, -1, stays && !s.in.Mend)
		}
		s.cost, s.moves = cost, moves
	}
}

// need has a task's needs on a host, or no longer (by = -1).
func (s *consSearch) need(h int, j *model.ConsolidationJob, by int64, stays bool) {
	for r, x := range j.Needs {
		s.used[h][r] += by * x
		if x > 0 && !stays {
			s.places[h].anew[r] += int(by)
		}
	}
}

// fits reports whether a host has enough of what its newly placed tasks need.
func (s *consSearch) fits(h int) bool {
	for r, x := range s.used[h] {
		if x > s.places[h].capacity[r] && s.places[h].anew[r] > 0 {
			return false
		}
	}
	return true
}

// domain returns the domain of task k for a rule, "" for none.
func (s *consSearch) domain(r *model.PlacementRule, k int) string {
	p := &s.places[s.at[k]]
	if r.Domain == "" {
		return p.id
	}
	return p.labels[r.Domain]
}

// bound reports whether a rule binds task k, and whether that is one of the others.
func (s *consSearch) bound(r *model.PlacementRule, k int) (bound, other bool) {
	id := s.in.Jobs[s.tasks[k].job].ID
	bound = slices.Contains(r.Jobs, id)
	return bound, bound && len(r.Others) == 0 || slices.Contains(r.Others, id)
}

// apart reports whether task i keeps apart from the tasks before it.
func (s *consSearch) apart(i int) bool {
	for n := range s.in.Rules {
		r := &s.in.Rules[n]
		if r.Type != model.RuleApart || s.domain(r, i) == "" {
			continue
		}
		a, b := s.bound(r, i)
		for k := range i {
			if s.at[k] < 0 || s.at[k] == s.tasks[k].now && s.at[i] == s.tasks[i].now && !s.in.Mend || s.domain(r, k) != s.domain(r, i) {
				continue
			}
			if c, d := s.bound(r, k); a && d || b && c {
				return false
			}
		}
	}
	return true
}

// keeps reports whether all tasks keep the rules of company and spread.
func (s *consSearch) keeps() bool {
	for n := range s.in.Rules {
		r := &s.in.Rules[n]
		if r.Type == model.RuleApart {
			continue
		}
		count, all := map[string]int{}, 0
		spread, least := s.spread(r)
		for k, h := range s.at {
			if _, other := s.bound(r, k); other && h >= 0 {
				count[s.domain(r, k)]++
				all++
			}
		}
		company := maps.Clone(count)
		for h, p := range s.places {
			for _, x := range r.Standing {
				if r.Type == model.RuleTogether && (p.offer == "" && x.Host == p.id || p.offer != "" && x.Offer == p.offer && s.on[h] > 0) {
					d := p.id
					if r.Domain != "" {
						d = p.labels[r.Domain]
					}
					company[d] += int(x.Count)
					all += int(x.Count)
				}
			}
		}
		for k, h := range s.at {
			bound, other := s.bound(r, k)
			if !bound || h < 0 || h == s.tasks[k].now && !s.in.Mend {
				continue
			}
			d := s.domain(r, k)
			company := company[d]
			if other {
				company--
			}
			switch {
			case d == "",
				r.Type == model.RuleTogether && company == 0 && !(other && all == 1),
				r.Type == model.RuleSpread && spread[d]-least > r.MaxSkew:
				return false
			}
		}
	}
	return true
}

// spread counts the tasks in a spread's domains, by the places that are there or in use.
func (s *consSearch) spread(r *model.PlacementRule) (count map[string]int, least int) {
	count = map[string]int{}
	for h, p := range s.places {
		d := p.id
		if r.Domain != "" {
			d = p.labels[r.Domain]
		}
		in := func(x model.HostSet) bool {
			return x.ID == r.Among && (p.offer == "" && slices.Contains(x.Hosts, p.id) || slices.Contains(x.Offers, p.offer))
		}
		if d == "" || p.offer != "" && s.on[h] == 0 || r.Among != "" && !slices.ContainsFunc(s.in.HostSets, in) {
			continue
		}
		n := 0
		for k, at := range s.at {
			if _, other := s.bound(r, k); other && at == h {
				n++
			}
		}
		for _, x := range r.Standing {
			if p.offer == "" && x.Host == p.id || p.offer != "" && x.Offer == p.offer {
				n += int(x.Count)
			}
		}
		count[d] += n
	}
	for _, n := range count {
		if least == 0 || n < least {
			least = n
		}
		if n == 0 {
			return count, 0
		}
	}
	if len(count) < r.MinDomains {
		return count, 0
	}
	return count, least
}

// keepBest keeps the plan as the best one.
func (s *consSearch) keepBest() {
	s.limit = float64(s.cost)
	if s.in.Goal == model.GoalMoves {
		s.limit = float64(s.moves)
	}
	a := &model.Assignment{}
	for h, p := range s.places {
		if p.offer != "" && s.on[h] > 0 {
			a.Bought = append(a.Bought, model.BoughtHost{ID: p.id, Offer: p.offer})
		}
	}
	for i := range s.in.Jobs {
		a.Jobs = append(a.Jobs, model.JobAssignment{ID: s.in.Jobs[i].ID, Hosts: make([]string, s.in.Jobs[i].Tasks)})
	}
	for k, t := range s.tasks {
		if h := s.at[k]; h >= 0 {
			a.Jobs[t.job].Hosts[t.number] = s.places[h].id
		}
	}
	s.best = a
}
