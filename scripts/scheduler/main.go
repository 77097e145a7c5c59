// SPDX-License-Identifier: MIT

// Command scheduler tells on which nodes kube-scheduler's default profile allows each pod of a cluster, as if the pod
// were made again: it reads what kubectl get -o json prints, and runs the PreFilter and Filter plugins of Kubernetes
// 1.37.2 on a snapshot without the pod. Each line is a pod and the nodes, "namespace/name n1 n3"; with -why the plugin
// that refuses the pod stands behind each other node, "n2=NodeAffinity". Several files are several clusters: a line
// "# FILE" stands before each.
//
// Nothing is bound: claims and nodes stay as they are for each pod. A pod whose controller is given with a template has
// the template's containers, as its successor would. The feature gate TaintTolerationComparisonOperators is on, without
// which an API server takes no toleration by Gt or Lt.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	resourceslicetracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

func main() {
	why := flag.Bool("why", false, "name the plugin that refuses a pod on each other node")
	flag.Parse()
	klog.SetOutput(os.Stderr)
	klog.LogToStderr(false)
	metrics.Register()
	if err := utilfeature.DefaultMutableFeatureGate.Set(string(features.TaintTolerationComparisonOperators) + "=true"); err != nil {
		fail(err)
	}
	out := bufio.NewWriter(os.Stdout)
	for _, name := range flag.Args() {
		data, err := os.ReadFile(name)
		if err != nil {
			fail(err)
		}
		if flag.NArg() > 1 {
			fmt.Fprintln(out, "#", name)
		}
		c, err := read(data)
		if err == nil {
			err = c.answer(out, *why)
		}
		if err != nil {
			fail(fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := out.Flush(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "scheduler:", err)
	os.Exit(1)
}

// cluster holds the objects of a cluster: nodes, pods that haven't ended, and all others, which the plugins list.
type cluster struct {
	nodes     []*corev1.Node
	pods      []*corev1.Pod
	others    []runtime.Object
	templates map[string]*corev1.PodSpec // by "Kind namespace/name" of the controller
}

// read reads an object or a list, which may hold lists.
func read(data []byte) (*cluster, error) {
	c := &cluster{templates: map[string]*corev1.PodSpec{}}
	return c, c.add(data)
}

func (c *cluster) add(data []byte) error {
	var list struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if strings.HasSuffix(list.Kind, "List") {
		for _, item := range list.Items {
			if err := c.add(item); err != nil {
				return err
			}
		}
		return nil
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return err
	}
	switch x := object.(type) {
	case *corev1.Node:
		c.nodes = append(c.nodes, x)
	case *corev1.Pod:
		if x.Status.Phase != corev1.PodSucceeded && x.Status.Phase != corev1.PodFailed {
			c.pods = append(c.pods, x)
		}
	case *appsv1.ReplicaSet:
		c.templates["ReplicaSet "+x.Namespace+"/"+x.Name] = &x.Spec.Template.Spec
	case *appsv1.StatefulSet:
		c.templates["StatefulSet "+x.Namespace+"/"+x.Name] = &x.Spec.Template.Spec
	default:
		c.others = append(c.others, object)
	}
	return nil
}

// again returns a pod as it would be made again.
func (c *cluster) again(p *corev1.Pod) *corev1.Pod {
	x := p.DeepCopy()
	x.Spec.NodeName, x.Status = "", corev1.PodStatus{}
	if owner := metav1.GetControllerOf(p); owner != nil {
		if t := c.templates[owner.Kind+" "+p.Namespace+"/"+owner.Name]; t != nil && len(t.Containers) > 0 {
			x.Spec.Containers, x.Spec.InitContainers, x.Spec.Resources = t.Containers, t.InitContainers, t.Resources
		}
	}
	return x
}

// shared is a snapshot that can be exchanged.
type shared struct{ *cache.Snapshot }

// answer writes the lines of a cluster's pods.
func (c *cluster) answer(out *bufio.Writer, why bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var objects []runtime.Object
	for _, n := range c.nodes {
		objects = append(objects, n)
	}
	client := fake.NewClientset(append(objects, c.others...)...)
	factory := informers.NewSharedInformerFactory(client, 0)
	tracker, err := resourceslicetracker.StartTracker(ctx, resourceslicetracker.Options{SliceInformer: factory.Resource().V1().ResourceSlices(), KubeClient: client})
	if err != nil {
		return err
	}
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	config, err := latest.Default()
	if err != nil {
		return err
	}
	snapshot := &shared{cache.NewEmptySnapshot()}
	profile, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &config.Profiles[0],
		frameworkruntime.WithClientSet(client), frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithSharedDRAManager(dynamicresources.NewDRAManager(ctx, claims, tracker, factory)),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodGroupManager(cache.New(ctx, nil, false, false)), frameworkruntime.WithParallelism(1))
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	slices.SortFunc(c.pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	for _, p := range c.pods {
		var there []*corev1.Pod
		for _, x := range c.pods {
			if x != p && x.Spec.NodeName != "" {
				there = append(there, x)
			}
		}
		snapshot.Snapshot = cache.NewSnapshot(there, c.nodes)
		fmt.Fprintf(out, "%s/%s", p.Namespace, p.Name)
		for _, text := range feasible(ctx, profile, snapshot, c.again(p), why) {
			fmt.Fprint(out, " ", text)
		}
		fmt.Fprintln(out)
	}
	return nil
}

// feasible returns the nodes that pass, in order; with why also the others, with the plugin that refuses the pod.
func feasible(ctx context.Context, profile framework.Framework, snapshot *shared, p *corev1.Pod, why bool) (all []string) {
	nodes, err := snapshot.NodeInfos().List()
	if err != nil {
		return []string{err.Error()}
	}
	state := framework.NewCycleState()
	result, status, _ := profile.RunPreFilterPlugins(ctx, state, p)
	for _, n := range nodes {
		name, by := n.Node().Name, ""
		switch {
		case !status.IsSuccess():
			by = status.Plugin() + "*"
		case !result.AllNodes() && !result.NodeNames.Has(name):
			by = "PreFilter"
		default:
			if s := profile.RunFilterPlugins(ctx, state, p, n); !s.IsSuccess() {
				by = s.Plugin()
			}
		}
		switch {
		case by == "":
			all = append(all, name)
		case why:
			all = append(all, name+"="+by)
		}
	}
	slices.Sort(all)
	return all
}
