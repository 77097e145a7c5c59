// SPDX-License-Identifier: MIT

package instances

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Three tasks a -> b, a -> c, b -> c; x goes to both, y to c, the input in.
const (
	threeWf5 = `{"name":"three","schemaVersion":"1.5","workflow":{"specification":{"tasks":[
{"name":"A","id":"a","parents":[],"children":["b","c"],"inputFiles":["in"],"outputFiles":["x"]},
{"name":"B","id":"b","parents":["a"],"children":["c"],"inputFiles":["x"],"outputFiles":["y"]},
{"name":"C","id":"c","parents":["a","b"],"children":[],"inputFiles":["y","x","x"]}],
"files":[{"id":"in","sizeInBytes":1},{"id":"x","sizeInBytes":20},{"id":"y","sizeInBytes":300}]},
"execution":{"makespanInSeconds":9,"tasks":[{"id":"c","runtimeInSeconds":3},{"id":"a","runtimeInSeconds":1.5},{"id":"b","runtimeInSeconds":0}]}}}`
	threeWf3 = `{"name":"three","schemaVersion":"1.3","workflow":{"tasks":[
{"name":"A","id":"a","parents":[],"children":["B","C"],"runtime":1.5,"files":[{"name":"in","link":"input","size":1},{"name":"x","link":"output","size":20}]},
{"name":"B","id":"b","parents":["A"],"children":["C"],"runtime":0,"files":[{"name":"x","link":"input","size":20},{"name":"y","link":"output","size":300}]},
{"name":"C","id":"c","parents":["A","B"],"children":[],"runtime":3,"files":[{"name":"y","link":"input","size":300},{"name":"x","link":"input","size":20}]}]}}`
)

var threeWf4 = strings.NewReplacer(`"1.3"`, `"1.4"`, `"size"`, `"sizeInBytes"`, `"runtime"`, `"runtimeInSeconds"`).Replace(threeWf3)

func TestReadWfFormat(t *testing.T) {
	tasks := []workTask{{ID: "a", Work: 1.5}, {ID: "b", Work: 0}, {ID: "c", Work: 3}}
	edges := func(ab, ac, bc float64) []model.DAGEdge {
		return []model.DAGEdge{{From: "a", To: "b", Data: ab}, {From: "a", To: "c", Data: ac}, {From: "b", To: "c", Data: bc}}
	}
	for name, c := range map[string]struct {
		text, old, new string // the text with all of old replaced
		want           []model.DAGEdge
	}{
		"1.3":                     {threeWf3, "", "", edges(20, 20, 300)},
		"1.3 with jobs":           {threeWf3, `"tasks"`, `"jobs"`, edges(20, 20, 300)},
		"1.3 by ids":              {strings.NewReplacer(`["B","C"]`, `["b","c"]`, `["A","B"]`, `["a","b"]`).Replace(threeWf3), `["C"]`, `["c"]`, edges(20, 20, 300)},
		"1.4":                     {threeWf4, "", "", edges(20, 20, 300)},
		"1.5":                     {threeWf5, "", "", edges(20, 20, 300)},
		"no files shared":         {threeWf5, `"outputFiles":["x"]`, `"outputFiles":[]`, edges(0, 0, 300)},
		"no children anywhere":    {strings.NewReplacer(`,"children":["B","C"]`, "", `,"children":["C"]`, "").Replace(threeWf3), `,"children":[]`, "", edges(20, 20, 300)},
		"no parents anywhere":     {strings.NewReplacer(`"parents":["A"],`, "", `"parents":["A","B"],`, "").Replace(threeWf3), `"parents":[],`, "", edges(20, 20, 300)},
		"size at the reader only": {threeWf3, `"link":"output","size":20`, `"link":"output"`, edges(20, 20, 300)},
		"size at the writer only": {threeWf3, `"link":"input","size":20`, `"link":"input"`, edges(20, 20, 300)},
		"the writer's size":       {threeWf3, `"link":"output","size":20`, `"link":"output","size":21`, edges(21, 21, 300)},
		"files of other folders":  {threeWf3, `"name":"y","link":"output"`, `"path":"/tmp/","name":"y","link":"output"`, edges(20, 20, 300)},
		"1.6":                     {threeWf5, `"1.5"`, `"1.6"`, edges(20, 20, 300)},
		"only parents know":       {threeWf5, `"children":["b","c"]`, `"children":["c"]`, []model.DAGEdge{edges(20, 20, 300)[1], edges(20, 20, 300)[2], edges(20, 20, 300)[0]}},
		"only children know":      {threeWf5, `"parents":["a"]`, `"parents":[]`, edges(20, 20, 300)},
		"ran twice":               {threeWf5, `{"id":"c","runtimeInSeconds":3}`, `{"id":"c","runtimeInSeconds":7},{"id":"c","runtimeInSeconds":3}`, edges(20, 20, 300)},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(c.text, c.old, c.new)
			if c.old != "" && text == c.text {
				t.Fatalf("there is no %s to replace", c.old)
			}
			got := require.Value(readWfFormat(fileOf(text)))(t)
			require.Same(t, "result", workflow{Tasks: tasks, Edges: c.want, Measured: true}, got)
		})
	}
}

func TestReadWfFormatErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, old, new, want string }{
		"no JSON":                 {threeWf5, `"in","sizeInBytes":1`, `"in",`, "invalid JSON: line 5: invalid character"},
		"a word":                  {threeWf5, `"runtimeInSeconds":1.5`, `"runtimeInSeconds":"long"`, `invalid JSON: line 6: workflow.execution.tasks[1].runtimeInSeconds: a number is wanted, "long" is a string`},
		"no version":              {threeWf5, `"schemaVersion":"1.5",`, ``, "schemaVersion is missing"},
		"an old version":          {threeWf3, `"1.3"`, `"1.2"`, `schemaVersion is "1.2", must be 1.3, 1.4, 1.5 or 1.6`},
		"a new version":           {threeWf5, `"1.5"`, `"2.0"`, `schemaVersion is "2.0"`},
		"another version's shape": {threeWf3, `"1.3"`, `"1.5"`, "there is no workflow.specification"},
		"no tasks":                {threeWf3, `"tasks"`, `"task"`, "there is no workflow.tasks"},
		"no execution":            {threeWf5, `"execution"`, `"ran"`, "there is no workflow.execution"},
		"tasks and jobs":          {threeWf3, `"workflow":{`, `"workflow":{"jobs":[],`, "there are workflow.tasks and workflow.jobs"},
		"an id twice":             {threeWf5, `"id":"b","parents"`, `"id":"a","parents"`, `the task id "a" is empty or there twice`},
		"an id twice in 1.4":      {threeWf4, `"id":"b"`, `"id":"a"`, `the task id "a" is empty or there twice`},
		"no id":                   {threeWf5, `"id":"b","parents"`, `"id":"","parents"`, `the task id "" is empty`},
		"ran and isn't there":     {threeWf5, `{"id":"c","runtimeInSeconds":3}`, `{"id":"d","runtimeInSeconds":3}`, `workflow.execution: there is no task "d"`},
		"never ran":               {threeWf5, `{"id":"c","runtimeInSeconds":3},`, ``, `task "c" has no run time`},
		"no runtime":              {threeWf3, `"runtime":3,`, ``, `task "c" has no run time`},
		"runtime elsewhere":       {threeWf5, `"id":"c","runtimeInSeconds":3`, `"id":"c"`, `task "c" has no run time`},
		"in the wrong part":       {strings.Replace(threeWf5, `{"id":"c","runtimeInSeconds":3},`, "", 1), `"name":"C",`, `"name":"C","runtimeInSeconds":3,`, `task "c" has no run time`},
		"negative runtime":        {threeWf4, `"runtimeInSeconds":3`, `"runtimeInSeconds":-3`, `task "c" has the run time -3`},
		"unknown parent":          {threeWf5, `"parents":["a"]`, `"parents":["z"]`, `task "b" has the parent "z", there is no such task`},
		"unknown child":           {threeWf3, `["B","C"]`, `["B","Z"]`, `task "a" has the child "Z", there is no such task`},
		"a parent twice":          {threeWf5, `"parents":["a"]`, `"parents":["a","a"]`, `task "b" has the parent "a" twice`},
		"a child twice":           {threeWf5, `"children":["c"]`, `"children":["c","c"]`, `task "b" has the child "c" twice`},
		"by name and by id":       {threeWf3, `["A"]`, `["A","a"]`, `task "b" has the parent "a" twice`},
		"a name of two":           {threeWf3, `"name":"B"`, `"name":"A"`, `task "b" names the task "A", which could be either of two`},
		"a name that is an id":    {threeWf3, `"name":"A"`, `"name":"b"`, `task "b" has the parent "A", there is no such task`},
		"no file":                 {threeWf5, `{"id":"y","sizeInBytes":300}`, `{"id":"q","sizeInBytes":300}`, `the file "y" that task "b" writes has no size`},
		"no input file":           {threeWf5, `{"id":"in","sizeInBytes":1},`, ``, `the file "in" that task "a" reads has no size`},
		"file twice":              {threeWf5, `"id":"in"`, `"id":"x"`, `the file id "x" is empty or there twice`},
		"no size":                 {threeWf5, `"id":"x","sizeInBytes":20`, `"id":"x"`, `the file "x" that task "a" writes has no size`},
		"no size in 1.3":          {threeWf3, `,"size":20`, ``, `the file "x" that task "a" writes has no size`},
		"negative size":           {threeWf5, `"sizeInBytes":20`, `"sizeInBytes":-20`, `the file "x" that task "a" writes has the size -20`},
		"two sizes":               {threeWf3, `{"name":"in","link":"input","size":1}`, `{"name":"x","link":"output","size":1}`, `task "a": file "x" has the sizes 1 and 20`},
		"a link of no kind":       {threeWf3, `"link":"output"`, `"link":"both"`, `task "a": file "x" has the link "both", must be input or output`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(c.text, c.old, c.new)
			if text == c.text {
				t.Fatalf("there is no %s to replace", c.old)
			}
			_, err := readWfFormat(fileOf(text))
			wantError(t, err, "invalid workflow: "+c.want)
		})
	}
}

// The files say which task needs which where the lists of parents and children don't, wholly or in part; without
// either no task depends on another, which the account says.
func TestUnlinkedWfFormat(t *testing.T) {
	bare := regexp.MustCompile(`"(parents|children)":\[[^]]*\],?`)
	apart := regexp.MustCompile(`"(inputFiles|outputFiles)":\[[^]]*\]|\{"name":"[xy]","link":"input"`)
	want := []model.DAGEdge{{From: "a", To: "b", Data: 20}, {From: "a", To: "c", Data: 20}, {From: "b", To: "c", Data: 300}}
	for version, text := range map[string]string{"1.3": threeWf3, "1.4": threeWf4, "1.5": threeWf5} {
		for how, lists := range map[string]string{"empty": `"$1":[],`, "absent": ``} {
			unlinked := bare.ReplaceAllString(text, lists)
			f := fileOf(unlinked)
			w := require.Value(readWfFormat(f))(t)
			require.Same(t, version+", "+how, want, w.Edges)
			require.Says(t, version+", "+how, f.account.Remarks.String(), "3 edges by files alone, of tasks that no list relates (a->b, a->c, b->c)")
			w = require.Value(readWfFormat(fileOf(apart.ReplaceAllStringFunc(unlinked, func(s string) string {
				if strings.HasPrefix(s, "{") {
					return strings.Replace(s, `"name":"`, `"name":"other `, 1)
				}
				return s[:strings.Index(s, "[")] + "[]"
			}))))(t)
			if len(w.Tasks) != 3 || len(w.Edges) != 0 {
				t.Fatalf("%s, %s: %+v", version, how, w)
			}
			a := model.NewAccount("w.json", "WfFormat")
			w.tell(a, nil)
			require.Same(t, how, "none of the 3 tasks depends on another", a.Remarks.String())
		}
	}
	// The folders differ at both ends of a file.
	staged := strings.ReplaceAll(bare.ReplaceAllString(threeWf4, ""), `"link":"output"`, `"path":"/tmp/1/","link":"output"`)
	require.Same(t, "by the files' last names", want, require.Value(readWfFormat(fileOf(staged)))(t).Edges)
	// With a folder at both ends they are other files: a public input may be called as a result is.
	away := strings.ReplaceAll(staged, `"link":"input"`, `"path":"/tmp/2/","link":"input"`)
	require.Same(t, "in two folders", 0, len(require.Value(readWfFormat(fileOf(away)))(t).Edges))
}

// What the format says and the model lacks is told, with its weight; so are keys that the reader doesn't know.
func TestWfFormatAccount(t *testing.T) {
	text := strings.NewReplacer(`"id":"c","runtimeInSeconds":3`, `"id":"c","runtimeInSeconds":9},{"id":"c","runtimeInSeconds":3,"coreCount":16,"memoryInBytes":5,"priority":2`,
		`"makespanInSeconds":9,`, `"makespanInSeconds":9,"machines":[{"nodeName":"n","cpu":{"coreCount":16}}],`, `"children":["b","c"]`, `"children":["c"],"sites":["x"]`,
		`"sizeInBytes":1}`, `"sizeInBytes":2500000000}`).Replace(threeWf5)
	f := fileOf(text)
	w := require.Value(readWfFormat(f))(t)
	w.tell(f.account, nil)
	require.Same(t, "account", []string{"x: test 1.5, taken: 3 tasks, 3 edges, 340 bytes on edges", "left out: 1 execution of tasks before their last (c)",
		"assumed: 1 file with several readers: each is sent to each reader anew",
		"not modelled: keys of unknown meaning: workflow.specification.tasks.sites; 2.5 GB of inputs that no task writes, in 1 files; " +
			"1 task with a priority (c); 1 task on several cores, 16 at most (c); 1 task with a need of memory (c)",
		`note: 1 edge by the list of parents or of children alone (a->b)`, "note: 1 machine of the run, beside those of the platform"}, f.account.Lines())
}

// With kept files each edge names its files, the account says so, and each takes them away again.
func TestFilesKept(t *testing.T) {
	read := func(name, text, files string) (*model.DAG, error) {
		f := require.Value(OpenData(name, []byte(text)))(t)
		o := Options{Files: files}
		if f.format.graph != nil {
			o.Platform = "uniform,machines=2"
		}
		in, err := f.Instance(o)
		d, _ := in.(*model.DAG)
		return d, err
	}
	want := []model.DAGEdge{{From: "a", To: "b", Data: 20, Files: map[string]float64{"x": 20}},
		{From: "a", To: "c", Data: 20, Files: map[string]float64{"x": 20}}, {From: "b", To: "c", Data: 300, Files: map[string]float64{"y": 300}}}
	bare := slices.Clone(want)
	for e := range bare {
		bare[e].Files = nil
	}
	dax := `<adag><job id="a" runtime="1.5"><uses file="x" link="output" size="20"/></job>` +
		`<job id="b" runtime="0"><uses file="x" link="input"/><uses file="y" link="output" size="300"/></job>` +
		`<job id="c" runtime="3"><uses file="x" link="input"/><uses file="y" link="input"/></job>` +
		`<child ref="b"><parent ref="a"/></child><child ref="c"><parent ref="a"/><parent ref="b"/></child></adag>`
	for name, text := range map[string]string{"three.json": threeWf5, "early.json": threeWf4, "three.dax": dax} {
		kept := require.Value(read(name, text, "kept"))(t)
		require.Same(t, name, want, kept.Edges)
		if said := strings.Join(kept.Account.Lines(), "\n"); !strings.Contains(said, "1 file with several readers: each is sent once to a machine, by its writer's machine") {
			t.Errorf("%s: the account is %s", name, said)
		}
		require.Same(t, name, bare, require.Value(read(name, text, "each"))(t).Edges)
		require.Same(t, name, bare, require.Value(read(name, text, ""))(t).Edges)
		own := string(require.Value(kept.MarshalJSON())(t))
		require.Same(t, "read again", want, require.Value(read("own.json", own, "kept"))(t).Edges)
		require.Same(t, "as it is", want, require.Value(read("own.json", own, ""))(t).Edges)
		require.Same(t, "each of it", bare, require.Value(read("own.json", own, "each"))(t).Edges)
	}
	none := string(require.Value(require.Value(read("three.json", threeWf5, ""))(t).MarshalJSON())(t))
	for text, name := range map[string]string{none: "own.json", smallDOT: "small.dot"} {
		require.Refused(t, name, require.Err(read(name, text, "kept")), model.ErrInvalid, "the file does not")
		require.OK(t, require.Err(read(name, text, "each")))
	}
	require.Refused(t, "another word", require.Err(read("three.json", threeWf5, "once")), model.ErrInvalid, `--files is "once", give kept or each`)
	_, err := require.Value(OpenData("small.dot", []byte(smallDOT)))(t).Account(Options{Files: "kept"})
	require.Refused(t, "an account", err, model.ErrInvalid, "the file does not")
}

// A graph written in each version is read back the same.
func TestReadWfFormatRandom(t *testing.T) {
	type object = map[string]any
	rapid.Check(t, func(t *rapid.T) {
		want := drawWorkflow(t)
		want.Measured = true
		version := rapid.SampledFrom([]string{"1.3", "1.4", "1.5"}).Draw(t, "version")
		runtime, size := "runtimeInSeconds", "sizeInBytes"
		if version == "1.3" {
			runtime, size = "runtime", "size"
		}
		spec, execution, files, at := []object{}, []object{}, []object{}, map[string]object{}
		for _, x := range want.Tasks {
			at[x.ID] = object{"id": x.ID, "name": "task", "parents": []string{}, "children": []string{}}
			spec = append(spec, at[x.ID])
			if version == "1.5" {
				execution = append(execution, object{"id": x.ID, runtime: x.Work})
				at[x.ID]["inputFiles"], at[x.ID]["outputFiles"] = []string{}, []string{}
			} else {
				at[x.ID][runtime], at[x.ID]["files"] = x.Work, []object{}
			}
		}
		add := func(task, key, value string) { at[task][key] = append(at[task][key].([]string), value) }
		for _, e := range want.Edges {
			file := e.From + "-" + e.To
			add(e.From, "children", e.To)
			add(e.To, "parents", e.From)
			if version == "1.5" {
				add(e.From, "outputFiles", file)
				add(e.To, "inputFiles", file)
				files = append(files, object{"id": file, size: e.Data})
				continue
			}
			for task, link := range map[string]string{e.From: "output", e.To: "input"} {
				at[task]["files"] = append(at[task]["files"].([]object), object{"name": file, "link": link, size: e.Data})
			}
		}
		workflow := object{"tasks": spec}
		if version == "1.5" {
			workflow = object{"specification": object{"tasks": spec, "files": files}, "execution": object{"tasks": execution}}
		}
		text := require.Value(json.Marshal(object{"schemaVersion": version, "workflow": workflow}))(t)
		got, err := readWfFormat(fileOf(string(text)))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		require.Same(t, "result", want, got)
	})
}

// Each of the 24 traces has the tasks and edges of the data set's table.
func TestWfInstancesCounts(t *testing.T) {
	folder := filepath.Dir(require.Data(t, "wfinstances", "README.md"))
	for name, want := range map[string][2]int{
		"1000genome-chameleon-2ch-100k-001": {52, 76}, "1000genome-chameleon-4ch-100k-001": {104, 152}, "1000genome-chameleon-22ch-100k-001": {572, 836},
		"blast-chameleon-small-001": {43, 120}, "bwa-chameleon-small-001": {104, 400}, "cycles-chameleon-1l-1c-9p-001": {67, 97},
		"epigenomics-chameleon-hep-1seq-100k-001": {41, 48}, "epigenomics-chameleon-hep-4seq-100k-001": {347, 426}, "epigenomics-chameleon-ilmn-1seq-100k-001": {125, 153},
		"fetchngs-dirt02-001": {43, 28}, "methylseq-dirt02-001": {36, 70}, "sarek-dirt02-001": {26, 50},
		"helloworld-chain-5-chameleon": {5, 4}, "helloworld-forkjoin-10-chameleon": {10, 16},
		"montage-chameleon-2mass-005d-001": {58, 114}, "montage-chameleon-2mass-01d-001": {103, 231}, "montage-chameleon-dss-05d-001": {58, 114}, "montage-chameleon-dss-10d-001": {472, 1284},
		"seismology-chameleon-100p-001": {101, 100}, "seismology-chameleon-500p-001": {501, 500},
		"soykb-chameleon-10fastq-10ch-001": {96, 194}, "soykb-chameleon-30fastq-10ch-001": {256, 554},
		"srasearch-chameleon-10a-001": {22, 30}, "srasearch-chameleon-20a-001": {42, 60},
	} {
		in, err := loadOn(filepath.Join(folder, name+".json.gz"), "star,machines=4,speed=1/2,bandwidth=1e8")
		if err != nil {
			t.Error(err)
			continue
		}
		d := in.(*model.DAG)
		if got := [2]int{len(d.Tasks), len(d.Edges)}; got != want || d.Name != name {
			t.Errorf("%s: name %q, %v tasks and edges, want %v", name, d.Name, got, want)
		}
		files := 0
		for _, e := range d.Edges {
			if e.Data > 0 {
				files++
			}
		}
		if files == 0 {
			t.Errorf("%s: no edge has data", name)
		}
	}
}

func FuzzReadWfFormat(f *testing.F) {
	for _, s := range []string{threeWf3, threeWf4, threeWf5, strings.ReplaceAll(threeWf3, `"tasks"`, `"jobs"`), `{"schemaVersion":"1.5","workflow":{}}`, "null", "{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := readWfFormat(fileOf(string(text)))
		checkRead(t, w, err)
	})
}

// Machines with cores and memory take the tasks' needs, in whole cores and MB; a task that states no cores has one.
func TestWfFormatNeeds(t *testing.T) {
	text := `{"schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"id":"a","children":["b"]},{"id":"b","parents":["a"]}],"files":[]},` +
		`"execution":{"tasks":[{"id":"a","runtimeInSeconds":1,"coreCount":3.5,"memoryInBytes":1500001},{"id":"b","runtimeInSeconds":2}],"machines":[]}}}`
	path := write(t, "w.json", text)
	for _, c := range []struct {
		platform string
		want     [][]int64
		account  string
	}{
		{"uniform,machines=2", [][]int64{nil, nil}, "1 task on several cores, 3.5 at most (a); 1 task with a need of memory (a)"},
		{"uniform,machines=2,cores=8/4", [][]int64{{4}, {1}}, "1 task with a need of memory (a)"},
		{"uniform,machines=2,cores=4,memory=2GiB", [][]int64{{4, 2}, {1, 0}}, ""},
		{write(t, "p.json", `{"resources":["memory_mb"],"machines":[{"id":"m","speed":1,"capacity":[7]}]}`), [][]int64{{2}, {0}}, "1 task on several cores, 3.5 at most (a)"},
	} {
		in, err := Read(path, Options{Platform: c.platform})
		if err != nil {
			t.Fatal(err)
		}
		d := in.(*model.DAG)
		for k, needs := range c.want {
			require.Same(t, c.platform, needs, d.Tasks[k].Needs)
		}
		require.Same(t, c.platform, c.account, d.Account.NotModelled.String())
		require.Same(t, c.platform, "", d.Account.Remarks.String())
	}
	small := write(t, "small.json", strings.Replace(text, "1500001", "86508", 1))
	in, err := Read(small, Options{Platform: "uniform,cores=4,memory=2GB"})
	if err != nil || !strings.Contains(model.AccountOf(in).Remarks.String(), "less than 1 MB of memory") {
		t.Errorf("kilobytes as bytes: %v, %s", err, model.AccountOf(in).Remarks)
	}
	for spec, want := range map[string]string{
		"uniform,cores=0":            "cores is \"0\", must be a whole number from 1",
		"uniform,cores=8,memory=64":  "memory is \"64\", must have a unit",
		"uniform,memory=64GB":        "memory without cores",
		"uniform,machines=2,cores=2": "its needs are above the capacity",
		write(t, "q.json", `{"resources":["gpu"],"machines":[{"id":"m","speed":1,"capacity":[7]}]}`): "it has the resource \"gpu\"",
	} {
		if _, err := Read(path, Options{Platform: spec}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
