// SPDX-License-Identifier: MIT

package kubernetes

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errWhole says that a text isn't read item by item: it has another shape, or an error whose place the whole text tells.
var errWhole = errors.New("read the whole text")

// stream adds the objects and lists of a text, one behind the other, and holds one item of it at a time.
func (c *Cluster) stream(r io.Reader) error {
	dec := json.NewDecoder(r)
	for first := true; first || dec.More(); first = false {
		if err := c.next(dec); err != nil {
			return err
		}
	}
	return nil
}

// next adds an object or a list. kubectl names the kind of a list behind its items, which then name their own.
func (c *Cluster) next(dec *json.Decoder) error {
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errWhole
	}
	fields, kind, listed := map[string]json.RawMessage{}, "", false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return errWhole
		}
		switch name, _ := key.(string); {
		case name != "items" && strings.EqualFold(name, "items"), name != "kind" && strings.EqualFold(name, "kind"), fields[name] != nil, name == "items" && listed:
			return errWhole // encoding/json takes them, the last of several
		}
		if key == "items" {
			listed = true
			if err := c.items(dec, strings.TrimSuffix(kind, "List")); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return errWhole
		}
		fields[key.(string)] = value
		if key == "kind" && (json.Unmarshal(value, &kind) != nil || listed && !strings.HasSuffix(kind, "List")) {
			return errWhole
		}
	}
	if _, err := dec.Token(); err != nil {
		return errWhole
	}
	of, list := strings.CutSuffix(kind, "List")
	if list {
		c.Given[of] = true
		return nil
	}
	if listed {
		return errWhole
	}
	one, err := json.Marshal(fields)
	if err != nil {
		return errWhole
	}
	return c.add(one, "")
}

// items adds the items of a list, which are of a kind if they name none.
func (c *Cluster) items(dec *json.Decoder, kind string) error {
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return errWhole
	}
	var item json.RawMessage
	for dec.More() {
		if err := dec.Decode(&item); err != nil {
			return errWhole
		}
		if c.addPod(item) {
			continue
		}
		if err := c.add(item, kind); err != nil {
			return errWhole
		}
	}
	if _, err := dec.Token(); err != nil {
		return errWhole
	}
	return nil
}

// podFirst are what pods begin with, as kubectl prints them.
var podFirst = []byte(`"kind"`)

// addPod adds an item that is a pod by its own kind, and reports whether it is. It saves a pass over most items.
func (c *Cluster) addPod(item []byte) bool {
	if n := bytes.Index(item[:min(len(item), 80)], podFirst); n < 0 || !bytes.Contains(item[n:min(len(item), n+20)], []byte(`"Pod"`)) {
		return false
	}
	var p corev1.Pod
	if json.Unmarshal(item, &p) != nil || p.Kind != "Pod" {
		return false
	}
	c.Given["Pod"] = true
	c.Pods = append(c.Pods, p)
	c.slimPod(&c.Pods[len(c.Pods)-1])
	return true
}

// slim drops from any object's data what no plan looks at.
func slim(m metav1.Object) {
	m.SetManagedFields(nil)
	delete(m.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
}

// slimSpec drops from a pod's spec what no plan looks at: most of its text.
func slimSpec(s *corev1.PodSpec) {
	for _, all := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for k := range all {
			x := &all[k]
			x.Command, x.Args, x.Env, x.EnvFrom, x.Lifecycle = nil, nil, nil, nil, nil
			x.LivenessProbe, x.ReadinessProbe, x.StartupProbe = nil, nil, nil
			x.VolumeMounts = slices.DeleteFunc(x.VolumeMounts, func(m corev1.VolumeMount) bool { return len(m.BindMountOptions) == 0 })
			x.WorkingDir, x.TerminationMessagePath, x.TerminationMessagePolicy, x.ImagePullPolicy = "", "", "", ""
		}
	}
}

// slimPod drops from a pod what no plan looks at, and has it share what other pods say, too: nobody changes that.
func (c *Cluster) slimPod(p *corev1.Pod) {
	slim(p)
	slimSpec(&p.Spec)
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(x corev1.Volume) bool {
		return x.Projected != nil || x.ConfigMap != nil || x.Secret != nil || x.DownwardAPI != nil
	})
	for _, all := range []*[]corev1.ContainerStatus{&p.Status.ContainerStatuses, &p.Status.InitContainerStatuses} {
		for k := range *all {
			x := &(*all)[k]
			*x = corev1.ContainerStatus{Name: x.Name, Resources: x.Resources, AllocatedResources: x.AllocatedResources}
		}
	}
	p.Status.EphemeralContainerStatuses = nil
	for k := range p.Status.Conditions {
		x := &p.Status.Conditions[k]
		*x = corev1.PodCondition{Type: x.Type, Status: x.Status, Reason: x.Reason, Message: x.Message}
	}
	if c.shared == nil {
		c.shared = map[string]any{}
	}
	share(c.shared, "c", &p.Spec.Containers)
	share(c.shared, "c", &p.Spec.InitContainers)
	share(c.shared, "t", &p.Spec.Tolerations)
	share(c.shared, "a", &p.Spec.Affinity)
	share(c.shared, "y", &p.Spec.TopologySpreadConstraints)
	share(c.shared, "v", &p.Spec.Volumes)
	share(c.shared, "l", &p.Labels)
	share(c.shared, "o", &p.OwnerReferences)
	share(c.shared, "s", &p.Status.ContainerStatuses)
	share(c.shared, "s", &p.Status.InitContainerStatuses)
	share(c.shared, "d", &p.Status.Conditions)
	share(c.shared, "n", &p.Spec.NodeName)
	share(c.shared, "n", &p.Namespace)
}

// share replaces a value by an equal one of its kind that was shared before.
func share[T any](shared map[string]any, kind string, x *T) {
	switch v := any(x).(type) {
	case *string:
		kind += *v
	default:
		kind += mustJSON(x)
	}
	if old, ok := shared[kind].(T); ok {
		*x = old
		return
	}
	shared[kind] = *x
}
