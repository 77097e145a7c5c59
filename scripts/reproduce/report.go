// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// reportShot writes the page of gapwise report of a log and a picture of its beginning in
// docs, and returns the Markdown of the picture.
func (r *runner) reportShot(log, name string) (string, error) {
	data, err := dataFolder()
	if err != nil {
		return "", err
	}
	page, err := filepath.Abs("results/" + name + ".html")
	if err != nil {
		return "", err
	}
	if _, err := r.run("report", filepath.Join(data, "swf", log), "-o", page); err != nil {
		return "", err
	}
	picture := "docs/pictures/" + name + ".png"
	shown, err := filepath.Abs(picture)
	if err != nil {
		return "", err
	}
	profile, err := os.MkdirTemp("", "report")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(profile)
	if _, err := output("chromium-headless-shell", "--no-sandbox", "--hide-scrollbars", "--user-data-dir="+profile, "--window-size=1000,1045", "--screenshot="+shown, "file://"+page); err != nil {
		return "", fmt.Errorf("%w (Debian: chromium-headless-shell)", err)
	}
	return fmt.Sprintf("![the page of %s](../pictures/%s.png)", log, name), nil
}
