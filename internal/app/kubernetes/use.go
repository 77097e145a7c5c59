// SPDX-License-Identifier: MIT

package kubernetes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Use holds the CPU and the memory that pods really use, by "namespace/name". What wasn't measured isn't there.
type Use map[string]corev1.ResourceList

// measured are the resources of a Use.
var measured = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// mostUse bounds a measure of a pod.
func mostUse(name corev1.ResourceName) resource.Quantity {
	return resource.MustParse(map[corev1.ResourceName]string{corev1.ResourceCPU: "1M", corev1.ResourceMemory: "1Pi"}[name])
}

// ReadUse reads measures of pods: what kubectl top pods -A prints, the metrics API's list of pods as JSON, or Prometheus's
// answer to instant queries. A file's name may tell the resource of such an answer, "cpu=FILE"; else the label resource or
// the metric's name does. The error wraps model.ErrInvalid and names the file.
func ReadUse(files map[string][]byte) (Use, error) {
	u := Use{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, read := bytes.TrimSpace(files[name]), u.addTop
		if bytes.HasPrefix(text, []byte("{")) {
			read = u.addJSON
		}
		of, _, _ := strings.Cut(name, "=")
		before := len(u)
		if err := read(text, corev1.ResourceName(of)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if before == 0 && len(u) == 0 {
			return nil, fmt.Errorf("%s: %w use: no pod is there with a measure", name, model.ErrInvalid)
		}
	}
	return u, nil
}

// add adds a measure of a pod, of one of its containers if more may follow.
func (u Use) add(pod string, name corev1.ResourceName, q resource.Quantity, more bool) error {
	old, twice := u[pod][name]
	if twice && !more {
		return fmt.Errorf("%w use: %s of pod %q is there twice; give its sum by namespace and pod", model.ErrInvalid, name, pod)
	}
	negative := q.Sign() < 0
	q.Add(old)
	if most := mostUse(name); negative || q.Cmp(most) > 0 {
		return fmt.Errorf("%w use: %s of pod %q is %s, must be from 0 to %s", model.ErrInvalid, name, pod, q.String(), most.String())
	}
	if u[pod] == nil {
		u[pod] = corev1.ResourceList{}
	}
	u[pod][name] = q
	return nil
}

// addTop adds the lines of kubectl top pods -A, with or without their heading and containers.
func (u Use) addTop(text []byte, _ corev1.ResourceName) error {
	seen := map[string]bool{}
	for n, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || n == 0 && f[0] == "NAMESPACE" {
			continue
		}
		if len(f) != 4 && len(f) != 5 {
			return fmt.Errorf("%w use: line %d isn't \"namespace pod cpu memory\"; give what kubectl top pods -A prints, or JSON",
				model.ErrInvalid, n+1)
		}
		pod, container := f[0]+"/"+f[1], strings.Join(f[:len(f)-2], "/")
		if seen[container] {
			return fmt.Errorf("%w use: line %d has %q again", model.ErrInvalid, n+1, container)
		}
		seen[container] = true
		for k, name := range measured {
			value := f[len(f)-2+k]
			if value == "<unknown>" {
				continue
			}
			q, err := resource.ParseQuantity(value)
			if err != nil {
				return fmt.Errorf("%w use: line %d has %q for %s: %w", model.ErrInvalid, n+1, value, name, err)
			}
			if err := u.add(pod, name, q, len(f) == 5); err != nil {
				return err
			}
		}
	}
	return nil
}

// podMetrics is a PodMetrics of metrics.k8s.io, or a list of them.
type podMetrics struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
	Containers []struct {
		Usage corev1.ResourceList `json:"usage"`
	} `json:"containers"`
	Items []podMetrics `json:"items"`
}

// vector is Prometheus's answer to an instant query.
type vector struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string `json:"resultType"`
		Result []struct {
			Metric map[string]string  `json:"metric"`
			Value  [2]json.RawMessage `json:"value"`
		} `json:"result"`
	} `json:"data"`
}

// addJSON adds measures of the metrics API, or of Prometheus, which are of this resource if it is one.
func (u Use) addJSON(text []byte, of corev1.ResourceName) error {
	var list podMetrics
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%w use: %w", model.ErrInvalid, model.JSONError(text, err))
	}
	if list.Kind == "" {
		return u.addVector(text, of)
	}
	if list.Kind == "PodMetrics" {
		list.Items = []podMetrics{list}
	} else if list.Kind != "PodMetricsList" && list.Kind != "List" {
		return fmt.Errorf("%w use: it is a %s, give a PodMetricsList", model.ErrInvalid, list.Kind)
	}
	for _, p := range list.Items {
		for _, name := range measured {
			for k, c := range p.Containers {
				if q, ok := c.Usage[name]; ok {
					if err := u.add(p.Metadata.Namespace+"/"+p.Metadata.Name, name, q, k > 0); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (u Use) addVector(text []byte, of corev1.ResourceName) error {
	var v vector
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("%w use: %w", model.ErrInvalid, model.JSONError(text, err))
	}
	if v.Status != "success" || v.Data.Type != "vector" {
		return fmt.Errorf("%w use: it is neither a list of pod metrics nor a vector of Prometheus, which an instant query gives: "+
			"status %q, result %q %s", model.ErrInvalid, v.Status, v.Data.Type, v.Error)
	}
	for k, x := range v.Data.Result {
		namespace, pod, name := x.Metric["namespace"], x.Metric["pod"], of
		if !slices.Contains(measured, name) {
			for _, r := range measured {
				if says := x.Metric["resource"] + x.Metric["__name__"]; strings.Contains(says, string(r)) {
					name = r
				}
			}
		}
		if namespace == "" || pod == "" || !slices.Contains(measured, name) {
			return fmt.Errorf("%w use: result[%d] lacks a label: namespace, pod, and resource (cpu or memory) "+
				"unless --use is cpu=FILE or memory=FILE", model.ErrInvalid, k)
		}
		var value string
		err := json.Unmarshal(x.Value[1], &value)
		amount, wrong := strconv.ParseFloat(value, 64)
		if err != nil || wrong != nil || !(amount >= 0 && amount <= 1<<50) {
			return fmt.Errorf("%w use: %s of pod \"%s/%s\" is %q, must be a number from 0", model.ErrInvalid, name, namespace, pod, value)
		}
		if name == corev1.ResourceCPU {
			amount *= 1000
		}
		if err := u.add(namespace+"/"+pod, name, roundedUp(name, amount), false); err != nil {
			return err
		}
	}
	return nil
}

// roundedUp returns so many units of amount of a resource.
func roundedUp(name corev1.ResourceName, units float64) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(int64(math.Ceil(units)), resource.DecimalSI)
	}
	return *resource.NewQuantity(int64(math.Ceil(units)), resource.BinarySI)
}

// ParseFloor reads amounts such as "cpu=100m,memory=256Mi". The error wraps model.ErrInvalid.
func ParseFloor(text string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		q, err := resource.ParseQuantity(value)
		_, twice := list[corev1.ResourceName(name)]
		if err != nil || twice || !slices.Contains(measured, corev1.ResourceName(name)) || q.Sign() < 0 || q.Cmp(mostUse(corev1.ResourceName(name))) > 0 {
			return nil, fmt.Errorf("%w: %q is no amount of cpu or memory, such as cpu=100m,memory=256Mi", model.ErrInvalid, part)
		}
		list[corev1.ResourceName(name)] = q
	}
	return list, nil
}

// weighed returns what a plan takes a pod's requests for. A plan by use takes the measured use with the headroom, if there is
// a measure. With a floor a container that doesn't ask for a resource counts by its limit, else at the floor.
func (v *converter) weighed(p *corev1.Pod, requests corev1.ResourceList) corev1.ResourceList {
	if v.Floor == nil && !v.ByUse {
		return requests
	}
	list := maps.Clone(requests)
	if v.Floor != nil && v.asksNothing(p) {
		q := p.DeepCopy()
		for _, c := range running(q) {
			if c.Resources.Requests == nil {
				c.Resources.Requests = corev1.ResourceList{}
			}
			for name, least := range v.Floor {
				if _, asks := c.Resources.Requests[name]; asks {
					continue
				}
				if limit, ok := c.Resources.Limits[name]; ok {
					least = limit
				}
				c.Resources.Requests[name] = least
			}
		}
		all := resourcehelper.PodRequests(q, requestsOptions)
		for name := range v.Floor {
			if x := all[name]; x.Cmp(list[name]) > 0 {
				list[name] = x
			}
		}
	}
	if v.ByUse {
		for name, x := range v.Use[p.Namespace+"/"+p.Name] {
			list[name] = roundedUp(name, float64(whole(name, x))*(1+v.Headroom))
		}
	}
	return list
}

// asksNothing reports whether a container of a pod, or the pod for it, doesn't ask for a resource of the floor.
func (v *converter) asksNothing(p *corev1.Pod) bool {
	for name := range v.Floor {
		if r := p.Spec.Resources; r != nil {
			if _, asks := r.Requests[name]; asks {
				continue
			}
		}
		if slices.ContainsFunc(running(p), func(c *corev1.Container) bool { _, asks := c.Resources.Requests[name]; return !asks }) {
			return true
		}
	}
	return false
}

// assume tells in the account how a pod counts if not by its requests.
func (v *converter) assume(p *corev1.Pod) {
	if v.Floor != nil && v.asksNothing(p) {
		var floor []string
		for _, name := range measured {
			if q, ok := v.Floor[name]; ok {
				floor = append(floor, fmt.Sprintf("%s=%s", name, q.String()))
			}
		}
		v.in.Account.Assumed.Add(p.Name, "pods with containers that ask for nothing, which count by their limits, else at "+strings.Join(floor, ","))
	}
	if n := len(v.Use[p.Namespace+"/"+p.Name]); v.ByUse && n < len(measured) {
		v.in.Account.Assumed.Add(p.Name, []string{"pods without a measure, which keep their requests",
			"pods with one measure of two, which keep the other request"}[n])
	}
}

// strangers notes measures of pods that weren't given in the account.
func (v *converter) strangers() {
	there := map[string]bool{}
	for k := range v.c.Pods {
		there[v.c.Pods[k].Namespace+"/"+v.c.Pods[k].Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(v.Use)) {
		if !there[name] {
			v.in.Account.LeftOut.Add(name, "measures of pods that aren't there")
		}
	}
}

// asked returns the instance as kube-scheduler sees it: it knows neither a floor nor slack.
func (in *Instance) asked() *model.Consolidation {
	v := *in.converter
	if v.Floor == nil && v.Slack == 0 {
		return in.Consolidation
	}
	v.Floor, v.Slack = nil, 0
	c := *in.Consolidation
	c.Hosts, c.Jobs = slices.Clone(c.Hosts), slices.Clone(c.Jobs)
	for k := range c.Hosts {
		c.Hosts[k].Capacity = v.capacity(&v.c.Nodes[k], v.residents[c.Hosts[k].ID])
	}
	for i := range c.Jobs {
		c.Jobs[i].Needs = v.needs(v.jobs[i].pods[0].asks)
	}
	return &c
}

// Used compares what pods use with their requests: of those that count and are measured.
type Used struct {
	CPU       float64 `json:"cpu_used"` // in CPUs
	CPUAsked  float64 `json:"cpu_requested"`
	Mem       float64 `json:"memory_used_bytes"`
	MemAsked  float64 `json:"memory_requested_bytes"`
	Pods      int     `json:"pods_measured"`
	Unknown   int     `json:"pods_not_measured"`
	Headroom  float64 `json:"headroom,omitempty"` // of a plan by use
	PlannedBy string  `json:"planned_by"`         // "requests" or "use"
}

// used sums up the use; nil without measures.
func (in *Instance) used() *Used {
	v := in.converter
	if v.Use == nil {
		return nil
	}
	u := &Used{PlannedBy: "requests"}
	if v.ByUse {
		u.PlannedBy, u.Headroom = "use", v.Headroom
	}
	for _, p := range v.pods {
		if p.room != "" {
			continue
		}
		use := v.Use[p.id]
		if len(use) < len(measured) {
			u.Unknown++
			continue
		}
		u.Pods++
		u.CPU += float64(amount(corev1.ResourceCPU, use)) / 1000
		u.CPUAsked += float64(amount(corev1.ResourceCPU, p.asks)) / 1000
		u.Mem += float64(amount(corev1.ResourceMemory, use))
		u.MemAsked += float64(amount(corev1.ResourceMemory, p.asks))
	}
	return u
}

// ByUse tells why no evictions lead to a plan by use; "" of a plan by requests.
func (u *Used) ByUse() string {
	if u == nil || u.PlannedBy != "use" {
		return ""
	}
	return fmt.Sprintf("pods count by their use and %.3g %% more. kube-scheduler places by requests: no evictions lead to this plan, "+
		"it shows what requests like that would save", 100*u.Headroom)
}

// Text returns the use in words.
func (u *Used) Text() string {
	text := fmt.Sprintf("%.1f of %.1f vCPU requested, %.1f GiB of %.1f GiB", u.CPU, u.CPUAsked, u.Mem/(1<<30), u.MemAsked/(1<<30))
	if u.Unknown > 0 {
		text += fmt.Sprintf("; %s not measured", words.Plural(u.Unknown, "pod"))
	}
	return text
}
