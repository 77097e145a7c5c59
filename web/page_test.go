// SPDX-License-Identifier: MIT

package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The page is small enough to be fetched: all its files packed, text as hosts pack it, are below 5 MB, and HiGHS, which
// few ask for, below 1.5.
func TestPacked(t *testing.T) {
	page(t)
	folder := require.Value(built())(t)
	all, highs := int64(0), int64(0)
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		switch {
		case err != nil || info.IsDir():
		case strings.HasPrefix(info.Name(), "highs-"):
			highs += info.Size()
		case strings.HasSuffix(path, ".gz"):
			all += info.Size()
		default:
			all += packedSize(require.Value(os.ReadFile(path))(t))
		}
		return err
	})
	if err != nil || all > 5_000_000 || highs > 1_500_000 {
		t.Errorf("the page has %d bytes, want 5,000,000 at most, and HiGHS %d, want 1,500,000; %v", all, highs, err)
	}
	t.Logf("the page has %d bytes, HiGHS %d", all, highs)
}

// packedSize returns the size of data as gzip.
func packedSize(data []byte) int64 {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a buffer takes all
	_ = z.Close()
	return int64(b.Len())
}

// unproved are examples that the page doesn't prove: what is solved is a heuristic's.
var unproved = map[string]string{"sixteen-hosts.json": "mcb8", "forty-clusters.json": "adaba"}

// Each example of each problem is solved in the page to the value of the library, and the
// judge accepts it; nothing is asked of other hosts, nothing is said on the console.
func TestExamplesInBrowser(t *testing.T) {
	b := newBrowser(t)
	b.open("")
	data := require.Value(os.ReadFile("page/examples.json"))(t)
	var all []struct{ Kind, Path, Title string }
	require.OK(t, json.Unmarshal(data, &all))
	for _, e := range all {
		file := filepath.Base(e.Path)
		in := require.Value(instances.Load(filepath.Join("..", e.Path)))(t)
		r := require.Value(gapwise.Solve(context.Background(), in,
			gapwise.Options{Algorithm: unproved[file], Settings: model.Settings{Seed: 1, TimeLimit: 2 * time.Minute}}))(t)
		b.click("[data-kind=" + e.Kind + "]")
		b.until(idle)
		b.choose("#example", file)
		b.until(idle)
		if name := unproved[file]; name != "" {
			b.choose("#algorithm", name)
		} else {
			b.choose("#algorithm", "auto")
			b.choose("#limit", "50") // of the clock, as the library's limit: other tests run beside them
		}
		b.solve()
		got := eval[struct {
			Objective, Bound float64
			Status           string
			Accepted         bool
			Boxes            int
		}](b, `import("/state.js").then(m => ({Objective: m.state.shown.objective, Bound: m.state.shown.bound, Status: m.state.shown.status,
			Accepted: m.state.shown.verdict.accepted, Boxes: document.querySelectorAll("#scene [data-box]").length}))`)
		if got.Objective != r.Objective || !got.Accepted || got.Boxes == 0 || unproved[file] == "" && got.Status != string(r.Status) {
			t.Errorf("%s: the page says %+v, the library %v, bound %v, %s", e.Path, got, r.Objective, r.Bound, r.Status)
		}
		if !math.IsNaN(r.Bound) && r.Status == model.StatusOptimal && got.Bound != r.Bound {
			t.Errorf("%s: the page's bound is %v, the library's %v", e.Path, got.Bound, r.Bound)
		}
	}
	b.Quiet()
}
