// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gapwise/gapwise/internal/test/chromium"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// browser is a headless Chromium.
type browser struct {
	*chromium.Page
	t testing.TB
}

func newBrowser(t testing.TB) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	return &browser{chromium.Open(t, require.Tool(t, "chromium-headless-shell", "chromium-headless-shell"), "file://"), t}
}

// open opens a page.
func (b *browser) open(html []byte) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.Do(chromedp.Navigate("file://" + file))
}

// eval evaluates an expression in the page, and awaits it.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	return chromium.Eval[T](b.Page, script)
}

// In a browser the page of results loads nothing from anywhere and prints nothing on the console; its tables sort and
// filter, its charts change, its list opens.
func TestInBrowser(t *testing.T) {
	runs := drawnRuns(30)
	runs = append(runs, made(`<script>document.title = "taken"</script>`, `"><img src=x onerror="document.title = 'taken'">`, 1, 3, 2, 1, map[string]float64{"tasks": 3}))
	in, solution := smallGraph(), &model.Schedule{Tasks: []model.TaskStart{{ID: "a", Machine: "m1"}, {ID: "b", Machine: "m1", StartS: 2}, {ID: "c", Machine: "m1", StartS: 6}, {ID: "d", Machine: "m1", StartS: 9}}}
	drawn := made("diamond", "mine", 1, 10, 5, 1, map[string]float64{"tasks": 4})
	drawn.Instance, drawn.Solution = in, solution
	runs = append(runs, drawn)
	b := newBrowser(t)
	b.Width(1200)
	b.Media("screen", "light")
	b.open([]byte(pageOf(t, runs, Options{Pictures: 5})))
	require.Same(t, "title", "Results of p", eval[string](b, "document.title"))

	// Sorting: by the worst gap, up and down; the unknown stay last.
	const column = "Array.from(document.querySelectorAll('#gaps table')[1].tBodies[0].rows).map(r => r.cells[9].dataset.sort)"
	click := func(what string) { eval[bool](b, "("+what+").click(), true") }
	const head = "document.querySelectorAll('#gaps table')[1].tHead.rows[0].cells[9]"
	ordered := func(sign string) bool {
		return eval[bool](b, "(s => { const x = "+column+".map(Number), k = x.filter(v => !isNaN(v)); return x.length > 10 && x.slice(0, k.length).every((v, i) => !i || s * (v - x[i-1]) >= 0) && new Set(k).size > 5 })("+sign+")")
	}
	if ordered("1") {
		t.Error("the table is sorted before anyone asked")
	}
	for _, c := range []struct{ sign, aria string }{{"1", "ascending"}, {"-1", "descending"}} {
		click(head + ".querySelector('button')")
		if !ordered(c.sign) || eval[string](b, head+".getAttribute('aria-sort')") != c.aria {
			t.Errorf("the table isn't sorted %s: %v", c.aria, eval[[]string](b, column))
		}
	}

	// Filters: by text and by choice.
	const shown = "Array.from(document.querySelector('.items table').tBodies).filter(d => d.offsetHeight > 0).length"
	set := func(what, value, event string) {
		eval[bool](b, fmt.Sprintf("(e => { e.value = %q; e.dispatchEvent(new Event(%q)) })(document.querySelector(%q)), true", value, event, what))
	}
	require.Same(t, "instances are shown", 32, eval[int](b, shown))
	set(".items input", "graph-2", "input")
	require.Same(t, "instances are shown of graph-2, graph-20 to graph-29", 11, eval[int](b, shown))
	require.Same(t, "the filter says", "11 of 32",
		eval[string](b, "document.querySelector('.items output').textContent"))
	set(".items input", "", "input")
	set(".items select[data-index='1']", "open", "change")
	require.Same(t, "open instances are shown", 2, eval[int](b, shown))
	set(".items select[data-index='1']", "", "change")
	click("document.querySelector('.items thead button')")
	require.Same(t, "by name, the third instance", "graph-0",
		eval[string](b, "document.querySelectorAll('.items .open')[2].textContent"))
	const gap = "Array.from(document.querySelector('.items table').tBodies).map(b => b.rows[0].cells[5].dataset.sort).filter(x => x !== 'NaN').map(Number)"
	click("document.querySelector('.items table').tHead.rows[0].cells[5].querySelector('button')")
	if !eval[bool](b, "(x => x.length > 20 && x.every((v, i) => !i || v >= x[i-1]))("+gap+")") {
		t.Errorf("the instances aren't sorted by gap: %v", eval[[]float64](b, gap))
	}

	// Charts: one at a time; another after a choice; a curve is hidden by its name.
	const figures = "Array.from(document.querySelectorAll('#curves figure')).filter(f => f.offsetHeight > 0)"
	before := eval[string](b, figures+"[0].querySelector('svg').getAttribute('aria-label')")
	set("#curves select[data-index='1']", "gap (%)", "change")
	if after := eval[string](b, figures+"[0].querySelector('svg').getAttribute('aria-label')"); after == before || eval[int](b, figures+".length") != 1 {
		t.Errorf("charts %q and %q, %d are shown", before, after, eval[int](b, figures+".length"))
	}
	const curve = figures + "[0].querySelector('g[data-curve=\"0\"]').getBoundingClientRect().height"
	if eval[float64](b, curve) == 0 {
		t.Error("the first curve isn't there")
	}
	click(figures + "[0].querySelector('.legend button')")
	require.Same(t, "points of the first curve", 0, eval[float64](b, curve))

	// Details open by the keyboard; the picture is there; the command is copied or selected.
	const details = "Array.from(document.querySelector('.items table').tBodies).find(d => d.textContent.includes('diamond'))"
	eval[bool](b, details+".querySelector('.open').focus(), true")
	b.Do(chromedp.KeyEvent(" "))
	if eval[bool](b, details+".rows[1].hidden") || eval[string](b, details+".querySelector('.open').getAttribute('aria-expanded')") != "true" {
		t.Error("the details don't open")
	}
	if size := eval[[]int](b, "(i => [i.naturalWidth, i.width, i.alt.length])("+details+".querySelector('img'))"); size[0] == 0 || size[1] == 0 || size[2] == 0 {
		t.Errorf("the picture is %v", size)
	}
	click(details + ".querySelector('.copy')")
	if said := eval[string](b, "new Promise(r => setTimeout(() => r(document.getElementById('said').textContent), 100))"); said != "Copied" && said != "Selected: copy it" {
		t.Errorf("after a click on Copy: %q", said)
	}

	// Dark and light, by the system and by the button; enough contrast in both.
	const ground = "getComputedStyle(document.body).backgroundColor"
	light := eval[string](b, ground)
	if c := contrast(b); c < 4.5 {
		t.Errorf("contrast %v in light", c)
	}
	b.Media("screen", "dark")
	dark := eval[string](b, ground)
	if c := contrast(b); c < 4.5 {
		t.Errorf("contrast %v in dark", c)
	}
	click("document.getElementById('theme')")
	if again := eval[string](b, ground); light == dark || again != light {
		t.Errorf("light is %s, dark %s, after the button %s", light, dark, again)
	}

	// Every control has a name, every table its headers.
	if n := eval[int](b, "Array.from(document.querySelectorAll('button, input, select')).filter(e => !(e.textContent.trim() && e.tagName === 'BUTTON') && !e.getAttribute('aria-label') && !e.closest('label')).length"); n > 0 {
		t.Errorf("%d controls have no name", n)
	}
	if n := eval[int](b, "Array.from(document.querySelectorAll('table')).filter(t => !t.caption || !t.querySelector('thead th[scope=col]') || !t.querySelector('tbody th[scope=row]')).length"); n > 0 {
		t.Errorf("%d tables lack a caption or headers", n)
	}

	// The whole page of 60 runs, on two screens.
	b.open([]byte(pageOf(t, drawnRuns(20), Options{})))
	if high := eval[int](b, "document.scrollingElement.scrollHeight"); high > 2*1080 {
		t.Errorf("60 runs take %d pixels, want two screens of 1080 at most", high)
	}
	b.open([]byte(pageOf(t, runs, Options{})))

	// Charts next to each other use the width.
	b.Width(1440)
	if used := eval[float64](b, "(s => Math.max(...s.map(x => x.getBoundingClientRect().right)) - Math.min(...s.map(x => x.getBoundingClientRect().left)))(Array.from(document.querySelectorAll('section.half svg.chart')).filter(s => s.getBoundingClientRect().width > 0))"); used < 0.9*1320 {
		t.Errorf("the charts take %v of 1320 pixels", used)
	}
	b.Width(360)
	if wide := eval[int](b, "document.scrollingElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %d pixels wide on a phone of 360", wide)
	}
	if right := eval[float64](b, "Math.max(...Array.from(document.querySelectorAll('svg.chart .dot, svg.chart .line')).map(p => p.getBoundingClientRect()).filter(r => r.width > 0).map(r => r.right))"); right > 360 {
		t.Errorf("a curve on a phone of 360 pixels goes to %v", right)
	}
	b.Media("print", "dark")
	if n := eval[int](b, "Array.from(document.querySelectorAll('.control')).filter(e => e.offsetHeight > 0).length"); n > 0 {
		t.Errorf("%d controls are printed", n)
	}
	require.Same(t, "the paper", "rgb(255, 255, 255)", eval[string](b, ground))
	b.Quiet()

	// A script that got into the page all the same doesn't run, and nothing is loaded: this
	// is the browser's word for the policy, and that the test would notice.
	b.Media("screen", "light")
	broken := strings.Replace(pageOf(t, runs, Options{}), "<main", "<script>document.title = 'taken'</script><img src='http://127.0.0.1:9/x.png'><main", 1)
	b.open([]byte(broken))
	require.Same(t, "an injected script ran: title", "Results of p", eval[string](b, "document.title"))
	for _, what := range []string{"script", "image"} {
		if !slices.ContainsFunc(b.Said(), func(s string) bool {
			return strings.Contains(s, "Content Security Policy") && strings.Contains(s, what)
		}) {
			t.Errorf("the browser doesn't say that it blocked the %s: %q", what, b.Said())
		}
	}
}

// contrast returns the lowest contrast of the page's small texts with their ground.
func contrast(b *browser) float64 {
	return eval[float64](b, `(() => {
		const c = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		const rgb = s => { c.fillStyle = s; c.clearRect(0, 0, 1, 1); c.fillRect(0, 0, 1, 1); return Array.from(c.getImageData(0, 0, 1, 1).data); };
		const light = x => x.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
		const ground = e => { for (; e; e = e.parentElement) { const g = rgb(getComputedStyle(e).backgroundColor); if (g[3] === 255) return g; } return [255, 255, 255]; };
		let worst = 99;
		for (const e of document.querySelectorAll("p, td, th, dt, dd, a, h1, h2, .open, figcaption, .legend button[aria-pressed=true], caption, label, svg text")) {
			const s = getComputedStyle(e), a = light(rgb(e instanceof SVGElement ? s.fill : s.color)), g = light(ground(e instanceof SVGElement ? e.closest("div") : e));
			worst = Math.min(worst, (Math.max(a, g) + 0.05) / (Math.min(a, g) + 0.05));
		}
		return worst;
	})()`)
}

// The pages of an instance and of a log, in a browser: charts and picture are there,
// and nothing is wider than a phone.
func TestSolvedInBrowser(t *testing.T) {
	b := newBrowser(t)
	for name, in := range map[string]model.Instance{"instance": smallGraph(), "log": smallLog()} {
		var page bytes.Buffer
		var about *Log
		if name == "log" {
			model.SetStartTime(in, time.Date(1996, 9, 23, 13, 0, 31, 0, time.UTC))
			about = &Log{Name: "log"}
		}
		require.OK(t, Instance(context.Background(), &page, in, about, Solving{TimeLimit: 2e8, Seed: 1},
			Options{Pictures: 1}))
		b.Width(1200)
		b.open(page.Bytes())
		if n := eval[int](b, "Array.from(document.querySelectorAll('svg.chart')).filter(s => s.getBoundingClientRect().height > 100).length"); n == 0 {
			t.Errorf("%s: no chart is shown", name)
		}
		if n := eval[int](b, "(document.querySelector('.picture img') || {}).naturalWidth || 0"); n == 0 {
			t.Errorf("%s: no picture is shown", name)
		}
		if about != nil && !eval[bool](b, "document.querySelector('#usage svg').textContent.includes('Sep')") {
			t.Error("the log's axis has no dates")
		}
		b.Width(360)
		if right := eval[float64](b, "Math.max(...Array.from(document.querySelectorAll('svg.chart .line, svg.chart .dot')).map(p => p.getBoundingClientRect()).filter(r => r.width > 0).map(r => r.right))"); !(right > 100 && right <= 360) {
			t.Errorf("%s: a curve on a phone of 360 pixels goes to %v", name, right)
		}
		if wide := eval[int](b, "document.scrollingElement.scrollWidth"); wide > 360 {
			t.Errorf("%s: the page is %d pixels wide on a phone of 360", name, wide)
		}
	}
	b.Quiet()
}
