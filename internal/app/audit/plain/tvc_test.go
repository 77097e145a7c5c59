// SPDX-License-Identifier: MIT

package plain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func TestTVCAgainstBruteForce(t *testing.T) {
	t.Parallel()
	rng, all, none := rand.New(rand.NewPCG(11, 7)), 0, 0
	for range need.Rounds(1000) {
		n := rng.IntN(6)
		in := testkit.RandomTVC(rng, 2, n, false)
		want, s := testkit.BruteTVC(in)
		agree(t, in, want)
		switch len(s.Runs) {
		case n:
			all++
		case 0:
			none++
		}
	}
	if draws := need.Rounds(1000); all > draws*3/4 || none > draws/4 {
		t.Errorf("of %d instances %d accept all and %d none", draws, all, none)
	}
	for range need.Rounds(60) { // more links, fewer requests
		in := testkit.RandomTVC(rng, 4, 3, false)
		in.FatTree.Slots = min(in.FatTree.Slots, 2)
		for k := range in.Requests {
			in.Requests[k].VMs = min(in.Requests[k].VMs, 3)
		}
		want, _ := testkit.BruteTVC(in)
		agree(t, in, want)
	}
}

// Of a queue the plain engine finds schedules that the judge takes, and none that beats the best one.
func TestTVCQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 8))
	for range 60 {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(4), true)
		a, err := plain.Solve(in, math.NaN(), enough)
		if err != nil || a.Solution == nil || a.Whole {
			t.Fatalf("%+v, %v", a, err)
		}
		report, err := verify.Verify(t.Context(), in, a.Solution, verify.Options{})
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		if again, err := plain.Solve(in, a.Value, enough); err != nil || again.Solution != nil {
			t.Errorf("%v is beaten by %v, %v", a.Value, again.Value, err)
		}
	}
}

func BenchmarkTVC(b *testing.B) {
	for _, k := range []int{2, 4} {
		for _, requests := range []int{6, 8, 12, 16} {
			b.Run(fmt.Sprintf("k=%d/requests=%d", k, requests), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(11, 9))
				grow(b, func() model.Instance { return testkit.RandomTVC(rng, k, requests, false) })
			})
		}
	}
}
