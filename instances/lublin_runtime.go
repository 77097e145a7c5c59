// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// lublinLongestRun is the largest logarithm of a runtime: 45 hours.
const lublinLongestRun = 12

// lublinRuntime draws the runtime in whole seconds, at least 1, of a job of the given size by the Lublin-Feitelson
// model. The logarithm has a hyper-gamma distribution; its first part is the rarer the larger the job is. Both parts
// are drawn, and one of them is taken. So a stream of random numbers gives jobs of different sizes the same times
// wherever they take the same part.
func lublinRuntime(p lublinParameters, size int, rng *rand.Rand) float64 {
	share := p.Slope*float64(size) + p.Intercept // clipping it changes no comparison
	short := distuv.Gamma{Alpha: p.Shape1, Beta: 1 / p.Scale1, Src: rng}
	long := distuv.Gamma{Alpha: p.Shape2, Beta: 1 / p.Scale2, Src: rng}
	for {
		u, y, z := rng.Float64(), short.Rand(), long.Rand()
		if u >= share {
			y = z
		}
		if y <= lublinLongestRun {
			return max(1, math.Floor(math.Exp(y)))
		}
	}
}
