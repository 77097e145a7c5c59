// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	lublinBuckets = 48     // of a day
	lublinBucketS = 1800.0 // seconds of each
	lublinFirst   = 11     // the half hour, counted from 1, in which the daily cycle begins
	lublinLongest = 13     // the largest logarithm of a time between arrivals
)

// lublinCycle returns how many jobs arrive in each half hour of the day from midnight on, relative to the mean. It is
// the gamma distribution's probability of the half hour; half hours before 05:00 belong to the day before.
func lublinCycle(p lublinParameters) [lublinBuckets]float64 {
	g := distuv.Gamma{Alpha: p.CycleShape, Beta: 1 / p.CycleScale}
	var w [lublinBuckets]float64
	sum := 0.0
	for i := lublinFirst; i < lublinFirst+lublinBuckets; i++ {
		x := g.CDF(float64(i)+0.5) - g.CDF(float64(i)-0.5)
		w[(i-1)%lublinBuckets] = x
		sum += x
	}
	for i := range w {
		w[i] *= lublinBuckets / sum
	}
	return w
}

// lublinArrivals is the combined arrival process of the Lublin-Feitelson model:
// times between arrivals from a log-gamma distribution, stretched and shrunk by
// the daily cycle. It begins at midnight.
//
// The authors' program rounds the clock down at each arrival while the place in the day goes on exactly. So its trace
// loses half a second per job and the daily pattern smears. Here the clock is a real number; round the stored times.
type lublinArrivals struct {
	gap    distuv.Gamma
	weight [lublinBuckets]float64
	bucket int
	// points elapsed in the current half hour, which has weight[bucket] of
	// them; the mean over the day is 1.
	points float64
	day    float64 // start of the current day, in seconds
}

// newLublinArrivals draws from rng.
func newLublinArrivals(p lublinParameters, rng *rand.Rand) *lublinArrivals {
	return &lublinArrivals{gap: distuv.Gamma{Alpha: p.ArrivalShape, Beta: 1 / p.ArrivalScale, Src: rng}, weight: lublinCycle(p)}
}

// Next returns the next arrival, in seconds since the beginning; the first is
// after 0.
func (a *lublinArrivals) Next() float64 {
	g := a.gap.Rand()
	for g > lublinLongest {
		g = a.gap.Rand()
	}
	a.points += math.Exp(g) / lublinBucketS
	for a.points > a.weight[a.bucket] {
		a.points -= a.weight[a.bucket]
		if a.bucket++; a.bucket == lublinBuckets {
			a.bucket = 0
			a.day += lublinBuckets * lublinBucketS
		}
	}
	return a.day + lublinBucketS*(float64(a.bucket)+a.points/a.weight[a.bucket])
}
