// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gapwise/gapwise/internal/test/require"
)

func TestSize(t *testing.T) {
	rooms := require.Value(count(fstest.MapFS{
		"a.go":                   {Data: []byte("package a\n\nimport \"os\"\n\ntype x int\n\nfunc f() { if true { os.Exit(0) }; var y, z = 1, 2; _, _ = y, z }\n")},
		"a_test.go":              {Data: []byte("package a\n\nfunc g() { f() }\n")},
		"internal/num/heap/h.go": {Data: []byte("package heap\n\nvar f = func() int { return 1 }\n")},
		"testdata/no.go":         {Data: []byte("package no\n\nvar a, b int\n")},
		"exact/x/y/z.go":         {Data: []byte("package y\n")},
	}))(t)
	want := map[string]size{".": {code: 6, tests: 2}, "internal/num": {code: 3}, "exact": {}}
	require.Same(t, fmt.Sprintf("%v", rooms), len(want), len(rooms))
	for room, s := range want {
		require.Is(t, s, rooms[room], room)
	}
	most := require.Value(read(table(rooms)))(t)
	if err := hold(rooms, most); err != nil {
		t.Error(err)
	}
	rooms["exact"], rooms["new"] = size{1, 0}, size{0, 1}
	if err := hold(rooms, most); err == nil || strings.Count(err.Error(), "allowed") != 2 {
		t.Error(err)
	}
	if _, err := read([]byte("a 1\n")); err == nil {
		t.Error("a line without a number is read")
	}
	if _, err := count(fstest.MapFS{"a.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that isn't Go is counted")
	}
}
