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
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The page is small enough to be fetched: all its files packed, text as hosts pack it, are below 5.1 MB, and HiGHS, which
// few ask for, below 1.5, and the reader of kubectl's output below 4.
func TestPacked(t *testing.T) {
	page(t)
	folder := require.Value(built())(t)
	all, highs, reader := int64(0), int64(0), int64(0)
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		switch {
		case err != nil || info.IsDir():
		case strings.HasPrefix(info.Name(), "highs-"):
			highs += info.Size()
		case info.Name() == "kubernetes.wasm.gz":
			reader += info.Size()
		case strings.HasSuffix(path, ".gz"):
			all += info.Size()
		default:
			all += packedSize(require.Value(os.ReadFile(path))(t))
		}
		return err
	})
	if err != nil || all > 5_100_000 || highs > 1_500_000 || reader > 4_000_000 {
		t.Errorf("the page has %d bytes, want 5,100,000 at most, HiGHS %d, want 1,500,000, and the reader %d, want 4,000,000; %v", all, highs, reader, err)
	}
	t.Logf("the page has %d bytes, HiGHS %d, the reader of kubectl's output %d", all, highs, reader)
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

// example is one of examples.json.
type example struct {
	Kind, Path, Title string
	Variants          map[string]string
}

// read returns the instance of an example, as the page is to read it.
func (e example) read(t *testing.T) model.Instance {
	t.Helper()
	path := filepath.Join("..", e.Path)
	if filepath.Base(path) == "cluster.json" {
		c := require.Value(kubernetes.Read(map[string][]byte{path: require.Value(os.ReadFile(path))(t)}))(t)
		return require.Value(kubernetes.Convert(c, kubernetes.Options{Prices: kubernetes.PriceByVCPU}))(t).Consolidation
	}
	in := require.Value(instances.Load(path))(t)
	for _, v := range require.Value(gapwise.ProblemOf(in.Kind()))(t).Variants {
		if value := e.Variants[v.Flag]; value != "" {
			in = v.With(in, value)
		}
	}
	return in
}

// Each example of each problem is solved in the page to the value of the library, and the
// judge accepts it; nothing is asked of other hosts, nothing is said on the console.
func TestExamplesInBrowser(t *testing.T) {
	b := newBrowser(t)
	b.open("")
	data := require.Value(os.ReadFile("page/examples.json"))(t)
	var all []example
	require.OK(t, json.Unmarshal(data, &all))
	for _, e := range all {
		file, in := filepath.Base(e.Path), e.read(t)
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
