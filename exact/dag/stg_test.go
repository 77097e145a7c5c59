// SPDX-License-Identifier: MIT

package dag_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// On graphs of the Standard Task Graph set the search proves the published values, and neither bounds nor schedules
// contradict them.
func TestSTGOptima(t *testing.T) {
	t.Parallel()
	lower, upper := map[string]float64{}, map[string]float64{}
	for _, r := range require.CSV(t, "stg", "makespans.csv")[1:] {
		key := r[0] + "," + r[1]
		lower[key], _ = strconv.ParseFloat(r[2], 64)
		upper[key], _ = strconv.ParseFloat(r[3], 64)
	}
	runs, proved, every, k := 0, 0, 12, 0
	if testing.Short() {
		every = 60
	}
	for file, text := range require.TarGz(t, "stg", "stg-rand.tar.gz") {
		if k++; !strings.HasSuffix(file, ".stg") || k%every > 0 {
			continue
		}
		for _, m := range []int{2, 4, 8, 16} {
			given := require.Value(instances.OpenData(file, text))(t)
			d := require.Value(given.Instance(instances.Options{Platform: fmt.Sprintf("uniform,machines=%d", m)}))(t).(*model.DAG)
			set := model.Settings{Seed: 1, Effort: 300_000}
			search := model.Solver(dagexact.Search)
			if m%8 == 0 {
				search = fromPoor
			}
			r := require.Value(search.Solve(t.Context(), d, set))(t)
			key := fmt.Sprintf("%s,%d", strings.TrimPrefix(file, "./"), m)
			if upper[key] == 0 {
				t.Fatalf("%s isn't in the table", key)
			}
			runs++
			if r.Status == model.StatusOptimal {
				proved++
			}
			if r.Objective < lower[key] || r.Bound > upper[key] {
				t.Errorf("%s: %s %v, bound %v; published are %v and %v", key, r.Status, r.Objective, r.Bound, lower[key], upper[key])
			}
		}
	}
	t.Logf("%d of %d proved", proved, runs)
	if proved < runs/3 || runs < 480/every {
		t.Errorf("%d of %d proved", proved, runs)
	}
}
