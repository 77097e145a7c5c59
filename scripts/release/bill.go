// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// component is something that is linked, as in CycloneDX.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl"`
}

// link notes what a program is linked of, and returns the licences of that.
func (r *release) link(program string) ([]file, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	standard := strings.TrimPrefix(info.GoVersion, "go")
	r.linked["std"] = component{"library", "std", standard, "pkg:golang/std@" + standard}
	root, err := output(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	licences, err := licencesOf("licences/go", root)
	if err != nil {
		return nil, err
	}
	licences = append(licences, file{"licences/highs/LICENSE", r.highs.licence, 0o644})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		r.linked[m.Path] = component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version}
		folder, err := output(nil, "go", "list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		of, err := licencesOf(path.Join("licences", m.Path), folder)
		if err != nil {
			return nil, err
		}
		if len(of) == 0 {
			return nil, fmt.Errorf("%s %s is linked and has no licence in %s", m.Path, m.Version, folder)
		}
		licences = append(licences, of...)
	}
	return licences, nil
}

// licencesOf returns the texts of licences in a folder.
func licencesOf(name, folder string) (all []file, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		begins := func(s string) bool { return strings.HasPrefix(upper, s) }
		if e.IsDir() || filepath.Ext(e.Name()) == ".go" ||
			!slices.ContainsFunc([]string{"LICEN", "COPYING", "NOTICE", "PATENTS", "THIRD_PARTY"}, begins) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, file{path.Join(name, e.Name()), data, 0o644})
	}
	return all, nil
}

// writeBill writes the list of all that is linked.
func (r *release) writeBill() error {
	var all []component
	for _, c := range r.linked {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b component) int { return cmp.Compare(a.Name, b.Name) })
	bill := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.at.Format("2006-01-02T15:04:05Z"),
			"component": component{"application", "gapwise", r.version, "pkg:golang/github.com/gapwise/gapwise@v" + r.version},
		},
		"components": all,
	}
	data, err := json.MarshalIndent(bill, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, "gapwise.cdx.json"), append(data, '\n'), 0o644)
}
