// SPDX-License-Identifier: MIT

package benchmarks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Combination holds the runs of the parts of one plan's results, each once and in the
// plan's order.
type Combination struct {
	Plan    string
	Records []runs.Record
	Runs    int // of the plan
	// Missing says in words, a line for each shard, which runs aren't there.
	Missing []string
	// Notes holds further remarks, such as runs that were made twice.
	Notes []string
}

// Combine puts the parts of a plan's results together. The plan, nil if it isn't at
// hand, says which runs there must be; without it the records do, by their numbers.
//
// Errors wrap model.ErrInvalid and name a file and line. They report what Merge refuses, and records of several plans,
// or of two states of one plan when p is nil. They also report an instance of one name that differs between parts.
// Another error is a run that p hasn't.
func Combine(records []runs.Record, p *Plan) (*Combination, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("%w results: there are no runs in the parts", model.ErrInvalid)
	}
	bad := func(r *runs.Record, format string, args ...any) error {
		return fmt.Errorf("%w results: %s %s", model.ErrInvalid, r.At(), fmt.Sprintf(format, args...))
	}
	first := &records[0]
	c := &Combination{Plan: first.Plan}
	if p != nil {
		c.Plan = p.Name
	}
	instances := map[string]*runs.Record{}
	for i := range records {
		r := &records[i]
		if r.Plan != c.Plan {
			return nil, bad(r, "is a run of the plan %q, not of %q; give the parts of one plan", r.Plan, c.Plan)
		}
		if other := instances[r.Instance]; other != nil && other.Hash != r.Hash {
			return nil, bad(r, "and %s are of the instance %s, which isn't the same in both; run one of them anew", other.At(), r.Instance)
		}
		instances[r.Instance] = r
	}
	var names *planRuns
	if p != nil {
		var err error
		if names, err = number(p, records); err != nil {
			return nil, err
		}
	}
	if c.Runs = first.Runs; names != nil {
		c.Runs = len(names.runs)
	}
	for i := range records {
		switch r := &records[i]; {
		case names != nil:
		case r.Run < 1 || r.Run > r.Runs:
			return nil, bad(r, "doesn't say which of its plan's runs it is; give the plan, too (--plan)")
		case r.PlanDigest != first.PlanDigest || r.Runs != first.Runs:
			return nil, bad(r, "and %s are of two states of the plan %s; give the plan as it is now, too (--plan)", first.At(), c.Plan)
		}
	}
	var err error
	if c.Records, c.Notes, err = runs.Merge(records); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.Records, func(a, b runs.Record) int { return cmp.Compare(names.place(&a), names.place(&b)) })
	for i := 1; i < len(c.Records); i++ {
		if a, b := &c.Records[i-1], &c.Records[i]; names.place(a) == names.place(b) {
			return nil, bad(b, "and %s are both run %d of the plan %s; give the plan, too (--plan)", a.At(), b.Run, c.Plan)
		}
	}
	c.Missing = missing(c, names)
	return c, nil
}

// planRuns are the runs of a plan.
type planRuns struct {
	numbers map[string]int // by Record.key
	runs    []string       // in words, in the plan's order
	shard   []int          // of each, from 1; 0 if the records don't have one number of shards
}

// number lists the plan's runs and finds each record among them. The numbers that the
// records of a plan that was extended since have are others.
func number(p *Plan, records []runs.Record) (*planRuns, error) {
	cases, err := p.Instances()
	if err != nil {
		return nil, err
	}
	options := map[string]string{}
	names := &planRuns{numbers: map[string]int{}}
	_, err = p.list(cases, p.Algorithms, shards(records), func(l listed) error {
		names.numbers[l.key()] = l.number
		options[l.algorithm.Label] = l.algorithm.settings()
		names.runs = append(names.runs, fmt.Sprintf("%s on %s with seed %d", words.Shorten(l.algorithm.Label, 28), words.Shorten(l.instance.Name, 28), l.seed))
		names.shard = append(names.shard, l.shard)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range records {
		r := &records[i]
		if names.numbers[r.Key()] == 0 {
			return nil, fmt.Errorf("%w results: %s is a run of %s on %s with seed %d, which the plan %s hasn't", model.ErrInvalid, r.At(), r.Algorithm, r.Instance, r.Seed, p.Name)
		}
		if is := options[r.Algorithm]; is != r.Options {
			return nil, fmt.Errorf("%w results: %s is a run of %s with the options %q, the plan says %q", model.ErrInvalid, r.At(), r.Algorithm, r.Options, is)
		}
	}
	return names, nil
}

// place returns the number of a record's run in the plan, by the record itself if the
// plan isn't at hand.
func (p *planRuns) place(r *runs.Record) int {
	if p == nil {
		return r.Run
	}
	return p.numbers[r.Key()]
}

// shards returns the number of shards that the runs were made with, 0 if it isn't the
// same for all.
func shards(records []runs.Record) int {
	of := -1
	for i := range records {
		s, _ := ParseShard(records[i].Shard)
		if of >= 0 && s.Of != of {
			return 0
		}
		of = s.Of
	}
	return max(of, 0)
}

// missing says which runs aren't there.
func missing(c *Combination, names *planRuns) []string {
	there := make([]bool, c.Runs)
	for i := range c.Records {
		there[names.place(&c.Records[i])-1] = true
	}
	of := shards(c.Records)
	if of == 0 || names == nil {
		return missingRuns(c, there, of, names)
	}
	var all []string
	for shard := 1; shard <= of; shard++ {
		var gone []string
		mine := 0
		for k, s := range names.shard {
			if s != shard {
				continue
			}
			if mine++; !there[k] {
				gone = append(gone, names.runs[k])
			}
		}
		if len(gone) > 0 {
			all = append(all, fmt.Sprintf("shard %d of %d: %d of %d runs missing: %s", shard, of, len(gone), mine, few(gone)))
		}
	}
	return all
}

// missingRuns is missing where it isn't known which shard a run belongs to. The known number of runs of each shard
// shows which shards lack some.
func missingRuns(c *Combination, there []bool, of int, names *planRuns) []string {
	var gone []string
	for k, is := range there {
		switch {
		case is:
		case names != nil:
			gone = append(gone, names.runs[k])
		default:
			gone = append(gone, fmt.Sprint(k+1))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	var all []string
	if of > 0 {
		have := make([]int, of)
		for i := range c.Records {
			s, _ := ParseShard(c.Records[i].Shard)
			have[s.Index-1]++
		}
		for k, n := range sizes(c.Runs, of) {
			if have[k] < n {
				all = append(all, fmt.Sprintf("shard %d of %d: %d of %d runs missing", k+1, of, n-have[k], n))
			}
		}
	}
	what := "these are runs"
	if names != nil {
		what = "these are"
	}
	return append(all, fmt.Sprintf("%d of %d runs missing; %s %s", len(gone), c.Runs, what, few(gone)))
}

// few joins the first of some names.
func few(names []string) string {
	const most = 3
	if len(names) <= most+1 {
		return strings.Join(names, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(names[:most], "; "), len(names)-most)
}
