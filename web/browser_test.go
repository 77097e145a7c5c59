// SPDX-License-Identifier: MIT

package web

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gapwise/gapwise/internal/test/chromium"
	"github.com/gapwise/gapwise/internal/test/require"
)

// built is the folder that make web writes, made once for all tests.
var built = sync.OnceValues(func() (string, error) {
	if folder := os.Getenv("GAPWISE_WEB_DIST"); folder != "" {
		return folder, nil
	}
	folder, err := os.MkdirTemp("", "gapwise-web")
	if err != nil {
		return "", err
	}
	c := exec.Command("go", "run", "./scripts/web", "-o", folder)
	c.Dir = ".."
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return folder, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if ran && os.Getenv("GAPWISE_WEB_DIST") == "" {
		if folder, err := built(); err == nil {
			_ = os.RemoveAll(folder) // it lies in the folder for temporary files
		}
	}
	os.Exit(code)
}

// ran says that a test has built the page.
var ran bool

// page builds the page and serves it.
func page(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the page")
	}
	ran = true
	s := httptest.NewServer(serve(os.DirFS(require.Value(built())(t))))
	t.Cleanup(s.Close)
	return s.URL
}

// browser is a headless Chromium on the page.
type browser struct {
	*chromium.Page
	t   testing.TB
	url string
}

func newBrowser(t testing.TB) *browser {
	t.Helper()
	url := page(t)
	return &browser{chromium.Open(t, require.Tool(t, "chromium-headless-shell", "chromium-headless-shell"), url, "blob:"+url), t, url}
}

// eval evaluates an expression in the page, and awaits it.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	return chromium.Eval[T](b.Page, script)
}

// until waits until an expression is true, for a minute at most.
func (b *browser) until(what string) {
	b.t.Helper()
	const wait = `(async () => { for (let k = 0; k < 6000; k++) { if (%s) return true; await new Promise(r => setTimeout(r, 10)); } return false; })()`
	if !eval[bool](b, fmt.Sprintf(wait, what)) {
		b.t.Fatalf("after a minute it isn't so: %s; the page says %q, %q", what, eval[string](b, "document.getElementById('state').textContent + ' ' + document.getElementById('said').textContent"), b.Said())
	}
}

// idle is when nothing runs.
const idle = "document.documentElement.dataset.ready === 'yes' && !document.body.classList.contains('busy') && document.querySelector('.gantt')"

// open opens the page and waits until it has drawn.
func (b *browser) open(fragment string) {
	b.t.Helper()
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+"/"+fragment))
	b.until(idle)
}

// click clicks an element.
func (b *browser) click(selector string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf("(document.querySelector(%q).click(), true)", selector))
}

// solve presses Solve and waits until it has ended.
func (b *browser) solve() {
	b.t.Helper()
	n := eval[string](b, "document.documentElement.dataset.solves || ''")
	b.click("#solve")
	b.until(fmt.Sprintf("document.documentElement.dataset.solves !== undefined && document.documentElement.dataset.solves !== %q && %s", n, idle))
}

// choose sets a field.
func (b *browser) choose(selector, value string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf("(e => { e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})); return true; })(document.querySelector(%q))", value, selector))
}

// shot keeps a picture of the whole page, in the folder GAPWISE_SHOTS, for people to look at.
func (b *browser) shot(name string) {
	b.t.Helper()
	folder := os.Getenv("GAPWISE_SHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.Ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
