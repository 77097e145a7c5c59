// SPDX-License-Identifier: MIT

package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// fetched is how often the page has asked for HiGHS.
const fetched = "performance.getEntriesByType('resource').filter(x => x.name.includes('highs-')).length"

// HiGHS is loaded when an algorithm needs it, once and no earlier, and finds what the library's own search does. What
// needs no HiGHS doesn't get it afterwards either.
func TestHiGHS(t *testing.T) {
	require.HiGHS(t)
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 1000))
	b.Media("screen", "light")
	b.open("")
	at := map[string]string{"vcsched": "examples/engineer/shop.json", "dag": "docs/examples/six-tasks.json",
		"reservation": "docs/examples/three-requests.json", "consolidation": "docs/examples/five-nodes.json",
		"batch": "docs/examples/three-jobs.json"}
	for k, kind := range []string{"vcsched", "dag", "reservation", "consolidation", "batch"} {
		path := at[kind]
		in := require.Value(instances.Load("../" + path))(t)
		o := gapwise.Options{Algorithm: "highs", Settings: model.Settings{Seed: 1}}
		r := require.Value(gapwise.Solve(context.Background(), in, o))(t)
		b.click("[data-kind=" + kind + "]")
		b.until(idle)
		b.choose("#example", path[strings.LastIndex(path, "/")+1:])
		b.until(idle)
		b.choose("#limit", "50")
		b.choose("#algorithm", "auto")
		b.solve()
		first := eval[float64](b, objective)
		b.choose("#algorithm", "highs")
		about := eval[string](b, "document.getElementById('about-algorithm').textContent")
		if note := strings.Contains(about, "loads HiGHS, the solver of linear models, 1.2 MB"); note != (k == 0) {
			t.Errorf("%s: of highs the page says %q", kind, about)
		}
		if n := eval[int](b, fetched); n != min(k, 1) {
			t.Errorf("%s: HiGHS is asked for %d times before Solve", kind, n)
		}
		b.solve()
		said := eval[string](b, "document.getElementById('state').textContent")
		got, status := eval[float64](b, objective), eval[string](b, `import("/state.js").then(m => m.state.shown.status)`)
		if accepted := strings.Contains(eval[string](b, view), "The judge accepts"); !accepted || got != r.Objective || got != first || status != string(r.Status) {
			t.Errorf("%s: HiGHS in the page finds %v (%s), the library's HiGHS %v (%s), auto %v; the page says %q",
				kind, got, status, r.Objective, r.Status, first, said)
		}
		b.shot("highs-" + kind)
		b.click("#tab-explain")
		b.press("Explain")
		b.until(idle + " && document.querySelectorAll('#view .reasons li').length > 0")
		b.click("#tab-judge")
	}
	require.Same(t, "HiGHS is asked for: times", 1, eval[int](b, fetched))
	b.Quiet()
}

// objective is that of the solution which the page shows.
const objective = `import("/state.js").then(m => m.state.shown.objective)`

// A hard MIP ends at its time limit, with HiGHS's bound and progress on the way, and by Stop; then there is another
// worker, which has HiGHS.
func TestHiGHSStops(t *testing.T) {
	require.HiGHS(t)
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 1000))
	b.Media("screen", "light")
	b.open("")
	b.click("[data-kind=vcsched]")
	b.until(idle)
	b.choose("#example", "sixteen-hosts.json")
	b.until(idle)
	b.choose("#algorithm", "highs")
	b.choose("#limit", "3")
	b.shot("highs-before")
	b.solve()
	said := eval[string](b, "document.getElementById('state').textContent")
	if !strings.HasPrefix(said, "Feasible after") || !strings.Contains(eval[string](b, view), "The judge accepts") {
		t.Errorf("at the time limit the page says %q", said)
	}
	require.Same(t, "curves are drawn", 2, eval[int](b, "document.querySelectorAll('.curves .line').length"))
	b.shot("highs-limit")
	b.choose("#limit", "600")
	n := eval[string](b, "document.documentElement.dataset.solves || ''")
	b.click("#solve")
	b.until("document.querySelectorAll('.curves .line').length === 2")
	b.shot("highs-running")
	b.click("#stop")
	b.until(fmt.Sprintf("document.documentElement.dataset.solves !== %q && %s", n, idle))
	if got := eval[string](b, "document.getElementById('state').textContent"); !strings.Contains(got, "Stopped after") {
		t.Errorf("stopped: %q", got)
	}
	b.choose("#algorithm", "rrnz")
	b.solve() // by the worker that was started anew
	if got := eval[string](b, view); !strings.Contains(got, "The judge accepts") {
		t.Errorf("solved again: %q, %q", got, eval[string](b, "document.getElementById('state').textContent"))
	}
	require.Same(t, "HiGHS is asked for: times", 1, eval[int](b, fetched))
	b.Quiet()
}
