// SPDX-License-Identifier: MIT

package model_test

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// change puts new in place of the first old in a text, which is then refused with want.
type change struct{ old, new, want string }

// checkChanges has a text read with each change, and checks the whole error.
func checkChanges(t *testing.T, text string, all map[string]change, read func(t *testing.T, text string) error) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(text, c.old, c.new, 1)
			if changed == text {
				t.Fatal("nothing replaced")
			}
			err := read(t, changed)
			require.Refused(t, "the error", err, model.ErrInvalid, "")
			require.Same(t, "error", c.want, err.Error())
		})
	}
}

// decodes reads a text by a decoder, for checkChanges.
func decodes[T any](decode func([]byte) (T, error)) func(t *testing.T, text string) error {
	return func(_ *testing.T, text string) error {
		_, err := decode([]byte(text))
		return err
	}
}
