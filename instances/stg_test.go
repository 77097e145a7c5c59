// SPDX-License-Identifier: MIT

package instances

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestReadSTG(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want workflow
	}{
		"comments and white space": {"# a graph\r\n\n  1 # one task\r\n 0\t0 0\n\n1 7 1 0 # work\n2 0 1 1", workflow{
			Tasks: []workTask{{ID: "0", Work: 0}, {ID: "1", Work: 7}, {ID: "2", Work: 0}}, Edges: []model.DAGEdge{{From: "0", To: "1"}, {From: "1", To: "2"}}}},
		"dummies alone": {"0\n0 0 0\n1 0 1 0\n", workflow{Tasks: []workTask{{ID: "0", Work: 0}, {ID: "1", Work: 0}}, Edges: []model.DAGEdge{{From: "0", To: "1"}}}},
		"numbers in disguise": {"01\n000 0 0\n+1 007 01 00\n02 0 0", workflow{
			Tasks: []workTask{{ID: "0", Work: 0}, {ID: "1", Work: 7}, {ID: "2", Work: 0}}, Edges: []model.DAGEdge{{From: "0", To: "1"}}}},
		"later predecessors": {"2\n0 0 0\n1 5 1 2\n2 6 1 0\n3 0 1 1", workflow{
			Tasks: []workTask{{ID: "0", Work: 0}, {ID: "1", Work: 5}, {ID: "2", Work: 6}, {ID: "3", Work: 0}}, Edges: []model.DAGEdge{{From: "2", To: "1"}, {From: "0", To: "2"}, {From: "1", To: "3"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Same(t, "result", c.want, require.Value(readSTG(fileOf(c.text)))(t))
		})
	}
}

func TestReadSTGErrors(t *testing.T) {
	const start = "# one\n1\n0 0 0\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", "line 1: there is no number of tasks"},
		"comments alone":      {"# a\n# b\n", "line 2: there is no number of tasks"},
		"two numbers":         {"\n1 2\n", "line 2: it must hold the number of tasks alone, it has 2 numbers"},
		"negative":            {"-1\n", `line 1: "-1" must be a whole number from 0`},
		"a fraction":          {start + "1 2.5 0\n", `line 4: "2.5" must be a whole number from 0`},
		"too large to count":  {"99999999999999999999\n", `line 1: "99999999999999999999" must be a whole number`},
		"overflows":           {"9223372036854775807\n0 0 0\n", "line 1: the number of tasks is 9223372036854775807, must be at most"},
		"a lying header":      {"1000000000\n0 0 0\n", "line 2: the file ends after 1 of 1000000002 tasks"},
		"too many tasks":      {start + "1 1 0\n2 0 0\n3 0 0\n", "line 6: there are more than the 1 tasks"},
		"short line":          {start + "1 1\n", "line 4: it has 2 numbers, must have 3 at least"},
		"out of order":        {start + "2 0 0\n", "line 4: task 2, must be 1"},
		"lying count":         {start + "1 1 2000000000 0\n", "line 4: task 1 says it has 2000000000 predecessors and lists 1"},
		"a long time":         {start + "1 9007199254740993 0\n2 0 0\n", "line 4: task 1 has the time 9007199254740993, must be at most 9007199254740992"},
		"the entry works":     {"# one\n1\n0 3 0\n1 1 0\n2 0 0", "line 3: task 0 is a dummy and has the time 3"},
		"the exit works":      {start + "1 1 0\n2 4 1 1 # end", "line 5: task 2 is a dummy and has the time 4"},
		"unknown predecessor": {start + "1 1 1 3\n2 0 0", "line 4: task 1 can't have the predecessor 3: the last task is 2"},
		"needs itself":        {start + "1 1 1 1\n2 0 0", "line 4: task 1 can't have the predecessor 1: it needs itself"},
		"listed twice":        {start + "1 1 2 0 0\n2 0 0", "line 4: task 1 can't have the predecessor 0: it is there twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSTG(fileOf(c.text))
			wantError(t, err, "invalid STG graph: "+c.want)
		})
	}
}

// A cycle is for the instance to find, which names its tasks.
func TestSTGCycle(t *testing.T) {
	w := require.Value(readSTG(fileOf("2\n0 0 0\n1 5 1 2\n2 6 1 1\n3 0 0")))(t)
	_, err := Platform{Machines: []model.Machine{{ID: "m", Speed: 1}}}.place("x", w)
	wantError(t, err, "invalid dag instance: the edges make a cycle: 1 -> 2 -> 1")
}

func TestReadSTGRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "tasks")
		text := fmt.Sprintln(n)
		var want workflow
		for i := range n + 2 {
			work := 0
			if i > 0 && i <= n {
				work = rapid.IntRange(0, maxSTGTime).Draw(t, "work")
			}
			want.Tasks = append(want.Tasks, workTask{ID: strconv.Itoa(i), Work: float64(work)})
			var list strings.Builder
			count := 0
			for p := range i {
				if rapid.Bool().Draw(t, "edge") {
					count++
					fmt.Fprintf(&list, " %d", p)
					want.Edges = append(want.Edges, model.DAGEdge{From: strconv.Itoa(p), To: strconv.Itoa(i)})
				}
			}
			text += fmt.Sprintf("%10d %d\t%d%s\n", i, work, count, list.String())
		}
		require.Same(t, "result", want, require.Value(readSTG(fileOf(text)))(t))
	})
}

// Tasks, edges and path lengths of the 180 graphs are as their comments say.
func TestSTGComments(t *testing.T) {
	file := require.Value(os.ReadFile(require.Data(t, "stg", "stg-rand.tar.gz")))(t)
	z := require.Value(gzip.NewReader(bytes.NewReader(file)))(t)
	figures := map[string]*regexp.Regexp{
		"tasks": regexp.MustCompile(`#\s+Tasks\s+: (\d+) \(\+dummy tasks : (\d+)\)`),
		"edges": regexp.MustCompile(`#\s+Edges\s+: (\d+) / \d+ \(\+dummy edges : (\d+)\)`),
		"path":  regexp.MustCompile(`#\s+CP Length\s+: (\d+)()`),
	}
	one := Platform{Machines: []model.Machine{{ID: "m", Speed: 1}}}
	read := 0
	for archive := tar.NewReader(z); ; read++ {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text := require.Value(io.ReadAll(archive))(t)
		want := map[string]int{}
		for name, re := range figures {
			m := re.FindSubmatch(text)
			if m == nil {
				t.Fatalf("%s: no comment tells the %s", head.Name, name)
			}
			a, _ := strconv.Atoi(string(m[1]))
			b, _ := strconv.Atoi(string(m[2]))
			want[name] = a + b
		}
		w, err := readSTG(fileOf(string(text)))
		if err != nil {
			t.Fatalf("%s: %v", head.Name, err)
		}
		d, err := one.place(head.Name, w)
		if err != nil {
			t.Fatalf("%s: %v", head.Name, err)
		}
		g := view.OfDAG(d)
		ends, path := make([]float64, g.Tasks), 0.0
		for _, k := range g.Order {
			for _, e := range g.Pred(k) {
				ends[k] = max(ends[k], ends[g.From[e]])
			}
			ends[k] += g.Cost[k]
			path = max(path, ends[k])
		}
		require.Same(t, head.Name, want,
			map[string]int{"tasks": len(w.Tasks), "edges": len(w.Edges), "path": int(path)})
	}
	require.Same(t, "graphs", 180, read)
}

func FuzzReadSTG(f *testing.F) {
	for _, s := range []string{"1\n0 0 0\n1 5 1 0\n2 0 1 1\n# end\n", "# x\n0\n0 0 0\n1 0 1 0", "9223372036854775807\n", "2\n0 0 0\n1 5 1 2\n2 6 1 1\n3 0 0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := readSTG(fileOf(string(text)))
		checkRead(t, w, err)
	})
}
