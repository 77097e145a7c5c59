// SPDX-License-Identifier: MIT

// Package chromium has a headless Chromium for tests of pages.
package chromium

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Page is a page in a browser of its own. It notes what a page may not do: requests to elsewhere,
// messages on the console and exceptions.
type Page struct {
	Ctx     context.Context // for actions of package chromedp
	t       testing.TB
	allowed []string // how addresses begin that aren't elsewhere
	mu      sync.Mutex
	seen    []string
}

// Open starts a browser, a program, for a test, which may take three minutes. The page may ask for data: and for
// addresses that begin with one of those given.
func Open(t testing.TB, program string, allowed ...string) *Page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900), chromedp.ExecPath(program))
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	p := &Page{Ctx: ctx, t: t, allowed: append(allowed, "data:")}
	p.Do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	return p
}

// listen takes the events of the page.
func (p *Page) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		text = "request to " + e.Request.URL
		for _, a := range p.allowed {
			if strings.HasPrefix(e.Request.URL, a) {
				text = ""
			}
		}
	case *runtime.EventConsoleAPICalled:
		text = "console: " + string(e.Type)
		for _, a := range e.Args {
			text += fmt.Sprintf(" %s", a.Value)
		}
	case *log.EventEntryAdded: // such as what the policy has blocked
		text = fmt.Sprintf("log: %s: %s", e.Entry.Level, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		text = "exception: " + e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
	}
	if text != "" {
		p.mu.Lock()
		p.seen = append(p.seen, text)
		p.mu.Unlock()
	}
}

// Do carries out actions.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.Ctx, actions...); err != nil {
		p.t.Fatalf("%v; the page said %q", err, p.Said())
	}
}

// Media emulates a media type and a colour scheme.
func (p *Page) Media(media, scheme string) {
	p.t.Helper()
	_, err := chromedp.Call(p.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// Width sets the width of the window.
func (p *Page) Width(pixels int64) {
	p.t.Helper()
	p.Do(chromedp.EmulateViewport(pixels, 800))
}

// Eval evaluates an expression in the page, and awaits it.
func Eval[T any](p *Page, script string) T {
	p.t.Helper()
	x, err := chromedp.Run(p.Ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v; the page said %q", script, err, p.Said())
	}
	return x
}

// Said returns what has been noted since the last Quiet.
func (p *Page) Said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

// Quiet fails the test if anything happened that the page may not do.
func (p *Page) Quiet() {
	p.t.Helper()
	Eval[bool](p, "document.readyState === 'complete'")
	for _, s := range p.Said() {
		p.t.Error(s)
	}
	p.mu.Lock()
	p.seen = nil
	p.mu.Unlock()
}
