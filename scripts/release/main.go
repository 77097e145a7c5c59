// SPDX-License-Identifier: MIT

// Command release builds what is published of a version, into a folder:
//
//	CGO_ENABLED=0 go run ./scripts/release [-o dist] [-highs] [-wheels] [-dirty] [OS/ARCH...]
//
// It makes
//
//   - an archive for each platform, all six by default: the program without cgo and with the
//     playground, the manual page, completions, and the licences of all that is linked
//   - with -highs, one for linux/amd64 with HiGHS, linked statically
//   - the Python package as a wheel for each of these, with the program in it
//   - Debian packages of the linux archives, if dpkg-deb is there
//   - files for images, Homebrew and Nix, with the version and the checksums
//   - gapwise.cdx.json, a list of what is linked (CycloneDX 1.6)
//   - SHA256SUMS
//
// The same commit, Go and HiGHS give the same bytes: times are the commit's, paths are
// cut, and files stand in the order of their names.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise"
)

// platforms are those that are built by default.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	r := release{version: gapwise.Version}
	flag.StringVar(&r.folder, "o", "dist", "the folder, which is made anew")
	flag.BoolVar(&r.highs, "highs", false, "also linux/amd64 with HiGHS")
	flag.BoolVar(&r.dirty, "dirty", false, "build in spite of changes that aren't committed, for a trial")
	flag.BoolVar(&r.wheels, "wheels", false, "nothing but the wheels")
	flag.Parse()
	if err := r.build(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is what is being built.
type release struct {
	version      string
	folder       string
	highs, dirty bool
	wheels       bool   // and nothing else
	library      string // the folder of HiGHS, with -highs
	commit       string
	at           time.Time // of the commit
	shared       []file    // in all archives: texts, the manual page, completions
	linked       map[string]component
}

// file is a file of an archive.
type file struct {
	name string // with slashes, within the archive's folder
	data []byte
	mode int64
}

func (r *release) build(chosen []string) error {
	for _, p := range chosen {
		if !slices.Contains(platforms, p) {
			return fmt.Errorf("there is no platform %q, there are %s", p, strings.Join(platforms, ", "))
		}
	}
	if len(chosen) == 0 {
		chosen = platforms
	}
	if err := r.identify(); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.folder), os.MkdirAll(r.folder, 0o755)); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if !r.wheels {
		if err := r.texts(scratch); err != nil {
			return err
		}
	}
	r.linked = map[string]component{}
	for _, p := range chosen {
		if err := r.platform(scratch, p, false); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if r.highs {
		if err := r.platform(scratch, "linux/amd64", true); err != nil {
			return fmt.Errorf("linux/amd64 with HiGHS: %w", err)
		}
	}
	if !r.wheels {
		if err := errors.Join(r.writeBill(), r.packaging()); err != nil {
			return err
		}
	}
	return r.sums()
}

// identify finds the commit, and refuses changes since.
func (r *release) identify() error {
	status, err := output(nil, "git", "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return err
	}
	if len(status) > 0 && !r.dirty {
		return errors.New("there are changes that aren't committed: commit them, or try it with -dirty")
	}
	if r.commit, err = output(nil, "git", "rev-parse", "--short=10", "HEAD"); err != nil {
		return err
	}
	if len(status) > 0 {
		r.commit += "+dirty"
	}
	seconds, err := output(nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	r.at = time.Unix(at, 0).UTC()
	return err
}

// texts collects what all archives hold. The manual page and completions are those of the
// program for this machine.
func (r *release) texts(scratch string) error {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{name, data, 0o644})
	}
	if _, err := output([]string{"CGO_ENABLED=0"}, "go", "run", "./scripts/web"); err != nil { // the playground is in each program
		return err
	}
	program := filepath.Join(scratch, "here")
	if err := r.compile(program, nil, false); err != nil {
		return err
	}
	for _, made := range []struct {
		name string
		args []string
	}{
		{"man/gapwise.1", []string{"man"}},
		{"completions/gapwise.bash", []string{"completion", "bash"}},
		{"completions/_gapwise", []string{"completion", "zsh"}},
		{"completions/gapwise.fish", []string{"completion", "fish"}},
		{"completions/gapwise.ps1", []string{"completion", "pwsh"}},
	} {
		data, err := exec.Command(program, made.args...).Output()
		if err != nil {
			return fmt.Errorf("gapwise %s: %w", strings.Join(made.args, " "), err)
		}
		r.shared = append(r.shared, file{made.name, data, 0o644})
	}
	return nil
}

// compile builds the program, for this machine or by the environment.
func (r *release) compile(to string, environment []string, highs bool) error {
	flags := "-s -w -buildid= -X github.com/gapwise/gapwise.commit=" + r.commit
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", to}
	tags := "playground,urfave_cli_no_template" // see stamp in the Makefile
	if highs {
		flags += ` -linkmode external -extldflags "-static -Wl,--build-id=none"`
		tags += ",netgo,osusergo"
	} else {
		environment = append(environment, "CGO_ENABLED=0")
	}
	args = append(args, "-tags", tags)
	_, err := output(environment, "go", append(args, "-ldflags", flags, "./cmd/gapwise")...)
	return err
}

// platform builds the program of a platform and packs it.
func (r *release) platform(scratch, platform string, highs bool) error {
	system, machine, _ := strings.Cut(platform, "/")
	name := fmt.Sprintf("gapwise-%s-%s-%s", r.version, system, machine)
	program, environment := "gapwise", []string{"GOOS=" + system, "GOARCH=" + machine}
	if system == "windows" {
		program += ".exe"
	}
	if highs {
		folder, err := output(nil, "scripts/highs")
		if err != nil {
			return err
		}
		name += "-highs"
		r.library = filepath.Dir(filepath.Dir(folder))
		environment = append(environment, "CGO_ENABLED=1", "PKG_CONFIG_PATH="+folder)
	}
	path := filepath.Join(scratch, name)
	if err := r.compile(path, environment, highs); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	licences, err := r.link(path, highs)
	if err != nil {
		return err
	}
	if err := r.wheel(platform, program, data, licences, highs); err != nil || r.wheels {
		return err
	}
	files := append([]file{{program, data, 0o755}}, append(slices.Clone(r.shared), licences...)...)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	pack, ending := tarball, ".tar.gz"
	if system == "windows" {
		pack, ending = zipped, ".zip"
	}
	packed, err := pack(name, files, r.at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.folder, name+ending), packed, 0o644); err != nil {
		return err
	}
	if system == "linux" {
		return r.debian(scratch, name, machine, highs, files)
	}
	return nil
}

// sums writes SHA256SUMS.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	fmt.Print(all.String())
	return os.WriteFile(filepath.Join(r.folder, "SHA256SUMS"), all.Bytes(), 0o644)
}

// output runs a command and returns its output without the space around it.
func output(environment []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), environment...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(complaint.Bytes()))
	}
	return string(bytes.TrimSpace(out)), nil
}
