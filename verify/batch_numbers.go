// SPDX-License-Identifier: MIT

package verify

import "github.com/gapwise/gapwise/model"

// batchNumbers is an instance in whole numbers, as bounds and proofs count: times in microseconds, rates and uses in
// ten-thousandths.
type batchNumbers struct {
	Processors, Tiers int
	Jobs              []jobNumbers // as in the instance
}

// jobNumbers is a job in whole numbers.
type jobNumbers struct {
	Submit     int64
	Length     int64 // of dedicated processors, up to the estimate if jobs are killed then
	Processes  int
	Weight     int64   // at least 1
	Use        []int64 // of each process, or one value for all
	Foreground int64   // rate in the foreground
	Efficiency int64   // in the background
}

// numbersOf returns a valid instance in whole numbers. Its second reading, by the solvers, is another's code: a bound of
// figures that are read wrong once would be accepted by the same mistake.
func numbersOf(b *model.Batch) *batchNumbers {
	n := &batchNumbers{Processors: b.Processors, Tiers: b.Tiers, Jobs: make([]jobNumbers, len(b.Jobs))}
	whole := []int64{dedicated} // of all jobs without uses
	for k := range b.Jobs {
		j, x := &b.Jobs[k], &n.Jobs[k]
		x.Submit, x.Length = workOf(b, k)
		x.Processes, x.Weight, x.Use = j.Processes, int64(max(1, j.Weight)), whole
		if len(j.CPU) > 0 {
			x.Use = make([]int64, len(j.CPU))
			for i, u := range j.CPU {
				x.Use[i] = tenThousandths(u)
			}
		}
		x.Efficiency, x.Foreground = tenThousandths(j.BgEfficiency), dedicated
		if b.Tiers == 2 {
			x.Foreground -= tenThousandths(j.FgLoss)
		}
	}
	return n
}

// workOf returns the submission of job k and its time on dedicated processors, up to its estimate if jobs are killed
// then, in microseconds.
func workOf(b *model.Batch, k int) (submit, length int64) {
	j := &b.Jobs[k]
	submit, _ = micros(j.SubmitS)
	length, _ = micros(j.RuntimeS)
	if b.KillAtEstimate && j.EstimateS != 0 {
		estimate, _ := micros(j.EstimateS)
		length = min(length, estimate)
	}
	return submit, length
}
