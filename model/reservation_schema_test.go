// SPDX-License-Identifier: MIT

package model_test

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Documents that random mutations seldom or never make, and that the schemas can describe.
func TestReservationSchemasRefuse(t *testing.T) {
	t.Parallel()
	const bookings = `{"kind":"reservation","version":1,"goal":"all","online":false,"bookings":[{"id":"a","start_s":-1e300,"pes":"0-31,40"}]}`
	for name, c := range map[string]struct{ old, new string }{
		"goal":                {`"pe_seconds"`, `"most"`},
		"PEs":                 {`"pes":64,"r`, `"pes":10000001,"r`},
		"PEs of a request":    {`"pes":33`, `"pes":0`},
		"empty id":            {`"id":"a"`, `"id":""`},
		"arrival":             {`"arrival_s":0`, `"arrival_s":-1e-300`},
		"ready":               {`"ready_s":10`, `"ready_s":1e17`},
		"short duration":      {`"duration_s":60`, `"duration_s":9e-10`},
		"deadline":            {`"deadline_s":200`, `"deadline_s":4.1e15`},
		"short runtime":       {`"runtime_s":0.25`, `"runtime_s":9e-10`},
		"cancellation":        {`"cancel_s":400`, `"cancel_s":4.1e15`},
		"PE of eight digits":  {`0-31,40`, `10000000`},
		"end of eight digits": {`0-31,40`, `1-10000000`},
		"three ends":          {`0-31,40`, `0-1-2`},
		"blank":               {`0-31,40`, `0-31, 40`},
		"line break":          {`0-31,40`, `0-31,40\n`},
		"ends with a comma":   {`0-31,40`, `0-31,`},
		"other digits":        {`0-31,40`, `٣`},
	} {
		t.Run(name, func(t *testing.T) {
			changed := 0
			for file, text := range map[string]string{"reservation.json": threeRequests, "reservation-solution.json": bookings} {
				s := schema(t, file)
				decode := func(data []byte) error { _, err := model.DecodeInstance(data); return err }
				if file == "reservation-solution.json" {
					decode = func(data []byte) error { _, err := model.DecodeSolution(data); return err }
				}
				if err := decode([]byte(text)); err != nil || !accepts(t, s, []byte(text)) {
					t.Fatalf("the good document is refused: %v", err)
				}
				edited := strings.Replace(text, c.old, c.new, 1)
				if edited == text || name == "empty id" && file == "reservation-solution.json" {
					continue
				}
				changed++
				if accepts(t, s, []byte(edited)) {
					t.Error("the schema accepts it")
				}
				if decode([]byte(edited)) == nil {
					t.Error("the decoder accepts it")
				}
			}
			require.Same(t, "documents were changed", 1, changed)
		})
	}
}
