// SPDX-License-Identifier: MIT

//go:build playground

package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

var files = sub()

func sub() fs.FS {
	f, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return f
}
