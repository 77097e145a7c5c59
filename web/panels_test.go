// SPDX-License-Identifier: MIT

package web

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/gapwise/gapwise/internal/test/require"
)

// drag moves a box by the mouse, by so many pixels.
func (b *browser) drag(item string, dx, dy float64) {
	b.t.Helper()
	at := eval[[]float64](b, fmt.Sprintf("(r => [r.left + r.width / 2, r.top + r.height / 2])(%s.getBoundingClientRect())", boxOf(item)))
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		_, err := chromedp.Call(b.Ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: "left", Buttons: 1, ClickCount: 1})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	mouse("mouseMoved", at[0], at[1])
	mouse("mousePressed", at[0], at[1])
	mouse("mouseMoved", at[0]+dx/2, at[1]+dy/2)
	mouse("mouseMoved", at[0]+dx, at[1]+dy)
	mouse("mouseReleased", at[0]+dx, at[1]+dy)
	b.until(idle)
}

// boxOf is the script's expression for the first box of an item.
func boxOf(item string) string {
	return fmt.Sprintf("[...document.querySelectorAll('#scene [data-box]')].find(g => g.getAttribute('aria-label').includes(%q)).querySelector('rect')", item)
}

const view = "document.getElementById('view').textContent"

// What is moved by hand, by the mouse and by the keyboard, is judged; it can be undone and
// mended, and solved from.
func TestMoveByHand(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 1400))
	b.Media("screen", "light")
	b.open("")
	if got := eval[string](b, "document.getElementById('objective').textContent"); got != "25 s" {
		t.Errorf("heft's makespan is %q, want 25 s", got)
	}
	b.drag("task 6 on P2", -300, 0) // onto what it waits for
	if got := eval[string](b, view); !strings.Contains(got, "The judge objects") || !strings.Contains(got, `"6"`) {
		t.Errorf("after a move to the left: %q", got)
	}
	if n := eval[int](b, "document.querySelectorAll('#scene .broken').length"); n == 0 {
		t.Error("the picture marks nothing that is broken")
	}
	b.shot("moved")
	b.click("#mend")
	b.until(idle)
	if got := eval[string](b, view); !strings.Contains(got, "The judge accepts") {
		t.Errorf("mended: %q", got)
	}
	b.click("#undo")
	b.click("#undo")
	if got := eval[string](b, "document.getElementById('objective').textContent"); got != "25 s" || !eval[bool](b, "document.getElementById('undo').disabled") {
		t.Errorf("undone: %q", got)
	}

	// By the keyboard: the box that was moved last, ten steps to the right.
	eval[bool](b, "(document.querySelector('#scene svg').focus(), true)")
	for _, key := range []string{"ArrowDown", "ArrowUp", "ArrowRight", "Enter"} {
		b.key(key)
	}
	for range 10 {
		b.key("ArrowRight")
	}
	if said := eval[string](b, "document.getElementById('toast').textContent"); !strings.Contains(said, "P2 at") {
		t.Errorf("while it is carried the page says %q", said)
	}
	b.until("document.getElementById('state').textContent === 'Here: makespan 26 s, 1 s worse.'")
	b.key("Enter")
	b.until(idle + " && !document.getElementById('undo').disabled")
	if got := eval[string](b, view); !strings.Contains(got, "The judge accepts") || !strings.Contains(got, "worse") {
		t.Errorf("moved by the keyboard: %q", got)
	}
	b.key("Enter")
	b.key("Escape")
	eval[bool](b, "([...document.querySelectorAll('#view button')].find(x => x.textContent === 'Solve from here').click(), true)")
	b.until(idle + " && document.getElementById('gap').textContent === '0 %'")

	// A declined request is booked by hand, and the judge says why not.
	b.click("[data-kind=reservation]")
	b.until(idle)
	b.choose("#algorithm", "auto")
	b.solve()
	b.drag("request r8", 0, -150)
	if got := eval[string](b, view); !strings.Contains(got, "The judge objects") {
		t.Errorf("r8 is booked: %q", got)
	}
	// A machine moves to another host.
	b.click("[data-kind=vcsched]")
	b.until(idle)
	b.drag("job database", 0, 60)
	if got := eval[string](b, view); !strings.Contains(got, "The judge objects") || !strings.Contains(got, "memory") {
		t.Errorf("two databases' worth on one host: %q", got)
	}
	b.Quiet()
}

// By a finger, the first tap tells what a box is, and the page scrolls; then the box can be
// dragged.
func TestMoveByTouch(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(360, 1900, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.open("")
	touch := func(dx, dy float64) {
		at := eval[[]float64](b, fmt.Sprintf("(r => [r.left + r.width / 2, r.top + r.height / 2])(%s.getBoundingClientRect())", boxOf("task 6 on P2")))
		for _, x := range []struct {
			kind input.DispatchTouchEventType
			far  float64
		}{{"touchStart", 0}, {"touchMove", 0.5}, {"touchMove", 1}, {"touchEnd", 1}} {
			points := []*input.TouchPoint{}
			if x.kind != "touchEnd" {
				points = append(points, &input.TouchPoint{X: at[0] + dx*x.far, Y: at[1] + dy*x.far})
			}
			require.OK(t, require.Err(chromedp.Call(b.Ctx, input.DispatchTouchEvent,
				input.DispatchTouchEventParams{Type: x.kind, TouchPoints: points})))
		}
		b.until(idle)
	}
	touch(0, 0)
	if tip := eval[string](b, "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"); !strings.Contains(tip, "task 6 on P2") {
		t.Errorf("a tap tells %q", tip)
	}
	if !eval[bool](b, "document.getElementById('undo').disabled") {
		t.Error("a tap moves the box")
	}
	touch(-80, 0)
	b.until(idle + " && !document.getElementById('undo').disabled")
	if got := eval[string](b, view); !strings.Contains(got, "The judge objects") {
		t.Errorf("after a move to the left: %q", got)
	}
	b.Quiet()
}

// key presses a key.
func (b *browser) key(key string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf("(document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true, cancelable: true})), true)", key))
}

// press clicks a button of the open panel by its text.
func (b *browser) press(text string) {
	b.t.Helper()
	if !eval[bool](b, fmt.Sprintf("(x => (x && x.click(), !!x))([...document.querySelectorAll('#view button')].find(x => x.textContent === %q))", text)) {
		b.t.Fatalf("there is no button %q: %s", text, eval[string](b, view))
	}
}

// The panels explain, compare, walk through, prove and show the data; a link brings the
// instance back; a file that is dropped is read, and a wrong one is told from a right one.
func TestPanels(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.Media("screen", "light")
	b.open("")
	b.solve()
	b.click("#tab-explain")
	b.press("Explain")
	b.until(idle + " && document.querySelectorAll('#view .reasons li').length > 0")
	if got := eval[string](b, view); !strings.Contains(got, "23") {
		t.Errorf("explained: %q", got)
	}
	eval[bool](b, "(document.querySelector('#view .marks').dispatchEvent(new Event('mouseenter')), true)")
	if eval[int](b, "document.querySelectorAll('#scene .marked').length") == 0 {
		t.Error("a reason marks nothing in the picture")
	}
	b.shot("explain")
	svg := eval[[]string](b, `import("/state.js").then(m => { const d = new DOMParser().parseFromString(m.picture.file(), "image/svg+xml"); return [d.documentElement.nodeName, d.querySelector("text").textContent, String(d.querySelectorAll("rect").length)]; })`)
	if svg[0] != "svg" || !strings.HasPrefix(svg[1], "six-tasks, auto: makespan 23 s, optimal") || len(svg[2]) < 2 {
		t.Errorf("the picture's file is %q", svg)
	}

	b.click("#tab-compare")
	b.press("Run them all")
	b.until(idle + " && ![...document.querySelectorAll('#view button')].some(x => x.textContent === 'Stop')")
	rows := eval[map[string]string](b, "Object.fromEntries([...document.querySelectorAll('#view tbody tr')].map(r => [r.cells[0].textContent, r.cells[1].textContent]))")
	if rows["heft"] != "25 s" || rows["search"] != "23 s" || eval[int](b, "document.querySelectorAll('#view table').length") < 2 {
		t.Errorf("all algorithms: %v", rows)
	}
	b.shot("compare")

	b.click("#tab-step")
	b.press("Walk through")
	b.until(idle + " && document.querySelector('#view input[type=range]')")
	if got := eval[string](b, view); !strings.Contains(got, "0 of 13") {
		t.Errorf("the first step of heft: %q", got)
	}
	b.choose("#view input[type=range]", "9")
	if got := eval[string](b, view); !strings.Contains(got, "9 of 13") || !strings.Contains(got, "task 3: finishes at 6 on P1") {
		t.Errorf("step 9 of heft: %q", got)
	}
	if n := eval[int](b, "document.querySelectorAll('#scene .box:not(.ghost)').length"); n != 2 {
		t.Errorf("%d boxes are there after two are placed", n)
	}
	b.shot("step")

	b.click("#tab-proof")
	b.press("Write a proof")
	b.until(idle + " && document.querySelector('#view textarea')")
	b.press("Replay")
	b.until(idle + " && document.querySelector('#view .verdict')")
	if got := eval[string](b, view); !strings.Contains(got, "✓ Proved") {
		t.Errorf("replayed: %q", got)
	}
	b.shot("proof")
	eval[bool](b, "(a => { a.value = a.value.replace(/(\\d+)(?=\\D*$)/, '1'); a.value = a.value.split('\\n').filter((l, i) => i !== 20).join('\\n'); a.dispatchEvent(new Event('input')); return true; })(document.querySelector('#view textarea'))")
	b.press("Replay")
	b.until(idle + " && document.querySelector('#view .verdict.bad')")

	b.click("#tab-data")
	b.shot("data")
	eval[bool](b, "(a => { a.value = a.value.replace('six-tasks', 'mine'); return true; })(document.querySelector('#view textarea'))")
	b.press("Read it as it is here")
	b.until(idle + " && document.getElementById('title').textContent.startsWith('mine')")

	b.click("#share")
	b.until("location.hash.length > 100")
	link := eval[string](b, "location.hash")
	b.open(link)
	if got := eval[string](b, "document.getElementById('title').textContent"); !strings.HasPrefix(got, "mine") {
		t.Errorf("the link brings %q", got)
	}
	drop := func(name, text string) {
		eval[bool](b, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%q], %q)); dispatchEvent(new DragEvent("drop", {dataTransfer: d})); return true; })()`, text, name))
	}
	drop("graph.stg", "3\n0 0 0\n1 4 1 0\n2 3 1 0\n3 2 2 1 2\n4 0 1 3\n")
	b.until(idle + " && !document.getElementById('reading').hidden && document.getElementById('title').textContent.startsWith('graph')")
	if got := eval[string](b, "document.getElementById('said').textContent"); strings.Contains(got, "platform (such as") {
		t.Errorf("a graph is read on the machines that the field names, and %q is said", got)
	}
	b.choose("#platform", "moon")
	b.click("#reread")
	b.until("document.getElementById('said').textContent.includes('invalid platform')")
	drop("table.csv", "a,b\n1,2\n")
	b.until("document.getElementById('said').textContent.includes('table: its first line must name cpu and memory')")
	drop("mine.csv", "name,cpu,memory\nweb,0.4,0.5\ndb,0.7,0.9\n")
	b.until(idle + " && document.getElementById('said').textContent.includes('assumed: 2 hosts')")
	b.choose("#capacity", "3")
	b.click("#reread")
	b.until(idle + " && document.querySelectorAll('#scene .row').length === 6")
	b.Quiet()
}

// HEFT, EASY, AdaBa and MCB8 can be walked through: no box is there before the first step, and
// all are after the last; on the way EASY's shadow time is marked. Other problems have no such tab.
func TestSteps(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.open("")
	b.click("#tab-step")
	ghosts := func() []int {
		return eval[[]int](b, "['.ghost', ''].map(x => document.querySelectorAll('#scene [data-box]' + x + ':not(.declined):not(.share1):not(.share2):not(.share3):not(.share4)').length)")
	}
	for _, kind := range []string{"dag", "batch", "reservation", "tvc", "vcsched", "consolidation"} {
		b.click("[data-kind=" + kind + "]")
		b.until(idle)
		if hidden := eval[bool](b, "document.getElementById('tab-step').hidden"); kind == "reservation" || kind == "consolidation" {
			if open := eval[string](b, "document.querySelector('[role=tab][aria-selected=true]').id"); !hidden || open != "tab-judge" {
				t.Errorf("%s: there is a tab of steps, or the open one is %q", kind, open)
			}
			continue
		} else if hidden {
			t.Errorf("%s: there is no tab of steps", kind)
			continue
		}
		b.click("#tab-step")
		if kind == "batch" {
			b.choose("#variants select", "1")
			b.until(idle)
		}
		b.press("Walk through")
		b.until(idle + " && document.querySelector('#view input[type=range]')")
		if g := ghosts(); g[0] != g[1] || g[1] == 0 {
			t.Errorf("%s: %d of %d boxes are to come before the first step", kind, g[0], g[1])
		}
		last := eval[int](b, "Number(document.querySelector('#view input[type=range]').max)")
		if kind == "batch" {
			b.choose("#view input[type=range]", "2")
			if marks := eval[string](b, "[...document.querySelectorAll('#scene text.mark')].map(x => x.textContent).join()"); !strings.Contains(marks, "shadow time of 2") {
				t.Errorf("the head of the queue has the marks %q", marks)
			}
		}
		b.choose("#view input[type=range]", fmt.Sprint(last))
		if g := ghosts(); g[0] != 0 {
			t.Errorf("%s: %d of %d boxes are to come after the last step", kind, g[0], g[1])
		}
	}
	b.Quiet()
}

// A run can be stopped at any moment: the best solution so far stays, judged.
func TestStop(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.open("")
	b.click("[data-kind=vcsched]")
	b.until(idle)
	b.choose("#example", "sixteen-hosts.json")
	b.until(idle)
	b.choose("#limit", "600")
	b.choose("#algorithm", "search")
	n := eval[string](b, "document.documentElement.dataset.solves || ''")
	b.click("#solve")
	b.until("document.querySelectorAll('.curves .line').length === 2")
	eval[bool](b, "new Promise(r => setTimeout(() => r(true), 1500))")
	b.click("#stop")
	b.until(fmt.Sprintf("document.documentElement.dataset.solves !== %q && %s", n, idle))
	if got := eval[string](b, "document.getElementById('state').textContent + "+view); !strings.Contains(got, "Stopped after") || !strings.Contains(got, "The judge accepts") {
		t.Errorf("stopped: %q", got)
	}
	b.shot("stopped")
	b.choose("#algorithm", "mcb8")
	b.solve() // by the worker that was started anew
	if got := eval[string](b, view); !strings.Contains(got, "The judge accepts") {
		t.Errorf("solved again: %q", got)
	}

	// A solver that fails is told of, and there is another one.
	b.choose("#algorithm", "search")
	n = eval[string](b, "document.documentElement.dataset.solves")
	b.click("#solve")
	b.until("document.querySelectorAll('.curves .line').length === 2")
	eval[bool](b, `import("/state.js").then(m => (m.desk.worker.onmessage({data: {id: -1}}), true))`)
	b.until(fmt.Sprintf("document.documentElement.dataset.solves !== %q && document.getElementById('state').textContent.includes('failed')", n))
	b.choose("#algorithm", "mcb8")
	b.solve()
	b.Quiet()
}

// A solve can be undone, with what its curves showed; what is made by hand begins its curves anew.
func TestUndoSolve(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 800))
	b.open("")
	objective := func() string { return eval[string](b, "document.getElementById('objective').textContent") }
	end := func() string { // of the curves
		return eval[string](b, "document.querySelector('.curves svg').getAttribute('aria-label').replace(/.*s: /, '')")
	}
	if top := eval[float64](b, "document.getElementById('picture').getBoundingClientRect().top"); top > 430 {
		t.Errorf("in a window of 1280x800 the picture begins at %v pixels", top)
	}
	b.solve()
	require.Same(t, "solved", "23 s", objective())
	require.Same(t, "the curves after Solve", "best 23, bound 23", end())
	b.click("#undo")
	require.Same(t, "undone", "25 s", objective())
	require.Same(t, "the curves then", "best 25, bound 23", end()) // which holds of both
	b.solve()
	b.drag("task 6 on P2", 40, 0)
	if got := objective(); got == "23 s" || strings.HasPrefix(end(), "best 23,") {
		t.Errorf("moved by hand: %q, the curves end at %q", got, end())
	}
	b.click("#undo")
	require.Same(t, "undone", "23 s", objective())
	require.Same(t, "the curves of the solve", "best 23, bound 23", end())
	b.Quiet()
}

// kubectl's output is read by a program that is loaded when it is needed; what the model has no place for is told. A
// solution can be had as a table.
func TestKubernetes(t *testing.T) {
	b := newBrowser(t)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.open("")
	const loaded = "performance.getEntriesByType('resource').filter(x => x.name.includes('kubernetes.wasm')).length"
	require.Same(t, "the reader is loaded at first", 0, eval[int](b, loaded))
	drop := func(name, text string) {
		eval[bool](b, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%q], %q)); dispatchEvent(new DragEvent("drop", {dataTransfer: d})); return true; })()`, text, name))
	}
	drop("mine.json", clusterList)
	b.until(idle + " && document.getElementById('title').textContent.startsWith('cluster')")
	said := eval[string](b, "document.getElementById('said').textContent")
	for _, want := range []string{"cluster: Kubernetes, taken: 2 nodes, 2 pods", "not modelled"} {
		if !strings.Contains(said, want) {
			t.Errorf("of the cluster the page says %q, without %q", said, want)
		}
	}
	require.Same(t, "the command", "gapwise kubernetes plan mine.json", eval[string](b, "document.getElementById('command').textContent"))
	b.choose("#algorithm", "auto")
	b.solve()
	require.Same(t, "vCPUs of the nodes in use", "4 vCPU", eval[string](b, "document.getElementById('objective').textContent"))
	b.shot("kubernetes")

	b.click("#tab-data")
	eval[bool](b, `(() => { URL.createObjectURL = x => { globalThis.kept = x.text(); return "#"; }; return true; })()`)
	b.press("The solution as CSV")
	csv := eval[string](b, "globalThis.kept")
	if !strings.HasPrefix(csv, "id,hosts\n") || strings.Count(csv, "\n") != 3 || strings.Count(csv, ",a\n")+strings.Count(csv, ",b\n") != 2 {
		t.Errorf("the solution as a table: %q", csv)
	}

	drop("mine.json", strings.ReplaceAll(clusterList, `"Pod"`, `"Service"`))
	b.until(idle + " && document.getElementById('said').textContent.includes('nodes and pods are needed')")
	if got := eval[string](b, "document.getElementById('title').textContent"); !strings.HasPrefix(got, "cluster") {
		t.Errorf("after a file that can't be read the page shows %q", got)
	}
	b.Quiet()
}

// clusterList is a cluster of two nodes with a pod on each, which one of them has room for.
const clusterList = `{"apiVersion":"v1","kind":"List","items":[
{"kind":"Node","metadata":{"name":"a"},"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}},
{"kind":"Node","metadata":{"name":"b"},"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}},
{"kind":"Pod","metadata":{"name":"web-1","namespace":"default","ownerReferences":[{"kind":"ReplicaSet","name":"web","controller":true}]},
"spec":{"nodeName":"a","volumes":[{"name":"h","hostPath":{"path":"/var"}}],"containers":[{"name":"c","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}]},"status":{"phase":"Running"}},
{"kind":"Pod","metadata":{"name":"db-1","namespace":"default","ownerReferences":[{"kind":"ReplicaSet","name":"db","controller":true}]},
"spec":{"nodeName":"b","containers":[{"name":"c","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}]},"status":{"phase":"Running"}}]}`

// A report is one file without scripts and requests: the setup, the figures, the picture, what was tried and explained, and
// the data as they are. Names from files are text in it.
func TestReport(t *testing.T) {
	b := newBrowser(t)
	b.open("")
	const odd = `a<script>alert(1)</script>"&` + "\u2028"
	eval[bool](b, fmt.Sprintf(`import("/state.js").then(async (m) => { const x = structuredClone(m.state.loaded.instance);
		x.name = %[1]q; x.tasks[0].id = %[1]q; for (const e of x.edges) if (e.from === "1") e.from = %[1]q; return (await import("/read.js")).reload(JSON.stringify(x)); })`, odd))
	b.until(idle)
	b.choose("#algorithm", "auto")
	b.choose("#seed", "7")
	b.solve()
	for _, tab := range []string{"explain", "compare"} {
		b.click("#tab-" + tab)
		if tab == "compare" {
			b.choose("#each", "0.3")
		}
		b.click("#view .primary")
		b.until(idle)
	}
	eval[bool](b, "(document.documentElement.dataset.theme = 'dark', true)")
	text := eval[string](b, `import("/report.js").then((m) => m.report())`)
	require.Same(t, "the theme after it", "dark", eval[string](b, "document.documentElement.dataset.theme"))
	sent := eval[[]string](b, `import("/state.js").then((m) => [JSON.stringify(m.state.loaded.instance), JSON.stringify(m.state.shown.result), document.getElementById("title").textContent])`)
	b.Quiet()
	if folder := os.Getenv("GAPWISE_SHOTS"); folder != "" {
		require.OK(t, os.WriteFile(filepath.Join(folder, "report.html"), []byte(text), 0o644))
	}
	for _, width := range []int64{1280, 360} {
		b.Do(chromedp.EmulateViewport(width, 900), chromedp.Navigate("data:text/html;base64,"+base64.StdEncoding.EncodeToString([]byte(text))))
		if wide := eval[int64](b, "document.scrollingElement.scrollWidth"); wide > width {
			t.Errorf("the report is %d pixels wide in a window of %d", wide, width)
		}
		if c := contrast(b); c < 4.5 {
			t.Errorf("the report's contrast is %v", c)
		}
		b.shot(fmt.Sprintf("report-%d", width))
	}
	require.Same(t, "the title", sent[2], eval[string](b, "document.querySelector('h1').textContent"))
	for k, data := range eval[[]string](b, `Promise.all([...document.querySelectorAll("a[download]")].map((a) => new TextDecoder().decode(Uint8Array.from(atob(a.href.split(",")[1]), (c) => c.charCodeAt(0)))))`) {
		require.Same(t, "the data", sent[k], data)
	}
	if n := eval[int](b, `document.querySelectorAll("script, img, link, button, input, iframe, [src], [onclick], a:not([download])").length`); n > 0 {
		t.Errorf("the report has %d elements that it must not have", n)
	}
	got := eval[string](b, "document.body.innerText")
	require.Says(t, "the report", got, "time limit\t10 s", "seed\t7", "status\toptimal", "kind\tdag", "The judge accepts this solution", "gap\t0 %",
		"Why nothing is better", "heft", "Gaps are to the best bound", "version\tgapwise ", " UTC", odd[:25])
	if strings.Contains(got, "Point at a reason") || eval[int](b, "document.querySelectorAll('svg g.box').length + document.querySelectorAll('svg rect').length") < 8 {
		t.Error("the report has hints, or no picture")
	}
	b.Quiet()
}
