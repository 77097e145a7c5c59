// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

var twoTier = map[string]heuristic{"keasy": batchheur.KEASY, "reasy": batchheur.REASY, "measy": batchheur.MEASY, "peasy": batchheur.PEASY,
	"peasy short": peasyOf(model.BatchDevicesShort), "peasy lift": peasyOf(model.BatchDevicesLift), "peasy none": peasyOf(model.BatchDevicesNone)}

// peasyOf returns PEASY with some of its devices.
func peasyOf(devices model.BatchDevices) heuristic {
	return func(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
		var p model.BatchParameters
		if x, ok := set.Parameters.(*model.BatchParameters); ok {
			p = *x
		}
		p.Devices = devices
		set.Parameters = &p
		return batchheur.PEASY(ctx, in, set)
	}
}

// segments returns the segments of each job, after the judge has looked at them.
func segments(t testing.TB, b *model.Batch, run heuristic) [][]model.Segment[model.BatchPlace] {
	t.Helper()
	e := require.Value(run(context.Background(), b, model.Settings{}))(t)
	r, err := verify.Verify(context.Background(), b, e, verify.Options{Valid: true})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Fatalf("%v; %+v", err, b)
	}
	index := require.Value(b.Index(e))(t)
	all := make([][]model.Segment[model.BatchPlace], len(b.Jobs))
	for i, k := range index {
		all[k] = e.Runs[i].Segments
	}
	return all
}

// smallTwoTier draws a trace like small, with uses and efficiencies.
func smallTwoTier(rng *rand.Rand) *model.Batch {
	b := small(rng)
	b.Tiers, b.MigrationS = 2, float64(rng.IntN(3))
	if rng.IntN(4) == 0 {
		b.Threshold = []float64{0.5, 0.7, 1.5}[rng.IntN(3)]
	}
	uses := []float64{0.1, 0.3333, 0.5, 0.7, 0.95, 0.96, 1}
	mixed := rng.IntN(2) == 0
	for k := range b.Jobs {
		j := &b.Jobs[k]
		j.BgEfficiency = []float64{0, 0.3, 0.7777, 0.9, 1}[rng.IntN(5)]
		switch {
		case rng.IntN(4) == 0:
		case mixed && rng.IntN(2) == 0:
			for range j.Processes {
				j.CPU = append(j.CPU, uses[rng.IntN(len(uses))])
			}
		default:
			j.CPU = []float64{uses[rng.IntN(len(uses))]}
		}
	}
	return b
}

// The judge accepts runs of the paper's workload, with a use per job or per process.
func TestTwoTierWorkload(t *testing.T) {
	t.Parallel()
	for _, use := range []string{"job", "process"} {
		spec := instances.NewBatchSpec()
		spec.Jobs, spec.Load, spec.CPU = 3000, 0.8, use
		b := require.Value(spec.Generate())(t)
		for name, run := range twoTier {
			changes := 0
			for _, s := range segments(t, b, run) {
				if len(s) > 1 {
					changes++
				}
			}
			if changes == 0 {
				t.Errorf("%s: no job has two segments", name)
			}
		}
	}
}

// A platform of one tier and the order of pyss are refused, a cancelled run has no
// solution.
func TestTwoTierErrors(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 1, Processes: 1}}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, run := range twoTier {
		require.Refused(t, name+" on one tier", require.Err(run(context.Background(), b, model.Settings{})),
			model.ErrUnsupported, "")
		two := *b
		two.Tiers = 2
		require.Refused(t, name+", cancelled", require.Err(run(ctx, &two, model.Settings{})), model.ErrNoSolution, "")
		require.Refused(t, name+" in order pyss",
			require.Err(run(context.Background(), &two, in(model.BatchOrderPyss))), model.ErrUnsupported, "")
		if _, err := run(context.Background(), &two, model.Settings{Parameters: &model.BatchParameters{Uses: "x"}}); !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s with uses x: %v", name, err)
		}
	}
}

// A device that PEASY hasn't got is refused.
func TestPEASYDevices(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 1, Tiers: 2, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 1, Processes: 1}}}
	require.Refused(t, "devices x", require.Err(peasyOf("x")(context.Background(), b, model.Settings{})),
		model.ErrUnsupported, "")
}

// If uses are unknown, processes go to processors by their numbers, first to processors with an idle foreground,
// however much they use. Their uses still count for their rates and the threshold.
func TestTwoTierUnknownUses(t *testing.T) {
	t.Parallel()
	// The foregrounds of 0, 1 and 2 are used by 90 %, 20 % and 98 % when c comes.
	b := &model.Batch{Processors: 3, Tiers: 2, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 100, Processes: 2, CPU: []float64{0.9, 0.2}},
		{ID: "b", RuntimeS: 100, Processes: 1, CPU: []float64{0.98}},
		{ID: "c", RuntimeS: 10, Processes: 1, CPU: []float64{0.5}, BgEfficiency: 1},
	}}
	for name, run := range twoTier {
		for uses, want := range map[model.BatchKnowledge]int32{model.BatchUsesKnown: 1, model.BatchUsesUnknown: 0} {
			e := require.Value(run(context.Background(), b, model.Settings{Parameters: &model.BatchParameters{Uses: uses}}))(t)
			index := require.Value(b.Index(e))(t)
			for i, k := range index {
				if s := e.Runs[i].Segments[0]; k == 2 && (s.Place.Tier != model.TierBackground || s.Place.Processors[0] != want) {
					t.Errorf("%s, uses %s: c starts on %v, want %d", name, uses, s.Place, want)
				}
			}
		}
	}
}
