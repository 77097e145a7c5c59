// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gapwise/gapwise/model"
)

// rules adds the rules of the jobs' pods: required affinity and anti-affinity, hard topology spread
// and host ports, as kube-scheduler's plugins InterPodAffinity, PodTopologySpread and NodePorts decide.
func (v *converter) rules() error {
	if err := v.findStarters(); err != nil {
		return err
	}
	if err := v.confined(); err != nil {
		return err
	}
	for i, g := range v.jobs {
		p := g.pods[0]
		if a := p.Spec.Affinity; a != nil {
			if a.PodAntiAffinity != nil && !v.without("apart") {
				for k := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
					if err := v.term(i, k, model.RuleApart, &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]); err != nil {
						return err
					}
				}
			}
			if a.PodAffinity != nil && !v.without("together") {
				for k := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
					if err := v.term(i, k, model.RuleTogether, &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]); err != nil {
						return err
					}
				}
			}
		}
		if err := v.spread(i); err != nil {
			return err
		}
	}
	if !v.without("ports") {
		v.ports()
	}
	v.survival()
	v.hold()
	return nil
}

// valueOf returns the domain of a node by a label, "" if it has none. A label may be there without a value: that is a
// domain, too, by a name that no value has.
func valueOf(labels map[string]string, key string) string {
	if value, ok := labels[key]; ok {
		return cmp.Or(value, `""`)
	}
	return ""
}

// domain returns the label by which a rule knows domains, "" where each node is one, and gives the
// hosts their values.
func (v *converter) domain(key string) (name string) {
	if name, known := v.domains[key]; known {
		return name
	}
	defer func() { v.domains[key] = name }()
	seen := map[string]bool{}
	for k := range v.c.Nodes {
		if value := valueOf(v.c.Nodes[k].Labels, key); value != "" {
			seen[value] = true
		}
	}
	if key == hostname && len(seen) == len(v.c.Nodes) {
		return ""
	}
	for k := range v.in.Hosts {
		if value := valueOf(v.c.Nodes[k].Labels, key); value != "" {
			if v.in.Hosts[k].Labels == nil {
				v.in.Hosts[k].Labels = map[string]string{}
			}
			v.in.Hosts[k].Labels[key] = value
		}
	}
	for k, x := range v.templates {
		if value := valueOf(x.labels, key); value != "" {
			if v.in.Offers[k].Labels == nil {
				v.in.Offers[k].Labels = map[string]string{}
			}
			v.in.Offers[k].Labels[key] = value
		}
	}
	return key
}

// matching returns the jobs with pods that a selector takes in some namespaces.
func (v *converter) matching(s labels.Selector, namespace func(string) bool) (ids []string) {
	v.byLabels.matching(s, func(i int) {
		if g := v.jobs[i]; namespace(g.pods[0].Namespace) {
			ids = append(ids, g.id)
		}
	})
	return ids
}

// selector returns the selector of a rule, with the additions by keys of the pod's own labels.
func selector(s *metav1.LabelSelector, own map[string]string, same, other []string) (labels.Selector, error) {
	if s == nil {
		return labels.Nothing(), nil
	}
	all := s.DeepCopy()
	for _, key := range same {
		if value, ok := own[key]; ok {
			all.MatchExpressions = append(all.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
		}
	}
	for _, key := range other {
		if value, ok := own[key]; ok {
			all.MatchExpressions = append(all.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}})
		}
	}
	return metav1.LabelSelectorAsSelector(all)
}

// scope returns which pods an affinity term of a pod is about: by their labels and namespaces.
func (v *converter) scope(t *corev1.PodAffinityTerm, p *corev1.Pod) (labels.Selector, func(namespace string) bool, error) {
	s, err := selector(t.LabelSelector, p.Labels, t.MatchLabelKeys, t.MismatchLabelKeys)
	if err != nil {
		return nil, nil, fmt.Errorf("%w cluster: the affinity of %s/%s: %w", model.ErrInvalid, p.Namespace, p.Name, err)
	}
	spaces := labels.Nothing()
	if t.NamespaceSelector != nil {
		if spaces, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			return nil, nil, fmt.Errorf("%w cluster: the affinity of %s/%s: %w", model.ErrInvalid, p.Namespace, p.Name, err)
		}
	}
	return s, func(namespace string) bool {
		if slices.Contains(t.Namespaces, namespace) || t.NamespaceSelector != nil && spaces.Matches(v.spaces[namespace]) {
			return true
		}
		return len(t.Namespaces) == 0 && t.NamespaceSelector == nil && namespace == p.Namespace
	}, nil
}

// term adds the rule of an affinity term of job i.
func (v *converter) term(i, k int, kind model.RuleType, t *corev1.PodAffinityTerm) error {
	g := v.jobs[i]
	p := g.pods[0]
	s, namespace, err := v.scope(t, p.Pod)
	if err != nil {
		return err
	}
	if t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) > 0 && !v.c.Given["Namespace"] {
		v.in.Account.Assumed.Add(p.id, "affinity terms that select namespaces take those that they name alone: no namespaces were given")
	}
	others := v.matching(s, namespace) // room is kept apart, too
	if kind == model.RuleTogether {
		if others, err = v.company(p.Pod); err != nil {
			return err
		}
		switch beside := v.withResidents(p.Pod); {
		case beside && !v.othersToo(p):
			return nil // the allowed nodes state it
		case !beside && !v.starters[g.id]: // each of them waits for another one of them
			others = nil
		}
	}
	if len(others) == 0 {
		if kind == model.RuleApart {
			return nil
		}
		// Nobody to be with: no host will do for a pod that moves or waits.
		switch j := &v.in.Jobs[i]; {
		case p.held != "": // none of them is placed
		case len(j.CurrentHosts) == 0:
			for _, x := range g.pods {
				x.held, x.allowed = noCompany, make([]bool, len(v.places))
			}
			j.Allowed = v.set(p.allowed)
			v.in.Account.Remarks.Add(p.id, "pods kept waiting: "+noCompany)
		case !j.Pinned:
			j.Pinned = true
			v.in.Pins[j.ID] = noCompany
		}
		return nil
	}
	r := model.PlacementRule{ID: fmt.Sprintf("%s %s %d", kind, g.id, k+1), Type: kind, Domain: v.domain(t.TopologyKey), Jobs: []string{g.id}, Others: others}
	if kind == model.RuleTogether {
		standing := make([]int, len(v.places))
		takes, _ := v.allTerms(p.Pod)
		for n, place := range v.places {
			for _, x := range v.residents[place.Name] {
				if valueOf(place.Labels, t.TopologyKey) != "" && takes(x) {
					standing[n]++
				}
			}
		}
		r.Standing = v.counted(standing)
	}
	v.in.Rules = append(v.in.Rules, r)
	return nil
}

// findStarters finds the jobs whose pods run or could start, one after another: those that ask for no company, for their
// own kind's, for a daemon set's, or for that of others which could. Pods that wait for each other aren't among them.
func (v *converter) findStarters() error {
	v.starters = map[string]bool{}
	waits := map[*group][]string{}
	for _, g := range v.jobs {
		p := g.pods[0]
		a := p.Spec.Affinity
		if p.Spec.NodeName != "" || a == nil || a.PodAffinity == nil || len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 || v.withResidents(p.Pod) {
			v.starters[g.id] = p.held == ""
			continue
		}
		others, err := v.company(p.Pod)
		if err != nil {
			return err
		}
		if slices.Contains(others, g.id) {
			v.starters[g.id] = p.held == ""
		} else if p.held == "" {
			waits[g] = others
		}
	}
	for again := true; again; {
		again = false
		for g, others := range waits {
			if slices.ContainsFunc(others, func(id string) bool { return v.starters[id] }) {
				v.starters[g.id], again = true, true
				delete(waits, g)
			}
		}
	}
	return nil
}

// confined takes from the nodes of pods that want their own kind's company alone those of domains in which none of them
// runs, if they can't all be evicted at once: as long as one runs, a successor has to join those that run, so that evictions
// reach no other domain.
func (v *converter) confined() error {
	if v.without("together") || v.without("budgets") {
		return nil
	}
	byCompany := map[string][]int{} // jobs
	for i, g := range v.jobs {
		a := g.pods[0].Spec.Affinity
		if a == nil || a.PodAffinity == nil || len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 || v.withResidents(g.pods[0].Pod) {
			continue
		}
		ids, err := v.company(g.pods[0].Pod)
		if err != nil {
			return err
		}
		key := fmt.Sprint(ids)
		byCompany[key] = append(byCompany[key], i)
	}
	for _, key := range slices.Sorted(maps.Keys(byCompany)) { // sets are numbered as they come
		var ids []string
		jobs := byCompany[key]
		keys := map[string]bool{}
		for _, i := range jobs {
			ids = append(ids, v.jobs[i].id)
			for _, t := range v.jobs[i].pods[0].Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				keys[t.TopologyKey] = true
			}
		}
		if fmt.Sprint(ids) != key || v.atOnce(jobs, keys) {
			continue // others are company, too, or all can go at once
		}
		there := map[string]map[string]bool{} // domains in which they run, by the key of a label
		for _, i := range jobs {
			p := v.jobs[i].pods[0]
			for _, t := range p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				if there[t.TopologyKey] == nil {
					there[t.TopologyKey] = v.runIn(jobs, t.TopologyKey)
				}
				p.allowed = slices.Clone(p.allowed)
				for n := range p.allowed {
					p.allowed[n] = p.allowed[n] && there[t.TopologyKey][valueOf(v.places[n].Labels, t.TopologyKey)]
				}
			}
			v.in.Jobs[i].Allowed = v.set(p.allowed)
		}
	}
	return nil
}

// runIn returns the domains of a label in which pods of some jobs run.
func (v *converter) runIn(jobs []int, key string) map[string]bool {
	there := map[string]bool{}
	for _, i := range jobs {
		for k := range v.jobs[i].pods {
			if h := v.nodeOf(i, k); h >= 0 {
				there[valueOf(v.c.Nodes[h].Labels, key)] = true
			}
		}
	}
	delete(there, "")
	return there
}

// atOnce reports whether all pods of some jobs that run may be evicted at once, or none runs. Those whose node has no label
// by which they would be company don't count.
func (v *converter) atOnce(jobs []int, keys map[string]bool) bool {
	count := map[int]int{} // of each budget
	for _, i := range jobs {
		for _, p := range v.jobs[i].pods {
			h, runs := v.nodes[p.Spec.NodeName]
			if runs = runs && slices.ContainsFunc(slices.Collect(maps.Keys(keys)), func(key string) bool { return valueOf(v.c.Nodes[h].Labels, key) != "" }); !runs {
				continue
			}
			if p.pin != "" {
				return false
			}
			for _, b := range p.budgets {
				s := &v.c.Budgets[b].Status
				all := s.DesiredHealthy == 0 && s.ExpectedPods > 0 // it will allow all of them once they are healthy
				if count[b]++; count[b] > int(s.DisruptionsAllowed) && !all {
					return false
				}
			}
		}
	}
	return true
}

// company returns the jobs whose pods a pod's required affinity asks for: those that all of its terms take, as one pod
// has to match them all. It is found once for each pod that is asked for.
func (v *converter) company(p *corev1.Pod) (ids []string, err error) {
	if ids, known := v.companies[p]; known {
		return ids, nil
	}
	takes, err := v.allTerms(p)
	if err != nil {
		return nil, err
	}
	for _, g := range v.jobs {
		if takes(g.pods[0].Pod) {
			ids = append(ids, g.id)
		}
	}
	ids = v.present(p, ids)
	v.companies[p] = ids
	return ids, nil
}

// allTerms returns whether all required affinity terms of a pod take another one; none is taken if one of them is wrong.
func (v *converter) allTerms(p *corev1.Pod) (func(x *corev1.Pod) bool, error) {
	var all []func(*corev1.Pod) bool
	for k := range p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		takes, err := v.taking(&p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k], p)
		if err != nil {
			return func(*corev1.Pod) bool { return false }, err
		}
		all = append(all, takes)
	}
	return func(x *corev1.Pod) bool {
		return !slices.ContainsFunc(all, func(takes func(*corev1.Pod) bool) bool { return !takes(x) })
	}, nil
}

// withResidents reports whether a pod's required affinity takes a pod of a daemon set or the like.
func (v *converter) withResidents(p *corev1.Pod) bool {
	takes, _ := v.allTerms(p)
	for _, all := range v.residents {
		if slices.ContainsFunc(all, takes) {
			return true
		}
	}
	return false
}

// othersToo reports whether a pod's required affinity takes a pod that counts, perhaps itself.
func (v *converter) othersToo(p *pod) bool {
	key := fmt.Sprintln(p.Namespace, p.Labels, mustJSON(p.Spec.Affinity.PodAffinity), p.room)
	is, known := v.others[key]
	if !known {
		takes, _ := v.allTerms(p.Pod)
		is = slices.ContainsFunc(v.pods, func(x *pod) bool { return takes(x.Pod) && (!x.extra() || p.extra()) })
		v.others[key] = is
	}
	return is
}

// ports adds that pods which take the same port of their node keep apart: a rule for each port that pods of all its
// addresses take, and one for each address of others.
func (v *converter) ports() {
	takes := map[hostPort][]string{}
	for _, g := range v.jobs {
		for _, port := range ports(g.pods[0].Pod) {
			takes[port] = append(takes[port], g.id)
		}
	}
	keys := slices.SortedFunc(maps.Keys(takes), func(a, b hostPort) int { return cmp.Compare(a.String(), b.String()) })
	for _, port := range keys {
		r := model.PlacementRule{ID: "host port " + port.String(), Type: model.RuleApart, Jobs: takes[port]}
		for _, other := range keys {
			if other != port && port.conflicts(other) {
				if r.Others == nil {
					r.Others = slices.Clone(r.Jobs)
				}
				r.Others = append(r.Others, takes[other]...)
			}
		}
		if r.Others != nil {
			slices.Sort(r.Others)
			r.Others = slices.Compact(r.Others)
		}
		v.in.Rules = append(v.in.Rules, r)
	}
}
