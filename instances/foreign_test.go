// SPDX-License-Identifier: MIT

package instances

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const (
	goodDOT = "digraph G {\n  1 [size=\"8\", alpha=\"0.1\"]\n  2 [size=\"6\"]\n  1 -> 2 [size =\"16\"]\n  1 -> 2 [size =\"16\"]\n}\n"
	goodSTG = "2\n0 0 0\n1 5 1 0\n2 7 1 0 # the last\n3 0 2 1 2\n# end\n"
	goodWf5 = `{"schemaVersion":"1.5","workflow":{"specification":{"tasks":[
{"id":"a","parents":[],"children":["b"],"inputFiles":[],"outputFiles":["x","y"]},
{"id":"b","parents":["a"],"children":[],"inputFiles":["x","y","z"],"outputFiles":[]}],
"files":[{"id":"x","sizeInBytes":10},{"id":"y","sizeInBytes":5},{"id":"z","sizeInBytes":7}]},
"execution":{"tasks":[{"id":"a","runtimeInSeconds":2},{"id":"b","runtimeInSeconds":0}]}}}`
	goodWf3 = `{"schemaVersion":"1.3","workflow":{"tasks":[
{"name":"a","parents":[],"children":["b"],"runtime":2,"files":[{"name":"x","link":"output","size":15}]},
{"name":"b","parents":["a"],"children":[],"runtime":0,"files":[{"name":"x","link":"input","size":15}]}]}}`
)

func TestForeignFormats(t *testing.T) {
	two := func(a, b string, wa, wb, bytes float64) Workflow {
		return Workflow{Tasks: []workTask{{a, wa}, {b, wb}}, Edges: []model.DAGEdge{{From: a, To: b, Data: bytes}}}
	}
	measured := func(w Workflow) Workflow { w.Measured = true; return w }
	stg := Workflow{Tasks: []workTask{{"0", 0}, {"1", 5}, {"2", 7}, {"3", 0}},
		Edges: []model.DAGEdge{{From: "0", To: "1"}, {From: "0", To: "2"}, {From: "1", To: "3"}, {From: "2", To: "3"}}}
	for name, c := range map[string]struct {
		text string
		read func([]byte) (Workflow, error)
		want Workflow
	}{
		"dot":     {goodDOT, readDOT, two("1", "2", 8, 6, 16)},
		"stg":     {goodSTG, ReadSTG, stg},
		"wf 1.5":  {goodWf5, readWfFormat, measured(two("a", "b", 2, 0, 15))},
		"wf 1.3":  {goodWf3, readWfFormat, measured(two("a", "b", 2, 0, 15))},
		"wf jobs": {strings.Replace(goodWf3, `"tasks"`, `"jobs"`, 1), readWfFormat, measured(two("a", "b", 2, 0, 15))},
		"wf 1.4":  {strings.NewReplacer(`"runtime"`, `"runtimeInSeconds"`, `"size"`, `"sizeInBytes"`).Replace(goodWf3), readWfFormat, measured(two("a", "b", 2, 0, 15))},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.read([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForeignErrors(t *testing.T) {
	for name, c := range map[string]struct {
		good, old, new string
		read           func([]byte) (Workflow, error)
		want           string
	}{
		"dot no size":      {goodDOT, `2 [size="6"]`, `2`, readDOT, "line 3: node 2 has no size"},
		"dot bad size":     {goodDOT, `size="6"`, `size="six"`, readDOT, "line 3: node 2: size is"},
		"dot unknown task": {goodDOT, "1 -> 2", "1 -> 9", readDOT, "line 4: the edge 1 -> 9 names a task that isn't there: 9"},
		"dot undirected":   {strings.ReplaceAll(goodDOT, "->", "--"), "digraph", "graph", readDOT, "must be a digraph"},
		"dot twice":        {goodDOT, "2 [", "1 [", readDOT, "node 1 is there twice"},
		"dot not at all":   {goodDOT, "digraph", "grph", readDOT, "DOT"},
		"stg count":        {goodSTG, "1 5 1 0", "1 5 2 0", ReadSTG, "line 3: task 1 says it has 2 predecessors and lists 1"},
		"stg unknown":      {goodSTG, "2 1 2", "2 1 9", ReadSTG, "line 5: task 3 can't have the predecessor 9"},
		"stg order":        {goodSTG, "2 7", "4 7", ReadSTG, "line 4: task 4, must be 2"},
		"stg word":         {goodSTG, "1 5 1 0", "1 x 1 0", ReadSTG, `line 3: "x" must be a whole number`},
		"stg short":        {goodSTG, "2\n", "900000000\n", ReadSTG, "the file ends after 4 of 900000002 tasks"},
		"stg long":         {goodSTG, "2\n", "1\n", ReadSTG, "line 5: there are more than the 1 tasks"},
		"wf dangling":      {goodWf5, `"children":["b"]`, `"children":["c"]`, readWfFormat, `task "a" has the child "c", there is no such task`},
		"wf disagree":      {goodWf5, `"parents":["a"]`, `"parents":[]`, readWfFormat, `task "a" has the child "b", which doesn't have it as a parent`},
		"wf no runtime":    {goodWf5, `,{"id":"b","runtimeInSeconds":0}`, ``, readWfFormat, `task "b" has no run time`},
		"wf negative":      {goodWf5, `"runtimeInSeconds":2`, `"runtimeInSeconds":-2`, readWfFormat, `task "a" has the run time -2`},
		"wf twice":         {goodWf5, `"id":"b","parents"`, `"id":"a","parents"`, readWfFormat, `the task id "a" is empty or there twice`},
		"wf no size":       {goodWf5, `{"id":"x","sizeInBytes":10},`, ``, readWfFormat, `the file "x" that task "a" writes has no size`},
		"wf nothing":       {goodWf5, `"specification"`, `"spec"`, readWfFormat, "there is no workflow.specification"},
		"wf link":          {goodWf3, `"link":"input"`, `"link":"inout"`, readWfFormat, `has the link "inout"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(c.good, c.old, c.new, 1)
			if text == c.good {
				t.Fatal("nothing replaced")
			}
			_, err := c.read([]byte(text))
			if !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestPlatforms(t *testing.T) {
	for spec, want := range map[string]struct{ machines, links, routes int }{
		"paper": {3, 1, 2}, "paper-two-pools": {3, 2, 4}, "uniform": {4, 0, 0}, "bus,machines=5": {5, 1, 10}, "star,machines=3,speed=1/2,bandwidth=3,startup=0.5": {3, 6, 6},
	} {
		p, err := ParsePlatform(spec)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Machines) != want.machines || len(p.Network.Links) != want.links || len(p.Network.Routes) != want.routes {
			t.Errorf("%s: %d machines, %d links, %d routes, want %v", spec, len(p.Machines), len(p.Network.Links), len(p.Network.Routes), want)
		}
		if d, err := p.Place("x", Workflow{Tasks: []workTask{{"a", 1}, {"b", 2}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 3}}}); err != nil || d.Cost(1, 0) != 2 {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for spec, want := range map[string]string{
		"nowhere": "there is no such file or preset, give one of paper", "bus,machines=0": "must be from 1 to 10000", "bus,speed=0": "above 0",
		"bus,color=red": `no key "color"`, "paper,machines=4": "it has three machines", "star,bandwidth=x": "must be a number", "uniform,startup=-1": "at least 0",
	} {
		if _, err := ParsePlatform(spec); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", spec, err, want)
		}
	}
}

// Every trace is read; tasks and edges are as the data set's table has them.
func TestWfInstances(t *testing.T) {
	table, err := os.ReadFile(require.Data(t, "wfinstances", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]bool{}
	for _, m := range regexp.MustCompile(`\| (\d+) \| (\d+) `).FindAllStringSubmatch(string(table), -1) {
		counts[m[1]+"/"+m[2]] = true
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(require.Data(t, "wfinstances", "README.md")), "*.json.gz"))
	if err != nil || len(files) != 24 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		in, err := LoadOn(f, "star,machines=4,bandwidth=1e8")
		if err != nil {
			t.Fatal(err)
		}
		d := in.(*model.DAG)
		if key := strconv.Itoa(len(d.Tasks)) + "/" + strconv.Itoa(len(d.Edges)); !counts[key] {
			t.Errorf("%s: tasks/edges %s aren't in the table", f, key)
		}
	}
}

// Every STG graph is read; the longest path is as its comment says.
func TestSTGSet(t *testing.T) {
	file, err := os.Open(require.Data(t, "stg", "stg-rand.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for archive := tar.NewReader(z); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(head.Name, ".stg") {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		w, err := ReadSTG(text)
		if err != nil {
			t.Fatalf("%s: %v", head.Name, err)
		}
		read++
		end, longest := map[string]float64{}, 0.0
		into := map[string][]string{}
		for _, e := range w.Edges {
			into[e.To] = append(into[e.To], e.From)
		}
		for _, x := range w.Tasks { // predecessors have lower numbers
			for _, p := range into[x.ID] {
				end[x.ID] = max(end[x.ID], end[p])
			}
			end[x.ID] += x.Work
			longest = max(longest, end[x.ID])
		}
		m := regexp.MustCompile(`(?i)CP[ _]?Length[^0-9]*(\d+)`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s: no critical path in the comments", head.Name)
		}
		if want, _ := strconv.ParseFloat(string(m[1]), 64); longest != want {
			t.Errorf("%s: the longest path is %v, want %v", head.Name, longest, want)
		}
	}
	if read != 180 {
		t.Errorf("%d graphs, want 180", read)
	}
}

func TestDaggen(t *testing.T) {
	all, err := loadDaggen(require.Data(t, "dags", "daggen-1296.jsonl.gz"))
	if err != nil || len(all) != 1296 {
		t.Fatalf("%d graphs, %v", len(all), err)
	}
	for name, text := range map[string]string{"backwards": `{"id":"x","n":2,"edges":[[1,0,5]]}`, "outside": `{"id":"x","n":2,"edges":[[0,2,5]]}`, "no JSON": `{`} {
		if _, err := readDaggen([]byte("\n" + text)); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The graphs that are drawn are those that daggen wrote.
func TestDaggenDrawn(t *testing.T) {
	read, err := loadDaggen(require.Data(t, "dags", "daggen-1296.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := loadDaggen(drawnDaggen)
	if err != nil {
		t.Fatal(err)
	}
	for k := range read {
		read[k].ID = ""
	}
	if len(read) != len(drawn) {
		t.Fatalf("%d graphs were read, %d are drawn", len(read), len(drawn))
	}
	for k := range read {
		if !reflect.DeepEqual(read[k], drawn[k]) {
			t.Fatalf("graph %d: -read +drawn: %s", k, cmp.Diff(read[k], drawn[k]))
		}
	}
}

// The generator's graphs have the shape that the recipe asks for.
func TestDAGSpec(t *testing.T) {
	for _, s := range []DAGSpec{
		{Tasks: 50, Fat: 0.8, Density: 0.8, Regular: 0.2, Jump: 4, MaxCost: 30, MaxData: 10, Machines: 3, Platform: "paper", Seed: 1},
		{Tasks: 20, Fat: 0.1, Density: 0.2, Regular: 0.8, Jump: 1, MaxCost: 5, Machines: 2, Platform: "uniform", Seed: 2},
		{Tasks: 0, Fat: 0.5, Jump: 1, MaxCost: 5, Machines: 1, Platform: "bus"},
	} {
		d, err := s.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Tasks) != s.Tasks || d.Name != s.name() {
			t.Errorf("%d tasks, want %d", len(d.Tasks), s.Tasks)
		}
		if s.Fat == 0.1 && len(d.Edges) != s.Tasks-1 {
			t.Errorf("a chain of %d tasks has %d edges", s.Tasks, len(d.Edges))
		}
		again, _ := s.Generate()
		if diff := cmp.Diff(d, again); diff != "" {
			t.Error(diff)
		}
		fair := s
		fair.Transfer = model.TransferFair
		other, _ := fair.Generate()
		if diff := cmp.Diff(d.Tasks, other.Tasks); diff != "" {
			t.Errorf("another transfer model draws other tasks: %s", diff)
		}
	}
	for want, s := range map[string]DAGSpec{
		"fat":      {Tasks: 3, Jump: 1, MaxCost: 1, Machines: 1, Platform: "bus"},
		"jump":     {Tasks: 3, Fat: 1, MaxCost: 1, Machines: 1, Platform: "bus"},
		"machines": {Tasks: 3, Fat: 1, Jump: 1, MaxCost: 1, Platform: "bus"},
		"platform": {Tasks: 3, Fat: 1, Jump: 1, MaxCost: 1, Machines: 1, Platform: "moon"},
	} {
		if _, err := s.Generate(); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

func FuzzReaders(f *testing.F) {
	for _, s := range []string{goodDOT, goodSTG, goodWf5, goodWf3, "paper,speed=2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("\n")) > 1000 {
			return
		}
		for _, read := range []func([]byte) (Workflow, error){readDOT, ReadSTG, readWfFormat, readSAGA} {
			w, err := read(text)
			if err != nil && !errors.Is(err, model.ErrInvalid) {
				t.Errorf("error %v", err)
			}
			if err == nil {
				p, _ := ParsePlatform("paper")
				if d, err := p.Place("x", w); err == nil {
					view.OfDAG(d)
				} else if !errors.Is(err, model.ErrInvalid) {
					t.Errorf("error %v", err)
				}
			}
		}
		_, _ = readDaggen(text)
	})
}

func FuzzPlatform(f *testing.F) {
	f.Add("star,machines=3,speed=1/2,bandwidth=3,startup=0.5")
	f.Fuzz(func(t *testing.T, spec string) {
		if p, err := ParsePlatform(spec); err == nil && len(p.Machines) < 50 {
			if _, err := p.Place("x", Workflow{Tasks: []workTask{{"a", 1}}}); err != nil && !errors.Is(err, model.ErrInvalid) {
				t.Errorf("error %v", err)
			}
		}
	})
}
