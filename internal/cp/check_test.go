// SPDX-License-Identifier: MIT

package cp

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Against the same sum in big integers.
func TestCheck(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	count := map[bool]int{}
	figure := func() int64 {
		x := int64(rng.Uint64() >> rng.IntN(64))
		if rng.IntN(2) == 0 {
			return -x
		}
		return x
	}
	for range 20_000 {
		m := &Model{}
		c := &Linear{AtMost: figure()}
		sum := new(big.Int).Abs(big.NewInt(c.AtMost))
		for range rng.IntN(3) {
			low, high := figure(), figure()
			x := m.Int(min(low, high), max(low, high))
			c.Terms = append(c.Terms, Term{figure(), x})
			most := new(big.Int).Abs(big.NewInt(low))
			if b := new(big.Int).Abs(big.NewInt(high)); b.Cmp(most) > 0 {
				most = b
			}
			sum.Add(sum, most.Mul(most, new(big.Int).Abs(big.NewInt(c.Terms[len(c.Terms)-1].Times))))
		}
		for range rng.IntN(3) {
			most := int64(0)
			var g []Choice
			for range rng.IntN(3) {
				v := max(0, figure())
				g = append(g, Choice{m.Bool().Is(), v})
				most = max(most, v)
			}
			c.Groups = append(c.Groups, g)
			sum.Add(sum, big.NewInt(most))
		}
		m.AddAs("row", c)
		over := m.Check() != nil
		count[over]++
		if err := m.Check(); over && !errors.Is(err, ErrOverflow) {
			t.Fatal(err)
		}
		if over && sum.Cmp(big.NewInt(1<<61-1<<20)) < 0 || !over && sum.Cmp(big.NewInt(1<<61+1<<20)) > 0 {
			t.Fatalf("overflow %v, the sum is %v", over, sum)
		}
	}
	if min(count[true], count[false]) < 2000 {
		t.Errorf("one-sided: %v", count)
	}
	for _, x := range []int64{math.MinInt64, math.MaxInt64} {
		m := &Model{}
		m.Add(&Linear{Terms: []Term{{x, m.Int(x, x)}}})
		if m.Check() == nil {
			t.Errorf("no error with %d", x)
		}
	}
}
