// SPDX-License-Identifier: MIT

package web

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gapwise/gapwise/internal/test/require"
)

// The reader of kubectl's output has no solver: it would be twice as large.
func TestReaderLinked(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "./kubernetes")
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	linked := strings.Fields(string(require.Value(list.Output())(t)))
	if !slices.Contains(linked, "github.com/gapwise/gapwise/internal/app/kubernetes") {
		t.Fatalf("these aren't the packages of the reader: %q", linked)
	}
	for _, p := range linked {
		if p == "github.com/gapwise/gapwise" || strings.HasPrefix(p, "github.com/gapwise/gapwise/exact/") {
			t.Errorf("the reader has the package %s", p)
		}
	}
}

// The page is served with its policy; nothing beside its files is.
func TestServe(t *testing.T) {
	t.Parallel()
	h := serve(fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "app.js": {Data: []byte("0")}, "gapwise.wasm.gz": {Data: []byte{0x1f, 0x8b}}, "x.LICENSE": {Data: []byte("MIT")}})
	for _, c := range []struct {
		method, path, kind string
		code               int
	}{
		{"GET", "/", "text/html", 200}, {"GET", "/app.js", "text/javascript", 200}, {"HEAD", "/app.js", "text/javascript", 200},
		{"GET", "/gapwise.wasm.gz", "application/gzip", 200}, {"GET", "/x.LICENSE", "text/plain", 200}, {"GET", "/none", "", 404}, {"GET", "/../go.mod", "", 404},
		{"GET", "/examples", "", 404}, {"POST", "/", "", 405},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, "/", nil)
		r.URL.Path = c.path
		h.ServeHTTP(w, r)
		if w.Code != c.code || !strings.HasPrefix(w.Header().Get("Content-Type"), c.kind) {
			t.Errorf("%s %s: %d, %q", c.method, c.path, w.Code, w.Header().Get("Content-Type"))
		}
		if csp := w.Header().Get("Content-Security-Policy"); w.Code == http.StatusOK && (csp != policy || !strings.Contains(csp, "default-src 'none'")) {
			t.Errorf("%s %s: policy %q", c.method, c.path, csp)
		}
		if w.Header().Get("Content-Encoding") != "" || c.method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("%s %s: %v, %d bytes", c.method, c.path, w.Header(), w.Body.Len())
		}
	}
}
