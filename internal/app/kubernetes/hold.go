// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Holds are the values of Options.Hold.
var Holds = []string{holdPreferences}

const holdPreferences = "preferences"

// prefers begins the ids of rules that hold preferences.
const prefers = "prefer "

// preference is a soft topology spread constraint of a workload, or a preferred anti-affinity term of it, among the pods
// that run. Pods that wait don't count: no preference is to keep one waiting.
type preference struct {
	workload, id string
	key          string // of the domains' label
	jobs, others []int  // the jobs whose pods prefer, and those of the pods that count; a spread has the same
	skew         int    // 0: the pods keep apart
	among        []bool // places that a spread counts
	standing     []int  // pods of daemon sets that it counts, on each place
}

// runs returns the jobs whose pods run and are taken.
func (v *converter) runs(takes func(*corev1.Pod) bool) (all []int, pods int) {
	for i, g := range v.jobs {
		if p := g.pods[0].Pod; p.Spec.NodeName != "" && takes(p) {
			all, pods = append(all, i), pods+len(g.pods)
		}
	}
	return all, pods
}

// preferred returns the preferences of workloads that a plan could break. O(jobs² × constraints).
func (v *converter) preferred() (all []*preference) {
	byKey, ids := map[string]*preference{}, map[string]int{}
	add := func(i int, what, content string, fresh func(workload string) *preference) {
		name := workload(v.jobs[i].pods[0].Pod)
		key := fmt.Sprintln(name, what, content)
		x, known := byKey[key]
		if !known {
			if x = fresh(name); x != nil {
				x.workload, x.id = name, what+" "+name+" "+x.key
				if ids[x.id]++; ids[x.id] > 1 {
					x.id += fmt.Sprintf(" #%d", ids[x.id])
				}
				all = append(all, x)
			}
			byKey[key] = x
		}
		if x != nil && x.skew == 0 {
			x.jobs = append(x.jobs, i)
		}
	}
	for i, g := range v.jobs {
		p := g.pods[0].Pod
		if p.Spec.NodeName == "" {
			continue
		}
		soft := v.softSpread(p)
		for _, t := range soft {
			s, err := selector(t.LabelSelector, p.Labels, t.MatchLabelKeys, nil)
			if err != nil || s.Empty() { // kube-scheduler then counts nothing
				continue
			}
			add(i, "spread", s.String()+mustJSON(t), func(string) *preference {
				x := &preference{key: t.TopologyKey, skew: int(t.MaxSkew)}
				pods := 0
				x.others, pods = v.runs(func(o *corev1.Pod) bool { return o.Namespace == p.Namespace && s.Matches(labels.Set(o.Labels)) })
				if x.among, err = v.eligible(g.pods[0], t, soft); err != nil || pods <= x.skew {
					return nil
				}
				x.jobs, x.standing = x.others, v.standing(s, p.Namespace, x.among)
				return x
			})
		}
		eachTerm(p, func(t *corev1.PodAffinityTerm, weight int64, required bool) {
			if weight >= 0 || required {
				return
			}
			s, within, err := v.scope(t, p)
			if err != nil {
				return
			}
			add(i, "apart", s.String()+mustJSON(t), func(string) *preference {
				x := &preference{key: t.TopologyKey}
				pods := 0
				x.others, pods = v.runs(func(o *corev1.Pod) bool { return within(o.Namespace) && s.Matches(labels.Set(o.Labels)) })
				if pods == 0 || pods == 1 && len(g.pods) == 1 && x.others[0] == i {
					return nil
				}
				return x
			})
		})
	}
	return all
}

// softSpread returns the topology spread constraints that a pod would like kept.
func (v *converter) softSpread(p *corev1.Pod) (all []*corev1.TopologySpreadConstraint) {
	for k := range p.Spec.TopologySpreadConstraints {
		if t := &p.Spec.TopologySpreadConstraints[k]; t.WhenUnsatisfiable == corev1.ScheduleAnyway && t.MaxSkew > 0 {
			all = append(all, t)
		}
	}
	return all
}

// spreads counts the pods of a spread in each domain, and returns the most and the fewest. The fewest are of today's
// domains: a node that is bought takes nothing from the others by coming.
func (v *converter) spreads(x *preference, nodeOf func(group, pod int) int) (most, least, domains int) {
	count := map[string]int{}
	for n, counts := range x.among[:len(v.c.Nodes)] {
		if counts {
			count[v.places[n].Labels[x.key]] += x.standing[n]
		}
	}
	for _, i := range x.others {
		for k := range v.jobs[i].pods {
			if h := nodeOf(i, k); h >= 0 && x.among[h] {
				count[v.places[h].Labels[x.key]]++
			}
		}
	}
	today := map[string]bool{}
	for n, counts := range x.among[:len(v.c.Nodes)-v.launched] {
		if counts {
			today[v.places[n].Labels[x.key]] = true
		}
	}
	least = math.MaxInt
	for value, n := range count {
		if most = max(most, n); today[value] {
			least = min(least, n)
		}
	}
	return most, least, len(today)
}

// kept reports whether a preference is kept where pods are on some nodes, by the cluster's labels alone.
func (v *converter) kept(x *preference, nodeOf func(group, pod int) int) bool {
	if x.skew > 0 {
		most, least, domains := v.spreads(x, nodeOf)
		return domains == 0 || most-least <= x.skew
	}
	type place struct{ job, pod int }
	there := map[string][]place{} // pods that count, in each domain
	for _, i := range x.others {
		for k := range v.jobs[i].pods {
			if h := nodeOf(i, k); h >= 0 {
				value := v.places[h].Labels[x.key]
				there[value] = append(there[value], place{i, k})
			}
		}
	}
	for _, i := range x.jobs {
		for k := range v.jobs[i].pods {
			h := nodeOf(i, k)
			if h < 0 || v.places[h].Labels[x.key] == "" {
				continue
			}
			on := there[v.places[h].Labels[x.key]]
			if len(on) > 1 || len(on) == 1 && on[0] != (place{i, k}) {
				return false
			}
		}
	}
	return true
}

// hold adds a rule for each preference that is kept today, if the options ask for it.
func (v *converter) hold() {
	if !slices.Contains(v.Hold, holdPreferences) {
		return
	}
	v.in.Held = maps.Clone(v.Held)
	all := v.preferred()
	if v.in.Held == nil {
		v.in.Held = map[string]bool{}
		for _, x := range all {
			if v.kept(x, v.nodeOf) {
				v.in.Held[x.id] = true
			}
		}
	}
	for _, x := range all {
		if !v.in.Held[x.id] {
			continue
		}
		r := model.PlacementRule{ID: prefers + x.id, Type: model.RuleApart, Domain: v.domain(x.key), Jobs: v.ids(x.jobs), Others: v.ids(x.others)}
		if x.skew > 0 {
			r.Type, r.MaxSkew, r.Among, r.Standing = model.RuleSpread, x.skew, v.set(x.among), v.counted(x.standing)
			v.floors(x)
		}
		v.in.Rules = append(v.in.Rules, r)
	}
}

func (v *converter) ids(jobs []int) (all []string) {
	for _, i := range jobs {
		all = append(all, v.jobs[i].id)
	}
	return all
}

// floors adds that no domain of a spread which is kept today gets so few pods that one whose pods stay has too many: a
// rule of spread binds domains with newly placed tasks alone. Let m be the fewest pods of a domain today, M the most and s
// the skew: with M-s in each domain, those that none joins keep the spread, as they have M at most.
//
// It isn't needed with s = 1 if no pod leaves the domains and none is added: let a domain get fewer than m. Those that pods
// join have at most s more, so at most m, which is what they had at least; others have no more than they had. Then the
// sum would be less than it was.
func (v *converter) floors(x *preference) {
	most, _, domains := v.spreads(x, v.nodeOf)
	same := x.skew == 1
	for _, i := range x.others {
		for n, may := range v.jobs[i].pods[0].allowed {
			same = same && (!may || x.among[n] && n < len(v.c.Nodes)-v.launched)
		}
	}
	if most <= x.skew || domains < 2 || same || !v.kept(x, v.nodeOf) {
		return
	}
	pods, standing := 0, map[string]int{}
	for _, i := range x.others {
		pods += len(v.jobs[i].pods)
	}
	for n, counts := range x.among[:len(v.c.Nodes)-v.launched] {
		if counts {
			standing[v.places[n].Labels[x.key]] += x.standing[n]
		}
	}
	for _, value := range slices.Sorted(maps.Keys(standing)) {
		least := most - x.skew - standing[value]
		if least < 1 || pods <= 2*least {
			continue
		}
		id := prefers + x.id + " of " + value
		label := func(labels map[string]string, n int) map[string]string {
			if labels == nil {
				labels = map[string]string{}
			}
			if labels[id] = "others"; x.among[n] && v.places[n].Labels[x.key] == value {
				labels[id] = value
			}
			return labels
		}
		for n := range v.in.Hosts {
			v.in.Hosts[n].Labels = label(v.in.Hosts[n].Labels, n)
		}
		for n := range v.in.Offers {
			v.in.Offers[n].Labels = label(v.in.Offers[n].Labels, len(v.in.Hosts)+n)
		}
		v.in.Rules = append(v.in.Rules, model.PlacementRule{ID: id, Type: model.RuleSpread, Domain: id, Jobs: v.ids(x.others), MaxSkew: pods - 2*least})
	}
}

// Preferences tells what a plan does to the preferences that pods have today.
type Preferences struct {
	// Held counts the workloads with soft topology spread or preferred anti-affinity that is kept today; Lost names those
	// of them with one that isn't after the plan.
	Held int      `json:"workloads_that_hold_one"`
	Lost []string `json:"workloads_that_lose_one"`
	// Pods and Nodes count the pods with a preferred pod affinity, or node affinity, that is met today and not after.
	Pods  int `json:"pods_that_lose_preferred_company"`
	Nodes int `json:"pods_that_lose_a_preferred_node"`
	// Price is the cost of holding what is lost; null if it isn't known.
	Price *int64 `json:"price_of_holding,omitempty"`
}

// preferences compares a plan with today's, by the cluster's labels; nil if no pod has a preference.
func (in *Instance) preferences(today, then view.Plan) *Preferences {
	v := in.converter
	on := func(p view.Plan) func(i, k int) int { return func(i, k int) int { return int(p[i][k]) } }
	r := &Preferences{Lost: []string{}}
	held := map[string]bool{}
	for _, x := range v.preferred() {
		if v.kept(x, on(today)) {
			if held[x.workload] = true; !v.kept(x, on(then)) {
				r.Lost = append(r.Lost, x.workload)
			}
		}
	}
	r.Held, r.Lost = len(held), distinct(r.Lost)
	some := len(held) > 0
	for i, g := range v.jobs {
		a := g.pods[0].Spec.Affinity
		if a == nil || g.pods[0].room != "" {
			continue
		}
		var nodes []corev1.PreferredSchedulingTerm
		if a.NodeAffinity != nil {
			nodes = a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		}
		lost := map[int]bool{} // pods that lose company
		if a.PodAffinity != nil {
			for t := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
				term, p := &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[t].PodAffinityTerm, g.pods[0].Pod
				self := 0
				if takes, _ := v.taking(term, p); takes(p) {
					self = 1
				}
				before, after := v.companyOf(term, p, on(today)), v.companyOf(term, p, on(then))
				for k := range g.pods {
					if from, to := today[i][k], then[i][k]; from >= 0 && to >= 0 {
						some = true
						lost[k] = lost[k] || before[v.places[from].Labels[term.TopologyKey]] > self && after[v.places[to].Labels[term.TopologyKey]] <= self
					}
				}
			}
		}
		for k := range g.pods {
			if lost[k] {
				r.Pods++
			}
			if from, to := today[i][k], then[i][k]; from >= 0 && to >= 0 && len(nodes) > 0 {
				if some = true; v.losesNode(nodes, int(from), int(to)) {
					r.Nodes++
				}
			}
		}
	}
	if !some {
		return nil
	}
	return r
}

// losesNode reports whether a node matches a preferred term that another one doesn't.
func (v *converter) losesNode(terms []corev1.PreferredSchedulingTerm, from, to int) bool {
	if from == to {
		return false
	}
	for k := range terms {
		t, err := nodeaffinity.NewPreferredSchedulingTerms([]corev1.PreferredSchedulingTerm{{Weight: 1, Preference: terms[k].Preference}})
		if err == nil && t.Score(v.places[from]) > t.Score(v.places[to]) {
			return true
		}
	}
	return false
}

// companyOf counts the pods that a term of a job's pods takes, of daemon sets, too, in each domain.
func (v *converter) companyOf(t *corev1.PodAffinityTerm, p *corev1.Pod, nodeOf func(group, pod int) int) map[string]int {
	there := map[string]int{}
	takes, err := v.taking(t, p)
	if err != nil {
		return there
	}
	for j, g := range v.jobs {
		if takes(g.pods[0].Pod) && g.pods[0].room == "" {
			for l := range g.pods {
				if h := nodeOf(j, l); h >= 0 {
					there[v.places[h].Labels[t.TopologyKey]]++
				}
			}
		}
	}
	for n := range v.c.Nodes {
		for _, o := range v.residents[v.c.Nodes[n].Name] {
			if takes(o) {
				there[v.places[n].Labels[t.TopologyKey]]++
			}
		}
	}
	delete(there, "")
	return there
}
