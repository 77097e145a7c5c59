// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wheelTags name the platforms as Python's packages do (PEP 600, PEP 656). The programs are
// linked statically, so that any Linux will do; Go 1.26 needs macOS 12.
var wheelTags = map[string][]string{
	"linux/amd64":   {"manylinux_2_17_x86_64", "musllinux_1_1_x86_64"},
	"linux/arm64":   {"manylinux_2_17_aarch64", "musllinux_1_1_aarch64"},
	"darwin/amd64":  {"macosx_12_0_x86_64"},
	"darwin/arm64":  {"macosx_12_0_arm64"},
	"windows/amd64": {"win_amd64"},
	"windows/arm64": {"win_arm64"},
}

// wheel writes the Python package with the program in it (PEP 427).
func (r *release) wheel(platform, program string, data []byte, licences []file) error {
	tags := wheelTags[platform]
	files, err := sources("python/gapwise", "gapwise")
	if err != nil {
		return err
	}
	info := "gapwise-" + r.version + ".dist-info/"
	about, err := os.ReadFile("python/README.md")
	if err != nil {
		return err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	metadata := "Metadata-Version: 2.1\nName: gapwise\nVersion: " + r.version + "\n" +
		"Summary: Schedules for clusters and clouds, each with a bound and a gap, verified\n" +
		"Home-page: https://github.com/gapwise/gapwise\nLicense: MIT\nRequires-Python: >=3.9\n" +
		"Description-Content-Type: text/markdown\n\n" + string(about)
	facts := "Wheel-Version: 1.0\nGenerator: gapwise scripts/release\nRoot-Is-Purelib: false\n"
	for _, tag := range tags {
		facts += "Tag: py3-none-" + tag + "\n"
	}
	files = append(files,
		file{"gapwise/bin/" + program, data, 0o755},
		file{info + "METADATA", []byte(metadata), 0o644},
		file{info + "WHEEL", []byte(facts), 0o644},
		file{info + "entry_points.txt", []byte("[console_scripts]\ngapwise = gapwise.command:main\n"), 0o644},
		file{info + "licenses/LICENSE", licence, 0o644})
	for _, f := range licences {
		files = append(files, file{info + "licenses/" + strings.TrimPrefix(f.name, "licences/"), f.data, f.mode})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	packed, err := zipped("", append(files, file{info + "RECORD", record.Bytes(), 0o644}), r.at)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("gapwise-%s-py3-none-%s.whl", r.version, strings.Join(tags, "."))
	return os.WriteFile(filepath.Join(r.folder, name), packed, 0o644)
}

// sources returns the files of the Python package, below a name.
func sources(folder, name string) (all []file, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".py" && e.Name() != "py.typed" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name + "/" + e.Name(), data, 0o644})
	}
	return all, nil
}
