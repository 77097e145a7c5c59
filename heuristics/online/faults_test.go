// SPDX-License-Identifier: MIT

package online_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// turn is a line of a transcript of any problem.
type turn struct {
	AtS     float64          `json:"at_s"`
	Told    []map[string]any `json:"told,omitempty"`
	Decided []map[string]any `json:"decided,omitempty"`
}

// is reports whether an event or a decision is of one of some types.
func is(x map[string]any, types ...string) bool { return slices.Contains(types, x["type"].(string)) }

// pick returns the index of a turn of a sort, and of an entry in it; ok is false if
// there is none.
func pick(rng *rand.Rand, all []turn, of func(*turn) []map[string]any, fits func(k int, x map[string]any) bool) (k, i int, ok bool) {
	var found [][2]int
	for k := range all {
		for i, x := range of(&all[k]) {
			if fits(k, x) {
				found = append(found, [2]int{k, i})
			}
		}
	}
	if len(found) == 0 {
		return 0, 0, false
	}
	at := found[rng.IntN(len(found))]
	return at[0], at[1], true
}

func toldOf(t *turn) []map[string]any    { return t.Told }
func decidedOf(t *turn) []map[string]any { return t.Decided }

// commonFaults plant in a transcript of any problem what a policy can't have been told, or
// can't have decided. Each reports whether it found a place for it. Types are those of the
// decisions that can be made at one instant alone.
var commonFaults = map[string]func(rng *rand.Rand, all []turn, types []string) bool{
	"told a turn earlier": func(rng *rand.Rand, all []turn, _ []string) bool {
		k, i, ok := pick(rng, all, toldOf, func(k int, _ map[string]any) bool { return k > 0 && all[k-1].AtS < all[k].AtS })
		if ok {
			all[k-1].Told = append(all[k-1].Told, all[k].Told[i])
			all[k].Told = slices.Delete(all[k].Told, i, i+1)
		}
		return ok
	},
	"told a turn later": func(rng *rand.Rand, all []turn, _ []string) bool {
		k, i, ok := pick(rng, all, toldOf, func(k int, _ map[string]any) bool { return k+1 < len(all) && all[k].AtS < all[k+1].AtS })
		if ok {
			all[k+1].Told = append([]map[string]any{all[k].Told[i]}, all[k+1].Told...)
			all[k].Told = slices.Delete(all[k].Told, i, i+1)
		}
		return ok
	},
	"not told": func(rng *rand.Rand, all []turn, _ []string) bool {
		k, i, ok := pick(rng, all, toldOf, func(_ int, x map[string]any) bool { return !is(x, "called") })
		if ok {
			all[k].Told = slices.Delete(all[k].Told, i, i+1)
		}
		return ok
	},
	"told twice": func(rng *rand.Rand, all []turn, _ []string) bool {
		k, i, ok := pick(rng, all, toldOf, func(int, map[string]any) bool { return true })
		if ok {
			all[k].Told = append(all[k].Told, all[k].Told[i])
		}
		return ok
	},
	"decided before it is told of": func(rng *rand.Rand, all []turn, types []string) bool {
		k, i, ok := pick(rng, all, decidedOf, func(k int, x map[string]any) bool {
			return k > 0 && is(x, types...) && slices.ContainsFunc(all[k].Told, func(e map[string]any) bool {
				return is(e, "submitted") && (e["request"] == x["request"] && e["job"] == x["job"])
			})
		})
		if ok {
			all[k-1].Decided = append(all[k-1].Decided, all[k].Decided[i])
			all[k].Decided = slices.Delete(all[k].Decided, i, i+1)
		}
		return ok
	},
	"not decided": func(rng *rand.Rand, all []turn, types []string) bool {
		k, i, ok := pick(rng, all, decidedOf, func(_ int, x map[string]any) bool { return is(x, types...) })
		if ok {
			all[k].Decided = slices.Delete(all[k].Decided, i, i+1)
		}
		return ok
	},
}

// faultTest holds transcripts of one problem against the judge.
type faultTest struct {
	rng    *rand.Rand
	schema *jsonschema.Schema
	types  []string // see commonFaults
	// own plant faults of the problem, in a transcript or in a solution, which is a copy.
	own     map[string]func(rng *rand.Rand, all []turn, s model.Solution) bool
	planted map[string]int
	seen    map[string]int // violations of the constraints
}

func newFaultTest(t *testing.T, rng *rand.Rand, schema string, types ...string) *faultTest {
	compiled, err := jsonschema.NewCompiler().Compile("../../docs/reference/schema/" + schema + "-transcript.json")
	if err != nil {
		t.Fatal(err)
	}
	return &faultTest{rng: rng, schema: compiled, types: types, planted: map[string]int{}, seen: map[string]int{}}
}

// check has the judge accept a transcript, and refuse it with each fault planted.
func (f *faultTest) check(t *testing.T, in model.Instance, s model.Solution, text string) {
	t.Helper()
	r, err := verify.Verify(t.Context(), in, s, verify.Options{Transcript: strings.NewReader(text)})
	if err != nil || !r.Feasible() || !r.Online {
		what, _ := json.Marshal(in)
		t.Fatalf("%v, %v\n%s\n%s", err, r.Violations, text, what)
	}
	lines := strings.SplitAfter(strings.TrimSpace(text), "\n")
	for _, l := range lines {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(l))
		if err == nil {
			err = f.schema.Validate(doc)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, l)
		}
	}
	all := map[string]func(*rand.Rand, []turn, model.Solution) bool{}
	maps.Copy(all, f.own)
	for name, plant := range commonFaults {
		all[name] = func(rng *rand.Rand, turns []turn, _ model.Solution) bool { return plant(rng, turns, f.types) }
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var turns []turn
		for _, l := range lines[1:] {
			var x turn
			if err := json.Unmarshal([]byte(l), &x); err != nil {
				t.Fatal(err)
			}
			turns = append(turns, x)
		}
		written, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		other, err := model.DecodeSolution(written)
		if err != nil {
			t.Fatal(err)
		}
		if !all[name](f.rng, turns, other) {
			continue
		}
		f.planted[name]++
		forged := bytes.NewBufferString(lines[0])
		for k := range turns {
			if err := json.NewEncoder(forged).Encode(turns[k]); err != nil {
				t.Fatal(err)
			}
		}
		r, err := verify.Verify(t.Context(), in, other, verify.Options{Transcript: bytes.NewReader(forged.Bytes())})
		if err == nil && (r.Online || r.Feasible()) {
			what, _ := json.Marshal(in)
			t.Fatalf("%s: %v\n%s\ninstead of\n%s\n%s\n%s", name, r.Violations, forged, text, what, written)
		}
		for _, v := range r.Violations {
			f.seen[v.Constraint]++
		}
	}
}

// done fails if a fault had no place.
func (f *faultTest) done(t *testing.T) {
	for name := range commonFaults {
		if f.planted[name] == 0 {
			t.Errorf("no place was found for %q", name)
		}
	}
	for name := range f.own {
		if f.planted[name] == 0 {
			t.Errorf("no place was found for %q", name)
		}
	}
}
