// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// embedded is what a build with the tag highs puts into the program.
const embedded = "model/milp/highs/highs.wasm.gz"

// solver is HiGHS as programs hold it.
type solver struct {
	version string // of npm's package
	packed  []byte // the file of WebAssembly
	licence []byte
}

// takeHiGHS has scripts/highs fetch HiGHS, and puts it where the build looks for it. It is packed here, as
// systems have different gzips.
func (r *release) takeHiGHS() error {
	path, err := output(nil, "scripts/highs")
	if err != nil {
		return err
	}
	if r.highs, err = readHiGHS(path); err != nil {
		return err
	}
	if there, err := os.ReadFile(embedded); err == nil && bytes.Equal(there, r.highs.packed) {
		return nil
	}
	return os.WriteFile(embedded, r.highs.packed, 0o644)
}

// readHiGHS reads the file of HiGHS, and the licence beside it, which must be there whole.
func readHiGHS(path string) (s solver, err error) {
	m := regexp.MustCompile(`^highs-([0-9.]+)\.wasm$`).FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return s, fmt.Errorf("scripts/highs names %q, want highs-VERSION.wasm", path)
	}
	beside := strings.TrimSuffix(path, ".wasm") + ".LICENSE"
	licence, err := os.ReadFile(beside)
	if err != nil {
		return s, err
	}
	if !bytes.Contains(licence, []byte("Permission is hereby granted")) {
		return s, fmt.Errorf("%s isn't the licence, which every copy must come with: remove that file and run scripts/highs "+
			"where npm is", beside)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return s, err
	}
	_, err = z.Write(data)
	err = errors.Join(err, z.Close())
	return solver{m[1], packed.Bytes(), licence}, err
}

// holds returns an error if a program doesn't hold HiGHS.
func (s solver) holds(program []byte) error {
	if len(s.packed) == 0 || !bytes.Contains(program, s.packed) {
		return fmt.Errorf("the program doesn't hold %s: it was built without the tag highs", embedded)
	}
	return nil
}

// components returns HiGHS for the list of what is linked. A program of this machine tells its version. It runs
// in an empty environment, so that it finds no HiGHS but its own.
func (s solver) components(program string) ([]component, error) {
	c := exec.Command(program, "version", "--json")
	c.Env = []string{"PATH="}
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("gapwise version: %w", err)
	}
	var built struct{ HiGHS string }
	if err := json.Unmarshal(out, &built); err != nil {
		return nil, err
	}
	if built.HiGHS == "" {
		return nil, errors.New("gapwise version tells of no HiGHS")
	}
	return []component{
		{"library", "HiGHS", built.HiGHS, "pkg:github/ERGO-Code/HiGHS@v" + built.HiGHS},
		{"library", "highs", s.version, "pkg:npm/highs@" + s.version},
	}, nil
}
