// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"reflect"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// drawn returns a random instance of the paper's kind.
func drawn(t *testing.T, fabric model.Fabric, bandwidth, load float64, requests, index int) *model.TVC {
	t.Helper()
	s := instances.NewTVCSpec()
	s.Fabric, s.Bandwidth, s.Load, s.Requests, s.Index, s.Seed = fabric, bandwidth, load, requests, index, 5
	in := require.Value(s.Generate())(t)
	return in
}

func accepted(t *testing.T, in *model.TVC, e embedder) *model.Embeddings {
	t.Helper()
	s := require.Value(runLoss(context.Background(), in, e, nil))(t)
	return s
}

// No embedder knows of later requests: on a shorter instance it does the same.
func TestEmbeddersOnline(t *testing.T) {
	t.Parallel()
	long := drawn(t, model.FabricOnePath, 300, 1, 200, 0)
	short := *long
	short.Requests = long.Requests[:120]
	for _, named := range embedders {
		want, got := accepted(t, long, named.New()).Runs, accepted(t, &short, named.New()).Runs
		if len(got) < 60 || !reflect.DeepEqual(got, want[:len(got)]) {
			t.Errorf("%s: the first 120 requests alone run otherwise", named.Name)
		}
	}
}

// If 0 is the only price, bid-price is program-reserved.
func TestBidPriceZero(t *testing.T) {
	t.Parallel()
	in := drawn(t, model.FabricNonBlocking, 500, 0.9, 300, 0)
	zero := new(bidPrice)
	zero.add(zero, 0)
	free, all := accepted(t, in, zero), accepted(t, in, newProgram(costReserved)())
	if !reflect.DeepEqual(free, all) {
		t.Errorf("%d runs and %d differ", len(free.Runs), len(all.Runs))
	}
	if priced := accepted(t, in, newBidPrice()); len(priced.Runs) < len(all.Runs)+10 {
		t.Errorf("%d accepted with prices, %d without", len(priced.Runs), len(all.Runs))
	}
}

// bid-price accepts more than AdaBa where there is room, and no fewer where there
// is none.
func TestBidPriceAgainstAdaBa(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		fabric          model.Fabric
		bandwidth, load float64
		least           int // accepted requests of 900 beyond AdaBa's
	}{
		{model.FabricNonBlocking, 700, 0.5, 25}, {model.FabricNonBlocking, 250, 0.9, 25}, {model.FabricOnePath, 250, 0.9, 5},
		{model.FabricOnePath, 700, 0.9, -5}, {model.FabricOnePath, 100, 0.5, 0},
	} {
		more := 0
		for index := range 3 {
			in := drawn(t, x.fabric, x.bandwidth, x.load, 300, index)
			more += len(accepted(t, in, newBidPrice()).Runs) - len(accepted(t, in, newAdaBa()).Runs)
		}
		if more < x.least {
			t.Errorf("%+v: %d more than AdaBa's", x, more)
		}
	}
}

// bid-price follows the instance's goal: large requests, which it rejects for the number of requests, bring most
// revenue.
func TestBidPriceRevenue(t *testing.T) {
	t.Parallel()
	// revenue runs e for the goal and returns the revenue.
	revenue := func(in *model.TVC, goal model.TVCGoal, e embedder) float64 {
		in.Goal = goal
		runs := accepted(t, in, e)
		in.Goal = model.GoalRevenue
		o := require.Value(in.Objective(runs))(t)
		return o.Value
	}
	aware, all, requests := 0.0, 0.0, 0.0
	for index := range 3 {
		in := drawn(t, model.FabricNonBlocking, 700, 0.5, 300, index)
		aware += revenue(in, model.GoalRevenue, newBidPrice())
		all += revenue(in, model.GoalRevenue, newProgram(costReserved)())
		requests += revenue(in, model.GoalRequests, newBidPrice())
	}
	if aware < 0.98*all || requests > 0.95*all {
		t.Errorf("revenue %v, %v if nothing is rejected, %v for the other goal", aware, all, requests)
	}
}
