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
	names, err := number(p, records)
	if err != nil {
		return nil, err
	}
	c.Runs = len(names.runs)
	if c.Records, c.Notes, err = runs.Merge(records); err != nil {
		return nil, err
	}
	place := func(r *runs.Record) int { return names.numbers[r.Key()] }
	slices.SortStableFunc(c.Records, func(a, b runs.Record) int { return cmp.Compare(place(&a), place(&b)) })
	there := make([]bool, c.Runs)
	for i := range c.Records {
		b := &c.Records[i]
		if there[place(b)-1] {
			return nil, bad(b, "and %s are both run %d of the plan %s; give the plan, too (--plan)", c.Records[i-1].At(), b.Run, c.Plan)
		}
		there[place(b)-1] = true
	}
	c.Missing = names.missing(there, c.Records)
	return c, nil
}

// planRuns are the runs of a plan.
type planRuns struct {
	numbers map[string]int // by Record.key
	runs    []string       // in words, in the plan's order; by their numbers if only the records are known
	shard   []int          // of each, from 1; nil if it isn't known, 0 if the records don't have one number of shards
}

// number lists the plan's runs and finds each record among them. The numbers that the
// records of a plan that was extended since have are others.
func number(p *Plan, records []runs.Record) (*planRuns, error) {
	names := &planRuns{numbers: map[string]int{}}
	if p == nil {
		first := &records[0]
		for i := range records {
			switch r := &records[i]; {
			case r.Run < 1 || r.Run > r.Runs:
				return nil, fmt.Errorf("%w results: %s doesn't say which of its plan's runs it is; give the plan, too (--plan)", model.ErrInvalid, r.At())
			case r.PlanDigest != first.PlanDigest || r.Runs != first.Runs:
				return nil, fmt.Errorf("%w results: %s and %s are of two states of the plan %s; give the plan as it is now, too (--plan)", model.ErrInvalid, r.At(), first.At(), first.Plan)
			default:
				names.numbers[r.Key()] = r.Run
			}
		}
		for k := range first.Runs {
			names.runs = append(names.runs, fmt.Sprint(k+1))
		}
		return names, nil
	}
	cases, err := p.Instances()
	if err != nil {
		return nil, err
	}
	options := map[string]string{}
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

// missing says which runs aren't there: by shard if they have one number of shards. Where it isn't known which shard a
// run belongs to, the known sizes of shards show which of them lack some.
func (p *planRuns) missing(there []bool, records []runs.Record) (all []string) {
	of := shards(records)
	gone, mine, have := make([][]string, 1+of), make([]int, 1+of), make([]int, 1+of) // by shard, 0: of all
	for i := range records {
		s, _ := ParseShard(records[i].Shard)
		have[min(s.Index, of)]++
	}
	for k, name := range p.runs {
		shard := 0
		if p.shard != nil {
			shard = p.shard[k]
		}
		if mine[shard]++; !there[k] {
			gone[shard] = append(gone[shard], name)
		}
	}
	what := "these are"
	if p.shard == nil {
		what = "these are runs"
	}
	for k := 0; p.shard == nil && k < of; k++ {
		if n := sizes(len(p.runs), of)[k]; n > have[k+1] {
			all = append(all, fmt.Sprintf("shard %d of %d: %d of %d runs missing", k+1, of, n-have[k+1], n))
		}
	}
	for shard, some := range gone {
		switch {
		case len(some) == 0:
		case shard == 0:
			all = append(all, fmt.Sprintf("%d of %d runs missing; %s %s", len(some), len(p.runs), what, few(some)))
		default:
			all = append(all, fmt.Sprintf("shard %d of %d: %d of %d runs missing: %s", shard, of, len(some), mine[shard], few(some)))
		}
	}
	return all
}

// few joins the first of some names.
func few(names []string) string {
	const most = 3
	if len(names) <= most+1 {
		return strings.Join(names, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(names[:most], "; "), len(names)-most)
}
