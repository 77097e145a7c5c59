// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/sync/errgroup"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	require.OK(t, require.Err(z.Write([]byte(text))))
	require.OK(t, z.Close())
	return b.String()
}

// loadOn reads a file for a platform.
func loadOn(path, platform string) (model.Instance, error) {
	return Read(path, Options{Platform: platform})
}

// fileOf returns a file with a text, as Open does.
func fileOf(text string) *File {
	f := newFile("x", []byte(text))
	f.account = model.NewAccount("x", "test")
	return f
}

const (
	smallDOT = "digraph { a [size=6] }"
	smallSTG = "0\n0 0 0\n1 0 0\n"
	smallOwn = `{"kind":"dag","version":1,"name":"own","machines":[{"id":"m"}],"tasks":[{"id":"t","cost_s":[3]}],"edges":[]}`
)

// Windows PowerShell writes UTF-16, with a byte order mark.
func TestReadUTF16(t *testing.T) {
	for name, order := range map[string]binary.AppendByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		text := []byte(name)
		for _, unit := range utf16.Encode([]rune(strings.Replace(smallOwn, `"own"`, `"größer 𝄞"`, 1))) {
			text = order.AppendUint16(text, unit)
		}
		for _, data := range []string{string(text), zipped(t, string(text))} {
			in := require.Value(Load(write(t, "a.json", data)))(t)
			require.Same(t, "name", "größer 𝄞", in.ID())
		}
		require.Refused(t, "half a unit", require.Err(Load(write(t, "a.json", string(text)+"x"))), model.ErrInvalid, "")
	}
}

func TestRead(t *testing.T) {
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
		"a first line of 18 words": {"w.json", strings.Replace(threeWf5, "{", "{"+strings.Repeat(` "author" : "x" ,`, 4)+` "wms":`+"\n"+` "y",`, 1), "bus", "w", 3},
		"zipped own":               {"x.json", zipped(t, smallOwn), "", "own", 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := require.Value(loadOn(write(t, c.file, c.text), c.platform))(t)
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
		"a comment alone":       {"x", "// nothing", "", ": invalid instance: its format is none that is known"},
		"cut off":               {"g.dot.gz", zipped(t, smallDOT)[:20], "bus", ": invalid: gzip: "},
		"in the graph":          {"g.dot", "digraph {\n a }", "bus", ": invalid DOT graph: line 2: node a has no size"},
		"in the instance":       {"g.dot", "digraph { a [size=1] b [size=1] a -> b [size=1] b -> a [size=1] }", "bus", ": invalid dag instance: the edges make a cycle: a -> b -> a"},
		"both kind and foreign": {"w.json", `{"kind":"dag","workflow":{}}`, "", `: invalid instance: the key "version" is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.file, c.text)
			_, err := loadOn(path, c.platform)
			wantError(t, err, path+c.want)
		})
	}
	path := write(t, "g.dot", smallDOT)
	_, err := loadOn(path, "moon")
	wantError(t, err, `invalid platform "moon": `)
	_, err = Load(path)
	wantError(t, err, path+": invalid: the file tells tasks and no machines")
	_, err = loadOn(path+"x", "bus")
	wantError(t, err, "invalid input: can't read "+path+"x")
}

// The error of an unreadable file names its apparent format, and one that would do.
func TestUnread(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"sacct without names":           {"jobs", "1234|anna|cpu|COMPLETED\n1235|anna|cpu|COMPLETED\n", "rows of sacct or squeue without their header, which isn't read; leave out --noheader"},
		"sacct without names, of nodes": {"jobs", "1234|anna|n[1-3,5],m2|COMPLETED\n1235|anna|n1|COMPLETED\n", "rows of sacct or squeue without their header"},
		"PBS":                           {"jobs.log", "12/21/2009 15:27:00;E;6.edge;user=jonesm group=g queue=q ctime=1261424924 start=1261425023\n", "accounting of PBS, which isn't read; write its jobs as a log in the Standard Workload Format"},
		"LSF":                           {"jobs.log", "\"JOB_FINISH\" \"9.11\" 1389683139 404717 22025\n", "accounting of LSF (lsb.acct), which isn't read"},
		"milliseconds":                  {"accounting", "q:h:g:o:j:7:sge:0:1652111621288:1652111622875:1652124460193:0:0" + strings.Repeat(":0", 40) + "\n", "accounting of a Grid Engine that counts milliseconds, which isn't read"},
		"another header":                {"jobs", "Cluster|NodeList\na|n1\n", "a table of sacct without names of its columns, which isn't read; write it as a table: sacct -a -X -P"},
		"kubectl":                       {"all.json", `{"apiVersion":"v1","kind":"List","items":[]}`, "Kubernetes, which isn't read; gapwise kubernetes convert makes an instance of it"},
		"kubectl's YAML":                {"all.yaml", "apiVersion: v1\nkind: List\n", "YAML of Kubernetes, which isn't read; write it as JSON: kubectl get"},
		"more of it":                    {"all.yaml", "---\napiVersion: v1\nkind: Pod\n", "YAML of Kubernetes, which isn't read; write it as JSON: kubectl get"},
		"SimGrid":                       {"p.xml", "<?xml version='1.0'?>\n<!DOCTYPE platform>\n<platform version=\"4.1\"/>", "SimGrid's platform, which isn't read"},
		"XML":                           {"q.xml", "<other/>", "XML, which isn't read"},
		"details of qstat":              {"q.txt", "=====\njob_number:                 26\n", "details or reservations of Grid Engine, which isn't read; give the accounting file"},
		"text of oarstat":               {"o.txt", "Job id    S User     Duration   System message\n75        R ada         0:00:37 R=4\n", "a table of oarstat, which isn't read; give oarstat -f -J"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.file, c.text)
			_, err := loadOn(path, "")
			wantError(t, err, path+": invalid instance: it looks like "+c.want)
		})
	}
}

// A folder holds every file that may be an instance by the end of its name, zipped or not, and so do folders in it.
func TestFolderLists(t *testing.T) {
	path := write(t, "b.json", smallOwn)
	folder := filepath.Dir(path)
	require.OK(t, os.Mkdir(filepath.Join(folder, "in"), 0o755))
	for name, text := range map[string]string{"in/a.json": smallOwn, "g.dot": smallDOT, "d.dax": dax2, "s.STG": smallSTG, "w.json.gz": zipped(t, threeWf5), "a.json": smallOwn,
		"g.gv.gz": "", "i.vbp": "", "l.swf.gz": "", "a.md": "", "json": "", ".gz": "", "x.jsonl": "", "x.json.bak": ""} {
		require.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666))
	}
	want := []string{"a.json", "b.json", "d.dax", "g.dot", "g.gv.gz", "i.vbp", "in/a.json", "l.swf.gz", "s.STG", "w.json.gz"}
	for k := range want {
		want[k] = filepath.Join(folder, want[k])
	}
	require.Same(t, "files", want, require.Value(Folder(folder))(t))
	require.Refused(t, "an empty folder", require.Err(Folder(t.TempDir())), model.ErrInvalid,
		"ends in .json, .stg, .dot, .gv, .dax, .vbp, .mvp, .swf (or .gz after that)")
	require.Refused(t, "no folder", require.Err(Folder(filepath.Join(folder, "none"))), model.ErrInvalid, "none")
}

// The kind is found if the file begins with it, with any text after it.
func TestKindOf(t *testing.T) {
	for text, want := range map[string]model.Kind{
		` {"kind":"dag", and so on`: model.KindDAG, zipped(t, `{"kind":"batch","version":1}`): model.KindBatch,
		`{"version":1,"kind":"dag"}`: "", `{"kind":"moon"}`: "", `["kind","dag"]`: "", `{"kind":3}`: "", "": "", "1\n": "", "\x1f\x8b": "",
	} {
		require.Same(t, fmt.Sprintf("%q is of", text), want, KindOf(write(t, "x", text)))
	}
	require.Same(t, "the kind of no file", model.Kind(""), KindOf("no such file"))
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
		"dot":       {"a.dot", "digraph {\n a [size=1]\n \"\xe4\" [size=1]\n}", "invalid text: line 3: the byte 0xe4 isn't UTF-8; convert the file to UTF-8"},
		"stg":       {"a.stg", "# one\n1\n0 0 0\n1 1 0 # \xfc\n2 0 0", "invalid text: line 4: the byte 0xfc isn't UTF-8; convert the file to UTF-8"},
		"wfformat":  {"a.json", strings.Replace(threeWf5, `"id":"a"`, "\"id\":\"\xff\"", 1), "invalid text: line 2: the byte 0xff isn't UTF-8; convert the file to UTF-8"},
		"file name": {"\xff.dot", smallDOT, "invalid: the file's name isn't UTF-8, and the instance would be called by it; rename it"},
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
			_, err := loadOn(path, platform)
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
	require.OK(t, group.Wait())
	for _, h := range hashes[1:] {
		require.Same(t, "result", hashes[0], h)
	}
}
