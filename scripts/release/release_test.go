// SPDX-License-Identifier: MIT

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
)

// Archives hold the files with their modes and the time given, and are the same whenever
// they are made.
func TestArchives(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	files := []file{{"LICENSE", []byte("text"), 0o644}, {"gapwise", bytes.Repeat([]byte("program "), 1000), 0o755}}
	for name, pack := range map[string]func(string, []file, time.Time) ([]byte, error){"tar": tarball, "zip": zipped} {
		one, err := pack("gapwise-1", files, at)
		require.OK(t, err, name)
		two, err := pack("gapwise-1", files, at.In(time.FixedZone("elsewhere", 3600)).UTC())
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: two archives of the same files differ: %v", name, err)
		}
		seen := 0
		check := func(path string, mode os.FileMode, modified time.Time, r io.Reader) {
			f := files[seen]
			data, err := io.ReadAll(r)
			if err != nil || path != "gapwise-1/"+f.name || int64(mode.Perm()) != f.mode || !modified.Equal(at) ||
				!bytes.Equal(data, f.data) {
				t.Errorf("%s: %s, mode %v, of %v, %d bytes: %v", name, path, mode, modified, len(data), err)
			}
			seen++
		}
		if name == "zip" {
			z := require.Value(zip.NewReader(bytes.NewReader(one), int64(len(one))))(t)
			for _, f := range z.File {
				check(f.Name, f.Mode(), f.Modified, require.Value(f.Open())(t))
			}
		} else {
			z := require.Value(gzip.NewReader(bytes.NewReader(one)))(t)
			for r := tar.NewReader(z); ; {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				require.OK(t, err)
				check(h.Name, h.FileInfo().Mode(), h.ModTime, r)
			}
		}
		require.Same(t, name+": files", len(files), seen)
	}
}

// The texts of licences are found by their names, and nothing else.
func TestLicences(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"LICENSE.txt", "Copying", "NOTICE", "license_test.go", "README"} {
		require.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644))
	}
	require.OK(t, os.Mkdir(filepath.Join(folder, "licenses"), 0o755))
	all, err := licencesOf("licences/x", folder)
	if err != nil || len(all) != 3 || all[0].name != "licences/x/Copying" {
		t.Errorf("%v %v", all, err)
	}
}

// A platform that isn't there is refused before anything is removed.
func TestUnknownPlatform(t *testing.T) {
	folder := t.TempDir()
	r := release{folder: folder}
	if err := r.build([]string{"linux/amd64", "plan9/amd64"}); err == nil {
		t.Error("plan9/amd64 is built")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Error(err)
	}
}

// HiGHS is packed to the same bytes each time, and only with its licence. A program without it is refused, and
// so is one that tells of no HiGHS.
func TestHiGHS(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		require.OK(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	path := write("highs-1.2.3.wasm", strings.Repeat("module ", 1000), 0o644)
	require.Refused(t, "without a licence", require.Err(readHiGHS(path)), fs.ErrNotExist, "")
	write("highs-1.2.3.LICENSE", "the package has its text", 0o644)
	if _, err := readHiGHS(path); err == nil || !strings.Contains(err.Error(), "isn't the licence") {
		t.Errorf("with a reference to the licence: %v", err)
	}
	write("highs-1.2.3.LICENSE", "Permission is hereby granted, free of charge", 0o644)
	one, err := readHiGHS(path)
	if err != nil || one.version != "1.2.3" || len(one.packed) > 1000 {
		t.Fatalf("version %q, %d bytes: %v", one.version, len(one.packed), err)
	}
	if two, err := readHiGHS(path); err != nil || !bytes.Equal(one.packed, two.packed) {
		t.Errorf("two packs of one file differ: %v", err)
	}
	if err := one.holds(append([]byte("program"), one.packed...)); err != nil {
		t.Error(err)
	}
	if one.holds([]byte("program")) == nil || (solver{}).holds([]byte("program")) == nil {
		t.Error("a program without HiGHS passes")
	}
	told := write("with", "#!/bin/sh\n[ -z \"$HOME\" ] && echo '{\"highs\":\"1.2.0\"}'\n", 0o755)
	all, err := one.components(told)
	if err != nil || len(all) != 2 || all[0].Version != "1.2.0" || all[1].URL != "pkg:npm/highs@1.2.3" {
		t.Errorf("%v %v", all, err)
	}
	if _, err := one.components(write("without", "#!/bin/sh\necho '{\"highs\":\"\"}'\n", 0o755)); err == nil {
		t.Error("a program that tells of no HiGHS passes")
	}
}

// The version is read out of gapwise.go.
func TestVersion(t *testing.T) {
	t.Chdir("../..")
	var r release
	if err := r.readVersion(); err != nil || r.version != gapwise.Version {
		t.Errorf("%q, want %q: %v", r.version, gapwise.Version, err)
	}
}

// A wheel lists each of its files with the digest and size that it has, and is the same
// whenever it is made.
func TestWheel(t *testing.T) {
	t.Chdir("../..")
	const name, info = "gapwise-1.2.3-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl", "gapwise-1.2.3.dist-info/"
	var made [2][]byte
	for i := range made {
		r := release{version: "1.2.3", folder: t.TempDir(), at: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}
		licences := []file{{"licences/x/LICENSE", []byte("text"), 0o644}}
		require.OK(t, r.wheel("linux/amd64", "gapwise", []byte("the program"), licences))
		if there := listed(t, r.folder); !slices.Equal(there, []string{name}) {
			t.Fatalf("there are %q, want %q", there, name)
		}
		made[i] = require.Value(os.ReadFile(filepath.Join(r.folder, name)))(t)
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two wheels of the same files differ")
	}
	z := require.Value(zip.NewReader(bytes.NewReader(made[0]), int64(len(made[0]))))(t)
	held, record := map[string]string{}, ""
	for _, f := range z.File {
		data := require.Value(io.ReadAll(require.Value(f.Open())(t)))(t)
		held[f.Name] = string(data)
		if f.Name != info+"RECORD" {
			sum := sha256.Sum256(data)
			record += fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		}
		require.Same(t, fmt.Sprintf("%s of mode %v is a program", f.Name, f.Mode()), f.Name == "gapwise/bin/gapwise",
			f.Mode()&0o111 != 0)
	}
	require.Same(t, "RECORD", record+info+"RECORD,,\n", held[info+"RECORD"])
	want := "false\nTag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n"
	if !strings.HasSuffix(held[info+"WHEEL"], want) {
		t.Errorf("WHEEL is %s, want %s at its end", held[info+"WHEEL"], want)
	}
	for _, name := range []string{"gapwise/__init__.py", "gapwise/relay.py", "gapwise/py.typed",
		info + "licenses/LICENSE", info + "licenses/x/LICENSE", info + "entry_points.txt"} {
		if _, there := held[name]; !there {
			t.Errorf("the wheel lacks %s", name)
		}
	}
	for _, p := range platforms {
		if wheelTags[p] == nil {
			t.Errorf("wheels have no tag for %s", p)
		}
	}
}
