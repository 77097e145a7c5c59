package need

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"os"
)

// TarGz returns the names and contents of the files in an archive of the data sets
// (.tar.gz), found as Data finds them. A file that can't be read ends the test.
func TarGz(t T, path ...string) iter.Seq2[string, []byte] {
	t.Helper()
	found := Data(t, path...)
	return func(yield func(string, []byte) bool) {
		if err := eachFile(found, yield); err != nil {
			t.Fatal(err)
		}
	}
}

// eachFile calls yield for each file in the archive, until it returns false.
func eachFile(path string, yield func(string, []byte) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		if !yield(h.Name, data) {
			return nil
		}
	}
}
