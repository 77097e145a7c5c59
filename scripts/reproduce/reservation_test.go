// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
)

// Exponents are those of the figures that grew, and a run that is missing is an
// error.
func TestGrowthOf(t *testing.T) {
	var lines []string
	for _, over := range []string{"records", "window", "PEs"} {
		for _, op := range []string{"find", "find-du-b", "update"} {
			for _, larger := range []bool{false, true} {
				for list, exponent := range map[string]float64{"plain": 2, "fast": 0.5} {
					x := map[string]float64{"records": 1000, "window": 8, "PEs": 1024}
					if larger {
						x[over] *= 4
					}
					lines = append(lines, fmt.Sprintf("BenchmarkGrowth/over=%s/larger=%t/op=%s/%s 1  12345 ns/op  %v PEs  %v cpu-ns/op  %v in-window  %v records\n",
						over, larger, op, list, x["PEs"], 3*math.Pow(x[over], exponent), x["window"], x["records"]))
				}
			}
		}
	}
	all := growthOf("goos: linux\n" + strings.Join(lines, "") + "PASS\n")
	require.Is(t, 9, len(all), all)
	for what, g := range all {
		require.Same(t, what, "2.00, 0.50", g)
	}
	fails(t, "no error without a line", "", func() { growthOf(strings.Join(lines[1:], "")) })
}

// Each instance of a log belongs to its experiment alone.
func TestReservationLogs(t *testing.T) {
	t.Chdir("../..")
	found := map[string]int{}
	for _, log := range []string{"LANL-CM5-1994-4.1-cln", "KTH-SP2-1996-2.1-cln", "NASA-iPSC-1993-3.1-cln"} {
		spec := instances.NewReservationSpec()
		spec.SWF = "/data/" + log + ".swf.gz"
		for _, e := range sets("experiments, logs") {
			if regexp.MustCompile(e.Pattern).MatchString(instances.Nth(&spec, spec.Index, 10, 1).Name) && strings.HasPrefix(log, e.Title+"-") {
				found[e.Title]++
			}
		}
	}
	if len(found) != 3 || found["KTH-SP2"] != 1 {
		t.Errorf("the logs have %v", found)
	}
}
