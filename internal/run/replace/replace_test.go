// SPDX-License-Identifier: MIT

package replace

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// A file is made or replaced, and nothing else is left in its folder.
func TestFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "a")
	for _, want := range []string{"first, which is longer", "second", ""} {
		require.OK(t, File(file, []byte(want)))
		require.Same(t, "the file", want, string(require.Value(os.ReadFile(file))(t)))
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("its mode is %v (%v)", info.Mode(), err)
	}
	require.OK(t, os.Chmod(file, 0o640))
	require.OK(t, File(file, nil))
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, want the old one's (%v)", info.Mode(), err)
	}
	if all, err := os.ReadDir(folder); err != nil || len(all) != 1 {
		t.Errorf("the folder holds %v (%v)", all, err)
	}
	if err := File(filepath.Join(folder, "none", "a"), nil); err == nil {
		t.Error("a file was written to a folder that isn't there")
	}
}
