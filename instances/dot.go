package instances

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"github.com/gapwise/gapwise/model"
)

// ReadDOT reads a task graph as daggen writes it: a directed graph whose nodes
// have their work (flop) and whose edges their data (bytes) as the attribute
// size. An edge that is there twice counts once: daggen's slip. An edge's
// task that no node statement names is an error. Errors wrap model.ErrInvalid and name the line.
func ReadDOT(data []byte) (Workflow, error) {
	var w Workflow
	bad := func(line int, format string, args ...any) (Workflow, error) {
		at := ""
		if line > 0 {
			at = fmt.Sprintf("line %d: ", line)
		}
		return Workflow{}, fmt.Errorf("%w DOT graph: %s%s", model.ErrInvalid, at, fmt.Sprintf(format, args...))
	}
	file, err := parseDOT(data)
	if err != nil {
		return bad(0, "%v", strings.Join(strings.Fields(err.Error()), " "))
	}
	if len(file.Graphs) != 1 {
		return bad(0, "there are %d graphs, must be one", len(file.Graphs))
	}
	if !file.Graphs[0].Directed {
		return bad(0, "the graph has no directions, must be a digraph")
	}
	known := map[string]bool{}
	type pair struct{ from, to string }
	seen := map[pair]bool{}
	var edges []*ast.EdgeStmt
	var statements func([]ast.Stmt)
	statements = func(all []ast.Stmt) {
		for _, s := range all {
			switch s := s.(type) {
			case *ast.NodeStmt:
				if err != nil {
					return
				}
				id := unquote(s.Node.ID)
				line := lineOfWords(data, s.Node.ID)
				switch work, ok, e := size(s.Attrs); {
				case known[id]:
					_, err = bad(line, "node %s is there twice", id)
				case e != nil:
					_, err = bad(line, "node %s: %v", id, e)
				case !ok:
					_, err = bad(line, "node %s has no size (its work)", id)
				default:
					known[id] = true
					w.Tasks = append(w.Tasks, WorkTask{id, work})
				}
			case *ast.EdgeStmt:
				edges = append(edges, s)
			case *ast.Subgraph:
				statements(s.Stmts)
			}
		}
	}
	statements(file.Graphs[0].Stmts)
	if err != nil {
		return Workflow{}, err
	}
	for _, s := range edges {
		amount, _, e := size(s.Attrs)
		from, ok := s.From.(*ast.Node)
		for to := s.To; to != nil; to = to.To {
			head, ok2 := to.Vertex.(*ast.Node)
			if !ok || !ok2 {
				return bad(0, "an edge joins subgraphs, give edges between nodes")
			}
			line := lineOfWords(data, from.ID, "->", head.ID)
			p := pair{unquote(from.ID), unquote(head.ID)}
			for _, id := range []string{p.from, p.to} {
				if !known[id] {
					return bad(line, "the edge %s -> %s names a task that isn't there: %s", p.from, p.to, id)
				}
			}
			if e != nil {
				return bad(line, "edge %s -> %s: %v", p.from, p.to, e)
			}
			if !seen[p] {
				seen[p] = true
				w.Edges = append(w.Edges, model.DAGEdge{From: p.from, To: p.to, Data: amount})
			}
			from = head
		}
	}
	return w, nil
}

// parseDOT is the library's parser without its panics: it has some on input
// that is no DOT at all.
func parseDOT(data []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("it isn't DOT: %v", p)
		}
	}()
	return dot.ParseBytes(data)
}

// size is the value of the attribute size, and whether it is there.
func size(attrs []*ast.Attr) (float64, bool, error) {
	for _, a := range attrs {
		if unquote(a.Key) != "size" {
			continue
		}
		x, err := strconv.ParseFloat(unquote(a.Val), 64)
		if err != nil || !(x >= 0) || math.IsInf(x, 1) {
			return 0, true, fmt.Errorf("size is %s, must be a number from 0", a.Val)
		}
		return x, true, nil
	}
	return 0, false, nil
}

func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	}
	return s
}

// lineOfWords is the first line that begins with the words, whatever the space
// between them; 0 if there is none.
func lineOfWords(data []byte, words ...string) int {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		rest := bytes.TrimSpace(line)
		found := true
		for _, w := range words {
			if found = bytes.HasPrefix(rest, []byte(w)); !found {
				break
			}
			rest = bytes.TrimLeft(rest[len(w):], " \t")
		}
		if !found {
			continue
		}
		// The last word must end there: 1 isn't 12.
		before := line[:bytes.LastIndex(line, rest)]
		if len(rest) == 0 || bytes.IndexByte([]byte("[;-}"), rest[0]) >= 0 || len(before) > 0 && before[len(before)-1] <= ' ' {
			return number
		}
	}
	return 0
}
