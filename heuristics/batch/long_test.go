// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// judged reports the judge's verdict on a schedule.
func judged(t *testing.T, b *model.Batch, e *model.Execution) error {
	report, err := verify.Verify(t.Context(), b, e, verify.Options{})
	if err != nil {
		return err
	}
	return report.Err()
}

func stopped() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A million jobs of 4,306 s on average run for 4.3·10^9 s in all, on 256 processors.
func TestMillionLongJobs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a million jobs take seconds")
	}
	rng := rand.New(rand.NewPCG(4306, 1))
	b := &model.Batch{Name: "million", Processors: 256, Tiers: 1}
	at, sum := 0.0, 0.0
	for k := range 1_000_000 {
		at += float64(rng.IntN(600))
		j := model.BatchJob{ID: fmt.Sprint(k), SubmitS: at, RuntimeS: float64(1 + rng.IntN(8611)), Processes: 1 + rng.IntN(31)}
		j.EstimateS = j.RuntimeS * float64(1+rng.IntN(10))
		sum += j.RuntimeS
		b.Jobs = append(b.Jobs, j)
	}
	if err := b.Validate(); err != nil || sum < 4.2e9 {
		t.Fatalf("runtimes of %v s: %v", sum, err)
	}
	for name, context := range map[string]context.Context{"easy": context.Background(), "fcfs": stopped()} {
		e, err := oneTier[name](context, b, model.Settings{})
		if err == nil {
			err = judged(t, b, e)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A schedule that goes on after the last exact time is refused by its own solver. Wide jobs alternate with narrow ones,
// which first come, first served runs one by one.
func TestTooLate(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Name: "late", Processors: 1000, Tiers: 1}
	for k := range 200 {
		j := model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1e8, Processes: 1}
		if k%2 == 0 {
			j.RuntimeS, j.Processes = 1, 1000
		}
		b.Jobs = append(b.Jobs, j)
	}
	require.OK(t, b.Validate())
	for name, context := range map[string]context.Context{"fcfs": context.Background(), "easy": stopped()} {
		require.Refused(t, name, require.Err(oneTier[name](context, b, model.Settings{})), model.ErrUnsupported, "")
	}
	e, err := oneTier["sjf"](context.Background(), b, model.Settings{})
	if err == nil {
		err = judged(t, b, e)
	}
	if err != nil {
		t.Errorf("sjf: %v", err)
	}
}
