// SPDX-License-Identifier: MIT

package instances

import (
	"math/rand/v2"
	"slices"
)

// hyperErlang is a mixture of two sums of Stages exponentials, of rates Rate1 with
// probability P1 and Rate2 else, in 1/s: the hyper-Erlang distribution of common
// order.
type hyperErlang struct {
	Stages           int
	P1, Rate1, Rate2 float64
}

// mean returns Stages · (P1/Rate1 + P2/Rate2).
func (h hyperErlang) mean() float64 { return float64(h.Stages) * (h.P1/h.Rate1 + (1-h.P1)/h.Rate2) }

func (h hyperErlang) draw(rng *rand.Rand) float64 {
	rate, sum := h.Rate1, 0.0
	if rng.Float64() >= h.P1 {
		rate = h.Rate2
	}
	for range h.Stages {
		sum += rng.ExpFloat64()
	}
	return sum / rate
}

// jannRange is a range of sizes with the distributions of its times between
// submissions and of its runtimes, in seconds. A size is the upper end with
// probability Upper, else uniform over the others.
type jannRange struct {
	Low, High    int
	Upper        float64
	Gap, Runtime hyperErlang
}

func (r jannRange) meanSize() float64 {
	if r.Low == r.High {
		return float64(r.High)
	}
	return r.Upper*float64(r.High) + (1-r.Upper)*float64(r.Low+r.High-1)/2
}

// jannKTH is the stand-in "Jann-style (KTH fit)" for the tables of Jann, Pattnaik, Franke et al. (Modeling of Workload
// in MPPs, JSSPP 1997), which weren't available. It is their framework fitted to KTH-SP2-1996-2.1-cln by the first
// three moments, one stage throughout. How sizes within a range are drawn is open in the source; Upper is the log's
// share.
//
// 32.9 % of the jobs have one process, the mean is 8.0 processes and 8,869 s; none
// has more than 100. The paper's JWload, of the tables for a machine of 322 nodes,
// has 40.8 %, 10.5 and 11,267.0 s (sections 3.1 and 3.4). Serial, MeanSize and
// MeanRuntime give the first two by other rates of the ranges, the last by one ratio.
var jannKTH = []jannRange{
	{1, 1, 1, hyperErlang{1, 0.10139, 4.665556e-05, 1.002525e-03}, hyperErlang{1, 0.123263, 2.053179e-05, 2.073059e-04}},
	{2, 2, 1, hyperErlang{1, 0.168095, 2.695675e-05, 6.561287e-04}, hyperErlang{1, 0.0943607, 2.237385e-05, 5.386585e-04}},
	{3, 4, 0.68, hyperErlang{1, 0.106285, 2.413337e-05, 4.010526e-04}, hyperErlang{1, 0.0864988, 2.734796e-05, 6.891673e-04}},
	{5, 8, 0.54, hyperErlang{1, 0.269969, 4.870735e-05, 9.522650e-04}, hyperErlang{1, 0.178245, 2.640800e-05, 2.498584e-04}},
	{9, 16, 0.36, hyperErlang{1, 0.314316, 4.504157e-05, 1.091136e-03}, hyperErlang{1, 0.175005, 2.431038e-05, 1.644709e-04}},
	{17, 32, 0.46, hyperErlang{1, 0.316276, 1.896878e-05, 2.184242e-04}, hyperErlang{1, 0.167661, 2.349299e-05, 2.847975e-04}},
	{33, 64, 0.31, hyperErlang{1, 0.0640894, 4.309449e-06, 4.806793e-05}, hyperErlang{1, 0.120308, 2.536924e-05, 4.035092e-04}},
	{65, 100, 0, hyperErlang{1, 0.0629052, 1.345519e-06, 2.424662e-05}, hyperErlang{1, 0.28833, 8.065551e-05, 1.817399e-04}},
}

// jann97 draws jobs of the Jann-style model: each range of sizes is a stream of jobs of its own, and the streams are
// merged. A smaller machine has the ranges that fit it, and of the last one the sizes that fit; a larger one has no
// larger jobs unless Largest says so.
func (s BatchSpec) jann97() ([]workloadJob, error) {
	var ranges []jannRange
	for k, r := range jannKTH {
		if s.Largest != 0 && k == len(jannKTH)-1 {
			r.High = s.Largest
		}
		if r.Low <= s.Processors {
			r.High = min(r.High, s.Processors)
			ranges = append(ranges, r)
		}
	}
	// A stream's weight is its rate; another weight stretches its gaps.
	weights, sizes := make([]float64, len(ranges)), make([]float64, len(ranges))
	for k, r := range ranges {
		weights[k], sizes[k] = 1/r.Gap.mean(), r.meanSize()
	}
	own := slices.Clone(weights)
	if err := s.tilt(weights, sizes); err != nil {
		return nil, err
	}
	type source struct {
		jannRange
		rng           *rand.Rand
		submit, ratio float64
	}
	all := make([]source, len(ranges))
	for k, r := range ranges {
		rng := stream(s.Seed, uint64(s.Index), uint64(k))
		ratio := own[k] / weights[k]
		all[k] = source{r, rng, ratio * r.Gap.draw(rng), ratio}
	}
	jobs := make([]workloadJob, s.Jobs)
	for k := range jobs {
		first := &all[0]
		for i := range all {
			if all[i].submit < first.submit {
				first = &all[i]
			}
		}
		size := first.High
		if first.rng.Float64() >= first.Upper && first.High > first.Low {
			size = first.Low + first.rng.IntN(first.High-first.Low)
		}
		jobs[k] = workloadJob{first.submit, first.Runtime.draw(first.rng), size}
		first.submit += first.ratio * first.Gap.draw(first.rng)
	}
	return jobs, nil
}
