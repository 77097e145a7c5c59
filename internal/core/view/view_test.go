// SPDX-License-Identifier: MIT

package view

import (
	"testing"

	"github.com/gapwise/gapwise/model"
)

// While an instance is held, its view is made once; copies have their own.
func TestCache(t *testing.T) {
	in := &model.TVC{FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 10}, Requests: []model.TVCRequest{{ID: "a", VMs: 1, BandwidthMbps: 1, DurationS: 1}}}
	first, second := Cache(in), Cache(in)
	view := OfTVC(in)
	fewer := *in
	fewer.Requests = nil
	if OfTVC(in) != view || len(OfTVC(&fewer).Requests) != 0 {
		t.Error("the view isn't the instance's alone")
	}
	Keep(in, "n", 7)
	Keep(&fewer, "n", 8) // isn't held
	if n, ok := Kept[int](in, "n"); !ok || n != 7 {
		t.Errorf("%d, %v is kept, want 7", n, ok)
	}
	if _, ok := Kept[int](&fewer, "n"); ok {
		t.Error("something is kept of an instance that isn't held")
	}
	if first(); OfTVC(in) != view {
		t.Error("the view is gone before all have released it")
	}
	if second(); OfTVC(in) == view || len(held.views) > 0 {
		t.Error("the view is kept")
	}
}
