#!/usr/bin/env bash
# DOT of task graphs in Go: gonum v0.16.0 (graph/encoding/dot) and gographviz v2.0.3 against Graphviz's own language.
# Expected: "a" and a are one node (quotes are spelling), and { d e } -> a is two edges, d -> a and e -> a;
#   so five tasks and four edges, and a, d and e come before b and c.
# Seen: both make two nodes of "a" and a, gonum even with the same DOT identifier, so b loses its predecessors d and e
#   without an error. gographviz makes one edge of the group, from an anonymous subgraph that is no node:
#   d and e have no successor.
# Matters: files written by tools that quote at some places only lose precedences; normalise with Graphviz' `nop`,
#   which spells each node in one way and unfolds groups.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
export GOFLAGS=-mod=mod CGO_ENABLED=0 GOWORK=off
go mod init try >/dev/null 2>&1
go get gonum.org/v1/gonum@v0.16.0 github.com/awalterschulze/gographviz@v2.0.3+incompatible >/dev/null 2>&1
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/awalterschulze/gographviz"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"
)

const tasks = `digraph tasks { "a" -> b; a -> c; { d e } -> a; }`

type node struct {
	graph.Node
	name string
}

func (n *node) SetDOTID(name string) { n.name = name }

type tree struct{ *simple.DirectedGraph }

func (t tree) NewNode() graph.Node { return &node{Node: t.DirectedGraph.NewNode()} }

func main() {
	t := tree{simple.NewDirectedGraph()}
	if err := dot.Unmarshal([]byte(tasks), t); err != nil {
		fmt.Println(err)
	}
	named := 0
	for _, n := range graph.NodesOf(t.Nodes()) {
		if n.(*node).name == "a" {
			named++
		}
	}
	fmt.Println("gonum: nodes", t.Nodes().Len(), "edges", t.Edges().Len(), "named a", named)
	g, err := gographviz.Read([]byte(tasks))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("gographviz: nodes", len(g.Nodes.Nodes), "edges", len(g.Edges.Edges),
		"from d or e", len(g.Edges.SrcToDsts["d"])+len(g.Edges.SrcToDsts["e"]))
}
GO
go run . >out.txt
echo 'expected: nodes 5 edges 4, one named a, two edges from d and e; seen:'
cat out.txt
[ "$(cat out.txt)" = 'gonum: nodes 6 edges 4 named a 2
gographviz: nodes 6 edges 3 from d or e 0' ] || { echo 'changed'; exit 1; }
