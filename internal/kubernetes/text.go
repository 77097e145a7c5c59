// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/internal/words"
)

// Text returns the plan in words, in lines of at most 80 columns but for names; with moves each of
// them.
func (p *Plan) Text(moves bool) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	state := func(s State) string {
		text := fmt.Sprintf("%d nodes, %d vCPU", s.Nodes, s.VCPU)
		if p.PriceUnit != "vCPU" && p.PriceUnit != "nodes" {
			text += fmt.Sprintf(", %d %s", s.Cost, p.PriceUnit)
		}
		if s.Waiting > 0 {
			text += fmt.Sprintf("; waiting pods: %d", s.Waiting)
		}
		return text
	}
	line("now", "%s", state(p.Now))
	line("could be", "%s", state(p.Then))
	saved := ""
	if p.Now.Cost > 0 {
		saved = fmt.Sprintf(" (%.0f %%)", 100*float64(p.Now.Cost-p.Then.Cost)/float64(p.Now.Cost))
	}
	line("saved", "%d nodes, %d %s%s", p.Now.Nodes-p.Then.Nodes, p.Now.Cost-p.Then.Cost, p.PriceUnit, saved)
	if p.CostStatus == "optimal" {
		line("proof", "no plan costs less")
	} else {
		line("bound", "no plan leaves less than %.0f %s for nodes and waiting pods", p.CostBound, p.PriceUnit)
	}
	if p.MovesStatus == "optimal" {
		line("moves", "%d pods, no plan of that cost moves fewer", p.Moves)
	} else {
		line("moves", "%d pods, at least %.0f are needed for that cost", p.Moves, p.MovesBound)
	}
	if n := len(p.Waves); n > 0 {
		line("waves", "%d, each within the budgets and with room for every pod", n)
	}
	if n := len(p.Stuck); n > 0 {
		line("stuck", "%d moves wait for each other's room: they need one more node for a while", n)
	}
	if len(p.Emptied) > 0 {
		names, more := p.Emptied, ""
		if n := len(names) - mostNames; n > 0 && !moves {
			names, more = names[:mostNames], fmt.Sprintf(" and %d more (--moves)", n)
		}
		b.WriteString("\nnodes that become empty:\n  " + words.Wrap(strings.Join(names, ", ")+more, 76, 2) + "\n")
	}
	b.WriteString(PinsText(p.Pins))
	if !moves {
		return b.String()
	}
	for k, wave := range p.Waves {
		fmt.Fprintf(&b, "\nwave %d\n", k+1)
		for _, m := range wave {
			b.WriteString("  " + m.String() + "\n")
		}
	}
	for _, m := range p.Stuck {
		b.WriteString("  stuck: " + m.String() + "\n")
	}
	return b.String()
}

// mostNames is how many nodes are named, mostPins how many reasons of pins.
const (
	mostNames = 40
	mostPins  = 8
)

// String returns "POD: FROM -> TO", with the reason.
func (m Move) String() string {
	from := m.From
	if from == "" {
		from = "waits"
	}
	text := fmt.Sprintf("%s: %s -> %s", m.Pod, from, m.To)
	if m.Detour {
		text += " (on the way)"
	}
	if m.After != "" {
		text += ", after " + m.After
	}
	return text
}

// PinsText says why pods can't move; "" if all can.
func PinsText(pins []Pin) string {
	if len(pins) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\npods that can't move:\n")
	for k, p := range pins {
		if k == mostPins && len(pins) > mostPins+1 {
			rest := 0
			for _, p := range pins[k:] {
				rest += p.Pods
			}
			fmt.Fprintf(&b, "  %4d for %d other reasons (--json)\n", rest, len(pins)-k)
			break
		}
		fmt.Fprintf(&b, "  %4d on %3d nodes: %s\n", p.Pods, p.Nodes, p.Why)
	}
	return b.String()
}

// Commands returns the plan as a script for a shell: the nodes that become empty are cordoned, and
// the pods of each wave evicted through the eviction API. An eviction can't name a node: kube-scheduler places the
// successor as it likes, so that the script stops after each wave until all pods are ready.
func (p *Plan) Commands() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# kube-scheduler chooses the nodes of the successors: plan again after each wave.\nset -e\n")
	b.WriteString("evict() { # namespace, pod\n  printf '{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\"}}' \"$1\" \"$2\" |\n" +
		"    kubectl create --raw \"/api/v1/namespaces/$1/pods/$2/eviction\" -f -\n}\n")
	for _, node := range p.Emptied {
		fmt.Fprintf(&b, "kubectl cordon %s\n", node)
	}
	for k, wave := range p.Waves {
		fmt.Fprintf(&b, "# wave %d\n", k+1)
		for _, m := range wave {
			if m.From == "" {
				continue
			}
			namespace, name, _ := strings.Cut(m.Pod, "/")
			fmt.Fprintf(&b, "evict %s %s # from %s, planned for %s\n", namespace, name, m.From, m.To)
		}
		b.WriteString("kubectl wait --for=condition=Ready pods --all --all-namespaces --field-selector=status.phase!=Succeeded --timeout=10m\n")
	}
	return b.String()
}
