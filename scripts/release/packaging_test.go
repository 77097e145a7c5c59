// SPDX-License-Identifier: MIT

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// The files for images, Homebrew and Nix hold the version and the checksums of what was
// built; where the programs are there, they parse. What names a missing archive is left out.
func TestPackaging(t *testing.T) {
	t.Chdir("../..")
	r := release{version: "1.2.3", folder: t.TempDir()}
	first := filepath.Join(r.folder, "gapwise-1.2.3-linux-amd64.tar.gz")
	require.OK(t, os.WriteFile(first, []byte("linux-amd64.tar.gz"), 0o600))
	require.OK(t, r.packaging())
	want := []string{"Containerfile", "Containerfile.shell", "gapwise-1.2.3-linux-amd64.tar.gz"}
	require.Same(t, "of one platform there", want, listed(t, r.folder))
	for _, rest := range []string{"linux-arm64.tar.gz", "darwin-amd64.tar.gz", "darwin-arm64.tar.gz"} {
		require.OK(t, os.WriteFile(filepath.Join(r.folder, "gapwise-1.2.3-"+rest), []byte(rest), 0o600))
	}
	require.OK(t, r.packaging())
	text := map[string]string{}
	for _, name := range []string{"Containerfile", "Containerfile.shell", "gapwise.rb", "flake.nix"} {
		data := require.Value(os.ReadFile(filepath.Join(r.folder, name)))(t)
		if text[name] = string(data); !strings.Contains(text[name], "1.2.3") || strings.Contains(text[name], "{{") {
			t.Errorf("%s isn't filled:\n%s", name, data)
		}
	}
	link := regexp.MustCompile(`"` + downloads + `1\.2\.3/gapwise-1\.2\.3-([a-z0-9-]+\.tar\.gz)"[;\s]+sha256 (?:= )?"([0-9a-f]{64})"`)
	for _, name := range []string{"gapwise.rb", "flake.nix"} {
		all := link.FindAllStringSubmatch(text[name], -1)
		if len(all) != 4 {
			t.Errorf("%s has %d archives, want 4:\n%s", name, len(all), text[name])
		}
		for _, m := range all {
			require.Same(t, fmt.Sprintf("%s: the checksum of %s", name, m[1]),
				fmt.Sprintf("%x", sha256.Sum256([]byte(m[1]))), m[2])
		}
	}
	for name, command := range map[string][]string{"gapwise.rb": {"ruby", "-wc"}, "flake.nix": {"nix-instantiate", "--parse"}} {
		if _, err := exec.LookPath(command[0]); err != nil {
			t.Logf("%s isn't parsed: there is no %s", name, command[0])
			continue
		}
		if out, err := exec.Command(command[0], append(command[1:], filepath.Join(r.folder, name))...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for _, name := range []string{"Containerfile", "Containerfile.shell"} {
		if err := containerfile(text[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := containerfile("FROM scratch\nCOPY a\n"); err == nil {
		t.Error("a COPY to nowhere passes")
	}
}

// listed returns the names in a folder.
func listed(t *testing.T, folder string) (names []string) {
	entries := require.Value(os.ReadDir(folder))(t)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// containerfile reports what is wrong with the lines of a Containerfile: an instruction that
// isn't known or has too few words, one before FROM, and an image that runs nothing or as root.
func containerfile(text string) error {
	least := map[string]int{"FROM": 1, "ARG": 1, "ADD": 2, "COPY": 2, "RUN": 1, "LABEL": 1, "WORKDIR": 1, "USER": 1, "EXPOSE": 1, "ENTRYPOINT": 1}
	last := map[string]string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		n, known := least[words[0]]
		switch {
		case !known || len(words)-1 < n:
			return fmt.Errorf("no instruction: %s", line)
		case words[0] != "FROM" && words[0] != "ARG" && last["FROM"] == "":
			return fmt.Errorf("before FROM: %s", line)
		case words[0] == "FROM":
			clear(last)
		}
		last[words[0]] = strings.Join(words[1:], " ")
	}
	if last["ENTRYPOINT"] != `["/usr/bin/gapwise"]` || last["USER"] == "" {
		return fmt.Errorf("it runs %s as %q", last["ENTRYPOINT"], last["USER"])
	}
	return nil
}
