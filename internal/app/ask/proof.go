// SPDX-License-Identifier: MIT

package ask

import (
	"context"
	"strings"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// CheckAnswer states whether a proof holds.
type CheckAnswer struct {
	Accepted bool     `json:"accepted"`
	Claim    string   `json:"claim,omitempty" about:"what is proved, in words"`
	Bound    *float64 `json:"bound,omitempty" about:"no solution has a better objective"`
	Steps    int      `json:"steps,omitempty" about:"inferences that were checked"`
	Nogoods  int      `json:"nogoods,omitempty"`
	Reason   string   `json:"reason,omitempty" about:"the first line that doesn't follow"`
}

// OfProof replays a proof on an instance with the given hash. A proof that doesn't hold is an answer; the error is the
// context's.
func OfProof(ctx context.Context, in model.Instance, hash, proof string) (CheckAnswer, error) {
	p, err := verify.Proof(ctx, in, hash, strings.NewReader(proof))
	if ctx.Err() != nil && err != nil {
		return CheckAnswer{}, ctx.Err()
	}
	return Checked(p, err), nil
}

// Checked returns the answer to what verify.Proof returns.
func Checked(p verify.Proved, err error) CheckAnswer {
	if err != nil {
		return CheckAnswer{Reason: err.Error()}
	}
	return CheckAnswer{Accepted: true, Claim: p.Claim, Bound: Number(p.Bound), Steps: p.Steps, Nogoods: p.Nogoods}
}
