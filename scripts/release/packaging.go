// SPDX-License-Identifier: MIT

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// downloads is where a release's files are fetched from.
const downloads = "https://github.com/gapwise/gapwise/releases/download/v"

// packaging fills the files of packaging/ (images, Homebrew, Nix) with the version and the
// checksums of what was built. One that names what wasn't is left out.
func (r *release) packaging() error {
	name := func(rest string) string { return "gapwise-" + r.version + "-" + rest }
	sum := func(rest string) (string, error) {
		data, err := os.ReadFile(filepath.Join(r.folder, name(rest)))
		return fmt.Sprintf("%x", sha256.Sum256(data)), err
	}
	archive := func(system, machine string) string { return system + "-" + machine + ".tar.gz" }
	words := template.FuncMap{
		"version": func() string { return r.version },
		"url": func(system, machine string) string {
			return downloads + r.version + "/" + name(archive(system, machine))
		},
		"sha256": func(system, machine string) (string, error) { return sum(archive(system, machine)) },
	}
	files, err := filepath.Glob("packaging/*")
	if err != nil {
		return err
	}
	for _, file := range files {
		parsed, err := template.New(filepath.Base(file)).Funcs(words).ParseFiles(file)
		if err != nil {
			return err
		}
		var text strings.Builder
		err = parsed.Execute(&text, nil)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		}
		if err := os.WriteFile(filepath.Join(r.folder, filepath.Base(file)), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
