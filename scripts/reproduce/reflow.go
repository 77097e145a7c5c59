// SPDX-License-Identifier: MIT

package main

import (
	"regexp"
	"strings"

	"github.com/gapwise/gapwise/internal/text/words"
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
	head, paragraph, code := "", "", false // head begins an item
	flush := func() {
		const stays = "\x00" // a space that is no end of a line
		var all []string
		for _, w := range strings.Fields(wholeLink.ReplaceAllStringFunc(paragraph, func(l string) string { return strings.Join(strings.Fields(l), stays) })) {
			if len(all) > 0 && begins.MatchString(w) { // it stays with the word before
				all[len(all)-1] += stays + w
			} else {
				all = append(all, w)
			}
		}
		if len(all) > 0 {
			lines := words.Wrap(strings.Join(all, " "), mostColumns-len(head), len(head))
			out = append(out, head+strings.ReplaceAll(lines, stays, " "))
		}
		head, paragraph = "", ""
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
			head = m[0]
			l = l[len(head):]
		}
		paragraph += l + "\n"
	}
	flush()
	return strings.Join(out, "\n")
}
