package web

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestShots(t *testing.T) {
	if os.Getenv("GAPWISE_SHOTS") == "" {
		t.Skip()
	}
	b := newBrowser(t)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.media("screen", "light")
	b.open("")
	b.shot("dag")
	for _, k := range strings.Fields(os.Getenv("KINDS")) {
		b.click("[data-kind=" + k + "]")
		b.until(idle + " && document.querySelector('[data-kind=" + k + "]').getAttribute('aria-pressed') === 'true'")
		if e := os.Getenv("EXAMPLE"); e != "" {
			b.choose("#example", e)
			b.until(idle)
		}
		b.choose("#limit", "3")
		b.solve()
		b.shot(k)
	}
	t.Log(b.seen)
}
