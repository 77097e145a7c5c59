// SPDX-License-Identifier: MIT

// Package papers holds what papers print of their experiments and say of them, as data, and
// checks it against runs.
package papers

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/model"
	"go.yaml.in/yaml/v3"
)

// Finding is a statement of a paper about its experiments, checked against
// results.
type Finding struct {
	Text    string
	Verdict Verdict
	// Measured describes the figures that decide.
	Measured string
}

// Tabulate returns findings as a table.
func Tabulate(all []Finding) runs.Table {
	t := runs.Table{Header: []string{"", "finding", "measured"}}
	for _, f := range all {
		t.Rows = append(t.Rows, []string{string(f.Verdict), f.Text, f.Measured})
	}
	return t
}

// Verdict says what results tell of a finding.
type Verdict string

// The verdicts.
const (
	Held      Verdict = "held"
	NotHeld   Verdict = "not held"
	Undecided Verdict = "undecided"
)

// paper is what a paper prints and says, as its file has it.
type paper struct {
	File    string `yaml:"-"`
	Kind    model.Kind
	Title   string
	Over    []string            // the parameters that findings are over if none is given; nil: all that vary
	Own     bool                // the findings choose their parameters themselves
	Names   map[string]string   // of algorithms, measures and workloads in findings; else in capitals
	Lists   map[string][]string // of algorithms and measures
	Figures map[string]*Figure  // printed ones
	Tables  map[string][][]string
	Rules   map[string][]rule // findings by experiment
}

// Figure is a number that a paper prints.
type Figure struct {
	Value  float64
	Among  int     // of a count: of how many
	Where  string  // table, figure or section
	What   string  // in words
	Margin float64 // the share of it by which ours may differ
	Why    string  // the reason of the margin
}

//go:embed *.yaml
var files embed.FS

// papers are the papers by problem.
var papers = sync.OnceValue(func() map[model.Kind]*paper {
	all := map[model.Kind]*paper{}
	names, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	for _, f := range names {
		data, err := files.ReadFile(f.Name())
		p := &paper{File: f.Name()}
		if err == nil {
			dec := yaml.NewDecoder(bytes.NewReader(data))
			dec.KnownFields(true)
			err = dec.Decode(p)
		}
		if err != nil { // a test reads all of them
			panic(fmt.Errorf("%s: %w", f.Name(), err))
		}
		all[p.Kind] = p
	}
	return all
})

// Printed returns a figure that the paper on a problem prints.
func Printed(kind model.Kind, name string) (Figure, error) {
	if p := papers()[kind]; p != nil && p.Figures[name] != nil {
		return *p.Figures[name], nil
	}
	return Figure{}, fmt.Errorf("%w paper: that on %s prints no %q", model.ErrInvalid, kind, name)
}

// Table returns the rows of a table that the paper on a problem prints, as printed.
func Table(kind model.Kind, name string) ([][]string, error) {
	if p := papers()[kind]; p != nil && p.Tables[name] != nil {
		return p.Tables[name], nil
	}
	return nil, fmt.Errorf("%w paper: that on %s prints no table %q", model.ErrInvalid, kind, name)
}

// readers read the runs that a paper's findings are about: they say which rules apply,
// and what these need.
var readers = map[model.Kind]func(s *scope, records []runs.Record, x []string) ([]Finding, error){
	model.KindBatch: batchFindings, model.KindDAG: dagFindings, model.KindReservation: reservationFindings, model.KindTVC: tvcFindings, model.KindVCSched: vcschedFindings,
}

// check returns the findings of some rules of the paper over experiments.
func (s *scope) check(rules string, experiments map[string]*experiment) ([]Finding, error) {
	s.experiments = experiments
	all := s.findings(s.Rules[rules])
	return all, *s.err
}

// FindingsOf checks the findings of the paper on the records' problem over x: one
// parameter, or several that change together. An empty x is that of the paper where
// findings go over several parameters, else all that vary.
//
// A finding compares runs in pairs: two algorithms on one instance, or one
// algorithm on one draw at two values of x. A comparison holds if the 95 %
// confidence interval of the mean difference (Student's t over the draws, or over
// the instances where each is a draw of its own) lies wholly on the side that the
// paper says, doesn't hold if it lies wholly on the other side, and is undecided
// otherwise. A printed figure is met if the interval of ours lies wholly within a
// stated margin around it, isn't if it lies wholly outside, and it is undecided
// otherwise.
//
// Each interval stands for itself: none is widened because there are several. Of
// many comparisons whose true difference is 0 one in twenty is decided by chance. A
// finding about several comparisons holds if all hold, which chance makes less
// likely, and doesn't if one doesn't, which it makes more likely.
//
// The error wraps model.ErrInvalid.
func FindingsOf(records []runs.Record, x []string) ([]Finding, error) {
	bad := func(err error) error { return fmt.Errorf("%w results: %w", model.ErrInvalid, err) }
	records, _, err := runs.Merge(records)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, bad(errors.New("there are none to check findings against"))
	}
	for i := range records {
		if err := records[0].Unlike(&records[i]); err != nil {
			return nil, bad(err)
		}
	}
	kind := records[0].Kind
	p, read := papers()[kind], readers[kind]
	switch {
	case p == nil || read == nil:
		return nil, bad(fmt.Errorf("there are no findings about %s; there are some about %q", kind, slices.Sorted(maps.Keys(readers))))
	case p.Own && len(x) > 0:
		return nil, bad(fmt.Errorf("findings about %s are over the paper's own parameters, give none; given are %q", kind, x))
	case !p.Own && len(x) == 0:
		if x = Varied(records); p.Over != nil {
			x = slices.DeleteFunc(x, func(one string) bool { return !slices.Contains(p.Over, one) })
		}
	}
	var failed error
	all, err := read(&scope{paper: p, lists: maps.Clone(p.Lists), facts: map[string]bool{}, vars: map[string]string{}, err: &failed}, records, x)
	if err != nil {
		return nil, bad(err)
	}
	return all, nil
}

// Varied returns the generator parameters, without the draw, that have several
// values among the records, in alphabetical order.
func Varied(records []runs.Record) []string {
	values := map[string]map[float64]bool{}
	for _, r := range records {
		for p, v := range r.Params {
			if values[p] == nil {
				values[p] = map[float64]bool{}
			}
			values[p][v] = true
		}
	}
	var all []string
	for p := range values {
		if len(values[p]) > 1 && p != "draw" {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}
