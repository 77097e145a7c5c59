// SPDX-License-Identifier: MIT

package swf_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
)

// data is one of the archive's logs, gzipped; the test is skipped without it.
func data(t testing.TB, name string) []byte {
	t.Helper()
	return require.Value(os.ReadFile(require.Data(t, "swf", name+".swf.gz")))(t)
}

// The logs of the Parallel Workloads Archive have the known figures, and each
// field of each job has the value that its text has for strconv.
func TestArchive(t *testing.T) {
	for name, c := range map[string]struct {
		jobs           int
		maxJobs, procs int64
		computer       string
		days, load     string
		notes, queues  int
		unsized        int
		noRuntime      int
		noEstimate     int
	}{
		"KTH-SP2-1996-2.1-cln":   {28476, 28490, 100, "IBM SP2", "332.9", "0.701", 2, 0, 1, 8, 0},
		"NASA-iPSC-1993-3.1-cln": {18239, 42264, 128, "Intel iPSC/860", "92.0", "0.466", 4, 2, 0, 173, 18239},
		"LANL-CM5-1994-4.1-cln":  {122060, 201387, 1024, "Thinking Machines CM-5", "720.9", "0.744", 3, 18, 3, 2, 11290},
	} {
		t.Run(name, func(t *testing.T) {
			zipped := data(t, name)
			l := require.Value(swf.ReadAll(bytes.NewReader(zipped)))(t)
			h := l.Header
			maxJobs, _ := require.Pair(h.Int("MaxJobs"))(t)
			procs := require.Value(h.Procs())(t)
			version, _ := h.Get("Version")
			computer, _ := h.Get("Computer")
			if len(l.Jobs) != c.jobs || maxJobs != c.maxJobs || procs != c.procs || version != "2.2" || computer != c.computer ||
				keys(h, "Note") != c.notes || keys(h, "Queue") != c.queues {
				t.Errorf("%d jobs, header %+v", len(l.Jobs), h)
			}
			first, last := l.Jobs[0], l.Jobs[len(l.Jobs)-1]
			span := float64(last.Submit - first.Submit)
			var work float64
			var unsized, noRuntime, noEstimate int
			for k := range l.Jobs {
				j := &l.Jobs[k]
				if j.Procs > 0 && j.Runtime > 0 {
					work += float64(j.Procs) * float64(j.Runtime)
				}
				count := func(n *int, is bool) {
					if is {
						*n++
					}
				}
				count(&unsized, j.Procs <= 0)
				count(&noRuntime, j.Runtime == 0)
				count(&noEstimate, j.RequestedTime == swf.Unknown)
			}
			if days, load := fmt.Sprintf("%.1f", span/86400), fmt.Sprintf("%.3f", work/(float64(procs)*span)); days != c.days || load != c.load {
				t.Errorf("%s days at load %s, want %s and %s", days, load, c.days, c.load)
			}
			if unsized != c.unsized || noRuntime != c.noRuntime || noEstimate != c.noEstimate {
				t.Errorf("%d without a size, %d with runtime 0, %d without estimate", unsized, noRuntime, noEstimate)
			}
			if !slices.IsSortedFunc(l.Jobs, func(a, b swf.Job) int { return int(a.Number - b.Number) }) {
				t.Error("the job numbers don't ascend")
			}
			plain := require.Value(io.ReadAll(require.Value(gzip.NewReader(bytes.NewReader(zipped)))(t)))(t)
			k := 0
			for line := range strings.Lines(string(plain)) {
				if text := strings.Fields(line); len(text) > 0 && !strings.HasPrefix(text[0], ";") {
					for f, got := range values(&l.Jobs[k]) {
						if want, err := strconv.ParseFloat(text[f], 64); err != nil || got != want {
							t.Fatalf("job %d: field %d is %v, want %s", k, f+1, got, text[f])
						}
					}
					k++
				}
			}
			if k != len(l.Jobs) {
				t.Errorf("the file has %d jobs", k)
			}
		})
	}
}

// keys counts the fields with a key.
func keys(h swf.Header, key string) (n int) {
	for _, f := range h {
		if f.Key == key {
			n++
		}
	}
	return n
}

// BenchmarkRead reads 200,000 jobs, shaped as LANL-CM5's.
func BenchmarkRead(b *testing.B) {
	const jobs = 200_000
	var text strings.Builder
	for k := range jobs {
		fmt.Fprintf(&text, "%5d %8d %6d %6d %4d %6.2f %5d   -1 %6d %5d  1 %3d %3d %3d  1 -1 -1 -1\n", k+1, 500*k, k%977, k%10800, 32<<(k%5), float64(k%99991)/100, k%26828, k%3600, k%32768, k%211, k%17, k%331)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	require.OK(b, require.Err(io.WriteString(z, text.String())))
	require.OK(b, z.Close())
	for _, c := range []struct {
		name, text string
		read       func(io.Reader) (int, error)
	}{{"plain", text.String(), stream}, {"gzip", zipped.String(), stream}, {"log", text.String(), readAll}} {
		b.Run(fmt.Sprintf("%s/jobs=%d", c.name, jobs), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if n, err := c.read(strings.NewReader(c.text)); n != jobs || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func stream(r io.Reader) (n int, err error) {
	in := swf.NewReader(r)
	for {
		switch _, err := in.Next(); err {
		case nil:
			n++
		case io.EOF:
			return n, nil
		default:
			return n, err
		}
	}
}

func readAll(r io.Reader) (int, error) {
	l, err := swf.ReadAll(r)
	if err != nil {
		return 0, err
	}
	return len(l.Jobs), nil
}
