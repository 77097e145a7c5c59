// SPDX-License-Identifier: MIT

//go:build js

// Command wasm is the library in a Web Worker.
package main

import (
	"github.com/gapwise/gapwise/internal/app/play"
	"github.com/gapwise/gapwise/web/internal/bridge"
)

func main() { bridge.Serve(new(play.Desk).Ask) }
