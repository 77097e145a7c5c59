// SPDX-License-Identifier: MIT

package instances

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// One workflow as the workflow generator writes it (DAX 2.1), and as Pegasus' libraries do (DAX 3.6).
const (
	dax2 = `<?xml version="1.0" encoding="ISO-8859-1"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="three" jobCount="3" fileCount="0" childCount="2">
  <job id="s" namespace="n" name="Scan" version="1.0" runtime="35"><uses file="in" link="input" size="1000"/><uses file="a" link="output" size="2000"/></job>
  <job id="t" name="Turn" runtime="66.5"><uses file="a" link="input" size="2000"/><uses file="b" link="output" size="3000"/></job>
  <job id="u" name="Unite" runtime="129"><uses file="b" link="input" size="3000"/><uses file="log" link="none"/></job>
  <child ref="t"><parent ref="s"/></child>
  <child ref="u"><parent ref="t"/><parent ref="s"/></child>
</adag>`
	dax3 = `<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="3.6" name="three">
  <file name="in"><metadata key="size">1000</metadata><pfn url="file:///in" site="local"/></file>
  <executable name="scan"><pfn url="file:///scan" site="x"/><profile namespace="env" key="runtime">no</profile></executable>
  <transformation name="scan"><uses name="lib" executable="true"/></transformation>
  <job id="s" name="Scan"><argument>-i <file name="in"/></argument><profile namespace="pegasus" key="runtime">35</profile>
    <stdin name="in"/><stdout name="a"/><uses name="in" link="input" size="1000"/><uses name="a" link="output" sizeInBytes="2000"/></job>
  <job id="t" name="Turn" runtime="66.5"><profile namespace="pegasus" key="cores">4</profile><profile namespace="pegasus" key="memory">9 GB</profile>
    <profile key="runtime">1</profile><uses name="a" link="input"/><uses name="b" link="inout" size="3000"/></job>
  <job id="u" name="Unite" runtime="129"><uses name="b" link="input" size="3000"/><uses name="c" link="checkpoint"/><retry n="2"><deep/></retry></job>
  <child ref="u"><parent ref="s"/></child>
</adag>`
)

func TestReadDAX(t *testing.T) {
	want := workflow{Measured: true, Tasks: []workTask{{ID: "s", Work: 35}, {ID: "t", Work: 66.5}, {ID: "u", Work: 129}},
		Edges: []model.DAGEdge{{From: "s", To: "t", Data: 2000}, {From: "t", To: "u", Data: 3000}, {From: "s", To: "u"}}}
	f := fileOf(dax2)
	require.Same(t, "DAX 2", want, require.Value(readDAX(f))(t))
	require.Same(t, "account", []string{"x: DAX 2.1", "not modelled: 1 kB of inputs that no task writes, in 1 files"}, f.account.Lines())
	want.Tasks[1].Cores, want.Tasks[1].Memory = 4, 9e9
	want.Edges = []model.DAGEdge{want.Edges[2], want.Edges[0], want.Edges[1]}
	f = fileOf(dax3)
	require.Same(t, "DAX 3", want, require.Value(readDAX(f))(t))
	require.Same(t, "account", []string{"x: DAX 3.6", "not modelled: 1 task with a checkpoint (u); elements of unknown meaning: retry; " +
		"1 kB of inputs that no task writes, in 1 files",
		"note: 2 edges by files alone, of tasks that no list relates (s->t, t->u)"}, f.account.Lines())
	in := require.Value(Read(write(t, "three.xml", dax2), Options{Platform: "bus"}))(t)
	require.Same(t, "edges", 3, len(in.(*model.DAG).Edges))
}

func TestReadDAXErrors(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no run time":          {` runtime="129"`, ``, `task "u" has no run time`},
		"a word as run time":   {`runtime="129"`, `runtime="long"`, `line 5: runtime is "long", must be a number`},
		"below 0":              {`runtime="129"`, `runtime="-1"`, `task "u" has the run time -1`},
		"an unknown parent":    {`parent ref="t"`, `parent ref="x"`, `task "u" has the parent "x", there is no such task`},
		"an unknown child":     {`child ref="t"`, `child ref="x"`, `there is a child "x", and no such job`},
		"a parent of nobody":   {`<child ref="t">`, `<child>`, `line 6: there is a parent outside a child`},
		"a job twice":          {`id="u"`, `id="t"`, `the task id "t" is empty or there twice`},
		"an unknown link":      {`link="none"`, `link="maybe"`, `line 5: task "u": file "log" has the link "maybe"`},
		"a file of two sizes":  {`<uses file="log" link="none"/>`, `<uses file="b" link="input" size="1"/>`, `line 5: task "u": file "b" has the sizes 3000 and 1, give one`},
		"a file outside a job": {`<child ref="t">`, `<uses file="b" link="input"/><child ref="t">`, `line 6: the element uses stands outside a job`},
		"a size in words":      {`size="1000"`, `size="1 kB"`, `line 3: size is "1 kB", must be a number`},
		"cut off":              {`</adag>`, ``, `line 8: unexpected EOF`},
		"an end without begin": {`</adag>`, `</job>`, `line 8: element <adag> closed by </job>`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(dax2, c.old, c.new, 1)
			require.Refused(t, "error", require.Err(readDAX(fileOf(text))), model.ErrInvalid, "invalid workflow: "+c.want)
		})
	}
	require.Refused(t, "of no job", require.Err(readDAX(fileOf("<adag/>"))), model.ErrInvalid, "there is no job")
}

func FuzzReadDAX(f *testing.F) {
	for _, s := range []string{dax2, dax3, "<adag/>", "<adag><job id='a' runtime='1'><uses/></job></adag>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := readDAX(fileOf(string(text)))
		checkRead(t, w, err)
	})
}
