package audit

import (
	"math"
	"math/rand/v2"
)

// figures draws numbers of one style. The styles are those of instances in the
// literature, and those on which programs fail: ties, zeros, tenths, figures
// that float64 doesn't hold exactly, ratios of a billion.
type figures struct {
	name string
	draw func(rng *rand.Rand) float64 // at least 0
}

var styles = []figures{
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
func pick(rng *rand.Rand) figures {
	if rng.IntN(2) == 0 {
		return styles[rng.IntN(ordinary)]
	}
	return styles[rng.IntN(len(styles))]
}

// size tells how many tasks, jobs or requests an instance has.
type size int

// The sizes: tiny for brute force, middle for plain engines, and large for
// relations and bounds alone.
const (
	tiny size = iota
	middle
	large
)

func (s size) String() string { return [...]string{"tiny", "middle", "large"}[s] }

// count draws a number for the size from the six limits: the least and the
// most of each size.
func (s size) count(rng *rand.Rand, limits [6]int) int {
	lo, hi := limits[2*s], limits[2*s+1]
	return lo + rng.IntN(hi-lo+1)
}
