// SPDX-License-Identifier: MIT

package kubernetes

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Objects are the kinds of objects that a plan is made of, as kubectl takes them.
const Objects = "nodes,pods,poddisruptionbudgets,persistentvolumes,persistentvolumeclaims,namespaces,services"

// Kubectl controls a cluster by the program kubectl.
type Kubectl struct {
	Args []string // before the command: --context NAME
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

// Read implements Control.
func (k Kubectl) Read(ctx context.Context) (*Cluster, error) {
	text, err := k.run(ctx, "", "get", Objects, "-A", "-o", "json")
	if err != nil {
		return nil, err
	}
	return Read(map[string][]byte{"kubectl": text})
}

// Cordon implements Control.
func (k Kubectl) Cordon(ctx context.Context, on bool, nodes ...string) error {
	command := "uncordon"
	if on {
		command = "cordon"
	}
	_, err := k.run(ctx, "", append([]string{command}, nodes...)...)
	return err
}

// Evict implements Control. A refusal for now is "Too Many Requests" (429); two budgets on a pod are an error of the
// server.
func (k Kubectl) Evict(ctx context.Context, namespace, pod string) error {
	body := fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"namespace":%q,"name":%q}}`, namespace, pod)
	_, err := k.run(ctx, body, "create", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/eviction", namespace, pod), "-f", "-")
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "disruption budget"), strings.Contains(err.Error(), "TooManyRequests"), strings.Contains(err.Error(), "NotFound"), strings.Contains(err.Error(), "not found"):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}
