// SPDX-License-Identifier: MIT

package dag_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
)

// On graphs of the Standard Task Graph set the search proves the published values, and neither bounds nor schedules
// contradict them.
func TestSTGOptima(t *testing.T) {
	t.Parallel()
	table, err := os.Open(need.Data(t, "stg", "makespans.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lower, upper := map[string]float64{}, map[string]float64{}
	for _, r := range rows[1:] {
		key := r[0] + "," + r[1]
		lower[key], _ = strconv.ParseFloat(r[2], 64)
		upper[key], _ = strconv.ParseFloat(r[3], 64)
	}
	archive, err := os.Open(need.Data(t, "stg", "stg-rand.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	z, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	runs, proved, every := 0, 0, 12
	if testing.Short() {
		every = 60
	}
	for files, k := tar.NewReader(z), 0; ; k++ {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(head.Name, ".stg") || k%every > 0 {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		w, err := instances.ReadSTG(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []int{2, 4, 8, 16} {
			p, err := instances.ParsePlatform(fmt.Sprintf("uniform,machines=%d", m))
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Place(head.Name, w)
			if err != nil {
				t.Fatal(err)
			}
			ctx, set := stopAfter(t, 100)
			set.TimeLimit = time.Second // the kernel reports nothing for long if it finds nothing
			search := model.Solver(dagexact.Search)
			if m%8 == 0 {
				search = fromPoor
			}
			r, err := search.Solve(ctx, d, set)
			if err != nil {
				t.Fatal(err)
			}
			key := fmt.Sprintf("%s,%d", strings.TrimPrefix(head.Name, "./"), m)
			if upper[key] == 0 {
				t.Fatalf("%s isn't in the table", key)
			}
			runs++
			if r.Status == model.StatusOptimal {
				proved++
			}
			if r.Objective < lower[key] || r.Bound > upper[key] {
				t.Errorf("%s: %s %v, bound %v; published are %v and %v", key, r.Status, r.Objective, r.Bound, lower[key], upper[key])
			}
		}
	}
	t.Logf("%d of %d proved", proved, runs)
	if proved < runs/3 || runs < 480/every {
		t.Errorf("%d of %d proved", proved, runs)
	}
}
