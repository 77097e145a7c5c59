// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/types"
)

// filterAll filters the pods, once for all that are alike for it, and numbers the sets of places that allow them. Pods
// with equal sets share them: who changes one makes a copy first. O(pods + kinds of pods × places).
func (v *converter) filterAll() error {
	known, numbers := map[string]*pod{}, map[string]int{}
	own := slices.ContainsFunc(v.places, func(n *corev1.Node) bool {
		return slices.ContainsFunc(v.residents[n.Name], func(x *corev1.Pod) bool {
			return x.Spec.Affinity != nil && x.Spec.Affinity.PodAntiAffinity != nil
		})
	})
	for _, p := range v.pods {
		key, alone := "", len(claims(p.Pod)) > 0
		if !alone {
			key = v.filterKey(p, own)
		}
		if first := known[key]; !alone && first != nil && !v.mendsAt(p, first.refused) {
			if _, err := v.volumes(p); err != nil { // for what it tells
				return err
			}
			p.allowed, p.refused, p.places = first.allowed, first.refused, first.places
			continue
		}
		if err := v.filter(p); err != nil {
			return err
		}
		p.places = numberOf(numbers, p.allowed)
		if !alone && !v.mendsAt(p, p.refused) {
			known[key] = p
		}
	}
	return nil
}

// mendsAt reports whether filter has a pod stay on its node in spite of what refuses it there.
func (v *converter) mendsAt(p *pod, refused []string) bool {
	k, runs := v.nodes[p.Spec.NodeName]
	return v.Mend && runs && refused[k] != ""
}

// numberOf numbers sets, equal ones by the same number.
func numberOf(numbers map[string]int, set []bool) int {
	key := packed(set)
	n, ok := numbers[key]
	if !ok {
		n = len(numbers)
		numbers[key] = n
	}
	return n
}

// packed returns a set as a string, equal ones as the same.
func packed(set []bool) string {
	b := make([]byte, (len(set)+7)/8)
	for k, in := range set {
		if in {
			b[k/8] |= 1 << (k % 8)
		}
	}
	return string(b)
}

// filterKey holds what filter asks of a pod without claims. Its labels and namespace count for rules about the pods of
// daemon sets and the like alone: its own, or theirs.
func (v *converter) filterKey(p *pod, own bool) string {
	var b strings.Builder
	if a := p.Spec.Affinity; a != nil {
		if a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			b.WriteString(mustJSON(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution))
		}
		if a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			b.WriteString("with" + mustJSON(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution))
			own = true
		}
		if a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			b.WriteString("apart" + mustJSON(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution))
			own = true
		}
	}
	if own {
		fmt.Fprintf(&b, "%q%q%q", p.Namespace, p.Labels, p.room)
	}
	if len(p.Spec.NodeSelector) > 0 {
		fmt.Fprintf(&b, "%q", p.Spec.NodeSelector)
	}
	for _, t := range v.hardSpread(p.Pod) {
		fmt.Fprintf(&b, "%q", t.TopologyKey)
	}
	if all := ports(p.Pod); len(all) > 0 {
		fmt.Fprint(&b, all)
	}
	fmt.Fprintf(&b, "\n%s\n", p.held)
	if v.declared {
		needs, err := v.features(p.Pod)
		fmt.Fprintln(&b, needs, err)
	}
	b.WriteString(tolerationsKey(p.Spec.Tolerations))
	return b.String()
}

// tolerationsKey holds what tolerations say, but for how long they do.
func tolerationsKey(all []corev1.Toleration) string {
	b := make([]byte, 0, 128)
	for k := range all {
		t := &all[k]
		b = fmt.Appendf(b, "%q", [4]string{t.Key, string(t.Operator), t.Value, string(t.Effect)})
	}
	return string(b)
}

// features infers the features that a pod's spec asks nodes to declare.
func (v *converter) features(p *corev1.Pod) (nodedeclaredfeatures.FeatureSet, error) {
	return nodedeclaredfeatures.DefaultFramework.InferForPodScheduling(&types.PodInfo{Spec: &p.Spec, Status: &p.Status}, schedulerVersion)
}

// label is a label of an object.
type label struct{ key, value string }

// equalities returns the labels that a selector asks for by themselves.
func equalities(s labels.Selector) (found []label) {
	all, _ := s.Requirements()
	for k := range all {
		if values := all[k].ValuesUnsorted(); len(values) == 1 {
			switch all[k].Operator() {
			case selection.In, selection.Equals, selection.DoubleEquals:
				found = append(found, label{all[k].Key(), values[0]})
			}
		}
	}
	return found
}

// labelIndex finds the numbered objects with labels that a selector takes.
type labelIndex struct {
	sets    []labels.Set
	byLabel map[label][]int
}

// newLabelIndex numbers objects by their labels. O(labels).
func newLabelIndex(sets []labels.Set) *labelIndex {
	x := &labelIndex{sets: sets, byLabel: map[label][]int{}}
	for k, set := range sets {
		for key, value := range set {
			x.byLabel[label{key, value}] = append(x.byLabel[label{key, value}], k)
		}
	}
	return x
}

// matching calls yield for the objects that a selector takes, in their order. It looks at those with the rarest label
// that the selector asks for, at all if it asks for none.
func (x *labelIndex) matching(s labels.Selector, yield func(k int)) {
	if asked := equalities(s); len(asked) > 0 {
		rarest := x.byLabel[asked[0]]
		for _, one := range asked[1:] {
			if some := x.byLabel[one]; len(some) < len(rarest) {
				rarest = some
			}
		}
		for _, k := range rarest {
			if s.Matches(x.sets[k]) {
				yield(k)
			}
		}
		return
	}
	for k, set := range x.sets {
		if s.Matches(set) {
			yield(k)
		}
	}
}

// selectorIndex finds the numbered selectors that take an object with some labels.
type selectorIndex struct {
	all     []labels.Selector
	byLabel map[label][]int
	others  []int // that ask for no label by itself
}

// add adds the selector of the next number; nil takes nothing.
func (x *selectorIndex) add(s labels.Selector) {
	k := len(x.all)
	if x.all = append(x.all, s); s == nil {
		return
	}
	if asked := equalities(s); len(asked) > 0 {
		if x.byLabel == nil {
			x.byLabel = map[label][]int{}
		}
		x.byLabel[asked[0]] = append(x.byLabel[asked[0]], k)
		return
	}
	x.others = append(x.others, k)
}

// taking returns the numbers of the selectors that take some labels, in their order.
func (x *selectorIndex) taking(set labels.Set) (all []int) {
	for key, value := range set {
		for _, k := range x.byLabel[label{key, value}] {
			if x.all[k].Matches(set) {
				all = append(all, k)
			}
		}
	}
	for _, k := range x.others {
		if x.all[k].Matches(set) {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return all
}

// jobLabels finds jobs by the labels of their pods.
func (v *converter) jobLabels() *labelIndex {
	sets := make([]labels.Set, 0, len(v.jobs))
	for _, g := range v.jobs {
		sets = append(sets, g.pods[0].Labels)
	}
	return newLabelIndex(sets)
}
