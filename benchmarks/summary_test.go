// SPDX-License-Identifier: MIT

package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// described checks JSON against a schema of the documents.
func described(t *testing.T, schema string, data []byte) {
	t.Helper()
	s := require.Value(jsonschema.NewCompiler().Compile("../docs/reference/schema/" + schema))(t)
	v := require.Value(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v\n%s", schema, err, data)
	}
}

// names checks that a schema names every key of a struct.
func names(t *testing.T, schema string, of reflect.Type) {
	t.Helper()
	text := require.Value(os.ReadFile("../docs/reference/schema/" + schema))(t)
	for k := range of.NumField() {
		key, _, _ := strings.Cut(of.Field(k).Tag.Get("json"), ",")
		if key != "-" && !bytes.Contains(text, []byte(`"`+key+`": {`)) {
			t.Errorf("%s doesn't name %s", schema, key)
		}
	}
}

func TestSummary(t *testing.T) {
	p := decode(t, quick)
	file := filepath.Join(t.TempDir(), "r.jsonl")
	var got []Summary
	o := RunOptions{Results: file, Shard: Shard{2, 3}, Ended: func(s Summary) { got = append(got, s) }}
	ctx, cancel := context.WithCancel(t.Context())
	stopping := o
	stopping.Done = func(runs.Record) { cancel() }
	require.Refused(t, "stopped", Run(ctx, p, stopping), context.Canceled, "")
	records := runPlan(t, p, o)
	data := require.Value(os.ReadFile(file))(t)
	for line := range bytes.Lines(data) {
		described(t, "run.json", line)
	}
	names(t, "run.json", reflect.TypeFor[runs.Record]())
	names(t, "bench-summary.json", reflect.TypeFor[Summary]())
	names(t, "bench-summary.json", reflect.TypeFor[algorithmSums]())
	require.Is(t, 2, len(got), "summaries")
	for i := range got {
		described(t, "bench-summary.json", require.Value(json.Marshal(got[i]))(t))
	}
	a, b := got[0], got[1]
	if !a.Stopped || a.Runs != len(records) || a.Done != 1 || a.Ran != 1 || b.Stopped || b.Done != len(records) || b.Ran != len(records)-1 || b.Shard != "2/3" {
		t.Errorf("stopped: %+v\nat its end: %+v, of %d runs", a, b, len(records))
	}
	known := runs.Learn(records, nil)
	for k, s := range b.Algorithms {
		count, failed, gap, n := 0, 0, 0.0, 0.0
		for i := range records {
			if r := (runs.Run{Record: &records[i], Known: known[records[i].Hash]}); r.Algorithm == s.Algorithm {
				count++
				if r.Objective == nil && !r.Known.Infeasible {
					failed++
				}
				if r.Objective != nil {
					gap, n = gap+r.Gap(), n+1
				}
			}
		}
		if s.Algorithm != p.Algorithms[k].Label || s.Done != count || s.Failed != failed || (s.GapMean == nil) != (n == 0) || n > 0 && math.Abs(*s.GapMean-gap/n) > 1e-12 || s.Statuses[model.StatusOptimal]+s.Statuses[model.StatusFeasible] != int(n) {
			t.Errorf("%+v: %d count, %d failed, mean gap %v", s, count, failed, gap/n)
		}
	}
	if s := b.Statuses; s[model.StatusOptimal]+s[model.StatusFeasible]+s[model.StatusInfeasible]+s[model.StatusUnknown] != len(records) {
		t.Errorf("statuses %v of %d count", s, len(records))
	}
}
