// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crypto/sha256"

	"github.com/gapwise/gapwise/internal/test/require"
)

// The page has the table of the list.
func TestPage(t *testing.T) {
	rows := require.Value(readList("files.tsv"))(t)
	text := require.Value(os.ReadFile(filepath.Join("../..", docs)))(t)
	if !bytes.Equal(text, withTable(text, rows)) {
		t.Errorf("%s isn't what %s says: go run ./scripts/realfiles -update writes its table", docs, list)
	}
	digests := map[string]bool{}
	for _, r := range rows {
		if len(r.digest) != 64 || digests[r.digest] || len(r.counts) == 0 {
			t.Errorf("%s %s: its digest is there twice or none, or nothing is counted", r.source, r.path)
		}
		digests[r.digest] = true
	}
}

// One file of each format and source that is there holds; make nightly reads all.
func TestSome(t *testing.T) {
	folder := require.Data(t)
	rows := require.Value(readList("files.tsv"))(t)
	at := require.Value(find([]string{folder}))(t)
	seen := map[string]bool{}
	rows = slices.DeleteFunc(rows, func(r row) bool {
		again := at[r.digest] == "" || seen[r.format+r.source]
		seen[r.format+r.source] = seen[r.format+r.source] || !again
		return again
	})
	if len(rows) < 10 {
		t.Skipf("%s has files of %d formats", folder, len(rows))
	}
	var out strings.Builder
	require.OK(t, hold(&out, rows, at))
	require.Says(t, "result", out.String(), fmt.Sprintf("of %d rows read, 0 rows differ, 0 skipped", len(rows)))
}

// A reading that isn't what the list counts is an error, and so is a fact that the list doesn't name.
func TestDiffering(t *testing.T) {
	const text = `{"schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"id":"a","children":["b"],"outputFiles":["x"]},{"id":"b","parents":["a"],"inputFiles":["x"]}],` +
		`"files":[{"id":"x","sizeInBytes":7}]},"execution":{"tasks":[{"id":"a","runtimeInSeconds":2},{"id":"b","runtimeInSeconds":3,"coreCount":4}]}}}`
	folder := t.TempDir()
	require.OK(t, os.WriteFile(filepath.Join(folder, "w.json"), []byte(text), 0o644))
	right := row{source: "here", path: "w.json", digest: fmt.Sprintf("%x", sha256.Sum256([]byte(text))), format: "WfFormat 1.5"}
	counts := func(edges, cores float64) map[string]float64 {
		return map[string]float64{"files": 1, "tasks": 2, "edges": edges, "data": 7, "work": 5, "tasks on several cores": cores}
	}
	for name, c := range map[string]struct {
		change func(r *row)
		want   string
	}{
		"right":               {func(r *row) {}, ""},
		"an edge more":        {func(r *row) { r.counts = counts(2, 1) }, "edges: gapwise says 1, count.py 2"},
		"a key more":          {func(r *row) { r.counts = counts(1, 2) }, "tasks on several cores: gapwise says 1, count.py 2"},
		"a fact not named":    {func(r *row) { delete(r.counts, "tasks on several cores") }, "gapwise tells 1 tasks on several cores, 4 at most, count.py doesn't"},
		"another format":      {func(r *row) { r.format = "WfFormat 1.4" }, "isn't of the format WfFormat 1.4"},
		"read, to be refused": {func(r *row) { r.counts = map[string]float64{refused: 1} }, refused + ": gapwise says 0, count.py 1"},
	} {
		r := right
		r.counts = counts(1, 1)
		c.change(&r)
		err := hold(&strings.Builder{}, []row{r}, require.Value(find([]string{folder}))(t))
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	var out strings.Builder
	require.OK(t, hold(&out, []row{right}, nil))
	require.Says(t, "a file that isn't there", out.String(), "skipped, as it isn't there: here w.json", "0 files of 0 rows read, 0 rows differ, 1 skipped")
}
