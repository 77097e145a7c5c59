package model

import "testing"

// While an instance is held, its view is made once; copies have their own.
func TestHoldView(t *testing.T) {
	in := &TVC{FatTree: FatTree{K: 4, Slots: 2, LinkMbps: 10}, Requests: []TVCRequest{{ID: "a", VMs: 1, BandwidthMbps: 1, DurationS: 1}}}
	first, second := HoldView(in), HoldView(in)
	view := in.Ticks()
	fewer := *in
	fewer.Requests = nil
	if in.Ticks() != view || len(fewer.Ticks().Requests) != 0 {
		t.Error("the view isn't the instance's alone")
	}
	if first(); in.Ticks() != view {
		t.Error("the view is gone before all have released it")
	}
	if second(); in.Ticks() == view || len(held.views) > 0 {
		t.Error("the view is kept")
	}
}
