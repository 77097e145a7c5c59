// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The page's text about its instance is in the terminal as well; jobs that overrun their estimates are counted, by
// number and by work.
func TestInstanceSaysWhatItIs(t *testing.T) {
	t.Parallel()
	in := &model.Batch{Name: "log", Processors: 4, Tiers: 1, Jobs: []model.BatchJob{
		{ID: "1", SubmitS: 0, RuntimeS: 30, EstimateS: 10, Processes: 2}, {ID: "2", SubmitS: 1, RuntimeS: 10, EstimateS: 10, Processes: 2},
		{ID: "3", SubmitS: 2, RuntimeS: 10, Processes: 1}, {ID: "4", SubmitS: 3, RuntimeS: 10, EstimateS: 20, Processes: 1}}}
	said := func(in *model.Batch, log *Log) (page, terminal string) {
		var b bytes.Buffer
		var lines []string
		require.OK(t, Instance(context.Background(), &b, in, log,
			Solving{Seed: 1, Said: func(s string) { lines = append(lines, s) }}, Options{}))
		return b.String(), strings.Join(lines, "\n")
	}
	in.Account = model.NewAccount("log.swf", "Standard Workload Format")
	in.Account.Assumed.Say("drawn with seed 1: all of it")
	page, terminal := said(in, &Log{Name: "log", Command: "gapwise convert log.swf -o log.json"})
	for _, want := range []string{"1 of 4 jobs (25.0 %), with 60.0 % of the work, run longer than", "--kill yes"} {
		if !strings.Contains(page, want) || !strings.Contains(terminal, want) {
			t.Errorf("page or terminal lacks %q:\n%s", want, terminal)
		}
	}
	require.Says(t, "the page", page, "Assumed: drawn with seed 1: all of it.")
	if n := strings.Count(page, "log.json"); n < 2 || strings.Contains(page, "instance.json") {
		t.Errorf("%d times log.json", n)
	}
	in.KillAtEstimate = true
	if page, _ := said(in, nil); !strings.Contains(page, "They are killed at their estimates") || strings.Contains(page, "Nothing was drawn") {
		t.Error("the other reading isn't told")
	}
	in.Jobs = in.Jobs[1:]
	if page, _ := said(in, nil); strings.Contains(page, "longer than their users") {
		t.Error("no job overruns")
	}
}

// Regret and the distance to the optimum are shares of the same value, so the regret is the smaller one; policies within
// noise of the best are tied with it, others aren't.
func TestLeadIsOfOneDenominator(t *testing.T) {
	in := &model.Batch{Name: "log", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "1", RuntimeS: 100, Processes: 1}}}
	all := []Run{made("log", "easy", 1, 200, 50, 0.1, nil), made("log", "easy-saf", 1, 200.1, 50, 0.1, nil), made("log", "fcfs", 1, 201, 50, 0.1, nil), made("log", "search", 1, 150, 50, 0.1, nil)}
	for k := range all {
		all[k].Kind = model.KindBatch
	}
	var to page
	onePart(t, all).lead(&to, &solved{in: in}, nil)
	said := strings.Join(to.Lead, " ")
	require.Says(t, "the summary", said, "best of 3 policies is easy:", "Tied with it, less than 0.1",
		": easy-saf.", "regret is 25.0 % of its value",
		"of its value, the best policy is at most 75.0 % from the optimum, the best of all 66.7 %")
}
