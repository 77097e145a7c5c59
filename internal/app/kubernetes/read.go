// SPDX-License-Identifier: MIT

// Package kubernetes makes an instance of model.Consolidation from kubectl's output for a cluster, by kube-scheduler's
// own rules, and a plan of moves that a cluster can carry out. For a browser (js) it is the reader alone, which needs no
// solver: the playground loads it when it is given such a file.
package kubernetes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gapwise/gapwise/model"
)

// Cluster is the known state of a cluster, each list in the order of namespace and name.
type Cluster struct {
	Nodes   []corev1.Node
	Pods    []corev1.Pod
	Budgets []policyv1.PodDisruptionBudget
	Claims  []corev1.PersistentVolumeClaim
	Volumes []corev1.PersistentVolume
	// Namespaces have the labels of namespaces, for affinity terms that select them.
	Namespaces []corev1.Namespace
	// Jobs, Classes and Attaching tell the cost of evictions of Jobs' pods, where claims without volumes may get them,
	// and how many volumes nodes can attach.
	Jobs      []batchv1.Job
	Classes   []storageClass
	Attaching []storagev1.CSINode
	// Selecting are the controllers and services with selectors for the pods that kube-scheduler spreads by default.
	Selecting []Selecting
	// Scalers are HorizontalPodAutoscalers.
	Scalers []scaler
	// Refused names the kinds of Objects that the cluster didn't give, by its rules or for want of them.
	Refused []string
	// Given names the kinds that were given, also empty ones.
	Given map[string]bool
	// Ignored counts the objects of each kind that a plan doesn't need.
	Ignored map[string]int

	shared map[string]any // what pods have in common, as they are read
}

// Selecting is a ReplicaSet, StatefulSet, ReplicationController or Service, by its selector; or a Deployment or DaemonSet, by
// its template.
type Selecting struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Selector json.RawMessage         `json:"selector"`
		Template *corev1.PodTemplateSpec `json:"template"`
		Replicas *int                    `json:"replicas"`
		Strategy struct {
			Type          string `json:"type"`
			RollingUpdate *struct {
				MaxSurge *intstr.IntOrString `json:"maxSurge"`
			} `json:"rollingUpdate"`
		} `json:"strategy"` // of a Deployment
	} `json:"spec"`
}

type storageClass = storagev1.StorageClass

const bindsWithPod = storagev1.VolumeBindingWaitForFirstConsumer

// selector returns which pods it takes; nil if it names none.
func (s *Selecting) selector() (labels.Selector, error) {
	if len(s.Spec.Selector) == 0 {
		return nil, nil
	}
	if s.Kind == "Service" || s.Kind == "ReplicationController" {
		var set labels.Set
		if err := json.Unmarshal(s.Spec.Selector, &set); err != nil || len(set) == 0 {
			return nil, err
		}
		return set.AsSelector(), nil
	}
	var set metav1.LabelSelector
	if err := json.Unmarshal(s.Spec.Selector, &set); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&set)
}

// Objects are the kinds of objects that a plan is made of, as kubectl takes them. Without the first two there is none.
const Objects = "nodes,pods,poddisruptionbudgets,persistentvolumes,persistentvolumeclaims,namespaces,services," +
	"replicasets,statefulsets,replicationcontrollers,jobs,storageclasses,csinodes,deployments,daemonsets,horizontalpodautoscalers"

// Kinds are the Objects by kubectl's short names, as people type them: what documents, help and errors tell them to ask for.
const Kinds = "nodes,pods,pdb,pv,pvc,ns,svc,rs,sts,rc,jobs,sc,csinodes,deploy,ds,hpa"

// Read reads the output of kubectl get -o json: lists, also of several kinds, or single objects, also one behind the other,
// and the API's own lists of one kind. The error wraps
// model.ErrInvalid and names the file.
func Read(files map[string][]byte) (*Cluster, error) {
	return ReadFrom(slices.Sorted(maps.Keys(files)), func(name string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files[name])), nil })
}

// ReadFrom reads texts as Read does, item by item, so that none of them is in memory as a whole. A text with errors, or of
// another shape, is opened again.
func ReadFrom(names []string, open func(name string) (io.ReadCloser, error)) (*Cluster, error) {
	c := &Cluster{Given: map[string]bool{}, Ignored: map[string]int{}}
	for _, name := range names {
		if err := c.addText(name, open); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	c.shared = nil
	if !c.Given["Pod"] {
		return nil, fmt.Errorf("%w cluster: nodes and pods are needed, as by kubectl get %s -A -o json", model.ErrInvalid, Kinds)
	}
	sortNamed(c.Nodes, func(x *corev1.Node) string { return x.Name })
	sortNamed(c.Pods, func(x *corev1.Pod) string { return x.Namespace + "/" + x.Name })
	sortNamed(c.Budgets, func(x *policyv1.PodDisruptionBudget) string { return x.Namespace + "/" + x.Name })
	if name := repeated(c.Nodes, func(x *corev1.Node) string { return x.Name }); name != "" {
		return nil, fmt.Errorf("%w cluster: the node %q is there twice", model.ErrInvalid, name)
	}
	if name := repeated(c.Pods, func(x *corev1.Pod) string { return x.Namespace + "/" + x.Name }); name != "" {
		return nil, fmt.Errorf("%w cluster: the pod %q is there twice", model.ErrInvalid, name)
	}
	return c, nil
}

func sortNamed[T any](all []T, name func(*T) string) {
	type named struct {
		name string
		at   int
	}
	names := make([]named, len(all))
	for k := range all {
		names[k] = named{name(&all[k]), k}
	}
	order := func(a, b named) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.at, b.at)) }
	if slices.IsSortedFunc(names, order) {
		return
	}
	slices.SortFunc(names, order)
	for k := range names { // each circle of places by itself
		held, at := all[k], k
		for names[at].at != k && names[at].at >= 0 {
			from := names[at].at
			all[at], names[at].at = all[from], -1
			at = from
		}
		if names[at].at >= 0 {
			all[at], names[at].at = held, -1
		}
	}
}

func repeated[T any](all []T, name func(*T) string) string {
	for k := 1; k < len(all); k++ {
		if name(&all[k]) == name(&all[k-1]) {
			return name(&all[k])
		}
	}
	return ""
}

// addText adds a text, item by item or, if that doesn't work, as a whole.
func (c *Cluster) addText(name string, open func(name string) (io.ReadCloser, error)) error {
	before := *c
	before.Given, before.Ignored = maps.Clone(c.Given), maps.Clone(c.Ignored)
	r, err := open(name)
	if err != nil {
		return err
	}
	err = errors.Join(c.stream(r), r.Close())
	if !errors.Is(err, errWhole) {
		return err
	}
	*c = before
	if r, err = open(name); err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	return c.addAll(data)
}

// addAll adds the objects and lists of a text, one behind the other.
func (c *Cluster) addAll(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	for first := true; first || dec.More(); first = false {
		var one json.RawMessage
		if err := dec.Decode(&one); err != nil {
			return fmt.Errorf("%w cluster: %w", model.ErrInvalid, model.JSONError(data, err))
		}
		if err := c.add(one, ""); err != nil {
			return err
		}
	}
	return nil
}

// add adds one object, of this kind if it names none itself, or a list.
func (c *Cluster) add(data []byte, kind string) error {
	var head struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%w cluster: %w", model.ErrInvalid, model.JSONError(data, err))
	}
	kind = cmp.Or(head.Kind, kind)
	if of, list := strings.CutSuffix(kind, "List"); list { // such as PodList, whose items don't repeat the kind
		c.Given[of] = true
		for i, item := range head.Items {
			if err := c.add(item, of); err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
		return nil
	}
	if kind == "" {
		return fmt.Errorf("%w cluster: an object without a kind; give what kubectl get -o json prints", model.ErrInvalid)
	}
	c.Given[kind] = true
	switch kind {
	case "Node":
		return decode(data, &c.Nodes)
	case "Pod":
		err := decode(data, &c.Pods)
		if err == nil {
			c.slimPod(&c.Pods[len(c.Pods)-1])
		}
		return err
	case "PodDisruptionBudget":
		return decode(data, &c.Budgets)
	case "PersistentVolumeClaim":
		return decode(data, &c.Claims)
	case "PersistentVolume":
		return decode(data, &c.Volumes)
	case "Job":
		return decode(data, &c.Jobs)
	case "StorageClass":
		return decode(data, &c.Classes)
	case "CSINode":
		return decode(data, &c.Attaching)
	case "Namespace":
		return decode(data, &c.Namespaces)
	case "HorizontalPodAutoscaler":
		return decode(data, &c.Scalers)
	case "ReplicaSet", "StatefulSet", "ReplicationController", "Service", "Deployment", "DaemonSet":
		err := decode(data, &c.Selecting)
		if x := c.Selecting; err == nil && x[len(x)-1].Spec.Template != nil {
			slimSpec(&x[len(x)-1].Spec.Template.Spec)
		}
		return err
	}
	c.Ignored[kind]++
	return nil
}

func decode[T any](data []byte, to *[]T) error {
	var x T
	if err := json.Unmarshal(data, &x); err != nil {
		return fmt.Errorf("%w cluster: %w", model.ErrInvalid, model.JSONError(data, err))
	}
	if m, ok := any(&x).(metav1.Object); ok {
		slim(m)
	}
	*to = append(*to, x)
	return nil
}
