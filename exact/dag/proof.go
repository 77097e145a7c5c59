package dag

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Proves implements model.Prover.
func (Kernel) Proves() bool { return true }

// prove is kernel with a proof: the kernel alone, up to its own bound, even if other
// bounds or the gap asked for would end the run before. The model has no device that
// the checker doesn't know: tails are those by paths.
func (s *dagSearch) prove() error {
	n, m := s.g.Tasks, s.g.Machines
	if n > 1<<12 || n*n/2*m > maxPairs || m > math.MaxInt8 {
		return fmt.Errorf("%s: %w: %d tasks on %d machines are more than the kernel takes, so there is no proof", s.name, model.ErrUnsupported, n, m)
	}
	v := newTicks(s.g, s.upper, s.tuning.off|devFork)
	if err := v.findWeights(s.ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	upper, end, on := v.fit(s.g, s.plan)
	x := newKernelModel(v, upper)
	k := lcg.NewWith(&x.Model, lcg.Options{Off: lcg.Transitivity}) // from the beginning, before Prove

	k.SetPhases(x.phases(end, on))
	proof, err := k.Prove(s.set.Proof, lcg.Header{Kind: string(model.KindDAG), Instance: s.set.Proof.Instance,
		Unit: strconv.FormatFloat(v.unit, 'g', -1, 64), Upper: int64(upper)})
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.lower = 0 // what isn't in the proof
	best := int64(upper)
	o := k.Minimise(s.ctx, &best, 0, func(o *lcg.Outcome) {
		s.nodes = k.Conflicts
		if o.Values != nil && o.Best < best {
			best = o.Best
			s.take(v, o.Values, x)
		}
		s.lower = max(s.lower, float64(o.Bound)*v.unit)
		s.progress()
	})
	s.nodes = k.Conflicts
	s.lower = max(s.lower, float64(o.Bound)*v.unit)
	if !o.Optimal {
		s.reason = exact.StopReason(s.ctx)
	}
	return proof.Close()
}
