// SPDX-License-Identifier: MIT

package papers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// A tie is tied whatever the order of the arguments, and a comparison that holds doesn't the
// other way round.
func TestTies(t *testing.T) {
	for name, c := range map[string]struct {
		value estimate
		same  float64
		want  Verdict
	}{
		"equal":                {estimate{0, 0, 9}, 0, Tied},
		"equal in print":       {estimate{0.02, 0.01, 9}, 0.05, Tied},
		"as far as a tie goes": {estimate{0.25, 0.25, 9}, 0.5, Tied},
		"further":              {estimate{0.25, 0.5, 9}, 0.5, Undecided},
		"more":                 {estimate{1, 0.5, 9}, 0.1, Held},
		"no test":              {estimate{0, math.NaN(), 0}, 1, Undecided},
	} {
		first, second := above("", c.value, 0), below("", estimate{-c.value.mean, c.value.half, c.value.df}, 0)
		first.same, second.same = c.same, c.same
		if first.verdict() != c.want || second.verdict() != c.want {
			t.Errorf("%s: %s, exchanged %s, want %s", name, first.verdict(), second.verdict(), c.want)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	other := map[Verdict]Verdict{Held: NotHeld, NotHeld: Held, Tied: Tied, Undecided: Undecided}
	for range 2000 {
		x := estimate{float64(rng.IntN(21)-10) / 8, float64(rng.IntN(9)) / 8, float64(rng.IntN(20))}
		same := float64(rng.IntN(3)) / 4
		for _, y := range []claim{above("", estimate{-x.mean, x.half, x.df}, 0), below("", x, 0)} {
			a := above("", x, 0)
			a.same, y.same = same, same
			want := other[a.verdict()]
			require.Is(t, want, y.verdict(), x, "with ties within", same, "is", a.verdict(), "and", y)
		}
	}
}

// A comparison's verdict without ties follows its interval: the p is below the level where the interval is on one side.
func TestVerdictIsTheInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		x := estimate{rng.NormFloat64(), 0.01 + rng.Float64(), float64(rng.IntN(30))}
		c, want := above("", x, 0.1), Undecided
		switch {
		case x.mean-0.1 > x.half:
			want = Held
		case 0.1-x.mean > x.half:
			want = NotHeld
		}
		if math.Abs(math.Abs(x.mean-0.1)-x.half) > 1e-6 && c.verdict() != want {
			t.Fatalf("%v above 0.1 is %s, want %s", x, c.verdict(), want)
		}
	}
}

// One tie among comparisons that hold makes a statement tied, one that doesn't hold makes it
// not held, and one of many that chance may have decided leaves it undecided.
func TestJudged(t *testing.T) {
	holds, tied, not := above("", estimate{1, 0.1, 19}, 0), above("", estimate{0, 0, 19}, 0), above("", estimate{-1, 0.1, 19}, 0)
	unsure, hardly := above("", estimate{1, 2, 19}, 0), above("", estimate{-1, 0.95, 19}, 0)
	for name, c := range map[string]struct {
		how    string
		claims []claim
		want   Verdict
	}{
		"all":                {"", []claim{holds, holds}, Held},
		"a tie":              {"", []claim{holds, tied, holds}, Tied},
		"ties alone":         {"", []claim{tied, tied}, Tied},
		"a tie and unsure":   {"", []claim{tied, unsure}, Undecided},
		"a tie and not":      {"", []claim{tied, not}, NotHeld},
		"one hardly not":     {"", []claim{hardly}, NotHeld},
		"one of many hardly": {"", []claim{holds, hardly, holds}, Undecided},
		"most":               {"most", []claim{holds, holds, not}, Held},
		"half":               {"most", []claim{holds, not}, NotHeld},
		"most with a tie":    {"most", []claim{holds, tied, not}, Tied},
		"one of them":        {"one", []claim{unsure, holds, not}, Held},
		"no tie of any":      {"one", []claim{not, not}, NotHeld},
		"a tie at most":      {"one", []claim{tied, not}, Tied},
		"a tie, or more":     {"one", []claim{tied, unsure}, Undecided},
	} {
		f := judged("", c.how, c.claims)
		if f.Verdict != c.want || (f.Verdict == Held || f.Verdict == NotHeld) != (f.P < level) {
			t.Errorf("%s: %s with p %v (%s), want %s", name, f.Verdict, f.P, f.Measured, c.want)
		}
	}
}

// Holm's verdict is the other one, or undecided, and with one statement it is the same.
func TestAdjust(t *testing.T) {
	all := []Finding{{Verdict: Held, P: 0.03}, {Verdict: Tied, P: 1}, {Verdict: Held, P: 0.001}, {Verdict: NotHeld, P: math.NaN()}, {Verdict: Held, P: 0.7}}
	adjust(all)
	for k, want := range []Verdict{Undecided, Tied, Held, NotHeld, Held} {
		require.Same(t, fmt.Sprintf("%+v", all[k]), want, all[k].ByHolm)
	}
	one := []Finding{{Verdict: NotHeld, P: 0.049}}
	if adjust(one); one[0].ByHolm != NotHeld || one[0].Holm != 0.049 {
		t.Errorf("%+v", one)
	}
}

// A statement and its contrary never hold both: that AdaBa's accept rate falls by less than best fit's, and that both
// fall alike.
func TestContraries(t *testing.T) {
	both := []Finding{{Text: "a", Verdict: Held, contrary: "b"}, {Text: "b", Verdict: Held}, {Text: "c", Verdict: Held, contrary: "d"}, {Text: "d", Verdict: Tied}}
	apart(both)
	for k, want := range []Verdict{Undecided, Undecided, Held, Tied} {
		require.Same(t, fmt.Sprintf("%+v", both[k]), want, both[k].Verdict)
	}
	for _, lead := range []float64{0, 1.6, 1.99, 2.5, 6} {
		accept := func(a string, x, noise float64) map[string]float64 {
			y := 70 - x/20 + noise
			if a == "adaba" && x == 700 {
				y += lead + noise/1000
			}
			return map[string]float64{"first": 80, acceptRate: y}
		}
		all := require.Value(FindingsOf(clustered("tvc", "bandwidth", []float64{50, 700}, "requests", accept, "adaba", "best-fit", "greedy"), []string{"bandwidth"}))(t)
		for _, f := range all {
			if f.contrary != "" && !slices.ContainsFunc(all, func(g Finding) bool { return g.Text == f.contrary }) {
				t.Errorf("no finding says the contrary %q", f.contrary)
			}
		}
		held := func(text string) bool {
			k := slices.IndexFunc(all, func(f Finding) bool { return f.Text == text })
			return all[k].Verdict == Held && !strings.Contains(all[k].Measured, "contrary")
		}
		if less, like := held("AdaBa's accept rate falls by less than that of best-fit"), held("best-fit's accept rate falls like AdaBa's (within 2 points)"); less && like || less != (lead > 1.9) || like != (lead < 1.9) {
			t.Errorf("with a lead of %v it falls by less: %v, and alike: %v", lead, less, like)
		}
	}
}

// The largest degradation of MCB8 is third, and has no p.
func TestRanked(t *testing.T) {
	e := &experiment{points: make([][]float64, 1), runs: map[cell]map[drawn]float64{}}
	for a, x := range map[string]float64{"mcb8": 40, "mcb5": 38, "mcb6": 37, "mcb7": 41} {
		e.runs[cell{"deg", a, 0}] = map[drawn]float64{{draw: 1}: 1, {draw: 2}: x, {draw: 3}: 100}
		e.runs[cell{unsolved, a, 0}] = map[drawn]float64{{draw: 1}: 0, {draw: 2}: 0, {draw: 3}: 100}
	}
	others := []string{"mcb5", "mcb6", "mcb7"}
	if f := ranked("", 3, e, "deg", "mcb8", others); f.Verdict != Held || !math.IsNaN(f.P) || !strings.HasPrefix(f.Measured, "rank 3: mcb8 40, after mcb5 38, mcb6 37;") {
		t.Errorf("%+v", f)
	}
	if f := ranked("", 1, e, "deg", "mcb8", others); f.Verdict != NotHeld {
		t.Errorf("%+v", f)
	}
	if f := ranked("", 1, e, "deg", "none", others); f.Verdict != Undecided {
		t.Errorf("%+v", f)
	}
}

// A limit that isn't printed is shown with the effects of half and twice of it.
func TestSensitivity(t *testing.T) {
	all := require.Value(FindingsOf(made(func(p string, _ float64, a, _ *float64) {
		if p == "du-b" {
			*a -= 0.5 // 1.5 below PE_W
		}
	}), []string{"arrival_factor"}))(t)
	for _, f := range all {
		if strings.HasPrefix(f.Text, "PE_W and DU_B accept similar") && (f.Verdict != Held || !strings.HasSuffix(f.Measured, "; with half the limit not held")) {
			t.Errorf("%+v", f)
		}
	}
}

// Figures have the digits that their intervals leave a meaning.
func TestDigits(t *testing.T) {
	for want, x := range map[string]estimate{
		"10582 ± 1137": {mean: 10582.32, half: 1136.55}, "1.60 ± 0.38": {mean: 1.6, half: 0.379}, "0.5 ± 0": {mean: 0.5}, "0.0 ± 1.3": {mean: -0.01, half: 1.28},
		"3 (one run)": {mean: 3, half: math.NaN()}, "no run has a value": {mean: math.NaN()},
	} {
		require.Same(t, "result", want, x.String())
	}
}

// A difference below a measure's tie is tied against 0, whichever side a statement claims, and decides other limits.
func TestTiesOfLeads(t *testing.T) {
	e := &experiment{points: make([][]float64, 1), runs: map[cell]map[drawn]float64{}, ties: map[string]float64{"m": 0.001}}
	for a, x := range map[string]float64{"a": 1, "b": 1.0004} {
		e.runs[cell{"m", a, 0}] = map[drawn]float64{{draw: 1}: x, {draw: 2}: x}
	}
	lead := func() claims { return e.lead("m", []string{"a"}, []string{"b"}) }
	for name, c := range map[string]struct {
		claims claims
		want   Verdict
	}{
		"above": {lead(), Tied}, "below": {lead().below(0), Tied}, "above again": {lead().below(0).above(0), Tied},
		"below 1": {lead().below(1), Held}, "above 1": {lead().above(1), NotHeld}, "within": {lead().within(1), Held},
	} {
		require.Same(t, fmt.Sprintf("%s: %+v", name, c.claims[0]), c.want, c.claims[0].verdict())
	}
}
