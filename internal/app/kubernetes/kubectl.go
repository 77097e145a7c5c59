// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kubectl controls a cluster by the program kubectl.
type Kubectl struct {
	Args []string // before the command: --context NAME
	// By is what the Mark of a node says: who cordons it, and when. Namespace is that of the lease.
	By, Namespace string

	refused []string // kinds of Objects that the cluster doesn't give
}

// CurrentContext returns the name of kubectl's current context.
func CurrentContext(ctx context.Context) (string, error) {
	name, err := Kubectl{}.run(ctx, "", "config", "current-context")
	return strings.TrimSpace(string(name)), err
}

func (k Kubectl) run(ctx context.Context, input string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "kubectl", append(append([]string(nil), k.Args...), args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.Join(strings.Fields(said.String()), " "))
	}
	return out, nil
}

// Read implements Control. Kinds that the user may not list, or that the server lacks, are left out and told in the
// account, but for nodes and pods; they aren't asked for again.
func (k *Kubectl) Read(ctx context.Context) (*Cluster, error) {
	for {
		kinds := slices.DeleteFunc(strings.Split(Objects, ","), func(kind string) bool { return slices.Contains(k.refused, kind) })
		text, err := k.run(ctx, "", "get", strings.Join(kinds, ","), "-A", "-o", "json")
		if err == nil {
			c, err := Read(map[string][]byte{"kubectl": text})
			if err == nil {
				c.Refused = k.refused
			}
			return c, err
		}
		before := len(k.refused)
		for _, m := range notGiven().FindAllStringSubmatch(err.Error(), -1) {
			if kind := m[1] + m[2]; slices.Contains(kinds[2:], kind) && !slices.Contains(k.refused, kind) {
				k.refused = append(k.refused, kind)
			}
		}
		if len(k.refused) == before {
			return nil, err
		}
	}
}

// notGiven finds the kind that a cluster doesn't give in kubectl's error, with the group behind it.
var notGiven = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:Forbidden\): ([a-z]+)(?:\.[a-z0-9.-]+)? is forbidden)|(?:doesn't have a resource type "([a-z]+)")`)
})

// Cordon implements Control, by a patch for each node. What refuses this may take kubectl's own commands.
func (k Kubectl) Cordon(ctx context.Context, on bool, nodes ...string) error {
	unmarked := ""
	for _, node := range nodes {
		_, err := k.run(ctx, "", "patch", "node", node, "--type", "merge", "-p", cordonPatch(on, k.By))
		if err == nil || !on && absent(err) {
			continue
		}
		command := "uncordon"
		if on {
			command = "cordon"
		}
		if _, e := k.run(ctx, "", command, node); e != nil {
			return err
		}
		unmarked = fmt.Sprintf("%s: %v", node, err)
	}
	if unmarked != "" && on {
		return fmt.Errorf("%w: %s", ErrUnmarked, unmarked)
	}
	return nil
}

// cordonPatch returns the patch that cordons a node and gives it the Mark at once, so that no end of a program leaves one
// without the other, or undoes both.
func cordonPatch(on bool, by string) string {
	mark := any(nil)
	if on {
		mark = by
	}
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"unschedulable": on}, "metadata": map[string]any{"annotations": map[string]any{Mark: mark}}})
	if err != nil {
		panic(err) // of strings
	}
	return string(text)
}

// absent reports whether an error says that there is no such object.
func absent(err error) bool {
	return strings.Contains(err.Error(), "NotFound") || strings.Contains(err.Error(), "not found")
}

// Evict implements Control, for this very pod: one of its name that has come since is another one (Conflict). A refusal
// for now is "Too Many Requests" (429), that by two budgets an error of the server.
func (k Kubectl) Evict(ctx context.Context, pod *corev1.Pod) error {
	body := mustJSON(policyv1.Eviction{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}})
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/eviction", pod.Namespace, pod.Name)
	_, err := k.run(ctx, body, "create", "--raw", path, "-f", "-")
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "disruption budget"), strings.Contains(err.Error(), "TooManyRequests"),
		strings.Contains(err.Error(), "PodDisruptionBudget"):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case absent(err), strings.Contains(err.Error(), "Conflict"):
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

// Lease implements Control.
func (k Kubectl) Lease(ctx context.Context, verb string, l *coordinationv1.Lease) error {
	path := "/apis/coordination.k8s.io/v1/namespaces/" + k.Namespace + "/leases"
	l.APIVersion, l.Kind, l.Namespace, l.Name = "coordination.k8s.io/v1", "Lease", k.Namespace, LeaseName
	body := mustJSON(l)
	if verb == "delete" {
		body = mustJSON(metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
			Preconditions: &metav1.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}})
	}
	args := []string{verb, "--raw", path + "/" + LeaseName, "-f", "-"}
	switch verb {
	case "create":
		args[2] = path
	case "get":
		args, body = args[:3], ""
	}
	text, err := k.run(ctx, body, args...)
	switch {
	case err == nil && verb != "delete":
		*l = coordinationv1.Lease{}
		return json.Unmarshal(text, l)
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "AlreadyExists"), strings.Contains(err.Error(), "Conflict"):
		return fmt.Errorf("%w: %w", ErrTaken, err)
	case absent(err):
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}
