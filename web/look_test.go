// SPDX-License-Identifier: MIT

package web

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Nothing is wider than a phone, and each problem's picture has boxes, on a desk and on a
// phone, in light and dark; paper shows no controls. GAPWISE_SHOTS=FOLDER keeps pictures.
func TestWidths(t *testing.T) {
	b := newBrowser(t)
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 900))
			b.media("screen", scheme)
			b.open("")
			for _, kind := range []string{"dag", "batch", "reservation", "tvc", "vcsched"} {
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
				b.shot(kind + "-" + scheme + "-" + map[int64]string{1280: "1280", 360: "360"}[width])
			}
		}
	}
	b.media("print", "dark")
	if ground := eval[string](b, "getComputedStyle(document.body).backgroundColor"); ground != "rgb(255, 255, 255)" {
		t.Errorf("the paper is %s", ground)
	}
	if n := eval[int](b, "['#solve', '#theme', '.tabs', '.kinds'].filter(s => document.querySelector(s).offsetHeight > 0).length"); n > 0 {
		t.Errorf("%d controls are printed", n)
	}
	b.shot("print")
	b.quiet()
}
