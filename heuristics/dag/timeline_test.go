// SPDX-License-Identifier: MIT

package dag

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// plainLine is a timeline as a list of the tasks on it.
type plainLine [][2]float64

func (p plainLine) find(ready, length float64) float64 {
	at := 0.0
	for _, x := range p {
		start := max(at, ready)
		if x[0]-start >= length && start < x[0] && start+length <= x[0] {
			return start
		}
		at = max(at, x[1])
	}
	return max(at, ready)
}

// The treap finds the same gaps as the plain list, over random tasks placed and taken.
func TestTimelineAgainstPlainList(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		line, plain := newTimeline(), plainLine{}
		for range 120 {
			if len(plain) > 0 && rng.IntN(3) == 0 {
				k := rng.IntN(len(plain))
				line.release(plain[k][0], plain[k][1])
				plain = slices.Delete(plain, k, k+1)
				continue
			}
			ready, length := float64(rng.IntN(60)), float64(1+rng.IntN(6))
			at, want := line.find(ready, length), plain.find(ready, length)
			if at != want {
				t.Fatalf("%v after %v goes to %v, want %v: %v", length, ready, at, want, plain)
			}
			line.occupy(at, at+length)
			plain = append(plain, [2]float64{at, at + length})
			slices.SortFunc(plain, func(a, b [2]float64) int { return int(a[0] - b[0]) })
		}
	}
}
