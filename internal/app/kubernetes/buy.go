// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gapwise/gapwise/model"
)

// template is a node of an offer as it would be.
type template struct {
	offer
	node    *corev1.Node
	daemons []*corev1.Pod // that would run on it
	host    model.HostOffer
}

// offered adds a place for each offer, but for those that another one is never worse than.
func (v *converter) offered() error {
	if v.Offers == nil {
		return nil
	}
	for _, text := range v.Offers.notes {
		v.in.Account.NotModelled.Say("%s", text)
	}
	daemons, zoneKeys := v.daemons(), v.zoneKeys()
	all := make([]*template, len(v.Offers.all))
	for k := range v.Offers.all {
		x := &template{offer: v.Offers.all[k]}
		x.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "offer/" + x.id, Labels: maps.Clone(x.labels)}, Spec: corev1.NodeSpec{Taints: x.taints}}
		x.node.Labels[hostname] = x.node.Name // each has one
		for _, key := range zoneKeys {
			if zone := zoneOf(x.node); zone != "" && x.node.Labels[key] == "" {
				x.node.Labels[key] = zone
			}
		}
		x.node.Status.Capacity, x.node.Status.Allocatable = x.capacity, v.allocatable(&x.offer)
		for _, p := range daemons {
			if yes, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(x.node); err == nil && yes && tolerates(p, x.node) {
				x.daemons = append(x.daemons, p)
			}
		}
		price, err := v.Prices.Of(x.node)
		if err != nil {
			return err
		}
		x.host = model.HostOffer{ID: x.id, Capacity: v.capacity(x.node, x.daemons), Price: price}
		all[k] = x
	}
	for _, x := range v.undominated(all) {
		v.templates = append(v.templates, x)
		v.places = append(v.places, x.node)
		v.residents[x.node.Name] = x.daemons
	}
	v.counts()
	for _, x := range v.templates {
		v.in.Offers = append(v.in.Offers, x.host)
	}
	v.poolLimits()
	return nil
}

// zoneKeys returns the keys of drivers of volumes that stand for the zone of a node: each node that has one has its zone
// there. A node to buy gets the label when its driver comes.
func (v *converter) zoneKeys() (keys []string) {
	add := func(key string) {
		other := slices.ContainsFunc(v.c.Nodes, func(n corev1.Node) bool { return n.Labels[key] != "" && n.Labels[key] != zoneOf(&n) })
		if strings.HasSuffix(key, "/zone") && key != corev1.LabelTopologyZone && !other && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for k := range v.c.Volumes {
		if a := v.c.Volumes[k].Spec.NodeAffinity; a != nil && a.Required != nil {
			for _, t := range a.Required.NodeSelectorTerms {
				for _, r := range t.MatchExpressions {
					add(r.Key)
				}
			}
		}
	}
	for k := range v.c.Classes {
		for _, t := range v.c.Classes[k].AllowedTopologies {
			for _, r := range t.MatchLabelExpressions {
				add(r.Key)
			}
		}
	}
	return keys
}

// daemons returns a pod of each daemon set, without the fields that bind it to its node; of one without pods as its
// template makes them.
func (v *converter) daemons() (all []*corev1.Pod) {
	seen := map[string]bool{}
	defer func() {
		for k := range v.c.Selecting {
			x := &v.c.Selecting[k]
			if yes := true; x.Kind == "DaemonSet" && x.Spec.Template != nil && !seen[x.Metadata.Namespace+"/"+x.Metadata.Name] {
				p := &corev1.Pod{ObjectMeta: *x.Spec.Template.ObjectMeta.DeepCopy(), Spec: *x.Spec.Template.Spec.DeepCopy()}
				p.Namespace, p.Name, p.OwnerReferences = x.Metadata.Namespace, x.Metadata.Name, []metav1.OwnerReference{{Kind: x.Kind, Name: x.Metadata.Name, Controller: &yes}}
				all = append(all, p)
			}
		}
	}()
	for k := range v.c.Nodes {
		for _, p := range v.residents[v.c.Nodes[k].Name] {
			kind, name := owned(p)
			if key := p.Namespace + "/" + name; kind == "DaemonSet" && !seen[key] {
				seen[key] = true
				one := p.DeepCopy()
				one.Spec.NodeName, one.DeletionTimestamp = "", nil
				if a := one.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
					s := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
					for t := range s.NodeSelectorTerms {
						s.NodeSelectorTerms[t].MatchFields = nil
					}
					if slices.ContainsFunc(s.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions) == 0 }) {
						a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
					}
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// allocatable returns the allocatable amounts of an offer's node: the least among existing nodes of its type, else the
// offer's own.
func (v *converter) allocatable(x *offer) corev1.ResourceList {
	list := corev1.ResourceList{}
	for k := range v.c.Nodes {
		n := &v.c.Nodes[k]
		if n.Labels[corev1.LabelInstanceTypeStable] != x.labels[corev1.LabelInstanceTypeStable] {
			continue
		}
		for name, q := range n.Status.Allocatable {
			if least, ok := list[name]; !ok || q.Cmp(least) < 0 {
				list[name] = q
			}
		}
	}
	if len(list) == 0 {
		return x.capacity
	}
	return list
}

// keys returns the labels by which pods distinguish nodes.
func (v *converter) keys() map[string]bool {
	all := map[string]bool{}
	selector := func(s *corev1.NodeSelector) {
		if s == nil {
			return
		}
		for _, t := range s.NodeSelectorTerms {
			for _, e := range t.MatchExpressions {
				all[e.Key] = true
			}
		}
	}
	var specs []*corev1.PodSpec
	for k := range v.c.Pods {
		specs = append(specs, &v.c.Pods[k].Spec)
	}
	for _, p := range v.pods {
		if p.room != "" {
			specs = append(specs, &p.Spec)
		}
	}
	for _, s := range specs {
		for key := range s.NodeSelector {
			all[key] = true
		}
		for _, t := range s.TopologySpreadConstraints {
			all[t.TopologyKey] = true
		}
		if a := s.Affinity; a != nil {
			if a.NodeAffinity != nil {
				selector(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
			}
			var terms []corev1.PodAffinityTerm
			if a.PodAffinity != nil {
				terms = append(terms, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
			}
			if a.PodAntiAffinity != nil {
				terms = append(terms, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
				for _, t := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
					if len(v.Hold) > 0 {
						terms = append(terms, t.PodAffinityTerm)
					}
				}
			}
			for _, t := range terms {
				all[t.TopologyKey] = true
			}
		}
	}
	for k := range v.c.Volumes {
		if a := v.c.Volumes[k].Spec.NodeAffinity; a != nil {
			selector(a.Required)
		}
		for key := range v.c.Volumes[k].Labels { // see zones
			if places := []string{corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaRegion}; slices.Contains(places, key) {
				for _, of := range places {
					all[of] = true
				}
			}
		}
	}
	for k := range v.c.Classes {
		for _, t := range v.c.Classes[k].AllowedTopologies {
			for _, r := range t.MatchLabelExpressions {
				all[r.Key] = true
			}
		}
	}
	delete(all, hostname) // each node has its own
	return all
}

// undominated leaves out an offer if another one does as well for each of its nodes: it costs no more, has no less, can
// be bought in any number, and no pod distinguishes the two. A pool with a limit must have both, of equal nodes. If two
// do as well for each other, the one of the heavier pool is kept.
func (v *converter) undominated(all []*template) (kept []*template) {
	keys := slices.Sorted(maps.Keys(v.keys()))
	limited := map[string]bool{}
	for _, l := range v.Offers.limits {
		limited[l.pool] = true
	}
	byKey := map[string][]*template{}
	heavy := slices.Clone(all)
	slices.SortStableFunc(heavy, func(a, b *template) int { return cmp.Compare(b.weight, a.weight) })
	for _, x := range heavy {
		var labels []string
		for _, key := range keys {
			labels = append(labels, x.node.Labels[key]) // with what drivers of volumes add
		}
		key := fmt.Sprintf("%q %s", labels, mustJSON(x.taints))
		if limited[x.pool] {
			key += fmt.Sprintf(" %q %s", x.pool, mustJSON(x.capacity))
		}
		dominated := func(x, by *template) bool {
			if by.host.Price > x.host.Price || by.count > 0 || limited[by.pool] != limited[x.pool] {
				return false
			}
			for r := range x.host.Capacity {
				if by.host.Capacity[r] < x.host.Capacity[r] {
					return false
				}
			}
			return true
		}
		if slices.ContainsFunc(byKey[key], func(y *template) bool { return dominated(x, y) }) {
			continue
		}
		byKey[key] = append(slices.DeleteFunc(byKey[key], func(y *template) bool { return dominated(y, x) }), x)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		kept = append(kept, byKey[key]...)
	}
	slices.SortFunc(kept, func(a, b *template) int { return cmp.Compare(a.id, b.id) })
	return kept
}

// counts bounds how many nodes of each offer a plan may buy. There are no more than pods, and no more than the budget
// buys: the cost of the nodes in use now plus, for each waiting pod, the price of the dearest node.
func (v *converter) counts() {
	used, most, now := map[string]bool{}, int64(0), int64(0)
	waiting := int64(0)
	for _, p := range v.pods {
		if used[p.Spec.NodeName] = true; p.Spec.NodeName == "" {
			waiting++
		}
	}
	for k := range v.in.Hosts {
		h := &v.in.Hosts[k]
		if most = max(most, h.Price); used[h.ID] || h.Kept {
			now += h.Price
		}
	}
	for _, x := range v.templates {
		most = max(most, x.host.Price)
	}
	for _, x := range v.templates {
		n := int64(len(v.pods))
		if x.host.Price > 0 {
			n = min(n, (now+waiting*most)/x.host.Price)
		}
		if x.count > 0 {
			n = min(n, int64(x.count))
		}
		x.host.Count = int(max(1, n))
	}
}

// poolLimits adds the room of NodePools: their limit less the resources of their existing nodes.
func (v *converter) poolLimits() {
	for _, l := range v.Offers.limits {
		for _, name := range slices.Sorted(maps.Keys(l.limits)) {
			left := whole(name, l.limits[name])
			for k := range v.c.Nodes {
				if n := &v.c.Nodes[k]; n.Labels[poolLabel] == l.pool {
					left -= whole(name, v.poolUse(n, name))
				}
			}
			h := model.HostLimit{ID: fmt.Sprintf("limit of %s in NodePool %s", name, l.pool), Most: max(0, left)}
			for _, x := range v.templates {
				if n := whole(name, v.poolUse(x.node, name)); x.pool == l.pool && n > 0 {
					h.Counts = append(h.Counts, model.HostCount{Offer: x.id, Count: n})
				}
			}
			if len(h.Counts) > 0 {
				v.in.Limits = append(v.in.Limits, h)
			}
		}
	}
}

// poolUse returns the part of a pool's limit that a node takes: its capacity, or 1 of "nodes".
func (v *converter) poolUse(n *corev1.Node, name corev1.ResourceName) resource.Quantity {
	if name == "nodes" {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	return n.Status.Capacity[name]
}

// whole returns a quantity in the units of amount.
func whole(name corev1.ResourceName, q resource.Quantity) int64 {
	return amount(name, corev1.ResourceList{name: q})
}

// Launch is a node that a plan buys.
type Launch struct {
	Node  string `json:"node"` // its name in the plan
	Offer string `json:"offer"`
	Type  string `json:"type"`
	Zone  string `json:"zone,omitempty"`
	Price int64  `json:"price"`
	// PerHour is the price in the currency of the prices; 0 if they have none.
	PerHour float64 `json:"price_per_hour,omitempty"`
}

// launched returns the instance and solution as they are once the nodes that a solution buys are there.
func (in *Instance) launched(a *model.Assignment) (*Instance, *model.Assignment, []Launch, error) {
	c := *in.Cluster
	c.Nodes, c.Pods = slices.Clip(c.Nodes), slices.Clip(c.Pods)
	var all []Launch
	for _, b := range a.Bought {
		t := in.converter.templates[slices.IndexFunc(in.converter.templates, func(x *template) bool { return x.id == b.Offer })]
		n := t.node.DeepCopy()
		n.Name, n.Labels[hostname] = b.ID, b.ID
		c.Nodes = append(c.Nodes, *n)
		for _, p := range t.daemons {
			one := p.DeepCopy()
			one.Name, one.Spec.NodeName = p.Name+" on "+b.ID, b.ID
			c.Pods = append(c.Pods, *one)
		}
		all = append(all, Launch{Node: b.ID, Offer: b.Offer, Type: t.labels[corev1.LabelInstanceTypeStable], Zone: t.labels[corev1.LabelTopologyZone], Price: t.host.Price, PerHour: in.converter.Prices.hour(float64(t.host.Price))})
	}
	o := in.converter.Options
	o.Offers, o.MaxNodes, o.launched = nil, 0, len(all)
	o.Survivors, o.Held = in.Survivors, in.Held // the nodes change none of it
	then, err := Convert(&c, o)
	if err != nil {
		return nil, nil, nil, err
	}
	at := map[string]string{}
	for i := range a.Jobs {
		for k, h := range a.Jobs[i].Hosts {
			at[in.Pods[i][k]] = h
		}
	}
	moved := &model.Assignment{}
	for i := range then.Jobs {
		j := model.JobAssignment{ID: then.Jobs[i].ID}
		for _, pod := range then.Pods[i] {
			j.Hosts = append(j.Hosts, at[pod])
		}
		moved.Jobs = append(moved.Jobs, j)
	}
	then.before = in
	return then, moved, all, nil
}
