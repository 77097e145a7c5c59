package reservation

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Proves implements model.Prover.
func (Kernel) Proves() bool { return true }

// prove is Solve with a proof: one model of all requests, without dominance and
// multipliers, which the checker doesn't know.
func (e Kernel) prove(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	e.off |= kernelDominance | kernelCharges
	var proof *lcg.Proof
	var none error // why there is no proof
	r, err := solve(ctx, in, set, e.Name(), func(s *searcher) {
		s.algorithm, s.off = e.Name(), quickBounds
		jobs, _ := newJobs(s.t)
		p := newPart(jobs)
		s.parts = []*part{p}
		var x *kernelSearch
		switch unit := proofUnit(s); {
		case unit == 0:
			none = fmt.Errorf("%w: there is no proof for the goal %s, nor of PE-seconds with rounded times", model.ErrUnsupported, s.in.EffectiveGoal())
		case len(jobs) > kernelJobs:
			none = fmt.Errorf("%w: %d requests are more than the kernel takes, so there is no proof", model.ErrUnsupported, len(jobs))
		default:
			x = newKernelSearch(s, p, e)
			proof, none = x.k.Prove(set.Proof, lcg.Header{Kind: string(in.Kind()), Instance: set.Proof.Instance, Unit: fmt.Sprint(unit), Upper: x.total})
		}
		s.prepare = func(*part) error { return none }
		s.attempt = func(p *part, limit int64) { x.run(s, p, limit/kernelNodes) }
	})
	if err == nil && none != nil {
		err = fmt.Errorf("%s: %w", e.Name(), none)
	}
	if err == nil {
		err = proof.Close()
	}
	return r, err
}

// proofUnit returns of how many PE-ticks all weights are multiples, 1 for requests that
// count alike, or 0 if weights aren't whole.
func proofUnit(s *searcher) int64 {
	switch {
	case s.scale.grain == 0 || s.in.EffectiveGoal() == model.GoalAll:
		return 0
	case s.t.Goal.PESeconds():
		return weightUnit(s.t)
	}
	return 1
}
