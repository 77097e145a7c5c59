// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// addEvidence records how a result's bound follows, if its solver didn't. It uses the first quick bound that is as
// strong and that the judge can recompute. Otherwise it uses the proof that its solver wrote of just this bound, or
// else the engine's search.
func (t *attempt) addEvidence(ctx context.Context, r *model.Result) {
	infeasible := r.Status == model.StatusInfeasible
	if r.Evidence != nil || !infeasible && r.Bound != r.Bound {
		return
	}
	sense := model.SenseOf(t.Instance)
	quick := t.quickBounds()
	if e := implying(ctx, t.judge, sense, quick, r.Bound, infeasible); e != nil {
		r.Evidence = e
		return
	}
	if t.set.Proof != nil && (infeasible || r.Bound == t.own) {
		r.Evidence = &model.Evidence{Type: evidence.Proof, Engine: r.Algorithm, Nodes: r.Nodes}
		return
	}
	if !t.proves {
		return
	}
	e := &model.Evidence{Type: evidence.Search, Engine: r.Algorithm, Nodes: r.Nodes, Closed: "part"}
	if infeasible || r.Status == model.StatusOptimal {
		e.Closed = "all"
	}
	for _, b := range quick {
		if !b.Infeasible && b.Evidence != nil && (e.Root == nil || sense.Better(*e.RootBound, b.Value)) {
			value := b.Value
			e.Root, e.RootBound = b.Evidence, &value
		}
	}
	r.Evidence = e
}

// implying returns the first evidence of some bounds from which follows that no
// solution beats a bound or, if infeasible, that there is none; nil without any.
func implying(ctx context.Context, j *verify.Judge, sense model.Sense, all []bounds.Bound, bound float64, infeasible bool) *model.Evidence {
	for _, b := range all {
		if b.Evidence == nil || b.Infeasible != infeasible || !infeasible && sense.Better(b.Value, bound) {
			continue
		}
		if f, err := j.Evidence(ctx, b.Evidence); err == nil && f.Implies(sense, bound, infeasible) {
			return b.Evidence
		}
	}
	return nil
}
