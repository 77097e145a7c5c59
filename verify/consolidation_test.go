// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// fiveHosts is a cluster with everything that an instance can have, and a solution: one task
// moves, and one host is bought. Host e is overfull.
func fiveHosts() (*model.Consolidation, *model.Assignment) {
	host := func(id, zone string, capacity, price int64) model.ConsolidationHost {
		h := model.ConsolidationHost{ID: id, Capacity: []int64{capacity}, Price: price}
		if zone != "" {
			h.Labels = map[string]string{"zone": zone}
		}
		return h
	}
	job := func(id string, need int64, hosts ...string) model.ConsolidationJob {
		return model.ConsolidationJob{ID: id, Tasks: len(hosts), Needs: []int64{need}, CurrentHosts: hosts}
	}
	in := &model.Consolidation{Name: "five hosts", Resources: []string{"cpu"},
		Hosts:    []model.ConsolidationHost{host("a", "x", 4, 2), host("b", "x", 4, 2), host("c", "y", 8, 3), host("d", "y", 8, 1), host("e", "", 2, 1)},
		Offers:   []model.HostOffer{{ID: "big", Capacity: []int64{8}, Price: 4, Labels: map[string]string{"zone": "y"}, Count: 1}},
		HostSets: []model.HostSet{{ID: "some", Hosts: []string{"a", "b", "d"}, Offers: []string{"big"}}, {ID: "y", Hosts: []string{"c", "d"}}},
		Jobs:     []model.ConsolidationJob{job("db", 2, "a"), job("web", 1, "a", "b"), job("fat", 3, "e"), job("new", 2, "", ""), job("rest", 1, "d")},
		Rules: []model.PlacementRule{{ID: "by host", Type: model.RuleApart, Jobs: []string{"web"}},
			{ID: "with db", Type: model.RuleTogether, Domain: "zone", Jobs: []string{"web"}, Others: []string{"db"}},
			{ID: "zones", Type: model.RuleSpread, Domain: "zone", Jobs: []string{"new"}, MaxSkew: 1}},
	}
	budget, limit, out := int64(2), int64(13), int64(2)
	in.MoveBudget, in.CostLimit, in.Jobs[4].LeaveOutCost = &budget, &limit, &out
	in.Jobs[0].Pinned, in.Jobs[1].Allowed, in.Jobs[3].Allowed, in.Hosts[3].Closed = true, "some", "some", true
	at := func(id string, hosts ...string) model.JobAssignment { return model.JobAssignment{ID: id, Hosts: hosts} }
	return in, &model.Assignment{Bought: []model.BoughtHost{{ID: "big-1", Offer: "big"}},
		Jobs: []model.JobAssignment{at("db", "a"), at("web", "a", "b"), at("fat", "e"), at("new", "b", "big-1"), at("rest", "c")}}
}

// Each break of the solution is found, by its name and amount, and nothing else.
func TestConsolidationViolations(t *testing.T) {
	t.Parallel()
	type instance = model.Consolidation
	type solution = model.Assignment
	for name, c := range map[string]struct {
		set  string
		edit func(in *instance, s *solution)
		want []string
	}{
		"unknown job":              {"S.Jobs.0.ID=x", nil, []string{"missing_job", "unknown_job"}},
		"a job twice":              {"", func(_ *instance, s *solution) { s.Jobs = append(s.Jobs, s.Jobs[1]) }, []string{"repeated_job"}},
		"a job less":               {"S.Jobs=[1:]", nil, []string{"missing_job"}},
		"in another order":         {"", func(_ *instance, s *solution) { slices.Reverse(s.Jobs) }, nil},
		"a task too many":          {"", func(_ *instance, s *solution) { s.Jobs[1].Hosts = append(s.Jobs[1].Hosts, "c") }, []string{"task_count"}},
		"a task too few":           {"S.Jobs.1.Hosts=[:1]", nil, []string{"task_count"}},
		"unknown host":             {"S.Jobs.4.Hosts.0=z", nil, []string{"unknown_host"}},
		"a host that isn't bought": {"S.Bought=nil", nil, []string{"unknown_host"}},
		"unknown offer":            {"S.Bought.0.Offer=none", nil, []string{"unknown_host", "unknown_offer"}},
		"an id that a host has":    {"S.Bought.0.ID=a", nil, []string{"repeated_host", "unknown_host"}},
		"an empty id":              {"S.Bought.0.ID=", nil, []string{"repeated_host", "unknown_host"}},
		"two of one offer": {"", func(_ *instance, s *solution) {
			s.Bought = append(s.Bought, model.BoughtHost{ID: "big-2", Offer: "big"})
		}, []string{"cost_limit 3", "offer_count"}},
		"one bought twice":            {"", func(_ *instance, s *solution) { s.Bought = append(s.Bought, s.Bought[0]) }, []string{"repeated_host"}},
		"left out":                    {"S.Jobs.1.Hosts.1=", nil, []string{"left_out"}},
		"left out as it may be":       {"S.Jobs.4.Hosts.0=", nil, nil},
		"pinned elsewhere":            {"S.Jobs.0.Hosts.0=c", nil, []string{"pinned_task"}},
		"pinned and left out":         {"S.Jobs.0.Hosts.0=", nil, []string{"left_out", "pinned_task"}},
		"anew on a closed host":       {"", func(_ *instance, s *solution) { s.Jobs[3].Hosts = []string{"d", "b"} }, []string{"closed_host"}},
		"stays on a closed host":      {"S.Jobs.4.Hosts.0=d", nil, nil},
		"anew on an overfull host":    {"S.Jobs.4.Hosts.0=e", nil, []string{"host_capacity 2"}},
		"needs nothing of it":         {"In.Jobs.4.Needs.0=0; S.Jobs.4.Hosts.0=e", nil, nil},
		"no longer overfull":          {"In.Jobs.2.Needs.0=1; S.Jobs.4.Hosts.0=e", nil, nil},
		"not allowed":                 {"S.Jobs.3.Hosts.1=c", nil, []string{"host_allowed"}},
		"an offer that isn't allowed": {"In.HostSets.0.Offers=nil", nil, []string{"host_allowed"}},
		"stays where none is allowed": {"", func(in *instance, _ *solution) { in.HostSets[0].Hosts = []string{"b"} }, nil},
		"one too much":                {"S.Jobs.3.Hosts.0=a", nil, []string{"host_capacity 1"}},
		"filled to the last":          {"In.Jobs.1.Needs.0=2", nil, nil},
		"on one host, one anew":       {"S.Jobs.1.Hosts.0=b", nil, []string{"rule_apart", "rule_apart"}},
		"on one host, both stay":      {"In.Jobs.1.CurrentHosts.1=a; S.Jobs.1.Hosts.1=a", nil, nil},
		"without company":             {"S.Jobs.1.Hosts.1=big-1", nil, []string{"rule_together"}},
		"alone in the world":          {"", func(in *instance, _ *solution) { in.Rules[1].Jobs, in.Rules[1].Others = []string{"rest"}, nil }, nil},
		"others are elsewhere": {"", func(in *instance, _ *solution) {
			in.Rules[1].Jobs, in.Rules[1].Others = []string{"rest"}, []string{"rest", "db"}
		}, []string{"rule_together"}},
		"together in no domain": {"", func(in *instance, _ *solution) {
			in.Hosts[2].Labels, in.Rules[1].Jobs, in.Rules[1].Others = nil, []string{"rest"}, nil
		}, []string{"rule_together"}},
		"two in one zone, none beside": {"S.Jobs.3.Hosts.0=big-1", nil, []string{"rule_spread 1", "rule_spread 1"}},
		"what stands in a zone counts": {"", func(in *instance, _ *solution) {
			in.Rules[2].Standing = []model.HostCount{{Host: "c", Count: 1}, {Offer: "big", Count: 1}}
		}, []string{"rule_spread 1"}},
		"standing on no host of the set": {"", func(in *instance, _ *solution) {
			in.Rules[2].Among, in.Rules[2].Standing = "some", []model.HostCount{{Host: "c", Count: 9}}
		}, nil},
		"too few zones": {"", func(in *instance, s *solution) {
			in.Rules[2].Standing = []model.HostCount{{Host: "c", Count: 1}}
			in.Rules[2].MinDomains, in.Jobs[3].Needs[0], s.Jobs[3].Hosts, s.Bought = 3, 1, []string{"b", "b"}, nil
		}, []string{"rule_spread 1", "rule_spread 1"}},
		"as many zones as it wants": {"", func(in *instance, s *solution) {
			in.Rules[2].Standing = []model.HostCount{{Host: "c", Count: 1}}
			in.Rules[2].MinDomains, in.Jobs[3].Needs[0], s.Jobs[3].Hosts, s.Bought = 2, 1, []string{"b", "b"}, nil
		}, nil},
		"two in the only zone":          {"S.Jobs.3.Hosts.0=big-1; In.Rules.2.Among=y", nil, nil},
		"spread to no zone":             {"In.Hosts.1.Labels=nil", nil, []string{"rule_spread"}},
		"a bought host's zone is a new": {"", func(in *instance, _ *solution) { in.Offers[0].Labels = map[string]string{"zone": "z"} }, nil},
		"a move too many":               {"In.MoveBudget=0", nil, []string{"move_budget 1"}},
		"a dear move":                   {"In.Jobs.4.MoveCost=7", nil, []string{"move_budget 5"}},
		"too dear":                      {"In.CostLimit=11", nil, []string{"cost_limit 1"}},
		"a host too many":               {"", func(in *instance, _ *solution) { in.Limits = []model.HostLimit{{ID: "five", Most: 4}} }, []string{"host_limit 1"}},
		"as many as may be":             {"", func(in *instance, _ *solution) { in.Limits = []model.HostLimit{{ID: "five", Most: 5}} }, nil},
		"what is bought counts": {"", func(in *instance, _ *solution) {
			in.Limits = []model.HostLimit{{ID: "l", Most: 3, Counts: []model.HostCount{{Offer: "big", Count: 3}, {Host: "b", Count: 2}, {Host: "d", Count: 9}}}}
		}, []string{"host_limit 2"}},
		"kept without tasks": {"In.Hosts.3.Kept=true; In.CostLimit=12", nil, []string{"cost_limit 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			in, s := fiveHosts()
			if r := judge(t, in, s, verify.Options{}); !r.Feasible() || r.Objective != 12 || r.Second != 1 {
				t.Fatal(r)
			}
			edited(t, in, s, c.set, c.edit)
			require.Same(t, "violations", c.want, constraints(judge(t, in, s, verify.Options{})))
		})
	}
	in, s := fiveHosts()
	in.Goal = model.GoalMoves
	if r := judge(t, in, s, verify.Options{}); r.Objective != 1 || r.Second != 12 {
		t.Errorf("for the moves: %v", r)
	}
}

// placed is a task with its host.
type placed struct {
	job   int
	host  string
	stays bool
}

// naivePlan computes figures and the names of broken constraints by the words of the model alone, one
// pair of tasks after the other.
func naivePlan(in *model.Consolidation, a *model.Assignment) (cost, moves int64, broken map[string]bool) {
	broken = map[string]bool{}
	hosts, closed, offerOf := map[string]model.ConsolidationHost{}, map[string]bool{}, map[string]string{}
	for _, h := range in.Hosts {
		hosts[h.ID] = h
		closed[h.ID] = h.Closed
	}
	for k, b := range a.Bought {
		for _, o := range in.Offers {
			if o.ID == b.Offer {
				hosts[b.ID], offerOf[b.ID] = model.ConsolidationHost{ID: b.ID, Capacity: o.Capacity, Labels: o.Labels}, o.ID
				cost += o.Price
				if bought := slices.IndexFunc(a.Bought[:k], func(x model.BoughtHost) bool { return x.Offer == b.Offer }); bought >= 0 && o.Count == 1 {
					broken["offer_count"] = true
				}
			}
		}
	}
	var tasks []placed
	for i, j := range in.Jobs {
		for k, h := range a.Jobs[i].Hosts {
			before := ""
			if len(j.CurrentHosts) > 0 {
				before = j.CurrentHosts[k]
			}
			if before != "" && before != h {
				moves += max(1, j.MoveCost)
			}
			if j.Pinned && before != h {
				broken["pinned_task"] = true
			}
			switch {
			case h == "" && j.LeaveOutCost == nil:
				broken["left_out"] = true
			case h == "":
				cost += *j.LeaveOutCost
			case before != h || in.Mend:
				set := slices.IndexFunc(in.HostSets, func(s model.HostSet) bool { return s.ID == j.Allowed })
				if set >= 0 && !slices.Contains(in.HostSets[set].Hosts, h) && !slices.Contains(in.HostSets[set].Offers, offerOf[h]) {
					broken["host_allowed"] = true
				}
				if closed[h] && before != h {
					broken["closed_host"] = true
				}
			}
			if h != "" {
				tasks = append(tasks, placed{i, h, before == h && !in.Mend})
			}
		}
	}
	for id, h := range hosts {
		used := false
		sum, anew := make([]int64, len(in.Resources)), make([]bool, len(in.Resources))
		for _, t := range tasks {
			if t.host == id {
				used = true
				for r, x := range in.Jobs[t.job].Needs {
					sum[r] += x
					anew[r] = anew[r] || !t.stays && x > 0
				}
			}
		}
		if used || h.Kept {
			cost += h.Price
		}
		for r, x := range sum {
			if x > h.Capacity[r] && anew[r] {
				broken["host_capacity"] = true
			}
		}
	}
	for k := range in.Rules {
		if breaks(in, &in.Rules[k], tasks, hosts, offerOf) {
			broken["rule_"+string(in.Rules[k].Type)] = true
		}
	}
	for _, l := range in.Limits {
		sum := int64(0)
		for id, h := range hosts {
			if offerOf[id] == "" && !h.Kept && !slices.ContainsFunc(tasks, func(t placed) bool { return t.host == id }) {
				continue
			}
			if l.Counts == nil {
				sum++
			}
			for _, x := range l.Counts {
				if x.Host == id && offerOf[id] == "" || x.Offer != "" && x.Offer == offerOf[id] {
					sum += x.Count
				}
			}
		}
		if sum > l.Most {
			broken["host_limit"] = true
		}
	}
	if in.MoveBudget != nil && moves > *in.MoveBudget {
		broken["move_budget"] = true
	}
	if in.CostLimit != nil && cost > *in.CostLimit {
		broken["cost_limit"] = true
	}
	return cost, moves, broken
}

// breaks reports whether tasks break a rule.
func breaks(in *model.Consolidation, r *model.PlacementRule, tasks []placed, hosts map[string]model.ConsolidationHost, offerOf map[string]string) bool {
	others := append([]string{}, r.Others...)
	if len(others) == 0 {
		others = r.Jobs
	}
	domain := func(id string) string {
		if r.Domain == "" {
			return "host " + id
		}
		return hosts[id].Labels[r.Domain]
	}
	bound := func(t placed) bool { return slices.Contains(r.Jobs, in.Jobs[t.job].ID) }
	other := func(t placed) bool { return slices.Contains(others, in.Jobs[t.job].ID) }
	// The hosts that count for a spread: hosts of its set that are there or have tasks.
	counts := func(id string) bool {
		there := offerOf[id] == "" || slices.ContainsFunc(tasks, func(t placed) bool { return t.host == id })
		set := slices.IndexFunc(in.HostSets, func(s model.HostSet) bool { return s.ID == r.Among })
		return there && domain(id) != "" && (set < 0 || offerOf[id] == "" && slices.Contains(in.HostSets[set].Hosts, id) || slices.Contains(in.HostSets[set].Offers, offerOf[id]))
	}
	spread := func(d string) (n int) {
		for _, t := range tasks {
			if other(t) && domain(t.host) == d && counts(t.host) {
				n++
			}
		}
		for id := range hosts {
			for _, s := range r.Standing {
				if domain(id) == d && counts(id) && (s.Host == id && offerOf[id] == "" || s.Offer != "" && s.Offer == offerOf[id]) {
					n += int(s.Count)
				}
			}
		}
		return n
	}
	least, domains := 0, map[string]bool{}
	for id := range hosts {
		if d := domain(id); counts(id) {
			if n := spread(d); len(domains) == 0 || n < least {
				least = n
			}
			domains[d] = true
		}
	}
	if len(domains) < r.MinDomains {
		least = 0
	}
	for a, t := range tasks {
		d := domain(t.host)
		if !bound(t) {
			continue
		}
		alone, company := other(t), false
		for id := range hosts {
			for _, s := range r.Standing {
				if s.Host == id && offerOf[id] == "" || s.Offer != "" && s.Offer == offerOf[id] && slices.ContainsFunc(tasks, func(t placed) bool { return t.host == id }) {
					alone, company = false, company || d != "" && domain(id) == d
				}
			}
		}
		for b, u := range tasks {
			if a == b || !other(u) {
				continue
			}
			alone = false
			if d != "" && domain(u.host) == d {
				company = true
				if r.Type == model.RuleApart && !(t.stays && u.stays) {
					return true
				}
			}
		}
		switch {
		case t.stays:
		case r.Type == model.RuleTogether && (d == "" || !company && !alone):
			return true
		case r.Type == model.RuleSpread && (d == "" || spread(d)-least > r.MaxSkew):
			return true
		}
	}
	return false
}

// Random plans have the figures and break the constraints that a naive second computation finds.
func TestConsolidationAgainstNaive(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(29, 1))
	seen := map[string]int{}
	for range require.Rounds(4000) {
		in := testkit.Consolidation(rng, 2+rng.IntN(8), 1+rng.IntN(5))
		if rng.IntN(2) == 0 {
			in = testkit.Short(rng, 2+rng.IntN(8), 1+rng.IntN(5))
			in.Mend = rng.IntN(2) == 0
		}
		a := &model.Assignment{}
		var ids []string
		for _, h := range in.Hosts {
			ids = append(ids, h.ID)
		}
		for k, o := range in.Offers {
			for n := range rng.IntN(3) {
				b := model.BoughtHost{ID: fmt.Sprint("new", k, n), Offer: o.ID}
				a.Bought, ids = append(a.Bought, b), append(ids, b.ID)
			}
		}
		moves := rng.IntN(4) // of so many tasks
		for i := range in.Jobs {
			j := &in.Jobs[i]
			q := model.JobAssignment{ID: j.ID}
			for k := range j.Tasks {
				h := j.Current(k)
				switch {
				case h == "" || rng.IntN(4) < moves:
					h = ids[rng.IntN(len(ids))]
				case rng.IntN(10) == 0:
					h = ""
				}
				q.Hosts = append(q.Hosts, h)
			}
			a.Jobs = append(a.Jobs, q)
		}
		cost, moved, broken := naivePlan(in, a)
		first, second := float64(cost), float64(moved)
		if in.Goal == model.GoalMoves {
			first, second = second, first
		}
		r := judge(t, in, a, verify.Options{})
		found := map[string]bool{}
		for _, v := range r.Violations {
			found[v.Constraint] = true
		}
		o, err := in.Objective(a)
		if err != nil || o.Value != first || o.Second != second || r.Objective != first || r.Second != second {
			t.Fatalf("the judge has %v and %v, the model %v (%v), want %v and %v: %s of %s", r.Objective, r.Second, o, err, first, second, text(a), text(in))
		}
		if diff := cmp.Diff(broken, found); diff != "" {
			t.Fatalf("(-naive,+judge) %s\n%v: %s of %s", diff, r, text(a), text(in))
		}
		for name := range broken {
			seen[name]++
		}
		if len(broken) == 0 {
			seen["none"]++
		}
	}
	for _, name := range []string{"none", "offer_count", "left_out", "pinned_task", "closed_host", "host_allowed", "host_capacity", "rule_apart", "rule_together", "rule_spread", "move_budget", "cost_limit", "host_limit"} {
		if seen[name] < 4 {
			t.Errorf("%s was broken %d times", name, seen[name])
		}
	}
	t.Log(seen)
}

// Found by the audit: the only job without a host set is pinned, so the row of such jobs is of its host alone.
func TestCoverOfPinned(t *testing.T) {
	t.Parallel()
	in := &model.Consolidation{Name: "pinned", Resources: []string{"cpu"},
		Hosts:    []model.ConsolidationHost{{ID: "h1", Capacity: []int64{1}, Price: 1}, {ID: "h2", Capacity: []int64{6}, Price: 1}},
		HostSets: []model.HostSet{{ID: "s1", Hosts: []string{"h1"}}},
		Jobs: []model.ConsolidationJob{{ID: "j1", Tasks: 1, Needs: []int64{4}, Allowed: "s1", MoveCost: 1},
			{ID: "j2", Tasks: 1, Needs: []int64{1}, CurrentHosts: []string{"h1"}, Pinned: true}}}
	require.OK(t, in.Validate())
	b := consbounds.Quick(t.Context(), in)[0]
	f, err := verify.Evidence(t.Context(), in, b.Evidence)
	if err != nil || !b.Infeasible || !f.Implies(model.Minimise, b.Value, true) {
		t.Errorf("%+v, %v; by %s", b, err, f.How)
	}
	in.Jobs[1].Pinned = false
	if f, err = verify.Evidence(t.Context(), in, b.Evidence); err != nil || f.Implies(model.Minimise, b.Value, true) {
		t.Errorf("a job that may move: %v; by %s", err, f.How)
	}
}
