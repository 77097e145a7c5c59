// SPDX-License-Identifier: MIT

package process

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kballard/go-shellquote"
)

// Command is a command line of a user, split into words.
type Command struct{ words []string }

// ParseCommand splits a command line into words as a POSIX shell does: at blanks,
// with quotes and backslashes. Nothing is expanded, and no shell is run.
func ParseCommand(text string) (Command, error) {
	words, err := shellquote.Split(text)
	if err != nil {
		return Command{}, fmt.Errorf("the command %q: %w", text, err)
	}
	if len(words) == 0 || words[0] == "" {
		return Command{}, errors.New("the command names no program")
	}
	return Command{words}, nil
}

// Has reports whether a placeholder stands in the command.
func (c Command) Has(placeholder string) bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(w, placeholder) })
}

// Args returns the words with placeholders, as in {in}, replaced by values. A word
// stays one word, whatever the values are.
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

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`) })

// Quote writes words as a part of a command line of a POSIX shell, in quotes where
// necessary.
func Quote(words ...string) string {
	all := make([]string, len(words))
	for i, w := range words {
		if all[i] = w; !plainWord().MatchString(w) {
			all[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(all, " ")
}
