package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// A run that is there twice counts once, with the same table.
func TestMergeCountsOnce(t *testing.T) {
	once, err := Tabulate(sample(), TableOptions{Columns: []string{"runs", "verified", "objective", "gap mean %"}})
	if err != nil {
		t.Fatal(err)
	}
	again := sample()
	for i := range again {
		again[i].ElapsedS, again[i].Nodes = 7, 7 // another day
	}
	twice, err := Tabulate(append(sample(), again...), TableOptions{Columns: []string{"runs", "verified", "objective", "gap mean %"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(once, twice); d != "" {
		t.Errorf("table (-once,+twice):\n%s", d)
	}
}

func TestMergeContradictions(t *testing.T) {
	at := func(records []Record, file string) []Record {
		for i := range records {
			records[i].File, records[i].Line = file, i+1
		}
		return records
	}
	num := func(x float64) *float64 { return &x }
	for name, c := range map[string]struct {
		edit func(r *Record) // of exact's run on i1: optimal, 0.8
		want string          // empty: no contradiction
	}{
		"nothing":        {func(*Record) {}, ""},
		"time and nodes": {func(r *Record) { r.ElapsedS, r.Nodes = 9, 9 }, ""},
		"objective":      {func(r *Record) { r.Objective = num(0.7) }, "a.jsonl:1 and b.jsonl:1 contradict each other: both are exact on i1 with seed 1, one is optimal, objective 0.8, second objective 0.9, bound 0.8, the other optimal, objective 0.7,"},
		"second":         {func(r *Record) { r.Second = num(0.85) }, "second objective 0.85"},
		"bound":          {func(r *Record) { r.Bound = num(0.81) }, "bound 0.81"},
		"status":         {func(r *Record) { r.Status = model.StatusFeasible }, "the other feasible"},
		"options":        {func(r *Record) { r.Options = "time_limit=1s" }, `one with the options "", the other with "time_limit=1s"`},
		"another seed":   {func(r *Record) { r.Seed = 2 }, ""},
		"bound beaten":   {func(r *Record) { r.Algorithm, r.Bound = "other", num(0.75) }, "b.jsonl:1 and a.jsonl:1 contradict each other: on i1, other proves the bound 0.75, exact has 0.8"},
		"bound met":      {func(r *Record) { r.Algorithm, r.Bound = "other", num(0.8*(1-1e-9)) }, ""},
		"infeasible": {func(r *Record) {
			r.Algorithm, r.Status, r.Objective, r.Bound = "other", model.StatusInfeasible, nil, nil
		}, "other proves i1 infeasible, exact has a solution"},
		"stated bound":    {func(r *Record) { r.Algorithm, r.Bound, r.Sealed = "other", num(0.75), false }, ""},
		"stated solution": {func(r *Record) { r.Algorithm, r.Objective, r.Bound, r.Sealed = "other", num(0.9), nil, false }, "exact proves the bound 0.8, other has 0.9"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := at(sample(), "a.jsonl"), at(sample()[:1], "b.jsonl")
			c.edit(&b[0])
			_, _, err := Merge(append(a, b...))
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// What a line states isn't believed: it counts as stated, and its bound and its
// proof of infeasibility prove nothing to others.
func TestStatedIsNotVerified(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.jsonl")
	runPlan(t, decode(t, quick), RunOptions{Results: file})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	mine := `{"plan":"p","instance":"i","instance_hash":"h","kind":"vcsched","algorithm":"mine","seed":1,"status":"optimal","objective":0.5,"bound":0.5,"gap":0,"elapsed_s":1,"nodes":0,"verified":true,"version":"` + gapwise.Version + `"}` + "\n"
	for name, c := range map[string]struct {
		text             string
		verified, stated int
	}{
		"as it was written":     {lines[0], 1, 0},
		"other order of keys":   {strings.Replace(lines[0], `"plan":"quick",`, "", 1)[:len(lines[0])-len(`"plan":"quick",`)-2] + `,"plan":"quick"}` + "\n", 1, 0},
		"a figure was changed":  {strings.Replace(lines[0], `"objective":0.`, `"objective":0.0`, 1), 0, 1},
		"an algorithm's name":   {strings.Replace(lines[0], `"algorithm":"gr"`, `"algorithm":"g"`, 1), 0, 1},
		"made by hand":          {mine, 0, 1},
		"of another version":    {strings.Replace(mine, gapwise.Version, "0.8.0", 1), 0, 1},
		"with a seal of a sort": {strings.Replace(mine, `"version"`, `"seal":"0123456789abcdef","version"`, 1), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			records, _, err := DecodeRecords(strings.NewReader(c.text), "m.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			table, err := Tabulate(records, TableOptions{Columns: []string{"verified", "stated"}})
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{fmt.Sprint(c.verified), fmt.Sprint(c.stated)}; !cmp.Equal(table.Rows[0][1:], want) {
				t.Errorf("verified and stated are %v, want %v", table.Rows[0][1:], want)
			}
			words := strings.Join(Vouched(records), "; ")
			want := "1 solutions verified by gapwise " + gapwise.Version
			if c.stated > 0 {
				want = "1 solutions are stated, not verified: these lines of m.jsonl are not as gapwise bench writes them"
			}
			if name == "of another version" {
				want = "1 solutions are stated, not verified: these lines of m.jsonl (0.8.0) are of another version, and not as gapwise " + gapwise.Version + " writes them"
			}
			if words != want {
				t.Errorf("in words %q, want %q", words, want)
			}
		})
	}
	// The stated optimum closes nobody's gap.
	records := sample()[3:4] // greedy on i1: 0.4, bound 0.9
	other := sample()[0]
	other.Sealed, other.Algorithm = false, "mine"
	table, err := Tabulate(append(records, other), TableOptions{Algorithms: []string{"greedy"}, Columns: []string{"gap max %"}})
	if err != nil || table.Rows[0][1] != "125.000" {
		t.Errorf("rows %v, error %v: want the gap to the proved bound 0.9", table.Rows, err)
	}
}

// A file of another commit, or of uncommitted changes, isn't gone on with; one that
// is whole may be read by any build.
func TestOtherCommits(t *testing.T) {
	p := decode(t, quick)
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	runPlan(t, p, RunOptions{Results: whole})
	records, _, err := ReadRecords(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := ""
	for i := range records {
		records[i].Commit = "0123456789"
		line, err := records[i].line()
		if err != nil {
			t.Fatal(err)
		}
		lines += string(line)
	}
	write(t, whole, lines)
	if err := Run(context.Background(), p, RunOptions{Results: whole}); err != nil {
		t.Errorf("a whole file: %v", err)
	}
	_, rest, _ := strings.Cut(lines, "\n")
	write(t, whole, rest)
	err = Run(context.Background(), p, RunOptions{Results: whole})
	if !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "whole.jsonl:1 is of commit 0123456789, this is commit unknown") {
		t.Errorf("a part of a file: %v", err)
	}
	if text, err := os.ReadFile(whole); err != nil || string(text) != rest {
		t.Errorf("the file has changed (%v)", err)
	}
	for name, c := range map[string]struct{ is, now, want string }{
		"one commit":         {"a", "a", ""},
		"no commit is known": {"", "", ""},
		"another":            {"a", "b", "is of commit a, this is commit b"},
		"before it was kept": {"", "b", "is of commit unknown, this is commit b"},
		"changes":            {"a", "a+dirty", "is of commit a, this is commit a+dirty"},
		"changes twice":      {"a+dirty", "a+dirty", "of uncommitted changes"},
	} {
		err := goesOn(&Record{Algorithm: "gr", Instance: "i", Commit: c.is}, c.now)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	records[0].Commit = ""
	want := []string{gapwise.Version, gapwise.Version + " (0123456789)"}
	if diff := cmp.Diff(want, Builds(records)); diff != "" {
		t.Errorf("builds (-want,+got)\n%s", diff)
	}
}

// Nothing is written to, or cut off, what isn't this plan's results.
func TestRunLeavesOtherFilesAlone(t *testing.T) {
	p := decode(t, quick)
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	runPlan(t, p, RunOptions{Results: whole})
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	for name, c := range map[string]struct{ text, want string }{
		"notes":                    {"Buy milk.", "line 1"},
		"notes of two lines":       {"Buy milk.\nAnd bread.", "line 1"},
		"JSON of another sort":     {`{"kind":"vcsched"`, "line 1"},
		"a torn run of others":     {`{"plan":"other","instance":"x`, `ends in something else than a run of the plan "quick"`},
		"a run and notes":          {line + "\nBuy milk.", "line 2"},
		"of another version":       {strings.Replace(line, `"version":"`+gapwise.Version+`"`, `"version":"0.1.0"`, 1) + "\n", ":1 is of gapwise 0.1.0, this is " + gapwise.Version},
		"changed by hand":          {strings.Replace(line, `"nodes":`, `"nodes":1`, 1) + "\n", ":1, a run of gr, isn't as gapwise bench has written it"},
		"another plan, not ended":  {strings.Replace(line, `"quick"`, `"other"`, 1), `holds runs of the plan "other"`},
		"a run, and half of notes": {line + "\n{\"note\":", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "notes.txt")
			write(t, file, c.text)
			err := Run(context.Background(), p, RunOptions{Results: file})
			if !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if after, err := os.ReadFile(file); err != nil || string(after) != c.text {
				t.Errorf("the file is now %q, error %v", after, err)
			}
		})
	}
	if err := Run(context.Background(), p, RunOptions{Results: t.TempDir()}); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("a folder for the results: error %v", err)
	}
}

// While one Run writes, another is refused, and the first is whole.
func TestRunLocks(t *testing.T) {
	p := decode(t, quick)
	want := runPlan(t, p, RunOptions{Results: filepath.Join(t.TempDir(), "w.jsonl")})
	file := filepath.Join(t.TempDir(), "r.jsonl")
	refused := 0
	got := runPlan(t, p, RunOptions{Results: file, Workers: 2, Done: func(Record) {
		err := Run(context.Background(), p, RunOptions{Results: file})
		if errors.Is(err, model.ErrInvalid) && strings.Contains(err.Error(), "another gapwise bench is writing "+file) {
			refused++
		}
	}})
	if refused != len(want) {
		t.Errorf("refused %d of %d times", refused, len(want))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("runs (-alone,+disturbed):\n%s", d)
	}
	if got := runPlan(t, p, RunOptions{Results: file}); len(got) != len(want) {
		t.Errorf("%d runs once more, want %d", len(got), len(want))
	}
}
