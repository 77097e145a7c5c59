// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// wantError checks that err is about the input, on one line, and begins as wanted.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line that begins with %q", err, want)
	}
}

func TestReadDOT(t *testing.T) {
	ab := workflow{Tasks: []workTask{{ID: "a", Work: 1}, {ID: "b", Work: 2.5}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 3}}}
	for name, c := range map[string]struct {
		text string
		want workflow
	}{
		"daggen's header":   {"// DAG by a generator\n// 1 2 3\ndigraph G {\n  a [size=\"1\", alpha=\"0.2\"]\n  b [size=\"2.5\"]\n a -> b [size =\"3\"]\n}\n", ab},
		"edges first":       {"digraph { a -> b [size=3]; a [size=1]; b [size=2.5] }", ab},
		"subgraph":          {"strict digraph { subgraph s { a [size=1] } b [size=2.5] { a -> b [size=3] } }", ab},
		"a repeat":          {"digraph { a [size=1] b [size=2.5] a -> b [size=3] a -> b [size=3.0] }", ab},
		"graph attributes":  {"digraph { size=7; graph [size=8]; node [shape=box]; a [size=1] b [size=2.5] a -> b [size=3] }", ab},
		"quoted and ports":  {"digraph { \"a\" [size=1] b [size=2.5] a:n -> \"b\":x:s [size=3] }", ab},
		"the key quoted":    {`digraph { a ["size"=1] b ["size"="2.5"] a -> b [label=x,"size"=3] }`, ab},
		"no task":           {"digraph {}", workflow{}},
		"zero":              {"digraph { a [size=0] }", workflow{Tasks: []workTask{{ID: "a", Work: 0}}}},
		"a chain":           {"digraph { a [size=1] b [size=1] c [size=1] a -> b -> c [size=4] }", workflow{Tasks: []workTask{{ID: "a", Work: 1}, {ID: "b", Work: 1}, {ID: "c", Work: 1}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 4}, {From: "b", To: "c", Data: 4}}}},
		"both directions":   {"digraph { a [size=1] b [size=1] a -> b [size=4] b -> a [size=5] }", workflow{Tasks: []workTask{{ID: "a", Work: 1}, {ID: "b", Work: 1}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 4}, {From: "b", To: "a", Data: 5}}}},
		"quote in the name": {`digraph { "a \" b" [size=1] }`, workflow{Tasks: []workTask{{ID: `a " b`, Work: 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Same(t, "result", c.want, require.Value(readDOT(fileOf(c.text)))(t))
		})
	}
}

// The user names the attributes of other programs; what nobody names and doesn't draw is told.
func TestDOTAttributes(t *testing.T) {
	const text = "digraph {\n a [Weight=4, color=red, size=9]\n b [Weight=7, alpha=0.2]\n a -> b [Bytes=13, penwidth=2, Lag=1]\n}"
	f := fileOf(text)
	f.dot = "size=Weight,data=Bytes"
	require.Same(t, "graph", workflow{Tasks: []workTask{{ID: "a", Work: 4}, {ID: "b", Work: 7}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 13}}}, require.Value(readDOT(f))(t))
	require.Same(t, "account", []string{"x: test", "not modelled: attributes of unknown meaning: size of nodes, Lag of edges",
		"note: 1 task with an alpha (the share that doesn't run in parallel), each on one machine"}, f.account.Lines())
	for option, want := range map[string]string{"weight": `"weight", give size=NAME`, "size=": `"size=", give`, "size=a,edge=b": `"edge=b", give`} {
		f.dot = option
		require.Refused(t, option, require.Err(readDOT(f)), model.ErrInvalid, want)
	}
	require.Refused(t, "of an STG", require.Err(Read(write(t, "a.stg", smallSTG), Options{Platform: "bus", DOT: "size=x"})), model.ErrInvalid, "the file is none")
	in := require.Value(Read(write(t, "a.dot", text), Options{Platform: "bus", DOT: "size=Weight,data=Bytes"}))(t)
	require.Same(t, "data", 13.0, in.(*model.DAG).Edges[0].Data)
}

// SimGrid has dependencies without data, and tasks root and end in every graph: without work unless a line says it, and
// then before and behind all others.
func TestDOTOfSimGrid(t *testing.T) {
	const graph = "digraph {\n a [size=1]\n b [size=2]\n c [size=3]\n root -> a [size=5]\n a -> b [size=\"-1.\"]\n b -> end\n"
	task := func(id string, work float64) workTask { return workTask{ID: id, Work: work} }
	edge := func(from, to string, data float64) model.DAGEdge {
		return model.DAGEdge{From: from, To: to, Data: data}
	}
	edges := []model.DAGEdge{edge("root", "a", 5), edge("a", "b", 0), edge("b", "end", 0)}
	tasks := []workTask{task("a", 1), task("b", 2), task("c", 3)}
	bare := "2 edges of size -1 or none: dependencies without data"
	for name, c := range map[string]struct {
		text, option string
		want         workflow
		assumed      string
	}{
		"implicit": {graph + "}", "", workflow{Tasks: append(tasks, task("root", 0), task("end", 0)), Edges: edges},
			"2 tasks of SimGrid that edges alone name, without work (root, end); " + bare},
		"with work": {graph + "root [size=4]\n end [size=6]}", "", workflow{Tasks: append(tasks, task("root", 4), task("end", 6)),
			Edges: append(edges, edge("root", "c", 0), edge("c", "end", 0))}, bare + "; 2 dependencies on root, or of end, that SimGrid adds"},
		"with work, of another program": {graph + "root [size=4]\n end [size=6]}", "size=size",
			workflow{Tasks: append(tasks, task("root", 4), task("end", 6)), Edges: edges}, bare},
		"a root within": {graph + "root [size=4]\n end [size=6]\n c -> root [size=1]\n end -> d [size=1]\n d [size=1]}", "",
			workflow{Tasks: append(tasks, task("root", 4), task("end", 6), task("d", 1)), Edges: append(edges, edge("c", "root", 1), edge("end", "d", 1))}, bare},
	} {
		f := fileOf(c.text)
		f.dot = c.option
		require.Same(t, name, c.want, require.Value(readDOT(f))(t))
		require.Same(t, name, c.assumed, f.account.Assumed.String())
	}
	f := fileOf(graph + "}")
	f.dot = "size=size"
	require.Refused(t, "named by the user", require.Err(readDOT(f)), model.ErrInvalid, "names a task that isn't there: root")
}

func TestReadDOTErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":                  {"", "invalid DOT graph: line 1: expected one of strict"},
		"cut off":                {"digraph {\n a [size=\"1\n", "invalid DOT graph: line 2: "},
		"no operand":             {"digraph {\n a ->\n}\n", "invalid DOT graph: line 3: "},
		"binary":                 {"\x00\xff\xfe", "invalid DOT graph: "},
		"undirected":             {"graph { a [size=1] }", "invalid DOT graph: the graph has no directions"},
		"undirected edge":        {"digraph {\n a [size=1]\n b [size=1]\n a -- b [size=1]\n}", "invalid DOT graph: line 4: edge a -- b has no direction"},
		"two graphs":             {"digraph { a [size=1] } digraph { }", "invalid DOT graph: there are 2 graphs"},
		"node twice":             {"digraph {\n a [size=1]\n\n a [size=1]\n}", "invalid DOT graph: line 4: node a is there twice"},
		"node without size":      {"digraph {\n a [size=1]\n b [alpha=\"0.2\"]\n}", "invalid DOT graph: line 3: node b has no size"},
		"a name within a name":   {"digraph {\n 12 [size=1]\n 1\n}", "invalid DOT graph: line 3: node 1 has no size"},
		"node in a comment":      {"digraph {\n /* b\n b */ a [size=1] // b\n # b\n b\n}", "invalid DOT graph: line 5: node b has no size"},
		"node in an attribute":   {"digraph {\n a [size=1, label=b]\n b\n}", "invalid DOT graph: line 3: node b has no size"},
		"node in a port":         {"digraph {\n a [size=1] c [size=1]\n a -> c:b [size=1]\n b\n}", "invalid DOT graph: line 4: node b has no size"},
		"named like the graph":   {"digraph a\n{\n a\n}", "invalid DOT graph: line 3: node a has no size"},
		"named like a subgraph":  {"digraph {\n subgraph a {\n a } }", "invalid DOT graph: line 3: node a has no size"},
		"named like a value":     {"digraph {\n x=a\n a }", "invalid DOT graph: line 3: node a has no size"},
		"after a long string":    {"digraph {\n a [size=1, label=\"x\n\\\"y\n\"]\n b }", "invalid DOT graph: line 5: node b has no size"},
		"after HTML":             {"digraph {\n a [size=1, label=<x <b>\n</b>>]\n b }", "invalid DOT graph: line 4: node b has no size"},
		"a word as size":         {"digraph {\n a [size=big]\n}", "invalid DOT graph: line 2: node a: size is big, must be a number from 0"},
		"negative size":          {"digraph {\n a [size=-1]\n}", "invalid DOT graph: line 2: node a: size is -1"},
		"infinite size":          {"digraph {\n a [size=inf]\n}", "invalid DOT graph: line 2: node a: size is inf"},
		"not a number":           {"digraph {\n a [size=nan]\n}", "invalid DOT graph: line 2: node a: size is nan"},
		"a huge number":          {"digraph {\n a [size=\"1e999\"]\n}", "invalid DOT graph: line 2: node a: size is \"1e999\""},
		"two sizes":              {"digraph {\n a [size=1, size=2]\n}", "invalid DOT graph: line 2: node a: size is there twice"},
		"default size":           {"digraph {\n\n node [size=1]\n a }", "invalid DOT graph: line 3: there is a default size for every node"},
		"default size of edges":  {"digraph {\n EDGE [size=1]\n }", "invalid DOT graph: line 2: there is a default size for every edge"},
		"edge to nowhere":        {"digraph {\n a [size=1]\n a -> b [size=1]\n}", "invalid DOT graph: line 3: the edge a -> b names a task that isn't there: b"},
		"edge from nowhere":      {"digraph {\n a [size=1]\n\n b -> a [size=1]\n}", "invalid DOT graph: line 4: the edge b -> a names a task that isn't there: b"},
		"in the chain":           {"digraph {\n a [size=1] b [size=1]\n a -> b ->\n c [size=1]\n}", "invalid DOT graph: line 3: the edge b -> c names a task that isn't there: c"},
		"edge below 0":           {"digraph {\n a [size=1]\n b [size=1]\n a -> b [size=-2]\n}", "invalid DOT graph: line 4: edge a -> b: size is -2, must be a number from 0"},
		"other attributes":       {"digraph {\n a [Weight=1, label=x]\n b [Weight=1, Risk=2]\n a -> b [Bytes=1]\n}", "invalid DOT graph: line 2: node a has no size (its work); nodes have Weight, Risk: name it by --dot size=Weight; edges have Bytes: name it by --dot data=Bytes"},
		"drawn alone":            {"digraph {\n a [label=7]\n}", "invalid DOT graph: line 2: node a has no size (its work); name another attribute by --dot size=NAME"},
		"edge with a word":       {"digraph {\n a [size=1]\n b [size=1]\n a -> b [size=x]\n}", "invalid DOT graph: line 4: edge a -> b: size is x"},
		"loop":                   {"digraph {\n a [size=1]\n a -> a [size=1]\n}", "invalid DOT graph: line 3: task a needs itself"},
		"repeat of another size": {"digraph {\n a [size=1]\n b [size=1]\n a -> b [size=1]\n a -> b [size=2]\n}", "invalid DOT graph: line 5: the edge a -> b has the size 2, and 1 on line 4"},
		"edge of subgraphs":      {"digraph {\n a [size=1]\n {a} -> a [size=1]\n}", "invalid DOT graph: an edge joins subgraphs"},
		"deep":                   {"digraph " + strings.Repeat("{", 500) + strings.Repeat("}", 500), "invalid DOT graph: subgraphs nest deeper than 100"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readDOT(fileOf(c.text))
			wantError(t, err, c.want)
		})
	}
}

// A file is read back as the graph from which it was written, and a typo at any place is found on its line, whatever
// surrounds it.
func TestReadDOTRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t)
		noise := rapid.SampledFrom([]string{"", "\n", " // 1 -> 2\n", "# 3\n", "/* 1\n2 */", "\n\n", "subgraph t0 {\n}", "x=t1\n", "node [label=t0]\n"})
		slip := rapid.IntRange(-1, len(w.Tasks)-1).Draw(t, "slip")
		text, want := "digraph t0 {\n", 0
		for i, x := range w.Tasks {
			text += noise.Draw(t, "noise") + "\n"
			if i == slip {
				want = 1 + strings.Count(text, "\n")
				text += x.ID + " [label=\"size\n\"]\n"
				continue
			}
			text += fmt.Sprintf("%s [size=\"%v\"]\n", x.ID, x.Work)
		}
		for _, e := range w.Edges {
			text += noise.Draw(t, "noise") + "\n" + fmt.Sprintf("%s -> %s [size =\"%v\"]", e.From, e.To, e.Data)
		}
		got, err := readDOT(fileOf(text + "\n}"))
		if slip >= 0 {
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d: node %s has no size", want, w.Tasks[slip].ID)) {
				t.Fatalf("error %v, want one on line %d of\n%s", err, want, text)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		require.Same(t, "result", w, got)
	})
}

// drawWorkflow draws a small graph without cycles, tasks t0, t1, ... with edges
// to later tasks, in the order of their first task.
func drawWorkflow(t *rapid.T) workflow {
	var w workflow
	figure := rapid.Float64Range(0, 1e20)
	for i := range rapid.IntRange(0, 8).Draw(t, "tasks") {
		w.Tasks = append(w.Tasks, workTask{ID: fmt.Sprintf("t%d", i), Work: figure.Draw(t, "work")})
	}
	for a := range w.Tasks {
		for b := a + 1; b < len(w.Tasks); b++ {
			if rapid.Bool().Draw(t, "edge") {
				w.Edges = append(w.Edges, model.DAGEdge{From: w.Tasks[a].ID, To: w.Tasks[b].ID, Data: figure.Draw(t, "data")})
			}
		}
	}
	return w
}

// checkRead checks the promises of every reader for any input: an error of one line that wraps ErrInvalid, or a graph
// with distinct tasks and edges between them, each once. The graph can be placed, or its instance refuses it.
func checkRead(t *testing.T, w workflow, err error) {
	t.Helper()
	if err != nil {
		wantError(t, err, "invalid ")
		return
	}
	known := map[string]bool{}
	for _, x := range w.Tasks {
		if known[x.ID] || !(x.Work >= 0) {
			t.Fatalf("task %q is there twice or has the work %v", x.ID, x.Work)
		}
		known[x.ID] = true
	}
	seen := map[[2]string]bool{}
	for _, e := range w.Edges {
		p := [2]string{e.From, e.To}
		if !known[e.From] || !known[e.To] || seen[p] || !(e.Data >= 0) {
			t.Fatalf("edge %v joins unknown tasks, is there twice or has no data", e)
		}
		seen[p] = true
	}
	d, err := require.Value(ParsePlatform("paper,speed=1/2/4"))(t).place("fuzz", w)
	if err != nil {
		require.Refused(t, "error", err, model.ErrInvalid, "")
		return
	}
	if g := view.OfDAG(d); len(g.Order) != len(w.Tasks) {
		t.Errorf("%d tasks in order, want %d", len(g.Order), len(w.Tasks))
	}
}

func FuzzReadDOT(f *testing.F) {
	for _, s := range []string{
		"digraph G {\n  1 [size=\"8\", alpha=\"0.1\"]\n  2 [size=\"6\"]\n  1 -> 2 [size =\"16\"]\n}\n",
		"strict digraph { a:n -> b -> c [size=1]; subgraph s { a [size=1] } /* x */ b [size=2] c [size=3] # y\n}",
		"digraph { root -> a [size=-1]; a [size=1, alpha=.1, Weight=2]; b [size=1]; end [size=2] }",
		"digraph { \"a\\\"\" [size=.5] -1.5 [size=1, label=<x<y>>] node [shape=box]; x=y }", "graph { a -- b }", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := readDOT(fileOf(string(text)))
		checkRead(t, w, err)
	})
}
