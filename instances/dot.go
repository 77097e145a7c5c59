// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"github.com/gapwise/gapwise/model"
)

// readDOT reads a task graph as daggen (F. Suter, S. Hunold) writes it: one directed graph. Its nodes have their work
// (flop) and its edges their data (bytes) as the attribute size. Each needs a size of its own: defaults for all nodes
// or edges are refused. Daggen sometimes writes an edge twice; with the same size it counts once. An edge of a task
// that no node statement names is an error. Errors wrap model.ErrInvalid and name the line. O(length of the file).
func readDOT(data []byte) (Workflow, error) {
	file, err := parseDOT(data)
	if err != nil {
		return Workflow{}, err
	}
	if len(file.Graphs) != 1 {
		return Workflow{}, badDOT(0, "there are %d graphs, must be one", len(file.Graphs))
	}
	g := file.Graphs[0]
	if !g.Directed {
		return Workflow{}, badDOT(0, "the graph has no directions, must be a digraph")
	}
	r := dotReader{ids: dotIDs(data), known: map[string]bool{}}
	if g.ID != "" {
		r.find(g.ID)
	}
	if err := r.statements(g.Stmts, 0); err != nil {
		return Workflow{}, err
	}
	return r.link()
}

func badDOT(line int, format string, args ...any) error {
	at := ""
	if line > 0 {
		at = fmt.Sprintf("line %d: ", line)
	}
	return fmt.Errorf("%w DOT graph: %s%s", model.ErrInvalid, at, fmt.Sprintf(format, args...))
}

// dotPosition matches the beginning of the library parser's errors: line,
// column.
var dotPosition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+):\d+: error: `) })

// parseDOT runs the library's parser, which panics on some input that is no DOT
// at all.
func parseDOT(data []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, badDOT(0, "it isn't DOT: %s", oneLine(fmt.Sprint(p)))
		}
	}()
	if file, err = dot.ParseBytes(data); err == nil {
		return file, nil
	}
	line, text := 0, err.Error()
	if at := dotPosition().FindStringSubmatch(text); at != nil {
		line, _ = strconv.Atoi(at[1])
		text = text[len(at[0]):]
	}
	return nil, badDOT(line, "%s", oneLine(text))
}

// dotReader walks the statements in the order of the file, together with the file's IDs: those know their lines, the
// parser's tree doesn't.
type dotReader struct {
	ids   []dotID
	known map[string]bool
	tasks []workTask
	edges []dotEdge
}

type dotEdge struct {
	model.DAGEdge
	line int
}

// find returns the line of the next ID or keyword with this text (keywords in
// any case), 0 if there is none.
func (r *dotReader) find(id string) int {
	for k, x := range r.ids {
		if x.text == id || isDOTKeyword(id) && strings.EqualFold(x.text, id) {
			r.ids = r.ids[k+1:]
			return x.line
		}
	}
	return 0
}

func isDOTKeyword(id string) bool { return id == "node" || id == "edge" || id == "graph" }

// maxSubgraphs bounds the nesting of subgraphs, and so the stack.
const maxSubgraphs = 100

func (r *dotReader) statements(all []ast.Stmt, depth int) error {
	if depth > maxSubgraphs {
		return badDOT(0, "subgraphs nest deeper than %d, must be a plain list of nodes and edges", maxSubgraphs)
	}
	for _, s := range all {
		var err error
		switch s := s.(type) {
		case *ast.NodeStmt:
			err = r.node(s)
		case *ast.EdgeStmt:
			err = r.edge(s)
		case *ast.Subgraph:
			if s.ID != "" {
				r.find(s.ID)
			}
			err = r.statements(s.Stmts, depth+1)
		case *ast.Attr: // a statement of its own: of the graph
			r.find(s.Key)
			r.find(s.Val)
		case *ast.AttrStmt:
			line := r.find(s.Kind.String())
			if _, ok, _ := size(s.Attrs); ok && s.Kind != ast.GraphKind {
				err = badDOT(line, "there is a default size for every %s, give each its own", s.Kind)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *dotReader) node(s *ast.NodeStmt) error {
	id, line := unquote(s.Node.ID), r.find(s.Node.ID)
	shown := oneLine(id)
	work, ok, err := size(s.Attrs)
	switch {
	case r.known[id]:
		return badDOT(line, "node %s is there twice", shown)
	case err != nil:
		return badDOT(line, "node %s: %v", shown, err)
	case !ok:
		return badDOT(line, "node %s has no size (its work)", shown)
	}
	r.known[id] = true
	r.tasks = append(r.tasks, workTask{id, work})
	return nil
}

// edge reads a statement of one or more edges: a -> b -> c.
func (r *dotReader) edge(s *ast.EdgeStmt) error {
	amount, ok, err := size(s.Attrs)
	from, line := "", 0
	for to := (&ast.Edge{Directed: true, Vertex: s.From, To: s.To}); to != nil; to = to.To {
		n, isNode := to.Vertex.(*ast.Node)
		if !isNode {
			return badDOT(line, "an edge joins subgraphs, give edges between nodes")
		}
		id, at := unquote(n.ID), r.find(n.ID)
		if to.Vertex != s.From {
			switch {
			case !to.Directed:
				return badDOT(line, "edge %s -- %s has no direction, must be ->", oneLine(from), oneLine(id))
			case err != nil:
				return badDOT(line, "edge %s -> %s: %v", oneLine(from), oneLine(id), err)
			case !ok:
				return badDOT(line, "edge %s -> %s has no size, give its data (0 if there is nothing to transfer)", oneLine(from), oneLine(id))
			}
			r.edges = append(r.edges, dotEdge{model.DAGEdge{From: from, To: id, Data: amount}, line})
		}
		from, line = id, at
	}
	return nil
}

// link makes the workflow once all nodes are known, since an edge may come
// before its nodes.
func (r *dotReader) link() (Workflow, error) {
	w := Workflow{Tasks: r.tasks}
	type pair struct{ from, to string }
	first := make(map[pair]dotEdge, len(r.edges))
	for _, e := range r.edges {
		for _, id := range []string{e.From, e.To} {
			if !r.known[id] {
				return Workflow{}, badDOT(e.line, "the edge %s -> %s names a task that isn't there: %s", oneLine(e.From), oneLine(e.To), oneLine(id))
			}
		}
		if e.From == e.To {
			return Workflow{}, badDOT(e.line, "task %s needs itself", oneLine(e.From))
		}
		p := pair{e.From, e.To}
		before, twice := first[p]
		switch {
		case !twice:
			first[p] = e
			w.Edges = append(w.Edges, e.DAGEdge)
		case before.Data != e.Data:
			return Workflow{}, badDOT(e.line, "the edge %s -> %s has the size %v, and %v on line %d, give one", oneLine(e.From), oneLine(e.To), e.Data, before.Data, before.line)
		}
	}
	return w, nil
}

// size returns the value of the attribute size; ok is false without one.
func size(attrs []*ast.Attr) (value float64, ok bool, err error) {
	for _, a := range attrs {
		if unquote(a.Key) != "size" {
			continue
		}
		if ok {
			return 0, true, fmt.Errorf("size is there twice, give one")
		}
		ok = true
		if value, err = strconv.ParseFloat(unquote(a.Val), 64); err != nil || !(value >= 0) || math.IsInf(value, 1) {
			return 0, true, fmt.Errorf("size is %s, must be a number from 0", oneLine(a.Val))
		}
	}
	return value, ok, nil
}

func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	}
	return s
}

// oneLine returns the text without line breaks, cut if it is long.
func oneLine(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
