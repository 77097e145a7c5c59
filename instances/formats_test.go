// SPDX-License-Identifier: MIT

package instances

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

var update = flag.Bool("update", false, "write the page of formats anew")

// The page of formats has the table of formats.
func TestFormatsPage(t *testing.T) {
	const page, end = "../docs/reference/formats.md", "<!-- end: formats -->"
	var read, unread strings.Builder
	read.WriteString("| format | name ends in | becomes | what is read |\n|---|---|---|---|\n")
	unread.WriteString("\ngapwise recognises these formats but doesn't read them; the error names the remedy:\n\n")
	for _, f := range formats() {
		ends := ""
		if f.ends != nil {
			ends = "`" + strings.Join(f.ends, "`, `") + "`"
		}
		switch {
		case f.about != "":
			fmt.Fprintf(&read, "| %s | %s | %s | %s |\n", f.name, ends, f.becomes, f.about)
		case f.remedy != "" && !f.ours:
			fmt.Fprintf(&unread, "- %s\n", f.name)
		}
	}
	text := string(require.Value(os.ReadFile(page))(t))
	before, rest, _ := strings.Cut(text, "<!-- formats: ")
	head, rest, _ := strings.Cut(rest, "\n")
	_, after, found := strings.Cut(rest, end)
	want := before + "<!-- formats: " + head + "\n\n" + read.String() + unread.String() + "\n" + end + after
	if *update {
		require.OK(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	if !found || text != want {
		t.Errorf("%s isn't what the table of formats says: go test ./instances -run TestFormatsPage -update writes it", page)
	}
}

// Each format that isn't read has a remedy, and each that is read one reader and its words.
func TestFormats(t *testing.T) {
	for _, f := range formats() {
		readers := 0
		for _, is := range []bool{f.graph != nil, f.log != nil, f.instance != nil} {
			if is {
				readers++
			}
		}
		if readers > 1 || (readers == 0) != (f.remedy != "") || f.about != "" && f.becomes == "" || f.begins == nil {
			t.Errorf("%s: %d readers, remedy %q, about %q, becomes %q", f.name, readers, f.remedy, f.about, f.becomes)
		}
	}
}
