// SPDX-License-Identifier: MIT

//go:build !playground

package web

import "io/fs"

// files are none: make web builds a program that has them.
var files fs.FS
