// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/gapwise/gapwise/model"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	smallDOT = "digraph { a [size=6] }"
	smallSTG = "0\n0 0 0\n1 0 0\n"
	smallOwn = `{"kind":"dag","version":1,"name":"own","machines":[{"id":"m"}],"tasks":[{"id":"t","cost_s":[3]}],"edges":[]}`
)

func TestLoadOn(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, platform string
		wantName             string
		wantTasks            int
	}{
		"dot":                      {"g.dot", smallDOT, "bus", "g", 1},
		"gv":                       {"g.GV", "\n" + smallDOT, "bus", "g", 1},
		"dot without extension":    {"graph", smallDOT, "bus", "graph", 1},
		"dot after comments":       {"g.txt", "// one\n/* two\n */ # three\n Digraph { a [size=6] }", "bus", "g", 1},
		"zipped dot":               {"a.b.dot.gz", zipped(t, smallDOT), "bus", "a.b", 1},
		"zipped, and not named so": {"g.dot", zipped(t, smallDOT), "bus", "g", 1},
		"named .gz, and isn't":     {"g.dot.GZ", smallDOT, "bus", "g", 1},
		"stg":                      {"rand.stg", smallSTG, "bus", "rand", 2},
		"stg by its content":       {"rand", "# numbers\n" + smallSTG, "bus", "rand", 2},
		"WfFormat":                 {"w.json", threeWf5, "bus", "w", 3},
		"zipped WfFormat":          {"w.json.gz", zipped(t, threeWf3), "bus", "w", 3},
		"own":                      {"x.json", smallOwn, "", "own", 1},
		"zipped own":               {"x.json", zipped(t, smallOwn), "", "own", 1},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := LoadOn(write(t, c.file, c.text), c.platform)
			if err != nil {
				t.Fatal(err)
			}
			if d := in.(*model.DAG); d.Name != c.wantName || len(d.Tasks) != c.wantTasks {
				t.Errorf("name %q, %d tasks, want %q, %d", d.Name, len(d.Tasks), c.wantName, c.wantTasks)
			}
		})
	}
}

func TestLoadOnErrors(t *testing.T) {
	for name, c := range map[string]struct{ file, text, platform, want string }{
		"no platform":           {"g.dot", smallDOT, "", ": invalid: the file tells tasks and no machines, give a platform (such as uniform,machines=4)"},
		"a platform too many":   {"x.json", smallOwn, "bus", ": invalid: it is an instance with all that it needs, leave the platform out"},
		"neither":               {"x.json", "{}", "bus", `: invalid instance: the key "kind" is missing`},
		"empty":                 {"x.json", "", "", ": invalid instance: the file is empty"},
		"empty by name":         {"x.stg", "", "bus", ": invalid STG graph: line 1: there is no number of tasks"},
		"a comment alone":       {"x", "// nothing", "", ": invalid JSON: "},
		"cut off":               {"g.dot.gz", zipped(t, smallDOT)[:20], "bus", ": invalid: gzip: "},
		"in the graph":          {"g.dot", "digraph {\n a }", "bus", ": invalid DOT graph: line 2: node a has no size"},
		"in the instance":       {"g.dot", "digraph { a [size=1] b [size=1] a -> b [size=1] b -> a [size=1] }", "bus", ": invalid dag instance: the edges make a cycle: a -> b -> a"},
		"both kind and foreign": {"w.json", `{"kind":"dag","workflow":{}}`, "", `: invalid instance: the key "version" is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.file, c.text)
			_, err := LoadOn(path, c.platform)
			wantError(t, err, path+c.want)
		})
	}
	path := write(t, "g.dot", smallDOT)
	_, err := LoadOn(path, "moon")
	wantError(t, err, `invalid platform "moon": `)
	_, err = Load(path)
	wantError(t, err, path+": invalid: the file tells tasks and no machines")
	_, err = LoadOn(path+"x", "bus")
	wantError(t, err, "invalid input: can't read "+path+"x")
}

// The error of an unreadable file names its apparent format, and one that would do.
func TestUnread(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"virtual machines":    {"vms.csv", "name,cpu,memory\na,0.5,0.2\n", "a table of virtual machines, which the playground reads"},
		"another table":       {"t.csv", "job;submit\n1;0\n", "a table (CSV); gapwise reads JSON"},
		"sacct without names": {"jobs", "1234|anna|cpu|COMPLETED\n1235|anna|cpu|COMPLETED\n", "rows of sacct or squeue without their header; leave out --noheader"},
		"another header":      {"jobs", "Cluster|NodeList\na|n1\n", "the output of sacct, but its header doesn't name its columns; write it as a table: sacct -a -X -P"},
		"sacct --json":        {"jobs.json", `{"meta":{"plugin":{}},"jobs":[{"job_id":7}],"errors":[]}`, "what sacct --json or squeue --json prints; write it as a table: sacct -a -X -P"},
		"sinfo --json":        {"nodes.json", `{"sinfo":[],"meta":{}}`, "what sinfo --json or scontrol --json prints"},
		"kubectl":             {"all.json", `{"apiVersion":"v1","kind":"List","items":[]}`, "an export of Kubernetes; gapwise kubernetes convert makes an instance of it"},
		"kubectl's YAML":      {"all.yaml", "apiVersion: v1\nkind: List\n", "YAML of Kubernetes; write it as JSON: kubectl get"},
		"more of it":          {"all.yaml", "---\napiVersion: v1\nkind: Pod\n", "YAML of Kubernetes; write it as JSON: kubectl get"},
		"SimGrid":             {"p.xml", "<?xml version='1.0'?>\n<!DOCTYPE platform>\n<platform version=\"4.1\"/>", "a platform of SimGrid"},
		"Pegasus":             {"w.dax", "<?xml version='1.0'?>\n<adag/>", "DAX, Pegasus' XML"},
		"XML":                 {"q.xml", "<job_info/>", "XML, which isn't read; gapwise reads JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.file, c.text)
			_, err := LoadOn(path, "")
			wantError(t, err, path+": invalid instance: it looks like "+c.want)
		})
	}
	for _, text := range []string{"", " \n", "hello", `{"kind":"dag"}`, "[1]", "2\n0 1 0\n1 1 1 0\n"} {
		if got := Unread([]byte(text)); got != "" {
			t.Errorf("%q looks like %s", text, got)
		}
	}
}

// A folder holds every file that may be an instance by the end of its name, zipped or not.
func TestFolderLists(t *testing.T) {
	path := write(t, "b.json", smallOwn)
	folder := filepath.Dir(path)
	for name, text := range map[string]string{"g.dot": smallDOT, "s.STG": smallSTG, "w.json.gz": zipped(t, threeWf5), "a.json": smallOwn,
		"g.gv.gz": "", "i.vbp": "", "l.swf.gz": "", "a.md": "", "json": "", ".gz": "", "x.jsonl": "", "x.json.bak": ""} {
		if err := writeIn(folder, name, text); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Folder(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got {
		names = append(names, filepath.Base(f))
	}
	if diff := cmp.Diff([]string{"a.json", "b.json", "g.dot", "g.gv.gz", "i.vbp", "l.swf.gz", "s.STG", "w.json.gz"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := Folder(t.TempDir()); err == nil || !strings.Contains(err.Error(), "ends in .json, .stg, .dot, .gv, .vbp, .swf (or .gz after that)") {
		t.Errorf("error %v", err)
	}
}

// The kind is found if the file begins with it, with any text after it.
func TestKindOf(t *testing.T) {
	for text, want := range map[string]model.Kind{
		` {"kind":"dag", and so on`: model.KindDAG, zipped(t, `{"kind":"batch","version":1}`): model.KindBatch,
		`{"version":1,"kind":"dag"}`: "", `{"kind":"moon"}`: "", `["kind","dag"]`: "", `{"kind":3}`: "", "": "", "1\n": "", "\x1f\x8b": "",
	} {
		if got := KindOf(write(t, "x", text)); got != want {
			t.Errorf("%q is of %q, want %q", text, got, want)
		}
	}
	if got := KindOf("no such file"); got != "" {
		t.Errorf("no file is of %q", got)
	}
}

func writeIn(folder, name, text string) error {
	return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666)
}

// Files, pipes and gzipped data are read up to a limit.
func TestLimits(t *testing.T) {
	defer func(before int64) { maxFile = before }(maxFile)
	maxFile = 1000
	text := strings.Repeat("x", 2000)
	file := write(t, "long.json", text)
	_, err := ReadFile(file)
	wantError(t, err, file+": invalid input: it is longer than 1000 bytes, the most that is read")
	_, err = ReadFile("/dev/zero") // which has no size
	wantError(t, err, "/dev/zero: invalid input: it is longer than 1000 bytes, the most that is read")
	packed := write(t, "packed.json.gz", zipped(t, text))
	_, err = Load(packed)
	wantError(t, err, packed+": invalid: gzip: it unfolds to more than 1000 bytes, the most that is read")
	if data, err := ReadFile(write(t, "short.json", text[:1000])); err != nil || len(data) != 1000 {
		t.Errorf("%d bytes of 1000, error %v", len(data), err)
	}
}

// Names that aren't UTF-8 are refused, with their place, in every format.
func TestTextIsUTF8(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"own":       {"a.json", "{\"kind\":\"vcsched\",\"version\":1,\"name\":\"x\",\"hosts\":1,\n\"jobs\":[{\"id\":\"a\xff\",\"tasks\":1,\"cpu\":0.5,\"memory\":0.5}]}", "invalid JSON: line 2: jobs[0].id: the byte 0xff isn't UTF-8"},
		"dot":       {"a.dot", strings.Replace(goodDOT, "2 [size", "\"\xe4\" [size", 1), "invalid text: line 3: the byte 0xe4 isn't UTF-8; convert the file to UTF-8"},
		"stg":       {"a.stg", strings.Replace(goodSTG, "the last", "das \xfcbliche", 1), "invalid text: line 4: the byte 0xfc isn't UTF-8; convert the file to UTF-8"},
		"wfformat":  {"a.json", strings.Replace(goodWf5, `"id":"a"`, "\"id\":\"\xff\"", 1), "invalid text: line 2: the byte 0xff isn't UTF-8; convert the file to UTF-8"},
		"file name": {"\xff.dot", goodDOT, "invalid: the file's name isn't UTF-8, and the instance would be called by it; rename it"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Skip("this file system takes UTF-8 alone")
			}
			platform := "uniform,machines=2"
			if name == "own" {
				platform = ""
			}
			_, err := LoadOn(path, platform)
			wantError(t, err, path+": "+c.want)
		})
	}
}

// Files that are read once are shared without a race by specifications that ask for them at
// the same time. (This is the test of the package that the race detector runs.)
func TestFilesAtOnce(t *testing.T) {
	batch, reservation, tvc, dag := NewBatchSpec(), NewReservationSpec(), NewTVCSpec(), NewDAGSpec()
	log := write(t, "l.swf", smallLog)
	batch.SWF, reservation.SWF, tvc.SWF = log, log, log
	batch.Jobs, reservation.Requests, tvc.Requests = 5, 4, 3
	dag.Draws, dag.Daggen = 1, write(t, "g.jsonl", `{"id":"x","n":3,"edges":[[0,1,5],[0,2,7]]}`)
	hashes := make([][]string, 6)
	var group errgroup.Group
	for i := range hashes {
		group.Go(func() error {
			for _, generate := range []func() (model.Instance, error){
				func() (model.Instance, error) { return batch.Generate() },
				func() (model.Instance, error) { return reservation.Generate() },
				func() (model.Instance, error) { return tvc.Generate() },
				func() (model.Instance, error) { return dag.Generate() },
			} {
				in, err := generate()
				if err != nil {
					return err
				}
				hash, err := model.Hash(in)
				if err != nil {
					return err
				}
				hashes[i] = append(hashes[i], hash)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, h := range hashes[1:] {
		if diff := cmp.Diff(hashes[0], h); diff != "" {
			t.Error(diff)
		}
	}
}
