// SPDX-License-Identifier: MIT

package scale_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/text/scale"
)

func width(s string) float64 { return 6 * float64(len(s)) }

// Marks lie on the axis, ascending, and where they are labelled the labels don't
// touch.
func TestMarks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	start := time.Date(1996, 9, 23, 13, 0, 31, 0, time.FixedZone("", 5400))
	for range 3000 {
		low := rng.NormFloat64() * math.Exp(rng.Float64()*20)
		a := scale.Axis{Low: low, High: low + math.Exp(rng.Float64()*30-10), Length: 50 + 900*rng.Float64(), Width: width}
		logs := a
		logs.Low, logs.High = -8+rng.Float64(), -7+15*rng.Float64()
		dates := a
		dates.Low, dates.High = 0, math.Exp(3+18*rng.Float64())
		for what, of := range map[string]struct {
			axis  scale.Axis
			marks []scale.Tick
		}{
			"linear": {a, a.Linear(0, func(x, step float64) string { return fmt.Sprintf("%.6g", x) })},
			"log":    {logs, logs.Log(func(x float64) string { return fmt.Sprintf("%.2g", x) })},
			"dates":  {dates, dates.Dates(start)},
		} {
			end := math.Inf(-1)
			for k, m := range of.marks {
				size := 1e-9 * (math.Abs(of.axis.High) + math.Abs(of.axis.Low))
				if m.At < of.axis.Low-size || m.At > of.axis.High+size || k > 0 && m.At <= of.marks[k-1].At {
					t.Fatalf("%s: %+v: marks %v", what, of.axis, of.marks)
				}
				x := (m.At - of.axis.Low) / (of.axis.High - of.axis.Low) * of.axis.Length
				if what != "log" && x-width(m.Label)/2 < end {
					t.Fatalf("%s: %+v: the label of %v touches the one before: %v", what, of.axis, m, of.marks)
				}
				end = x + width(m.Label)/2
			}
			if len(of.marks) > 150 || len(of.marks) == 0 && what != "dates" {
				t.Fatalf("%s: %+v: %d marks", what, of.axis, len(of.marks))
			}
		}
	}
}
