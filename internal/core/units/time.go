// SPDX-License-Identifier: MIT

package units

import (
	"math"
	"math/bits"
)

// Micro returns 10^6 x, rounded.
func Micro(x float64) int64 { return int64(math.Round(x * 1e6)) }

// Seconds returns the float64 nearest to a number of millionths. If Seconds(Micro(x)) == x for an x in range, x is a
// whole number of millionths.
func Seconds(micro int64) float64 { return float64(micro) / 1e6 }

// TimeSum adds up multiples of times in microseconds. It is exact beyond int64, too.
type TimeSum struct{ high, low int64 } // high · 2^62 + low

// Add adds a time, less than 2^62 from 0, so many times, less than 2^60.
func (s *TimeSum) Add(micros, times int64) {
	const part = 1 << 62
	high, low := bits.Mul64(uint64(max(micros, -micros)), uint64(times))
	more, rest := int64(high<<2|low>>62), int64(low&(part-1))
	if micros < 0 {
		more, rest = -more, -rest
	}
	s.high += more
	s.low += rest // each less than 2^62 from 0
	switch {
	case s.low >= part:
		s.low, s.high = s.low-part, s.high+1
	case s.low <= -part:
		s.low, s.high = s.low+part, s.high-1
	}
}

// Seconds returns the sum in seconds.
func (s *TimeSum) Seconds() float64 { return (float64(s.high)*(1<<62) + float64(s.low)) / 1e6 }
