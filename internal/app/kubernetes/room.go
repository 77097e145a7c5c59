// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/model"
)

// Rooms are the values of Options.Room: pods that aren't there, for which a plan keeps room. They are jobs as waiting pods
// are, but of the least rank: as many as possible have a place, after the pods that wait and before any cost.
var Rooms = []string{roomNode, roomHPA, roomSurge}

const (
	roomNode  = "node"  // those of any one node, once it fails: see spares
	roomHPA   = "hpa"   // as many more as HorizontalPodAutoscalers may make
	roomSurge = "surge" // as many more as Deployments have during a rollout
)

// roomLeaving is the room, always kept, for pods on nodes that are being deleted: see leave.
const roomLeaving = "deletion"

// extra reports whether a pod is one more than there are: the rules of others are to hold with it and without it.
func (p *pod) extra() bool { return slices.Contains(Rooms, p.room) }

// autoscalerEnds is the taint of nodes that the cluster autoscaler is about to delete.
const autoscalerEnds = "ToBeDeletedByClusterAutoscaler"

// ends reports whether a node is being deleted.
func ends(n *corev1.Node) bool {
	return n.DeletionTimestamp != nil || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == autoscalerEnds })
}

// leave takes the pods off nodes that are being deleted, if their controllers make them again: whoever deletes a node
// evicts them, so that the plan keeps room for them elsewhere. Otherwise they are as pods that wait: kube-scheduler places
// them by the rules of all pods that are there then, and the node is none of those.
func (v *converter) leave() {
	c := *v.c
	for k := range c.Pods {
		p := &c.Pods[k]
		n, there := v.nodes[p.Spec.NodeName]
		if kind, _ := owned(p); !there || !ends(&c.Nodes[n]) || slices.Contains([]string{"", "DaemonSet", "Node"}, kind) || p.Annotations[corev1.MirrorPodAnnotationKey] != "" ||
			p.DeletionTimestamp != nil || v.lost(p) != "" {
			continue
		}
		if v.leaves == nil {
			v.leaves, c.Pods = map[string]string{}, slices.Clone(c.Pods)
		}
		v.leaves[p.Namespace+"/"+p.Name] = p.Spec.NodeName
		c.Pods[k].Spec.NodeName = ""
	}
	v.c = &c
}

// scaler is the part of a HorizontalPodAutoscaler (autoscaling/v1 and v2) that tells how many pods there may be.
type scaler struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Target struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		Most int `json:"maxReplicas"`
	} `json:"spec"`
}

// wanted are more pods of a workload for which room is to be kept, as its template makes them.
type wanted struct {
	of       string // "namespace/name"
	pods     int
	template corev1.PodTemplateSpec
}

// surges returns the pods that each Deployment may have beyond its replicas while it rolls out.
func (v *converter) surges() (all []wanted) {
	for k := range v.c.Selecting {
		d := &v.c.Selecting[k]
		if d.Kind != "Deployment" || d.Spec.Template == nil || d.Spec.Strategy.Type == "Recreate" {
			continue
		}
		replicas, surge := 1, intstr.FromString("25%")
		if d.Spec.Replicas != nil {
			replicas = *d.Spec.Replicas
		}
		if r := d.Spec.Strategy.RollingUpdate; r != nil && r.MaxSurge != nil {
			surge = *r.MaxSurge
		}
		n, err := intstr.GetScaledValueFromIntOrPercent(&surge, replicas, true)
		if err != nil || n <= 0 || replicas <= 0 {
			continue
		}
		t := *d.Spec.Template.DeepCopy()
		if t.Labels == nil {
			t.Labels = map[string]string{}
		}
		t.Labels["pod-template-hash"] = roomSurge // a new one
		all = append(all, wanted{d.Metadata.Namespace + "/" + d.Metadata.Name, n, t})
	}
	return sorted(all)
}

// scaled returns the pods that HorizontalPodAutoscalers may add, and notes those whose pods aren't known.
func (v *converter) scaled() (all []wanted) {
	for k := range v.c.Scalers {
		x := &v.c.Scalers[k]
		of := x.Metadata.Namespace + "/" + x.Spec.Target.Name
		n, t := x.Spec.Most, (*corev1.PodTemplateSpec)(nil)
		var sample *corev1.Pod
		for _, p := range v.pods {
			kind, _ := owned(p.Pod)
			if workload(p.Pod) == of && (kind == x.Spec.Target.Kind || x.Spec.Target.Kind == "Deployment" && kind == "ReplicaSet") {
				n, sample = n-1, p.Pod
			}
		}
		for k := range v.c.Selecting {
			if s := &v.c.Selecting[k]; s.Kind == x.Spec.Target.Kind && s.Metadata.Namespace+"/"+s.Metadata.Name == of {
				t = s.Spec.Template
			}
		}
		switch {
		case n <= 0:
			continue
		case t == nil && sample == nil:
			v.in.Account.NotModelled.Add(of, "workloads of HorizontalPodAutoscalers without a pod or a template, for which no room is kept")
			continue
		case t == nil:
			t = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: sample.Labels, Annotations: sample.Annotations}, Spec: sample.Spec}
		}
		t = t.DeepCopy()
		if t.Spec.NodeName = ""; sample != nil {
			t.Labels = maps.Clone(sample.Labels)
		}
		all = append(all, wanted{of, n, *t})
	}
	return sorted(all)
}

func sorted(all []wanted) []wanted {
	slices.SortStableFunc(all, func(a, b wanted) int { return cmp.Compare(a.of, b.of) })
	return all
}

// rooms adds the pods of workloads for which room is kept.
func (v *converter) rooms() {
	var pods []*pod
	for _, what := range Rooms {
		if !slices.Contains(v.Room, what) {
			continue
		}
		var all []wanted
		switch a := &v.in.Account.NotModelled; what {
		case roomHPA:
			if all = v.scaled(); len(v.c.Scalers) == 0 {
				a.Say("--slack hpa keeps no room: no HorizontalPodAutoscalers were read, give kubectl get hpa, too")
			}
		case roomSurge:
			if all = v.surges(); !slices.ContainsFunc(v.c.Selecting, func(x Selecting) bool { return x.Kind == "Deployment" }) {
				a.Say("--slack surge keeps no room: no Deployments were read, give kubectl get deployments, too")
			}
		}
		for _, w := range all {
			namespace, name, _ := strings.Cut(w.of, "/")
			for k := range w.pods {
				yes, t := true, w.template.DeepCopy()
				p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s %s %d", name, what, k+1), Labels: t.Labels, Annotations: t.Annotations,
					OwnerReferences: []metav1.OwnerReference{{Kind: what, Name: name, Controller: &yes}}}, Spec: t.Spec}
				x := &pod{Pod: p, id: namespace + "/" + p.Name, room: what, held: v.unknown(p)}
				x.asks = v.requests(p)
				x.requests = v.weighed(p, x.asks)
				pods = append(pods, x)
				v.in.Account.Remarks.Add(w.of, "pods to come, for which room is kept ("+what+")")
			}
		}
	}
	v.pods = append(v.pods, pods...)
}

// mostRooms bounds how many pods room is kept for.
func (v *converter) mostRooms() int {
	n := 0
	for _, p := range v.pods {
		if p.room != "" {
			n++
		}
	}
	if slices.Contains(v.Room, roomNode) {
		n += len(v.c.Nodes)
	}
	return n
}

// present returns the jobs whose pods count for the rules of a pod: all of them for a pod for which room is kept, else
// those of pods that are there or are about to be made again. So rules hold with and without the pods of rooms.
func (v *converter) present(of *corev1.Pod, jobs []string) []string {
	if v.roomJobs == nil {
		v.roomJobs = map[string]bool{}
		for _, g := range v.jobs {
			if g.pods[0].extra() {
				v.roomJobs[g.id] = true
			}
		}
	}
	if len(v.roomJobs) == 0 || slices.Contains(Rooms, ownerKind(of)) {
		return jobs
	}
	return slices.DeleteFunc(jobs, func(id string) bool { return v.roomJobs[id] })
}

// ownerKind returns the kind of a pod's controller: of one that isn't there, why room is kept for it.
func ownerKind(p *corev1.Pod) string {
	kind, _ := owned(p)
	return kind
}

// spares adds what is kept for the loss of a node: for each kind of nodes of the guards an empty one, as large as the
// largest of the kind that takes pods. Nodes are of a kind if all rules and host sets of the instance treat them alike, but
// for each being a domain of its own.
//
// Then the pods of a node of the kind have a place once it fails, whatever the plan: on the empty one, all of them. It has
// as much of each resource, each of them may be placed there, and it is in the same domains, so that the plan with it in
// the place of the other node keeps each rule as the plan does. This is sufficient, not necessary.
func (v *converter) spares() {
	if len(v.guards) == 0 || !slices.Contains(v.Room, roomNode) {
		return
	}
	sets := map[string][]string{} // of each host or offer
	for k := range v.in.HostSets {
		s := &v.in.HostSets[k]
		if len(s.Hosts)+len(s.Offers) == 1 { // what may be on one node alone has no other place
			continue
		}
		for _, id := range s.Hosts {
			sets["host "+id] = append(sets["host "+id], s.ID)
		}
		for _, id := range s.Offers {
			sets["offer "+id] = append(sets["offer "+id], s.ID)
		}
	}
	kindOf := func(id string, labels map[string]string) string {
		labels = maps.Clone(labels)
		delete(labels, hostname)
		return fmt.Sprintf("%q %s", sets[id], mustJSON(labels))
	}
	alike := map[string][]int{} // places
	for k := range v.in.Hosts {
		if h := &v.in.Hosts[k]; !h.Closed {
			kind := kindOf("host "+h.ID, h.Labels)
			alike[kind] = append(alike[kind], k)
		}
	}
	for k := range v.in.Offers {
		kind := kindOf("offer "+v.in.Offers[k].ID, v.in.Offers[k].Labels)
		alike[kind] = append(alike[kind], len(v.in.Hosts)+k)
	}
	for _, kind := range slices.SortedFunc(maps.Keys(alike), func(a, b string) int { return cmp.Compare(alike[a][0], alike[b][0]) }) {
		hosts := slices.DeleteFunc(slices.Clone(alike[kind]), func(k int) bool { return k >= len(v.in.Hosts) })
		if !slices.ContainsFunc(hosts, func(k int) bool { return slices.Contains(v.guards, v.in.Hosts[k].ID) }) {
			continue
		}
		there := make([]bool, len(v.places))
		for _, k := range alike[kind] {
			there[k] = true
		}
		var sizes [][]int64
		for _, k := range hosts {
			size := v.in.Hosts[k].Capacity
			if slices.ContainsFunc(sizes, func(x []int64) bool { return within(size, x) }) {
				continue
			}
			sizes = append(slices.DeleteFunc(sizes, func(x []int64) bool { return within(x, size) }), size)
		}
		for n, size := range sizes {
			id := fmt.Sprintf("%s like %s", roomNode, v.in.Hosts[hosts[0]].ID)
			if n > 0 {
				id += fmt.Sprintf(" #%d", n+1)
			}
			p := &pod{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: id}}, id: id, room: roomNode, allowed: there, refused: make([]string, len(v.places))}
			for k, ok := range there {
				if !ok {
					p.refused[k] = "another kind of node"
				}
			}
			v.jobs = append(v.jobs, &group{id: id, pods: []*pod{p}})
			cost := v.in.outUnit
			v.in.Jobs = append(v.in.Jobs, model.ConsolidationJob{ID: id, Tasks: 1, Needs: slices.Clone(size), LeaveOutCost: &cost, Allowed: v.set(there)})
			v.in.Pods = append(v.in.Pods, []string{id})
		}
	}
}

// within reports whether amounts are at most others.
func within(x, most []int64) bool {
	for r := range x {
		if x[r] > most[r] {
			return false
		}
	}
	return true
}

// isRoom reports whether room alone is kept for the pods of a job.
func (in *Instance) isRoom(i int) bool { return in.converter.jobs[i].pods[0].room != "" }

// unplaced counts the pods of a solution that wait, and those for which no room is kept.
func (in *Instance) unplaced(a *model.Assignment) (waiting, room int) {
	for i := range a.Jobs {
		for _, h := range a.Jobs[i].Hosts {
			switch {
			case h != "":
			case in.isRoom(i):
				room++
			default:
				waiting++
			}
		}
	}
	return waiting, room
}

// settle gives the pods for which room is kept their places in a plan, or others on nodes in use. Where all other pods are
// as planned, the plan keeps each rule as a whole, though one pod after the other may not.
func (in *Instance) settle(s *planstate.State, plan view.Plan, planned bool) {
	for _, first := range []bool{true, false} { // the places of the plan, then those that are left
		for i := range s.Plan {
			if !in.isRoom(i) {
				continue
			}
			for k := range s.Plan[i] {
				if first && plan != nil && plan[i][k] >= 0 && (planned || s.Can(i, k, int(plan[i][k]))) {
					s.Add(i, k, int(plan[i][k]))
				}
				for h := 0; !first && h < len(s.C.Hosts) && s.Plan[i][k] < 0; h++ {
					if s.Tasks[h] > 0 && s.Can(i, k, h) {
						s.Add(i, k, h)
					}
				}
			}
		}
	}
}

// withRoom returns a plan with the room that another one keeps.
func (in *Instance) withRoom(plan, than view.Plan) view.Plan {
	plan = slices.Clone(plan)
	for i := range plan {
		if in.isRoom(i) {
			plan[i] = than[i]
		}
	}
	return plan
}

// Room tells what room a plan keeps for pods of a workload that aren't there, or for the loss of a node.
type Room struct {
	For   string   `json:"for"` // of Rooms, or deletion
	Of    string   `json:"of"`  // the workload, or a kind of nodes
	Pods  int      `json:"pods"`
	Kept  int      `json:"pods_with_room"`
	Nodes []string `json:"nodes"`
	Why   string   `json:"why,omitempty"` // of the first without
}

// room lists the room that a plan keeps.
func (in *Instance) room(plan view.Plan, waits func(p *pod, i int) string) (all []Room) {
	at := map[[2]string]int{}
	for i := range plan {
		for k, h := range plan[i] {
			p := in.converter.jobs[i].pods[k]
			if p.room == "" {
				continue
			}
			key := [2]string{p.room, workload(p.Pod)}
			if p.room == roomNode {
				key[1] = "nodes " + strings.TrimPrefix(p.id, roomNode+" ")
			}
			n, known := at[key]
			if !known {
				n = len(all)
				at[key], all = n, append(all, Room{For: key[0], Of: key[1], Nodes: []string{}})
			}
			x := &all[n]
			if x.Pods++; h >= 0 {
				x.Kept++
				x.Nodes = distinct(append(x.Nodes, in.Hosts[h].ID))
			} else if x.Why == "" {
				x.Why = waits(p, i)
			}
		}
	}
	return all
}
