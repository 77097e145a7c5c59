// SPDX-License-Identifier: MIT

package instances

// lublinParameters are the parameters of the model of Lublin and Feitelson (The Workload on Parallel Supercomputers,
// JPDC 63(11), 2003) for arrivals and runtimes, next to their names in the authors' program. A gamma distribution has a
// shape and a scale; their product is its mean.
type lublinParameters struct {
	// The logarithm of the runtime in seconds comes from the first gamma
	// distribution with probability Slope * size + Intercept, clipped to
	// [0, 1], else from the second.
	Shape1, Scale1   float64 // A1, B1: short jobs
	Shape2, Scale2   float64 // A2, B2: long jobs
	Slope, Intercept float64 // PA, PB
	// The logarithm of the time between two arrivals in seconds, at mean rate.
	ArrivalShape, ArrivalScale float64 // AARR * ARAR, BARR
	// The time of day of arrivals, in half hours from midnight, 11 to 58.
	CycleShape, CycleScale float64 // ANUM, BNUM
}

var (
	// lublinColumnT are the parameters for one stream of jobs in the authors' program, which doesn't name the machines.
	lublinColumnT = lublinParameters{
		Shape1: 4.2, Scale1: 0.94, Shape2: 312, Scale2: 0.03, Slope: -0.0054, Intercept: 0.78,
		ArrivalShape: 10.2303 * 1.0225, ArrivalScale: 0.4871, CycleShape: 8.1737, CycleScale: 3.9631,
	}
	// lublinLANLFit are our fit to the log LANL-CM5-1994-4.1-cln. Runtimes are fitted by maximum likelihood (jobs of 2
	// s or more), the cycle by moments. Arrivals have the log's mean distance, about 510 s. The column for this machine
	// in the model's paper wasn't available.
	lublinLANLFit = lublinParameters{
		Shape1: 7.4262, Scale1: 0.68181, Shape2: 154.06, Scale2: 0.055567, Slope: -0.00084478, Intercept: 0.80362,
		ArrivalShape: 17.7, ArrivalScale: 0.297, CycleShape: 9.2601, CycleScale: 3.3587,
	}
)
