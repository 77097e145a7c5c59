// SPDX-License-Identifier: MIT

package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Starts of EASY by predictions are as they were when a plain implementation, instant by instant, had the same; on many
// traces they aren't those by estimates.
func TestGoldenPredictions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 5))
	other, all := 0, sha256.New()
	for range 400 {
		in := testkit.RandomBatch(rng, 1, 8, 1+rng.IntN(30))
		for k := range in.Jobs {
			in.Jobs[k].Log = &model.JobLog{User: strconv.Itoa(rng.IntN(2))}
		}
		by := model.Settings{Parameters: &model.BatchParameters{Prediction: model.BatchPredictionLastTwo}}
		e, err := EASY(t.Context(), in, by)
		if errors.Is(err, model.ErrUnsupported) {
			continue
		}
		plain, err2 := EASY(t.Context(), in, model.Settings{})
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		require.OK(t, json.NewEncoder(all).Encode(e.Runs))
		if !reflect.DeepEqual(e.Runs, plain.Runs) {
			other++
		}
	}
	if got, want := hex.EncodeToString(all.Sum(nil)[:8]), "a957972c8d53a5eb"; got != want || other < 20 {
		t.Errorf("%q, want %q; %d schedules differ from those by estimates", got, want, other)
	}
}

// Predictions are the estimates if no user is named. A scheduler that predicts nothing says so.
func TestPredictionWithoutUsers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 6))
	in := testkit.RandomBatch(rng, 1, 8, 40)
	for k := range in.Jobs {
		in.Jobs[k].Log = nil
	}
	for _, a := range Algorithms() {
		by, err := a.Solver.Solve(t.Context(), in, model.Settings{Parameters: &model.BatchParameters{Prediction: model.BatchPredictionLastTwo}})
		switch a.Name {
		case "fcfs", "sjf", "easy", "easy-sjbf", "easy-saf", "conservative":
			plain, err2 := a.Solver.Solve(t.Context(), in, model.Settings{})
			if err != nil || err2 != nil || by.Objective != plain.Objective {
				t.Errorf("%s: %v and %v, %v, %v", a.Name, by.Objective, plain.Objective, err, err2)
			}
		default:
			require.Refused(t, a.Name, err, model.ErrUnsupported, "")
		}
	}
}
