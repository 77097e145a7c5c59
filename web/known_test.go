// SPDX-License-Identifier: MIT

package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gapwise/gapwise/internal/test/require"
)

// text returns the text of the element with an id.
func (b *browser) text(id string) string {
	b.t.Helper()
	return eval[string](b, "document.getElementById('"+id+"').textContent")
}

// The state line tells of the solution that is drawn, and a bound that one solve has proved holds of all others.
func TestKnown(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.open("")
	b.solve()
	require.Same(t, "the bound of auto", "23 s", b.text("bound"))
	if got := b.text("state"); !strings.HasPrefix(got, "Optimal, proved after") {
		t.Errorf("solved: %q", got)
	}
	b.choose("#algorithm", "heft")
	b.solve()
	heft := func(how string) {
		t.Helper()
		require.Same(t, how+": heft's bound", "23 s", b.text("bound"))
		require.Same(t, how+": heft's gap", "8.00 %", b.text("gap"))
		if got := b.text("state"); !strings.HasPrefix(got, "Feasible after") || !strings.HasSuffix(got, "; 23 s is known.") {
			t.Errorf("%s: of heft's solution the page says %q", how, got)
		}
		require.Same(t, how+": the title", "six-tasks, heft: makespan 25 s, bound 23 s (gap 8.00 %)", b.text("title"))
		require.Same(t, how+": the mark", "no schedule ends before 23",
			eval[string](b, "[...document.querySelectorAll('#scene text.mark')].map(x => x.textContent).find(x => x.includes('before'))"))
		result := eval[[]any](b, `import("/state.js").then(m => (r => [r.bound, r.status, r.bound_of])(m.state.shown.result))`)
		if result[0] != 23. || result[1] != "feasible" || result[2] != "auto" {
			t.Errorf("%s: heft's result has %v", how, result)
		}
	}
	heft("solved")
	b.click("#tab-explain")
	b.press("Explain")
	b.until(idle + " && document.querySelectorAll('#view .reasons li').length > 0")
	got := eval[string](b, view)
	for _, want := range []string{"A known solution has 23 s, and none has less: that one is optimal.", "by search: auto left nothing open", "write one under Proof"} {
		if !strings.Contains(got, want) {
			t.Errorf("heft's solution is explained without %q: %q", want, got)
		}
	}
	b.click("#tab-compare")
	b.press("Run them all")
	b.until(idle + " && ![...document.querySelectorAll('#view button')].some(x => x.textContent === 'Stop')")
	b.press("search")
	if got := b.text("state"); !strings.HasPrefix(got, "Optimal") {
		t.Errorf("of the solution of search the page says %q", got)
	}
	b.press("heft")
	heft("clicked")

	// Another variant is another instance.
	b.choose("#variants select", "fair")
	b.until(idle)
	if by := eval[string](b, `import("/state.js").then(m => m.state.known.by)`); by == "auto" {
		t.Error("the bound of another variant is kept")
	}

	// Of a proof whose solution is worse the bound counts alone.
	b.click("[data-kind=tvc]")
	b.until(idle)
	b.choose("#algorithm", "auto")
	b.choose("#limit", "50")
	b.solve()
	require.Same(t, "auto's value", "12", b.text("objective"))
	b.choose("#limit", "0.1")
	b.click("#tab-proof")
	b.press("Write a proof")
	b.until(idle + " && document.querySelector('#view').textContent.includes('bound 12')")
	if got := b.text("objective") + ", " + b.text("gap") + ", " + b.text("state"); !strings.HasPrefix(got, "12, 0 %, Optimal") {
		t.Errorf("after the proof the page says %q", got)
	}
	b.Quiet()
}

// What a link can't bring stays said; a part of the page is no instance; what no field takes is said.
func TestEntries(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.open("#picture")
	require.Same(t, "of the picture's link", "", b.text("said")+b.text("toast"))
	b.click("#share")
	b.until("location.hash.length > 100")
	link := eval[string](b, "location.hash")
	for _, hash := range []string{link[:len(link)-20], "#garbage", "#1q1YqLU4tSlWyUlAqS8wpTVWqBQA"} {
		b.open(hash)
		if got := b.text("said"); !strings.Contains(got, "cut or damaged") {
			t.Errorf("%s: the page says %q", hash, got)
		}
	}
	b.open(link)
	require.Same(t, "of a whole link", "", b.text("said"))
	b.click(".skip")
	require.Same(t, "the focus", "picture", eval[string](b, "document.activeElement.id"))
	require.Same(t, "the link", link, eval[string](b, "location.hash"))

	for _, c := range [][3]string{{"#limit", "-5", "10"}, {"#limit", "99999", "10"}, {"#seed", "-3", "1"}, {"#seed", "", "1"}} {
		b.choose(c[0], c[1])
		n := eval[string](b, "document.documentElement.dataset.solves || ''")
		b.click("#solve")
		b.until("(document.documentElement.dataset.solves || '') !== '" + n + "' && " + idle)
		if got := b.text("state"); !strings.Contains(got, ": ") || !strings.Contains(got, c[1]) || b.text("objective") != "25 s" {
			t.Errorf("%s %s: the page says %q", c[0], c[1], got)
		}
		b.choose(c[0], c[2])
	}

	const out = `{"kind":"consolidation","version":1,"name":"out","resources":["cpu"],"price_unit":"vCPU","hosts":[{"id":"a","capacity":[4],"price":4}],
		"jobs":[{"id":"x","tasks":1,"needs":[4]},{"id":"y","tasks":2,"needs":[3],"leave_out_cost":7}]}`
	eval[bool](b, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%q], "my file.json")); dispatchEvent(new DragEvent("drop", {dataTransfer: d})); return true; })()`, out))
	b.until(idle + " && document.getElementById('title').textContent.startsWith('out')")
	b.choose("#algorithm", "auto")
	b.solve()
	require.Same(t, "the cost", "18 vCPU", b.text("objective"))
	require.Same(t, "its parts", "cost: 4 vCPU for hosts, 14 vCPU for tasks left out", b.text("objective-name"))
	if got := eval[string](b, view); !strings.Contains(got, "of it for tasks left out14 vCPU") {
		t.Errorf("the judge says %q", got)
	}
	require.Same(t, "the command", "download the instance under Data, then: gapwise solve out.json",
		eval[string](b, "document.querySelector('footer').textContent.split('; ').at(-1).trim()"))
	b.Quiet()
}
