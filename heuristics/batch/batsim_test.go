// SPDX-License-Identifier: MIT

package batch_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Our scheduler makes the same decisions as these of pybatsim 3.2: by counting or on neighbouring processors, with a
// pass after each event. The processors are the same, too, where both take the lowest neighbours.
func TestBatsim(t *testing.T) {
	t.Parallel()
	folder := require.Data(t, "batsim")
	for scheduler, c := range map[string]struct {
		ours      string
		placement model.BatchPlacement
		files     int
	}{
		"schedFcfs":            {"fcfs", model.BatchContiguous, 26},
		"schedEasySjfBackfill": {"easy-sjbf", model.BatchContiguous, 26},
		"easyBackfillNotopo":   {"easy", model.BatchLowest, 16},
	} {
		files, err := filepath.Glob(filepath.Join(folder, "schedules", "*."+scheduler+".json"))
		if err != nil || len(files) != c.files {
			t.Fatalf("%d schedules of %s, %v, want %d", len(files), scheduler, err, c.files)
		}
		for _, file := range files {
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			in := decode(t, filepath.Join(folder, "instances", name+".json"), model.DecodeInstance).(*model.Batch)
			want := decode(t, file, model.DecodeSolution).(*model.Execution)
			got := require.Value(oneTier[c.ours](t.Context(), in, model.Settings{Parameters: &model.BatchParameters{Order: model.BatchOrderEvent, Placement: c.placement}}))(t)
			differ, first := 0, ""
			key := func(r model.Run[model.BatchPlace]) string {
				s := r.Segments[0]
				if c.placement == model.BatchLowest {
					s.Place.Processors = nil
				}
				return fmt.Sprint(r.ID, " from ", math.Round(s.StartS*1e6)/1e6, " on ", s.Place.Processors)
			}
			at := map[string]string{}
			for _, r := range want.Runs {
				at[r.ID] = key(r)
			}
			for _, r := range got.Runs {
				if key(r) != at[r.ID] {
					if differ++; first == "" {
						first = key(r) + ", want " + at[r.ID]
					}
				}
			}
			if differ > 0 {
				t.Errorf("%s %s: %d of %d differ: %s", name, scheduler, differ, len(got.Runs), first)
			}
		}
	}
}

// decode reads a file of the data sets.
func decode[T any](t *testing.T, file string, by func([]byte) (T, error)) T {
	t.Helper()
	data := require.Value(os.ReadFile(file))(t)
	x, err := by(data)
	require.OK(t, err, file)
	return x
}
