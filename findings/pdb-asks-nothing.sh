#!/usr/bin/env bash
# A disruption budget that asks for nothing (minAvailable: 0, maxUnavailable: 100%) refuses to let a pod be evicted.
# Kubernetes 1.37.2 (the Go module k8s.io/kubernetes, its eviction handler; about 3 minutes of CPU to build at first).
# Expected: a budget that needs 0 healthy pods allows every eviction, that of a crashing pod above all.
# Seen: two pods, none of them ready. With minAvailable: 0 the eviction is refused (429): "needs 0 healthy pods and has
#   0 currently". A live cluster says so, too, also with maxUnavailable: 100%. An unready pod may go if enough others
#   are healthy, but that clause asks for desiredHealthy > 0; and disruptionsAllowed is currentHealthy - desiredHealthy.
#   With minAvailable: 1 and one of two ready, the other one goes at once: the budget that asks for more protects less.
#   The first one goes with unhealthyPodEvictionPolicy: AlwaysAllow, or without any budget.
# Matters: minAvailable: 0 is how charts switch a budget off. A node with a crashing pod under it can't be drained.
#   The status below is that which the disruption controller writes.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
{
  printf 'module eviction\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v1.37.2\n\nreplace (\n'
  for part in api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider cluster-bootstrap \
    code-generator component-base component-helpers controller-manager cri-api cri-client cri-streaming \
    csi-translation-lib dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator \
    kube-controller-manager kube-proxy kube-scheduler kubectl kubelet metrics mount-utils pod-security-admission \
    sample-apiserver sample-cli-plugin sample-controller streaming; do
    echo "	k8s.io/$part => k8s.io/$part v0.37.2"
  done
  echo ')'
} >go.mod
go mod download k8s.io/kubernetes@v1.37.2
# The handler can't be made from outside of its package: its file is taken as it is, under another package name.
sed 's/^package storage$/package main/' "$(go list -m -f '{{.Dir}}' k8s.io/kubernetes)/pkg/registry/core/pod/storage/eviction.go" >eviction.go
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	policyclient "k8s.io/client-go/kubernetes/typed/policy/v1"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/policy"
)

// store has one pod, which runs and isn't ready.
type store struct {
	rest.StandardStorage
	pod *api.Pod
}

func (s store) Get(context.Context, string, *metav1.GetOptions) (runtime.Object, error) { return s.pod, nil }

func (s store) Update(context.Context, string, rest.UpdatedObjectInfo, rest.ValidateObjectFunc, rest.ValidateObjectUpdateFunc, bool, *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.pod, false, nil
}

func (s store) Delete(context.Context, string, rest.ValidateObjectFunc, *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return s.pod, true, nil
}

// budgets has one budget, or none.
type budgets struct {
	policyclient.PodDisruptionBudgetInterface
	all []policyv1.PodDisruptionBudget
}

func (b budgets) PodDisruptionBudgets(string) policyclient.PodDisruptionBudgetInterface { return b }

func (b budgets) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	return &policyv1.PodDisruptionBudgetList{Items: b.all}, nil
}

func (b budgets) Get(context.Context, string, metav1.GetOptions) (*policyv1.PodDisruptionBudget, error) {
	return b.all[0].DeepCopy(), nil
}

func (b budgets) UpdateStatus(_ context.Context, x *policyv1.PodDisruptionBudget, _ metav1.UpdateOptions) (*policyv1.PodDisruptionBudget, error) {
	return x, nil
}

func evict(b ...policyv1.PodDisruptionBudget) string {
	app := map[string]string{"app": "web"}
	pod := &api.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: app},
		Status: api.PodStatus{Phase: api.PodRunning, Conditions: []api.PodCondition{{Type: api.PodReady, Status: api.ConditionFalse}}}}
	for k := range b {
		b[k].Namespace, b[k].Name, b[k].Spec.Selector = "shop", "web", &metav1.LabelSelector{MatchLabels: app}
		b[k].Status.ExpectedPods = 2
	}
	EvictionsRetry.Steps = 1
	ctx := genericapirequest.WithNamespace(context.Background(), "shop")
	_, err := newEvictionStorage(store{pod: pod}, budgets{all: b}).Create(ctx, "web-0", &policy.Eviction{ObjectMeta: pod.ObjectMeta},
		rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if status, ok := err.(errors.APIStatus); ok {
		return "refused, " + status.Status().Details.Causes[0].Message
	}
	return "evicted"
}

func main() {
	always := policyv1.AlwaysAllow
	status := func(healthy, desired int32) policyv1.PodDisruptionBudgetStatus {
		return policyv1.PodDisruptionBudgetStatus{CurrentHealthy: healthy, DesiredHealthy: desired, DisruptionsAllowed: max(0, healthy-desired)}
	}
	fmt.Println("no budget:", evict())
	fmt.Println("asks for 0, has 0:", evict(policyv1.PodDisruptionBudget{Status: status(0, 0)}))
	fmt.Println("asks for 0, has 0, AlwaysAllow:", evict(policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{UnhealthyPodEvictionPolicy: &always}, Status: status(0, 0)}))
	fmt.Println("asks for 1, has 1:", evict(policyv1.PodDisruptionBudget{Status: status(1, 1)}))
}
GO
export CGO_ENABLED=0 GOFLAGS='-trimpath -mod=mod'
go mod tidy >tidy.log 2>&1 || { cat tidy.log; exit 1; }
go run . >out
echo 'expected: evicted, all of them (the pod is not ready); seen:'
cat out
[ "$(cut -d: -f2 out | paste -sd' ')" = ' evicted  refused, The disruption budget web needs 0 healthy pods and has 0 currently  evicted  evicted' ] || { echo 'changed'; exit 1; }
