// SPDX-License-Identifier: MIT

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// tarball packs files into a folder of a name, all of one time and of nobody.
func tarball(folder string, files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.data)),
			ModTime: at, Format: tar.FormatPAX,
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

// zipped is tarball for systems that have zip; the folder may be none, "".
func zipped(folder string, files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// debian makes a package of the files for Debian, if dpkg-deb is there.
func (r *release) debian(scratch, name, machine string, files []file) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		fmt.Fprintln(os.Stderr, "release: without packages for Debian: there is no dpkg-deb")
		return nil
	}
	root := filepath.Join(scratch, name+".root")
	put := func(path string, data []byte, mode os.FileMode) error {
		path = filepath.Join(root, filepath.FromSlash(path))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, mode))
	}
	size := 0
	for _, f := range files {
		size += len(f.data)
		path := "usr/share/doc/gapwise/" + f.name
		switch {
		case f.name == "gapwise":
			path = "usr/bin/gapwise"
		case f.name == "man/gapwise.1":
			path = "usr/share/man/man1/gapwise.1"
		case f.name == "completions/gapwise.bash":
			path = "usr/share/bash-completion/completions/gapwise"
		case f.name == "completions/_gapwise":
			path = "usr/share/zsh/vendor-completions/_gapwise"
		case f.name == "completions/gapwise.fish":
			path = "usr/share/fish/vendor_completions.d/gapwise.fish"
		case f.name == "LICENSE":
			path = "usr/share/doc/gapwise/copyright"
		case strings.HasPrefix(f.name, "completions/"):
			continue
		}
		if err := put(path, f.data, os.FileMode(f.mode)); err != nil {
			return err
		}
	}
	control := fmt.Sprintf("Package: gapwise\nVersion: %s\nArchitecture: %s\n"+
		"Maintainer: the gapwise maintainers <gapwise@users.noreply.example>\n"+
		"Installed-Size: %d\nSection: science\nPriority: optional\n"+
		"Description: optimal and near-optimal scheduling of clusters and clouds\n"+
		" An instance goes in; a solution, a bound that no solution can beat and the\n"+
		" gap come out, verified by an independent judge.\n", r.version, machine, (size+1023)/1024)
	if err := put("DEBIAN/control", []byte(control), 0o644); err != nil {
		return err
	}
	_, err := output([]string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at.Unix())},
		"dpkg-deb", "--root-owner-group", "-Zgzip", "--build", root, filepath.Join(r.folder, name+".deb"))
	return err
}
