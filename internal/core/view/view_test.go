// SPDX-License-Identifier: MIT

package view

import (
	"testing"

	"github.com/gapwise/gapwise/model"
)

// The Case in a context has an instance's view made once; copies have their own.
func TestCase(t *testing.T) {
	t.Parallel()
	in := &model.TVC{FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 10}, Requests: []model.TVCRequest{{ID: "a", VMs: 1, BandwidthMbps: 1, DurationS: 1}}}
	fewer := *in
	fewer.Requests = nil
	ctx := NewCase(in).Context(t.Context())
	first := Shared(ctx, in, OfTVC)
	if Shared(ctx, in, OfTVC) != first || len(Shared(ctx, &fewer, OfTVC).Requests) != 0 {
		t.Error("the view isn't the instance's alone")
	}
	Keep(ctx, in, "n", 7)
	Keep(ctx, &fewer, "n", 8) // isn't the Case's
	if n, ok := Kept[int](ctx, in, "n"); !ok || n != 7 {
		t.Errorf("%d, %v is kept, want 7", n, ok)
	}
	if _, ok := Kept[int](ctx, &fewer, "n"); ok {
		t.Error("something is kept of an instance without a Case")
	}
	if _, ok := Kept[int](t.Context(), in, "n"); ok || Shared(t.Context(), in, OfTVC) == Shared(ctx, in, OfTVC) {
		t.Error("a context without a Case knows it")
	}
}
