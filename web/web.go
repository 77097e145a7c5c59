// SPDX-License-Identifier: MIT

// Package web is the playground: one page with the solver in it, as WebAssembly. The sources
// are in page and wasm; make web builds them into dist, which any static host can serve,
// and a program that has dist in it. Other builds have no playground.
package web

import (
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// policy lets the page ask for nothing but its own files.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
	"worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler returns what serves the page, nil if this build has none.
func Handler() http.Handler {
	if files == nil {
		return nil
	}
	return serve(files)
}

// serve returns what serves a folder with the page.
func serve(dist fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the playground takes GET", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		data, err := fs.ReadFile(dist, name)
		if err != nil {
			http.Error(w, "there is no such file", http.StatusNotFound)
			return
		}
		kind := mime.TypeByExtension(path.Ext(name))
		switch path.Ext(name) { // what a system says of these differs
		case ".js":
			kind = "text/javascript; charset=utf-8"
		case ".gz":
			kind = "application/gzip"
		case ".LICENSE":
			kind = "text/plain; charset=utf-8"
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		if r.Method == http.MethodGet {
			_, _ = w.Write(data) // who asked is gone
		}
	})
}
