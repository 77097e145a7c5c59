// SPDX-License-Identifier: MIT

// Command release builds what is published of a version, into a folder:
//
//	CGO_ENABLED=0 go run ./scripts/release [-o dist] [-dirty] [OS/ARCH...]
//	CGO_ENABLED=0 go run ./scripts/release -wheel [-o dist]
//
// It makes
//
//   - an archive for each platform, all six by default: the program in pure Go with HiGHS and the
//     playground, the manual page, completions, and the licences of all that is linked
//   - the Python package as a wheel for each of these, with the program in it
//   - Debian packages of the linux archives, if dpkg-deb is there
//   - files for images, Homebrew and Nix, with the version and the checksums
//   - gapwise.cdx.json, a list of what is linked (CycloneDX 1.6)
//   - SHA256SUMS
//
// The same commit and Go give the same bytes: times are the commit's, paths are cut, and files stand in
// the order of their names.
//
// With -wheel it makes this machine's wheel alone, for its user: without the playground, whose library is
// compiled by itself, and out of the same build cache as make build.
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
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are those that are built by default.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	var r release
	flag.StringVar(&r.folder, "o", "dist", "the folder, which is made anew")
	flag.BoolVar(&r.dirty, "dirty", false, "build in spite of changes that aren't committed, for a trial")
	flag.BoolVar(&r.wheelOnly, "wheel", false, "nothing but this machine's wheel, in spite of changes")
	flag.Parse()
	if err := r.build(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is what is being built.
type release struct {
	version   string
	folder    string
	dirty     bool
	wheelOnly bool
	commit    string
	at        time.Time // of the commit
	highs     solver
	shared    []file // in all archives: texts, the manual page, completions
	linked    map[string]component
}

// file is a file of an archive.
type file struct {
	name string // with slashes, within the archive's folder
	data []byte
	mode int64
}

func (r *release) build(chosen []string) error {
	if r.wheelOnly {
		if len(chosen) > 0 {
			return errors.New("-wheel takes no platform: it is for this machine")
		}
		chosen = []string{runtime.GOOS + "/" + runtime.GOARCH}
	}
	for _, p := range chosen {
		if !slices.Contains(platforms, p) {
			return fmt.Errorf("there is no platform %q, there are %s", p, strings.Join(platforms, ", "))
		}
	}
	if len(chosen) == 0 {
		chosen = platforms
	}
	if err := errors.Join(r.readVersion(), r.identify()); err != nil {
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
	if err := r.takeHiGHS(); err != nil {
		return err
	}
	r.linked = map[string]component{}
	if !r.wheelOnly {
		if err := r.texts(scratch); err != nil {
			return err
		}
	}
	for _, p := range chosen {
		if err := r.platform(scratch, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if !r.wheelOnly {
		if err := errors.Join(r.writeBill(), r.packaging()); err != nil {
			return err
		}
	}
	return r.sums()
}

// readVersion reads the version in gapwise.go. To import it would compile every solver once more.
func (r *release) readVersion() error {
	data, err := os.ReadFile("gapwise.go")
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?m)^const Version = "([0-9.]+)"`).FindSubmatch(data)
	if m == nil {
		return errors.New("gapwise.go has no Version")
	}
	r.version = string(m[1])
	return nil
}

// identify finds the commit, and refuses changes since.
func (r *release) identify() error {
	status, err := output(nil, "git", "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return err
	}
	if len(status) > 0 && !r.dirty && !r.wheelOnly {
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

// texts collects what all archives hold. Completions are those of the program for this machine.
func (r *release) texts(scratch string) error {
	for name, from := range map[string]string{"LICENSE": "LICENSE", "README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md",
		"CITATION.cff": "CITATION.cff", "SECURITY.md": "SECURITY.md", "man/gapwise.1": "scripts/release/gapwise.1"} {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{name, data, 0o644})
	}
	// The playground is in each program.
	if _, err := output([]string{"CGO_ENABLED=0"}, "go", "run", "./scripts/web"); err != nil {
		return err
	}
	program := filepath.Join(scratch, "here")
	if err := r.compile(program, nil); err != nil {
		return err
	}
	solvers, err := r.highs.components(program)
	if err != nil {
		return err
	}
	for _, c := range solvers {
		r.linked[c.URL] = c
	}
	for _, made := range []struct {
		name string
		args []string
	}{
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

// compile builds the program in pure Go, for this machine or by the environment.
func (r *release) compile(to string, environment []string) error {
	flags := "-s -w -buildid= -X github.com/gapwise/gapwise.commit=" + r.commit
	tags := "highs,urfave_cli_no_template" // see stamp and GOFLAGS in the Makefile
	args := []string{"build", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-o", to, "-ldflags", flags}
	if !r.wheelOnly {
		tags += ",playground"
		args = append(args, "-trimpath")
	}
	_, err := output(append(environment, "CGO_ENABLED=0"), "go", append(args, "-tags", tags, "./cmd/gapwise")...)
	return err
}

// platform builds the program of a platform and packs it.
func (r *release) platform(scratch, platform string) error {
	system, machine, _ := strings.Cut(platform, "/")
	name := fmt.Sprintf("gapwise-%s-%s-%s", r.version, system, machine)
	program, environment := "gapwise", []string{"GOOS=" + system, "GOARCH=" + machine}
	if system == "windows" {
		program += ".exe"
	}
	path := filepath.Join(scratch, name)
	if err := r.compile(path, environment); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := r.highs.holds(data); err != nil {
		return err
	}
	licences, err := r.link(path)
	if err != nil {
		return err
	}
	if err := r.wheel(platform, program, data, licences); err != nil || r.wheelOnly {
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
		return r.debian(scratch, name, machine, files)
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
