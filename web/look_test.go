// SPDX-License-Identifier: MIT

package web

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Nothing is wider than a phone, and each problem's picture has boxes, on a desk and on a
// phone, in light and dark; paper shows no controls. GAPWISE_SHOTS=FOLDER keeps pictures.
func TestWidths(t *testing.T) {
	b := newBrowser(t)
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.Do(chromedp.EmulateViewport(width, 900))
			b.Media("screen", scheme)
			b.open("")
			for _, kind := range []string{"dag", "batch", "reservation", "tvc", "vcsched", "consolidation"} {
				b.click("[data-kind=" + kind + "]")
				b.until(idle)
				b.choose("#algorithm", "auto")
				b.choose("#limit", "2")
				b.solve()
				if wide := eval[int64](b, "document.scrollingElement.scrollWidth"); wide > width {
					t.Errorf("%s: the page is %d pixels wide in a window of %d", kind, wide, width)
				}
				if n := eval[int](b, "[...document.querySelectorAll('#scene [data-box] rect')].filter(r => r.getBoundingClientRect().width > 3).length"); n < 3 {
					t.Errorf("%s: %d boxes can be seen at %d pixels", kind, n, width)
				}
				if c := contrast(b); c < 4.5 {
					t.Errorf("%s, %s: contrast %v", kind, scheme, c)
				}
				b.shot(kind + "-" + scheme + "-" + map[int64]string{1280: "1280", 360: "360"}[width])
			}
		}
	}
	require.Same(t, "controls without a name", "",
		eval[string](b, "[...document.querySelectorAll('button, input, select, textarea, [role]')].filter(e => !e.textContent.trim() && !e.getAttribute('aria-label') && !e.closest('label') && !e.labels?.length && !e.hasAttribute('aria-labelledby') && e.getAttribute('role') !== 'status').map(e => e.id || e.outerHTML.slice(0, 80)).join()"))
	b.Media("print", "dark")
	require.Same(t, "the paper", "rgb(255, 255, 255)",
		eval[string](b, "getComputedStyle(document.body).backgroundColor"))
	if n := eval[int](b, "['#solve', '#theme', '.tabs', '.kinds'].filter(s => document.querySelector(s).offsetHeight > 0).length"); n > 0 {
		t.Errorf("%d controls are printed", n)
	}
	b.shot("print")
	b.Quiet()
}

// contrast returns the lowest contrast of the page's texts with their ground; of a text in the
// picture that is its box's colour over the paper.
func contrast(b *browser) float64 {
	b.t.Helper()
	return eval[float64](b, `(() => {
		const c = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		const rgb = s => { c.clearRect(0, 0, 1, 1); c.fillStyle = s; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
		const light = x => x.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
		const ground = e => { for (; e; e = e.parentElement) { const g = rgb(getComputedStyle(e).backgroundColor); if (g[3] === 255) return g; } return [255, 255, 255, 255]; };
		const under = e => {
			const paper = ground(e.closest("div")), box = e.closest(".box");
			if (!box) return paper;
			const s = getComputedStyle(box.firstChild), f = rgb(s.fill), share = Number(s.fillOpacity);
			return paper.map((v, i) => v * (1 - share) + f[i] * share);
		};
		let worst = 99;
		for (const e of document.querySelectorAll("p, td, th, dt, dd, h1, h1 span, h2, h3, small, label, summary, li, button:not(:disabled), .tabs button, .chip, svg text")) {
			if (!e.textContent.trim() || e.getClientRects().length === 0) continue;
			const s = getComputedStyle(e), inside = e instanceof SVGElement;
			const a = light(rgb(inside ? s.fill : s.color)), g = light(inside ? under(e) : ground(e));
			worst = Math.min(worst, (Math.max(a, g) + 0.05) / (Math.min(a, g) + 0.05));
		}
		return worst;
	})()`)
}

// The first picture is drawn before the library is there; how long it takes on a slow core is
// said, not held.
func TestFirstPicture(t *testing.T) {
	b := newBrowser(t)
	require.OK(t, require.Err(chromedp.Call(b.Ctx, emulation.SetCPUThrottlingRate,
		emulation.SetCPUThrottlingRateParams{Rate: 4})))
	b.open("")
	at := eval[map[string]float64](b, "({picture: Number(document.documentElement.dataset.drawn), library: performance.now()})")
	if !(at["picture"] > 0 && at["picture"] < at["library"]) {
		t.Errorf("the first picture is drawn at %v ms, all is ready at %v", at["picture"], at["library"])
	}
	t.Logf("at a quarter of this core's speed the first picture is there after %.0f ms, the solver after %.0f", at["picture"], at["library"])
	b.Quiet()
}
