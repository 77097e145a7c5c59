// SPDX-License-Identifier: MIT

// Realfiles holds gapwise's readers against public files:
//
//	go run ./scripts/realfiles FOLDER...    reads what the folders hold of scripts/realfiles/files.tsv
//	go run ./scripts/realfiles -update      writes the table of docs/results/readers.md
//
// files.tsv lists files by their digests, with what count.py, a small reader of its own in Python, counts in each. A
// count is a quantity of the instance, or the amount of a fact that the account of the reading tells. Each must be
// equal, and no fact of what is left out or not modelled may be told that nobody counted. The files themselves lie
// anywhere below the folders, gzipped or not, under names that end as in the list.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"archive/tar"
	"crypto/sha256"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

const (
	refused = "files refused" // of which nothing can be taken, or that say what can't be
	list    = "scripts/realfiles/files.tsv"
	docs    = "docs/results/readers.md"
)

func main() {
	update := flag.Bool("update", false, "write the table of "+docs+" anew")
	flag.Parse()
	if err := run(os.Stdout, *update, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "realfiles:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, update bool, folders []string) error {
	rows, err := readList(list)
	switch {
	case err != nil:
		return err
	case update:
		text, err := os.ReadFile(docs)
		if err != nil {
			return err
		}
		return os.WriteFile(docs, withTable(text, rows), 0o644)
	case len(folders) == 0:
		folders = []string{cmp.Or(instances.DataFolder(), "../shared/data")}
		if _, err := os.Stat(folders[0]); err != nil {
			fmt.Fprintf(out, "%v: GAPWISE_DATA names the folder of the data sets\n", err)
			folders = nil
		}
	}
	at, err := find(folders)
	if err != nil {
		return err
	}
	return hold(out, rows, at)
}

// row is a file of the list, or an archive of files.
type row struct {
	source, path, digest, format, options string
	counts                                map[string]float64
}

func readList(path string) (rows []row, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		f := append(strings.Split(line, "\t"), "", "", "", "", "")
		r := row{source: f[0], path: f[1], digest: f[2], format: f[3], options: f[4]}
		if err := json.Unmarshal([]byte(f[5]), &r.counts); err != nil {
			return nil, fmt.Errorf("%s:%d: counts, the sixth column: %w; scripts/realfiles/count.py writes them", path, n+2, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// find returns the paths of files by their digests. A file that is gzipped counts as it is when unfolded.
func find(folders []string) (map[string]string, error) {
	at := map[string]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if data, err := instances.ReadFile(path); err == nil { // others can't be unfolded
				at[fmt.Sprintf("%x", sha256.Sum256(data))] = path
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return at, nil
}

// hold reads all files that are there, and returns an error about those that differ.
func hold(out io.Writer, rows []row, at map[string]string) error {
	files, skipped := 0.0, 0
	var bad []error
	for _, r := range rows {
		path := at[r.digest]
		if path == "" {
			skipped++
			fmt.Fprintln(out, "skipped, as it isn't there:", r.source, r.path)
			continue
		}
		files += r.counts["files"] + r.counts[refused]
		if err := r.check(path); err != nil {
			bad = append(bad, fmt.Errorf("%s %s (%s): %w", r.source, r.path, path, err))
		}
	}
	fmt.Fprintf(out, "%v files of %d rows read, %d rows differ, %d skipped\n", files, len(rows)-skipped, len(bad), skipped)
	return errors.Join(bad...)
}

// check compares gapwise's reading of the row's file with its counts.
func (r *row) check(path string) error {
	got, told := map[string]float64{}, map[string]float64{} // told holds facts that nobody has counted yet
	var facts model.Tellings
	o, err := r.how(path)
	if err != nil {
		return err
	}
	err = r.each(path, func(f *instances.File, err error) error {
		if err != nil {
			return err
		}
		in, err := f.Instance(o)
		switch a := model.AccountOf(in); {
		case err != nil && r.counts[refused] > 0:
			got[refused]++
			return nil
		case err != nil:
			return err
		case a == nil || a.Files[0].Format != r.format:
			return fmt.Errorf("the account %+v isn't of the format %s", a, r.format)
		default:
			got["files"]++
			quantities(in, got)
			for _, x := range slices.Concat(a.LeftOut, a.NotModelled) {
				told[x.Text] += x.Count
			}
			facts = slices.Concat(facts, a.LeftOut, a.NotModelled, a.Assumed, a.Remarks)
			return nil
		}
	})
	bad := []error{err}
	for name, want := range r.counts {
		x := got[name]
		for _, fact := range facts {
			if strings.Contains(name, " ") && strings.HasPrefix(fact.Text, name) {
				x += fact.Count
				delete(told, fact.Text)
			}
		}
		if err == nil && math.Abs(x-want) > 1e-9*math.Abs(want) {
			bad = append(bad, fmt.Errorf("%s: gapwise says %v, count.py %v", name, x, want))
		}
	}
	for text, x := range told {
		if x > 0 {
			bad = append(bad, fmt.Errorf("gapwise tells %v %s, count.py doesn't", x, text))
		}
	}
	return errors.Join(bad...)
}

// how returns the options of the row for reading a file: pending jobs, a file of nodes beside it, a number of
// processors, or the attribute of a DOT graph. A task graph gets machines unless it tells its own.
func (r *row) how(path string) (instances.Options, error) {
	spec := instances.NewBatchSpec()
	spec.Tiers = 1
	o := instances.Options{Platform: "uniform,machines=2", IfNeeded: true, Kind: model.KindConsolidation, Spec: &spec}
	q, err := url.ParseQuery(r.options)
	if q.Has("own") {
		o.Platform = ""
	}
	if q.Has("nodes") {
		o.Log.Nodes = filepath.Join(filepath.Dir(path), q.Get("nodes"))
	}
	if q.Has("dot") {
		o.DOT = fmt.Sprintf("size=%s,data=%[1]s", q.Get("dot"))
	}
	o.Log.Pending = q.Has("pending")
	if err == nil && q.Has("processors") {
		spec.Processors, err = strconv.Atoi(q.Get("processors"))
	}
	return o, err
}

// each opens the file, each file in an archive, or each graph of daggen in a list.
func (r *row) each(path string, read func(*instances.File, error) error) error {
	lines := strings.Contains(r.path, ".jsonl")
	if !lines && !strings.Contains(r.path, ".tar") {
		return read(instances.Open(path))
	}
	data, err := instances.ReadFile(path)
	if lines {
		for line := range bytes.Lines(data) {
			err = cmp.Or(err, read(instances.OpenData("daggen.dot", ofDaggen(line))))
		}
		return err
	}
	for in := tar.NewReader(bytes.NewReader(data)); err == nil; {
		var h *tar.Header
		if h, err = in.Next(); err == io.EOF {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			data, err = io.ReadAll(in)
			err = cmp.Or(err, read(instances.OpenData(h.Name, data)))
		}
	}
	return err
}

// ofDaggen returns daggen's own output of a graph that is kept as a line of JSON.
func ofDaggen(line []byte) []byte {
	var g struct {
		Flops, Alpha []float64
		Edges        [][3]float64
	}
	if err := json.Unmarshal(line, &g); err != nil {
		return line // which is no graph
	}
	text := []byte("digraph G {\n")
	for k := range g.Flops {
		text = fmt.Appendf(text, "  %d [size=\"%.0f\", alpha=\"%.2f\"]\n", k+1, g.Flops[k], g.Alpha[k])
	}
	for _, e := range g.Edges {
		text = fmt.Appendf(text, "  %g -> %g [size =\"%.0f\"]\n", e[0]+1, e[1]+1, e[2])
	}
	return append(text, '}')
}

// quantities adds what an instance measures.
func quantities(in model.Instance, q map[string]float64) {
	switch in := in.(type) {
	case *model.DAG:
		q["tasks"] += float64(len(in.Tasks))
		q["edges"] += float64(len(in.Edges))
		q["machines"] += float64(len(in.Machines))
		for _, t := range in.Tasks {
			q["work"] += *t.Work
		}
		for _, e := range in.Edges {
			q["data"] += e.Data
		}
		for _, m := range in.Machines {
			q["speed"] += m.Speed
			q["local rate"] += m.LocalRate
		}
		for _, x := range slices.Concat(in.Network.PathCapacity...) {
			q["rate"] += x
		}
	case *model.Batch:
		q["jobs"] += float64(len(in.Jobs))
		q["processors"] += float64(in.Processors)
		for k := range in.Jobs {
			j := &in.Jobs[k]
			q["width"] += float64(j.Processes)
			q["work"] += float64(j.Processes) * j.RuntimeS
			q["limits"] += j.EstimateS
		}
	case *model.Consolidation:
		q["dimensions"] += float64(len(in.Resources))
		for _, j := range in.Jobs {
			q["items"] += float64(j.Tasks)
			for _, need := range j.Needs {
				q["size"] += float64(j.Tasks) * float64(need)
			}
		}
	}
}
