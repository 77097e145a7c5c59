// SPDX-License-Identifier: MIT

package gapwise

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gapwise/gapwise/model/milp/highs"
)

// commit is set by the linker (-X github.com/gapwise/gapwise.commit=...). The go
// command records the commit itself, but not in a git worktree.
var commit string

// Build describes how a program that uses this package was built.
type Build struct {
	Version string `json:"version"`
	// Commit is the abbreviated commit, with changedSuffix if files had changed since;
	// "" if it isn't known.
	Commit   string `json:"commit"`
	Go       string `json:"go"`               // go1.26
	HiGHS    string `json:"highs"`            // 1.15.1, which runs as WebAssembly; "" without it
	Native   string `json:"native,omitempty"` // the version of the HiGHS of this machine that lanl links; "" without it
	Platform string `json:"platform"`         // linux/amd64
}

// changedSuffix marks a commit with changes that aren't committed.
const changedSuffix = "+dirty"

// commitLength is the number of a commit's digits that are shown.
const commitLength = 10

// Built returns the build of this program.
func Built() Build {
	b := Build{Version: Version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b.HiGHS, b.Native = highs.Versions()
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Commit = cmp.Or(b.Commit, recorded(info.Settings))
	}
	return b
}

// recorded returns the commit that the go command recorded, "" if it didn't.
func recorded(settings []debug.BuildSetting) string {
	revision, suffix := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), commitLength)]
		case s.Key == "vcs.modified" && s.Value == "true":
			suffix = changedSuffix
		}
	}
	if revision == "" {
		return ""
	}
	return revision + suffix
}

// Tools names the tools and libraries of the build.
func (b Build) Tools() string {
	tools := b.Go + ", without HiGHS"
	if b.HiGHS != "" {
		tools = fmt.Sprintf("%s, HiGHS %s as WebAssembly", b.Go, b.HiGHS)
	}
	if b.Native != "" {
		tools += fmt.Sprintf(", HiGHS %s by lanl", b.Native)
	}
	return tools
}

// Changed reports whether files had changed since a commit, so that two builds of one
// name may differ.
func Changed(commit string) bool { return strings.HasSuffix(commit, changedSuffix) }

// String describes the build in a few words.
func (b Build) String() string {
	c := b.Commit
	if c == "" {
		c = "unknown"
	}
	return fmt.Sprintf("gapwise %s, commit %s, %s", b.Version, c, b.Tools())
}
