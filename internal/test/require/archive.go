// SPDX-License-Identifier: MIT

package require

import (
	"archive/tar"
	"compress/gzip"
	"encoding/csv"
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
		OK(t, eachFile(found, yield))
	}
}

// CSV returns the rows of a table of the data sets below its head, found as Data finds
// it. A table that can't be read ends the test.
func CSV(t T, path ...string) [][]string {
	t.Helper()
	file := Value(os.Open(Data(t, path...)))(t)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatal("the table ", file.Name(), " can't be read or is empty: ", err)
		return nil
	}
	return rows[1:]
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
