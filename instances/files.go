// SPDX-License-Identifier: MIT

// Package instances is where instances come from: files and generators.
package instances

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Load reads one instance from a file, or from standard input if path is "-".
// Errors name the file; those about its content wrap model.ErrInvalid.
func Load(path string) (model.Instance, error) { return Read(path, Options{}) }

// Label returns the path as messages show it.
func Label(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// maxFile is the size, in bytes, of the largest file that is read, and of an unfolded compressed one: 1 GiB. Devices
// and pipes need not end.
var maxFile int64 = 1 << 30

// errTooLong reports input beyond maxFile.
func errTooLong() error {
	return fmt.Errorf("%w input: it is longer than %d bytes, the most that is read", model.ErrInvalid, maxFile)
}

// ReadFile reads a file as os.ReadFile does, or standard input ("-"), up to a limit, and unfolds gzipped data. Its
// errors say what to do.
func ReadFile(path string) ([]byte, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if data, err = unzip(data); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", Label(path), model.ErrInvalid, err)
	}
	return data, nil
}

func readFile(path string) ([]byte, error) {
	if path == "-" {
		data, err := readAll(os.Stdin, 0)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return data, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%w: %s is a folder, give a file (or %s)", model.ErrInvalid, path, filepath.Join(path, "*.json"))
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %w", path, errTooLong())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	data, err := readAll(f, info.Size())
	if errors.Is(err, model.ErrInvalid) {
		return nil, fmt.Errorf("%s: %w", path, err)
	} else if err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

// readAll reads as io.ReadAll does, up to maxFile, about so many bytes.
func readAll(r io.Reader, about int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, about+2*bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(r, maxFile+1))
	data := b.Bytes()
	if err == nil && int64(len(data)) > maxFile {
		err = errTooLong()
	}
	return data, err
}

// unreadable says why a file can't be read; the error wraps model.ErrInvalid.
func unreadable(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%w input: can't read %s: %w", model.ErrInvalid, path, err)
}

// Folder lists the files below a folder that may hold instances, by the ends of
// their names (.json, .stg, .dot, .gv, .dax, .vbp, .mvp and .swf, and each with .gz), sorted.
func Folder(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if _, extension := nameOf(p); err == nil && !d.IsDir() && slices.Contains(folderExtensions, extension) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrInvalid, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: no file below %s ends in %s (or .gz after that)", model.ErrInvalid, path, strings.Join(folderExtensions, ", "))
	}
	slices.Sort(files)
	return files, nil
}

var folderExtensions = []string{".json", ".stg", ".dot", ".gv", ".dax", ".vbp", ".mvp", ".swf"}

// KindOf returns the kind of an instance's file in the own format that begins with
// it, as all that gapwise writes do. It reads no further, and returns "" for all
// other files.
func KindOf(path string) model.Kind {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	in := io.Reader(bufio.NewReader(f))
	if magic, _ := in.(*bufio.Reader).Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if in, err = gzip.NewReader(in); err != nil {
			return ""
		}
	}
	return kindAtStart(in)
}

// kindAtStart is KindOf of a text.
func kindAtStart(text io.Reader) model.Kind {
	dec := json.NewDecoder(io.LimitReader(text, 1<<12))
	var tokens [3]json.Token // { "kind" KIND
	for k := range tokens {
		var err error
		if tokens[k], err = dec.Token(); err != nil {
			return ""
		}
	}
	kind, _ := tokens[2].(string)
	if tokens[0] != json.Delim('{') || tokens[1] != "kind" || model.Kind(kind).New() == nil {
		return ""
	}
	return model.Kind(kind)
}
