// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// reportShot writes the page of gapwise report of a log and a picture of its beginning in
// docs, and returns the Markdown of the picture.
func (r *runner) reportShot(log, name string) string {
	page := must(filepath.Abs("results/" + name + ".html"))
	r.run("report", filepath.Join(dataFolder(), "swf", log), "-o", page)
	picture := "docs/pictures/" + name + ".png"
	shown := must(filepath.Abs(picture))
	profile := must(os.MkdirTemp("", "report"))
	defer os.RemoveAll(profile)
	if _, err := output("chromium-headless-shell", "--no-sandbox", "--hide-scrollbars", "--user-data-dir="+profile, "--window-size=1000,1045", "--screenshot="+shown, "file://"+page); err != nil {
		panic(fmt.Errorf("%w (Debian: chromium-headless-shell)", err))
	}
	return fmt.Sprintf("![the page of %s](../pictures/%s.png)", log, name)
}
