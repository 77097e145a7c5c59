// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Each value is the middle one of three runs, and verdicts follow from limits.
func TestBatchTargets(t *testing.T) {
	var text strings.Builder
	add := func(name string, seconds float64) {
		for _, factor := range []float64{1, 100, 0.1} {
			fmt.Fprintf(&text, "Benchmark%s 1 5 ns/op %v cpu-sec/op %v read-sec/op\n", name, factor*seconds, factor*seconds/4)
		}
	}
	for _, load := range []string{"0.5", "0.6", "0.7", "0.8", "0.9", "0.95"} {
		add("Load/load="+load+"/easy", map[string]float64{"0.5": 0.05, "0.9": 0.25}[load]+1e-3)
		add("Load/load="+load+"/conservative", 2.5)
		add("Load/load="+load+"/measy", 0.5)
	}
	add("KTH/easy", 0.02)
	add("BatchPipeline/json", 1)
	fails(t, "no error without the pipeline of SWF", "", func() { batchTargets(medians("test", text.String())) })
	add("BatchPipeline/swf", 3)
	m := medians("test", text.String())
	require.Same(t, "a share", float64(25), m.Share("read-sec/op", "cpu-sec/op", "BatchPipeline/json"))
	want := []target{
		{"EASY, 200,000 jobs", 0.1, 0.251, "held at 0.5, 0.6, 0.7, 0.8, 0.95; not at 0.9"},
		{"conservative backfilling, 200,000 jobs", 2, 2.5, "not held"},
		{"MEASY, 200,000 jobs", 1, 0.5, "held"},
		{"EASY, the log of KTH", 0.01, 0.02, "not held"},
		{"read, hash, simulate EASY, judge and bound, 200,000 jobs", 2, 3, "held at json; not at swf"},
	}
	if got := batchTargets(m); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
