// SPDX-License-Identifier: MIT

// Site writes the documents as static pages with a search that needs no server. It is run
// from the root of the checkout:
//
//	go run ./scripts/site [-o dist/site]
//
// With web/dist the playground stands at play.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	to := flag.String("o", "dist/site", "folder of the pages; what it holds goes")
	flag.Parse()
	n, err := build(".", *to)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s\n", n, *to)
}
