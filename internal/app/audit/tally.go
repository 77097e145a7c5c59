// SPDX-License-Identifier: MIT

package audit

import (
	"sync"

	"github.com/gapwise/gapwise/model"
)

// comparison is a kind of comparison; each kind is counted.
type comparison int

// The kinds of comparisons.
const (
	judged      comparison = iota // a solution by the judge, with its objective, bound and gap, or a forged one
	bounded                       // a solution against a bound or a claim of infeasibility of another's
	related                       // two claims of one engine, joined by a relation or by another way to search
	twoEngines                    // the proofs of two engines
	plainEngine                   // a proof against the plain engine, which looked at everything
	replayed                      // a proof of the kernel, which the judge's checker replayed
	recomputed                    // a bound by its evidence, which the judge recomputed
	comparisons
)

var comparisonNames = [comparisons]string{
	"solution, or forged one, against the judge",
	"solution against another's bound",
	"proof against a related proof",
	"proof against another engine's",
	"proof against the plain engine's",
	"the kernel's proof, replayed by the checker",
	"bound against the judge's, from its evidence",
}

// Tally counts the comparisons that agreed. Several goroutines may use it.
type Tally struct {
	mu sync.Mutex
	// Counts are by comparison, of instances with less than 12 tasks, jobs or requests, and of others.
	Counts map[model.Kind]*[comparisons][2]int64 `json:"counts"`
	// Instances are by size.
	Instances map[model.Kind]*[3]int64 `json:"instances"`
}

// NewTally returns a tally without counts.
func NewTally() *Tally {
	return &Tally{Counts: map[model.Kind]*[comparisons][2]int64{}, Instances: map[model.Kind]*[3]int64{}}
}

// Add adds the counts of another tally, which must not be in use.
func (t *Tally) Add(o *Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, counts := range o.Counts {
		if t.Counts[k] == nil {
			t.Counts[k] = new([comparisons][2]int64)
		}
		for c, n := range counts {
			t.Counts[k][c][0] += n[0]
			t.Counts[k][c][1] += n[1]
		}
	}
	for k, sizes := range o.Instances {
		if t.Instances[k] == nil {
			t.Instances[k] = new([3]int64)
		}
		for s, n := range sizes {
			t.Instances[k][s] += n
		}
	}
}

func (t *Tally) add(c comparison, in model.Instance) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := in.Kind()
	if t.Counts[k] == nil {
		t.Counts[k] = new([comparisons][2]int64)
	}
	big := 0
	if atLeast12(in) {
		big = 1
	}
	t.Counts[k][c][big]++
}

func (t *Tally) drew(k model.Kind, s size) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Instances[k] == nil {
		t.Instances[k] = new([3]int64)
	}
	t.Instances[k][s]++
}

// Comparisons returns how many comparisons agreed, and how many instances were drawn. It also counts the comparisons
// between the proofs of two engines on instances of at least 12 tasks, jobs or requests, and the comparisons of a proof
// that the checker replayed.
func (t *Tally) Comparisons() (all, engines, proofs, instances int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, counts := range t.Counts {
		for c, n := range counts {
			all += n[0] + n[1]
			if comparison(c) == twoEngines || comparison(c) == plainEngine {
				engines += n[1]
			}
			if comparison(c) == replayed {
				proofs += n[0] + n[1]
			}
		}
	}
	for _, n := range t.Instances {
		instances += n[0] + n[1] + n[2]
	}
	return all, engines, proofs, instances
}
