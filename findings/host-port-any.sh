#!/usr/bin/env bash
# kube-scheduler knows one address that means all of a node's, 0.0.0.0: a host port on [::] doesn't conflict with the same
# port on another address.
# k8s.io/kube-scheduler 0.37.2 (Kubernetes 1.37.2), the type by which the plugin NodePorts compares ports.
# Expected: a pod with hostIP "::" takes its port on every address, as a server that listens on [::] does, so that a pod
#   with the same port on 10.0.0.1 or fd00::1 isn't placed on its node.
# Seen: 0.0.0.0 and no address conflict with each other one; "::" is compared as text. Of the 25 ordered pairs of 0.0.0.0,
#   none, ::, 10.0.0.1 and fd00::1, four that share an address are allowed: "::" with 10.0.0.1 and fd00::1, in both orders.
# Matters: on dual-stack nodes the second pod is bound to the node, and its server can't listen. A tool that plans
#   placements by what hostIP means refuses nodes that the scheduler takes.
set -euo pipefail
T=$(mktemp -d); trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT
cd "$T"
printf 'module ports\n\ngo 1.26.0\n\nrequire k8s.io/kube-scheduler v0.37.2\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"

	"k8s.io/kube-scheduler/framework"
)

func main() {
	all := []string{"0.0.0.0", "", "::", "10.0.0.1", "fd00::1"}
	for _, first := range all {
		for _, second := range all {
			used := framework.HostPortInfo{}
			used.Add(first, "TCP", 80)
			fmt.Printf("%-8s then %-8s %v\n", first, second, used.CheckConflict(second, "TCP", 80))
		}
	}
}
GO
GOFLAGS=-mod=mod go run . >seen 2>log || { cat log >&2; exit 1; }
cat seen
[ "$(grep -c true seen)" = 19 ]
[ "$(grep -E '^:: +then (10.0.0.1|fd00::1) +false|^(10.0.0.1|fd00::1) +then :: +false' seen | wc -l)" = 4 ]
grep -Eq '^0\.0\.0\.0 +then :: +true' seen
