// SPDX-License-Identifier: MIT

// Package testkit draws instances and forged evidence at random, for the tests of all packages and
// for gapwise audit.
package testkit

import (
	"math"
	"math/rand/v2"
)

// Figures draws numbers of one style.
type Figures struct {
	Name string
	Draw func(rng *rand.Rand) float64 // at least 0
}

// Styles are those of instances in the literature, and those on which programs fail:
// ties, zeros, tenths, figures that float64 doesn't hold exactly, ratios of a billion.
var Styles = []Figures{
	{"small whole", func(rng *rand.Rand) float64 { return float64(1 + rng.IntN(5)) }},
	{"whole", func(rng *rand.Rand) float64 { return float64(1 + rng.IntN(30)) }},
	{"large whole", func(rng *rand.Rand) float64 { return float64(1 + rng.IntN(2000)) }},
	{"zeros", func(rng *rand.Rand) float64 { return float64(max(0, rng.IntN(9)-3)) }},
	{"equal", func(*rand.Rand) float64 { return 7 }},
	{"two values", func(rng *rand.Rand) float64 { return []float64{3, 10}[rng.IntN(2)] }},
	{"tenths", func(rng *rand.Rand) float64 { return float64(1+rng.IntN(40)) / 10 }},
	{"thirds in float32", func(rng *rand.Rand) float64 { return float64(float32(1+rng.IntN(12)) / 3) }},
	{"17 digits", func(rng *rand.Rand) float64 { return 0.1 + 10*rng.Float64() }},
	{"powers of two", func(rng *rand.Rand) float64 { return float64(int(1) << rng.IntN(7)) }},
	{"ratios of 1e9", func(rng *rand.Rand) float64 { return math.Round(math.Pow(10, 9*rng.Float64())) }},
}

// ordinary counts the styles, from the first on, that most instances have.
const ordinary = 4

// pick draws a style, an ordinary one half of the time.
func pick(rng *rand.Rand) Figures {
	if rng.IntN(2) == 0 {
		return Styles[rng.IntN(ordinary)]
	}
	return Styles[rng.IntN(len(Styles))]
}

// one draws one of the values.
func one[T any](rng *rand.Rand, values ...T) T { return values[rng.IntN(len(values))] }

// timing draws when jobs or requests come that are length long and take area of what
// there is: the load is from one to four times that, and times are multiples of a
// grid. Everything comes at once in one instance of three.
func timing(rng *rand.Rand, n int, mean, area float64) func() float64 {
	horizon, grid := area*float64(n)/(1+3*rng.Float64()), one(rng, 1, 1, 0.1, mean)
	if rng.IntN(3) == 0 {
		horizon = 0
	}
	return func() float64 { return inMillionths(math.Floor(rng.Float64()*horizon/grid) * grid) }
}

// inMillionths returns the nearest whole number of millionths.
func inMillionths(x float64) float64 { return math.Round(x*1e6) / 1e6 }
