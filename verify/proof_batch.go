// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// batchProof builds the objects in proofs of batches of rigid jobs on one tier. The unit is "T,W": all times are
// multiples of T microseconds, counted from the first submission, and all weights of W, so nothing is rounded.
//
// Variables: "start K", "response", the weighted sum of responses. Constraints:
// "processors", "responses": Σ weight (start + length - submission) ≤ response. On nodes there are those of nodesProof
// instead of "processors".
//
// A job starts no later than the sum of responses leaves it room for, nor than the last submission plus the lengths of
// the others. If nothing runs at some time after the last submission, and something later, the schedule gets better by
// moving all that is later forward.
type batchProof struct {
	s         *proofState
	jobs      *proofCumulative
	responses *proofLinear
	response  int32
	factor    *big.Rat    // seconds of the mean for a sum of 1
	nodes     *nodesProof // nil: processors
}

const maxBatchProof = 1 << 18 // jobs

func newBatchProof(in model.Instance, s *proofState, unit string, upper int64) (proofKind, error) {
	b, ok := in.(*model.Batch)
	if !ok || b.Tiers != 1 {
		return nil, errors.New("there is no checker for jobs on two tiers")
	}
	time, weight, _ := strings.Cut(unit, ",")
	u, err := proofUnit(time, maxProofNumber)
	if err != nil {
		return nil, err
	}
	w, err := proofUnit(weight, maxProofNumber)
	if err != nil {
		return nil, err
	}
	if len(b.Jobs) > maxBatchProof {
		return nil, fmt.Errorf("%d jobs are more than %d, the most that the checker takes", len(b.Jobs), maxBatchProof)
	}
	t := numbersOf(b)
	k := &batchProof{s: s, jobs: &proofCumulative{capacity: int64(t.Processors)}, responses: &proofLinear{}, factor: new(big.Rat)}
	k.jobs.about = func(v int32) int {
		if int(v) > len(b.Jobs) {
			return -1
		}
		return int(v) - 1
	}
	if len(b.Nodes) > 0 {
		if k.nodes, err = newNodesProof(b, s, k.jobs); err != nil {
			return nil, err
		}
	}
	k.response = s.add(0, upper, always)
	k.responses.terms = []proofTerm{{-1, k.response}}
	last, whole, weights := int64(0), int64(0), int64(0) // up to 10^15 µs, 2^61 µs, 10^12
	for i := range t.Jobs {
		last = max(last, t.Jobs[i].Submit)
		if whole += t.Jobs[i].Length; whole > 1<<61 {
			return nil, fmt.Errorf("the lengths of jobs 0 to %d sum to more than %d s, the most that the checker takes", i, int64(1<<61)/1_000_000)
		}
		weights += t.Jobs[i].Weight
	}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		release := j.Submit - t.Jobs[0].Submit
		if release < 0 || release%u != 0 || j.Length%u != 0 || j.Weight%w != 0 {
			return nil, fmt.Errorf("the unit %q doesn't divide the figures of job %d", unit, i)
		}
		release /= u
		length, heavy := j.Length/u, j.Weight/w
		high := min((last-t.Jobs[0].Submit+whole)/u-length, release-length+upper/heavy)
		start := proofStart{always, s.add(release, high, always)}
		k.jobs.starts, k.jobs.lengths = append(k.jobs.starts, start), append(k.jobs.lengths, length)
		k.jobs.demands = append(k.jobs.demands, int64(j.Processes))
		k.responses.terms = append(k.responses.terms, proofTerm{heavy, start.at})
		k.responses.allow(-heavy, length-release)
	}
	if len(t.Jobs) > 0 {
		k.factor.SetFrac64(u, 1_000_000)
		k.factor.Mul(k.factor, new(big.Rat).SetInt64(w)).Quo(k.factor, new(big.Rat).SetInt64(weights))
	}
	return k, nil
}

func (k *batchProof) objective() string { return "response" }

func (k *batchProof) claim(below int64) (string, float64) {
	x := roundDown(new(big.Rat).Mul(k.factor, new(big.Rat).SetInt64(below)))
	return fmt.Sprintf("no schedule has a mean response time below %v s", x), x
}

func (k *batchProof) variable(name []string) (int32, error) {
	switch {
	case len(name) == 1 && name[0] == "response":
		return k.response, nil
	case len(name) == 2 && name[0] == "start":
		i, err := proofIndex(name[1], len(k.jobs.starts))
		return int32(i) + 1, err
	case k.nodes != nil:
		return k.nodes.variable(name)
	}
	return 0, errUnknownName
}

func (k *batchProof) constraint(name []string) (proofRule, error) {
	switch word := strings.Join(name, " "); {
	case word == "responses":
		return k.responses, nil
	case k.nodes != nil:
		return k.nodes.constraint(name)
	case word == "processors":
		return k.jobs, nil
	}
	return nil, errUnknownName
}
