// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// measured holds the medians of benchmarks by name, like "Growth/jobs=10000/easy",
// and unit.
type measured map[string]map[string]float64

// measure runs benchmarks on one processor, each r.runs times, and keeps what they
// print in results.
func (r *runner) measure(name, pattern string, packages ...string) measured {
	text := must(output("go", append([]string{"test", "-run", "^$", "-bench", pattern, "-benchtime", "300ms", "-count", strconv.Itoa(r.runs), "-cpu", "1", "-timeout", "0"}, packages...)...))
	check(os.WriteFile("results/"+name+".txt", []byte(text+"\n"), 0o644))
	return medians(name, text)
}

// threads ends a benchmark's name unless it ran on one processor.
var threads = regexp.MustCompile(`-\d+$`)

// medians reads what benchmarks print.
func medians(name, text string) measured {
	type figure struct{ name, unit string }
	runs, all := map[figure][]float64{}, measured{}
	read := benchfmt.NewReader(strings.NewReader(text), name)
	for read.Scan() {
		switch x := read.Result().(type) {
		case *benchfmt.SyntaxError:
			panic(x)
		case *benchfmt.Result:
			name := threads.ReplaceAllString(string(x.Name), "")
			all[name] = map[string]float64{}
			for _, v := range x.Values {
				of := figure{name, v.Unit}
				runs[of] = append(runs[of], v.Value)
			}
		}
	}
	check(read.Err())
	for of, values := range runs {
		slices.Sort(values)
		all[of.name][of.unit] = values[len(values)/2]
	}
	return all
}

// Of returns a benchmark's value in a unit.
func (m measured) Of(unit string, name ...string) float64 {
	x, ok := m[strings.Join(name, "")][unit]
	if !ok {
		panic(fmt.Errorf("no benchmark %q reports %s", strings.Join(name, ""), unit))
	}
	return x
}

// Share returns a unit's part of another one, in percent.
func (m measured) Share(unit, of, name string) float64 {
	part := m.Of(unit, name)
	return 100 * part / m.Of(of, name)
}

// cpuTime runs gapwise and returns the CPU seconds that it takes.
func (r *runner) cpuTime(args ...string) float64 {
	seconds, _ := r.spent(args...)
	return seconds
}

// target is a time that a program shall stay below, in seconds, and what was
// measured, under one or several conditions.
type target struct {
	What    string
	Limit   float64
	Most    float64 // largest measurement
	Verdict string
}

// batchTargets compares measurements with the times asked for.
func batchTargets(m measured) []target {
	loads := []string{"0.5", "0.6", "0.7", "0.8", "0.9", "0.95"}
	var all []target
	for _, x := range []struct {
		what       string
		limit      float64
		name       string // with the condition in it
		conditions []string
	}{
		{"EASY, 200,000 jobs", 0.1, "Load/load=%s/easy", loads},
		{"conservative backfilling, 200,000 jobs", 2, "Load/load=%s/conservative", loads},
		{"MEASY, 200,000 jobs", 1, "Load/load=%s/measy", loads},
		{"EASY, the log of KTH", 0.01, "KTH/%s", []string{"easy"}},
		{"read, hash, simulate EASY, judge and bound, 200,000 jobs", 2, "BatchPipeline/%s", []string{"json", "swf"}},
	} {
		t := target{What: x.what, Limit: x.limit}
		var below, above []string
		for _, c := range x.conditions {
			seconds := m.Of("cpu-sec/op", fmt.Sprintf(x.name, c))
			t.Most = max(t.Most, seconds)
			if seconds < x.limit {
				below = append(below, c)
			} else {
				above = append(above, c)
			}
		}
		switch {
		case len(above) == 0:
			t.Verdict = "held"
		case len(below) == 0:
			t.Verdict = "not held"
		default:
			t.Verdict = "held at " + strings.Join(below, ", ") + "; not at " + strings.Join(above, ", ")
		}
		all = append(all, t)
	}
	return all
}
