// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"github.com/gapwise/gapwise/model"
)

// readDOT reads a task graph as daggen (F. Suter, S. Hunold) and SimGrid have it: one directed graph. Its nodes have their
// work (flop) and its edges their data (bytes) as the attribute size, or as the attributes that Options.DOT names. Each
// node needs a size of its own: defaults for all nodes or edges are refused. An edge of no size, or of -1, is a dependency
// without data. Daggen sometimes writes an edge twice; with the same size it counts once. An edge of a task that no node
// statement names is an error, but for SimGrid's root and end. Errors wrap model.ErrInvalid and name the line. O(length of
// the file).
func readDOT(f *File) (workflow, error) {
	data := f.data
	names, err := dotNames(f.dot)
	if err != nil {
		return workflow{}, err
	}
	file, err := parseDOT(data)
	if err != nil {
		return workflow{}, err
	}
	if len(file.Graphs) != 1 {
		return workflow{}, badDOT(0, "there are %d graphs, must be one", len(file.Graphs))
	}
	g := file.Graphs[0]
	if !g.Directed {
		return workflow{}, badDOT(0, "the graph has no directions, must be a digraph")
	}
	r := dotReader{ids: dotIDs(data), known: map[string]bool{}, names: names, simGrid: f.dot == ""}
	if g.ID != "" {
		r.find(g.ID)
	}
	if err := r.statements(g.Stmts, 0); err != nil {
		return workflow{}, err
	}
	return r.link(f.account)
}

// dotNames returns the attributes of nodes and of edges that Options.DOT names: "size=WORK,data=DATA", or one of them.
func dotNames(option string) (names [2]string, err error) {
	names = [2]string{"size", "size"}
	if option == "" {
		return names, nil
	}
	for part := range strings.SplitSeq(option, ",") {
		key, name, _ := strings.Cut(part, "=")
		k := slices.IndexFunc(dotParts[:], func(p struct{ name, key string }) bool { return p.key == key })
		if k < 0 || name == "" {
			return names, fmt.Errorf("%w attributes of DOT: %q, give size=NAME (of nodes) and data=NAME (of edges) with a comma between them", model.ErrInvalid, part)
		}
		names[k] = name
	}
	return names, nil
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
	// names are the attributes of nodes and of edges that are read, others are further ones that don't serve drawing.
	names   [2]string
	others  [2][]string
	simGrid bool  // root and end have SimGrid's meaning
	alphas  int   // nodes with daggen's attribute
	unsized error // about the first node without a size
}

type dotEdge struct {
	model.DAGEdge
	line int
	bare bool // without data
}

// dotParts are the parts of a graph that have attributes, and the keys of Options.DOT that name one of theirs.
var dotParts = [2]struct{ name, key string }{{"nodes", "size"}, {"edges", "data"}}

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
			if s.Kind == ast.GraphKind {
				continue
			}
			part := 0
			if s.Kind == ast.EdgeKind {
				part = 1
			}
			if _, ok, _ := r.size(part, s.Attrs); ok {
				err = badDOT(line, "there is a default %s for every %s, give each its own", r.names[part], s.Kind)
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
	work, ok, err := r.size(0, s.Attrs)
	switch {
	case r.known[id]:
		return badDOT(line, "node %s is there twice", shown)
	case err != nil:
		return badDOT(line, "node %s: %v", shown, err)
	case !ok && r.unsized == nil:
		r.unsized = badDOT(line, "node %s has no %s (its work)", shown, r.names[0])
	}
	r.known[id] = true
	r.tasks = append(r.tasks, workTask{ID: id, Work: work})
	return nil
}

// edge reads a statement of one or more edges: a -> b -> c.
func (r *dotReader) edge(s *ast.EdgeStmt) error {
	amount, ok, err := r.size(1, s.Attrs)
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
			}
			r.edges = append(r.edges, dotEdge{model.DAGEdge{From: from, To: id, Data: max(amount, 0)}, line, !ok || amount < 0})
		}
		from, line = id, at
	}
	return nil
}

// link makes the workflow once all nodes are known, since an edge may come
// before its nodes.
func (r *dotReader) link(a *model.Account) (workflow, error) {
	hint := ""
	if len(r.others[1]) > 0 {
		hint = "; " + r.hint(1)
	}
	if r.unsized != nil {
		return workflow{}, fmt.Errorf("%w; %s%s", r.unsized, r.hint(0), hint)
	}
	r.tellOthers(a)
	w := workflow{Tasks: r.tasks}
	first := make(map[[2]string]dotEdge, len(r.edges))
	bare := 0
	for _, e := range r.edges {
		for _, id := range []string{e.From, e.To} {
			switch {
			case r.known[id]:
			case r.simGrid && (id == simGridRoot || id == simGridEnd):
				r.known[id] = true
				w.Tasks = append(w.Tasks, workTask{ID: id})
				a.Assumed.Add(id, "tasks of SimGrid that edges alone name, without work")
			default:
				return workflow{}, badDOT(e.line, "the edge %s -> %s names a task that isn't there: %s", oneLine(e.From), oneLine(e.To), oneLine(id))
			}
		}
		if e.From == e.To {
			return workflow{}, badDOT(e.line, "task %s needs itself", oneLine(e.From))
		}
		p := [2]string{e.From, e.To}
		before, twice := first[p]
		switch {
		case !twice:
			first[p] = e
			w.Edges = append(w.Edges, e.DAGEdge)
			if e.bare {
				bare++
			}
		case before.Data != e.Data:
			return workflow{}, badDOT(e.line, "the edge %s -> %s has the size %v, and %v on line %d, give one", oneLine(e.From), oneLine(e.To), e.Data, before.Data, before.line)
		}
	}
	a.Assumed.Count(bare, "edges of %s -1 or none: dependencies without data%s", r.names[1], hint)
	if r.simGrid {
		w.joinSimGrid(a)
	}
	return w, nil
}

// SimGrid's loader has root before all other tasks, and end behind them.
const simGridRoot, simGridEnd = "root", "end"

// joinSimGrid adds the dependencies that SimGrid adds where a root or an end has work: tasks that need none need root, and
// end needs tasks that none needs. A root that needs a task, or an end that one needs, is a task like others.
func (w *workflow) joinSimGrid(a *model.Account) {
	needs, needed := map[string]bool{simGridEnd: true}, map[string]bool{simGridRoot: true}
	for _, e := range w.Edges {
		needs[e.To], needed[e.From] = true, true
	}
	listed := len(w.Edges)
	for _, hub := range w.Tasks {
		first := hub.ID == simGridRoot && !needs[simGridRoot]
		if hub.Work == 0 || !first && (hub.ID != simGridEnd || needed[simGridEnd]) {
			continue
		}
		for _, x := range w.Tasks {
			switch {
			case x.ID == hub.ID:
			case first && !needs[x.ID]:
				w.Edges = append(w.Edges, model.DAGEdge{From: hub.ID, To: x.ID})
			case !first && !needed[x.ID]:
				w.Edges = append(w.Edges, model.DAGEdge{From: x.ID, To: hub.ID})
			}
		}
	}
	a.Assumed.Count(len(w.Edges)-listed, "dependencies on root, or of end, that SimGrid adds")
}

// tellOthers tells of attributes that aren't read.
func (r *dotReader) tellOthers(a *model.Account) {
	var all []string
	for k, names := range r.others {
		for _, x := range names {
			all = append(all, oneLine(x)+" of "+dotParts[k].name)
		}
	}
	if len(all) > 0 {
		a.NotModelled.Say("attributes of unknown meaning: %s", strings.Join(all, ", "))
	}
	a.Remarks.Count(r.alphas, "tasks with an alpha (the share that doesn't run in parallel), each on one machine")
}

// hint says how the user names the attribute of the nodes (0) or the edges (1).
func (r *dotReader) hint(part int) string {
	p := dotParts[part]
	if len(r.others[part]) == 0 {
		return fmt.Sprintf("name another attribute by --dot %s=NAME", p.key)
	}
	return oneLine(fmt.Sprintf("%s have %s: name it by --dot %s=%s", p.name, strings.Join(r.others[part], ", "), p.key, r.others[part][0]))
}

// size returns the value of the attribute that is read of a node (0) or an edge (1), and keeps the names of others; ok is
// false without one. An edge may have -1.
func (r *dotReader) size(part int, attrs []*ast.Attr) (value float64, ok bool, err error) {
	for _, a := range attrs {
		switch key := unquote(a.Key); {
		case key == r.names[part]:
		case key == "alpha" && part == 0:
			r.alphas++
			continue
		default:
			if !drawing[key] && !slices.Contains(r.others[part], key) {
				r.others[part] = append(r.others[part], key)
			}
			continue
		}
		if ok {
			return 0, true, fmt.Errorf("%s is there twice, give one", r.names[part])
		}
		ok = true
		value, err = strconv.ParseFloat(unquote(a.Val), 64)
		if bare := part == 1 && value == -1; err != nil || !(value >= 0) && !bare || math.IsInf(value, 1) {
			return 0, true, fmt.Errorf("%s is %s, must be a number from 0", r.names[part], oneLine(a.Val))
		}
	}
	return value, ok, nil
}

// drawing holds the attributes of Graphviz for nodes and edges, which change the drawing alone. Its weight isn't among
// them, as others give it a meaning.
var drawing = func() map[string]bool {
	all := map[string]bool{}
	for x := range strings.FieldsSeq(`URL arrowhead arrowsize arrowtail bb class color colorscheme comment constraint decorate dir
		distortion edgeURL edgehref edgetarget edgetooltip fillcolor fixedsize fontcolor fontname fontsize gradientangle group
		headURL head_lp headclip headhref headlabel headport headtarget headtooltip height href id image imagepos imagescale
		label labelURL labelangle labeldistance labelfloat labelfontcolor labelfontname labelfontsize labelhref labeljust labelloc
		labeltarget labeltooltip layer len lhead lp ltail margin minlen nojustify ordering orientation penwidth peripheries pin pos
		rank rects regular root samehead sametail samplepoints shape shapefile showboxes sides skew sortv style tailURL tail_lp
		tailclip tailhref taillabel tailport tailtarget tailtooltip target tooltip vertices width xlabel xlp z`) {
		all[x] = true
	}
	return all
}()

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
