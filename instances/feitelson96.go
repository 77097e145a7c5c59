// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"math/bits"

	"github.com/gapwise/gapwise/internal/num/heap"
)

// The stand-in F96-R for the model of Feitelson (Packing Schemes for Gang Scheduling, JSSPP 1996). The archive's page
// of the model describes its form. Sizes have a harmonic distribution of order 1.5, with powers of two emphasised by
// hand. Runtimes have a coefficient of variation above 1 and grow weakly with the size. Jobs are run repeatedly. Its
// numbers weren't available. The numbers below are chosen. The factor brings the shares of serial jobs and powers of
// two close to real logs; the rest is from memory or at will.
//
// On 320 processors 27.8 % of the jobs have one process, the mean is 10.8 processes
// and 2,383 s. The paper's FWload has less than 18.0 %, 23.4 and 2,606.6 s (section
// 3.1; Table 1 with the distribution of sizes is lost). With Serial 0.18 and MeanSize
// 23.4 the order of the harmonic distribution becomes 1.22, and the mean runtime is
// 2,663 s before MeanRuntime corrects it.
const (
	feitelsonOrder       = 1.5  // of the harmonic distribution of sizes, by the archive
	feitelsonPowers      = 3    // times as likely are powers of two
	feitelsonRepeatOrder = 2.5  // of the harmonic distribution of runs of a job
	feitelsonMostRuns    = 1000 // of a job
	feitelsonShort       = 360  // mean of short runtimes in seconds
	// A job on n of N processors is short with probability 0.95 - 0.20·n/N.
	feitelsonShareShort, feitelsonShareSlope = 0.95, 0.20
)

// shareShort returns the probability that a runtime is short.
func shareShort(size, processors int) float64 {
	return feitelsonShareShort - feitelsonShareSlope*float64(size)/float64(processors)
}

// feitelson96 draws jobs of F96-R. First runs are submitted by a Poisson process; a further run is submitted when the
// one before has been for its runtime. Each run draws a new runtime. A chain of runs has a random stream of its own.
func (s BatchSpec) feitelson96() ([]workloadJob, error) {
	sizes, err := s.feitelsonSizes()
	if err != nil {
		return nil, err
	}
	runs := make([]float64, feitelsonMostRuns)
	for r := range runs {
		runs[r] = math.Pow(float64(r+1), -feitelsonRepeatOrder)
	}
	// The rate of chains gives a load of 1 on average. Only the ratio of their
	// distances to runtimes matters: Generate scales the times between submissions.
	work := 0.0
	for k, share := range shares(sizes) {
		short := shareShort(k+1, s.Processors)
		work += share * float64(k+1) * feitelsonShort * (short + (1-short)*s.RuntimeRatio)
	}
	meanRuns := 0.0
	for r, share := range shares(runs) {
		meanRuns += share * float64(r+1)
	}
	gap := work * meanRuns / float64(s.Processors)

	sizes, runs = cumulative(sizes), cumulative(runs)
	type chain struct {
		submit    float64
		number    uint64
		size, run int
		draw      func() float64 // the runtime of its next run
	}
	waiting := heap.Heap[chain]{Less: func(a, b chain) bool {
		return a.submit < b.submit || a.submit == b.submit && a.number < b.number
	}}
	first := func(number uint64, after float64) chain {
		rng := stream(s.Seed, uint64(s.Index), number)
		c := chain{submit: after + gap*rng.ExpFloat64(), number: number, size: 1 + place(sizes, rng.Float64()), run: 1 + place(runs, rng.Float64())}
		c.draw = func() float64 {
			mean := float64(feitelsonShort)
			if rng.Float64() >= shareShort(c.size, s.Processors) {
				mean *= s.RuntimeRatio
			}
			return max(1, mean*rng.ExpFloat64())
		}
		return c
	}
	next := first(0, 0)
	all := make([]workloadJob, s.Jobs)
	for k := range all {
		c := next
		if waiting.Len() > 0 && waiting.Items[0].submit <= next.submit {
			c = waiting.Pop()
		} else {
			next = first(c.number+1, c.submit)
		}
		all[k] = workloadJob{c.submit, c.draw(), c.size}
		if c.run--; c.run > 0 {
			c.submit += all[k].runtime
			waiting.Push(c)
		}
	}
	return all, nil
}

// feitelsonSizes returns the weights of the sizes 1, 2, ..., with the share of
// single-process jobs and the mean that are asked for.
func (s BatchSpec) feitelsonSizes() ([]float64, error) {
	weights, sizes := make([]float64, s.Processors), make([]float64, s.Processors)
	for k := range weights {
		n := k + 1
		sizes[k] = float64(n)
		weights[k] = math.Pow(sizes[k], -feitelsonOrder)
		if n > 1 && bits.OnesCount(uint(n)) == 1 {
			weights[k] *= feitelsonPowers
		}
	}
	return weights, s.tilt(weights, sizes)
}
