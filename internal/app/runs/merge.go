// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Current returns the records without runs by an earlier state of a user's program: of the records of one run, those with
// the program of the last one stay. notes has a line for each algorithm with runs left out. O(R) for R records.
func Current(records []Record) (some []Record, notes []string) {
	last := map[string]string{}
	key := func(r *Record) string { return r.Plan + "\x00" + r.Key() }
	for i := range records {
		last[key(&records[i])] = records[i].Program
	}
	left, labels := map[string]int{}, []string(nil)
	for i := range records {
		if r := &records[i]; last[key(r)] == r.Program {
			some = append(some, *r)
		} else if left[r.Algorithm]++; left[r.Algorithm] == 1 {
			labels = append(labels, r.Algorithm)
		}
	}
	for _, a := range labels {
		notes = append(notes, fmt.Sprintf("%s of %s left out: its program has changed since, and ran again", words.Plural(left[a], "run"), a))
	}
	return some, notes
}

// Merge removes repeated runs (same instance, algorithm, options and seed) from
// the records of several files.
//
// If records contradict each other the error wraps model.ErrInvalid and names two of them by file and line.
// Contradictions are a run and its repetition with another status, objective or bound; and a solution that beats a
// bound proved by another run, or of an instance proved infeasible. A run under a time limit depends on the machine, so
// its repetition may differ: the first one is kept, and notes has a line for each. Only Current records count.
func Merge(records []Record) (all []Record, notes []string, err error) {
	type run struct {
		hash, algorithm string
		seed            uint64
	}
	bad := func(a, b *Record, format string, args ...any) error {
		return fmt.Errorf("%w results: %s and %s contradict each other: %s", model.ErrInvalid, a.At(), b.At(), fmt.Sprintf(format, args...))
	}
	records, notes = Current(records)
	index := map[run]int{}
	for i := range records {
		r := &records[i]
		key := run{r.Hash, r.Algorithm, r.Seed}
		k, twice := index[key]
		if !twice {
			index[key] = len(all)
			all = append(all, *r)
			continue
		}
		what := fmt.Sprintf("both are %s on %s with seed %d", r.Algorithm, r.Instance, r.Seed)
		if a, b := all[k].Options, r.Options; a != b {
			return nil, nil, bad(&all[k], r, "%s, one with the options %q, the other with %q; give one of them", what, a, b)
		}
		if a, b := all[k].outcome(), r.outcome(); a != b {
			if !r.timed() {
				return nil, nil, bad(&all[k], r, "%s, one is %s, the other %s; give one of them", what, a, b)
			}
			notes = append(notes, fmt.Sprintf("%s and %s are one run under a time limit, with two results: one is %s, the other %s; the first is kept", all[k].At(), r.At(), a, b))
		}
		if r.Sealed && !all[k].Sealed {
			all[k] = *r
		}
	}
	known := Learn(records, nil)
	for i := range records {
		r := &records[i]
		k := known[r.Hash]
		switch p, b := k.infeasible, k.proof; {
		case r.Objective == nil:
		case p != nil:
			return nil, nil, bad(p, r, "%s proves %s infeasible, %s has a solution", p.Algorithm, r.Instance, r.Algorithm)
		case b != nil && k.Sense.Better(*r.Objective, *b.Bound) && model.Gap(*r.Objective, *b.Bound) > model.DefaultGap:
			return nil, nil, bad(b, r, "on %s, %s proves the bound %v, %s has %v", r.Instance, b.Algorithm, *b.Bound, r.Algorithm, *r.Objective)
		}
	}
	return all, notes, nil
}

// timed reports whether a clock may have stopped the run: auto has a limit of its own.
func (r *Record) timed() bool {
	return strings.Contains(r.Options, "time_limit=") || r.Algorithm == "auto" && r.Options == "" || strings.Contains(r.Options, "algorithm=auto")
}

// outcome describes a run's solution and proof.
func (r *Record) outcome() string {
	text := string(r.Status)
	for _, x := range []struct {
		name  string
		value *float64
	}{{"objective", r.Objective}, {"second objective", r.Second}, {"bound", r.Bound}} {
		if x.value != nil && !math.IsNaN(*x.value) {
			text += fmt.Sprintf(", %s %v", x.name, *x.value)
		}
	}
	return text
}

// Builds names the versions of gapwise that the records are of, with their commits,
// in the order in which they appear.
func Builds(records []Record) []string {
	return distinct(records, (*Record).build)
}

// distinct returns the texts that records have, each once, in the order in which they appear.
func distinct(records []Record, of func(*Record) string) (all []string) {
	for i := range records {
		if x := of(&records[i]); x != "" && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// build names the version and the commit that a run is of.
func (r *Record) build() string {
	if r.Commit == "" {
		return r.Version
	}
	return fmt.Sprintf("%s (%s)", r.Version, r.Commit)
}

// Vouched puts in words how many solutions were verified, by version and commit of gapwise, and how many are only
// stated.
func Vouched(records []Record) []string {
	byVersion := map[string]int{}
	var versions []string
	var edited, others unsealed
	for i := range records {
		switch r := &records[i]; {
		case r.Objective == nil && !r.Verified:
		case r.Sealed && r.Verified:
			if byVersion[r.build()]++; byVersion[r.build()] == 1 {
				versions = append(versions, r.build())
			}
		case r.Version != gapwise.Version && r.Version != "":
			others.add(r.File + " (" + r.Version + ")")
		default:
			edited.add(r.File)
		}
	}
	var all []string
	for _, v := range versions {
		all = append(all, fmt.Sprintf("%s verified by gapwise %s", words.Plural(byVersion[v], "solution"), v))
	}
	if n := edited.count; n > 0 {
		all = append(all, fmt.Sprintf("%d solutions are stated, not verified: these lines of %s are not as gapwise bench writes them", n, strings.Join(edited.files, ", ")))
	}
	if n := others.count; n > 0 {
		all = append(all, fmt.Sprintf("%d solutions are stated, not verified: these lines of %s are of another version, and not as gapwise %s writes them", n, strings.Join(others.files, ", "), gapwise.Version))
	}
	return all
}

// unsealed counts runs that can't be vouched for, and names their files, each once.
type unsealed struct {
	count int
	files []string
}

func (u *unsealed) add(file string) {
	if u.count++; !slices.Contains(u.files, file) {
		u.files = append(u.files, file)
	}
}
