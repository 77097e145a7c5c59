// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

func ranks(t testing.TB, style draw.Style, all []draw.Ranking) []byte {
	t.Helper()
	var b bytes.Buffer
	require.OK(t, draw.Ranks(&b, style, "Mean ranks by gap (%)", "1: the best", all))
	return b.Bytes()
}

// Three algorithms: the line of each begins at its rank, and the bar joins the last two.
func TestRanksOfThree(t *testing.T) {
	r := draw.Ranking{Heading: "offline heuristics, n = 9", Names: []string{"heft", "cpop", "peft"}, Ranks: []float64{1, 2, 3}, Distance: 1.1, Cliques: [][2]int{{1, 2}}}
	p := parse(t, ranks(t, draw.Style{Format: "svg"}, []draw.Ranking{r}))
	texts(t, p, []string{"1", "2", "3", "CD = 1.10", "heft  1.00", "cpop  2.00", "3.00  peft", "1: the best", r.Heading}, "…")
	noOverlap(t, p)
	at := map[string]float64{}
	for _, x := range p.texts {
		at[x.Value] = x.X
	}
	bars := 0
	for _, x := range p.paths {
		if strings.Contains(x.Style, "stroke:#"+hex(theme.Plain)) {
			bars++
			var left, y, right float64
			_ = require.Value(fmt.Sscanf(x.D, "M%f,%fL%f,", &left, &y, &right))(t)
			if math.Abs(left+3-at["2"]) > 0.1 || math.Abs(right-3-at["3"]) > 0.1 {
				t.Errorf("the bar is from %v to %v, the ranks are at %v", left, right, at)
			}
		}
	}
	require.Is(t, 1, bars, "bars")
}

// Names of any length, ties, and distances beyond the axis lie on nothing, in pictures of any width.
func TestRanksFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for range require.Rounds(200) {
		var all []draw.Ranking
		for range 1 + rng.IntN(3) {
			r := draw.Ranking{Heading: "offline heuristics, n = 46, Friedman's p < 0.001", Distance: 0.01 + 3*rng.Float64()}
			n := 2 + rng.IntN(11)
			for k := range n {
				r.Names = append(r.Names, strings.Repeat("name-", rng.IntN(12))+fmt.Sprint(k))
				r.Ranks = append(r.Ranks, 1+float64(rng.IntN(3*n-2))/3)
			}
			slices.Sort(r.Ranks)
			for k := range rng.IntN(n) {
				r.Cliques = append(r.Cliques, [2]int{k, k + 1 + rng.IntN(n-k-1)})
			}
			all = append(all, r)
		}
		p := parse(t, ranks(t, draw.Style{Format: "svg", Width: []float64{0, 227, 400}[rng.IntN(3)], Height: []float64{0, 1900}[rng.IntN(2)]}, all))
		noOverlap(t, p)
		finite(t, p)
	}
	r := draw.Ranking{Names: []string{"a", "b"}, Ranks: []float64{1.5, 1.5}, Distance: 1.96, Cliques: [][2]int{{0, 1}}}
	for _, format := range draw.Formats {
		require.Is(t, true, len(ranks(t, draw.Style{Format: format}, []draw.Ranking{r})) > 0, format)
	}
}

func TestRanksRefused(t *testing.T) {
	good := draw.Ranking{Names: []string{"a", "b"}, Ranks: []float64{1.4, 1.6}, Distance: 1}
	for name, change := range map[string]func(*draw.Ranking, *draw.Style){
		"one name":    func(r *draw.Ranking, _ *draw.Style) { r.Names, r.Ranks = r.Names[:1], r.Ranks[:1] },
		"ranks":       func(r *draw.Ranking, _ *draw.Style) { r.Ranks = r.Ranks[:1] },
		"NaN":         func(r *draw.Ranking, _ *draw.Style) { r.Ranks = []float64{math.NaN(), 1} },
		"descending":  func(r *draw.Ranking, _ *draw.Style) { r.Ranks = []float64{2, 1} },
		"too high":    func(r *draw.Ranking, _ *draw.Style) { r.Ranks = []float64{1, 2.5} },
		"no distance": func(r *draw.Ranking, _ *draw.Style) { r.Distance = math.Inf(1) },
		"a clique":    func(r *draw.Ranking, _ *draw.Style) { r.Cliques = [][2]int{{0, 2}} },
		"narrow":      func(_ *draw.Ranking, s *draw.Style) { s.Width = 150 },
		"low":         func(_ *draw.Ranking, s *draw.Style) { s.Height = 60 },
	} {
		r, s := good, draw.Style{Format: "svg"}
		change(&r, &s)
		require.Refused(t, name, draw.Ranks(io.Discard, s, "", "", []draw.Ranking{r}), model.ErrInvalid, "")
	}
}
