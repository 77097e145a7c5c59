// SPDX-License-Identifier: MIT

package benchmarks

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// Shard is one of Of shares of a plan's runs, Index from 1 to Of. The zero value is
// the whole plan.
//
// The runs are put in order by algorithm, then instance, then seed. Every shard has one of each Of runs that follow
// each other. Which one is drawn again for each such block, from a fixed seed. So shards differ by at most one run, and
// by at most two of an algorithm. No period in the instances, such as small and large ones by turns, falls on one
// shard. All of it depends on nothing but the plan and Of. An instance's runs may be in several shards.
type Shard struct{ Index, Of int }

// maxShards bounds the number of shards: more are almost certainly a mistake.
const maxShards = 1_000_000

// ParseShard reads "3/8". Errors wrap model.ErrInvalid.
func ParseShard(text string) (Shard, error) {
	index, of, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if !ok || err != nil || err2 != nil || i < 1 || i > n || n > maxShards {
		return Shard{}, fmt.Errorf("%w shard: %q, must be i/n with i from 1 to n, n at most %d", model.ErrInvalid, text, maxShards)
	}
	return Shard{i, n}, nil
}

// String returns "3/8", "" for the whole plan.
func (s Shard) String() string {
	if s.whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Stem begins the name of a shard's results files: "quick.3-of-8"; of the whole plan
// "quick".
func (s Shard) Stem(plan string) string {
	if s.whole() {
		return plan
	}
	return fmt.Sprintf("%s.%d-of-%d", plan, s.Index, s.Of)
}

func (s Shard) whole() bool { return s.Of == 0 }

// dealer deals runs out to shards.
type dealer struct {
	of    int
	block int
	order []int // the shard of each run of the block, from 0
}

// shard returns the shard, from 1, of the run at a position, from 0.
func (d *dealer) shard(position int) int {
	if block := position / d.of; d.order == nil || block != d.block {
		d.block, d.order = block, dealt(block, d.of)
	}
	return d.order[position%d.of] + 1
}

func dealt(block, of int) []int { return rand.New(rand.NewPCG(uint64(block), uint64(of))).Perm(of) }

// sizes returns the number of runs of each shard of a plan.
func sizes(total, of int) []int {
	all := make([]int, of)
	for k := range all {
		all[k] = total / of
	}
	for _, k := range dealt(total/of, of)[:total%of] {
		all[k]++
	}
	return all
}

// listing is a plan's runs. They are numbered from 1 in the plan's order: by
// instance, then algorithm, then seed.
type listing struct {
	runs int
	// digest distinguishes plans of different runs, by the names of instances, the labels and options of algorithms,
	// and seeds.
	digest string
}

// listed is one run of a plan.
type listed struct {
	number    int // from 1
	instance  *instances.Planned
	algorithm *Algorithm
	seed      uint64
	shard     int // from 1; 0 without shards
}

func (l *listed) key() string {
	r := runs.Record{Instance: l.instance.Name, Algorithm: l.algorithm.Label, Seed: l.seed}
	return r.Key()
}

// list calls each with every run of a plan, in the plan's order, that is dealt out to
// a number of shards, 0 for none. It stops at the first error and returns it.
func (p *Plan) list(cases []instances.Planned, algorithms []Algorithm, of int, each func(listed) error) (listing, error) {
	chosen := make([][]bool, len(cases)) // [instance][algorithm]
	many := make([]int, len(algorithms))
	for i := range cases {
		features := sync.OnceValues(func() (map[string]float64, error) {
			in, err := cases[i].Load()
			if err != nil {
				return nil, err
			}
			return runs.FeatureValues(in), nil
		})
		chosen[i] = make([]bool, len(algorithms))
		for k := range algorithms {
			var err error
			if chosen[i][k], err = algorithms[k].runs(&cases[i], features); err != nil {
				return listing{}, err
			}
			if chosen[i][k] {
				many[k] += len(p.Seeds)
			}
		}
	}
	position := make([]int, len(algorithms)) // of each algorithm's next run
	for k := 1; k < len(algorithms); k++ {
		position[k] = position[k-1] + many[k-1]
	}
	dealers := make([]dealer, len(algorithms))
	options := make([]string, len(algorithms))
	for k := range algorithms {
		dealers[k].of = of
		options[k] = algorithms[k].settings()
	}
	digest := sha256.New()
	l := listing{}
	for i := range cases {
		for k := range algorithms {
			if !chosen[i][k] {
				continue
			}
			for _, seed := range p.Seeds {
				l.runs++
				fmt.Fprintf(digest, "%q %q %q %d\n", cases[i].Name, algorithms[k].Label, options[k], seed)
				r := listed{l.runs, &cases[i], &algorithms[k], seed, 0}
				if of > 0 {
					r.shard = dealers[k].shard(position[k])
				}
				position[k]++
				if err := each(r); err != nil {
					return l, err
				}
			}
		}
	}
	l.digest = fmt.Sprintf("%.8x", digest.Sum(nil))
	return l, nil
}
