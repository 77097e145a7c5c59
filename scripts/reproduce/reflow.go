// SPDX-License-Identifier: MIT

package main

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	item      = regexp.MustCompile(`^(\s*)(- |\d+\. )`)
	asItIs    = regexp.MustCompile("^(\\||#|\\*(?:Commit|Code|Gapwise) |!\\[|<|\\[[^\\]]*\\]: |    |```|$)") // tables, titles, stamps, pictures, comments, addresses, code
	begins    = regexp.MustCompile(`^([-+*>|]|#+|\d+[.)])$|^(\||<|` + "```)")                                // what would make a line more than text
	wholeLink = regexp.MustCompile(`\[[^\[\]]*\]\([^()]*\)`)
)

// reflow breaks paragraphs and items of lists anew, into lines of at most mostColumns
// columns as far as words and links allow.
func reflow(text string) string {
	var out []string
	head, indent, paragraph, code := "", "", "", false // head begins an item
	flush := func() {
		whole := wholeLink.ReplaceAllStringFunc(paragraph, func(l string) string { return strings.Join(strings.Fields(l), "\x00") })
		var words []string
		for _, w := range strings.Fields(whole) {
			if w = strings.ReplaceAll(w, "\x00", " "); len(words) > 0 && begins.MatchString(w) { // it stays with the word before
				words[len(words)-1] += " " + w
			} else {
				words = append(words, w)
			}
		}
		line, empty := head, true
		for _, w := range words {
			switch {
			case empty:
				line += w
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > mostColumns:
				out = append(out, line)
				line = indent + w
			default:
				line += " " + w
			}
			empty = false
		}
		if !empty {
			out = append(out, line)
		}
		head, indent, paragraph = "", "", ""
	}
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "```") {
			code = !code
		}
		m := item.FindStringSubmatch(l)
		switch {
		case code || m == nil && asItIs.MatchString(l):
			flush()
			out = append(out, l)
			continue
		case m != nil:
			flush()
			head, indent = m[0], m[1]+strings.Repeat(" ", len(m[2]))
			l = l[len(m[0]):]
		}
		paragraph += l + "\n"
	}
	flush()
	return strings.Join(out, "\n")
}
