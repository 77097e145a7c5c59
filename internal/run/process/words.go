// SPDX-License-Identifier: MIT

package process

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Command is a command line of a user, split into words.
type Command struct{ words []string }

// ParseCommand splits a command line into words as a POSIX shell does: at blanks,
// with quotes and backslashes. Nothing is expanded, and no shell is run: so operators of one
// (pipes, redirections) are errors outside quotes.
func ParseCommand(text string) (Command, error) {
	var words []string
	for w, err := range syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).WordsSeq(strings.NewReader(text)) {
		if err != nil {
			return Command{}, fmt.Errorf("the command %q: %w; no shell runs it: quote what isn't for one, or call it, as in sh -c '...'", text, err)
		}
		words = append(words, meant(text, w.Parts, false))
	}
	if len(words) == 0 || words[0] == "" {
		return Command{}, errors.New("the command names no program")
	}
	return Command{words}, nil
}

// meant returns the meaning of parts of a word. Expansions mean themselves.
func meant(text string, parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			for rest := x.Value; rest != ""; {
				before, after, found := strings.Cut(rest, `\`)
				b.WriteString(before)
				if found && (after == "" || quoted && !strings.ContainsAny(after[:1], "$`\"\\\n")) {
					b.WriteByte('\\')
				} else if found {
					if after[0] != '\n' {
						b.WriteByte(after[0])
					}
					after = after[1:]
				}
				rest = after
			}
		case *syntax.SglQuoted:
			b.WriteString(x.Value)
		case *syntax.DblQuoted:
			b.WriteString(meant(text, x.Parts, true))
		default:
			b.WriteString(text[x.Pos().Offset():x.End().Offset()])
		}
	}
	return b.String()
}

// Labelled splits LABEL=cmd:COMMAND (or online:, batsim:) into the label, a word, and the rest. Without a label that is
// all of the name.
func Labelled(name string) (label, rest string) {
	before, after, found := strings.Cut(name, "=")
	sort, _, _ := strings.Cut(after, ":")
	strange := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._+-", r)
	}
	if !found || before == "" || strings.IndexFunc(before, strange) >= 0 || !slices.Contains([]string{"cmd", "online", "batsim"}, sort) {
		return "", name
	}
	return before, after
}

// Digest returns a digest of the files that the command's words name, and their names: the program, which is looked up
// as a shell does, and other words that are the path of a file, such as a script. It is empty if there are none.
func (c Command) Digest() (digest string, files []string) {
	sum := sha256.New()
	for k, word := range c.words {
		path := word
		if found, err := exec.LookPath(word); k == 0 && err == nil {
			path = found
		}
		// Opening a pipe would wait for the other end.
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		content := sha256.New()
		size, err := io.Copy(content, f)
		f.Close()
		if err == nil {
			files = append(files, word)
			fmt.Fprintf(sum, "%d %d %x\n", k, size, content.Sum(nil))
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	return fmt.Sprintf("%.16x", sum.Sum(nil)), files
}

// Has reports whether the command contains a placeholder.
func (c Command) Has(placeholder string) bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(w, placeholder) })
}

// Args returns the words with placeholders, as in {in}, replaced by values. A word stays one word for any values.
func (c Command) Args(values map[string]string) []string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, key, values[key])
	}
	replacer := strings.NewReplacer(pairs...)
	args := make([]string, len(c.words))
	for i, w := range c.words {
		args[i] = replacer.Replace(w)
	}
	return args
}

// Quote writes words as a part of a command line of a POSIX shell, in quotes where
// necessary. For control characters it takes $'...', which newer shells know; a NUL, which no
// program can be given, is written as text.
func Quote(words ...string) string {
	all := make([]string, len(words))
	for i, w := range words {
		pieces := strings.Split(strings.ReplaceAll(w, "\x00", `\u0000`), "!") // of an interactive shell's history, also in double quotes
		for k, piece := range pieces {
			if piece == "" && len(pieces) > 1 {
				continue
			}
			quoted, err := syntax.Quote(piece, syntax.LangPOSIX)
			switch {
			case err == nil:
			case strings.IndexFunc(piece, unseen) < 0: // blanks of other scripts and the like, which POSIX takes as they are
				quoted = "'" + strings.ReplaceAll(piece, "'", `'\''`) + "'"
			default:
				quoted, _ = syntax.Quote(piece, syntax.LangBash) // without a NUL it can
			}
			pieces[k] = quoted
		}
		all[i] = strings.Join(pieces, "'!'")
	}
	return strings.Join(all, " ")
}

// unseen reports whether a terminal does something else with a character than to show it, as with bytes that aren't
// UTF-8.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
}
