// SPDX-License-Identifier: MIT

package model_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestStartTime(t *testing.T) {
	at := time.Date(1996, 9, 23, 15, 0, 31, 0, time.FixedZone("", 3600))
	for _, in := range []model.Instance{
		&model.Batch{Processors: 1, Tiers: 1},
		&model.Reservation{PEs: 1},
		&model.TVC{FatTree: model.FatTree{K: 2, Slots: 1, LinkMbps: 1}},
	} {
		before, err := model.Hash(in)
		if err != nil || !model.StartTime(in).IsZero() {
			t.Fatal(in, err)
		}
		model.SetStartTime(in, at)
		data := require.Value(json.Marshal(in))(t)
		back := require.Value(model.DecodeInstance(data))(t)
		if got := model.StartTime(back); !got.Equal(at) || got.Format(time.RFC3339) != "1996-09-23T15:00:31+01:00" {
			t.Errorf("%s: %v, want %v: %s", in.Kind(), got, at, data)
		}
		model.SetStartTime(in, time.Time{})
		if after, err := model.Hash(in); err != nil || after != before {
			t.Errorf("%s: hash %s, want %s (%v)", in.Kind(), after, before, err)
		}
	}
	for _, bad := range []string{"1996-09-23", "yesterday"} {
		require.Refused(t, bad, (&model.Reservation{PEs: 1, StartTime: bad}).Validate(), model.ErrInvalid, "")
	}
	model.SetStartTime(&model.DAG{}, at)
	if !model.StartTime(&model.DAG{}).IsZero() {
		t.Error("a dag has no date")
	}
}
