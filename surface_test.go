// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// mostNames bounds the exported names of all packages that others can import: types, functions, methods, variables and
// constants. A version 1 would have to keep them. It goes down.
const mostNames = 859 // the published schemas are one of them, Result.String another; twelve of them are the account of a reading, which other modules print, three the nodes of a batch, four the Judge of one instance

func TestSurface(t *testing.T) {
	t.Parallel()
	names, set := 0, token.NewFileSet()
	require.OK(t, filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name == "internal" || name == "testdata" || file == "cmd" || file == "scripts" || strings.HasPrefix(name, ".") && name != "." {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || elsewhere(name):
			return nil
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range parsed.Decls {
			names += exported(d)
		}
		return nil
	}))
	if names > mostNames || names < mostNames/2 {
		t.Errorf("%d exported names, want at most %d: unexport what other modules need not call, or put it under internal", names, mostNames)
	}
}

// elsewhere reports whether a file replaces another one on other systems.
func elsewhere(name string) bool {
	return name == "notbuilt.go" || strings.HasSuffix(name, "_windows.go") || strings.HasSuffix(name, "_other.go")
}

// exported counts the exported names of a declaration; methods of exported types alone.
func exported(d ast.Decl) (n int) {
	count := func(x *ast.Ident) {
		if x.IsExported() {
			n++
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || receiver(d).IsExported() {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				count(s.Name)
			case *ast.ValueSpec:
				for _, x := range s.Names {
					count(x)
				}
			}
		}
	}
	return n
}

// receiver returns the name of a method's type.
func receiver(f *ast.FuncDecl) *ast.Ident {
	x := f.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	switch of := x.(type) {
	case *ast.IndexExpr:
		x = of.X
	case *ast.IndexListExpr:
		x = of.X
	}
	return x.(*ast.Ident)
}
