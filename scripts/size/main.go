// SPDX-License-Identifier: MIT

// Size counts the statements of the module by room, code and tests apart, and holds them against scripts/size/rooms.txt:
//
//	go run ./scripts/size            fails where a room has more than the file allows
//	go run ./scripts/size -update    writes the file anew
//
// A statement is one of go/ast (blocks apart), a function, or a constant, variable or type that is declared.
// Lines say nothing: a statement may be packed, and a comment costs a line.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// size is how many statements a room has.
type size struct{ code, tests int }

const allowed = "scripts/size/rooms.txt"

func main() {
	update := flag.Bool("update", false, "write "+allowed+" anew")
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(update bool) error {
	rooms, err := count(os.DirFS("."))
	if err != nil {
		return err
	}
	if update {
		return os.WriteFile(allowed, table(rooms), 0o644)
	}
	text, err := os.ReadFile(allowed)
	if err != nil {
		return err
	}
	most, err := read(text)
	if err != nil {
		return err
	}
	return hold(rooms, most)
}

// roomOf returns the room of a file by its path: the folder on top, of internal and scripts the one below.
func roomOf(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	switch {
	case len(parts) == 1:
		return "."
	case len(parts) > 2 && parts[0] == "internal":
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// count counts the statements of all Go files by room.
func count(files fs.FS) (map[string]size, error) {
	rooms := map[string]size{}
	return rooms, fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		n, err := statements(path, text)
		if err != nil {
			return err
		}
		s := rooms[roomOf(path)]
		if strings.HasSuffix(path, "_test.go") {
			s.tests += n
		} else {
			s.code += n
		}
		rooms[roomOf(path)] = s
		return nil
	})
}

// statements counts those of one file.
func statements(path string, text []byte) (n int, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	ast.Inspect(file, func(x ast.Node) bool {
		switch x.(type) {
		case *ast.BlockStmt, *ast.DeclStmt: // its declarations count
		case ast.Stmt, *ast.ValueSpec, *ast.TypeSpec, *ast.FuncDecl, *ast.FuncLit:
			n++
		}
		return true
	})
	return n, nil
}

// table writes sizes as a table, the rooms by name, their sum last.
func table(rooms map[string]size) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-24s %8s %8s\n", "# room", "code", "tests")
	var sum size
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		s := rooms[room]
		sum.code, sum.tests = sum.code+s.code, sum.tests+s.tests
		fmt.Fprintf(&b, "%-24s %8d %8d\n", room, s.code, s.tests)
	}
	fmt.Fprintf(&b, "%-24s %8d %8d\n", "# all", sum.code, sum.tests)
	return b.Bytes()
}

// read reads such a table; lines that begin with # are comments.
func read(text []byte) (map[string]size, error) {
	rooms := map[string]size{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			var room string
			var s size
			if _, err := fmt.Sscan(line, &room, &s.code, &s.tests); err != nil {
				return nil, fmt.Errorf("%s:%d: give a room and two numbers: %w", allowed, n, err)
			}
			rooms[room] = s
		}
	}
	return rooms, lines.Err()
}

// hold names each room that has more than it may.
func hold(rooms, most map[string]size) error {
	var all []error
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		if is, may := rooms[room], most[room]; is.code > may.code || is.tests > may.tests {
			all = append(all, fmt.Errorf("%s has %d statements and %d of tests, %d and %d are allowed: make it smaller, or raise %s in a commit of its own that says what for",
				room, is.code, is.tests, may.code, may.tests, allowed))
		}
	}
	return errors.Join(all...)
}
