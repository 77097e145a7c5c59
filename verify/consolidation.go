// SPDX-License-Identifier: MIT

package verify

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// Constraints of Consolidation, in addition to VCSched's constraints of jobs and hosts.
const (
	unknownOffer = "unknown_offer" // a bought host of a type that isn't offered
	repeatedHost = "repeated_host" // a bought host has another host's id
	offerCount   = "offer_count"   // more hosts of a type are bought than there are
	leftOut      = "left_out"      // a task without a host, but its job doesn't allow that
	pinnedTask   = "pinned_task"   // a pinned task doesn't stay
	closedHost   = "closed_host"   // a task is newly placed on a closed host
	hostAllowed  = "host_allowed"  // a task is newly placed where its job may not be
	hostCapacity = "host_capacity" // the needs on a host sum to more than it has, and a newly placed task is among them
	ruleApart    = "rule_apart"    // two tasks in one domain, and not both stay
	ruleTogether = "rule_together" // a newly placed task without the company that it needs
	ruleSpread   = "rule_spread"   // a newly placed task in a domain that has too many
	moveBudget   = "move_budget"   // the moves cost more than the budget
	costLimit    = "cost_limit"    // the hosts cost more than the limit
	hostLimit    = "host_limit"    // the hosts in use count more than a limit allows
)

const (
	maxSaturated = int64(1) << 60 // beyond any amount of a host: sums stop growing
	nowhere      = -1             // the host of a task that is left out
)

// consolidationHost is a host of the instance or one that is bought.
type consolidationHost struct {
	id       string
	capacity []int64
	price    int64
	labels   map[string]string
	closed   bool
	kept     bool
	offer    string // "" of the instance's hosts
	use      []int64
	tasks    int
	newcomer []bool  // of each resource: a newly placed task needs it; nil without any
	held     []int64 // the needs of its current tasks, nil without any
}

// consolidationTask is one task with its hosts before and now, nowhere without.
type consolidationTask struct {
	job, number, before, now int
}

func (t *consolidationTask) stays() bool { return t.now != nowhere && t.before == t.now }

// free reports whether a task stays and no rule binds it.
func (j *consolidationJudge) free(t *consolidationTask) bool { return t.stays() && !j.in.Mend }

// consolidationJudge holds the data of the checks.
type consolidationJudge struct {
	in     *model.Consolidation
	r      *Report
	hosts  []consolidationHost
	number map[string]int // of a host's id
	jobs   map[string]int
	tasks  [][]consolidationTask // of each job
	sets   map[string]*model.HostSet
	known  map[string]members // of sets, made when they are asked for
}

// consolidation judges an assignment. All figures are whole.
func consolidation(ctx context.Context, in *model.Consolidation, a *model.Assignment, r *Report) {
	j := newConsolidationJudge(in, r)
	complete := j.buy(a.Bought)
	complete = j.place(ctx, a.Jobs) && complete
	if ctx.Err() != nil || !complete {
		return
	}
	cost, moves := j.figures()
	j.capacities()
	for i := range in.Rules {
		if ctx.Err() != nil {
			return
		}
		j.rule(ctx, &in.Rules[i])
	}
	j.limits()
	if b := in.MoveBudget; b != nil && moves > *b {
		r.add(moveBudget, float64(moves-*b), "the moves cost %d, the budget is %d", moves, *b)
	}
	if l := in.CostLimit; l != nil && cost > *l {
		r.add(costLimit, float64(cost-*l), "the cost is %d, the limit is %d", cost, *l)
	}
	r.Objective, r.Second = float64(cost), float64(moves)
	if in.Goal == model.GoalMoves {
		r.Objective, r.Second = r.Second, r.Objective
	}
}

// newConsolidationJudge returns a judge of an instance that has seen its hosts.
func newConsolidationJudge(in *model.Consolidation, r *Report) *consolidationJudge {
	j := &consolidationJudge{in: in, r: r, number: map[string]int{}, jobs: map[string]int{}, sets: map[string]*model.HostSet{}}
	for i := range in.Hosts {
		h := &in.Hosts[i]
		j.number[h.ID] = len(j.hosts)
		j.hosts = append(j.hosts, consolidationHost{id: h.ID, capacity: h.Capacity, price: h.Price, labels: h.Labels, closed: h.Closed, kept: h.Kept})
	}
	for i := range in.HostSets {
		j.sets[in.HostSets[i].ID] = &in.HostSets[i]
	}
	j.hold()
	return j
}

// buy adds the hosts that are bought, and reports whether their ids are hosts'.
func (j *consolidationJudge) buy(bought []model.BoughtHost) bool {
	offers, count, complete := map[string]*model.HostOffer{}, map[string]int{}, true
	for i := range j.in.Offers {
		offers[j.in.Offers[i].ID] = &j.in.Offers[i]
	}
	for _, b := range bought {
		o := offers[b.Offer]
		if o == nil {
			j.r.add(unknownOffer, 0, "the host %q is of the offer %q, which there isn't", b.ID, b.Offer)
			complete = false
			continue
		}
		if _, taken := j.number[b.ID]; taken || b.ID == "" {
			j.r.add(repeatedHost, 0, "a bought host has the id %q, which is empty or another host's", b.ID)
			complete = false
			continue
		}
		if count[b.Offer]++; count[b.Offer] == o.Count+1 {
			j.r.add(offerCount, 0, "of the offer %q more than %d are bought", b.Offer, o.Count)
		}
		j.number[b.ID] = len(j.hosts)
		j.hosts = append(j.hosts, consolidationHost{id: b.ID, capacity: o.Capacity, price: o.Price, labels: o.Labels, kept: true, offer: o.ID})
	}
	return complete
}

// hold sums up the needs of each host's current tasks, unless what they hold is to be mended.
func (j *consolidationJudge) hold() {
	if j.in.Mend {
		return
	}
	for i := range j.in.Jobs {
		job := &j.in.Jobs[i]
		for _, id := range job.CurrentHosts {
			if id != "" {
				h := &j.hosts[j.number[id]]
				h.held = added(h.held, job.Needs)
			}
		}
	}
}

// over reports whether the current tasks of a host need more of a resource than it has.
func (h *consolidationHost) over(r int) bool { return h.held != nil && h.held[r] > h.capacity[r] }

// added returns use plus needs, saturated.
func added(use, needs []int64) []int64 {
	if use == nil {
		use = make([]int64, len(needs))
	}
	for r, x := range needs {
		use[r] = min(use[r]+x, maxSaturated)
	}
	return use
}

// place finds each task's hosts and checks the rules for that task alone. It reports whether all tasks have been found.
func (j *consolidationJudge) place(ctx context.Context, all []model.JobAssignment) bool {
	complete := true
	for i := range j.in.Jobs {
		j.jobs[j.in.Jobs[i].ID] = i
	}
	placed := make([]*model.JobAssignment, len(j.in.Jobs))
	for k := range all {
		q := &all[k]
		switch i, ok := j.jobs[q.ID]; {
		case !ok:
			j.r.add(unknownJob, 0, "job %q isn't in the instance", q.ID)
		case placed[i] != nil:
			j.r.add(repeatedJob, 0, "job %q is placed twice", q.ID)
		default:
			placed[i] = q
		}
	}
	j.tasks = make([][]consolidationTask, len(j.in.Jobs))
	for i := range j.in.Jobs {
		job, q := &j.in.Jobs[i], placed[i]
		if q == nil {
			j.r.add(missingJob, 0, "job %q is not placed", job.ID)
			complete = false
			continue
		}
		if len(q.Hosts) != job.Tasks {
			j.r.add(taskCount, 0, "job %q has %d tasks, the solution gives it %d hosts", job.ID, job.Tasks, len(q.Hosts))
			complete = false
			continue
		}
		allowed := j.members(job.Allowed)
		for k, h := range q.Hosts {
			if stopped(ctx, k) {
				return false
			}
			t := consolidationTask{job: i, number: k, before: nowhere, now: nowhere}
			if len(job.CurrentHosts) > 0 && job.CurrentHosts[k] != "" {
				t.before = j.number[job.CurrentHosts[k]]
			}
			if h != "" {
				now, ok := j.number[h]
				if !ok {
					j.r.add(unknownHost, 0, "job %q task %d is on host %q, which there isn't", job.ID, k, h)
					complete = false
					continue
				}
				t.now = now
			}
			j.tasks[i] = append(j.tasks[i], t)
			j.checkTask(job, &t, allowed)
		}
	}
	return complete
}

// members are hosts and offers, by their ids.
type members map[string]bool

// have reports whether a host, or the offer by which it is bought, is one of them.
func (m members) have(h *consolidationHost) bool {
	if h.offer != "" {
		return m["offer "+h.offer]
	}
	return m["host "+h.id]
}

// members returns the members of a host set, nil for "".
func (j *consolidationJudge) members(set string) members {
	if set == "" {
		return nil
	}
	if ids, known := j.known[set]; known {
		return ids
	}
	s, ids := j.sets[set], members{}
	for _, id := range s.Hosts {
		ids["host "+id] = true
	}
	for _, id := range s.Offers {
		ids["offer "+id] = true
	}
	if j.known == nil {
		j.known = map[string]members{}
	}
	j.known[set] = ids
	return ids
}

// checkTask checks the rules for one task alone, and puts its needs on its host.
func (j *consolidationJudge) checkTask(job *model.ConsolidationJob, t *consolidationTask, allowed members) {
	if job.Pinned && !t.stays() {
		j.r.add(pinnedTask, 0, "job %q task %d is pinned to host %q", job.ID, t.number, j.hosts[t.before].id)
	}
	if t.now == nowhere {
		if job.LeaveOutCost == nil {
			j.r.add(leftOut, 0, "job %q task %d has no host", job.ID, t.number)
		}
		return
	}
	h := &j.hosts[t.now]
	h.use = added(h.use, job.Needs)
	h.tasks++
	if j.free(t) {
		return
	}
	if h.newcomer == nil {
		h.newcomer = make([]bool, len(j.in.Resources))
	}
	for r, x := range job.Needs {
		h.newcomer[r] = h.newcomer[r] || x > 0
	}
	if h.closed && !t.stays() {
		j.r.add(closedHost, 0, "job %q task %d is placed anew on host %q, which takes none", job.ID, t.number, h.id)
	}
	if allowed != nil && !allowed.have(h) {
		what := "is placed anew"
		if t.stays() {
			what = "stays"
		}
		j.r.add(hostAllowed, 0, "job %q task %d "+what+" on host %q, which isn't in %q", job.ID, t.number, h.id, job.Allowed)
	}
}

// figures returns cost and moves.
func (j *consolidationJudge) figures() (cost, moves int64) {
	for i := range j.tasks {
		job := &j.in.Jobs[i]
		for k := range j.tasks[i] {
			t := &j.tasks[i][k]
			if t.now == nowhere && job.LeaveOutCost != nil {
				cost += *job.LeaveOutCost
			}
			if t.before == nowhere || t.stays() {
				continue
			}
			if job.MoveCost == 0 {
				moves++
			} else {
				moves += job.MoveCost
			}
		}
	}
	for k := range j.hosts {
		if h := &j.hosts[k]; h.tasks > 0 || h.kept {
			cost += h.price
		}
	}
	return cost, moves
}

// capacities checks what newly placed tasks need: earlier tasks alone may stay on a host that has too little for them.
func (j *consolidationJudge) capacities() {
	for k := range j.hosts {
		h := &j.hosts[k]
		for r, x := range h.use {
			if x > h.capacity[r] && h.newcomer != nil && h.newcomer[r] {
				j.r.add(hostCapacity, float64(x-h.capacity[r]), "the needs of %s on host %q sum to %d, it has %d", j.in.Resources[r], h.id, x, h.capacity[r])
			}
		}
	}
}

// limits checks the counts of hosts that have tasks, are kept or bought.
func (j *consolidationJudge) limits() {
	for i := range j.in.Limits {
		l := &j.in.Limits[i]
		counts := map[string]int64{}
		for _, x := range l.Counts {
			if x.Host != "" {
				counts["host "+x.Host] = x.Count
			} else {
				counts["offer "+x.Offer] = x.Count
			}
		}
		sum := int64(0)
		for k := range j.hosts {
			h := &j.hosts[k]
			switch {
			case h.tasks == 0 && !h.kept:
			case len(l.Counts) == 0:
				sum++
			case h.offer != "":
				sum = min(sum+counts["offer "+h.offer], maxSaturated)
			default:
				sum += counts["host "+h.id]
			}
		}
		if sum > l.Most {
			j.r.add(hostLimit, float64(sum-l.Most), "limit %q: the hosts in use count %d, at most %d may be", l.ID, sum, l.Most)
		}
	}
}

// domain returns the domain of a host, "" if it is in none.
func (j *consolidationJudge) domain(host int, key string) string {
	if key == "" {
		return j.hosts[host].id
	}
	return j.hosts[host].labels[key]
}

// rule checks a rule.
func (j *consolidationJudge) rule(ctx context.Context, rule *model.PlacementRule) {
	others := rule.Others
	if len(others) == 0 {
		others = rule.Jobs
	}
	// The others' tasks in each domain: all, and the newly placed ones.
	count, fresh, total := map[string]int{}, map[string]int{}, 0
	spread, least, standing := map[string]int(nil), 0, map[string]int(nil)
	switch rule.Type {
	case model.RuleSpread:
		spread, least = j.spread(rule, others)
	case model.RuleTogether:
		standing, total = j.standing(rule)
	}
	isOther := map[int]bool{}
	for _, id := range others {
		i := j.jobs[id]
		isOther[i] = true
		for k := range j.tasks[i] {
			t := &j.tasks[i][k]
			if t.now == nowhere {
				continue
			}
			total++
			if d := j.domain(t.now, rule.Domain); d != "" {
				count[d]++
				if !j.free(t) {
					fresh[d]++
				}
			}
		}
	}
	for _, id := range rule.Jobs {
		i := j.jobs[id]
		if ctx.Err() != nil {
			return
		}
		for k := range j.tasks[i] {
			t := &j.tasks[i][k]
			if t.now == nowhere {
				continue
			}
			d := j.domain(t.now, rule.Domain)
			here, new := count[d], fresh[d]
			if isOther[i] && d != "" {
				if here--; !j.free(t) {
					new--
				}
			}
			host := j.hosts[t.now].id
			switch {
			case rule.Type == model.RuleApart && d != "" && (new > 0 || here > 0 && !j.free(t)):
				j.r.add(ruleApart, 0, "rule %q: job %q task %d on host %q is in one domain with %d others", rule.ID, id, t.number, host, here)
			case rule.Type == model.RuleTogether && !j.free(t):
				if d != "" && here+standing[d] > 0 || d != "" && isOther[i] && total == 1 {
					continue
				}
				j.r.add(ruleTogether, 0, "rule %q: job %q task %d on host %q is without company", rule.ID, id, t.number, host)
			case rule.Type == model.RuleSpread && !j.free(t):
				if d != "" && spread[d]-least <= rule.MaxSkew {
					continue
				}
				j.r.add(ruleSpread, float64(max(0, spread[d]-least-rule.MaxSkew)), "rule %q: job %q task %d on host %q is in a domain with %d, the least that counts is %d", rule.ID, id, t.number, host, spread[d], least)
			}
		}
	}
}

// standing returns the numbers of standing tasks of each domain, and how many there are in all, in domains or not. Those of
// a bought host count if tasks run on it.
func (j *consolidationJudge) standing(rule *model.PlacementRule) (count map[string]int, all int) {
	count = map[string]int{}
	for k := range j.hosts {
		h := &j.hosts[k]
		for _, s := range rule.Standing {
			if s.Host == h.id && h.offer == "" || h.offer != "" && s.Offer == h.offer && h.tasks > 0 {
				count[j.domain(k, rule.Domain)] += int(s.Count)
				all += int(s.Count)
			}
		}
	}
	return count, all
}

// spread returns each domain's number of the tasks that a spread counts, and the least of these numbers. The least is
// over hosts that are there, or bought and in use, in the rule's host set; 0 if there are too few domains.
func (j *consolidationJudge) spread(rule *model.PlacementRule, others []string) (count map[string]int, least int) {
	hosts, offers := map[string]int{}, map[string]int{} // the tasks there
	for _, s := range rule.Standing {
		if s.Host != "" {
			hosts[s.Host] += int(s.Count)
		} else {
			offers[s.Offer] += int(s.Count)
		}
	}
	on := map[int]int{} // of a host's number
	for _, id := range others {
		for _, t := range j.tasks[j.jobs[id]] {
			if t.now != nowhere {
				on[t.now]++
			}
		}
	}
	among := j.members(rule.Among)
	count = map[string]int{}
	for k := range j.hosts {
		h := &j.hosts[k]
		d := j.domain(k, rule.Domain)
		if d == "" || h.offer != "" && h.tasks == 0 || among != nil && !among.have(h) {
			continue
		}
		if h.offer == "" {
			count[d] += on[k] + hosts[h.id]
		} else {
			count[d] += on[k] + offers[h.offer]
		}
	}
	if len(count) == 0 || len(count) < rule.MinDomains {
		return count, 0
	}
	least = int(maxSaturated)
	for _, n := range count {
		least = min(least, n)
	}
	return count, least
}
